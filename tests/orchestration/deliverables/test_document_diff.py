"""A whole document taken in again: only what it has grown by counts."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_deliverables.deliverable import Deliverable, TokenUsage
from aurora_deliverables.document_diff import document_diff
from aurora_deliverables.document_import import read_document
from aurora_deliverables.events import Event
from aurora_deliverables.reducer import fold

STATE: dict[str, Any] = {
    "change_id": "one",
    "status": "executing",
    "started_at": "2026-02-26T09:00:00Z",
    "updated_at": "2026-02-26T09:30:00Z",
    "phases": {
        "propose": {"started_at": "2026-02-26T09:00:00Z", "completed_at": "2026-02-26T09:05:00Z"},
        "apply": {"started_at": "2026-02-26T09:10:00Z"},
    },
    "current_phase": "apply",
    "tasks_total": 8,
    "tasks_completed": 2,
    "tool_calls": {"bash": 3},
    "recovery_attempts": 1,
    "apply_iterations": 2,
    "token_usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110, "estimated_cost_usd": 0.5},
    "human_interventions": 1,
    "sessions": ["s"],
}
GROWN = STATE | {
    "updated_at": "2026-02-26T09:40:00Z",
    "tasks_completed": 5,
    "tool_calls": {"bash": 4, "edit": 2},
    "recovery_attempts": 2,
    "apply_iterations": 3,
    "token_usage": {"input_tokens": 150, "output_tokens": 10, "total_tokens": 160, "estimated_cost_usd": 0.75},
    "human_interventions": 3,
}


def folded(events: list[Event]) -> Deliverable:
    deliverable = fold(events)
    assert deliverable is not None
    return deliverable


def sums(deliverable: Deliverable) -> tuple[object, ...]:
    tokens = deliverable.tokens
    assert tokens is not None
    return (
        deliverable.tool_calls,
        deliverable.recovery_attempts,
        deliverable.apply_iterations,
        (tokens.input_tokens, tokens.output_tokens, tokens.cost_usd),
        deliverable.human_interventions,
        (deliverable.tasks_completed, deliverable.tasks_total),
    )


def test_of_what_nothing_is_known_everything_is_new() -> None:
    events = read_document(STATE)
    assert document_diff(events, None) == events


def test_what_is_known_adds_nothing() -> None:
    events = read_document(STATE)
    known = folded(events)
    assert sums(folded(events + document_diff(events, known))) == sums(known)


def test_a_grown_document_adds_what_it_has_grown_by() -> None:
    events = read_document(STATE)
    both = events + document_diff(read_document(GROWN), folded(events))
    assert sums(folded(both)) == sums(folded(read_document(GROWN)))
    assert sums(folded(both))[0] == {"bash": 4, "edit": 2}


def test_a_grown_total_adds_what_nobody_split() -> None:
    usage: dict[str, Any] = {"total_tokens": 500}
    events = read_document({**STATE, "token_usage": usage, "tool_calls_total": 10})
    grown = {**STATE, "token_usage": {"total_tokens": 800, "estimated_cost_usd": 0.1}, "tool_calls_total": 12}
    told = folded(
        events + document_diff(read_document({**grown, "updated_at": "2026-02-26T09:40:00Z"}), folded(events))
    )
    assert told.tokens == TokenUsage(None, None, 0, 0.1, 800)
    assert told.tool_calls == {"bash": 3, "unknown": 9}


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_what_is_over_stays_as_it_is(status: str) -> None:
    events = read_document({**STATE, "status": status})
    assert document_diff(read_document(GROWN), folded(events)) == []


@pytest.mark.parametrize("field", ["tool_calls", "token_usage", "human_interventions"])
def test_a_document_that_has_shrunk_takes_nothing_back(field: str) -> None:
    events = read_document(GROWN)
    shrunk = document_diff(read_document({**GROWN, field: STATE[field]}), folded(events))
    assert sums(folded(events + shrunk)) == sums(folded(events))
