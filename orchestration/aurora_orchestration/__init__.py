"""Orchestration: what happens beyond one request: questions answered in nine phases (SOAR), deliverables (AURA-M),
and telemetry.
"""

from aurora_protocol import BAD_INPUT, AuroraError


class OrchestrationError(AuroraError):
    """A run cannot begin or go on; the message is one line that says what, where and the next step."""

    exit_code = BAD_INPUT
