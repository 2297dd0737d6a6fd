"""Deliverables: each change's way from proposal to archive, kept as events, told as documents and metrics (AURA-M)."""
