"""Deliverables as OpenTelemetry spans and metrics, sent where the user says; off unless told (AURA-M §6, ruling 18).

Nothing outside of this package imports `opentelemetry`, and nothing here does before export is configured.
"""
