"""Document diff (deltas of cumulative counts): what the events of a whole document tell beyond what is known already.

A document has sums, events have what is added to them: taken in again when it has grown, only its growth counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import (
    Ended,
    Event,
    HumanIntervened,
    Iterated,
    PhaseEnded,
    PhaseStarted,
    RecoveryBegan,
    TasksCounted,
    TokensUsed,
    ToolCalled,
)


def document_diff(events: Iterable[Event], known: Deliverable | None) -> list[Event]:
    """The events of one document without what is `known` of its deliverable; all of them where nothing is."""
    if known is None:
        return list(events)
    if known.status in ("completed", "failed"):
        return []
    return list(_news(events, known))


def _news(events: Iterable[Event], known: Deliverable) -> Iterator[Event]:
    """Events that are new: what `known` has is dropped, of cumulative counts the difference stays."""
    begun = {(span.phase, span.started_at) for span in known.spans}
    ended = {(span.phase, span.completed_at) for span in known.spans}
    iterations = sum(span[0] == "apply" for span in begun)
    repeats = {RecoveryBegan: known.recovery_attempts, Iterated: known.apply_iterations - iterations}
    for event in events:
        match event.what:
            case PhaseStarted(phase=phase):
                if (phase, event.at) not in begun and phase != known.current_phase:
                    yield event
            case PhaseEnded(phase=phase):
                if (phase, event.at) not in ended:
                    yield event
            case RecoveryBegan() | Iterated():
                if repeats[type(event.what)] > 0:
                    repeats[type(event.what)] -= 1
                else:
                    yield event
            case TasksCounted(total=total, completed=completed):
                if (total, completed) != (known.tasks_total, known.tasks_completed):
                    yield event
            case ToolCalled() | TokensUsed() | HumanIntervened():
                more = _more(event.what, known)
                if more is not None:
                    yield replace(event, what=more)
            case Ended():
                yield event
            case _:
                yield event  # what replaces what was said can be said again


def _more(
    what: ToolCalled | TokensUsed | HumanIntervened, known: Deliverable
) -> ToolCalled | TokensUsed | HumanIntervened | None:
    """What a sum has grown by; None where it has not."""
    if isinstance(what, ToolCalled):
        more = what.count - known.tool_calls.get(what.tool, 0)
        return replace(what, count=more) if more > 0 else None
    if isinstance(what, HumanIntervened):
        if known.human_interventions is None:
            return what
        more = what.count - known.human_interventions
        return replace(what, count=more) if more > 0 else None
    before = known.tokens
    if before is None:
        return what
    cost = None if what.cost_usd is None else max(0.0, what.cost_usd - (before.cost_usd or 0.0))
    grown = TokensUsed(
        _growth(what.input_tokens, before.input_tokens),
        _growth(what.output_tokens, before.output_tokens),
        cost_usd=cost or None,
        total_tokens=_growth(what.total_tokens, before.total_tokens),
    )
    return grown if grown != TokensUsed() else None


def _growth(now: int | None, before: int | None) -> int | None:
    return None if now is None or now <= (before or 0) else now - (before or 0)
