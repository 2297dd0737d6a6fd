"""Deliverables: each change's way from proposal to archive, kept as events, told as documents and metrics (AURA-M)."""

from __future__ import annotations


class InvalidRequest(ValueError):
    """A request has the right shape and makes no sense; the message says what to give instead."""
