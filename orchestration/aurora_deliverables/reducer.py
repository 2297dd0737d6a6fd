"""Reducer of events (a fold: idempotent, deduplicated by their id): from the events of one deliverable to its state,
what they amount to: pure, and the same when they arrive late or out of order.

Events count in the order of `order`: by their own time, then by kind, then by id. What may not follow in that order
(`transitions.refusal`) counts for nothing. Since every duration lies between two events in that order none is negative,
whatever clocks did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from aurora_deliverables.choices import PHASES, Complexity, FailureType, Kind, Phase, Status
from aurora_deliverables.conformance import THRESHOLD, Measured
from aurora_deliverables.deliverable import Deliverable, PhaseSpan
from aurora_deliverables.events import (
    AgentIdentity,
    Conformed,
    Ended,
    Event,
    HumanIntervened,
    Iterated,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
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
from aurora_deliverables.token_usage import TokenSum
from aurora_deliverables.transitions import refusal, status_in

_RANKS: dict[type, int] = {Revived: -1, Started: 0, PhaseEnded: 1, PhaseStarted: 2, Ended: 5}
_FACT, _ARCHIVED = 3, 4
_ENDS = (Ended, PhaseEnded, Revived)


def order(event: Event) -> tuple[float, int, int, str]:
    """Sort key of events. At one instant a phase ends before the next begins; archive and the whole end last.

    Of two counts of tasks at one instant the higher is the later.
    """
    what = event.what
    rank, tie = _RANKS.get(type(what), _FACT), 0
    if isinstance(what, PhaseStarted):
        tie = PHASES.index(what.phase)
    elif isinstance(what, TasksCounted):
        tie = what.completed or 0
    elif isinstance(what, PhaseEnded) and what.phase == "archive":
        rank = _ARCHIVED
    return event.at, rank, tie, event.id


def fold(events: Iterable[Event], threshold: float = THRESHOLD) -> Deliverable | None:
    """Projection of the events of one deliverable; None where none of them counts. The same id twice is one event.

    `threshold` is the conformance below which an accepted deliverable has failed.
    """
    folding = Reducer()
    folding.take(events)
    return folding.deliverable(threshold)


class Reducer:
    """Reducer of one deliverable while its events are taken in. `refused` says of those that count for nothing why."""

    def __init__(self) -> None:
        self.change_id = ""
        self.status: Status = "planning"
        self.current_phase: Phase | None = None
        self.settled = False
        self.refused: dict[str, str] = {}
        self.last_at = float("-inf")
        """The time of the latest event, whether it counted or not: what is later can be taken in on top."""
        self._started_at: float | None = None
        self._updated_at = 0.0
        self.completed_at: float | None = None
        self._description: str | None = None
        self._type: str | None = None
        self._complexity: Complexity | None = None
        self._spec: SpecSource | None = None
        self._agent = AgentIdentity()
        self._noticed_agent = AgentIdentity()
        self._done: list[PhaseSpan] = []
        self._since = 0.0
        self._iterations = dict.fromkeys(PHASES, 0)
        self._verified = False
        self._tests_failed = False
        self._unsaid_since: float | None = None
        """When apply went on after a verification that nobody called failed yet: rework from there on, if it was."""
        self._unsaid_calls = 0
        self._reworking = False
        self._reworked_at_end = False
        self._rework_since: float | None = None
        """When rework went on in the phase under way; None while there is none of either."""
        self._recovery_seconds = 0.0
        self._unclaimed = False
        self._untimed = False
        self._recoveries = 0
        self._recovery_calls = 0
        self._tasks_total: int | None = None
        self._tasks_completed: int | None = None
        self._calls: dict[str, int] = {}
        self._tokens: TokenSum | None = None
        self._interventions: int | None = None
        self._waited: float | None = None
        self._sessions: dict[str, None] = {}
        self._measured = Measured()
        self._failure: FailureType | None = None
        self._failed: bool | None = None
        self._withdrawn = False
        self._author: str | None = None
        self._kind: Kind | None = None
        self._names: dict[str, None] = {}

    def take(self, events: Iterable[Event]) -> None:
        """Take in events, deduplicated by id, that are all later than `last_at`, in any order among themselves."""
        self.take_sorted(sorted(events, key=order))

    def take_sorted(self, events: Iterable[Event]) -> None:
        """The same with events that are in their `order` already; of one that is told with two times the earlier."""
        seen: set[str] = set()
        waiting: list[tuple[Event, str]] = []
        for event in events:
            if event.id in seen:
                continue
            seen.add(event.id)
            if waiting and (event.at > self.last_at or type(event.what) not in (PhaseEnded, PhaseStarted)):
                self._again(waiting)
            self.last_at = event.at
            reason = self._one(event)
            if reason is not None:
                if type(event.what) is PhaseEnded:
                    waiting.append((event, reason))
                else:
                    self.refused[event.id] = reason
        self._again(waiting)

    def deliverable(self, threshold: float = THRESHOLD) -> Deliverable | None:
        """What was taken in amounts to this; None where nothing counted."""
        if self._started_at is None:
            return None
        spec = self._spec
        agent = _laid_over(self._noticed_agent, self._agent)
        iterations = self._iterations["apply"]
        conformance = self._measured.score(spec.requirements_count if spec is not None else None, iterations)
        recovering = self._recovery_seconds
        if self._rework_since is not None:
            recovering += self._updated_at - self._rework_since
        recovering = min(recovering, self._updated_at - self._started_at)  # several at once are told one by one
        spans = tuple(self._done)
        if self.current_phase is not None:
            spans += (self._span(None),)
        below = conformance is not None and conformance.overall is not None and conformance.overall < threshold
        failed: bool | None = None
        if self.status in ("completed", "failed"):
            failed = self.status == "failed" or (below if self._failed is None else self._failed)
            failed = failed and not self._withdrawn
        return Deliverable(
            change_id=self.change_id,
            status=self.status,
            started_at=self._started_at,
            updated_at=self._updated_at,
            completed_at=self.completed_at,
            description=self._description,
            type=self._type,
            complexity=self._complexity,
            spec_source=spec,
            agent=agent if agent != AgentIdentity() else None,
            spans=spans,
            current_phase=self.current_phase,
            tasks_total=self._tasks_total,
            tasks_completed=self._tasks_completed,
            tool_calls=dict(self._calls),
            recovery_tool_calls=None if self._untimed else self._recovery_calls,
            recovery_attempts=self._recoveries,
            apply_iterations=iterations,
            tokens=self._tokens.usage() if self._tokens is not None else None,
            human_interventions=self._interventions,
            human_wait_seconds=self._waited,
            sessions=tuple(self._sessions),
            conformance=conformance,
            deliverable_failed=failed,
            failure_type=self._failure if failed else None,
            recovery_seconds=None if self._untimed else recovering,
            withdrawn=self._withdrawn,
            author=self._author,
            kind=self._kind or ("run" if _was_a_run(self._type, spec, agent) else "change"),
            names=tuple(self._names),
            settled=self.settled,
            criteria=self._measured.criteria,
            model_costs=self._model_costs(agent),
        )

    def _model_costs(self, agent: AgentIdentity) -> dict[str, float]:
        found: dict[str, float] = {}
        for model, cost in (self._tokens.costs if self._tokens is not None else {}).items():
            name = model or agent.model or "unknown"
            found[name] = found.get(name, 0.0) + cost
        return found

    def _again(self, waiting: list[tuple[Event, str]]) -> None:
        """A phase that begins and ends at one instant ends after all: its end was looked at before its beginning."""
        for event, reason in waiting:
            assert isinstance(event.what, PhaseEnded), "only ends of phases are looked at again"
            phase = event.what.phase
            passed = any(span.phase == phase and span.completed_at == event.at for span in self._done[-len(PHASES) :])
            if self._one(event) is not None and not passed:
                self.refused[event.id] = reason
        waiting.clear()

    def _one(self, event: Event) -> str | None:
        """Event handler (apply one event): refused where its transition is illegal, else folded in."""
        kind = type(event.what)
        if kind in _ENDS or self.completed_at is not None:  # nothing else can be refused
            reason = refusal(self if self._started_at is not None else None, event)
            if reason is not None:
                return reason
        at = event.at
        if self._started_at is None:
            self.change_id = event.change_id
            self._started_at = at
        self._updated_at = at
        if event.session is not None:
            self._sessions.setdefault(event.session)
        if event.agent is not None and event.agent != self._noticed_agent:
            self._noticed_agent = _laid_over(event.agent, self._noticed_agent)
        _TAKE[kind](self, event.what, at)
        return None

    def _started(self, what: Started, _: float) -> None:
        """Begin of a deliverable, or more that becomes known of it (merge)."""
        self._description = what.description if what.description is not None else self._description
        self._type = what.type if what.type is not None else self._type
        self._complexity = what.complexity if what.complexity is not None else self._complexity
        self._spec = _laid_over(self._spec, what.spec_source)
        self._agent = _laid_over(self._agent, what.agent)
        # Of two who are named the one told of first by its time proposed it.
        self._author = what.author if self._author is None else self._author
        self._kind = what.kind if what.kind is not None else self._kind

    def _phase_started(self, what: PhaseStarted, at: float) -> None:
        """Phase transition: the phase before ends, an iteration may be counted."""
        phase = what.phase
        if phase == self.current_phase:
            return  # another source noticed it too
        self._leave(at)
        self.current_phase, self._since = phase, at
        self.status = status_in(phase)
        if phase != "apply" or self._verified or not self._iterations["apply"]:
            self._iterations[phase] += 1  # of apply, each with its verify is one: work that was only put aside goes on
        if phase == "verify":
            self._verified = self._iterations["apply"] > 0
        elif phase == "apply":
            if self._verified and self._tests_failed and not self._reworking:
                self._recoveries += 1
                self._reworking = self._unclaimed = True
            elif self._verified and not self._reworking:
                self._unsaid_since, self._unsaid_calls = at, 0
            self._verified = self._tests_failed = False
        self._rework_since = at if self._reworking else None

    def _phase_ended(self, what: PhaseEnded, at: float) -> None:
        """End of a phase; of the last one, of the deliverable."""
        if what.phase == "archive":
            self._stop_at_end(at)
            self.status = "completed"
            self.completed_at = at
        else:
            self._leave(at)

    def _ended(self, what: Ended, at: float) -> None:
        """Final state: completed or failed, and why."""
        if self.completed_at is None:
            self._stop_at_end(at)
        self.status = what.status
        self.settled = True
        self.completed_at = at
        self._failure = what.failure_type
        self._withdrawn = what.withdrawn and what.status == "failed"
        # Who names a type of failure says that it failed, unless told otherwise.
        self._failed = True if what.deliverable_failed is None and what.failure_type else what.deliverable_failed

    def _revived(self, _: Revived, at: float) -> None:
        """Reopening of a deliverable that was over: its phase goes on."""
        left_at, last = self.completed_at, None
        for span in reversed(self._done):
            if span.phase != "archive":
                last = span
                break
            left_at = span.started_at
        # A phase that was told to be over before the end is taken up again by nobody.
        broken_off = last if last is not None and last.completed_at == left_at else None
        self.current_phase = broken_off.phase if broken_off is not None else None
        self.completed_at = self._failure = self._failed = None
        self.settled = self._withdrawn = False
        self._since = at
        self._reworking = self._reworked_at_end or (broken_off is not None and broken_off.recovery)
        self._rework_since = at if self._reworking and broken_off is not None else None
        self.status = status_in(last.phase if last is not None else None)

    def _renamed(self, what: Renamed, _: float) -> None:
        self._names.pop(what.name, None)
        self._names[what.name] = None

    def _recovery(self, what: RecoveryBegan, at: float) -> None:
        """Recovery (rework) after a failure, counted and timed once."""
        if self._unclaimed:
            self._unclaimed = False  # the rework that verify → apply told of already
            return
        self._recoveries += 1
        if what.untimed:
            self._untimed = True
            return
        if what.duration_seconds is not None:
            self._recovery_seconds += what.duration_seconds
            self._recovery_calls += what.tool_calls
            return
        if self._reworking:
            return
        if self._unsaid_since is None:
            self._split(at)
        else:
            self._recovery_calls += self._unsaid_calls
        if self.current_phase is not None:
            self._rework_since = at if self._unsaid_since is None else self._unsaid_since
        self._unsaid_since = None
        self._reworking = True

    def _iterated(self, _: Iterated, at: float) -> None:
        self._split(at)
        self._iterations["apply"] += 1

    def _tool_called(self, what: ToolCalled, _: float) -> None:
        """Tool call counts, those during rework apart."""
        self._calls[what.tool] = self._calls.get(what.tool, 0) + what.count
        if self._reworking:
            self._recovery_calls += what.count
        elif self._unsaid_since is not None:
            self._unsaid_calls += what.count

    def _tasks_counted(self, what: TasksCounted, _: float) -> None:
        self._tasks_total = what.total if what.total is not None else self._tasks_total
        self._tasks_completed = what.completed if what.completed is not None else self._tasks_completed

    def _tokens_used(self, what: TokensUsed, _: float) -> None:
        """Token counts and cost, accumulated."""
        if self._tokens is None:
            self._tokens = TokenSum()
        self._tokens.add(what)
        if what.model is not None and self._noticed_agent.model is None:
            self._noticed_agent = AgentIdentity(self._noticed_agent.name, what.model, self._noticed_agent.framework)

    def _session_joined(self, what: SessionJoined, _: float) -> None:
        self._sessions.setdefault(what.session)

    def _intervened(self, what: HumanIntervened, _: float) -> None:
        """Human interventions, counted, and the time work waited for them."""
        self._interventions = (self._interventions or 0) + what.count
        if what.waited_seconds is not None:
            self._waited = (self._waited or 0.0) + what.waited_seconds

    def _conformed(self, what: Conformed, _: float) -> None:
        self._measured.hear(what)

    def _spec_checked(self, what: SpecChecked, _: float) -> None:
        self._measured.checked(what)

    def _tests_ran(self, what: TestsRan, _: float) -> None:
        """Test results: of several runs the last tells how it went."""
        self._measured.ran(what)
        if what.failed or what.succeeded is False:
            self._tests_failed = True
        elif what.succeeded or what.passed:
            self._tests_failed = False  # of several runs of a verification the last one tells how it went

    def _leave(self, at: float) -> None:
        """End the phase under way; with an apply its recovery ends."""
        if self.current_phase is None:
            return
        self._done.append(self._span(at))
        self._unsaid_since = None
        if self._rework_since is not None:
            self._recovery_seconds += at - self._rework_since
            self._rework_since = None
        if self.current_phase == "apply":
            self._reworking = self._unclaimed = False
        self.current_phase = None

    def _split(self, at: float) -> None:
        """Within apply, begin another stretch, so that each iteration and each recovery has its own."""
        if self.current_phase == "apply" and at > self._since:
            self._done.append(self._span(at))
            self._since = at

    def _stop_at_end(self, at: float) -> None:
        """End what is under way; a revival goes on with its rework."""
        self._reworked_at_end = self._reworking
        self._leave(at)
        self._reworking = False

    def _span(self, until: float | None) -> PhaseSpan:
        """Time interval of the phase under way, up to `until`."""
        assert self.current_phase is not None, "only a phase under way is a span"
        recovery = self._reworking and self.current_phase == "apply"
        return PhaseSpan(self.current_phase, self._since, until, self._iterations[self.current_phase], recovery)


_TAKE: dict[type, Callable[[Reducer, Any, float], None]] = {
    Started: Reducer._started,
    PhaseStarted: Reducer._phase_started,
    PhaseEnded: Reducer._phase_ended,
    TasksCounted: Reducer._tasks_counted,
    ToolCalled: Reducer._tool_called,
    TokensUsed: Reducer._tokens_used,
    RecoveryBegan: Reducer._recovery,
    Iterated: Reducer._iterated,
    SessionJoined: Reducer._session_joined,
    HumanIntervened: Reducer._intervened,
    Conformed: Reducer._conformed,
    TestsRan: Reducer._tests_ran,
    SpecChecked: Reducer._spec_checked,
    Ended: Reducer._ended,
    Revived: Reducer._revived,
    Renamed: Reducer._renamed,
}


def _was_a_run(type_: str | None, spec: SpecSource | None, agent: AgentIdentity) -> bool:
    """Run of the orchestrator, as it was told before records had a kind."""
    prompted = spec is not None and spec.framework == "prompt"
    return prompted and type_ == "question" and agent.framework == "aurora-soar"


def _laid_over(below: Any, above: Any) -> Any:
    """Two structs of one type as one: what `above` does not say, `below` does."""
    if below is None or above is None:
        return above if below is None else below
    fields = below.__struct_fields__
    told = {name: getattr(above, name) for name in fields if getattr(above, name) is not None}
    return type(below)(**{name: getattr(below, name) for name in fields} | told)
