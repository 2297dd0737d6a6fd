"""What becomes of a spec that is seen, missed, renamed or dated by git's log: a rule each, without git and files."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_deliverables.detection.change_history import ChangeHistory, Dated
from aurora_deliverables.detection.observation import Artefact, Ending, Observation, Tasks
from aurora_deliverables.detection.recorded_state import RecordedState
from aurora_deliverables.events import Ended, Event, PhaseStarted, Renamed, SpecSource, Started, TasksCounted
from aurora_indexer.git.commands import GitSilent
from aurora_server.configuration.settings import DetectSettings
from aurora_server.workspace.spec_files import OPENSPEC
from aurora_server.workspace.spec_observations import ASK_AGAIN, SpecObservations
from tests.server.test_work_choices import Known

NOW = 10_000.0


class Recorded(Known):
    """The open deliverables; what was told of each, and what is recorded."""

    def __init__(self, *names: str) -> None:
        super().__init__(*names)
        self.deliverables: Any = SimpleNamespace(named=self.named, get=self._nothing_more, record=self._record)
        self.edited_at: dict[str, float] = {}
        self.states: dict[str, RecordedState] = {}
        self.here: list[str] = []

    def named(self, name: str) -> str:
        return {"old-name": "first-name", "new-name": "first-name"}.get(name, name)

    async def known(self, change_id: str) -> Any:
        begun = 1.0 if change_id in self else None
        return self.states.get(change_id, RecordedState(change_id, started_at=begun, told_at=begun or 0.0))

    async def _nothing_more(self, change_id: str) -> None:
        return None

    async def _record(self, events: Any) -> None:
        await self.record(events)

    async def is_here(self, change_id: str) -> None:
        self.here.append(change_id)

    @property
    def told(self) -> list[Event]:
        return [event for events in self.recorded for event in events]


class Git:
    """As much of git as is asked: where else a folder is, what the log has, and whether files are as committed."""

    def __init__(self, *histories: ChangeHistory, elsewhere: bool | None = False, clean: bool = True) -> None:
        self._histories = {each.name: each for each in histories}
        self._elsewhere, self._clean = elsewhere, clean
        self.asked: list[str] = []
        self.touched, self.moves, self.silent = False, True, False

    async def elsewhere(self, place: str) -> bool | None:
        self.asked.append(place)
        return self._elsewhere

    async def history(self) -> dict[str, ChangeHistory]:
        return self._histories

    async def history_now(self) -> dict[str, ChangeHistory]:
        self.asked.append("log")
        if self.silent:
            raise GitSilent("git log was killed")
        return self._histories

    async def moved(self) -> bool:
        return self.moves

    async def is_clean(self, places: list[str]) -> bool:
        return self._clean

    async def touched_since(self, commit: str, place: str) -> bool:
        return self.touched


def observations(known: Recorded, log: Git | None = None, *seen: Observation, **settings: Any) -> Any:
    there = {(each.source, each.change_id): each for each in seen}

    async def branch() -> str | None:
        return "main"

    specs: Any = SimpleNamespace(
        see=lambda source, key: there.get((source, key)),
        change_id=lambda source, key: key,
        place=lambda source, key: f"specs/{key}",
        is_plugged=lambda source: source == "plugged",
    )
    chosen = DetectSettings(**({"git": False, "abandoned_minutes": 0.0} | settings))
    now = lambda: NOW  # noqa: E731
    made: Any = SpecObservations(Path("/w"), chosen, specs, SimpleNamespace(), known, branch, now)  # type: ignore[arg-type]
    made._git = log or Git()
    return made


def seen(name: str, source: str = "speckit", **more: Any) -> Observation:
    return Observation(name, source, SpecSource("speckit", name, 1), "spec", **more)


def dated(at: float) -> Dated:
    return Dated(at, f"c{at:g}", "Ann")


# A spec that is not there


async def test_a_spec_that_is_gone_for_long_enough_failed_as_incomplete_when_it_went() -> None:
    known = Recorded("a")
    made = observations(known, abandoned_minutes=0.001)
    made._seen_on["a"] = "main"
    await made.see([("speckit", "a")])
    assert known.told == [] and made.is_missing("a"), "it is given the time to come back"
    made._gone["speckit", "a"] = time.monotonic() - 0.5
    await made.see([("speckit", "a")])
    (event,) = known.told
    assert event.what == Ended("failed", "incomplete", "specs/a was removed and not archived, 0.001 min ago")
    assert (event.at, made.is_missing("a")) == (NOW - 0.06, False)


async def test_an_end_is_not_before_what_was_told_last() -> None:
    known = Recorded("a")
    known.states["a"] = RecordedState("a", started_at=1.0, told_at=NOW + 5)
    made = observations(known)
    made._seen_on["a"] = "main"
    await made.see([("speckit", "a")])
    assert [event.at for event in known.told] == [NOW + 5]


async def test_when_the_first_of_several_is_due() -> None:
    made = observations(Recorded())
    assert made.due is None
    made._gone = {("speckit", "a"): time.monotonic() - 1, ("speckit", "b"): time.monotonic() + 60}
    assert made.due == made._gone["speckit", "a"] and made.overdue() == [("speckit", "a")]


@pytest.mark.parametrize(
    ("source", "elsewhere", "seen_on", "asked", "ends", "waits"),
    [
        pytest.param("speckit", False, "main", True, True, False, id="it is nowhere"),
        pytest.param("speckit", True, "main", True, False, True, id="another branch has it: it is asked again"),
        pytest.param("speckit", None, "main", True, True, False, id="no repository, and the branch is as it was"),
        pytest.param("speckit", None, "other", True, False, False, id="no repository to ask, and another branch"),
        pytest.param("speckit", None, None, True, False, False, id="nor where it was last seen on none"),
        pytest.param("speckit", False, "other", True, True, False, id="git has said that no branch has it"),
        pytest.param("plugged", True, "main", False, True, False, id="a plug-in's specs are none of git's"),
    ],
)
async def test_what_of_a_spec_that_is_gone(
    source: str, elsewhere: bool | None, seen_on: str | None, asked: bool, ends: bool, waits: bool
) -> None:
    known, git = Recorded("a"), Git(elsewhere=elsewhere)
    made = observations(known, git)
    made._seen_on["a"] = seen_on
    before = time.monotonic()
    await made.see([(source, "a")])
    assert (bool(git.asked), bool(known.told), made.is_missing("a")) == (asked, ends, waits)
    assert not waits or made.due >= before + ASK_AGAIN, "and not at once"


async def test_where_gits_log_does_not_answer_nothing_is_given_up_and_it_is_asked_again() -> None:
    """The change may have been archived since the log was read last."""
    known, git = Recorded("a"), Git()
    made = observations(known, git, git=True)
    git.silent = True
    before = time.monotonic()
    await made.see([(OPENSPEC, "a")])
    assert known.told == [] and made.is_missing("a") and made.due >= before + ASK_AGAIN
    git.silent = False
    made._gone[OPENSPEC, "a"] = before
    await made.see([(OPENSPEC, "a")])
    (event,) = known.told
    assert isinstance(event.what, Ended) and event.what.status == "failed"
    assert not made.is_missing("a")


async def test_a_spec_that_was_never_seen_is_not_missed_where_no_repository_says_so() -> None:
    known = Recorded("a")
    made = observations(known, Git(elsewhere=None))
    await made.see([("speckit", "a")])
    assert known.told == []


async def test_only_the_latest_name_of_a_deliverable_is_missed() -> None:
    known = Recorded("first-name")
    known["first-name"].names = ("old-name", "new-name")
    made = observations(known)
    made._seen_on |= {"old-name": "main", "new-name": "main"}
    await made.see([("speckit", "old-name")])
    assert known.told == []
    await made.see([("speckit", "new-name")])
    assert len(known.told) == 1


async def test_a_spec_that_is_there_again_is_not_missed_any_more() -> None:
    known = Recorded("a")
    made = observations(known, Git(), seen("a"))
    made._gone["speckit", "a"] = time.monotonic()
    await made.see([("speckit", "a")])
    assert made.due is None and known.here == ["a"]


async def test_ends_are_handed_back_to_be_told_last() -> None:
    known = Recorded("a")
    over = seen("a", ending=Ending("completed", 5.0, "archived"))
    made = observations(known, Git(), over)
    assert await made.see([("speckit", "a")]) == [over]
    assert known.told == []


async def test_an_end_brings_nothing_here_and_its_spec_is_checked_once() -> None:
    """What was begun in another work tree is open here where its spec is, not where its end is."""
    known = Recorded("a")
    checked: list[str] = []

    async def check(change_id: str, what: Observation) -> None:
        checked.append(change_id)

    made = observations(known)
    made._checks = SimpleNamespace(checked=check)
    over = seen("a", ending=Ending("completed", 5.0, "archived"))
    states = (replace(OPEN, started_at=None), OPEN, LOST, replace(LOST, abandoned=False))
    for state in states:
        known.states["a"] = state
        await made.look_at(over)
    assert (known.here, len(checked)) == ([], 2), "while it is open, and where it only was missed"


async def test_specs_are_told_of_by_name() -> None:
    known = Recorded()
    await observations(known, Git(), seen("b"), seen("a")).see([("speckit", "b"), ("speckit", "a")])
    assert [event.change_id for event in known.told if isinstance(event.what, Started)] == ["a", "b"]


async def test_of_what_ended_nothing_stays_in_mind() -> None:
    known = Recorded("a")
    made = observations(known, Git(), seen("a", ending=Ending("completed", 5.0, "archived")))
    await made.see([("speckit", "a")])
    await made.see([])
    assert len(made._last_seen) == 1, "as long as it is open"
    known.clear()
    await made.see([])
    assert made._last_seen == {}


# A spec that has another name


FILES = (Artefact("propose", "proposal.md", 3.0),)


@pytest.mark.parametrize(
    ("there", "renamed"),
    [
        pytest.param(seen("b", artefacts=FILES), True, id="one that nobody knew, with the same file of the same time"),
        pytest.param(seen("b", artefacts=(Artefact("propose", "proposal.md", 4.0),)), False, id="not of another time"),
        pytest.param(seen("b", artefacts=(Artefact("design", "design.md", 3.0),)), False, id="not of another phase"),
        pytest.param(seen("b", "markdown", artefacts=FILES), False, id="not of another kind of spec"),
        pytest.param(seen("known", artefacts=FILES), False, id="not one that was known before"),
    ],
)
async def test_what_a_spec_that_is_gone_is_called_now(there: Observation, renamed: bool) -> None:
    known = Recorded("a", "known")
    made = observations(known, Git(), there)
    made._last_seen["speckit", "a"] = seen("a", artefacts=FILES)
    made._gone["speckit", "a"] = time.monotonic() + 60
    await made.see([("speckit", "a"), (there.source, there.change_id)])
    told = [event for event in known.told if isinstance(event.what, Renamed)]
    assert [(event.change_id, event.what) for event in told] == ([("a", Renamed("b"))] if renamed else [])
    assert (("speckit", "a") in made._last_seen) is not renamed, "what has a new name is not missed under the old"
    if renamed:
        assert known.recorded[0] == told, "before what is new of it"


# A spec that git's log has


BEGUN = ChangeHistory("a", dated(2.0), phases=(("propose", dated(2.0)),), tasks_at=4.0)
SEEN = seen("a", OPENSPEC, artefacts=(Artefact("propose", "a/proposal.md", 9.0),), tasks=Tasks("t", 3, 1, 9.0))
ENDED = replace(SEEN, ending=Ending("completed", 9.0, "archived"))
OPEN = RecordedState("a", started_at=1.0)
LOST = RecordedState("a", started_at=1.0, ended=True, abandoned=True)


async def by_git(made: Any, what: Observation, state: RecordedState) -> Observation | None:
    made._open.states["a"] = state
    found: Observation | None = await made._dated_by_git(what)
    return found


@pytest.mark.parametrize(
    ("what", "at", "tasks_at"),
    [
        pytest.param(SEEN, 2.0, 4.0, id="as they were committed, which was before they came here"),
        pytest.param(
            replace(SEEN, artefacts=(Artefact("propose", "p", 1.0),), tasks=Tasks("t", 3, 1, 3.0)),
            1.0,
            3.0,
            id="written here before they were committed",
        ),
        pytest.param(replace(SEEN, artefacts=(Artefact("design", "d", 9.0),)), 9.0, 4.0, id="unknown to the log"),
    ],
)
async def test_of_two_times_the_earlier_counts(what: Observation, at: float, tasks_at: float) -> None:
    found = await by_git(observations(Recorded(), Git(BEGUN)), what, RecordedState("a"))
    assert found is not None and found.tasks is not None
    assert (found.artefacts[0].at, found.tasks.at) == (at, tasks_at)


async def test_files_that_are_not_as_committed_have_their_own_times() -> None:
    assert await by_git(observations(Recorded(), Git(BEGUN, clean=False)), SEEN, OPEN) is SEEN
    assert await by_git(observations(Recorded(), Git()), SEEN, OPEN) is SEEN, "nor has what the log does not know"


@pytest.mark.parametrize(
    ("archived", "own", "at"), [(5.0, 9.0, 5.0), (9.0, 5.0, 5.0), (None, 9.0, 9.0)], ids=["log", "folder", "unknown"]
)
async def test_an_end_is_when_it_was_archived_first(archived: float | None, own: float, at: float) -> None:
    history = replace(BEGUN, archived=None if archived is None else dated(archived))
    what = replace(SEEN, ending=Ending("completed", own, "archived"))
    found = await by_git(observations(Recorded("a"), Git(history)), what, OPEN)
    assert found is not None and found.ending is not None and found.ending.at == at


async def test_what_was_taken_out_of_the_archive_elsewhere_did_not_end() -> None:
    git = Git(replace(BEGUN, reopened=dated(6.0)))
    assert await by_git(observations(Recorded("a"), git), ENDED, OPEN) is None


async def test_how_long_took_what_a_shallow_clone_begins_with_is_not_made_up() -> None:
    made = observations(Recorded(), Git(replace(BEGUN, cut=True)))
    assert await by_git(made, SEEN, RecordedState("a")) is None
    assert made._cut == {"a"}, "it is looked at again once more of the log is there"
    assert await by_git(made, SEEN, OPEN) is SEEN, "of what is known it is as it is seen"


async def test_what_a_shallow_clone_began_with_is_looked_at_once_more_of_the_log_is_there() -> None:
    known = Recorded()
    log = Git(BEGUN)
    made = observations(known, log, SEEN, git=True)
    made._specs.sources, made._specs.has_changes = (OPENSPEC,), lambda: True
    made._cut = {"a", "still-cut", "gone"}
    log._histories["still-cut"] = replace(BEGUN, change_id="still-cut", cut=True)
    await made.look_at_history()
    assert (made._cut, {event.change_id for event in known.told}) == ({"still-cut", "gone"}, {"a"})


@pytest.mark.parametrize(
    ("in_use", "is_open", "moved", "asked"),
    [
        pytest.param(True, False, True, True, id="where changes are kept"),
        pytest.param(False, True, True, True, id="or something is open"),
        pytest.param(False, False, True, False, id="not where neither is in use"),
        pytest.param(True, True, False, False, id="nor where git has nothing new"),
    ],
)
async def test_when_gits_log_is_read(in_use: bool, is_open: bool, moved: bool, asked: bool) -> None:
    git = Git()
    git.moves = moved
    made = observations(Recorded(*(["a"] if is_open else [])), git, git=True)
    made._specs.sources, made._specs.has_changes = (OPENSPEC,), lambda: in_use
    made._looked_for = 100
    await made.look_at_history()
    assert (git.asked == ["log"], made._looked_for == 0) == (asked, asked), "and a hundred more are looked for"


@pytest.mark.parametrize(
    ("state", "removed", "touched", "looked_at"),
    [
        pytest.param(LOST, dated(5.0), False, False, id="given up, and an old state is checked out"),
        pytest.param(LOST, dated(5.0), True, True, id="worked on since it was removed"),
        pytest.param(LOST, None, False, True, id="never removed in the log"),
        pytest.param(OPEN, dated(5.0), False, True, id="not given up"),
        pytest.param(replace(LOST, abandoned=False), dated(5.0), False, True, id="ended otherwise"),
    ],
)
async def test_what_is_there_because_it_was_there_does_not_go_on(
    state: RecordedState, removed: Dated | None, touched: bool, looked_at: bool
) -> None:
    git = Git(replace(BEGUN, removed=removed, returned=dated(7.0)))
    git.touched = touched
    found = await by_git(observations(Recorded("a"), git), SEEN, state)
    assert (found is not None) is looked_at
    assert found is None or found.returned_at in (7.0, None)


async def test_what_came_back_did_so_when_the_log_says() -> None:
    git = Git(replace(BEGUN, returned=dated(7.0)))
    found = await by_git(observations(Recorded("a"), git), SEEN, OPEN)
    assert found is not None and found.returned_at == 7.0


# What the log alone tells


@pytest.mark.parametrize(
    ("history", "looked_for", "elsewhere", "told"),
    [
        pytest.param(BEGUN, 0, False, False, id="open on a branch that nobody checked out here"),
        pytest.param(replace(BEGUN, archived=dated(5.0)), 0, False, True, id="archived"),
        pytest.param(replace(BEGUN, archived=dated(5.0), cut=True), 0, False, False, id="whose begin is not known"),
        pytest.param(replace(BEGUN, removed=dated(5.0)), 0, False, True, id="removed, and nowhere else"),
        pytest.param(replace(BEGUN, removed=dated(5.0)), 0, True, False, id="removed, and on another branch"),
        pytest.param(replace(BEGUN, removed=dated(5.0)), 0, None, False, id="removed, and git does not say where"),
        pytest.param(replace(BEGUN, removed=dated(5.0)), 99, False, True, id="of a hundred the last"),
        pytest.param(replace(BEGUN, removed=dated(5.0)), 100, False, False, id="not the one after them"),
    ],
)
async def test_of_what_nobody_told_the_log_tells_what_is_over(
    history: ChangeHistory, looked_for: int, elsewhere: bool | None, told: bool
) -> None:
    known = Recorded()
    made = observations(known, Git(history, elsewhere=elsewhere))
    made._looked_for = looked_for
    await made._told_by_git(history)
    assert any(isinstance(event.what, Started) for event in known.told) is told


# What follows from tasks


@pytest.mark.parametrize(
    ("edited_at", "verified"),
    [
        pytest.param(5.0, True, id="tests ran after the last edit"),
        pytest.param(6.0, True, id="in the moment of it"),
        pytest.param(7.0, False, id="before it"),
        pytest.param(None, True, id="nothing was edited"),
    ],
)
async def test_the_last_task_is_verified_by_tests_that_ran_since_the_last_edit(
    edited_at: float | None, verified: bool
) -> None:
    known = Recorded("a")
    known.edited_at = {} if edited_at is None else {"a": edited_at}
    known.states["a"] = RecordedState(
        "a", 1.0, phases=frozenset({"apply"}), phase="apply", tasks_total=3, tasks_completed=2, tests_at=6.0,
        tests_passed=True,
    )  # fmt: skip
    made = observations(known, Git())

    async def record(events: Any) -> None:
        known.recorded.append(events)
        known.states["a"] = replace(known.states["a"], tasks_completed=3)

    known.record = record  # type: ignore[method-assign]
    await made.look_at(seen("a", tasks=Tasks("t", 3, 3, 8.0)))
    assert any(isinstance(event.what, TasksCounted) for event in known.told)
    begun = [event.what for event in known.told if isinstance(event.what, PhaseStarted)]
    assert (PhaseStarted("verify") in begun) is verified


async def test_git_dates_openspecs_changes_alone() -> None:
    known = Recorded("a")
    made = observations(known, Git(replace(BEGUN, cut=True)), git=True)
    known.states["a"] = RecordedState("a")
    await made.look_at(replace(SEEN, source="speckit"))
    assert known.told
    known.recorded.clear()
    await made.look_at(SEEN)
    assert known.told == []
