"""Histories that git tells in more than one way: what two archived, what a merge did itself, what was taken back, a
name used twice, a proposal written anew under a new name, a clone without its beginning. The true figures stand beside.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.daemons import Daemon, until
from tests.server.test_change_history import archive, commit, git, propose, repository
from tests.server.test_detection import TASKS, seen, write
from tests.server.tracked import deliverable_in, events_in
from tests.wait_limits import HANG

HOUR = 3600.0

Figures = tuple[float, float | None, str | None, str, tuple[str, ...]]
"""Hours of begin and end, author, status, later names."""


class Work:
    """A repository whose commits are made at hours since it began."""

    def __init__(self, root: Path) -> None:
        self.begin = float(int(time.time() - 100 * HOUR))
        self.root = repository(root, at=self.begin - HOUR)
        self.changes = root / "openspec" / "changes"

    def commit(self, message: str, hours: float, author: str = "Ann") -> None:
        commit(self.root, message, at=self.begin + hours * HOUR, author=author)

    def git(self, *arguments: str, hours: float = 0, author: str = "Ann") -> None:
        git(self.root, *arguments, at=self.begin + hours * HOUR, author=author)

    def propose(self, name: str, hours: float) -> None:
        propose(self.root, name, f"## Why\n{name} is what people ask for, and nothing else than {name}.\n")
        self.commit(f"docs: propose {name}", hours)

    def figures(self, home: Path, name: str) -> Figures | None:
        found = deliverable_in(home, name)
        if found is None:
            return None
        begin, end = (
            None if at is None else round((at - self.begin) / HOUR, 3) for at in (found.started_at, found.completed_at)
        )
        assert begin is not None
        status = found.status if found.status in ("completed", "failed") else "open"
        return begin, end, found.author, status, found.names


def both_archived(work: Work) -> Figures:
    work.propose("both-archived", 0)
    work.git("checkout", "-q", "-b", "side")
    archive(work.root, "both-archived")
    work.commit("docs: archive", 8)
    work.git("checkout", "-q", "main")
    archive(work.root, "both-archived")
    work.commit("docs: archive it", 12, author="Bea")
    work.git("merge", "-q", "--no-ff", "-m", "Merge side", "side", hours=14)
    work.git("branch", "-D", "side")
    return 0, 8, "Ann", "completed", ()


def archived_by_a_merge(work: Work) -> Figures:
    work.git("checkout", "-q", "-b", "merged")
    work.propose("archived-by-merge", 1)
    work.git("checkout", "-q", "main")
    work.git("merge", "-q", "--no-ff", "--no-commit", "merged", hours=9)
    archive(work.root, "archived-by-merge")
    work.commit("Merge and archive", 9)
    return 1, 9, "Ann", "completed", ()


def written_anew(work: Work) -> Figures:
    work.propose("written-anew", 2)
    (work.changes / "written-anew").rename(work.changes / "better-name")
    write(work.changes / "better-name" / "proposal.md", "## Why\nThe former words were wrong. These are right.\n")
    work.commit("docs: other words", 3)
    archive(work.root, "better-name")
    work.commit("docs: archive", 6)
    return 2, 6, "Ann", "completed", ("better-name",)


def taken_back(work: Work) -> Figures:
    work.propose("taken-back", 2)
    archive(work.root, "taken-back")
    work.commit("docs: archive", 5)
    work.git("revert", "--no-edit", "HEAD", hours=8, author="Bea")
    archive(work.root, "taken-back")
    work.commit("docs: archive, now really", 12)
    return 2, 12, "Ann", "completed", ()


def used_twice(work: Work) -> Figures:
    work.propose("used-twice", 3)
    archive(work.root, "used-twice")
    work.commit("docs: archive", 7)
    work.propose("used-twice", 30)
    (work.changes / "used-twice").rename(work.changes / "archive" / "2026-11-22-used-twice")
    work.commit("docs: archive the second", 40)
    return 3, 7, "Ann", "completed", ()


HISTORIES: dict[str, Callable[[Work], Figures]] = {
    "both-archived": both_archived,
    "archived-by-merge": archived_by_a_merge,
    "written-anew": written_anew,
    "taken-back": taken_back,
    "used-twice": used_twice,
}


@pytest.mark.timeout(120)
def test_each_change_has_its_own_moments_however_git_tells_of_it(tmp_path: Path) -> None:
    work, home = Work(tmp_path / "shop"), tmp_path / "home"
    true = {name: make(work) for name, make in HISTORIES.items()}
    with Daemon(home) as daemon, daemon.client(work.root) as client:
        client.request("aurora/index", timeout=HANG)

        def told() -> dict[str, Figures | None]:
            return {name: work.figures(home, name) for name in true}

        until(lambda: all(each is not None and each[1] is not None for each in told().values()), "all are over")
        client.request("aurora/index", timeout=HANG)
        assert told() == true
        assert {event.change_id for event in events_in(home)} == set(true)


def test_what_is_taken_back_out_of_the_archive_goes_on_and_ends_once_more(tmp_path: Path) -> None:
    work, home = Work(tmp_path / "shop"), tmp_path / "home"
    work.propose("taken-back", 2)
    archive(work.root, "taken-back")
    work.commit("docs: archive", 5)
    with Daemon(home) as daemon, daemon.client(work.root) as client:
        client.request("aurora/index", timeout=HANG)
        until(lambda: work.figures(home, "taken-back") == (2, 5, "Ann", "completed", ()), "it is over")
        work.git("revert", "--no-edit", "HEAD", hours=8, author="Bea")
        until(lambda: work.figures(home, "taken-back") == (2, None, "Ann", "open", ()), "it goes on")
        archive(work.root, "taken-back")
        work.commit("docs: archive, now really", 12)
        until(lambda: (f := work.figures(home, "taken-back")) is not None and f[3] == "completed", "it is over again")
    found = work.figures(home, "taken-back")
    assert found is not None and found[0] == 2 and found[1] is not None and found[1] >= 12


def test_a_shallow_clone_makes_no_begin_up_and_learns_it_with_the_rest_of_the_log(tmp_path: Path) -> None:
    work, home, mine = Work(tmp_path / "shop"), tmp_path / "home", tmp_path / "mine"
    work.propose("add-search", 0)
    write(work.root / "src" / "other.py", "def other():\n    return 1\n")
    work.commit("feat: something else", 4, author="Bea")
    git(tmp_path, "clone", "-q", "--depth", "1", work.root.as_uri(), str(mine))
    with Daemon(home) as daemon, daemon.client(mine) as client:
        client.request("aurora/index", timeout=HANG)
        propose(work.root, "add-cart", "## Why\nPeople buy more than one thing.\n")
        write(work.changes / "add-search" / "tasks.md", TASKS.replace("[ ]", "[x]"))
        work.commit("feat: search", 5)
        git(mine, "pull", "-q")
        seen(home, "add-cart", "tasks")
        assert deliverable_in(home, "add-search") is None
        git(mine, "fetch", "-q", "--unshallow")
        client.request("aurora/index", timeout=HANG)  # a fetch changes no file: the next look at the folder finds it
        until(lambda: (f := work.figures(home, "add-search")) is not None and f[2] is not None, "the log is whole")
        archive(work.root, "add-search")
        work.commit("docs: archive", 6)
        git(mine, "pull", "-q")
        until(lambda: work.figures(home, "add-search") == (0, 6, "Ann", "completed", ()), "it is over")
