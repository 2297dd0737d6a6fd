"""`make bench-deliverables`: throughput of a log of 100,000 events taken in, folded, measured; beside what SQLite and
msgspec need.

Three ways to come: in time, and in any order over many deliverables or over one.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import msgspec

from aurora_deliverables.choices import PHASES
from aurora_deliverables.deliverables import Deliverables
from aurora_deliverables.events import (
    AgentIdentity,
    Ended,
    Event,
    EventBody,
    PhaseStarted,
    Started,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.metrics import DAY, measure
from aurora_memory.store import Store
from tests.benchmarks import measures

EVENTS = 100_000
BATCH = 1000
NOON = 1_765_540_800.0


def made(events: int, deliverables: int, chance: random.Random) -> list[Event]:
    """A log of so many events, by time: every deliverable goes through all phases."""
    each = events // deliverables
    log: list[Event] = []
    for number in range(deliverables):
        at = NOON - 10 * DAY * chance.random()
        planned: list[EventBody] = [Started(f"change {number}", chance.choice(["feature", "bugfix"]))]
        marks = {round(place * (each - 2) / len(PHASES)): phase for place, phase in enumerate(PHASES)}
        for place in range(each - 2):
            what: EventBody = ToolCalled(chance.choice(["bash", "file_edit", "grep"]))
            if place in marks:
                what = PhaseStarted(marks[place])
            elif chance.random() < 0.2:
                what = TokensUsed(900, 100, cost_usd=0.01)
            planned.append(what)
        planned.append(Ended("completed" if chance.random() < 0.9 else "failed"))
        agent = AgentIdentity(chance.choice(["claude-code", "cursor"]), "some-model")
        for place, what in enumerate(planned):
            at += chance.random() * 30
            log.append(Event(f"{number}-{place}", f"change-{number}", at, what, f"session-{number}", agent))
    return sorted(log, key=lambda event: event.at)


def floor(log: list[Event], folder: Path) -> float:
    """Seconds to encode the events and to put them into a table with the same keys, and nothing else."""

    def plain() -> None:
        with closing(sqlite3.connect(folder / "floor.db", isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("CREATE TABLE events (n INTEGER PRIMARY KEY, id TEXT UNIQUE, change TEXT, at REAL, body TEXT)")
            db.execute("CREATE INDEX events_change ON events (change)")
            for start in range(0, len(log), BATCH):
                some = log[start : start + BATCH]
                db.execute("BEGIN")
                db.executemany(
                    "INSERT INTO events (id, change, at, body) VALUES (?, ?, ?, ?)",
                    [(each.id, each.change_id, each.at, msgspec.json.encode(each).decode()) for each in some],
                )
                db.execute("COMMIT")

    return measures.timed(plain)


async def taken_in(log: list[Event], path: Path, batch: int = BATCH) -> tuple[Store, Deliverables, float]:
    """A store with the log in it, and the seconds that took."""
    store = await Store.open(path)
    deliverables = Deliverables(store, time.time)
    begun = time.perf_counter()
    for start in range(0, len(log), batch):
        await deliverables.record(log[start : start + batch])
    return store, deliverables, time.perf_counter() - begun


async def measured(deliverables: Deliverables) -> tuple[float, int]:
    """Seconds from the question to the metrics, and how many deliverables they are of."""
    begun = time.perf_counter()
    metrics = measure(await deliverables.all(), NOON)
    return time.perf_counter() - begun, metrics.window.deliverables


async def run(events: int) -> None:
    chance = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="aurora-bench-") as name:
        folder = Path(name)
        log = made(events, max(1, events // 200), chance)
        print(f"{len(log)} events of {max(1, events // 200)} deliverables, {BATCH} at once")
        least = floor(log, folder)
        store, deliverables, seconds = await taken_in(log, folder / "ordered.db")
        print(
            f"in time: {seconds:.2f} s = {seconds / least:.1f} x plain encode and insert, "
            f"{len(log) / seconds:,.0f} events/s (>= 5,000)"
        )
        warm, members = await measured(deliverables)
        print(f"metrics of {members} in the window, folds in mind: {warm * 1e3:.1f} ms (<= 200)")
        again, _ = await measured(Deliverables(store, time.time))
        print(f"metrics after a kill, last folds kept before it: {again * 1e3:.0f} ms")
        await deliverables.close()
        cold, _ = await measured(Deliverables(store, time.time))
        print(f"metrics after a stop, folds kept: {cold * 1e3:.0f} ms (<= 200)")
        await store.close()
        few = log[:2000]
        store, _, seconds = await taken_in(few, folder / "single.db", 1)
        print(f"one at once: {len(few) / seconds:,.0f} events/s")
        await store.close()
        for what, some in (("many deliverables", log), ("one deliverable", made(events, 1, chance))):
            chance.shuffle(some)
            store, _, seconds = await taken_in(some, folder / f"{what}.db")
            print(f"in any order, {what}: {seconds:.2f} s, {len(some) / seconds:,.0f} events/s")
            await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    asyncio.run(run(parser.parse_args().events))


if __name__ == "__main__":
    main()
