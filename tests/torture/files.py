"""Faults of memory files (corruption): cut, flipped, overwritten, moved in time; what is readable is saved, damage is
told.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
from contextlib import suppress
from pathlib import Path

from aurora_memory import StoreError
from aurora_memory.lifespans.policies import BUILT_IN
from aurora_memory.recall import parse_question, recall
from aurora_memory.store import LoggedEvent, Store
from tests.memory import test_damage as damage
from tests.memory.runs import NOON, run

_BUILT: list[tuple[bytes, dict[str, set[tuple[object, ...]]]]] = []


def cut(chance: random.Random, folder: Path) -> None:
    """A file truncated anywhere: every event whose text is whole before the cut is saved, and nothing is invented."""
    raw, everything = _memory()
    place = chance.randrange(1, len(raw))
    found = asyncio.run(damage.saved(folder / "memory.db", raw[:place]))
    assert all(found[name] <= everything[name] for name in found), f"invented after a cut at {place}"
    whole = raw[: place // damage.PAGE * damage.PAGE]
    readable = {row for row in everything["deliverable_events"] if str(row[-1]).encode() in whole}
    assert readable <= found["deliverable_events"], f"not saved after a cut at {place}"


def flip(chance: random.Random, folder: Path) -> None:
    """Bit flips, one or a few: where a learned row reads otherwise the check says so; each costs a row at most."""
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
            (bytes(damage.PAGE), chance.randbytes(damage.PAGE))
        )
    found = asyncio.run(damage.saved(folder / "memory.db", bytes(torn)))
    assert all(found[name] <= everything[name] for name in found), f"{pages}: invented"


def clock(chance: random.Random, folder: Path) -> None:
    """A clock that jumps, years back or ahead, between all that is done to a memory: it answers, and is sound."""

    path = folder / "memory.db"
    path.write_bytes(_memory()[0])

    async def jumps() -> None:
        store = await Store.open(path)
        for number in range(12):
            now = max(
                0.0, NOON + chance.choice((-1, 1)) * 10 ** chance.uniform(0, 9.5)
            )  # what is before 1970 is no time
            match chance.randrange(4):
                case 0:
                    await store.record_accesses([1, 2], "success", now)
                case 1:
                    await store.learn(run(1000 + number, at=now))
                case 2:
                    await store.log_deliverable_events([LoggedEvent(f"j{number}", "change-1", now, now, "cli", "{}")])
                case _:
                    await store.review_lifespans(BUILT_IN, now)
            hits = await store.read(recall, parse_question("name_7"), 5, NOON + chance.uniform(-1e9, 1e9))
            assert all(hit.chunk.name for hit in hits)
        assert (await store.check()).faults == ()
        await store.close()

    asyncio.run(jumps())


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
