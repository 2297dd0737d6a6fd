"""Kills within `aurora memory import` (crash safety): of the daemon in the middle of its writing, and of the command.
An import is atomic, whole or not at all; one that said it was done is there, and done again it changes nothing:
idempotent.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.e2e.product import COMMAND, Product, product_in
from tests.memory.test_export import learned
from tests.torture.fatal_calls import FatalCalls, asked
from tests.torture.upgrades import bodies, opened
from tests.torture.workspace import SECONDS, answers, ended, workspace

EVENTS, RUNS = 400, 12
KILLS = 6
"""Deaths of one trial."""
SEEN: Counter[str] = Counter()
"""What was found after deaths."""


def take_in(chance: random.Random, folder: Path) -> None:
    """An import that is killed several times, from a file or standard input, in one home after another."""
    root = workspace(folder)
    export = _export(folder, root)
    with product_in(folder / "home") as product:
        calls = FatalCalls(product, folder)
        product.json("index", cwd=root)
        assert product.aurora("daemon", "stop", cwd=root).returncode == 0
        ended(product)
        left = folder / "left"
        shutil.copytree(product.home, left)
        with calls.daemon() as daemon:
            assert asked(product, daemon, root, lambda client: True)
            before = calls.count()
            product.json("memory", "import", export, cwd=root)
            recorded(product)
            total = calls.count() - before
        whole = state_of(product)
        assert sum(whole.values()) >= 2 * EVENTS
        for _ in range(KILLS):
            shutil.rmtree(product.home)
            shutil.copytree(left, product.home)
            nothing = state_of(product)
            with calls.daemon() as daemon:
                assert asked(product, daemon, root, lambda client: True)
                number = chance.randrange(1, total + 1)
                done = _killed(product, root, export, chance, calls, daemon, number)
            calls.arm(0)
            answers(product, root)
            recorded(product)
            found = state_of(product)
            SEEN[f"{'told as done' if done else 'not told'}, {'whole' if found == whole else 'nothing'}"] += 1
            assert found in (whole, nothing), f"call {number}: half of it: {difference(whole, found)}"
            assert found == whole or not done, f"call {number}: what was told as done is gone"
            product.json("memory", "import", export, cwd=root)
            recorded(product)
            assert state_of(product) == whole, f"call {number}: again: {difference(whole, state_of(product))}"
            doctor = product.aurora("doctor", cwd=root, seconds=SECONDS)
            assert doctor.returncode == 0, f"call {number}: {doctor.stdout}{doctor.stderr}"
            assert product.aurora("daemon", "stop", cwd=root).returncode == 0
            ended(product)
            product.check_databases()
            _no_copies(product, root)
        calls.close()
        print(f"  take_in: {KILLS} deaths of {total} calls, {dict(SEEN)}", flush=True)


def _killed(
    product: Product,
    root: Path,
    export: Path,
    chance: random.Random,
    calls: FatalCalls,
    daemon: subprocess.Popen[bytes],
    number: int,
) -> bool:
    """Whether an import said that it was done, of which the daemon or the command was killed."""
    passing = chance.random() < 0.4
    of_command = chance.random() < 0.25
    calls.arm(0 if of_command else number)
    with export.open("rb") as given:
        command = subprocess.Popen(
            [*COMMAND, "memory", "import", "-" if passing else str(export)],
            cwd=root,
            env=product.environment,
            stdin=given if passing else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if of_command:
            time.sleep(chance.uniform(0.05, 1.0))
            command.send_signal(signal.SIGKILL)
        said, _ = command.communicate(timeout=SECONDS)
    assert "Traceback" not in said, said[-900:]
    assert command.returncode in (0, 1, 3, -signal.SIGKILL), said[-900:]
    if not of_command:
        daemon.wait(SECONDS)  # the record follows what was acknowledged
    return command.returncode == 0


def _no_copies(product: Product, root: Path) -> None:
    """Standard input's copies of commands that were killed are gone an hour later, with the next daemon."""
    copies = list(product.home.glob("memory-*.jsonl"))
    for each in copies:
        os.utime(each, (0, 0))
    if copies:
        SEEN["copies of standard input"] += len(copies)
        answers(product, root)
        assert product.aurora("daemon", "stop", cwd=root).returncode == 0
    assert not any(each.exists() for each in copies), f"left behind: {copies}"


def _export(folder: Path, root: Path) -> Path:
    """An export of another home that has learned of this workspace."""
    path = folder / "in.jsonl"
    with product_in(folder / "elsewhere") as product:
        product.json("index", cwd=root)
        teach(product, root)
        product.json("memory", "export", path, cwd=root)
    return path


def teach(product: Product, root: Path) -> None:
    """Tell a home of events and answers, some hundred."""
    event = {"event_type": "phase_start", "phase": "apply", "timestamp": "2026-01-01T00:00:00Z"}
    lines = [json.dumps({**event, "change_id": f"c{n % 9}", "id": f"told-{n}"}) for n in range(EVENTS)]
    with product.session(root) as session:
        assert session.request("aurora/deliverable", {"action": "ingest", "lines": lines})["refused"] == []
        for number in range(RUNS):
            learn = {"query": f"how are the pigeons of house {number} fed", "result": "by second_one"}
            learn |= {"score": 0.95, "used": ["code:second_one.py:second_one"]}
            session.request("aurora/learn", learn, timeout=SECONDS)


def recorded(product: Product) -> None:
    """Wait until the record has what the memory has."""
    until = time.monotonic() + SECONDS
    (path,) = product.databases()
    while True:
        with closing(opened(path)) as db:
            if db.execute("SELECT count(*) FROM unrecorded").fetchone() == (0,):
                return
        assert time.monotonic() < until, "the record gets all of it"
        time.sleep(0.02)


def state_of(product: Product) -> Counter[Any]:
    """What was learned, as the memory and the record have it."""
    (path,) = product.databases()
    found: Counter[Any] = Counter()
    for table, rows in learned(path).items():
        found.update((table, *row) for row in rows)
    found.update(("entry", *each) for each in bodies(product))
    return found


def difference(whole: Counter[Any], found: Counter[Any]) -> str:
    return f"lacks {list((whole - found).items())[:4]}, has {list((found - whole).items())[:4]}"
