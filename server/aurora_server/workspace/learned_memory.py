"""Learned memory, on its way (export, import, adoption, restoring): what was learned, adopted from another folder,
brought back from the archive.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_indexer.indexer import Indexer
from aurora_memory.store import Store
from aurora_memory.store.memory_files import MemoryFile
from aurora_protocol.memory_methods import MemoryAdoptResult, MemoryExportResult, MemoryImportResult, OtherMemory
from aurora_server.workspace.relocate import Adoption

if TYPE_CHECKING:
    from aurora_memory.store.importer import Imported


class LearnedMemory:
    """The learned memory of one workspace. `more_came` is called when something was taken in."""

    def __init__(
        self, root: Path, store: Store, indexer: Indexer, adoption: Adoption, more_came: Callable[[], None]
    ) -> None:
        self._root = root
        self._store = store
        self._indexer = indexer
        self._adoption = adoption
        self._more_came = more_came

    async def restore(self, chunk_id: str) -> bool:
        """Bring a reasoning chunk back from the archive; False where it was not in it. Raises UnknownChunk."""
        return await self._store.restore(chunk_id, time.time())

    async def export(self, path: Path) -> MemoryExportResult:
        """Write what was learned here to a file of JSON lines (`aurora_memory.store.export_format`)."""
        await self._adoption.git_root()  # which the header says
        done = await self._store.export_learned(path, self._root.name or str(self._root))
        return MemoryExportResult(workspace=str(self._root), path=str(path), lines=done.lines)

    async def take_in(self, path: Path) -> MemoryImportResult:
        """Take in what another memory exported, once the files are known: its chunks are told by them."""
        await self._indexer.first_run()
        await self._adoption.git_root()  # by which the import knows whether it is of this repository
        done = await self._store.import_learned(path)
        self._indexer.counts = await self._store.counts()
        return await self._taken_in(done)

    async def others(self) -> list[OtherMemory]:
        """Every other memory file there is, those of this repository first."""
        mine = await self._adoption.git_root()
        return [
            OtherMemory(
                path=str(each.path),
                root=str(each.root),
                left=each.left,
                same_repository=bool(mine) and each.git_root == mine,
                learned=each.learned,
            )
            for each in await self._adoption.others()
        ]

    async def adopt(self, chosen: MemoryFile) -> MemoryAdoptResult:
        """Merge the memory of another folder into this one; nobody else may have it open."""
        await self._indexer.first_run()
        done, kept_as = await self._adoption.adopt(chosen)
        self._indexer.counts = await self._store.counts()
        kept = str(kept_as) if kept_as else None
        return MemoryAdoptResult(others=[], adopted=await self._taken_in(done), kept_as=kept)

    async def _taken_in(self, done: Imported) -> MemoryImportResult:
        self._more_came()
        mine, theirs = await self._adoption.git_root(), done.header.git_root
        return MemoryImportResult(
            workspace=str(self._root),
            source=done.header.workspace,
            lines=done.lines,
            added=done.added,
            moved=done.moved,
            waiting=done.waiting,
            left_out=done.left_out,
            same_repository=mine == theirs if mine and theirs else None,
        )
