"""What happens beyond one request: deliverables and how reliably they are delivered (AURA-M), and telemetry of both."""
