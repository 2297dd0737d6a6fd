"""Changes in real repositories: branches, stashes, renames, pulls, clones, and what happened while no daemon ran."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.events import Ended
from tests.server.daemons import Daemon, until
from tests.server.test_detection import PROPOSAL, SPEC, TASKS, seen, write
from tests.server.tracked import deliverable_in, events_in
from tests.shares import long
from tests.wait_limits import HANG

DAY = 86_400.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop")


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(home, AURORA_DELIVERABLES_DETECT_ABANDONED_MINUTES="0.01") as daemon:
        yield daemon


def git(root: Path, *arguments: str, at: float | None = None, author: str = "Ann") -> None:
    identity = ("-c", f"user.name={author}", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false")
    dated = {} if at is None else {"GIT_AUTHOR_DATE": f"{at:.0f} +0000", "GIT_COMMITTER_DATE": f"{at:.0f} +0000"}
    command = ["git", *identity, *arguments]
    subprocess.run(command, cwd=root, check=True, capture_output=True, env={**os.environ, **dated})


def commit(root: Path, message: str, *, at: float | None = None, author: str = "Ann") -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message, at=at, author=author)


def repository(root: Path, at: float | None = None) -> Path:
    write(root / "src" / "catalogue.py", "def products():\n    return []\n")
    git(root, "init", "-q", "-b", "main")
    commit(root, "Begin", at=at)
    return root


def propose(root: Path, name: str, why: str = PROPOSAL) -> Path:
    change = root / "openspec" / "changes" / name
    write(change / "proposal.md", why)
    write(change / "specs" / "catalogue" / "spec.md", SPEC)
    write(change / "tasks.md", TASKS)
    return change


def archive(root: Path, name: str) -> Path:
    place = root / "openspec" / "changes" / "archive" / f"2026-11-20-{name}"
    place.parent.mkdir(exist_ok=True)
    (root / "openspec" / "changes" / name).rename(place)
    return place


def ended(home: Path, name: str) -> Deliverable:
    until(lambda: (d := deliverable_in(home, name)) is not None and d.completed_at is not None, f"{name} ends")
    found = deliverable_in(home, name)
    assert found is not None
    return found


def stays_open(home: Path, name: str, seconds: float = 4.0) -> None:
    over = time.monotonic() + seconds
    while time.monotonic() < over:
        found = deliverable_in(home, name)
        assert found is not None and found.status not in ("completed", "failed"), events_in(home, name)[-1]
        time.sleep(0.2)


def test_a_change_on_another_branch_is_not_abandoned_and_is_over_once_archived_there(
    daemon: Daemon, root: Path, home: Path
) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        propose(root, "add-search")  # on main, and committed on a branch: as people do
        seen(home, "add-search", "tasks")
        git(root, "checkout", "-q", "-b", "feature/other-name")
        commit(root, "docs: propose search")
        git(root, "checkout", "-q", "main")
        stays_open(home, "add-search")
        git(root, "checkout", "-q", "feature/other-name")
        archive(root, "add-search")
        commit(root, "docs: archive search")
        git(root, "checkout", "-q", "main")
        found = ended(home, "add-search")
    assert found.status == "completed" and not found.deliverable_failed


def test_a_stash_hides_a_change_and_does_not_end_it(daemon: Daemon, root: Path, home: Path) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        propose(root, "add-search")
        seen(home, "add-search", "tasks")
        git(root, "stash", "-u")
        assert not (root / "openspec").exists()
        stays_open(home, "add-search")
        git(root, "stash", "pop")
        stays_open(home, "add-search", 1.0)
        git(root, "stash", "-u")
        git(root, "stash", "drop")
        assert ended(home, "add-search").status == "failed"


def test_a_change_that_was_given_up_goes_on_where_it_is_found_again(daemon: Daemon, root: Path, home: Path) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        change = propose(root, "add-search")
        seen(home, "add-search", "tasks")
        away = root.parent / "away"
        change.rename(away)
        assert ended(home, "add-search").status == "failed"
        away.rename(change)
        write(change / "tasks.md", TASKS + "- [ ] 3.1 One more\n")
        until(lambda: bool((d := deliverable_in(home, "add-search")) is not None and d.tasks_total == 5), "it goes on")
    found = deliverable_in(home, "add-search")
    assert found is not None and (found.status, found.completed_at, found.current_phase) == ("planning", None, "tasks")
    assert "revival" in {str(type(event.what).__struct_config__.tag) for event in events_in(home, "add-search")}


def test_a_renamed_change_is_the_same_deliverable(daemon: Daemon, root: Path, home: Path) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        change = propose(root, "add-search")
        seen(home, "add-search", "tasks")
        change.rename(change.parent / "find-products")
        until(lambda: bool((d := deliverable_in(home, "add-search")) is not None and d.names), "renamed")
        stays_open(home, "add-search", 2.0)
        shown = client.request("aurora/deliverable", {"action": "show", "change_id": "find-products"})
        assert shown["change_id"] == "add-search"
        commit(root, "docs: propose")
        git(root, "mv", "openspec/changes/find-products", "openspec/changes/search-products")
        commit(root, "docs: a better name")
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and len(d.names) == 2, "and again")
        archive(root, "search-products")
        found = ended(home, "add-search")
        listed = client.request("aurora/deliverable", {"action": "list"})["deliverables"]
    assert found.status == "completed" and found.names == ("find-products", "search-products")
    assert [each["change_id"] for each in listed] == ["add-search"]


def test_what_was_proposed_and_archived_while_no_daemon_ran_is_seen_with_its_times(root: Path, home: Path) -> None:
    begun = float(int(time.time() - 13 * DAY))
    propose(root, "add-search")
    commit(root, "docs: propose search", at=begun, author="Bea")
    change = root / "openspec" / "changes" / "add-search"
    change.rename(change.parent / "find-products")
    commit(root, "docs: rename", at=begun + DAY)
    write(change.parent / "find-products" / "tasks.md", TASKS.replace("[ ]", "[x]"))
    commit(root, "feat: search", at=begun + 2 * DAY)
    archive(root, "find-products")
    commit(root, "docs: archive", at=begun + 10 * DAY)
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        found = ended(home, "add-search")
    assert (found.started_at, found.completed_at) == (begun, begun + 10 * DAY)
    assert (found.status, found.author, found.names) == ("completed", "Bea", ("find-products",))
    assert (found.tasks_completed, found.tasks_total) == (4, 4)
    assert [(span.phase, span.started_at) for span in found.spans if span.phase == "apply"] == [
        ("apply", begun + 2 * DAY)
    ]
    assert {event.change_id for event in events_in(home)} == {"add-search"}


def test_nothing_of_a_proposal_that_git_knows_is_told_at_the_time_of_a_look_at_it(
    daemon: Daemon, root: Path, home: Path
) -> None:
    """A proposal alone has no tasks whose time could be taken; what follows in the log would be told after the look."""
    begun = float(int(time.time() - DAY))
    write(root / "openspec" / "changes" / "add-search" / "proposal.md", PROPOSAL)
    commit(root, "docs: propose search", at=begun)

    def spec_is_told() -> bool:
        return any(event.source == "openspec" for event in events_in(home, "add-search"))

    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        until(spec_is_told, "the spec is told")
    assert {event.at for event in events_in(home, "add-search")} == {begun}


def test_what_was_given_up_while_no_daemon_ran_has_failed_where_it_was_removed(root: Path, home: Path) -> None:
    begin = float(int(time.time() - 2 * DAY))
    propose(root, "add-search")
    propose(root, "add-cart", "## Why\nPeople buy more than one thing.\n")
    propose(root, "add-export", "## Why\nPeople want their data.\n")
    commit(root, "docs: propose three", at=begin)
    git(root, "checkout", "-q", "-b", "feature/cart")
    write(root / "src" / "cart.py", "def total():\n    return 0\n")
    write(root / "openspec" / "changes" / "add-cart" / "tasks.md", TASKS.replace("[ ] 1.1", "[x] 1.1"))
    git(root, "rm", "-rq", "openspec/changes/add-search")
    commit(root, "feat: a cart", at=begin + DAY / 2)
    git(root, "checkout", "-q", "main")
    git(root, "rm", "-rq", "openspec/changes/add-search", "openspec/changes/add-cart")
    commit(root, "docs: neither", at=begin + DAY, author="Bea")
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        found = ended(home, "add-search")
        seen(home, "add-export", "tasks")
    assert (found.status, found.failure_type, found.deliverable_failed) == ("failed", "incomplete", True)
    assert (found.started_at, found.completed_at) == (begin, begin + DAY)
    assert deliverable_in(home, "add-cart") is None, "it is on a branch, and nobody checked that out"


def test_a_branch_and_a_stash_that_were_only_begun_while_a_change_was_there_do_not_keep_it(
    root: Path, home: Path, tmp_path: Path
) -> None:
    begin = float(int(time.time() - 2 * DAY))
    propose(root, "add-search")
    propose(root, "add-export", "## Why\nPeople want their data.\n")
    commit(root, "docs: propose search", at=begin)
    git(root, "checkout", "-q", "-b", "feature/other")
    write(root / "src" / "other.py", "def other():\n    return 0\n")
    commit(root, "feat: something else", at=begin + DAY / 4)
    write(root / "src" / "other.py", "def other():\n    return 1\n")
    git(root, "stash")
    git(root, "checkout", "-q", "main")
    git(root, "rm", "-rq", "openspec/changes/add-search")
    commit(root, "docs: no search", at=begin + DAY, author="Bea")
    git(root, "checkout", "-q", "-b", "feature/later")  # the clone's own main is behind, too
    git(tmp_path, "clone", "-q", str(root), "mine")
    mine = tmp_path / "mine"
    git(mine, "branch", "-q", "old", "origin/feature/other")
    for place in (root, mine):
        with Daemon(home / place.name) as daemon, daemon.client(place) as client:
            client.request("aurora/index", timeout=HANG)
            found = ended(home / place.name, "add-search")
            assert (found.status, found.completed_at) == ("failed", begin + DAY), place.name


@pytest.mark.parametrize("merged", ["squash", *map(long, ("picked", "squash, and gone on with"))])
def test_a_branch_whose_work_went_to_main_as_other_commits_does_not_keep_what_main_gave_up(
    root: Path, home: Path, merged: str
) -> None:
    begin = float(int(time.time() - 2 * DAY))
    git(root, "checkout", "-q", "-b", "feature/search")
    propose(root, "add-search")
    commit(root, "docs: propose search", at=begin)
    git(root, "checkout", "-q", "main")
    write(root / "src" / "other.py", "def other():\n    return 0\n")
    commit(root, "feat: something else", at=begin + DAY / 4)  # so that a picked commit is another one
    if merged == "picked":
        git(root, "cherry-pick", "feature/search", at=begin + DAY / 2)
    else:
        git(root, "merge", "-q", "--squash", "feature/search")
        commit(root, "docs: propose search (#1)", at=begin + DAY / 2)
    git(root, "rm", "-rq", "openspec/changes/add-search")
    commit(root, "docs: no search", at=begin + DAY, author="Bea")
    goes_on = merged.endswith("gone on with")
    if goes_on:
        git(root, "checkout", "-q", "feature/search")
        write(root / "openspec" / "changes" / "add-search" / "tasks.md", TASKS.replace("[ ] 1.1", "[x] 1.1"))
        commit(root, "feat: search, all the same", at=begin + 0.75 * DAY)
        git(root, "checkout", "-q", "main")
    propose(root, "add-export", "## Why\nPeople want their data.\n")
    with Daemon(home) as daemon, daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        if goes_on:
            seen(home, "add-export", "tasks")
            client.request("aurora/index", timeout=HANG)
            assert deliverable_in(home, "add-search") is None, "open on a branch that nobody checked out"
            return
        found = ended(home, "add-search")
    assert (found.status, found.started_at, found.completed_at) == ("failed", begin, begin + DAY)


def test_a_look_at_an_old_branch_takes_up_nothing_that_was_given_up(daemon: Daemon, root: Path, home: Path) -> None:
    begin = float(int(time.time() - 2 * DAY))
    propose(root, "add-search")
    propose(root, "add-export", "## Why\nPeople want their data.\n")
    commit(root, "docs: propose both", at=begin)
    git(root, "branch", "-q", "old")
    git(root, "rm", "-rq", "openspec/changes/add-search")
    commit(root, "docs: no search", at=begin + DAY)
    with daemon.client(root) as client:
        client.request("aurora/index", timeout=HANG)
        before = ended(home, "add-search")
        git(root, "checkout", "-q", "old")
        propose(root, "add-cart", "## Why\nPeople buy more than one thing.\n")
        seen(home, "add-cart", "tasks")
        client.request("aurora/index", timeout=HANG)
        assert ended(home, "add-search") == before, "looked at, and as it was"
        write(root / "openspec" / "changes" / "add-search" / "tasks.md", TASKS.replace("[ ] 1.1", "[x] 1.1"))
        until(lambda: (d := deliverable_in(home, "add-search")) is not None and d.completed_at is None, "it goes on")


def test_a_pull_brings_others_work_with_its_own_times(root: Path, home: Path, tmp_path: Path) -> None:
    begun = float(int(time.time() - 13 * DAY))
    git(tmp_path, "clone", "-q", str(root), "mine")
    mine = tmp_path / "mine"
    with Daemon(home, AURORA_DELIVERABLES_DETECT_ABANDONED_MINUTES="0.01") as daemon, daemon.client(mine) as client:
        client.request("aurora/index", timeout=HANG)
        propose(root, "add-search")
        commit(root, "docs: propose search", at=begun, author="Bea")
        git(mine, "pull", "-q")
        seen(home, "add-search", "tasks")
        write(root / "openspec" / "changes" / "add-search" / "tasks.md", TASKS.replace("[ ]", "[x]"))
        commit(root, "feat: search", at=begun + 5 * DAY, author="Bea")
        archive(root, "add-search")
        commit(root, "docs: archive", at=begun + 6 * DAY, author="Bea")
        git(mine, "pull", "-q")
        found = ended(home, "add-search")
    assert (found.started_at, found.completed_at, found.author) == (begun, begun + 6 * DAY, "Bea")
    assert found.status == "completed"


def test_work_trees_and_clones_of_a_repository_count_a_change_once(root: Path, home: Path, tmp_path: Path) -> None:
    begun = float(int(time.time() - 3 * DAY))
    propose(root, "add-search")
    commit(root, "docs: propose search", at=begun)
    archive(root, "add-search")
    commit(root, "docs: archive", at=begun + DAY)
    git(root, "worktree", "add", "-q", "-b", "second", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", str(root), "mine")
    with Daemon(home) as daemon, daemon.client(root) as client:
        more = [{"uri": (tmp_path / name).as_uri(), "name": name} for name in ("tree", "mine")]
        client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": more, "removed": []}})
        client.request("aurora/index", timeout=HANG)
        until(lambda: sum(isinstance(each.what, Ended) for each in events_in(home)) == 3, "all three")
        told = client.request("aurora/metrics", {})
        listed = client.request("aurora/deliverable", {"action": "list"})["deliverables"]
    assert told["window"]["deliverables"] == 1
    assert [each["change_id"] for each in listed] == ["add-search"]
