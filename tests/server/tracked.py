"""What a daemon has written of deliverables, read from its memory file: for tests."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_validation import read
from aurora_deliverables.events import Event
from aurora_deliverables.reducer import fold


def events_in(home: Path, change_id: str | None = None) -> list[Event]:
    """Every event that is on disk, in the order of arrival."""
    found: list[Event] = []
    for file in (home / "memory").glob("*.db"):
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
            rows = db.execute("SELECT body FROM deliverable_events ORDER BY number").fetchall()
        found += [read(body) for (body,) in rows]
    return [event for event in found if change_id in (None, event.change_id)]


def deliverable_in(home: Path, change_id: str) -> Deliverable | None:
    """What the events of a deliverable amount to."""
    return fold(events_in(home, change_id))
