"""State transitions (state machine): what may follow what in a deliverable's life, and how a refusal is told (AURA-M
§3).

Phases may be left out, may repeat and may go back, so little is forbidden: to end what is not under way, to end what
was never begun, and to go on with what is over. Whether an event may follow is asked of the state *at its time*, not
at the time of its arrival: so the answer does not depend on the order in which several agents are heard.
"""

from __future__ import annotations

from typing import Protocol

from aurora_deliverables.choices import PHASES, Phase, Status
from aurora_deliverables.events import (
    Conformed,
    Ended,
    Event,
    HumanIntervened,
    PhaseEnded,
    Renamed,
    Revived,
    SessionJoined,
    SpecChecked,
    Started,
    TestsRan,
    TokensUsed,
    ToolCalled,
)

AFTER_THE_END = (
    Started,
    Conformed,
    TestsRan,
    SpecChecked,
    TokensUsed,
    HumanIntervened,
    SessionJoined,
    Revived,
    Renamed,
)
"""What may still become known of a deliverable that is over."""

_ENDS = (Ended, PhaseEnded)
_STATUS_OF: dict[Phase, Status] = {
    "propose": "planning",
    "specs": "planning",
    "design": "planning",
    "tasks": "planning",
    "apply": "executing",
    "verify": "verifying",
    "archive": "verifying",
}


class Standing(Protocol):
    """Standing: what of a deliverable's state decides which transitions may follow."""

    @property
    def change_id(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def current_phase(self) -> Phase | None: ...
    @property
    def settled(self) -> bool: ...
    @property
    def completed_at(self) -> float | None: ...


def status_in(phase: Phase | None) -> Status:
    """The state of a deliverable that is not over, by the phase it is in or was in last (AURA-M §3.2).

    Being archived is the last of being verified: only what is archived is completed.
    """
    return "planning" if phase is None else _STATUS_OF[phase]


def refusal(standing: Standing | None, event: Event) -> str | None:
    """Illegal transition: why `event` may not follow, and what may; None where it may. `standing` None: the first."""
    what = event.what
    if standing is None:
        if isinstance(what, (*_ENDS, Revived)):
            return (
                f"nothing is known of {event.change_id!r} before that, so nothing of it can end or go on; "
                f"begin it with deliverable_start or with a phase_start of {_listed(PHASES)}"
            )
        return None
    over = standing.status in ("completed", "failed")
    if isinstance(what, Ended):
        if over and standing.settled:
            return f"{standing.change_id!r} is {standing.status} already; {_after_the_end()}"
    elif over:
        if not isinstance(what, AFTER_THE_END) and not _was_last_call(event, standing.completed_at):
            return f"{standing.change_id!r} is {standing.status}: its phases are over; {_after_the_end()}"
    elif isinstance(what, Revived):
        return f"{standing.change_id!r} is {standing.status}, not over: there is nothing to revive"
    elif isinstance(what, PhaseEnded) and standing.current_phase != what.phase:
        if standing.current_phase is None:
            return (
                f"{standing.change_id!r} is in no phase that could end; legal now is a phase_start of {_listed(PHASES)}"
            )
        return (
            f"{standing.change_id!r} is in {standing.current_phase}, so {what.phase} cannot end; legal now are "
            f"phase_end of {standing.current_phase} and phase_start of any other: {_listed(PHASES)}"
        )
    return None


TOLD_WITHIN = 2.0
"""Seconds after which at the latest a tool's call that is over is told of: a hook is a program that has to start."""


def was_under_way(at: float, took: float | None, end: float | None) -> bool:
    """Whether a tool's call that is told `at` had begun by the end, as that which archives has."""
    return took is not None and end is not None and at - TOLD_WITHIN - took <= end


def _was_last_call(event: Event, end: float | None) -> bool:
    return isinstance(event.what, ToolCalled) and was_under_way(event.at, event.what.duration_seconds, end)


def _after_the_end() -> str:
    tags = (str(kind.__struct_config__.tag) for kind in AFTER_THE_END)
    return f"only {_listed(tuple(tags), 'and')} may follow, other work needs a change id of its own"


def _listed(names: tuple[str, ...], word: str = "or") -> str:
    return f"{', '.join(names[:-1])} {word} {names[-1]}"
