"""Kills of a daemon (durability, crash recovery) while it learns, takes in events and exports, and indexes: what it
acknowledged is there after.

One home is killed again and again, by several clients' work at once; nothing of an earlier round may go either.
"""

from __future__ import annotations

import json
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
from msgspec import Struct

from aurora_protocol import DaemonUnreachable, RequestFailed
from aurora_protocol.client import Client
from tests.e2e.product import Product, eventually, product_in
from tests.torture.workspace import CODE, SECONDS, answers, ended, events, tell, workspace

ROUNDS = 3
IMPORTED = 20
"""Events of one import."""
LONGEST = 3.0
"""Seconds of work before a kill."""


class Acknowledged(Struct):
    """What the daemon said it has: ids of events, questions of what was learned, definitions that were indexed."""

    events: set[str]
    learned: set[str]
    indexed: set[str]

    def count(self) -> int:
        """All of it."""
        return len(self.events) + len(self.learned) + len(self.indexed)


def kill(chance: random.Random, folder: Path) -> None:
    """A daemon killed (SIGKILL) at any moment of all its work: nothing acknowledged is lost, no process stays."""
    with product_in(folder / "home") as product:
        root = workspace(folder)
        product.json("index", cwd=root)
        done = Acknowledged(set(), set(), set())
        told: list[str] = []
        assert tell(product, root, told), "events are taken in"
        done.events.update(told)
        header = _export_header(product, root, folder)
        for number in range(ROUNDS):
            work = [
                lambda client, turn, number=number: _learn(client, f"{number} {turn}", done),
                lambda client, turn, number=number: _ingest(client, f"{number}-{turn}", done),
                lambda client, turn, number=number: _take_in(client, f"{number}-{turn}", done, header, folder),
                lambda client, turn, number=number: _index(client, f"at_{number}_{turn}", done, root),
            ]
            _kill_once(chance, product, root, work, done)
            ended(product)
            _check(product, done)
        answers(product, root)
        names = product.json("index", cwd=root)
        assert names["definitions"] >= 3 + len(done.indexed), f"{names['definitions']} of {len(done.indexed)} and 3"
        product.aurora("daemon", "stop", cwd=root)
        _check(product, done)
        product.check_databases()
        print(f"  kill: {ROUNDS} kills, {done.count()} acknowledged, 0 lost", flush=True)


def _kill_once(
    chance: random.Random, product: Product, root: Path, work: list[Callable[[Client, int], None]], done: Acknowledged
) -> None:
    """Clients at work until their daemon is killed under them."""
    product.session(root).close()
    (daemon,) = product.daemons()
    workers = eventually(lambda: [*product.processes()], "it runs")
    begun = threading.Barrier(len(work) + 1)

    def go_on(step: Callable[[Client, int], None]) -> None:
        client = product.session(root)
        begun.wait(SECONDS)
        turn = 0
        try:
            while daemon.is_running():
                step(client, turn)
                turn += 1
        except (DaemonUnreachable, RequestFailed):
            return
        finally:
            client.close()

    with ThreadPoolExecutor(len(work)) as crowd:
        clients = [crowd.submit(go_on, step) for step in work]
        begun.wait(SECONDS)
        wanted = done.count() + chance.choice((0, chance.randrange(200)))
        until = time.monotonic() + LONGEST
        while done.count() < wanted and time.monotonic() < until:
            time.sleep(0.001)
        time.sleep(chance.uniform(0.0, 0.03))
        daemon.kill()
        for client in clients:
            client.result(SECONDS)
    psutil.wait_procs([daemon, *workers], 10)


def _learn(client: Client, turn: str, done: Acknowledged) -> None:
    query = f"how are the pigeons of house {turn} fed"
    used = ["code:second_one.py:second_one"]
    client.request(
        "aurora/learn",
        {"query": query, "result": "second_one feeds them", "score": 0.95, "used": used},
        timeout=SECONDS,
    )
    done.learned.add(query)


def _ingest(client: Client, turn: str, done: Acknowledged) -> None:
    event = {"event_type": "phase_start", "phase": "apply", "change_id": "x", "timestamp": "2026-01-01T00:00:00Z"}
    answer = client.request(
        "aurora/deliverable",
        {"action": "ingest", "lines": [json.dumps({**event, "id": f"told-{turn}"})]},
        timeout=SECONDS,
    )
    assert answer["refused"] == [], answer
    done.events.add(f"told-{turn}")


def _take_in(client: Client, turn: str, done: Acknowledged, header: dict[str, object], folder: Path) -> None:
    names = [f"imported-{turn}-{each}" for each in range(IMPORTED)]
    lines = [json.dumps({**header, "lines": IMPORTED})]
    for name in names:
        body = {"id": name, "change_id": "x", "at": 1.8e9, "source": "jsonl"}
        body["what"] = {"event": "phase_start", "phase": "apply"}
        line = {"type": "deliverable", "id": name, "change_id": "x", "at": 1.8e9, "received_at": 1.8e9}
        lines.append(json.dumps({**line, "source": "jsonl", "body": body}))
    path = folder / "in.jsonl"
    path.write_text("\n".join([*lines, ""]))
    answer = client.request("aurora/memory/import", {"path": str(path)}, timeout=SECONDS)
    assert answer["added"]["deliverable"] == IMPORTED, answer
    done.events.update(names)


def _index(client: Client, name: str, done: Acknowledged, root: Path) -> None:
    path = root / f"{name}.py"
    path.write_text(CODE.format(name, 1))
    client.request("aurora/index", {"paths": [str(path)]}, timeout=SECONDS)
    done.indexed.add(name)


def _export_header(product: Product, root: Path, folder: Path) -> dict[str, object]:
    """The first line of an export of this workspace."""
    path = folder / "out.jsonl"
    product.json("memory", "export", path, cwd=root)
    header: dict[str, object] = json.loads(path.read_text().splitlines()[0])
    return header


def _check(product: Product, done: Acknowledged) -> None:
    """All that was acknowledged is in the memory file."""
    lost = done.events - events(product)
    (database,) = product.databases()
    with closing(sqlite3.connect(database)) as db:
        lost |= done.learned - {query for (query,) in db.execute("SELECT query FROM runs")}
        assert db.execute("PRAGMA quick_check").fetchall() == [("ok",)]
    assert not lost, f"{len(lost)} of {done.count()} acknowledged are lost: {sorted(lost)[:9]}"
