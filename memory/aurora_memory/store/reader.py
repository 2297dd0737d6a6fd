"""Reading memory: candidates by words and names, chunks, their history and relations. Never writes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from aurora_memory.activation import USUAL
from aurora_memory.chunks import Import
from aurora_memory.relations import Definition
from aurora_memory.store.conversation_log_index import LogReading
from aurora_memory.store.deliverable_log import DeliverableLogReading
from aurora_memory.store.embeddings import EmbeddingReading
from aurora_memory.store.history import HistoryReader
from aurora_memory.store.learned_reader import LearnedReading
from aurora_memory.store.lifespan_facts import LifespanReading
from aurora_memory.store.postings import decode_occurrences
from aurora_memory.store.reader_thread import as_list
from aurora_memory.store.rows import FileStat, decode_imports
from aurora_memory.store.word_index_reader import WordIndex

_FIELDS = (
    "id, path, name, kind, language, line_start, line_end, signature, docstring, parent, complexity, branches, loops, "
    "keywords, tokens, changed_at"
)
_SKETCH = "id, path, name, kind, parent, line_start, line_end, changed_at"
_CHUNK = f"SELECT {_FIELDS} FROM chunks"


class ChunkView(Struct, frozen=True, array_like=True):
    """One live chunk as recall and hovers need it. Lines are 1-based, inclusive."""

    id: int
    path: str
    name: str
    kind: str
    language: str
    line_start: int
    line_end: int
    signature: str
    docstring: str
    parent: str | None
    complexity: str
    branches: int
    loops: int
    keywords: str
    tokens: int
    changed_at: float | None


class Sketch(Struct, frozen=True, array_like=True):
    """What of a live chunk its rank depends on: a third of what reading all of it costs."""

    id: int
    path: str
    name: str
    kind: str
    parent: str | None
    line_start: int
    line_end: int
    changed_at: float | None


class Link(Struct, frozen=True, array_like=True):
    """A relation as it is followed: from one chunk (row id) to another, in its own direction or against it."""

    source: int
    target: int
    kind: str
    weight: float
    forward: bool


class PartView(Struct, frozen=True, array_like=True):
    """A searchable part: its number in the word index, its lines, and its packed counts by term."""

    number: int
    line_start: int
    line_end: int
    occurrences: dict[str, int]


class Edge(Struct, frozen=True, array_like=True):
    """A relation seen from one chunk: `outgoing` when that chunk is the one that calls, contains, …"""

    kind: str
    outgoing: bool
    weight: float
    other: ChunkView


class Reader(LearnedReading, LogReading, LifespanReading, EmbeddingReading, DeliverableLogReading):
    """Read-only questions to one memory file, on a connection of its own."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.words = WordIndex(self._rows)
        self.history = HistoryReader(self._rows, self._single)
        self.weighing = USUAL
        """By which numbers what is read is weighed."""

    async def open(self) -> None:
        """Connect to the file as it is now, and keep nothing of what an earlier one said."""
        await super().open()
        self.forget_words()

    def forget_words(self) -> None:
        """Read the whole word index anew: it was made again, and nothing in a block says so."""
        self.words = WordIndex(self._rows)

    async def files(self) -> dict[str, FileStat]:
        """Every indexed file with the stat and content hash it was indexed at."""
        rows = await self._rows("SELECT path, size, mtime_ns, content_hash FROM files")
        return {path: FileStat(size, mtime, digest) for path, size, mtime, digest in rows}

    async def files_at(self, paths: Sequence[str]) -> dict[str, FileStat]:
        """Those of `paths` that are indexed files, and the files below those that are folders."""
        found: dict[str, FileStat] = {}
        for path in paths:
            rows = await self._rows(
                "SELECT path, size, mtime_ns, content_hash FROM files WHERE path = ? OR (path > ? AND path < ?)",
                (path, f"{path}/", f"{path}0"),  # "0" is the character after "/"
            )
            found.update({known: FileStat(size, mtime, digest) for known, size, mtime, digest in rows})
        return found

    async def skips(self) -> dict[str, tuple[str, str, FileStat]]:
        """Every file that was looked into and left out: reason, detail, stat."""
        rows = await self._rows("SELECT path, reason, detail, size, mtime_ns FROM skips")
        return {path: (reason, detail, FileStat(size, mtime)) for path, reason, detail, size, mtime in rows}

    async def counts(self) -> dict[str, Any]:
        """The fields of `Counts`."""
        kinds = await self._lasting(
            "SELECT kind, count(*) FROM chunks WHERE gone_at IS NULL AND kind != 'reasoning' GROUP BY kind"
        )
        languages = await self._lasting("SELECT language, count(*) FROM files GROUP BY language")
        rest = await self._lasting(
            """SELECT (SELECT count(*) FROM skips WHERE reason != 'no-language'), (SELECT count(*) FROM unresolved),
                      (SELECT count(*) FROM accesses)"""
        )
        return {
            "files": sum(count for _, count in languages),
            "chunks": sum(count for _, count in kinds),
            "kinds": dict(kinds),
            "languages": dict(languages),
            "skipped": rest[0][0],
            "unresolved": rest[0][1],
            "accesses": rest[0][2],
        }

    async def fact(self, key: str) -> str | None:
        """A small fact kept with `Store.remember`."""
        rows = await self._rows("SELECT value FROM facts WHERE key = ?", (key,))
        return rows[0][0] if rows else None

    async def named(self, names: Sequence[str], limit: int = 50) -> list[ChunkView]:
        """Live chunks whose simple or qualified name is one of `names`, whatever the case."""
        marks = ", ".join("?" * len(names))
        leaves = [name.rsplit(".", 1)[-1] for name in names]
        rows = await self._rows(
            f"""{_CHUNK} WHERE gone_at IS NULL AND leaf COLLATE NOCASE IN ({marks})
                AND (leaf COLLATE NOCASE IN ({marks}) OR name COLLATE NOCASE IN ({marks})) LIMIT ?""",
            (*leaves, *names, *names, limit),
        )
        return [ChunkView(*row) for row in rows]

    async def name_prefix(self, prefix: str, limit: int) -> list[ChunkView]:
        """Live chunks whose simple name starts with `prefix`, shortest names first (`workspace/symbol`)."""
        end = prefix[:-1] + chr(ord(prefix[-1].lower()) + 1) if prefix else "\U0010ffff"
        rows = await self._rows(
            f"""{_CHUNK} WHERE gone_at IS NULL AND leaf COLLATE NOCASE >= ? AND leaf COLLATE NOCASE < ?
                AND kind NOT IN ('module', 'section', 'reasoning') ORDER BY length(leaf), leaf, path LIMIT ?""",
            (prefix, end, limit),
        )
        return [ChunkView(*row) for row in rows]

    async def chunks(self, ids: Sequence[int]) -> dict[int, ChunkView]:
        """Live chunks by row id."""
        rows = await self._rows(
            f"{_CHUNK} WHERE id IN (SELECT value FROM json_each(?)) AND gone_at IS NULL", (as_list(ids),)
        )
        return {row[0]: ChunkView(*row) for row in rows}

    async def remainders(self) -> list[int]:
        """The row ids of all files' remainders."""
        return [
            row[0] for row in await self._lasting("SELECT id FROM chunks WHERE kind = 'module' AND gone_at IS NULL")
        ]

    async def sketches(self, ids: Sequence[int]) -> list[Sketch]:
        """As `chunks`, in the order of their ids: for ranking many of which few are shown."""
        rows = await self._rows(
            f"SELECT {_SKETCH} FROM chunks WHERE id IN (SELECT value FROM json_each(?)) AND gone_at IS NULL",
            (as_list(ids),),
        )
        return [Sketch(*row) for row in rows]

    async def chunks_of(self, path: str) -> list[ChunkView]:
        """A file's live chunks in line order."""
        rows = await self._rows(f"{_CHUNK} WHERE path = ? AND gone_at IS NULL ORDER BY line_start, id", (path,))
        return [ChunkView(*row) for row in rows]

    async def by_name(self, path: str, name: str) -> list[ChunkView]:
        """A file's live chunks of that qualified name: one, unless it is overloaded."""
        rows = await self._rows(
            f"{_CHUNK} WHERE path = ? AND name = ? AND gone_at IS NULL ORDER BY line_start", (path, name)
        )
        return [ChunkView(*row) for row in rows]

    async def changed_since(self, since: float, limit: int) -> list[ChunkView]:
        """Live chunks whose text was edited at or after a moment (Unix seconds), latest first."""
        rows = await self._rows(
            f"""{_CHUNK} WHERE changed_at >= ? AND gone_at IS NULL AND kind != 'reasoning'
                ORDER BY changed_at DESC, id LIMIT ?""",
            (since, limit),
        )
        return [ChunkView(*row) for row in rows]

    async def files_like(self, ending: str, limit: int = 20) -> list[str]:
        """Indexed files whose path is `ending`, or ends with it after a `/`; shortest paths first."""
        rows = await self._rows(
            """SELECT path FROM files WHERE path = ?1 OR substr(path, -length(?2)) = ?2
               ORDER BY length(path), path LIMIT ?3""",
            (ending, f"/{ending}", limit),
        )
        return [row[0] for row in rows]

    async def accesses(self, ids: Sequence[int]) -> dict[int, list[float]]:
        """Access times (Unix seconds, oldest first) of those chunks that have any."""
        rows = await self._rows(
            "SELECT chunk_id, at FROM accesses WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY at",
            (as_list(ids),),
        )
        found: dict[int, list[float]] = {}
        for chunk_id, at in rows:
            found.setdefault(chunk_id, []).append(at)
        return found

    async def mtimes(self, paths: Sequence[str]) -> dict[str, float]:
        """Modification times (Unix seconds) the files had when they were indexed."""
        rows = await self._rows(
            "SELECT path, mtime_ns FROM files WHERE path IN (SELECT value FROM json_each(?))", (as_list(paths),)
        )
        return {path: mtime_ns / 1e9 for path, mtime_ns in rows}

    async def links(self, ids: Sequence[int], hub: int) -> list[Link]:
        """The relations of some chunks, both ways; where a chunk has more than `hub` one way, none of those."""
        rows = await self._rows(
            """WITH wanted AS (
                 SELECT value AS id,
                   (SELECT count(*) FROM (SELECT 1 FROM relations WHERE from_id = value LIMIT ?2)) AS ahead,
                   (SELECT count(*) FROM (SELECT 1 FROM relations WHERE to_id = value LIMIT ?2)) AS behind
                 FROM json_each(?1))
               SELECT from_id, to_id, kind, weight, 1 FROM wanted CROSS JOIN relations ON from_id = id WHERE ahead < ?2
               UNION ALL
               SELECT to_id, from_id, kind, weight, 0 FROM wanted CROSS JOIN relations ON to_id = id
               WHERE behind < ?2""",
            (as_list(ids), hub + 1),
        )
        return [Link(source, target, kind, weight, bool(forward)) for source, target, kind, weight, forward in rows]

    async def parts_of(self, ids: Sequence[int]) -> dict[int, list[PartView]]:
        """The searchable parts of some chunks, in line order."""
        rows = await self._rows(
            """SELECT chunk_id, id, line_start, line_end, occurrences FROM parts
               WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY line_start, id""",
            (as_list(ids),),
        )
        found: dict[int, list[PartView]] = {}
        for chunk_id, number, line_start, line_end, blob in rows:
            found.setdefault(chunk_id, []).append(PartView(number, line_start, line_end, decode_occurrences(blob)))
        return found

    async def caller_counts(self, ids: Sequence[int]) -> dict[int, int]:
        """How many chunks call each of those."""
        rows = await self._rows(
            """SELECT to_id, count(*) FROM relations
               WHERE kind = 'calls' AND to_id IN (SELECT value FROM json_each(?)) GROUP BY to_id""",
            (as_list(ids),),
        )
        return dict(rows)

    async def edges(self, chunk_id: int, limit: int = 50) -> list[Edge]:
        """A chunk's relations both ways, surest first, at most `limit` each way."""
        found: list[Edge] = []
        columns = ", ".join(f"chunks.{column.strip()}" for column in _FIELDS.split(","))
        for mine, other, outgoing in (("from_id", "to_id", True), ("to_id", "from_id", False)):
            rows = await self._rows(
                f"""SELECT relations.kind, relations.weight, {columns}
                    FROM relations JOIN chunks ON chunks.id = relations.{other}
                    WHERE relations.{mine} = ? AND chunks.gone_at IS NULL
                    ORDER BY relations.weight DESC, chunks.path, chunks.line_start LIMIT ?""",
                (chunk_id, limit),
            )
            found.extend(Edge(kind, outgoing, weight, ChunkView(*rest)) for kind, weight, *rest in rows)
        return found

    async def references(self, chunk_id: int) -> list[tuple[str, str, str]]:
        """(kind, name, qualifier) of everything a chunk mentions."""
        return [
            tuple(row)
            for row in await self._rows(
                "SELECT kind, name, qualifier FROM refs WHERE chunk_id = ? ORDER BY name", (chunk_id,)
            )
        ]

    async def imports(self, path: str) -> tuple[Import, ...]:
        """What a file imports, in order."""
        rows = await self._rows("SELECT imports FROM files WHERE path = ?", (path,))
        return decode_imports(rows[0][0]) if rows else ()

    async def definitions(self, name: str, limit: int = 500) -> list[Definition]:
        """The live chunks of that simple name, as something to refer to."""
        rows = await self._rows(
            """SELECT id, path, name, leaf, parent, kind, language FROM chunks
               WHERE gone_at IS NULL AND leaf COLLATE NOCASE = ? AND leaf = ? LIMIT ?""",
            (name, name, limit),
        )
        return [Definition(*row) for row in rows]

    async def callers_in(self, path: str) -> dict[int, list[ChunkView]]:
        """For each of a file's chunks (by row id) the chunks that call it or inherit from it."""
        columns = ", ".join(f"other.{column.strip()}" for column in _FIELDS.split(","))
        rows = await self._rows(
            f"""SELECT relations.to_id, {columns} FROM chunks AS mine
                JOIN relations ON relations.to_id = mine.id AND relations.kind IN ('calls', 'inherits')
                JOIN chunks AS other ON other.id = relations.from_id
                WHERE mine.path = ? AND mine.gone_at IS NULL AND other.gone_at IS NULL
                ORDER BY relations.weight DESC, other.path, other.line_start""",
            (path,),
        )
        found: dict[int, list[ChunkView]] = {}
        for to_id, *other in rows:
            found.setdefault(to_id, []).append(ChunkView(*other))
        return found

    async def names_with(self, letters: str, limit: int = 5000) -> list[str]:
        """Simple names of live chunks with `letters` in them, whatever the case, for "did you mean"."""
        rows = await self._rows(
            "SELECT DISTINCT leaf FROM chunks WHERE gone_at IS NULL AND instr(lower(leaf), ?) LIMIT ?",
            (letters.lower(), limit),
        )
        return [row[0] for row in rows]
