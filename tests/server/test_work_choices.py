"""Whose work is what the daemon sees: edits, commits and test runs, a rule each."""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_deliverables.detection import commits, junit, work_phase
from aurora_deliverables.detection.attribution import ONLY_ONE, Attributed
from aurora_deliverables.events import Event, TestsRan
from aurora_server.workspace import deliverable_detection
from aurora_server.workspace.deliverable_detection import (
    ASK_AGAIN,
    LONGEST_PAUSE,
    DeliverableDetection,
    GitSilent,
    _last_change,
    _PendingChanges,
)


class Known(dict[str, Any]):
    """The open deliverables, by id; what is recorded of them is kept."""

    def __init__(self, *names: str, phase_at: float = 0.0) -> None:
        super().__init__((name, SimpleNamespace(change_id=name, names=())) for name in names)
        self.recorded: list[Any] = []
        self._phase_at = phase_at

    def __iter__(self) -> Any:
        return iter(self.values())

    @property
    def ids(self) -> list[str]:
        return list(self.keys())

    async def known(self, change_id: str) -> Any:
        return SimpleNamespace(phase_at=self._phase_at, change_id=change_id)

    async def record(self, events: Any) -> None:
        self.recorded.append(events)


def detection(known: Known, **more: Any) -> Any:
    """As much of a detection as decides whose work something is."""

    async def branch() -> str | None:
        return more.get("branch")

    made: Any = DeliverableDetection.__new__(DeliverableDetection)
    made._open, made._agents, made._claimed = known, {}, {}
    made._root = Path("/w")
    made.branch = branch
    made._observations = SimpleNamespace(is_missing=lambda name: name in more.get("missing", ()))
    made._specs = SimpleNamespace(is_work=lambda path: True)
    return made


@pytest.mark.parametrize(
    ("branch", "sticky", "missing", "found"),
    [
        pytest.param("feature/add-search", "fix-login", (), "add-search", id="the branch's, before the session's"),
        pytest.param("main", "fix-login", (), "fix-login", id="else the session's"),
        pytest.param("main", "gone", (), None, id="while that is open"),
        pytest.param("feature/add-search", None, ("add-search",), "add-search", id="a branch's, wherever its spec is"),
    ],
)
async def test_what_is_worked_on_now(branch: str, sticky: str | None, missing: Any, found: str | None) -> None:
    made = detection(Known("add-search", "fix-login"), branch=branch, missing=missing)
    now = await made.at_work(sticky)
    assert (now.change_id if now else None) == found


async def test_the_only_one_is_worked_on_unless_its_spec_is_not_here_or_a_session_says_otherwise() -> None:
    one = Known("add-search")
    assert (await detection(one, branch="main").at_work()).why == ONLY_ONE
    assert await detection(one, branch="main", missing=("add-search",)).at_work() is None
    assert (await detection(one, branch="main").at_work("add-search")).why == "the session's"


COMMIT = commits.Commit("aaaa", 100.0, "x", (), ("src/a.py",))


@pytest.mark.parametrize(
    ("trailer", "specs", "made_here", "phase_at", "whose"),
    [
        pytest.param("fix-login", ["add-search"], False, 0.0, "fix-login", id="whom it names, whoever made it"),
        pytest.param(None, ["add-search"], True, 0.0, "add-search", id="whose spec it changes"),
        pytest.param(None, ["add-search"], False, 0.0, None, id="but not where others made it"),
        pytest.param(None, ["add-search", "fix-login"], True, 0.0, "at-work", id="of two neither: what is worked on"),
        pytest.param(None, [], True, 0.0, "at-work", id="what is worked on"),
        pytest.param(None, [], False, 0.0, None, id="which others do not know of"),
        pytest.param(None, [], True, 100.9, "at-work", id="whose phase began in the commit's second"),
        pytest.param(None, [], True, 101.1, None, id="but not what began after it"),
    ],
)
async def test_whose_a_commit_is(
    trailer: str | None,
    specs: list[str],
    made_here: bool,
    phase_at: float,
    whose: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def at_work() -> Attributed:
        return Attributed("at-work", "the only one")

    made = detection(Known("add-search", "fix-login", phase_at=phase_at))
    made.at_work = at_work
    named = iter(specs)
    made.change_at = lambda path: next(named, None)
    monkeypatch.setattr(commits, "events_of", lambda commit, state, why, touches_code: state.change_id)
    trailers = (("deliverable", trailer),) if trailer else ()
    files = tuple(f"openspec/changes/{each}/tasks.md" for each in specs) or ("src/a.py",)
    await made._look_at_commit(commits.Commit("aaaa", 100.0, "x", trailers, files), made_here)
    assert made._open.recorded == ([whose] if whose else [])


async def test_runs_are_told_in_their_order_and_one_of_long_ago_begins_no_phase(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who tells the names of tests has the spec looked at with them."""

    async def check_spec(change_id: str) -> Any:
        return ["checked"]

    monkeypatch.setattr(work_phase, "tested", lambda run, state, at: ["phase"])
    made = detection(Known("x", phase_at=50.0))
    made.check_spec = check_spec
    runs = [Event(f"{at}", "x", at, TestsRan(1, 0), source=source) for at, source in ((60.0, "cli"), (40.0, "cli"))]
    await made._tested([*runs, Event("55", "x", 55.0, TestsRan(1, 0), source=junit.SOURCE)])
    assert [what for (what,) in made._open.recorded] == ["checked", "phase", "phase", "checked"]


@pytest.mark.parametrize(
    ("agents", "lately"),
    [
        pytest.param({"fix-login": 1.0}, True, id="an agent at another one may have edited it"),
        pytest.param({"add-search": 1.0}, False, id="one at the same one has"),
        pytest.param({"fix-login": 700.0}, False, id="and one that was there long ago has not"),
    ],
)
def test_for_whom_an_edit_waits(agents: dict[str, float], lately: bool) -> None:
    made = detection(Known("add-search"))
    made._agents = {name: time.monotonic() - ago for name, ago in agents.items()}
    assert made._may_be_claimed("add-search") is lately


def test_an_edit_is_of_the_latest_file_and_never_of_tomorrow(tmp_path: Path) -> None:
    now = time.time()
    for name, at in (("a", now - 50), ("b", now - 20), ("c", now + 9_999)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at, at))
    assert _last_change(tmp_path, ["a", "b", "gone"]) == pytest.approx(now - 20, abs=0.1)
    future = _last_change(tmp_path, ["a", "c"])
    assert future is not None and future <= time.time()
    assert _last_change(tmp_path, ["gone"]) is None


def test_a_git_that_does_not_answer_is_asked_after_twice_as_long_each_time_up_to_ten_minutes() -> None:
    made = detection(Known())
    made._noted, made._pause = _PendingChanges(set(), {}, {}, []), ASK_AGAIN
    waits = []
    for _ in range(12):
        made._ask_later(GitSilent("busy"), _PendingChanges(set(), {}, {"a": None}, [], True))
        waits.append(round(made._ask_at - time.monotonic()))
    assert waits[:4] == [1, 2, 4, 8] and waits[-1] == LONGEST_PAUSE
    assert made._noted.unsure == {"a": None} and made._noted.head, "it is looked at then"


def test_what_could_not_be_looked_at_is_looked_at_before_what_came_since() -> None:
    first, then = (Event(f"{n}", "x", 1.0, TestsRan(1, 0)) for n in range(2))
    noted = _PendingChanges({("s", "b")}, {"b": None}, {}, [then])
    noted.take_back(_PendingChanges({("s", "a")}, {"a": None}, {"u": None}, [first], True))
    assert noted.tests == [first, then] and noted.head
    assert (noted.specs, list(noted.edits), list(noted.unsure)) == ({("s", "a"), ("s", "b")}, ["b", "a"], ["u"])


@pytest.mark.parametrize(
    ("edited_at", "order"),
    [
        pytest.param(50.0, ["tested 40", "edited", "tested 50", "tested 60"], id="in the order in which they happened"),
        pytest.param(None, ["tested 40", "tested 50", "tested 60", "edited"], id="or first, where files are gone"),
    ],
)
async def test_edits_lie_between_the_runs_before_and_after_them(
    edited_at: float | None, order: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run in the very moment of an edit may have been of it."""
    told: list[str] = []

    async def tested(runs: Any) -> None:
        told.extend(f"tested {run.at:g}" for run in runs)

    async def edited(paths: Any, found: Any) -> None:
        told.append("edited")

    async def at_work() -> None:
        return None

    made = detection(Known())
    made._tested, made._edited, made.at_work = tested, edited, at_work
    monkeypatch.setattr(deliverable_detection, "_last_change", lambda root, paths: edited_at)
    runs = [Event(f"{at}", "x", at, TestsRan(1, 0)) for at in (40.0, 50.0, 60.0)]
    await made._look_at_work(_PendingChanges(set(), {"a.py": None}, {}, runs))
    assert told == order
