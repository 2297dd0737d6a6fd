"""A week of git work by three people, replayed with the times it had: branches, merges, a rebase, a rename, a stash, a
change given up, one still open, pulls. What is true of it is written down first; metrics must find the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.server.daemons import Daemon, until
from tests.server.test_change_history import archive, commit, git, propose, repository
from tests.server.test_detection import TASKS, write
from tests.server.tracked import deliverable_in
from tests.wait_limits import HANG

HOUR = 3600.0
DAYS = 7

TRUE = {  # name: begin and end in hours, author, accepted
    "add-search": (0, 8, "Ann", True),
    "add-cart": (10, 40, "Bea", True),
    "fix-login": (20, 32, "Cas", True),
    "drop-legacy": (50, 60, "Bea", False),
}
"""And `add-export`, which Ann makes while the daemon looks on, at the times that the test takes; and `add-later`, by
Cas, which is on a branch and not over."""


class Week:
    """Three clones of one bare repository, and the hours since the week began."""

    def __init__(self, folder: Path) -> None:
        self.begin = float(int(time.time() - (DAYS - 0.5) * 24 * HOUR))
        repository(folder / "seed", at=self.begin - HOUR)
        git(folder, "clone", "-q", "--bare", "seed", "shared.git")
        self.clones = {name: folder / name.lower() for name in ("Ann", "Bea", "Cas")}
        for clone in self.clones.values():
            git(folder, "clone", "-q", "shared.git", str(clone))

    def at(self, hours: float) -> float:
        return self.begin + hours * HOUR

    def commit(self, name: str, message: str, hours: float | None) -> None:
        commit(self.clones[name], message, at=None if hours is None else self.at(hours), author=name)

    def git(self, name: str, *arguments: str, hours: float | None = None) -> None:
        git(self.clones[name], *arguments, at=None if hours is None else self.at(hours), author=name)

    def branch(self, name: str, branch: str) -> Path:
        self.git(name, "checkout", "-q", "main")
        self.git(name, "pull", "-q", "--rebase")
        self.git(name, "checkout", "-q", "-b", branch)
        return self.clones[name]

    def merge(self, name: str, branch: str, hours: float | None) -> None:
        self.git(name, "checkout", "-q", "main")
        self.git(name, "pull", "-q", "--rebase")
        self.git(name, "merge", "-q", "--no-ff", "-m", f"Merge {branch}", branch, hours=hours)
        self.git(name, "push", "-q", "origin", "main")

    def done(self, name: str, change: str) -> None:
        write(self.clones[name] / "openspec" / "changes" / change / "tasks.md", TASKS.replace("[ ]", "[x]"))


def first_half(week: Week) -> None:
    """What happened before anybody looked."""
    ann = week.branch("Ann", "feature/search")
    propose(ann, "add-search")
    week.commit("Ann", "docs: propose search", 0)
    week.done("Ann", "add-search")
    week.commit("Ann", "feat: search", 5)
    archive(ann, "add-search")
    week.commit("Ann", "docs: archive search", 8)
    week.merge("Ann", "feature/search", 9)

    bea = week.branch("Bea", "feature/cart")
    propose(bea, "add-cart", "## Why\nPeople buy more than one thing.\n")
    week.commit("Bea", "docs: propose cart", 10)

    cas = week.branch("Cas", "fix/login")
    propose(cas, "fix-login", "## Why\nNobody gets in on Mondays.\n")
    week.commit("Cas", "docs: propose login", 20)
    (cas / "openspec" / "changes" / "fix-login").rename(cas / "openspec" / "changes" / "repair-login")
    week.commit("Cas", "docs: a better name", 26)
    week.done("Cas", "repair-login")
    week.commit("Cas", "fix: login", 30)
    archive(cas, "repair-login")
    week.commit("Cas", "docs: archive login", 32)
    week.merge("Cas", "fix/login", 33)

    week.git("Bea", "fetch", "-q")
    week.git("Bea", "rebase", "-q", "origin/main", hours=35)
    week.done("Bea", "add-cart")
    week.commit("Bea", "feat: cart", 36)
    archive(bea, "add-cart")
    week.commit("Bea", "docs: archive cart", 40)
    week.merge("Bea", "feature/cart", 41)


def second_half(week: Week, wait: Callable[[Callable[[], bool], str], None], known: Callable[[str], Any]) -> None:
    """What Ann's daemon saw: others' work by pulls, her own by hand."""
    ann = week.clones["Ann"]
    week.git("Ann", "checkout", "-q", "main")
    week.git("Ann", "pull", "-q")

    bea = week.branch("Bea", "chore/legacy")
    propose(bea, "drop-legacy", "## Why\nNobody calls it any more.\n")
    week.commit("Bea", "docs: propose the end of the old API", 50)
    week.merge("Bea", "chore/legacy", 51)
    week.git("Ann", "pull", "-q")
    wait(lambda: known("drop-legacy") is not None, "drop-legacy is pulled")
    week.git("Bea", "rm", "-rq", "openspec/changes/drop-legacy")
    week.commit("Bea", "docs: it is called after all", 60)
    week.git("Bea", "push", "-q", "origin", "main")
    week.git("Ann", "pull", "-q")

    cas = week.branch("Cas", "feature/later")
    propose(cas, "add-later", "## Why\nSome day.\n")
    week.commit("Cas", "docs: propose something for later", 70)
    week.git("Cas", "push", "-q", "origin", "feature/later")

    week.git("Ann", "checkout", "-q", "-b", "feature/export")
    propose(ann, "add-export", "## Why\nPeople want their data.\n")
    wait(lambda: known("add-export") is not None, "add-export is seen")
    week.git("Ann", "stash", "-u")
    week.git("Ann", "checkout", "-q", "main")
    week.git("Ann", "checkout", "-q", "feature/export")
    week.git("Ann", "stash", "pop")
    week.commit("Ann", "docs: propose export", None)
    week.done("Ann", "add-export")
    week.commit("Ann", "feat: export", None)
    archive(ann, "add-export")
    week.commit("Ann", "docs: archive export", None)
    week.merge("Ann", "feature/export", None)


@pytest.mark.timeout(300)
def test_a_week_of_three_people_comes_out_as_it_was(tmp_path: Path) -> None:
    week, home = Week(tmp_path), tmp_path / "home"
    first_half(week)
    names, live = [*TRUE, "add-export"], time.time()
    soon = {"AURORA_DELIVERABLES_DETECT_ABANDONED_MINUTES": "0.01"}
    with Daemon(home, **soon) as daemon, daemon.client(week.clones["Ann"]) as client:
        client.request("aurora/index", timeout=HANG)
        second_half(week, until, lambda name: deliverable_in(home, name))

        def over() -> bool:
            found = [deliverable_in(home, name) for name in names]
            return all(each is not None and each.completed_at is not None for each in found)

        until(over, f"all of {names} are over")
        client.request("aurora/index", timeout=HANG)
        told = client.request("aurora/metrics", {"window_days": DAYS})
        listed = {
            each["change_id"] for each in client.request("aurora/deliverable", {"action": "list"})["deliverables"]
        }
    found = {}
    for name in TRUE:
        each = deliverable_in(home, name)
        assert each is not None and each.completed_at is not None
        hours = [(at - week.begin) / HOUR for at in (each.started_at, each.completed_at)]
        found[name] = (*(round(at, 3) for at in hours), each.author, not each.deliverable_failed)
    assert found == TRUE
    assert listed - {"add-later"} == set(names), "each once, under its first name"
    export = deliverable_in(home, "add-export")
    assert export is not None and export.completed_at is not None
    assert live - 1 <= export.started_at <= export.completed_at <= time.time() + 1
    assert (export.author, export.deliverable_failed) == ("Ann", False)

    accepted = [export.completed_at - export.started_at]
    accepted += [(end - begin) * HOUR for begin, end, _, is_accepted in TRUE.values() if is_accepted]
    five = {name: each["value"] for name, each in told["metrics"].items()}
    assert five["feature_throughput"] == pytest.approx(len(accepted) / DAYS)
    assert five["resolution_latency"] == pytest.approx(median(accepted))
    assert five["deliverable_failure_rate"] == pytest.approx(100 / len(names))
    assert five["recovery_efficiency"] == 0
    assert five["spec_conformance"] is None and "correctness of 4" in told["metrics"]["spec_conformance"]["missing"]
    by_author = {
        each["name"]: each["metrics"]["deliverable_failure_rate"]["value"] for each in told["groups"]["author"]
    }
    assert by_author == {"Ann": 0, "Bea": 50, "Cas": 0}
