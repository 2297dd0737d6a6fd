"""Deliverables: each change's way from proposal to archive, kept as events, told as documents and metrics (AURA-M)."""

from __future__ import annotations

from aurora_protocol import BAD_INPUT, AuroraError


class InvalidRequest(AuroraError, ValueError):
    """A request has the right shape and makes no sense; the message says what to give instead."""

    exit_code = BAD_INPUT
