"""Faults by the dozen, seeded: memory files cut, flipped, emptied or removed; daemons killed and stopped.

    python -m tests.torture [--seed N] [--seconds S] [--only NAME]

Each trial has a seed of its own. What fails is told with the line that repeats it alone, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from aurora_memory import StoreError
from aurora_memory.store import Store
from tests.e2e.product import Product, product_in
from tests.memory import test_damage as damage

CODE = "def {}(x):\n    return x + {}\n"


def cut(chance: random.Random, folder: Path) -> None:
    """A file cut anywhere: every event whose text is whole before the cut is saved, and nothing is invented."""
    raw, everything = _memory()
    place = chance.randrange(1, len(raw))
    found = asyncio.run(damage.saved(folder / "memory.db", raw[:place]))
    assert all(found[name] <= everything[name] for name in found), f"invented after a cut at {place}"
    whole = raw[: place // damage.PAGE * damage.PAGE]
    readable = {row for row in everything["deliverable_events"] if row[-1].encode() in whole}
    assert readable <= found["deliverable_events"], f"not saved after a cut at {place}"


def flip(chance: random.Random, folder: Path) -> None:
    """Changed bits, one or a few: where a learned row reads otherwise the check says so; each costs a row at most."""
    raw, everything = _memory()
    bits = [(chance.randrange(len(raw)), chance.randrange(8)) for _ in range(chance.choice((1, 1, 1, 3)))]
    flipped = bytearray(raw)
    for at, bit in bits:
        flipped[at] ^= 1 << bit
    path = folder / "memory.db"
    path.write_bytes(flipped)
    faults = asyncio.run(_faults(path))
    same = False
    with suppress(Exception):
        same = damage.learned(path) == everything
    assert same or faults, f"{bits}: called sound"
    for each in folder.iterdir():
        each.unlink()
    found = asyncio.run(damage.saved(path, bytes(flipped)))
    assert all(found[name] <= everything[name] for name in found), f"{bits}: invented"
    lost = sum(map(len, everything.values())) - sum(map(len, found.values()))
    assert lost <= len(bits), f"{bits}: {lost} rows lost"


def scribble(chance: random.Random, folder: Path) -> None:
    """Pages overwritten: the rest is saved, within seconds, and nothing is invented."""
    raw, everything = _memory()
    pages = chance.sample(range(len(raw) // damage.PAGE), chance.choice((1, 2, 5)))
    torn = bytearray(raw)
    for page in pages:
        torn[page * damage.PAGE : (page + 1) * damage.PAGE] = chance.choice(
            (bytes(damage.PAGE), chance.randbytes(4096))
        )
    found = asyncio.run(damage.saved(folder / "memory.db", bytes(torn)))
    assert all(found[name] <= everything[name] for name in found), f"{pages}: invented"


def kill(chance: random.Random, folder: Path) -> None:
    """A daemon killed while it learns: what it acknowledged is there, its workers end, the next command works."""
    with product_in(folder / "home") as product:
        root = _workspace(folder)
        product.json("index", cwd=root)
        told: list[str] = []
        (daemon,) = product.daemons()
        until = time.monotonic() + chance.uniform(0.0, 0.5)
        with suppress(Exception), product.session(root) as session:
            while True:
                name = f"event-{len(told)}"
                if time.monotonic() > until:
                    daemon.send_signal(signal.SIGKILL)
                event = {"event": "deliverable.detected", "id": name, "change_id": "x", "at": "2026-01-01T00:00:00Z"}
                answer = session.request("aurora/deliverable", {"action": "ingest", "lines": [event]}, timeout=10)
                if not answer.get("accepted"):
                    break
                told.append(name)
        with suppress(psutil.NoSuchProcess):
            daemon.kill()
        psutil.wait_procs([daemon], 10)
        _ended(product)
        assert product.json("mem", "second_one", cwd=root)["results"][0]["name"] == "second_one"
        product.aurora("daemon", "stop", cwd=root)
        (database,) = product.databases()
        known = {str(row[1]) for row in damage.learned(database)["deliverable_events"]}
        assert set(told) <= known, f"{len(set(told) - known)} of {len(told)} acknowledged events are lost"
        product.check_databases()


def stop(chance: random.Random, folder: Path) -> None:
    """A daemon that was stopped in its work (SIGSTOP): `daemon stop` ends it, and nothing of it is left."""
    with product_in(folder / "home") as product:
        root = _workspace(folder)
        product.json("index", cwd=root)
        time.sleep(chance.uniform(0.0, 0.3))
        (daemon,) = product.daemons()
        daemon.suspend()
        product.aurora("daemon", "stop", cwd=root, seconds=60)
        _ended(product)
        assert product.json("mem", "second_one", cwd=root)["results"][0]["name"] == "second_one"


def pull(chance: random.Random, folder: Path) -> None:
    """A memory file removed, emptied or cut under its daemon: `doctor` says so, and `doctor --repair` mends it once."""
    with product_in(folder / "home") as product:
        root = _workspace(folder)
        product.json("index", cwd=root)
        (database,) = product.databases()
        how = chance.choice(("remove", "empty", "halve"))
        if how == "remove":
            for each in database.parent.iterdir():
                each.unlink()
        else:
            raw = database.read_bytes()
            database.write_bytes(raw[: len(raw) // 2] if how == "halve" else b"")
        before = product.aurora("doctor", cwd=root)
        assert before.returncode != 0, f"{how}: called sound: {before.stdout}"
        mended = product.aurora("doctor", "--repair", cwd=root)
        after = product.aurora("doctor", cwd=root)
        assert after.returncode == 0, f"{how}: {mended.stdout}{mended.stderr}\n{after.stdout}{after.stderr}"
        assert product.json("mem", "second_one", cwd=root)["results"][0]["name"] == "second_one", how
        product.check_databases()


TRIALS: tuple[tuple[int, Callable[[random.Random, Path], None]], ...] = (
    (4, cut),
    (8, flip),
    (3, scribble),
    (1, kill),
    (1, stop),
    (2, pull),
)
"""How often each comes, and what it is."""

_BUILT: list[tuple[bytes, dict[str, set[tuple[object, ...]]]]] = []


def _memory() -> tuple[bytes, dict[str, set[tuple[object, ...]]]]:
    """One memory file for all trials, and what was learned in it."""
    if not _BUILT:
        with tempfile.TemporaryDirectory() as folder:
            raw = asyncio.run(damage.built(Path(folder) / "memory.db"))
            _BUILT.append((raw, damage.learned(Path(folder) / "memory.db")))
    return _BUILT[0]


async def _faults(path: Path) -> bool:
    try:
        store = await Store.open(path)
    except StoreError:
        return True
    try:
        return bool((await store.check()).faults)
    except StoreError:
        return True
    finally:
        await store.close()


def _workspace(folder: Path) -> Path:
    root = folder / "work"
    root.mkdir()
    for number, name in enumerate(("first_one", "second_one", "third_one")):
        (root / f"{name}.py").write_text(CODE.format(name, number))
    return root


def _ended(product: Product) -> None:
    until = time.monotonic() + 15
    while product.processes() and time.monotonic() < until:
        time.sleep(0.1)
    assert not product.processes(), f"left behind: {product.processes()}"


def main() -> int:
    """Run trials until the time is over; returns 1 where one failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--only", choices=[trial.__name__ for _, trial in TRIALS])
    parser.add_argument("--trials", type=int, default=1 << 20)
    wanted = parser.parse_args()
    until = time.monotonic() + wanted.seconds
    seeds = random.Random(wanted.seed)
    done: Counter[str] = Counter()
    failed: list[str] = []
    while time.monotonic() < until and done.total() < wanted.trials:
        seed = wanted.seed if wanted.only and wanted.trials == 1 else seeds.randrange(1 << 32)
        chance = random.Random(seed)
        weights, trials = zip(*TRIALS, strict=True)
        trial = chance.choices(trials, weights)[0]
        if wanted.only:
            trial = next(each for each in trials if each.__name__ == wanted.only)
        try:
            with tempfile.TemporaryDirectory(prefix="torture-") as folder:
                trial(chance, Path(folder))
        except Exception:  # noqa: BLE001 - whatever it is, the other trials go on and this one is told
            failed.append(f"python -m tests.torture --only {trial.__name__} --trials 1 --seed {seed}")
            print(f"failed: {failed[-1]}\n{traceback.format_exc()}", flush=True)
        done[trial.__name__] += 1
    print(f"torture: seed {wanted.seed}, {dict(done)}, {len(failed)} failed", *failed, sep="\n  ")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
