"""Kills within `aurora doctor --repair` of a corrupt memory (crash safety): of the daemon in the middle of its writing,
and of the command. What can be read is saved once, however often it was begun, and repaired it is repaired.
"""

from __future__ import annotations

import random
import shutil
import signal
import sqlite3
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

from aurora_memory.store.tables import TABLES
from aurora_protocol.launch import listening
from tests.e2e.product import Product, eventually, product_in
from tests.memory import test_damage as damage
from tests.torture.fatal_calls import FatalCalls
from tests.torture.imports import difference, recorded, state_of, teach
from tests.torture.workspace import SECONDS, answers, ended, workspace

KILLS = 4
"""Deaths of one trial."""
DAMAGES = ("header", "index", "end")
SEEN: Counter[str] = Counter()
"""Deaths, by what was damaged, and whether the repair had come to its end."""


def mend(chance: random.Random, folder: Path) -> None:
    """A damaged memory, with its repository's record or without, whose repair is killed several times."""
    root = workspace(folder)
    how, alone = chance.choice(DAMAGES), chance.random() < 0.5
    with product_in(folder / "home") as product:
        calls = FatalCalls(product, folder)
        product.json("index", cwd=root)
        teach(product, root)
        recorded(product)
        assert product.aurora("daemon", "stop", cwd=root).returncode == 0
        ended(product)
        (path,) = product.databases()
        _damage(chance, path, how)
        if alone:
            shutil.rmtree(product.home / "records")
        left = folder / "left"
        shutil.copytree(product.home, left)
        with calls.daemon():
            eventually(lambda: listening(product.address), "it listens")
            before = calls.count()
            _repaired(product, root)
            recorded(product)
            total = calls.count() - before
        whole = state_of(product)
        where = f"{how}{', without a record' if alone else ''}, {total} calls"
        assert how == "end" or sum(whole.values()) >= 400, f"{where}: {sum(whole.values())} saved"
        deaths = 0
        while deaths < KILLS:
            shutil.rmtree(product.home)
            shutil.copytree(left, product.home)
            for _ in range(chance.choice((1, 1, 2, 3))):
                with calls.daemon():
                    eventually(lambda: listening(product.address), "it listens")
                    SEEN[f"{how}, {_killed(product, root, chance, calls, total)}"] += 1
                deaths += 1
            calls.arm(0)
            _check(product, root, whole, where)
        calls.close()
        print(f"  mend: {where}: {deaths} deaths, {dict(SEEN)}", flush=True)


def _damage(chance: random.Random, path: Path, how: str) -> None:
    """Harm that takes no learned row that is not at the file's end."""
    if how == "end":
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - damage.PAGE * chance.choice((1, 2)))
        return
    with closing(sqlite3.connect(path)) as db:
        derived = {table.name for table in TABLES if table.nature == "derived"}
        roots = [root for name, root in db.execute("SELECT name, rootpage FROM sqlite_master") if name in derived]
    page = 1 if how == "header" else chance.choice(roots)
    with path.open("r+b") as file:
        file.seek((page - 1) * damage.PAGE)
        file.write(chance.randbytes(100 if how == "header" else damage.PAGE))


def _killed(product: Product, root: Path, chance: random.Random, calls: FatalCalls, total: int) -> str:
    """Begin a repair of which the daemon or the command is killed; what came of it."""
    of_command = chance.random() < 0.2
    calls.arm(0 if of_command else chance.randrange(1, total + 1))
    command = product.start("doctor", "--repair", cwd=root)
    if of_command:
        time.sleep(chance.uniform(0.05, 1.0))
        command.send_signal(signal.SIGKILL)
    said, complaint = command.communicate(timeout=SECONDS)
    assert "Traceback" not in said + complaint, complaint[-900:]
    assert command.returncode in (0, 1, 3, -signal.SIGKILL), f"{said[-900:]}{complaint[-900:]}"
    return "told as done" if command.returncode == 0 else "not told"


def _repaired(product: Product, root: Path) -> str:
    done = product.aurora("doctor", "--repair", cwd=root, seconds=SECONDS)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


def _check(product: Product, root: Path, whole: Counter[object], where: str) -> None:
    _repaired(product, root)
    again = _repaired(product, root)
    assert "was damaged" not in again, f"{where}: repaired and damaged: {again}"
    answers(product, root)
    recorded(product)
    doctor = product.aurora("doctor", cwd=root, seconds=SECONDS)
    assert doctor.returncode == 0, f"{where}: {doctor.stdout}{doctor.stderr}"
    assert product.aurora("daemon", "stop", cwd=root).returncode == 0
    ended(product)
    found = state_of(product)
    assert found == whole, f"{where}: {difference(whole, found)}"
    product.check_databases()
    files = {each.name for each in (product.home / "memory").iterdir()}
    ours = {each for each in files if each.endswith((".db", "-wal", "-shm", "-journal")) or ".db.damaged-" in each}
    assert files == ours, f"{where}: left behind {files - ours}"
