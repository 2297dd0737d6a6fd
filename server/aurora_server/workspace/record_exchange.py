"""Exchange (two-way sync) between a workspace's memory and its repository's record: what was learned here goes into it,
what was learned in another work tree, a clone or by a colleague comes out of it.

One task per workspace, woken by what was learned and by others' entries. The memory's transactional outbox
(`store.record_outbox`) is emptied only when the record has its lines on the disk; what is taken in moves the memory's
position in one transaction. A daemon that is killed anywhere between does it again, which changes nothing: idempotent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from aurora_memory import StoreCorrupt, StoreError
from aurora_memory.record.entry import Entry, EntryDraft
from aurora_memory.record.line_key import KINDS, line_key, line_of, loose_key
from aurora_memory.record.people import people
from aurora_memory.record.places import in_repository, in_workspace
from aurora_memory.record.record_file import Record
from aurora_memory.record.renewal import Renewed
from aurora_memory.store import Store, record_outbox, record_position
from aurora_memory.store.export_format import ExportLine, ReasoningLine, write_line
from aurora_memory.store.forgotten_rows import Judge
from aurora_memory.store.record_position import RecordPosition
from aurora_protocol.secret_mask import masked_struct
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.record_place import OwnerUntold, RecordPlace
from aurora_server.workspace.shared_records import SharedRecord, SharedRecords

logger = logging.getLogger(__name__)

AT_ONCE = 100
"""Lines that are recorded, or taken in, in one transaction: whoever else writes waits for it."""

AGAIN_SECONDS = 30.0
"""Seconds after which what failed is tried again, unless something is learned before."""

_KINDS = tuple(sorted(KINDS))
_Row = tuple[int, str, float, str]
_Told = tuple[int, ExportLine, str]
"""Line of a record: the entry's number, what it says here, and its author."""


class RecordExchange:
    """Exchange of one workspace. `ready` waits until its files are known; `more_came` hears that something was taken
    in, and whether something was forgotten; `colleagues` gets their names. `problem` is why it does not go on;
    `passing` says that the next try, which comes by itself, may go well. `close` it before the store. Belongs to the
    event loop's thread.
    """

    def __init__(
        self,
        root: Path,
        store: Store,
        records: SharedRecords,
        ready: Callable[[], Awaitable[object]],
        more_came: Callable[[bool], Awaitable[None]],
        colleagues: Colleagues,
    ) -> None:
        self.problem: str | None = None
        self.passing = False
        self.place: RecordPlace | None = None
        self._root = root
        self._store = store
        self._records = records
        self._ready = ready
        self._more_came = more_came
        self._colleagues = colleagues
        self._shared: SharedRecord | None = None
        self._joining: asyncio.Future[tuple[SharedRecord, RecordPlace]] | None = None
        self._damaged = self._files_known = False
        self._own: set[str] = set()
        self._heard = self._taken = 0
        self._wake = asyncio.Event()
        self._turn = asyncio.Lock()
        self._leave = store.on_learned(self._wake.set)
        self._wake.set()
        self._task = asyncio.create_task(self._work(), name=f"record of {root}")

    async def close(self) -> None:
        """Stop, when what was learned last is in the record."""
        self._leave()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self._joining is not None:
            await asyncio.gather(self._join(self._joining), return_exceptions=True)
        try:
            if self._shared is None and self.problem is None:
                # Learned before the files were known: a job of CI ends then, and nobody would ever hear of it.
                rows = await self._store.read(record_outbox.waiting, 0, 1)
                if rows:
                    self._shared, self.place = await self._records.join(self._root, self._hear)
                    await self._position(self._shared.record)
            if self._shared is not None:
                await self._record_learned(self._shared)
        except (StoreError, OSError) as error:
            logger.warning("not recorded", extra={"root": str(self._root), "error": str(error)})
        finally:
            if self._shared is not None:
                await self._records.leave(self._shared, self._hear)

    async def checked(self) -> str | None:
        """What is wrong with the record's file; None where it is sound, or not open."""
        return await asyncio.to_thread(self._shared.record.fault) if self._shared is not None else None

    async def repair(self) -> Renewed | None:
        """Make a damaged record anew, of what can be read of it and of this memory; None where it was sound.

        Raises a StoreError.
        """
        async with self._turn:
            if not self._damaged and await self.checked() is None:
                return None
            renewed = await self._records.renew(self._root)
        self._damaged = False
        self._wake.set()
        await self.settled()
        return renewed

    async def catch_up(self) -> None:
        """Take in what another process appended a moment ago, if any did, before something is told after it: what
        follows a `team forget` stands by what that left.

        While the files are not known yet, only what was forgotten goes: the rest needs their definitions.
        """
        try:
            if self._shared is not None:
                self._shared.look()
                if self._taken != self._heard:
                    await (self._exchange() if self._files_known else self._meet())
            elif self.problem is None:
                await self._meet()
        except StoreError as error:
            self._fail(error)

    async def settled(self) -> None:
        """Exchange now, and wait for it. Raises a StoreError."""
        await self._ready()
        self._files_known = True
        await self._exchange()

    def _hear(self) -> None:
        """Hear that more is in the record."""
        self._heard += 1
        self._wake.set()

    async def _work(self) -> None:
        """Loop of the task: exchange when woken; after a failure retry in a while."""
        await self._ready()
        self._files_known = True
        while True:
            try:
                async with asyncio.timeout(AGAIN_SECONDS if self.problem else None):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            try:
                await self._exchange()
            except StoreError as error:
                self._fail(error)
            except Exception as error:  # what is in the outbox stays there, and memory goes on without the record
                logger.exception("record not exchanged", extra={"root": str(self._root)})
                self.problem, self.passing = f"{type(error).__name__}: {error}", False

    def _fail(self, error: StoreError) -> None:
        """Failure of an exchange, logged once per cause."""
        self._damaged = isinstance(error, StoreCorrupt) and self._shared is None
        self.passing = isinstance(error, OwnerUntold)
        if self.problem != str(error):
            logger.warning("record not exchanged", extra={"root": str(self._root), "error": str(error)})
        self.problem = str(error)

    async def _exchange(self) -> None:
        """One exchange, both ways: what was learned goes in, what others learned comes."""
        async with self._turn:
            shared = await self._joined()
            heard = self._heard
            await self._take_in(shared, await self._forget(shared))
            self._taken = heard
            self._colleagues.names = await asyncio.to_thread(people, shared.record)
            self.problem = None

    async def _meet(self) -> None:
        """Exchange what needs no files: what was learned here goes in, and what was forgotten goes."""
        async with self._turn:
            await self._forget(await self._joined())

    async def _joined(self) -> SharedRecord:
        """Record of the repository, opened when first needed."""
        if self._shared is None:
            self._joining = self._joining or asyncio.ensure_future(self._records.join(self._root, self._hear))
            await self._join(self._joining)
        assert self._shared is not None
        return self._shared

    async def _join(self, joining: asyncio.Future[tuple[SharedRecord, RecordPlace]]) -> None:
        """Wait for the record; who gives up meanwhile leaves it to `close`."""
        try:
            await asyncio.shield(joining)
        finally:  # a record that came in the moment in which one gave up is here, too, and somebody has to leave it
            if joining.done():
                self._joining = None
                if not joining.cancelled() and joining.exception() is None:
                    self._shared, self.place = joining.result()

    async def _record_learned(self, shared: SharedRecord) -> None:
        """Outbox drained: what was learned is appended to the record, page by page."""
        assert self.place is not None
        while rows := await self._store.read(record_outbox.waiting, 0, AT_ONCE):
            made, problems = await asyncio.to_thread(_record, shared.record, rows, self.place.below)
            for problem in problems:
                logger.warning("a line cannot be recorded", extra={"root": str(self._root), "problem": problem})
            self._own.update(each.id for each in made)
            await self._store.forget_recorded([row[0] for row in rows])
            if made:
                shared.tell(but=self._hear)
                self._records.appended.set()

    async def _forget(self, shared: SharedRecord) -> RecordPosition:
        """Record what was learned, then take out of memory what is forgotten; where it is in the record afterwards."""
        at = await self._position(shared.record)
        await self._record_learned(shared)
        assert self.place is not None
        forgotten = await asyncio.to_thread(shared.record.forgotten)
        if forgotten != at.forgotten:
            judge = await asyncio.to_thread(_judge, shared.record, self.place.below)
            at = RecordPosition(at.record, _KINDS, 0, forgotten)
            gone = await self._store.forget_rows(judge, at)
            logger.info("forgotten", extra={"root": str(self._root), "rows": gone})
            await self._more_came(True)
        return at

    async def _take_in(self, shared: SharedRecord, at: RecordPosition) -> None:
        """Consumer: take in others' entries page by page, each with the position after it in one transaction."""
        assert self.place is not None
        came = False
        while True:
            page = await asyncio.to_thread(_page, shared.record, at.number, self._own, self.place.below)
            if page is None:
                break
            reached, own, lines = page
            self._own -= own
            at = RecordPosition(at.record, _KINDS, reached, at.forgotten)
            if any(isinstance(line, ReasoningLine) for _, line, _ in lines):
                lines = [*lines, *await self._waiting(shared.record)]
            if lines:
                await self._store.take_in_record([each[:2] for each in lines], at, authors=self._others(lines))
                came = True
            else:
                await self._store.keep_record_position(at)
        if came:
            await self._more_came(False)

    def _others(self, lines: Sequence[_Told]) -> dict[int, str]:
        """The authors of what colleagues told; one's own, from whichever machine, are none."""
        assert self.place is not None
        return {number: author for number, _, author in lines if author != self.place.author}

    async def _waiting(self, record: Record) -> list[_Told]:
        """Entries that wait for a pattern, of which one came now."""
        assert self.place is not None
        numbers = await self._store.read(record_position.unread)
        found = await asyncio.to_thread(record.numbered, numbers)
        return await asyncio.to_thread(_lines, found, self.place.below)

    async def _position(self, record: Record) -> RecordPosition:
        """Cursor of this memory in the record: the beginning where it knew another, or understood less."""
        known = await self._store.read(record_position.position)
        if known is not None and known.record == record.mark and known.kinds == _KINDS:
            return known
        begun = RecordPosition(record.mark, _KINDS)
        if known is None or known.record != record.mark:
            await self._store.begin_record(begun)
        return begun


def _record(record: Record, rows: Sequence[_Row], below: str) -> tuple[list[Entry], list[str]]:
    """Append rows of an outbox to the record; the new entries, and what is wrong with rows that are no lines."""
    lines, problems = record_outbox.lines_of(rows)
    drafts: list[EntryDraft] = []
    for each in lines:
        try:
            body = write_line(in_repository(masked_struct(each.line), below)).decode().rstrip("\n")
            kind = str(line_of(body).__struct_config__.tag)
        except (StoreError, ValueError) as error:
            problems.append(f"{type(each.line).__name__}: {error}")
            continue
        drafts.append(EntryDraft(kind, body, each.at))
    return record.append(drafts, only_new=True), problems


def _judge(record: Record, below: str) -> Judge:
    """What says of lines of a memory whether the record has forgotten them."""
    keys, loose = record.forgotten_keys(-1), record.loosely_forgotten()

    def judge(lines: Sequence[ExportLine]) -> list[bool]:
        placed = [in_repository(each, below) for each in lines]
        return [line_key(each) in keys or loose_key(each) in loose for each in placed]

    return judge


def _page(record: Record, number: int, own: set[str], below: str) -> tuple[int, set[str], list[_Told]] | None:
    """Entries after a number: the last one's, the ids of those that came from here, and the lines of the others."""
    found = record.after(number, AT_ONCE)
    if not found:
        return None
    ours = {entry.id for _, entry in found if entry.id in own}
    return found[-1][0], ours, _lines([each for each in found if each[1].id not in ours], below)


def _lines(found: Sequence[tuple[int, Entry]], below: str) -> list[_Told]:
    lines = (
        (number, in_workspace(masked_struct(line_of(each.body)), below), each.author)
        for number, each in found
        if each.kind in KINDS
    )
    return [(number, line, author) for number, line, author in lines if line is not None]
