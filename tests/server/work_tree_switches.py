"""Switches of files in many work trees of one repository at random: every answer is of the tree that was asked.

`python -m tests.server.work_tree_switches FOLDER TREES TIMES SEED` prints what it counted; a test does a few.
"""

from __future__ import annotations

import random
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from aurora_protocol.client import Client
from tests.e2e.repositories import commit, git
from tests.server.daemons import Daemon
from tests.wait_limits import HANG

FILES = 100


@dataclass
class Counted:
    """Answers that were looked at, those that were wrong, in words, and seconds until each switch was in memory."""

    answers: int = 0
    wrong: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    peak_bytes: int = 0


def made(folder: Path, trees: int) -> list[Path]:
    """A repository of a hundred files, and work trees of it: all of them, the main one first."""
    main = folder / "tree0"
    main.mkdir(parents=True)
    git(main, "init", "-q", "-b", "main")
    for number in range(FILES):
        (main / f"part{number}.py").write_text(f"def part_{number}():\n    return {number}\n")
    commit(main, "the parts")
    others = [folder / f"tree{number}" for number in range(1, trees)]
    for each in others:
        git(main, "worktree", "add", "-q", "-b", each.name, str(each))
    return [main, *others]


def switched(home: Path, trees: list[Path], times: int, seed: int) -> Counted:
    """Switch that often a file of a random tree under one daemon, and ask it and two others for what is new."""
    chance = random.Random(seed)
    counted = Counted()
    with ExitStack() as stack:
        daemon = stack.enter_context(Daemon(home))
        clients = [stack.enter_context(daemon.client(tree)) for tree in trees]
        for client in clients:
            client.request("aurora/index")
        process = psutil.Process(daemon.process.pid)
        for time_ in range(times):
            at = chance.randrange(len(trees))
            file = f"part{chance.randrange(FILES)}.py"
            asked = f"quokka{seed}x{time_}"
            text = f"def {asked}():\n    return '{asked}'\n"
            kind = chance.random()
            if kind < 0.7:
                (trees[at] / file).write_text(text)
            elif kind < 0.9:  # what another tree has there
                text = (trees[chance.randrange(len(trees))] / file).read_text()
                (trees[at] / file).write_text(text)
            else:
                git(trees[at], "checkout", "-q", "--", ".")
                text = (trees[at] / file).read_text()
            asked = text.partition("def ")[2].partition("(")[0]
            began = time.monotonic()
            found = _settled(clients[at], asked, counted, trees[at])
            counted.seconds.append(time.monotonic() - began)
            _judge(found, trees[at], asked, counted)
            for other in chance.sample([n for n in range(len(trees)) if n != at], 2):
                _judge(_settled(clients[other], asked, counted, trees[other]), trees[other], asked, counted)
            if time_ % 20 == 0:
                family = [process, *process.children(recursive=True)]
                counted.peak_bytes = max(counted.peak_bytes, sum(each.memory_info().rss for each in family))
    return counted


def _settled(client: Client, name: str, counted: Counted, tree: Path) -> list[dict[str, Any]]:
    """Answers once memory says that they are of the files as they are: what it says before, it says is not settled."""
    deadline = time.monotonic() + HANG
    while time.monotonic() < deadline:
        answer = client.request("aurora/recall", {"query": name})
        freshness = answer["freshness"]
        if freshness["heard"] and not freshness["pending_files"]:
            results: list[dict[str, Any]] = answer["results"]
            return results
    counted.wrong.append(f"{tree.name}: never settled")
    return []


def _judge(found: list[dict[str, Any]], tree: Path, name: str, counted: Counted) -> None:
    counted.answers += 1
    for each in found:
        file = tree / each["file"]
        if not file.is_file() or f"def {each['name']}(" not in file.read_text():
            counted.wrong.append(f"{tree.name}, asked for {name}: {each['name']} is not in {each['file']}")
    there = sorted(path.name for path in tree.glob("*.py") if f"def {name}(" in path.read_text())
    told = sorted({each["file"] for each in found if each["name"] == name})
    if there != told:
        counted.wrong.append(f"{tree.name}, asked for {name}: is in {there}, was said to be in {told}")


def main() -> None:
    folder = Path(sys.argv[1])
    trees, times, seed = (int(each) for each in sys.argv[2:5])
    counted = switched(folder / "home", made(folder, trees), times, seed)
    for each in counted.wrong[:40]:
        print(each)
    ordered = sorted(counted.seconds)
    middle, late = (ordered[int(len(ordered) * part)] for part in (0.5, 0.95))
    print(
        f"{counted.answers} answers, {len(counted.wrong)} wrong; a switch is in memory after "
        f"{middle:.3f} s (p50), {late:.3f} s (p95), {ordered[-1]:.3f} s at most; {counted.peak_bytes / 1e6:.0f} MB"
    )


if __name__ == "__main__":
    main()
