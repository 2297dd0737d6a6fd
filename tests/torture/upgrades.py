"""Kills within an upgrade (schema migration): memory files and records of older shapes are taken over by a daemon that
is killed in the middle of it, again and again; in the end all of it is there, once, as after one that nobody disturbed.
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from aurora_memory.record import record_migrations
from aurora_memory.store import migrations
from aurora_memory.store.row_sums import row_sum
from aurora_protocol.client import Client
from aurora_server.configuration.settings import Settings
from aurora_server.workspace.memory_settings import database_path
from tests.e2e.product import Product, product_in
from tests.e2e.repositories import commit, git
from tests.memory.runs import NOON
from tests.torture.fatal_calls import FatalCalls, asked
from tests.torture.workspace import SECONDS, ended, kept

SAMPLES = Path(__file__).parents[1] / "memory" / "samples"
ROWS = 400
"""Learned rows that an upgrade has to carry."""
KILLS = 6
"""Deaths of one trial."""
UNDONE: dict[int, tuple[str, ...]] = {
    11: ("ALTER TABLE chunks DROP COLUMN lead",),
    10: ("DROP INDEX chunks_gone",),
    8: ("DROP TRIGGER chunks_former_places", "DROP TABLE former_places"),
    7: ("DROP TABLE others_patterns",),
}
"""What takes a memory file one shape back, by the shape it then has."""
UNDONE_RECORD: dict[int, tuple[str, ...]] = {
    2: ("ALTER TABLE entries DROP COLUMN moment",),
    1: ("DROP TABLE keys", "ALTER TABLE forgotten DROP COLUMN loose"),
}
"""The same of a record."""
SEEN: Counter[str] = Counter()
"""Where deaths were, by the state that they left: for people, and for the test that most of them disturb something."""


def upgrade(chance: random.Random, folder: Path) -> None:
    """A memory of an older shape, alone or with an older record, whose upgrade is killed several times."""
    memory, record = chance.choice(((3, 0), (6, 0), (7, 1), (7, 2), (8, 1), (8, 2), (9, 1), (10, 2), (11, 2)))
    with product_in(folder / "home") as product:
        calls = FatalCalls(product, folder)
        root = _sample(product, folder, memory) if memory < 7 else _taken_back(product, folder, memory, record)
        left = folder / "left"
        shutil.copytree(product.home, left)
        with calls.daemon() as daemon:
            assert _upgraded(product, daemon, root)
        total, whole = calls.count(), _state(product)
        where = f"memory of shape {memory}, record of {record or 'none'}, {total} calls"
        assert sum(whole.values()) >= ROWS, where
        deaths = 0
        while deaths < KILLS:
            shutil.rmtree(product.home)
            shutil.copytree(left, product.home)
            for _ in range(chance.choice((1, 1, 2, 3))):
                calls.arm(chance.randrange(1, total + 1))
                with calls.daemon() as daemon:
                    _upgraded(product, daemon, root)
                deaths += 1
                SEEN[_stands(product)] += 1
            calls.arm(0)
            _check(product, root, whole, where)
        calls.close()
        print(f"  upgrade: {where}: {deaths} deaths, {dict(SEEN)}", flush=True)


def _check(product: Product, root: Path, whole: Counter[Any], where: str) -> None:
    session = product.session(root)  # one that ends before its workspace is open opens none
    until = time.monotonic() + SECONDS
    while not _settled(product) and time.monotonic() < until:
        time.sleep(0.05)
    session.close()
    doctor = product.aurora("doctor", cwd=root, seconds=SECONDS)
    assert doctor.returncode == 0, f"{where}: {doctor.stdout}{doctor.stderr}"
    assert product.aurora("daemon", "stop", cwd=root).returncode == 0
    ended(product)
    product.check_databases()
    found = _state(product)
    lost, more = whole - found, found - whole
    if lost or more:
        raise AssertionError(
            f"{where}: lost {sum(lost.values())}, {str(list(lost.items())[:2])[:600]}; more {sum(more.values())}, "
            f"{str(list(more.items())[:2])[:600]}; the home is kept as {kept(product)}"
        )
    ours = (".db", ".bak", ".db-wal", ".db-shm")
    left = [each.name for each in (product.home / "memory").iterdir() if not each.name.endswith(ours)]
    assert not left, f"{where}: left behind {left}"


def _upgraded(product: Product, daemon: subprocess.Popen[bytes], root: Path) -> bool:
    """Whether a daemon came to the end of the upgrade."""

    def settle(client: Client) -> bool:
        until = time.monotonic() + SECONDS
        while not _settled(product):
            client.request("aurora/status", timeout=SECONDS)  # which fails when it dies
            assert time.monotonic() < until, "it does not come to its end"
            time.sleep(0.01)
        return True

    return asked(product, daemon, root, settle) is True


def _settled(product: Product) -> bool:
    """Whether files have today's shapes, and the record has all of the memory."""
    (path,) = product.databases()
    records = _records(product)
    try:
        with closing(opened(path)) as db:
            if _shape(db) != len(migrations.MIGRATIONS) or not records:
                return False
            if db.execute("SELECT count(*) FROM unrecorded").fetchone() != (0,):
                return False
            if not db.execute("SELECT 1 FROM facts WHERE key = 'indexed_at'").fetchone():
                return False
        with closing(opened(records[0])) as db:
            if _shape(db) != len(record_migrations.MIGRATIONS):
                return False
            return bool(db.execute("SELECT count(*) FROM entries").fetchone()[0] >= ROWS)
    except sqlite3.Error:
        return False


def _stands(product: Product) -> str:
    """How far an upgrade came before a death."""
    (path,) = product.databases()
    copies = [each.name for each in path.parent.glob("*.bak*")]
    try:
        with closing(opened(path)) as db:
            shape = _shape(db)
            waiting = db.execute("SELECT count(*) FROM unrecorded").fetchone()[0] if shape > 6 else -1
    except sqlite3.Error:
        return "unreadable for others"
    if shape < len(migrations.MIGRATIONS):
        return f"shape {shape}, {'copied' if any(each.endswith('.bak') for each in copies) else 'not copied'}"
    for each in _records(product):
        with closing(opened(each)) as db:
            if _shape(db) < len(record_migrations.MIGRATIONS):
                return "record of an older shape"
            if waiting or db.execute("SELECT count(*) FROM entries").fetchone()[0] < ROWS:
                return "record not complete"
            return "upgraded, at other work"
    return "no record yet"


def _state(product: Product) -> Counter[Any]:
    """What was learned, in the memory and in the record."""
    (path,) = product.databases()
    found: Counter[Any] = Counter()
    with closing(opened(path)) as db:
        for table, columns in (
            ("accesses", "at, kind"),
            ("runs", "id, query, score"),
            ("deliverable_events", "id, body"),
            ("documents", "pattern, json"),
            ("difficult", "signature, query, failures"),
            ("boosts", "run_id, at, amount"),
        ):
            found.update((table, *row) for row in db.execute(f"SELECT {columns} FROM {table}"))
    found.update(("entry", *each) for each in bodies(product))
    return found


def bodies(product: Product) -> list[tuple[str, str]]:
    """Kind and body of each entry of its record."""
    found: list[tuple[str, str]] = []
    for each in _records(product):
        with closing(opened(each)) as db:
            found += db.execute("SELECT kind, body FROM entries").fetchall()
    return found


def _records(product: Product) -> list[Path]:
    return [each for each in (product.home / "records").glob("*.sqlite") if each.stem != "repositories"]


def opened(path: Path) -> sqlite3.Connection:
    """A file of SQLite, to be read."""
    db = sqlite3.connect(path, timeout=SECONDS)
    db.execute("PRAGMA query_only = 1")
    return db


def _shape(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _shop(folder: Path) -> Path:
    shop = folder / "shop"
    (shop / "src").mkdir(parents=True)
    git(shop, "init", "-q", "-b", "main")
    (shop / "src" / "auth.py").write_text("class Auth:\n    def login(self):\n        return 1\n")
    (shop / "src" / "cache.py").write_text("def evict(key):\n    return key\n")
    commit(shop, "the shop")
    return shop


def _sample(product: Product, folder: Path, shape: int) -> Path:
    """A memory as that version left it, with rows more."""
    shop = _shop(folder)
    path = database_path(shop, Settings(home=product.home))
    path.parent.mkdir(parents=True, mode=0o700)
    product.home.chmod(0o700)
    path.write_bytes(gzip.decompress((SAMPLES / f"memory-{shape}.db.gz").read_bytes()))
    path.chmod(0o600)
    rows = [(number, 1 + number % 2, NOON + number, "success") for number in range(100, 100 + ROWS)]
    with closing(sqlite3.connect(path)) as db, db:
        before = db.execute("SELECT value FROM facts WHERE key = 'root'").fetchone()
        db.execute("INSERT OR REPLACE INTO facts VALUES ('root', ?)", (str(shop),))
        db.executemany("INSERT INTO accesses (id, chunk_id, at, kind) VALUES (?, ?, ?, ?)", rows)
        if shape >= 6:
            db.execute("DELETE FROM row_sums WHERE sum = ?", (row_sum("facts", ("root", *before)),))
            sums = [row_sum("facts", ("root", str(shop))), *(row_sum("accesses", row) for row in rows)]
            db.executemany("INSERT INTO row_sums VALUES (?)", [(each,) for each in sums])
    return shop


def _taken_back(product: Product, folder: Path, memory: int, record: int) -> Path:
    """A memory and a record that are of today but for their shapes."""
    shop = _shop(folder)
    product.json("index", cwd=shop)
    event = {"event_type": "phase_start", "phase": "apply", "timestamp": "2026-01-01T00:00:00Z"}
    lines = [json.dumps({**event, "change_id": f"c{n % 9}", "id": f"told-{n}"}) for n in range(ROWS)]
    with product.session(shop) as session:
        assert session.request("aurora/deliverable", {"action": "ingest", "lines": lines})["refused"] == []
    until = time.monotonic() + SECONDS
    while not _settled(product):
        assert time.monotonic() < until, "the record gets all of it"
        time.sleep(0.05)
    assert product.aurora("daemon", "stop", cwd=shop).returncode == 0
    ended(product)
    (path,), (kept,) = product.databases(), _records(product)
    for file, undone, shape in ((path, UNDONE, memory), (kept, UNDONE_RECORD, record)):
        with closing(sqlite3.connect(file)) as db:
            for step in sorted((each for each in undone if each >= shape), reverse=True):
                for statement in undone[step]:
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {shape}")
            db.commit()
    return shop
