"""Event logs of deliverables, made by hand and by chance."""

from __future__ import annotations

from hypothesis import strategies as st

from aurora_deliverables.choices import PHASES, Phase
from aurora_deliverables.events import (
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
    Renamed,
    Revived,
    SessionJoined,
    SpecSource,
    Started,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)

NINE = 1_772_096_400.0
"""2026-02-26T09:00:00Z."""

CHANGE = "add-search"


def log(*told: tuple[float, EventBody], change_id: str = CHANGE) -> list[Event]:
    """Events at so many minutes after nine, each with an id of its own."""
    return [
        Event(id=f"{change_id}-{number}", change_id=change_id, at=NINE + 60 * minutes, what=what)
        for number, (minutes, what) in enumerate(told)
    ]


def begin(phase: Phase) -> PhaseStarted:
    return PhaseStarted(phase)


def end(phase: Phase) -> PhaseEnded:
    return PhaseEnded(phase)


_counts = st.integers(0, 1000)
_shares = st.none() | st.floats(0, 1)
_some = st.none() | _counts
_names = st.sampled_from(["bash", "file_edit", "total", "grep"])
_failures = st.sampled_from([None, "infinite_loop", "regression"])
_agents = st.builds(AgentIdentity, st.sampled_from(["claude-code", "cursor"]), st.sampled_from([None, "m-1", "m-2"]))
_happenings = st.one_of(
    st.builds(
        Started,
        description=st.sampled_from([None, "Add search", "Find things"]),
        type=st.sampled_from([None, "feature", "bugfix"]),
        complexity=st.sampled_from([None, "trivial", "complex", "unknown"]),
        spec_source=st.none() | st.builds(SpecSource, st.sampled_from([None, "jira"]), st.none(), _some),
        agent=st.none() | _agents,
    ),
    st.builds(PhaseStarted, st.sampled_from(PHASES)),
    st.builds(PhaseStarted, st.sampled_from(["apply", "verify"])),
    st.builds(PhaseEnded, st.sampled_from(PHASES)),
    st.builds(TasksCounted, _some, _some),
    st.builds(ToolCalled, _names, st.integers(0, 9)),
    st.builds(
        TokensUsed,
        _some,
        _some,
        _counts,
        st.none() | st.floats(0, 10),
        st.sampled_from([None, "m-3"]),
        total_tokens=_some,
    ),
    st.builds(RecoveryBegan, failure_type=_failures, untimed=st.booleans()),
    st.builds(RecoveryBegan, duration_seconds=st.floats(0, 9), tool_calls=st.integers(0, 2)),
    st.builds(Iterated),
    st.builds(SessionJoined, st.sampled_from(["s-1", "s-2"])),
    st.builds(HumanIntervened, st.none() | st.floats(0, 100), st.none(), st.integers(0, 2)),
    st.builds(Conformed, _some, _some, _shares, _shares, _some, _shares, _shares, _shares),
    st.builds(TestsRan, _some, _some, st.sampled_from([None, True, False])),
    st.builds(
        Ended,
        st.sampled_from(["completed", "failed"]),
        _failures,
        st.none(),
        st.sampled_from([None, True, False]),
        st.booleans(),
    ),
    st.builds(Revived),
    st.builds(Renamed, st.sampled_from(["find-products", "add-search"])),
)


@st.composite
def logs(draw: st.DrawFn, max_size: int = 25, changes: tuple[str, ...] = (CHANGE,)) -> list[Event]:
    """Any events of some deliverables at a few instants, so that many happen at once and clocks seem to jump."""
    return [
        Event(
            id=f"e{number}",
            change_id=draw(st.sampled_from(changes)),
            at=NINE + draw(st.integers(0, 12)),
            what=draw(_happenings),
            session=draw(st.sampled_from([None, "s-3"])),
            agent=draw(st.none() | _agents),
        )
        for number in range(draw(st.integers(0, max_size)))
    ]
