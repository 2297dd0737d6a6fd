"""Session memory: the last run of each session, and what a follow-up signal about it leads to (AURORA Appendix E).

Sessions live in memory: they end with the daemon. What they know of a run is what its record already holds, redacted.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Literal

import msgspec
from msgspec import Struct

from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.soar.follow_up_signals import Signal
from aurora_orchestration.types import LEVELS, OPTION_OF, Assessment, Complexity, Given, Plan, VerificationOption

MAX_SESSIONS = 100
"""Sessions that are remembered per workspace; the one unused for longest goes first."""

MAX_WORKSPACES = 64
BOOST = 0.1
"""What praise adds to a pattern's confidence (App. E)."""

_MAX_QUESTION, _MAX_ANSWER = 1_500, 3_000
_HARDER: dict[Complexity, Complexity] = {"simple": "medium", "medium": "complex", "complex": "critical"}


class Remembered(Struct, frozen=True, kw_only=True):
    """The last run of a session, as far as the next message may be about it. `complexity` is what it ended as."""

    query: str
    answer: str
    run_id: str
    complexity: Complexity
    assessment: Assessment | None = None
    plan: Plan | None = None
    score: float | None = None
    reasoning_id: str | None = None
    failed: bool = False
    """Whether it came to no answer; then there is nothing to praise or to deny."""


class Continuation(Struct, frozen=True, kw_only=True):
    """Continuation of a session that a signal leads to.

    `query` is what is to be asked now, "" where nothing is. `given` are facts the run starts from. `assessment` stands
    for the phase (None: assess as usual); `option` is the least verification. `fresh` forbids to build on the plan of
    `previous`. `ask` is put to the user first where somebody is there, `say` is the answer where nothing is asked.
    `boost` is to be added to the confidence of `previous.reasoning_id`, `mark` says what that pattern turned out to be.
    With `abort` the session's current run ends without penalty, its state kept for a resume.
    """

    signal: Signal
    previous: Remembered | None
    query: str = ""
    given: tuple[Given, ...] = ()
    assessment: Assessment | None = None
    option: VerificationOption | None = None
    fresh: bool = False
    ask: str = ""
    say: str = ""
    boost: float = 0.0
    mark: Literal["incorrect", "insufficient"] | None = None
    abort: bool = False
    notices: tuple[str, ...] = ()


class Sessions:
    """Session memory: the last run of each session of each workspace, bounded (LRU eviction), and the one under way.

    For one event loop; not for several threads.
    """

    def __init__(self, *, per_workspace: int = MAX_SESSIONS, workspaces: int = MAX_WORKSPACES) -> None:
        self._per_workspace = per_workspace
        self._most = workspaces
        self._last: OrderedDict[str, OrderedDict[str, Remembered]] = OrderedDict()
        self._current: dict[tuple[str, str], asyncio.Task[object]] = {}

    @contextlib.contextmanager
    def current(self, workspace: str, session: str) -> Iterator[Callable[[], bool]]:
        """Let later messages of the session cancel the task of this block; gives what cancels the one before.

        That says whether there was one. "" is no session.
        """
        task = asyncio.current_task()
        assert task is not None, "a coroutine runs in a task"
        key = (workspace, session)
        earlier = self._current.get(key) if session else None
        if session:
            self._current[key] = task
        try:
            yield lambda: earlier is not None and earlier.cancel()
        finally:
            if self._current.get(key) is task:
                del self._current[key]

    def remember(self, workspace: str, session: str, record: RunRecord) -> None:
        """Take a finished run as the session's last; "" is no session.

        One without an answer leaves the one before, and so does one that asked nothing: "thanks" is no question.
        """
        if not session:
            return
        asked = record.assessment is not None
        answered = asked and bool(record.answer) and record.state in ("complete", "partial")
        if not answered and (self.last(workspace, session) is not None or record.state == "dry_run"):
            return
        sessions = self._last.setdefault(workspace, OrderedDict())
        sessions[session] = remembered(record)
        sessions.move_to_end(session)
        self._last.move_to_end(workspace)
        if len(sessions) > self._per_workspace:
            sessions.popitem(last=False)
        if len(self._last) > self._most:
            self._last.popitem(last=False)

    def last(self, workspace: str, session: str) -> Remembered | None:
        """The session's last run, or None. Looking keeps it from being dropped as unused."""
        sessions = self._last.get(workspace)
        if sessions is None or session not in sessions:
            return None
        sessions.move_to_end(session)
        return sessions[session]

    def forget(self, workspace: str, session: str | None = None) -> None:
        """Forget a session, or all of a workspace."""
        if session is None:
            self._last.pop(workspace, None)
        elif workspace in self._last:
            self._last[workspace].pop(session, None)


def remembered(record: RunRecord) -> Remembered:
    """Memory of a run that a session keeps."""
    assessed = record.assessment.complexity if record.assessment else "medium"
    planned = record.plan.complexity if record.plan else None
    return Remembered(
        query=record.query,
        answer=record.answer,
        run_id=record.id,
        complexity=record.complexity or planned or assessed,
        assessment=record.assessment,
        plan=record.plan,
        score=record.score,
        reasoning_id=record.learned.reasoning_id if record.learned else None,
        failed=not record.answer or record.state not in ("complete", "partial"),
    )


def continuation(signal: Signal, previous: Remembered) -> Continuation:
    """What `signal` about `previous` leads to (App. E). Praise before a follow-up counts as well."""
    if previous.failed:
        found = _of_nothing(signal, previous)
    elif signal.kind == "positive":
        found = _praised(signal, previous)
    elif signal.kind == "followup":
        found = _followed_up(signal, previous)
    elif signal.kind == "negative":
        found = _denied(signal, previous)
    elif signal.kind == "recourse":
        found = _once_more(signal, previous)
    else:
        found = Continuation(
            signal=signal, previous=previous, abort=True, say="Stopped. Nothing was counted against it."
        )
    boosted = signal.thanked and signal.kind == "followup" and not previous.failed
    return msgspec.structs.replace(found, boost=BOOST) if boosted else found


def acknowledged(previous: Remembered | None) -> Continuation:
    """Where a message that asks nothing leads: nowhere, at no cost. It is no praise either."""
    said = "Noted. Ask the next question when you like." if previous else "There was no question yet. Ask one."
    return Continuation(signal=Signal(kind="acknowledged", confidence=1.0), previous=previous, say=said)


def clarified(found: Continuation, answer: str) -> Continuation:
    """The same with what the user answered to `found.ask`."""
    text = answer.strip()
    if not text:
        return found
    given = (*found.given, Given(id="clarification", fact=_cut(text, _MAX_QUESTION), source="the user"))
    query = found.query or text
    return msgspec.structs.replace(found, query=query, given=given if found.query else found.given, ask="")


def _of_nothing(signal: Signal, previous: Remembered) -> Continuation:
    """After a question that came to no answer: thanks are taken, a wish to try again is one, anything else is asked."""
    if signal.kind == "abort":
        return Continuation(signal=signal, previous=previous, abort=True, say="Stopped.")
    if signal.kind == "recourse":
        return Continuation(signal=signal, previous=previous, query=previous.query, fresh=True)
    if signal.kind == "positive" and not signal.rest.rstrip().endswith("?"):
        return Continuation(
            signal=signal, previous=previous, say="There was no answer to your last question. Ask it again, or another."
        )
    return Continuation(signal=signal, previous=previous, query=signal.rest or previous.query, fresh=True)


def _praised(signal: Signal, previous: Remembered) -> Continuation:
    """Continuation after praise (thanks): the pattern is boosted."""
    asks = signal.rest.rstrip().endswith("?")
    return Continuation(
        signal=signal,
        previous=previous,
        query=signal.rest if asks else "",
        given=_context(previous) if asks else (),
        say="" if asks else "Glad that helped. Is there anything to follow up on?",
        boost=BOOST,
    )


def _followed_up(signal: Signal, previous: Remembered) -> Continuation:
    """Continuation after a follow-up question: the last answer is its context."""
    return Continuation(
        signal=signal,
        previous=previous,
        query=signal.rest,
        given=_context(previous),
        assessment=_kept(previous, previous.complexity, "the session goes on"),
        option=OPTION_OF.get(previous.complexity),
        ask="" if signal.rest else "What else would you like to know?",
    )


def _denied(signal: Signal, previous: Remembered) -> Continuation:
    """Continuation after a rejected answer: asked anew, with the clarification."""
    clarification = Given(id="clarification", fact=_cut(signal.rest, _MAX_QUESTION), source="the user")
    denied = Given(
        id="rejected-answer",
        fact=_cut(f"The user rejected this earlier answer as not what was asked: {previous.answer}", _MAX_ANSWER),
        source=previous.run_id,
    )
    return Continuation(
        signal=signal,
        previous=previous,
        query=previous.query,
        given=(denied, clarification) if signal.rest else (denied,),
        assessment=_kept(previous, previous.complexity, "asked again after a rejected answer"),
        option=OPTION_OF.get(previous.complexity),
        fresh=True,
        ask="" if signal.rest else "What did I get wrong? Tell me what you meant.",
        mark="incorrect",
    )


def _once_more(signal: Signal, previous: Remembered) -> Continuation:
    """Continuation after "try again": at a higher complexity (escalation)."""
    harder = _HARDER.get(previous.complexity, previous.complexity)
    wish = (Given(id="wish", fact=_cut(signal.rest, _MAX_QUESTION), source="the user"),) if signal.rest else ()
    at_top = harder == previous.complexity
    return Continuation(
        signal=signal,
        previous=previous,
        query=previous.query,
        given=wish,
        assessment=_kept(previous, harder, f"tried again, one level up from {previous.complexity}"),
        option=OPTION_OF[harder],
        fresh=True,
        mark="insufficient",
        notices=("this was already verified at the highest level; it is tried again there",) if at_top else (),
    )


def _kept(previous: Remembered, complexity: Complexity, why: str) -> Assessment:
    earlier = previous.assessment
    return Assessment(
        complexity=complexity,
        confidence=earlier.confidence if earlier else 1.0,
        score=earlier.score if earlier else LEVELS.index(complexity) / (len(LEVELS) - 1),
        method="session",
        reasoning=why,
        indicators=earlier.indicators if earlier else (),
        verification=OPTION_OF.get(complexity, "none"),
    )


def _context(previous: Remembered) -> tuple[Given, ...]:
    """Conversation context: the previous question and answer."""
    return (
        Given(id="previous-question", fact=_cut(previous.query, _MAX_QUESTION), source=previous.run_id),
        Given(id="previous-answer", fact=_cut(previous.answer, _MAX_ANSWER), source=previous.run_id),
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
