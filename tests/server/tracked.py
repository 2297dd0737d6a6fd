"""What a daemon has written of deliverables, read from its memory file: for tests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_validation import read
from aurora_deliverables.events import Event
from aurora_deliverables.reducer import fold

_READ: dict[Path, tuple[tuple[int, ...], list[Event]]] = {}
"""What was read of a file, and when that and its log were written: who waits for an event looks many times."""


def events_in(home: Path, change_id: str | None = None) -> list[Event]:
    """Every event that is on disk, in the order of arrival."""
    found: list[Event] = []
    for file in (home / "memory").glob("*.db"):
        written = _written(file)
        if file not in _READ or _READ[file][0] != written:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
                rows = db.execute("SELECT body FROM deliverable_events ORDER BY number").fetchall()
            _READ[file] = written, [read(body) for (body,) in rows]
        found += _READ[file][1]
    return [event for event in found if change_id in (None, event.change_id)]


def _written(file: Path) -> tuple[int, ...]:
    """When a database and its log were written last, and their lengths."""
    looks = [each.stat() for each in (file, file.with_name(f"{file.name}-wal")) if each.exists()]
    return tuple(number for look in looks for number in (look.st_ino, look.st_mtime_ns, look.st_size))


def deliverable_in(home: Path, change_id: str) -> Deliverable | None:
    """What the events of a deliverable amount to."""
    return fold(events_in(home, change_id))
