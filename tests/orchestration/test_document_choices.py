"""Choices of what documents of other tools tell, a row each: which of two counts, what follows what, how many."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.document_import import MAX_REPEATS, UnreadableDocument, read_document, read_published
from aurora_deliverables.events import Ended, EventBody, RecoveryBegan, TokensUsed, ToolCalled
from aurora_deliverables.reducer import fold
from tests.orchestration.test_documents import final


def event(kind: str, data: dict[str, Any]) -> EventBody:
    stamp = {"event_type": kind, "timestamp": "2026-02-26T10:00:00Z", "change_id": "x", "data": data}
    return read_published(stamp).what


def state(status: str, phases: dict[str, tuple[int, int | None]], **more: Any) -> dict[str, Any]:
    """A deliverable that began at nine, with its phases' minutes."""

    def at(minute: int) -> str:
        return f"2026-02-26T09:{minute:02}:00Z"

    told = {
        phase: {"started_at": at(begun)} | ({"completed_at": at(over)} if over is not None else {})
        for phase, (begun, over) in phases.items()
    }
    return {"change_id": "x", "status": status, "started_at": at(0), "phases": told, **more}


def folded(document: dict[str, Any]) -> Deliverable:
    found = fold(read_document(document))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("data", "tool"),
    [
        pytest.param({"tool": "a", "tool_name": "b", "name": "c"}, "a", id="by the name that AURA-M has for it"),
        pytest.param({"tool_name": "b", "name": "c"}, "b", id="else by the usual one"),
        pytest.param({"name": "c"}, "c", id="else by any"),
        pytest.param({}, "unknown", id="a call of nobody knows what is a call"),
    ],
)
def test_which_tool_was_called(data: dict[str, Any], tool: str) -> None:
    assert event("tool_call", data) == ToolCalled(tool)


def test_an_end_that_says_it_did_not_fail_did_not_whatever_went_wrong_on_the_way() -> None:
    told = event("deliverable_end", {"deliverable_failed": False, "failure_type": "regression"})
    assert isinstance(told, Ended) and told.status == "completed"
    assert event("deliverable_end", {"failure_type": "regression"}) == Ended("failed", "regression")


@pytest.mark.parametrize(
    ("status", "phases", "current"),
    [
        pytest.param("executing", {}, "apply", id="where no phase is told, it goes on"),
        pytest.param("executing", {"propose": (0, 5)}, "apply", id="nor one of it"),
        pytest.param("executing", {"apply": (0, 5), "verify": (5, 9)}, None, id="but not where it is over"),
        pytest.param("verifying", {"apply": (0, None)}, "verify", id="another goes on no longer"),
    ],
)
def test_a_status_is_kept_whatever_phases_a_document_tells(
    status: str, phases: dict[str, Any], current: str | None
) -> None:
    found = folded(state(status, phases))
    assert (found.status, found.current_phase) == (status, current)


def test_nothing_follows_the_archive_of_what_is_over() -> None:
    found = folded(state("completed", {"apply": (0, 50), "archive": (30, 40)}))
    assert [span.phase for span in found.spans] == ["apply", "archive"]
    assert found.completed_at is not None and found.completed_at - found.started_at == 3000


@pytest.mark.parametrize(
    ("told", "durations", "phases"),
    [
        pytest.param((2, 3), {"apply": 8, "verify": 2}, ["apply", "verify"] * 3, id="as many as both tell"),
        pytest.param((3, 1), {"apply": 8, "verify": 2}, ["apply", "verify"], id="but work that was done once is one"),
        pytest.param((2, 3), {"apply": 8}, ["apply"], id="and without a verify nothing leads back"),
    ],
)
def test_rounds_of_work_of_a_final_record(told: tuple[int, int], durations: dict[str, int], phases: list[str]) -> None:
    recoveries, iterations = told
    metrics = {"recovery_attempts": recoveries, "apply_iterations": iterations, "phase_durations": durations}
    assert [span.phase for span in folded(final(metrics)).spans] == phases


def test_what_was_spent_was_spent_when_work_was_over_and_not_with_the_archive() -> None:
    events = read_document(
        final({"phase_durations": {"apply": 600, "archive": 60}, "token_usage": {"total_tokens": 5}})
    )
    (at,) = [each.at for each in events if isinstance(each.what, TokensUsed)]
    assert at - events[0].at == 600


def test_a_verify_before_any_work_leads_back_to_none() -> None:
    events = read_document(state("executing", {"verify": (0, 5), "apply": (10, None)}, recovery_attempts=1))
    assert [each.what for each in events if isinstance(each.what, RecoveryBegan)] == [RecoveryBegan(untimed=True)]


@pytest.mark.parametrize("over", [0, 1])
def test_so_many_repeats_are_kept_and_more_are_a_mistake(over: int) -> None:
    document = final({"recovery_attempts": MAX_REPEATS + over})
    if over:
        with pytest.raises(UnreadableDocument, match="repeats are more than"):
            read_document(document)
    else:
        assert folded(document).recovery_attempts == MAX_REPEATS
