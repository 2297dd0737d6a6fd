"""Relocation (adoption): the memory of a workspace that was moved, renamed or cloned anew, by its repository's first
commit.

Nothing is adopted by itself: two clones may be two pieces of work. Doctor and `aurora index` only say what there is.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from aurora_indexer.git import commands
from aurora_memory import StoreError
from aurora_memory.store import Store, file_reader, learned_reader
from aurora_memory.store.memory_files import MemoryFile, memory_file, memory_files

if TYPE_CHECKING:
    from aurora_memory.store.importer import Imported

logger = logging.getLogger(__name__)

OFFER_PATIENCE = 3.0
"""Seconds that an answer waits for git, the first time, to be able to offer an older memory."""


class Adoption:
    """Adoption of another folder's memory (moved, renamed). Looks when it is made; `close` it before the store."""

    def __init__(self, root: Path, store: Store) -> None:
        self._root = root
        self._store = store
        self._offer: MemoryFile | None = None
        self._looking = asyncio.create_task(self._look(), name=f"older memory of {root}")

    async def close(self) -> None:
        """Stop looking."""
        self._looking.cancel()
        await asyncio.gather(self._looking, return_exceptions=True)

    async def offer(self) -> MemoryFile | None:
        """The memory of a folder that is gone, of this repository, while nothing was learned here yet; None without."""
        await asyncio.wait({self._looking}, timeout=OFFER_PATIENCE)
        return self._offer

    async def offer_once(self) -> MemoryFile | None:
        """The same, but only the first time that it is asked for, ever."""
        offer = await self.offer()
        if offer is None or await self._store.read(file_reader.fact, "offered") == str(offer.path):
            return None
        await self._store.remember("offered", str(offer.path))
        return offer

    async def git_root(self) -> str | None:
        """The repository's first commit, as it is kept; asked of git anew where the repository does not have that one.

        A folder whose `.git` was made anew holds another repository. Where git cannot tell, what is kept stays.
        """
        known = await self._store.read(file_reader.fact, "git_root")
        if known is not None and await commands.answer(self._root, ["cat-file", "-t", known]) is not None:
            return known
        found = await commands.root_commit(self._root)
        if found is not None and found != known:
            await self._store.remember("git_root", found)
        return found or known

    async def others(self) -> list[MemoryFile]:
        """Every other memory file there is, those of this repository first."""
        mine = await self.git_root()
        found = await asyncio.to_thread(memory_files, self._store.path.parent)
        others = [each for each in found if each.path != self._store.path]
        return sorted(others, key=lambda each: not (mine and each.git_root == mine))

    async def chosen(self, named: Path | None) -> MemoryFile:
        """The memory to adopt: the one that is offered, or `named` by its file or folder. Raises StoreError."""
        await asyncio.wait({self._looking})
        if named is not None:
            return await self._named(named)
        mine = await self.git_root()
        fitting = [each for each in await self.others() if mine and each.git_root == mine and each.learned]
        left = [each for each in fitting if each.left]
        if len(left) == 1:
            return left[0]
        if left:
            roots = ", ".join(str(each.root) for each in left)
            raise StoreError(f"several memories fit {self._root} ({roots}); name one with --from")
        raise StoreError(
            f"no memory of a folder that is gone fits {self._root}; see 'aurora memory adopt --list', then name one "
            "with --from"
        )

    async def adopt(self, chosen: MemoryFile) -> tuple[Imported, Path | None]:
        """Merge a memory into this one. Its file is kept: as `….adopted` where its folder is gone, else as it is.

        Nobody else may have it open. Returns what was new, and the file's new place if it has one.
        """
        done = await self.merge(chosen)
        self._offer = None
        kept_as = await asyncio.to_thread(_put_away, chosen)
        logger.info("memory adopted", extra={"root": str(self._root), "from": str(chosen.root)})
        return done, kept_as

    async def merge(self, other: MemoryFile) -> Imported:
        """Take in what was learned in another memory file, which stays as it is; nobody else may have it open."""
        passing = self._store.path.with_name(f".{self._store.path.name}.{os.getpid()}.adopting")
        try:
            older = await Store.open(other.path)
            try:
                await older.export_learned(passing, other.root.name or str(other.root))
            finally:
                await older.close()
            return await self._store.import_learned(passing)
        finally:
            await asyncio.to_thread(passing.unlink, missing_ok=True)

    async def _named(self, named: Path) -> MemoryFile:
        found = await asyncio.to_thread(memory_file, named) if await asyncio.to_thread(os.path.isfile, named) else None
        if found is None:
            found = next((each for each in await self.others() if each.root == named), None)
        if found is None:
            raise StoreError(f"{named} is no memory file, nor a folder with one; see 'aurora memory adopt --list'")
        if await asyncio.to_thread(_same_file, found.path, self._store.path):
            raise StoreError(f"{named} is the memory of {self._root} already; name another with --from")
        return found

    async def _look(self) -> None:
        """Search for an older memory of this repository, where nothing is learned here yet."""
        try:
            mine = await self.git_root()
            counts = await self._store.counts()
            if not mine or counts.accesses or await self._store.read(learned_reader.has_reasoning):
                return
            for each in await self.others():
                if each.git_root == mine and each.learned and each.left:
                    self._offer = each
                    return
        except StoreError as error:
            logger.warning("older memory not looked for", extra={"root": str(self._root), "error": str(error)})


def _same_file(one: Path, other: Path) -> bool:
    return one.samefile(other)


def _put_away(adopted: MemoryFile) -> Path | None:
    """Rename of an adopted memory file, under a name that is free."""
    if not adopted.left:
        return None
    target = adopted.path.with_name(f"{adopted.path.name}.adopted")
    number = 1
    while target.exists():
        number += 1
        target = adopted.path.with_name(f"{adopted.path.name}.adopted-{number}")
    try:
        adopted.path.rename(target)
    except OSError as error:
        raise StoreError(f"adopted, but {adopted.path} cannot be renamed: {error.strerror}; move it away") from error
    return target
