"""Blocked question (rejection, error): why a question goes no further."""

from __future__ import annotations

from typing import Literal

from aurora_orchestration import OrchestrationError
from aurora_protocol import BLOCKED

Reason = Literal["pii", "secret", "length", "encoding", "control", "empty", "budget", "storage"]


class QuestionBlocked(OrchestrationError):
    """A guardrail holds a question back. `reason` is for machines; the message is one line with the next step."""

    exit_code = BLOCKED

    def __init__(self, message: str, reason: Reason) -> None:
        super().__init__(message)
        self.reason: Reason = reason


class OverBudget(QuestionBlocked):
    """The budget's hard limit would be passed (AURORA §9.4.2)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "budget")


class Unrecorded(QuestionBlocked):
    """Refusal to spend what cannot be written down (spending, the audit trail)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "storage")
