"""Benchmark of new work trees: `python -m tests.benchmarks.work_trees REPOSITORY [TREES]`.

A clone is indexed; then TREES are added to it, one after the other (`git worktree add`), each with one file that
differs. Of each is told how long its first right answer took, from its opening on, by the clock and in CPU time of the
daemon and its workers, how many files were parsed, and which copy was made. In the end the work trees are removed, and
the memory files have to be gone.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from aurora_memory.store.memory_files import memory_files
from tests.e2e.repositories import git
from tests.server.daemons import Daemon, until
from tests.wait_limits import HANG


def main() -> None:
    """Print what each work tree took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("repository", type=Path)
    parser.add_argument("trees", type=int, nargs="?", default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="aurora-trees-") as name:
        folder = Path(name)
        main_tree = folder / "main"
        git(folder, "clone", "-q", "-s", str(options.repository.resolve()), str(main_tree))
        with Daemon(folder / "home") as daemon:
            began, before = time.perf_counter(), _cpu(daemon)
            with daemon.client(main_tree) as client:
                client.request("aurora/index")
                until(
                    lambda: not client.request("aurora/status")["workspaces"][0]["learning_history"], seconds=20 * HANG
                )
            (first, *_) = list(_indexed(daemon, main_tree))
            print(
                f"{options.repository.name}: {first['parsed']} files parsed in the first one, "
                f"{time.perf_counter() - began:.1f} s, {_cpu(daemon) - before:.1f} s of CPU"
            )
            trees = [folder / f"tree{number}" for number in range(options.trees)]
            for number, tree in enumerate(trees):
                _opened(daemon, main_tree, tree, number)
            for tree in trees:
                git(main_tree, "worktree", "remove", "--force", str(tree))
        # What is removed is forgotten when a work tree of the repository is opened next; one whose memory was being
        # closed then, at the opening after that.
        for openings in range(1, 4):
            with Daemon(folder / "home") as daemon, daemon.client(main_tree) as client:
                client.request("aurora/recall", {"query": "function"})
                with suppress(AssertionError):
                    until(lambda: not _left(folder / "home"))
            print(f"memories of removed work trees after {openings} openings: {_left(folder / 'home')}")
            if not _left(folder / "home"):
                break


def _opened(daemon: Daemon, main_tree: Path, tree: Path, number: int) -> None:
    git(main_tree, "worktree", "add", "-q", "-b", tree.name, str(tree))
    (tree / "written_here.py").write_text(f"def written_in_tree_{number}():\n    return {number}\n")
    began, before = time.perf_counter(), _cpu(daemon)
    with daemon.client(tree) as client:
        found = client.request("aurora/recall", {"query": f"written_in_tree_{number}"})["results"]
        answered, spent = time.perf_counter() - began, _cpu(daemon) - before
        assert [each["name"] for each in found][:1] == [f"written_in_tree_{number}"], found[:1]
        until(lambda: not client.request("aurora/status")["workspaces"][0]["learning_history"], seconds=20 * HANG)
    (first, *later) = list(_indexed(daemon, tree))
    parsed = first["parsed"] + sum(each["parsed"] for each in later)
    print(
        f"  {tree.name}: first right answer after {answered:.2f} s, {spent:.2f} s of CPU; {parsed} parsed "
        f"(one differs); {_cpu(daemon) - before:.2f} s of CPU until all is done; load {os.getloadavg()[0]:.0f}",
        flush=True,
    )


def _left(home: Path) -> int:
    """Memory files beside the first work tree's."""
    return len(list(memory_files(home / "memory"))) - 1


def _indexed(daemon: Daemon, root: Path) -> Iterator[dict[str, Any]]:
    for line in daemon.log():
        if line.get("message") == "indexed" and line.get("root") == str(root):
            yield line


def _cpu(daemon: Daemon) -> float:
    """CPU time of the daemon and its workers, those that have ended too."""
    process = psutil.Process(daemon.process.pid)
    times = process.cpu_times()
    total = times.user + times.system + times.children_user + times.children_system
    for each in process.children(recursive=True):
        times = each.cpu_times()
        total += times.user + times.system
    return float(total)


if __name__ == "__main__":
    main()
