"""Work trees of one repository: a new one starts from a sibling's index, and none answers for another."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.store.memory_files import memory_file
from aurora_protocol.client import Client
from tests.e2e.repositories import commit, git
from tests.server import work_tree_switches
from tests.server.daemons import Daemon, until

CART = "def total(lines):\n    return sum(lines)\n"
FILES = 40


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(home) as daemon:
        yield daemon


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "cart.py").write_text(CART)
    for n in range(FILES):
        (root / f"part{n}.py").write_text(f"def part_{n}():\n    return {n}\n")
    commit(root, "the shop")
    return root


def recalled(daemon: Daemon, root: Path, query: str) -> list[dict[str, Any]]:
    with daemon.client(root) as client:
        return client.request("aurora/recall", {"query": query, "includeContent": True})["results"]


def runs(daemon: Daemon, root: Path) -> list[dict[str, Any]]:
    return [line for line in daemon.log() if line.get("message") == "indexed" and line.get("root") == str(root)]


def indexed(daemon: Daemon, root: Path) -> None:
    with daemon.client(root) as client:
        client.request("aurora/index")


def test_a_new_work_tree_parses_only_what_differs_and_answers_with_its_own_files(daemon: Daemon, shop: Path) -> None:
    indexed(daemon, shop)
    tree = shop.parent / "feature"
    git(shop, "branch", "feature")
    git(shop, "worktree", "add", "-q", str(tree), "feature")
    (tree / "cart.py").write_text("def grand_total(lines):\n    return max(lines)\n")
    (tree / "part7.py").unlink()
    assert [each["name"] for each in recalled(daemon, tree, "grand_total")][:1] == ["grand_total"]
    assert "part_7" not in [each["name"] for each in recalled(daemon, tree, "part_7")]
    assert [each["name"] for each in recalled(daemon, shop, "total")][:1] == ["total"]
    first = runs(daemon, tree)[0]
    assert (first["parsed"], first["removed"]) == (1, 1)


@pytest.mark.long
def test_files_switched_at_random_are_found_in_their_own_tree_alone(home: Path, tmp_path: Path) -> None:
    trees = work_tree_switches.made(tmp_path, 4)
    counted = work_tree_switches.switched(home, trees, 5, 3)
    assert counted.answers == 15 and not counted.wrong, counted.wrong


def test_of_its_siblings_it_starts_from_one_at_the_same_commit(daemon: Daemon, shop: Path) -> None:
    sibling = shop.parent / "release"
    git(shop, "worktree", "add", "-q", "-b", "release", str(sibling))
    (shop / "cart.py").write_text("def grand_total(lines):\n    return max(lines)\n")
    commit(shop, "another sum")
    for tree in (shop, sibling):
        indexed(daemon, tree)
    started = {}
    for branch in ("main", "release"):
        tree = shop.parent / f"from-{branch}"
        git(shop, "worktree", "add", "-q", "-b", tree.name, str(tree), branch)
        indexed(daemon, tree)
        shutil.rmtree(tree)  # it is no sibling of the next
        (started[branch],) = (
            line["sibling"]
            for line in daemon.log()
            if line.get("message") == "started from a sibling" and line["root"] == str(tree)
        )
    assert started == {"main": str(shop), "release": str(sibling)}


def test_a_sibling_whose_memory_cannot_be_copied_is_passed_over(home: Path, shop: Path) -> None:
    other = shop.parent / "other"
    git(shop, "worktree", "add", "-q", "-b", "other", str(other))
    (other / "cart.py").write_text("def grand_total(lines):\n    return max(lines)\n")
    commit(other, "another sum")
    with Daemon(home) as daemon:
        for tree in (shop, other):
            indexed(daemon, tree)
    (broken,) = (path for path in memories(home, "shop") if path.suffix == ".db")
    broken.write_bytes(broken.read_bytes()[:20_000])  # it was at the commit of the new one
    tree = shop.parent / "feature"
    git(shop, "worktree", "add", "-q", "-b", "feature", str(tree), "main")
    with Daemon(home) as daemon:
        assert [each["name"] for each in recalled(daemon, tree, "total")][:1] == ["total"]
        first = runs(daemon, tree)[0]
    assert first["parsed"] == 1, "the one file in which they differ"


def test_what_was_learned_until_then_comes_along(daemon: Daemon, shop: Path) -> None:
    with daemon.client(shop) as client:
        client.request("aurora/index")
        client.request("aurora/deliverable", {"action": "start", "change_id": "fix-cart"})
    tree = shop.parent / "feature"
    git(shop, "worktree", "add", "-q", "-b", "feature", str(tree))
    with daemon.client(tree) as client:
        known = client.request("aurora/deliverable", {"action": "list"})
        assert "fix-cart" in str(known)
        findings = client.request("aurora/doctor")["findings"]
    assert not [each for each in findings if each["level"] == "error"], findings


def test_a_folder_that_only_says_it_is_a_work_tree_gets_nothing(daemon: Daemon, shop: Path) -> None:
    indexed(daemon, shop)
    tree = shop.parent / "feature"
    git(shop, "worktree", "add", "-q", "-b", "feature", str(tree))
    for name, pointer in {"thief": tree / ".git", "other": None}.items():
        folder = shop.parent / name
        folder.mkdir()
        if pointer is not None:
            shutil.copy(pointer, folder / ".git")
        else:
            (folder / ".git").write_text(f"gitdir: {shop / '.git'}\n")
        assert recalled(daemon, folder, "total") == []


def started(client: Client, name: str) -> None:
    client.request("aurora/index")
    client.request("aurora/deliverable", {"action": "start", "change_id": name})


def memories(home: Path, name: str) -> list[Path]:
    return list((home / "memory").glob(f"{name}-*.db*"))


def test_what_a_removed_work_tree_learned_stays_and_its_file_goes(home: Path, shop: Path) -> None:
    tree = shop.parent / "feature"
    git(shop, "worktree", "add", "-q", "-b", "feature", str(tree))
    with Daemon(home) as daemon:
        indexed(daemon, shop)
        with daemon.client(tree) as client:
            started(client, "fix-cart")
    assert memories(home, "feature")
    git(shop, "worktree", "remove", "--force", str(tree))
    with Daemon(home) as daemon, daemon.client(shop) as client:
        until(lambda: not memories(home, "feature"), "the file of the removed work tree is gone")
        assert "fix-cart" in str(client.request("aurora/deliverable", {"action": "list"}))


def test_the_memory_of_a_folder_that_git_still_knows_stays(home: Path, shop: Path) -> None:
    away, gone = shop.parent / "away", shop.parent / "gone"
    for tree in (away, gone):
        git(shop, "worktree", "add", "-q", "-b", tree.name, str(tree))
    with Daemon(home) as daemon:
        for tree in (shop, away, gone):
            indexed(daemon, tree)
            until(lambda tree=tree: knows_common(home, tree.name), "whose work tree it is is written down")
    shutil.move(away, shop.parent / "unplugged")
    git(shop, "worktree", "remove", "--force", str(gone))
    with Daemon(home) as daemon, daemon.client(shop):
        until(lambda: not memories(home, "gone"), "the file of the removed work tree is gone")
    assert memories(home, "away")


def test_the_memory_of_a_removed_work_tree_stays_while_somebody_writes_to_it(home: Path, shop: Path) -> None:
    for name in ("busy", "crashed"):
        git(shop, "worktree", "add", "-q", "-b", name, str(shop.parent / name))
    with Daemon(home) as daemon:
        for tree in (shop, shop.parent / "busy", shop.parent / "crashed"):
            indexed(daemon, tree)
            until(lambda tree=tree: knows_common(home, tree.name), "whose work tree it is is written down")
    for name in ("busy", "crashed"):
        git(shop, "worktree", "remove", "--force", str(shop.parent / name))
    (memory,) = (path for path in memories(home, "busy") if path.suffix == ".db")
    with closing(sqlite3.connect(memory)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE facts SET value = value")
        writer.commit()
        with Daemon(home) as daemon, daemon.client(shop):
            until(lambda: not memories(home, "crashed"), "the file that nobody has open is gone")
        assert memory.exists()
        log = memory.with_name(f"{memory.name}-wal")
        os.utime(log, (time.time() - 4000,) * 2)  # as one that lies there since a crash
        with Daemon(home) as daemon, daemon.client(shop):
            until(lambda: not memory.exists(), "what nobody wrote to for an hour is gone")


def knows_common(home: Path, name: str) -> bool:
    found = [memory_file(path) for path in memories(home, name) if path.suffix == ".db"]
    return all(each is not None and each.common for each in found)
