"""Deliverables of every repository (of the whole team) that this machine has a record of, aggregated: one's own, and
those that colleagues share.

Each event counts once, whoever sent it and in however many records it lies. Blocks; run it in a thread.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from math import inf
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_validation import InvalidEvent, read
from aurora_deliverables.events import Event
from aurora_deliverables.reducer import Reducer
from aurora_memory import StoreError
from aurora_memory.record.line_key import line_of
from aurora_memory.record.people import people
from aurora_memory.record.record_file import Record
from aurora_memory.record.repositories import Repositories
from aurora_memory.store.export_format import DeliverableLine
from aurora_server.workspace.record_place import FOLDER

logger = logging.getLogger(__name__)

KIND = "deliverable"


class TeamDeliverable(Struct, frozen=True):
    """A deliverable, and the events of it, in a repository."""

    repository: str
    deliverable: Deliverable
    events: Sequence[Event]


class TeamDeliverables(Struct, frozen=True):
    """Deliverables by repository, by the names that repositories go by here; a line for each record not read."""

    known: Mapping[str, Sequence[TeamDeliverable]]
    problems: Sequence[str]

    def by_repository(self) -> dict[str, list[Deliverable]]:
        """The deliverables alone."""
        return {name: [each.deliverable for each in some] for name, some in self.known.items()}

    def all(self) -> list[TeamDeliverable]:
        """Those of all repositories."""
        return [each for some in self.known.values() for each in some]


def team_deliverables(home: Path, threshold: float, as_of: float = inf) -> TeamDeliverables:
    """Aggregation over every record of this machine, and what had happened by a time (Unix seconds).

    A record that cannot be read is told of, and costs the others nothing.
    """
    known: dict[str, list[TeamDeliverable]] = {}
    problems: list[str] = []
    counted: set[str] = set()
    for each in Repositories(home / FOLDER).records():  # what was taken over counts where it is now: that comes first
        try:
            with closing(Record.open(each.path, each.repository, "nobody", "nowhere")) as record:
                found = _deliverables(record, each.name, threshold, counted, as_of)
        except StoreError as error:
            logger.warning("record not read", extra={"path": str(each.path), "error": str(error)})
            problems.append(f"{each.path} was not read: {error}")
            continue
        if found:
            known.setdefault(found[0].repository, []).extend(found)
    return TeamDeliverables(dict(sorted(known.items())), problems)


def _deliverables(
    record: Record, name: str, threshold: float, counted: set[str], as_of: float
) -> list[TeamDeliverable]:
    """Deliverables of one record; `counted` are entries that another record had, and has these afterwards."""
    events: dict[str, Event] = {}
    told_by: dict[str, str] = {}
    for entry in record.of_kind(KIND):
        if entry.id in counted:
            continue
        counted.add(entry.id)
        line = line_of(entry.body)
        assert isinstance(line, DeliverableLine), "a record holds no line of another kind than its entry's"
        try:
            event = read(bytes(line.body))
        except InvalidEvent:  # a newer AURORA's: it counts there
            continue
        if event.id not in events or event.at < events[event.id].at:
            events[event.id] = event
        told_by.setdefault(event.change_id, entry.author)
    changes: dict[str, list[Event]] = {}
    for event in events.values():
        if event.at > as_of:
            continue
        changes.setdefault(event.change_id, []).append(event)
    named = people(record)
    found: list[TeamDeliverable] = []
    for change_id, some in changes.items():
        reducer = Reducer()
        reducer.take(some)
        deliverable = reducer.deliverable(threshold)
        if deliverable is None:
            continue
        if deliverable.author is None and told_by[change_id] in named:
            deliverable = replace(deliverable, author=named[told_by[change_id]])
        counting = sorted(
            (each for each in some if each.id not in reducer.refused), key=lambda each: (each.at, each.id)
        )
        found.append(TeamDeliverable(name, deliverable, counting))
    return found
