"""Buffers of an editor (open documents), saved or not: the definitions in each, what a name in it means, where
attention is.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from aurora_indexer import IndexerError, documents, languages
from aurora_indexer.files.safe_read import read_prefix
from aurora_indexer.workers.process_file import parse_source
from aurora_memory.chunks import CodeChunk, Import, ParsedFile
from aurora_memory.recall import Focus
from aurora_memory.store import chunk_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.store.reader_thread import ReaderThread
from aurora_memory.views import ChunkView, UsageCounts
from aurora_protocol.methods import ExplainResult
from aurora_server.workspace import explanation
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.focus import LATELY, MAX_LATELY, EditorCursor, focus_of
from aurora_server.workspace.recalled_text import MAX_CONTENT_FILE
from aurora_server.workspace.symbol_at import chunk_around, chunk_at, innermost

KEPT = 32
KEPT_CHARACTERS = 600_000
"""Characters of all buffers whose parses are kept; a parse takes some five bytes for each. The last is kept always."""
PARSE_SECONDS = 0.5


class Buffers:
    """The buffers of one workspace beside its memory. Parsed once per content, off the event loop.

    `relative` turns a path into the one that memory has, and raises StoreError for paths outside.
    """

    def __init__(self, root: Path, read: ReaderThread, relative: Callable[[Path], str], colleagues: Colleagues) -> None:
        self._root = root
        self._read = read
        self._relative = relative
        self._colleagues = colleagues
        self._kept: OrderedDict[tuple[str, bytes], ParsedFile] = OrderedDict()
        self._sizes: dict[tuple[str, bytes], int] = {}

    async def explain_at(self, path: Path, line: int, column: int, text: str | None) -> ExplainResult | None:
        """Explanation of the name at a 0-based position (column in code points). `text` is the buffer, if any."""
        return await self._explained(path, line, column, text, _explained_at)

    async def explain_around(
        self, path: Path, line: int, column: int, text: str | None, *, on_names: bool = False
    ) -> ExplainResult | None:
        """Explanation of the innermost definition around a position; `on_names`: only where a name of code stands."""
        return await self._explained(path, line, column, text, partial(_explained_around, on_names))

    async def _explained(
        self, path: Path, line: int, column: int, text: str | None, explain: Callable[..., ExplainResult | None]
    ) -> ExplainResult | None:
        relative = self._relative(path)
        source = text if text is not None else await asyncio.to_thread(_read, path)
        if source is None:
            return None
        parsed = await self._parsed(relative, source)
        chunks: Sequence[CodeChunk] = parsed.chunks if parsed else ()
        imports: Sequence[Import] = parsed.imports if parsed else ()
        return await self._read(explain, self._root, self._colleagues, relative, source, chunks, imports, line, column)

    async def outline(self, path: Path, text: str) -> list[CodeChunk]:
        """The definitions or sections of a buffer as it is now; empty for languages not known."""
        parsed = await self._parsed(self._relative(path), text)
        return list(parsed.chunks) if parsed else []

    async def usages(self, path: Path, text: str | None) -> list[tuple[CodeChunk, UsageCounts]]:
        """A file's definitions as they stand in `text`, each with how often it is used; nothing for documents."""
        relative = self._relative(path)
        if documents.for_path(relative) is not None:
            return []
        source = text if text is not None else await asyncio.to_thread(_read, path)
        parsed = await self._parsed(relative, source) if source is not None else None
        if parsed is None:
            return []
        stored, usages = await self._read(_with_usages, relative)
        ids: dict[tuple[str, int], int] = {}
        seen: Counter[str] = Counter()
        for chunk in stored:
            ids[chunk.name, seen[chunk.name]] = chunk.id
            seen[chunk.name] += 1
        return [(each, usages.get(ids.get((each.name, each.ordinal), -1), UsageCounts())) for each in parsed.chunks]

    async def focus(self, cursor: EditorCursor, now: float) -> Focus | None:
        """Focus: what the editor shows, as shares of attention."""
        relative = self._relative(cursor.path)
        own, lately = await self._read(_with_edited, relative, now - LATELY)
        around: ChunkView | None = None
        if cursor.line is not None:
            around = innermost(own, cursor.line)
            parsed = await self._parsed(relative, cursor.text) if cursor.text is not None else None
            if parsed is not None:  # lines of the buffer need not be those of the file
                unsaved = innermost(parsed.chunks, cursor.line)
                around = next((each for each in own if unsaved is not None and each.name == unsaved.name), None)
        return focus_of(around, own, lately)

    async def _parsed(self, relative: str, text: str) -> ParsedFile | None:
        """Parse of the file at `relative` with this text, cached; None where its language is not known, or time ran
        out.
        """
        source = text.encode("utf-8", "surrogatepass")
        known_language = languages.for_path(relative, languages.first_line(source)) is not None
        if not known_language and documents.for_path(relative) is None:
            return None
        key = (relative, hashlib.blake2b(source, digest_size=16).digest())
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
            return known
        try:
            parsed = await asyncio.to_thread(parse_source, relative, source, PARSE_SECONDS)
        except IndexerError:
            return None
        if parsed is not None:
            self._keep(key, parsed, len(text))
        return parsed

    def _keep(self, key: tuple[str, bytes], parsed: ParsedFile, size: int) -> None:
        """Put a parse into the cache, which evicts the least recently used (LRU)."""
        self._kept[key] = parsed
        self._sizes[key] = size
        while len(self._kept) > 1 and (len(self._kept) > KEPT or sum(self._sizes.values()) > KEPT_CHARACTERS):
            oldest, _ = self._kept.popitem(last=False)
            del self._sizes[oldest]


def _explained_at(
    reader: Reader,
    root: Path,
    colleagues: Colleagues,
    path: str,
    text: str,
    chunks: Sequence[CodeChunk],
    imports: Sequence[Import],
    line: int,
    column: int,
) -> ExplainResult | None:
    found = chunk_at(reader, path, text, chunks, imports, line, column)
    return explanation.explain_chunk(reader, root, found, colleagues) if found else None


def _explained_around(
    on_names: bool,
    reader: Reader,
    root: Path,
    colleagues: Colleagues,
    path: str,
    text: str,
    chunks: Sequence[CodeChunk],
    imports: Sequence[Import],
    line: int,
    column: int,
) -> ExplainResult | None:
    found = chunk_around(reader, chunks, line, text=text if on_names else None, column=column)
    return explanation.explain_chunk(reader, root, found, colleagues) if found else None


def _with_edited(reader: Reader, path: str, since: float) -> tuple[list[ChunkView], list[ChunkView]]:
    """A file's chunks, and those of any file that were edited since, in one call."""
    return chunk_reader.of_file(reader, path), chunk_reader.changed_since(reader, since, MAX_LATELY)


def _with_usages(reader: Reader, path: str) -> tuple[list[ChunkView], dict[int, UsageCounts]]:
    """A file's chunks, and how often each is used by its row, in one call."""
    stored = chunk_reader.of_file(reader, path)
    return stored, relation_reader.usages(reader, [chunk.id for chunk in stored])


def _read(path: Path) -> str | None:
    """The text of a file; None where it cannot be read, is large, or no file: a pipe, a device."""
    try:
        content = read_prefix(os.fspath(path), MAX_CONTENT_FILE + 1, follow=True)
    except (OSError, IndexerError):
        return None
    return content.decode("utf-8", "replace") if len(content) <= MAX_CONTENT_FILE else None
