"""Choices (enumerations) of a deliverable: phases, statuses, complexities and kinds of failure (AURA-M §3, §4).

Each is written here alone. Imports nothing, so that the command
line can name them without the cost of the event structs.
"""

from __future__ import annotations

from typing import Literal, get_args

Phase = Literal["propose", "specs", "design", "tasks", "apply", "verify", "archive"]
Status = Literal["planning", "executing", "verifying", "completed", "failed"]
Outcome = Literal["completed", "failed"]
"""The statuses of what is over."""

Kind = Literal["change", "run"]
"""Of a record: a change to software, or a question that was put to AURORA."""

Complexity = Literal["trivial", "simple", "moderate", "complex", "unknown"]
FailureType = Literal[
    "spec_misunderstanding",
    "hallucination",
    "infinite_loop",
    "tool_failure",
    "constraint_violation",
    "incomplete",
    "regression",
]

EventAction = Literal[
    "start",
    "phase",
    "task",
    "tool-call",
    "tokens",
    "recovery",
    "iterate",
    "session",
    "intervention",
    "conform",
    "tests",
    "complete",
    "fail",
    "revive",
    "rename",
]
"""Actions of `aurora/deliverable` that record an event …"""

LookAction = Literal["show", "list", "events", "export", "criteria"]
"""… and those that ask."""

PHASES: tuple[Phase, ...] = get_args(Phase)
"""In their canonical order; not all are required, and some repeat (AURA-M §3)."""

KINDS: tuple[Kind, ...] = get_args(Kind)
STATUSES: tuple[Status, ...] = get_args(Status)
COMPLEXITIES: tuple[Complexity, ...] = get_args(Complexity)
FAILURE_TYPES: tuple[FailureType, ...] = get_args(FailureType)
