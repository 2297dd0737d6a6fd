"""Kills within `aurora memory export` (crash safety): of the daemon in the middle of its writing, and of the command.
The older export stays until the new one is whole, and nothing is left beside it.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from tests.e2e.product import Product, product_in
from tests.torture.fatal_calls import FatalCalls, asked
from tests.torture.imports import recorded, state_of, teach
from tests.torture.workspace import SECONDS, answers, ended, workspace

KILLS = 4
"""Deaths of one trial."""
SEEN: Counter[str] = Counter()
"""What was found after deaths."""


def give_out(chance: random.Random, folder: Path) -> None:
    """An export that is killed several times, in the place of an older one."""
    root = workspace(folder)
    path = folder / "exports" / "out.jsonl"
    path.parent.mkdir()
    with product_in(folder / "home") as product:
        calls = FatalCalls(product, folder)
        product.json("index", cwd=root)
        product.json("memory", "export", path, cwd=root)
        older = path.read_bytes()
        teach(product, root)
        recorded(product)
        assert product.aurora("daemon", "stop", cwd=root).returncode == 0
        ended(product)
        with calls.daemon() as daemon:
            assert asked(product, daemon, root, lambda client: True)
            before = calls.count()
            product.json("memory", "export", path, cwd=root)
            total = calls.count() - before
        whole, state = _lines(path.read_bytes()), state_of(product)
        for _ in range(KILLS):
            path.write_bytes(older)
            with calls.daemon() as daemon:
                assert asked(product, daemon, root, lambda client: True)
                number = chance.randrange(1, total + 1)
                done = _killed(product, root, path, chance, calls, daemon, number)
            calls.arm(0)
            where = f"call {number} of {total}"
            found = path.read_bytes()
            assert found == older or _lines(found) == whole, f"{where}: half of it, or something else"
            assert found != older or not done, f"{where}: what was told as written is not there"
            left = [each for each in path.parent.iterdir() if each != path]
            # Between its name and its place there is one call, and what has a name then is whole.
            assert len(left) <= 1 and all(_lines(each.read_bytes()) == whole for each in left), f"{where}: left {left}"
            assert not left or sys.platform == "linux"
            SEEN[
                f"{'told as done' if done else 'not told'}, {'new' if found != older else 'older'}, {len(left)} left"
            ] += 1
            for each in left:
                each.unlink()
            answers(product, root)
            assert product.aurora("daemon", "stop", cwd=root).returncode == 0
            ended(product)
            assert state_of(product) == state, f"{where}: an export changes nothing"
        calls.close()
        print(f"  give_out: {KILLS} deaths of {total} calls, {dict(SEEN)}", flush=True)


def _lines(export: bytes) -> Counter[bytes]:
    """Lines of an export but for the first, which says when it was made."""
    return Counter(export.splitlines()[1:])


def _killed(
    product: Product,
    root: Path,
    path: Path,
    chance: random.Random,
    calls: FatalCalls,
    daemon: subprocess.Popen[bytes],
    number: int,
) -> bool:
    """Whether an export said that it was done, of which the daemon or the command was killed."""
    of_command = chance.random() < 0.25
    calls.arm(0 if of_command else number)
    command = product.start("memory", "export", path, cwd=root)
    if of_command:
        time.sleep(chance.uniform(0.05, 1.0))
        command.send_signal(signal.SIGKILL)
    said, complaint = command.communicate(timeout=SECONDS)
    assert "Traceback" not in said + complaint, complaint[-900:]
    assert command.returncode in (0, 1, 3, -signal.SIGKILL), complaint[-900:]
    if not of_command:
        daemon.wait(SECONDS)
    return command.returncode == 0
