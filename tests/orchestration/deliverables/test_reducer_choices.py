"""What counts, and in which order: each row is a rule of the reducer that a person would defend.

Minutes are after nine o'clock. Rows without a word on order are told in the order in which they are written, and once
more the other way round: the order of arrival may not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from aurora_deliverables.choices import Phase
from aurora_deliverables.deliverable import PhaseSpan
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Criterion,
    Ended,
    EventBody,
    HumanIntervened,
    Iterated,
    RecoveryBegan,
    Renamed,
    Revived,
    SpecChecked,
    SpecSource,
    Started,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.reducer import Reducer, fold
from aurora_deliverables.snapshots import snapshot_mark
from aurora_memory.store import FoldedDeliverable, Store, deliverable_log
from tests.orchestration.logs import NINE, begin, end, log

SPOKEN = {"functional": 1.0, "correctness": 1.0, "constraints": 1.0}


class Row(NamedTuple):
    """Events at so many minutes, and what of the state they amount to; minutes stand for times there too."""

    rule: str
    told: Sequence[tuple[float, EventBody]]
    state: Mapping[str, Any]
    refused: int = 0


def at(minutes: float) -> float:
    return NINE + 60 * minutes


def span(phase: Phase, since: float, until: float | None, number: int) -> PhaseSpan:
    return PhaseSpan(phase, at(since), None if until is None else at(until), number)


BROKEN = (5, TestsRan(failed=1))

CHECKED = SpecChecked(
    (
        Criterion("requirement", "a", met=True),
        Criterion("requirement", "b", met=False),
        Criterion("constraint", "no", met=False),
    )
)

ORDER = [
    Row(
        "who is said to do it last does it, and what is not said of them was said before",
        [(0, Started(agent=AgentIdentity("a", "m"))), (1, Started(agent=AgentIdentity("b")))],
        {"agent": AgentIdentity("b", "m")},
    ),
    Row(
        "what it is said to be last it is",
        [(0, Started(kind="run")), (1, Started(kind="change"))],
        {"kind": "change"},
    ),
    Row(
        "tests that fail before there is work are nothing to recover from",
        [(0, begin("verify")), (1, TestsRan(failed=1)), (2, begin("apply"))],
        {"recovery_attempts": 0},
    ),
    Row(
        "of the names it had the last is the one it has, also where that is an old one",
        [(0, Started()), (1, Renamed("a")), (2, Renamed("b")), (3, Renamed("a"))],
        {"names": ("b", "a")},
    ),
    Row(
        "only what failed can have been withdrawn",
        [(0, Started()), (1, Ended("completed", withdrawn=True))],
        {"withdrawn": False, "status": "completed"},
    ),
    Row(
        "of two who are named the one who was told of first proposed it",
        [(0, Started(author="Ann")), (1, Started(author="Bob"))],
        {"author": "Ann"},
    ),
    Row(
        "of two counts of tasks at one instant the higher is the later",
        [(0, TasksCounted(8, 5)), (0, TasksCounted(8, 4))],
        {"tasks_completed": 5},
    ),
    Row(
        "a count of tasks that comes later counts, higher or not",
        [(0, TasksCounted(8, 5)), (1, TasksCounted(8, 4))],
        {"tasks_completed": 4},
    ),
    Row(
        "of phases that begin at one instant the later one is under way",
        [(0, begin("design")), (0, begin("propose")), (0, begin("specs"))],
        {"current_phase": "design"},
    ),
    Row(
        "a phase that ends and begins at one instant is another stretch of it",
        [(0, begin("design")), (5, begin("design")), (5, end("design"))],
        {"current_phase": "design", "spans": (span("design", 0, 5, 1), span("design", 5, None, 2))},
    ),
    Row(
        "a phase that two sources notice begins once",
        [(0, begin("apply")), (1, begin("apply"))],
        {"apply_iterations": 1},
    ),
    Row(
        "a call at the instant at which rework begins belongs to it",
        [(0, begin("apply")), (5, begin("verify")), BROKEN, (6, begin("apply")), (6, ToolCalled("bash", 2))],
        {"recovery_tool_calls": 2},
    ),
    Row(
        "a call at the instant of the end was made before it",
        [(0, begin("apply")), (9, Ended("completed")), (9, ToolCalled("bash"))],
        {"tool_calls": {"bash": 1}, "completed_at": at(9)},
    ),
    Row(
        "a call at the instant at which the archive ends was made before it",
        [(0, begin("archive")), (9, end("archive")), (9, ToolCalled("bash"))],
        {"tool_calls": {"bash": 1}, "status": "completed"},
    ),
    Row(
        "who ends it at the instant at which the archive ends settles how",
        [(0, begin("archive")), (9, Ended("failed")), (9, end("archive"))],
        {"status": "failed", "settled": True},
    ),
]

ENDED = [
    Row(
        "with its archive over a deliverable is completed, and nobody has said so",
        [(0, begin("archive")), (5, end("archive"))],
        {"status": "completed", "settled": False, "completed_at": at(5), "deliverable_failed": False},
    ),
    Row(
        "an archive that lasts is no end",
        [(0, begin("archive"))],
        {"status": "verifying", "completed_at": None, "deliverable_failed": None},
    ),
    Row(
        "the end of any other phase is no end",
        [(0, begin("apply")), (1, begin("verify")), (5, end("verify"))],
        {"status": "verifying", "completed_at": None, "current_phase": None},
    ),
    Row(
        "what the archive ended can still be said to have failed, and ended then",
        [(0, begin("archive")), (5, end("archive")), (9, Ended("failed", "regression"))],
        {"status": "failed", "completed_at": at(9), "failure_type": "regression", "settled": True},
    ),
    Row(
        "an end that was told holds against another",
        [(0, Started()), (5, Ended("completed")), (9, Ended("failed"))],
        {"status": "completed", "completed_at": at(5)},
        refused=1,
    ),
    Row(
        "work after the end counts for nothing",
        [(0, begin("apply")), (5, Ended("completed")), (6, ToolCalled("bash")), (7, begin("verify")), (8, Iterated())],
        {"tool_calls": {}, "apply_iterations": 1, "updated_at": at(5)},
        refused=3,
    ),
    Row(
        "a call that had begun when it ended counts, one that began later does not",
        [
            (0, begin("apply")),
            (5, Ended("completed")),
            (6, ToolCalled("bash", duration_seconds=60.0)),
            (7, ToolCalled("bash", duration_seconds=59.0)),
        ],
        {"tool_calls": {"bash": 1}, "completed_at": at(5)},
        refused=1,
    ),
    Row(
        "what becomes known after the end counts: its title, tokens, scores, tests, waiting",
        [
            (0, begin("apply")),
            (5, Ended("completed")),
            (6, Started("Search")),
            (7, TokensUsed(1, 2)),
            (8, HumanIntervened(60.0)),
            (9, Conformed(correctness=0.5)),
        ],
        {"description": "Search", "human_interventions": 1, "completed_at": at(5), "updated_at": at(9)},
    ),
    Row("nothing ends that never began", [(0, Ended("completed"))], {}, refused=1),
    Row(
        "a phase that is not under way does not end",
        [(0, begin("apply")), (5, end("verify"))],
        {"current_phase": "apply"},
        refused=1,
    ),
]

FAILED = [
    Row(
        "a type of failure says that it failed",
        [(0, Started()), (5, Ended("completed", "hallucination"))],
        {"deliverable_failed": True, "failure_type": "hallucination", "status": "completed"},
    ),
    Row(
        "who judged it elsewhere has the word, against a type of failure",
        [(0, Started()), (5, Ended("completed", "hallucination", deliverable_failed=False))],
        {"deliverable_failed": False, "failure_type": None},
    ),
    Row(
        "who judged it elsewhere has the word, against a score below the threshold",
        [(0, Started()), (1, Conformed(overall=0.1)), (5, Ended("completed", deliverable_failed=False))],
        {"deliverable_failed": False},
    ),
    Row(
        "what was given up failed, whatever was judged elsewhere",
        [(0, Started()), (5, Ended("failed", deliverable_failed=False))],
        {"deliverable_failed": True},
    ),
    Row(
        "a score just at the threshold has not failed",
        [(0, Started()), (1, Conformed(overall=0.7)), (5, Ended("completed"))],
        {"deliverable_failed": False},
    ),
    Row(
        "a score below the threshold has",
        [(0, Started()), (1, Conformed(overall=0.699)), (5, Ended("completed"))],
        {"deliverable_failed": True},
    ),
    Row(
        "a score that is told after the end counts",
        [(0, Started()), (5, Ended("completed")), (6, Conformed(overall=0.1))],
        {"deliverable_failed": True},
    ),
]

REWORK = [
    Row(
        "to apply what failed its verification is a recovery, until that apply ends",
        [
            (0, begin("apply")),
            (5, begin("verify")),
            BROKEN,
            (6, begin("apply")),
            (9, begin("verify")),
            (20, ToolCalled("bash")),
        ],
        {"recovery_attempts": 1, "recovery_seconds": 180.0, "recovery_tool_calls": 0},
    ),
    Row(
        "a run of tests that says it failed has failed its verification, without a count too",
        [(0, begin("apply")), (5, begin("verify")), (5, TestsRan(succeeded=False)), (6, begin("apply"))],
        {"recovery_attempts": 1},
    ),
    Row(
        "to apply again without having verified is none",
        [(0, begin("apply")), (5, begin("design")), (6, begin("apply"))],
        {"recovery_attempts": 0, "apply_iterations": 1},
    ),
    Row(
        "a recovery that phases tell and somebody says is one",
        [(0, begin("apply")), (5, begin("verify")), (6, begin("apply")), (7, RecoveryBegan())],
        {"recovery_attempts": 1},
    ),
    Row(
        "the next that is said is another",
        [(0, begin("apply")), (5, begin("verify")), (6, begin("apply")), (7, RecoveryBegan()), (8, RecoveryBegan())],
        {"recovery_attempts": 2},
    ),
    Row(
        "a phase that lasts recovers up to the last that was heard",
        [(0, begin("apply")), (2, RecoveryBegan()), (9, ToolCalled("bash", 3))],
        {"recovery_seconds": 420.0, "recovery_tool_calls": 3},
    ),
    Row(
        "calls before a recovery are no rework, those in it are",
        [(0, begin("apply")), (1, ToolCalled("bash", 5)), (2, RecoveryBegan()), (3, ToolCalled("bash", 2))],
        {"recovery_tool_calls": 2},
    ),
    Row(
        "a recovery without times makes the time of rework unknown, not nothing",
        [(0, begin("apply")), (2, RecoveryBegan(untimed=True)), (5, Ended("completed"))],
        {"recovery_attempts": 1, "recovery_seconds": None, "recovery_tool_calls": None},
    ),
    Row(
        "rework that is said before apply goes on counts from there, between phases too it is none",
        [
            (0, begin("apply")),
            (5, begin("verify")),
            BROKEN,
            (6, RecoveryBegan()),
            (8, end("verify")),
            (500, begin("apply")),
            (503, begin("verify")),
        ],
        {"recovery_attempts": 1, "recovery_seconds": 300.0},
    ),
    Row(
        "calls since apply went on belong to the rework that is said of it then",
        [
            (0, begin("apply")),
            (5, begin("verify")),
            (6, begin("apply")),
            (7, ToolCalled("bash", 3)),
            (8, RecoveryBegan()),
            (9, ToolCalled("bash", 2)),
        ],
        {"recovery_tool_calls": 5, "recovery_seconds": 180.0},
    ),
    Row(
        "rework that an end broke off goes on where the end is taken back",
        [
            (0, begin("apply")),
            (5, begin("verify")),
            BROKEN,
            (6, begin("apply")),
            (8, Ended("failed")),
            (20, Revived()),
            (25, begin("verify")),
        ],
        {"recovery_attempts": 1, "recovery_seconds": 420.0},
    ),
    Row(
        "rework never takes longer than the whole",
        [(0, begin("apply")), (1, RecoveryBegan(duration_seconds=9000.0)), (5, Ended("completed"))],
        {"recovery_seconds": 300.0},
    ),
    Row(
        "each apply has its number, verified between or not",
        [(0, begin("apply")), (1, begin("verify")), (2, begin("apply")), (3, Iterated())],
        {"apply_iterations": 3},
    ),
]

KNOWN = [
    Row(
        "what is said of a deliverable later replaces what it says, and nothing else",
        [(0, Started("Search", "feature")), (1, Started("Find")), (2, Started(complexity="simple"))],
        {"description": "Find", "type": "feature", "complexity": "simple"},
    ),
    Row(
        "the spec's parts are known one by one",
        [(0, Started(spec_source=SpecSource("jira", "A-1"))), (1, Started(spec_source=SpecSource("openspec")))],
        {"spec_source": SpecSource("openspec", "A-1")},
    ),
    Row(
        "the agent that is said to do the work comes before the model that tokens name",
        [(0, TokensUsed(1, model="m-1")), (1, Started(agent=AgentIdentity("bot", "m-2")))],
        {"agent": AgentIdentity("bot", "m-2")},
    ),
    Row(
        "of models that tokens name the first stays",
        [(0, TokensUsed(1, model="m-1")), (1, TokensUsed(1, model="m-2"))],
        {"agent": AgentIdentity(model="m-1")},
    ),
    Row("that nobody had to step in is known", [(0, HumanIntervened(count=0))], {"human_interventions": 0}),
    Row("that nobody said is not", [(0, Started())], {"human_interventions": None, "human_wait_seconds": None}),
    Row(
        "a score that was told of a dimension comes before tests that ran",
        [(0, Conformed(**{**SPOKEN, "correctness": 0.4})), (1, TestsRan(9, 1)), (2, Iterated())],
        {"conformance.correctness": 0.4},
    ),
    Row(
        "what people tell of a dimension comes before what was found of the spec, earlier or later",
        [(0, Conformed(functional=0.9, constraints=1.0)), (1, CHECKED)],
        {"conformance.functional": 0.9, "conformance.constraints": 1.0},
    ),
    Row(
        "what was found of the spec counts where nobody tells",
        [(0, CHECKED)],
        {"conformance.functional": 0.5, "conformance.constraints": 0.9},
    ),
    Row(
        "what was found of some requirements alone is no share of them",
        [(0, SpecChecked((*CHECKED.criteria, Criterion("requirement", "c"))))],
        {"conformance.functional": None, "conformance.constraints": 0.9},
    ),
    Row(
        "the latest test run counts",
        [(0, TestsRan(1, 9)), (1, TestsRan(9, 1))],
        {"conformance.correctness": 0.9},
    ),
    Row(
        "a run of no tests says nothing",
        [(0, TestsRan(9, 1)), (1, TestsRan(0, 0))],
        {"conformance.correctness": 0.9},
    ),
    Row(
        "an overall score holds until a dimension is told without it",
        [(0, Conformed(overall=0.5)), (1, Conformed(**SPOKEN)), (2, Iterated())],
        {"conformance.overall": 1.0},
    ),
    Row(
        "of three dimensions there is no overall score",
        [(0, Conformed(**SPOKEN))],
        {"conformance.overall": None},
    ),
]


@pytest.mark.parametrize("row", [*ORDER, *ENDED, *FAILED, *REWORK, *KNOWN], ids=lambda row: row.rule)
def test_events_amount_to(row: Row) -> None:
    events = log(*row.told)
    for arrived in (events, events[::-1]):
        reducer = Reducer()
        reducer.take(arrived)
        state = reducer.deliverable()
        assert (state is None) == (not row.state)
        found = {}
        for name in row.state:
            value: Any = state
            for part in name.split("."):
                value = getattr(value, part)
            found[name] = value
        assert found == row.state
        assert len(reducer.refused) == row.refused


def test_of_agents_that_are_noticed_the_first_stays_and_a_later_one_tells_what_it_does_not() -> None:
    first, second = log((0, Started()), (1, TasksCounted(8, 1)))
    events = [replace(first, agent=AgentIdentity("bot")), replace(second, agent=AgentIdentity("helper", "m-1"))]
    for arrived in (events, events[::-1]):
        found = fold(arrived)
        assert found is not None and found.agent == AgentIdentity("bot", "m-1")


def test_of_one_id_told_twice_the_first_in_time_counts_once() -> None:
    call, other = log((1, ToolCalled("bash", 2)), (1, ToolCalled("bash", 2)))
    same = fold([call, call])
    sorted_ = Reducer()
    sorted_.take_sorted([call, call])
    assert sorted_.deliverable() == same
    both = fold([call, other])
    assert same is not None and same.tool_calls == {"bash": 2}
    assert both is not None and both.tool_calls == {"bash": 4}


class Kept(NamedTuple):
    """A snapshot as it lies beside a log of two events, and whether it is used."""

    rule: str
    number: int
    mark: str
    used: bool


KEPT = [
    Kept("a snapshot of all events by the same rules is used", 2, "now", True),
    Kept("a snapshot by other rules is not", 2, "before", False),
    Kept("a snapshot of fewer events is not", 1, "now", False),
    Kept("a snapshot of more events than there are is not", 3, "now", False),
]


def test_rules_differ_with_the_threshold() -> None:
    assert snapshot_mark(0.7) == snapshot_mark(0.7) != snapshot_mark(0.8)


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.rule)
async def test_a_snapshot_is_used_where_it_is_of_the_same(kept: Kept, tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "memory.db")
    events = [deliverable_log.LoggedEvent(f"e{n}", "one", 1.0, 1.0, "cli", "{}") for n in range(2)]
    await store.log_deliverable_events(events)
    await store.keep_deliverable_folds(kept.mark, [FoldedDeliverable("one", kept.number, '"kept"')])
    (found,) = await store.read(deliverable_log.folds, "now")
    await store.close()
    assert found == FoldedDeliverable("one", 2, '"kept"' if kept.used else "")
