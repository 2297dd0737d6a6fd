"""Orchestration: what happens beyond one request: questions answered in nine phases (SOAR), deliverables (AURA-M),
and telemetry.
"""


class OrchestrationError(Exception):
    """A run cannot begin or go on; the message is one line that says what, where and the next step."""
