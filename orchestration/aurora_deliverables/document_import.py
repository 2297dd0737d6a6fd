"""Import of documents that others wrote, validated by JSON Schema, as events: single ones (AURA-M §5.3) and whole
deliverables (§5.1, §5.2).

What a document does not tell is not made up, with one exception: a final record has durations and no times, so its
phases are laid end to end from its beginning. The same document always gives the same event ids: read twice is once.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from aurora_deliverables.choices import PHASES, Phase
from aurora_deliverables.event_validation import InvalidEvent, read
from aurora_deliverables.events import (
    UNNAMED_TOOL,
    AgentIdentity,
    Conformed,
    Ended,
    Event,
    EventBody,
    HumanIntervened,
    Iterated,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
    Revived,
    SessionJoined,
    SpecSource,
    Started,
    TasksCounted,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.timestamps import seconds_of
from aurora_deliverables.transitions import status_in

STATE = "deliverable-state"
FINAL = "metrics-output"
MAX_REPEATS = 1000
"""Iterations, recoveries and interventions of one document that become events."""

_PLANNING: tuple[Phase, ...] = ("propose", "specs", "design", "tasks")
_FIRST_PHASE: dict[str, Phase] = {"executing": "apply", "verifying": "verify"}
_TYPES = ("phase_start", "phase_end", "tool_call", "recovery", "deliverable_start", "deliverable_end")


class UnreadableDocument(ValueError):
    """A document is none of those of AURA-M; the message says where and why."""


Stretch = tuple[float, PhaseStarted | PhaseEnded]
"""A phase that begins or ends, and when."""

_Standing = tuple[float, PhaseStarted | PhaseEnded | Revived]

_MOMENT = 1e-6
"""Seconds: less than any document tells."""


def read_document(document: Mapping[str, Any], source: str = "import") -> list[Event]:
    """The events of a deliverable-state, metrics-output or single event document. Raises UnreadableDocument.

    Checks against the schema, so call it off the event loop for large ones. `source` becomes that of the events.
    """
    if "event_type" in document:
        return [read_published(document, source)]
    kind = FINAL if "metrics" in document else STATE
    _check(document, kind)
    try:
        told = _final(document) if kind == FINAL else _state(document)
        return list(_numbered(document["change_id"], told, source))
    except (ValueError, OverflowError) as error:
        raise UnreadableDocument(f"{kind} of {str(document['change_id'])[:80]!r}: {error}") from error


def read_published(document: Mapping[str, Any], source: str = "import") -> Event:
    """One event of AURA-M §5.3. Raises UnreadableDocument.

    `data` may hold what `published_event` writes; what is unknown there is left alone. Without an `id` in it, what the
    event says is its id.
    """
    kind = document.get("event_type")
    if kind not in _TYPES:
        raise UnreadableDocument(f"event_type {str(kind)[:40]!r} is none of {', '.join(_TYPES)}")
    given = document.get("data") or {}
    if not isinstance(given, Mapping):
        raise UnreadableDocument("data must be an object")
    data = dict(given)
    if kind in ("phase_start", "phase_end"):
        data["phase"] = document.get("phase")
    elif kind == "tool_call":
        data["tool"] = data.get("tool") or data.get("tool_name") or data.get("name") or UNNAMED_TOOL
    elif kind == "deliverable_end":
        failed = data.get("deliverable_failed")
        failed = failed is True if failed is not None else data.get("failure_type") is not None
        data.setdefault("status", "failed" if failed else "completed")
        if data["status"] == "accepted":  # AURA-M §2.1's word
            data["status"] = "completed"
    try:
        canonical = msgspec.json.encode(document, order="deterministic")
        body = {
            "id": data.pop("id", None) or f"document-{_digest(canonical)}",
            "change_id": document.get("change_id"),
            "at": seconds_of(document["timestamp"]),
            "what": data | {"event": kind},
            "source": data.pop("source", None) or source,
        } | {name: data.pop(name) for name in ("session", "evidence") if data.get(name) is not None}
        agent = data.pop("told_by", None) if kind == "deliverable_start" else data.pop("agent", None)
        if agent is not None:
            body["agent"] = agent
        return read(msgspec.json.encode(body))
    except (InvalidEvent, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else error
        raise UnreadableDocument(f"event {kind!s}: {reason}") from error


def _check(document: Mapping[str, Any], kind: str) -> None:
    """JSON Schema validation of a document; the error names its place."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    from aurora_schemas import load

    error = best_match(Draft202012Validator(load(kind)).iter_errors(document))
    if error is not None:
        place = "/".join(str(step) for step in error.absolute_path) or "the document"
        raise UnreadableDocument(f"this is no {kind} document: {place}: {error.message[:300]}")


def _state(document: Mapping[str, Any]) -> Iterator[tuple[float, EventBody]]:
    """Events of a deliverable-state document."""
    begun = seconds_of(document["started_at"])
    status = document["status"]
    yield begun, _started(document, None)
    phases: Mapping[str, Any] = document.get("phases", {})
    ended = status in ("completed", "failed")
    stretches = list(_stretches(phases, ended=ended))
    updated = seconds_of(document["updated_at"]) if "updated_at" in document else begun
    now = max(begun, updated, *(at for at, _ in stretches))
    yield from stretches
    if not ended:
        at_last = list(_at_last(stretches, phases, document.get("current_phase"), status, now))
        yield from at_last
        stretches += [(at, what) for at, what in at_last if not isinstance(what, Revived)]
    begins = [what.phase for _, what in stretches if isinstance(what, PhaseStarted)]
    archived = phases.get("archive", {}).get("completed_at")
    worked = now if archived is None else seconds_of(archived)
    applied = max((at for at, what in stretches if what == PhaseStarted("apply")), default=worked)
    reworks = _reworks(stretches)
    counted = 1 + len(reworks) if "apply" in begins else 0
    yield from _repeated(Iterated(), document.get("apply_iterations", counted) - counted, applied)
    yield from _recovered(document.get("recovery_attempts", 0), reworks, applied)
    yield from _counts(document, document.get("tool_calls", {}), document.get("tool_calls_total"), applied, worked)
    if ended:
        yield now, Ended(status)


def _at_last(
    stretches: Sequence[Stretch], phases: Mapping[str, Any], current: Phase | None, status: str, now: float
) -> Iterator[_Standing]:
    """Current phase, what stands at the end of one that is not over, where its phases' times alone do not tell that.

    Of phases that begin at one instant the last in their order counts: what comes after them comes a moment later.
    """
    ordered = sorted(
        stretches, key=lambda each: (each[0], isinstance(each[1], PhaseStarted), PHASES.index(each[1].phase))
    )
    begun = [what.phase for _, what in ordered if isinstance(what, PhaseStarted)]
    under_way = begun[-1] if begun and isinstance(ordered[-1][1], PhaseStarted) else None
    moment = _MOMENT if any(at == now and isinstance(what, PhaseStarted) for at, what in ordered) else 0.0
    if current is None and not begun:
        current = _FIRST_PHASE.get(status)
    if current in PHASES:
        if under_way != current:
            yield now + moment, PhaseStarted(current)
    elif status_in(begun[-1] if begun else None) != status:
        last = next((phase for phase in reversed(PHASES) if phase in phases and status_in(phase) == status), None)
        if last is not None:
            yield now + _MOMENT, PhaseStarted(last)
            yield now + 2 * _MOMENT, PhaseEnded(last)
        elif begun and status == status_in(None):  # nothing but archived, and taken up again
            yield now + _MOMENT, PhaseEnded("archive")
            yield now + 2 * _MOMENT, Revived()
        elif status in _FIRST_PHASE:  # its phases do not tell of it at all
            yield now + moment, PhaseStarted(_FIRST_PHASE[status])


def _stretches(phases: Mapping[str, Any], *, ended: bool) -> Iterator[Stretch]:
    """Phases one after the other: where one lies within another that repeated, it was between its repeats."""
    windows: list[tuple[float, float, Phase]] = []
    for phase in PHASES:
        times = phases.get(phase, {})
        if times.get("started_at") is not None:
            first = seconds_of(times["started_at"])
            last = seconds_of(times["completed_at"]) if times.get("completed_at") is not None else math.inf
            windows.append((first, max(first, last), phase))
    over = max((last for _, last, phase in windows if phase != "archive"), default=-math.inf)
    if ended and over < math.inf:  # nothing follows the archive
        windows = [(first, max(last, over) if phase == "archive" else last, phase) for first, last, phase in windows]
    current: Phase | None = None
    for at in sorted({at for first, last, _ in windows for at in (first, last) if at < math.inf}):
        instants = [phase for first, last, phase in windows if first == last == at]
        under_way = [window for window in reversed(windows) if window[0] <= at < window[1]]
        begun, _, newest = max(under_way, key=lambda window: window[0], default=(at, at, None))
        # Of phases that begin at one instant the last in their order counts: what goes on after it does so later.
        later = newest is not None and any(PHASES.index(each) > PHASES.index(newest) for each in instants)
        if newest is not None and later and begun == at:
            yield at, PhaseStarted(newest)
        for each in instants:
            yield at, PhaseStarted(each)
            current = each
        if newest is not None:
            if newest != current:
                yield math.nextafter(at, math.inf) if later else at, PhaseStarted(newest)
            current = newest
        elif current is not None:
            if ended or current != "archive":  # one that ended would be the end; this one was left
                yield at, PhaseEnded(current)
            current = None


def _reworks(stretches: Iterable[Stretch]) -> list[float]:
    """When phases led from verify back to apply."""
    found: list[float] = []
    verified, applied = False, False
    for at, what in stretches:
        if isinstance(what, PhaseStarted) and what.phase == "verify":
            verified = applied
        elif isinstance(what, PhaseStarted) and what.phase == "apply":
            found += [at] if verified else []
            verified, applied = False, True
    return found


def _recovered(told: float, reworks: Sequence[float], applied: float) -> Iterator[tuple[float, EventBody]]:
    """Recoveries that a document counts: those at the times that its phases tell for rework, the others without one.

    A document that counts them has no times for them, so no time of it is taken for theirs.
    """
    timed = reworks[: int(told)]
    for at in timed:
        yield at, RecoveryBegan()
    yield from _repeated(RecoveryBegan(untimed=True), told - len(timed), applied)


def _final(document: Mapping[str, Any]) -> Iterator[tuple[float, EventBody]]:
    """Events of a metrics-output document, of a deliverable that ended."""
    begun, ended = seconds_of(document["started_at"]), seconds_of(document["completed_at"])
    if ended < begun:
        raise ValueError(f"it ended at {document['completed_at']}, before it began")
    metrics = document["metrics"]
    yield begun, _started(document, _agent(document.get("agent")))
    iterations, recoveries = metrics.get("apply_iterations", 0), metrics.get("recovery_attempts", 0)
    durations = metrics.get("phase_durations", {})
    # Rounds of apply and verify, as many as the document has both recoveries and iterations for.
    rounds = 1 + min(recoveries, max(0, iterations - 1), MAX_REPEATS) if {"apply", "verify"} <= set(durations) else 1
    at, applied = begun, begun
    applies: list[float] = []
    worked = begun if durations else ended
    for phase, seconds in _laid_out(durations, rounds, math.ulp(ended)):
        if phase == "apply":
            applies.append(at)
            applied = at
        yield at, PhaseStarted(phase)
        at = min(ended, at + seconds)
        worked = at if phase != "archive" else worked
        yield at, PhaseEnded(phase)
    counted = rounds if "apply" in durations else 0
    yield from _repeated(Iterated(), iterations - counted, applied)
    yield from _recovered(recoveries, applies[1:], applied)
    calls = dict(metrics.get("tool_calls", {}))
    total = calls.pop("total", None)
    yield from _counts({**document, **metrics}, calls, total, begun, worked)
    told = metrics.get("conformance", {})
    if told:
        yield (
            ended,
            Conformed(
                functional=told.get("functional"),
                correctness=told.get("correctness"),
                constraints=told.get("constraints"),
                iteration_penalty=told.get("iteration_penalty"),
                overall=told.get("overall"),
            ),
        )
    yield (
        ended,
        Ended(
            document["status"],
            metrics.get("failure_type"),
            deliverable_failed=metrics.get("deliverable_failed"),
            withdrawn=(document["status"], metrics.get("deliverable_failed"), metrics.get("failure_type"))
            == ("failed", False, None),
        ),
    )


def _laid_out(durations: Mapping[str, float], rounds: int, shortest: float) -> Iterator[tuple[Phase, float]]:
    """Phases with their seconds, in the order they are laid in.

    A verify before another round takes `shortest` at least: of phases that begin at one instant it is the later one,
    and the apply after it would be none.
    """
    for phase in _PLANNING:
        if phase in durations:
            yield phase, durations[phase]
    for _ in range(rounds):
        for phase in ("apply", "verify"):
            if phase in durations:
                least = shortest if phase == "verify" and rounds > 1 else 0.0
                yield phase, max(durations[phase] / rounds, least)
    if "archive" in durations:
        yield "archive", durations["archive"]


def _counts(
    document: Mapping[str, Any], calls: Mapping[str, Any], total: float | None, called: float, now: float
) -> Iterator[tuple[float, EventBody]]:
    """`calls` are those by tool; `total` is that of all, of which a document need not name every tool."""
    for tool, count in calls.items():
        yield called, ToolCalled(tool, int(count))
    if total is not None and total > sum(calls.values()):
        yield called, ToolCalled(UNNAMED_TOOL, int(total - sum(calls.values())))
    if "tasks_total" in document or "tasks_completed" in document:
        yield now, TasksCounted(_whole(document, "tasks_total"), _whole(document, "tasks_completed"))
    usage = document.get("token_usage")
    if usage is not None:
        yield (
            now,
            TokensUsed(
                _whole(usage, "input_tokens"),
                _whole(usage, "output_tokens"),
                cost_usd=usage.get("estimated_cost_usd"),
                total_tokens=_whole(usage, "total_tokens"),
            ),
        )
    if "human_interventions" in document:
        yield now, HumanIntervened(count=int(document["human_interventions"]))
    for session in document.get("sessions", ()):
        yield now, SessionJoined(session)


def _repeated(what: EventBody, times: float, at: float) -> Iterator[tuple[float, EventBody]]:
    """Event repeated so many times, bounded. Raises ValueError."""
    if times > MAX_REPEATS:
        raise ValueError(f"{int(times)} repeats are more than the {MAX_REPEATS} that are kept")
    for _ in range(int(times)):
        yield at, what


def _started(document: Mapping[str, Any], agent: AgentIdentity | None) -> Started:
    spec = document.get("spec_source")
    return Started(
        description=document.get("description"),
        complexity=document.get("complexity"),
        spec_source=None
        if spec is None
        else SpecSource(spec.get("framework"), spec.get("spec_id"), _whole(spec, "requirements_count")),
        agent=agent,
    )


def _agent(told: Mapping[str, Any] | None) -> AgentIdentity | None:
    return None if told is None else AgentIdentity(told.get("name"), told.get("model"), told.get("framework"))


def _whole(document: Mapping[str, Any], name: str) -> int | None:
    return int(document[name]) if name in document else None


def _numbered(change_id: str, told: Iterable[tuple[float, EventBody]], source: str) -> Iterator[Event]:
    """Events numbered, each with an id of what it says; those of one kind keep their order."""
    numbers: Counter[type] = Counter()
    for at, what in told:
        numbers[type(what)] += 1
        said = _digest(msgspec.json.encode([change_id, at, what]))
        event = Event(f"document-{numbers[type(what)]:04}-{said}", change_id, at, what, source=source)
        yield read(msgspec.json.encode(event))


def _digest(raw: bytes) -> str:
    return hashlib.blake2b(raw, digest_size=16).hexdigest()
