"""Recorded state (what was already reported, so that nothing is told twice): what the events of a deliverable have told
so far, as far as detection needs it to tell only what is new.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.choices import Phase
from aurora_deliverables.events import (
    Conformed,
    Ended,
    Event,
    HumanIntervened,
    PhaseEnded,
    PhaseStarted,
    Renamed,
    Revived,
    SessionJoined,
    SpecChecked,
    SpecSource,
    Started,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)

_ASIDE = (ToolCalled, TokensUsed, SessionJoined, HumanIntervened, Renamed)
"""What says nothing of how far a deliverable is. Of most deliverables it is most of the events."""

MISSING: frozenset[str] = frozenset({"openspec", "speckit", "markdown"})
"""Sources that end a deliverable as failed only where its spec is not there any more."""

ARCHIVED: frozenset[str] = frozenset({"openspec", "git"})
"""Sources that end a deliverable as completed where it lies in the archive."""

PLANNING: frozenset[Phase] = frozenset({"propose", "specs", "design", "tasks"})


class RecordedState(Struct, frozen=True):
    """State that events have told: `phase` is the one begun last, whether it ended or not, at `phase_at`.
    `tests_passed`: of the last run since the last apply began. `told_at`: when the last was told of how far it is.

    `times` counts events by what they say, so that a fact that comes back (4 of 8, 5 of 8, 4 of 8) is a new event.
    """

    change_id: str
    started_at: float | None = None
    told_at: float = 0.0
    description: str | None = None
    type: str | None = None
    spec: SpecSource = SpecSource()
    phases: frozenset[Phase] = frozenset()
    phase: Phase | None = None
    phase_at: float = 0.0
    tasks_total: int | None = None
    tasks_completed: int | None = None
    met: tuple[int | None, int | None] = (None, None)
    tests: int = 0
    tests_passed: bool | None = None
    tests_at: float | None = None
    verified: bool = False
    ended: bool = False
    ended_at: float | None = None
    abandoned: bool = False
    """Ended because its spec was missed: so it goes on where that is found again."""
    archived: bool = False
    """Ended because it was found in the archive, and nobody said more of that."""
    author: str | None = None
    checked: SpecChecked | None = None
    times: dict[str, int] = {}

    @property
    def planning(self) -> bool:
        """Whether nothing was done yet but planning."""
        return self.phase is None or self.phase in PLANNING

    @property
    def all_done(self) -> bool | None:
        """Whether every task is checked; None where no tasks are known."""
        return self.tasks_completed == self.tasks_total if self.tasks_total else None

    def count(self, kind: str) -> int:
        """How often something of this kind was told."""
        return self.times.get(kind, 0)


def state_of(change_id: str, events: Iterable[Event]) -> RecordedState:
    """What all these events told, in their order."""
    state = RecordedState(change_id)
    for event in events:
        state = state_after(state, event)
    return state


def state_after(before: RecordedState, event: Event) -> RecordedState:
    """What is told once this event is."""
    what = event.what
    if isinstance(what, _ASIDE) and before.started_at is not None and before.started_at <= event.at:
        return before
    kind = kind_of(event)
    after = replace(
        before,
        started_at=event.at if before.started_at is None else min(before.started_at, event.at),
        told_at=before.told_at if isinstance(what, _ASIDE) else max(before.told_at, event.at),
        times={**before.times, kind: before.count(kind) + 1},
    )
    match what:
        case Started(description=description, type=type_, spec_source=spec, author=author):
            return replace(
                after,
                description=description or before.description,
                type=type_ or before.type,
                author=before.author or author,
                spec=_merged(before.spec, spec) if spec is not None else before.spec,
            )
        case PhaseStarted(phase="apply"):
            begun = before.phases | {"apply"}
            return replace(after, phase="apply", phase_at=event.at, phases=begun, tests=0, tests_passed=None)
        case PhaseStarted(phase=phase):
            verified = before.verified or phase == "verify"
            begun = before.phases | {phase}
            return replace(after, phase=phase, phase_at=event.at, phases=begun, verified=verified)
        case PhaseEnded(phase=phase):
            return replace(after, phases=before.phases | {phase})
        case TasksCounted(total=total, completed=completed):
            total = before.tasks_total if total is None else total
            return replace(
                after, tasks_total=total, tasks_completed=before.tasks_completed if completed is None else completed
            )
        case TestsRan():
            return replace(after, tests=before.tests + 1, tests_passed=passed(what), tests_at=event.at)
        case Conformed(completed_requirements=completed, total_requirements=total):
            done, of = before.met
            return replace(after, met=(done if completed is None else completed, of if total is None else total))
        case SpecChecked():
            return replace(after, checked=what)
        case Ended():
            abandoned = what.status == "failed" and event.source in MISSING
            archived = what.status == "completed" and event.source in ARCHIVED
            at = event.at if before.ended_at is None else min(before.ended_at, event.at)
            return replace(after, ended=True, ended_at=at, abandoned=abandoned, archived=archived)
        case Revived():
            return replace(after, ended=False, ended_at=None, abandoned=False, archived=False)
        case _:
            return after


def passed(run: TestsRan) -> bool | None:
    """Whether a test run went well; None where that was not seen."""
    if run.failed:
        return False
    if run.succeeded is not None:
        return run.succeeded
    return True if run.passed and run.failed == 0 else None


def kind_of(event: Event) -> str:
    """What an event is counted as: its kind, and for phases which one."""
    what = event.what
    if isinstance(what, PhaseStarted):
        return f"phase_start:{what.phase}"
    return str(type(what).__struct_config__.tag)


def _merged(before: SpecSource, said: SpecSource) -> SpecSource:
    """Merge of two sources of a spec: what is said counts, else what was known."""
    return SpecSource(
        framework=said.framework or before.framework,
        spec_id=said.spec_id or before.spec_id,
        requirements_count=before.requirements_count if said.requirements_count is None else said.requirements_count,
    )
