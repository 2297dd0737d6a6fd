"""Records that this daemon has open: one handle per repository, reference counted and shared by every workspace of its
work trees and clones.

Who appends tells the others at once; that another process appended is seen by the file's marks, once a second.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from aurora_memory.record.record_file import Record, file_marks
from aurora_memory.record.renewal import Renewed, renew
from aurora_memory.record.secret_exchange import exchange_secrets
from aurora_server.workspace.record_place import RecordPlace, open_record, record_place

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Seconds between two looks at whether another process appended."""

Hear = Callable[[], None]


class SharedRecord:
    """Record of one repository, open for several workspaces, of which `root` was the first. Belongs to the event loop's
    thread.
    """

    def __init__(self, record: Record, root: Path) -> None:
        self.record = record
        self.root = root
        self.listeners: list[Hear] = []
        self._marks = file_marks(record.path)
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)

    def tell(self, but: Hear | None = None) -> None:
        """Broadcast to everybody, but who says it, that more is in the record."""
        self._marks = file_marks(self.record.path)
        for hear in tuple(self.listeners):
            if hear != but:
                hear()

    def end(self) -> None:
        """Look no more."""
        self._timer.cancel()

    def look(self) -> None:
        """Tell everybody if another process appended."""
        if self._marks != file_marks(self.record.path):
            self.tell()

    def _look(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._look)
        self.look()


class SharedRecords:
    """Records that are open. `home` is AURORA_HOME; `appended` is set when something was learned here."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.appended = asyncio.Event()
        self._open: dict[Path, SharedRecord] = {}
        self._turn = asyncio.Lock()

    async def join(self, root: Path, hear: Hear) -> tuple[SharedRecord, RecordPlace]:
        """Open the record of a workspace's repository, or share it; `hear` is told when more is in it.

        Raises a StoreError.
        """
        place = await record_place(root, self.home)
        async with self._turn:
            shared = self._open.get(place.path)
            if shared is None:
                shared = self._open[place.path] = SharedRecord(await asyncio.to_thread(_opened, place), root)
            shared.listeners.append(hear)
        return shared, place

    async def renew(self, root: Path) -> Renewed:
        """Set the damaged record of a workspace's repository aside, for a new one with what can be read of it.

        Who has it open goes on with the new one, and puts into it what its memory knows. Raises a StoreError.
        """
        place = await record_place(root, self.home)
        async with self._turn:
            shared = self._open.get(place.path)
            if shared is not None:
                await asyncio.to_thread(shared.record.close)
            renewed = await asyncio.to_thread(renew, place.path, place.repository, place.author, place.machine)
            if shared is not None:
                shared.record = await asyncio.to_thread(_opened, place)
                shared.tell()
        return renewed

    async def leave(self, shared: SharedRecord, hear: Hear) -> None:
        """Release of a handle: be told no more; who leaves last closes the file."""
        async with self._turn:
            shared.listeners.remove(hear)
            if not shared.listeners:
                shared.end()
                self._open.pop(shared.record.path, None)
                await asyncio.to_thread(shared.record.close)

    def opened(self) -> list[SharedRecord]:
        """Every record that is open now."""
        return list(self._open.values())


def _opened(place: RecordPlace) -> Record:
    """The record of a place, without secrets of today's rules. Blocks; raises a StoreError."""
    record = open_record(place)
    try:
        exchanged = exchange_secrets(record)
    except BaseException:
        record.close()
        raise
    if exchanged:
        logger.info("secrets taken out", extra={"path": str(place.path), "entries": exchanged})
    return record
