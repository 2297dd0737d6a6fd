"""Registry of tables (schema catalogue): of each its columns, what may be lost of it, which chunks it speaks of and how
it travels.

Whatever looks after a memory file reads this and nothing else: a new table is a migration and a row of `TABLES`, a new
learned one also a type of line in `export_format`. Columns that do not travel are named in `Table.here`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Literal

import msgspec
from msgspec import Struct

from aurora_memory.documents import ReasoningDocument
from aurora_memory.store.export_format import (
    AccessLine,
    ArchivedLine,
    BoostLine,
    DeliverableLine,
    DifficultLine,
    EscalatedLine,
    ExportLine,
    LogLine,
    ReasoningLine,
    RunLine,
    UseLine,
)
from aurora_protocol import typed

Nature = Literal["learned", "derived", "local"]
"""Nature of a table: whether it can be lost.

`learned`: nothing makes it again, and it travels to other machines. `derived`: made of files, git, a model or learned
tables. `local`: nothing makes it again, and it means nothing on another machine.
"""

Orphans = Literal["drop", "recover", "keep"]
"""Fate of a row whose chunk is not there, when a file is mended: it goes, brings its chunk back, or stays without."""


class ChunkColumn(Struct, frozen=True):
    """Column that holds row ids of `chunks`.

    A chunk that a row `holds` is put aside, not deleted, when it vanishes from its file; its rows move to a copy of it.
    """

    column: str
    orphans: Orphans = "drop"
    holds: bool = False


class Carried(Struct, frozen=True):
    """Form of a table's rows on their way to another machine.

    A field of `line` has the value of the column of its name, or of the one that `columns` names; a ChunkKey stands for
    a row id. `where` narrows the table's learned rows, `order` makes one memory give the same lines always. `write` is
    the statement of the import, by names of columns: what is known already must count as no change. Where `select` is
    given, those columns of `source` are the fields.

    `told_by` are the fields that say which row a line speaks of, by which the repository's record knows two words on
    one thing; None for what no record holds. `beside` are fields that only a record's lines have.
    """

    line: type[ExportLine]
    order: tuple[str, ...]
    told_by: tuple[str, ...] | None
    columns: Mapping[str, str] = {}
    where: str = ""
    write: str = ""
    select: tuple[str, ...] = ()
    source: str = ""
    beside: tuple[str, ...] = ()

    @property
    def tag(self) -> str:
        """Name of the type of line in the file."""
        return str(self.line.__struct_config__.tag)

    @property
    def fields(self) -> tuple[msgspec.structs.FieldInfo, ...]:
        """Fields of the line that a row of the table tells."""
        return _fields(self.line, self.beside)


@cache
def _fields(line: type[ExportLine], beside: tuple[str, ...]) -> tuple[msgspec.structs.FieldInfo, ...]:
    """What msgspec works out anew each time, once: an import asks for every line."""
    return tuple(each for each in msgspec.structs.fields(line) if each.name not in beside)


class Table(Struct, frozen=True, kw_only=True):
    """Table of a memory file. `key` is the first column of its primary key, in whose order a damaged table is read.

    `rows` is a condition on the learned rows where not all are; `emptied`: a rebuild deletes what is not learned, and
    the next sweep makes it again. `here` are learned columns that only this file understands. `intact` looks at a row
    of a damaged file. `sums` are the columns whose checksum is kept, where not simply all of a learned or local table.
    """

    name: str
    key: str
    columns: tuple[str, ...]
    nature: Nature
    rows: str = ""
    emptied: bool = False
    references: tuple[ChunkColumn, ...] = ()
    carried: Carried | None = None
    here: tuple[str, ...] = ()
    intact: Callable[[Mapping[str, Any]], bool] | None = None
    sums: tuple[str, ...] = ()

    @property
    def sealed(self) -> tuple[str, ...]:
        """Columns whose checksum is kept (`row_sums`); none of what can be made again."""
        return self.sums or (() if self.nature == "derived" else self.columns)

    @property
    def sealed_rows(self) -> str:
        """SQL condition on the rows whose checksum is kept; "" for all."""
        return "" if self.sums else self.rows

    @property
    def orphans(self) -> str:
        """SQL condition on rows that speak of a chunk that is not there; "" where none can."""
        return " OR ".join(
            f"NOT EXISTS (SELECT 1 FROM chunks WHERE chunks.id = {self.name}.{each.column})"
            for each in self.references
            if each.orphans != "keep"
        )


def _has_document(row: Mapping[str, Any]) -> bool:
    try:
        typed.decode(row["json"], ReasoningDocument)
    except msgspec.DecodeError:
        return False
    return True


def _has_event(row: Mapping[str, Any]) -> bool:
    try:
        typed.decode(row["body"])
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


_OF_CHUNK = (ChunkColumn("chunk_id"),)
_HELD = (ChunkColumn("chunk_id", holds=True),)

TABLES: tuple[Table, ...] = (
    Table(
        name="documents",
        key="chunk_id",
        columns=("chunk_id", "pattern", "fingerprint", "json"),
        nature="learned",
        references=(ChunkColumn("chunk_id", orphans="recover"),),
        intact=_has_document,
        here=("chunk_id", "pattern", "fingerprint"),  # the last two are told by the document
        carried=Carried(
            ReasoningLine,
            ("chunk_id",),
            (),  # by its pattern and its decomposition (`record.line_key`)
            {"document": "json"},
            select=("coalesce(chunks.changed_at, 0)", "documents.json"),
            source="documents JOIN chunks ON chunks.id = documents.chunk_id",
        ),
    ),
    Table(
        name="accesses",
        key="id",
        columns=("id", "chunk_id", "at", "kind"),
        nature="learned",
        references=_HELD,
        here=("id",),
        carried=Carried(
            AccessLine,
            ("id",),
            ("chunk", "at", "kind"),
            {"chunk": "chunk_id"},
            write="""INSERT INTO accesses (chunk_id, at, kind) SELECT :chunk_id, :at, :kind WHERE NOT EXISTS
                     (SELECT 1 FROM accesses WHERE chunk_id = :chunk_id AND at = :at AND kind = :kind)""",
        ),
    ),
    Table(
        name="boosts",
        key="chunk_id",
        columns=("chunk_id", "run_id", "at", "amount"),
        nature="learned",
        references=_HELD,
        carried=Carried(
            BoostLine,
            ("at", "run_id", "chunk_id"),
            ("chunk", "run"),
            {"chunk": "chunk_id", "run": "run_id"},
            write="""INSERT INTO boosts (chunk_id, run_id, at, amount) VALUES (:chunk_id, :run_id, :at, :amount)
                     ON CONFLICT DO UPDATE SET at = excluded.at, amount = excluded.amount
                     WHERE (excluded.at, excluded.amount) > (boosts.at, boosts.amount)""",
        ),
    ),
    Table(
        name="relations",
        key="from_id",
        columns=("from_id", "kind", "to_id", "weight"),
        nature="learned",
        rows="relations.kind = 'used'",
        emptied=True,
        references=(ChunkColumn("from_id"), ChunkColumn("to_id", holds=True)),
        carried=Carried(
            UseLine,
            ("from_id", "to_id"),
            ("reasoning", "chunk"),
            {"reasoning": "from_id", "chunk": "to_id"},
            where="relations.from_id IN (SELECT id FROM chunks WHERE kind = 'reasoning')",
            write="""INSERT INTO relations (from_id, kind, to_id, weight) VALUES (:from_id, 'used', :to_id, :weight)
                     ON CONFLICT DO UPDATE SET weight = excluded.weight WHERE excluded.weight > relations.weight""",
        ),
    ),
    Table(
        name="runs",
        key="id",
        columns=("id", "at", "outcome", "score", "query", "reasoning_id"),
        nature="learned",
        references=(ChunkColumn("reasoning_id", orphans="keep"),),
        carried=Carried(
            RunLine,
            ("at", "id"),
            ("id",),
            {"reasoning": "reasoning_id"},
            # Two stories of one run: the earlier one, in whatever order they come.
            write="""INSERT INTO runs (id, at, outcome, score, query, reasoning_id)
                     VALUES (:id, :at, :outcome, :score, :query, :reasoning_id)
                     ON CONFLICT DO UPDATE SET at = excluded.at, outcome = excluded.outcome, score = excluded.score,
                       query = excluded.query, reasoning_id = excluded.reasoning_id
                     WHERE (excluded.at, excluded.outcome, excluded.score, excluded.query)
                       < (runs.at, runs.outcome, runs.score, runs.query)
                       OR (excluded.reasoning_id IS NOT NULL AND runs.reasoning_id IS NULL
                         AND (excluded.at, excluded.outcome, excluded.score, excluded.query)
                           = (runs.at, runs.outcome, runs.score, runs.query))""",
        ),
    ),
    Table(
        name="difficult",
        key="signature",
        columns=("signature", "query", "failures", "last_score", "last_at"),
        nature="learned",
        carried=Carried(DifficultLine, ("last_at", "signature"), ("signature",)),
    ),
    Table(
        name="chunks",
        key="id",
        columns=(
            *("id", "path", "name", "ordinal", "leaf", "kind", "parent", "language", "line_start", "line_end"),
            *("signature", "docstring", "complexity", "branches", "loops", "keywords", "body_hash", "shape_hash"),
            *("tokens", "part_count", "changed_at", "gone_at", "archived_at", "lead"),
        ),
        nature="learned",  # of those that something was learned of; the files tell the rest
        rows="chunks.archived_at IS NOT NULL",
        sums=("id", "path", "name", "ordinal", "kind", "archived_at"),  # of all: something may be learned of any
        carried=Carried(
            ArchivedLine,
            ("id",),
            ("chunk",),
            {"chunk": "id", "at": "archived_at"},
            # What was of use after it went into the archive elsewhere is not archived here.
            write="""UPDATE chunks SET archived_at = :archived_at
                     WHERE id = :id AND (archived_at IS NULL OR archived_at < :archived_at) AND NOT EXISTS
                     (SELECT 1 FROM accesses WHERE chunk_id = chunks.id AND at > :archived_at)""",
        ),
    ),
    Table(
        name="escalations",
        key="chunk_id",
        columns=("chunk_id", "action", "at"),
        nature="learned",
        references=_OF_CHUNK,
        carried=Carried(
            EscalatedLine,
            ("at", "chunk_id", "action"),
            ("chunk", "action"),
            {"chunk": "chunk_id"},
            write="""INSERT INTO escalations (chunk_id, action, at) VALUES (:chunk_id, :action, :at)
                     ON CONFLICT DO UPDATE SET at = excluded.at WHERE excluded.at < escalations.at""",
        ),
    ),
    Table(
        name="log_index",
        key="term",
        columns=("term", "file", "line_start", "line_end", "section", "phase", "keyword", "topic", "query_id"),
        nature="learned",
        carried=Carried(LogLine, ("file", "line_start", "term"), None),  # the logs lie in one work tree only,
    ),
    Table(
        name="deliverable_events",
        key="number",
        columns=("number", "id", "change_id", "at", "received_at", "source", "body"),
        nature="learned",
        intact=_has_event,
        here=("number",),
        carried=Carried(DeliverableLine, ("number",), ("id",), beside=("folder",)),
    ),
    Table(
        name="facts",
        key="key",
        columns=("key", "value"),
        nature="local",
        rows="facts.key IN ('root', 'git_root', 'reviewed_at')",  # others speak of what is indexed
    ),
    Table(name="outbox", key="change_id", columns=("change_id", "ended_at", "sent_at"), nature="local"),
    Table(name="unrecorded", key="number", columns=("number", "type", "at", "told"), nature="local"),
    Table(name="unread_entries", key="number", columns=("number",), nature="derived"),
    Table(name="others_accesses", key="access_id", columns=("access_id", "author"), nature="local"),
    Table(name="others_runs", key="run_id", columns=("run_id", "author"), nature="local"),
    Table(
        name="others_patterns",
        key="chunk_id",
        columns=("chunk_id", "author"),
        nature="local",
        references=_OF_CHUNK,
    ),
    Table(
        name="former_places",
        key="path",
        columns=("path", "name", "ordinal", "chunk_id"),
        nature="derived",  # without it what is told of a former place waits there
        references=_OF_CHUNK,
    ),
    Table(name="heard_changes", key="change_id", columns=("change_id",), nature="local"),
    Table(
        name="files",
        key="id",
        columns=(
            *("id", "path", "language", "size", "mtime_ns", "content_hash", "syntax_errors", "imports", "indexed_at"),
            "mark",
        ),
        nature="derived",
    ),
    Table(
        name="skips",
        key="path",
        columns=("path", "reason", "detail", "size", "mtime_ns", "mark"),
        nature="derived",
        emptied=True,
    ),
    Table(
        name="parts",
        key="id",
        columns=("id", "chunk_id", "line_start", "line_end", "occurrences"),
        nature="derived",
        emptied=True,
        references=_OF_CHUNK,
    ),
    Table(name="blocks", key="block", columns=("block", "parts", "dead"), nature="derived", emptied=True),
    Table(name="postings", key="block", columns=("block", "term", "entries"), nature="derived", emptied=True),
    Table(
        name="refs",
        key="chunk_id",
        columns=("chunk_id", "name", "kind", "qualifier"),
        nature="derived",
        emptied=True,
        references=_OF_CHUNK,
    ),
    Table(
        name="unresolved",
        key="chunk_id",
        columns=("chunk_id",),
        nature="derived",
        emptied=True,
        references=_OF_CHUNK,
    ),
    Table(
        name="deliverable_folds",
        key="change_id",
        columns=("change_id", "number", "mark", "body"),
        nature="derived",
        emptied=True,
    ),
    Table(
        name="git_commits",
        key="id",
        columns=("id", "hash", "at", "subject", "files", "sweeping", "settled"),
        nature="derived",
    ),
    Table(name="git_messages", key="rowid", columns=("terms",), nature="derived"),
    Table(
        name="changes",
        key="chunk_id",
        columns=("chunk_id", "commit_id", "changed"),
        nature="derived",
        references=_OF_CHUNK,
    ),
    Table(
        name="embeddings",
        key="chunk_id",
        columns=("chunk_id", "model", "body_hash", "vector"),
        nature="derived",
        references=_OF_CHUNK,
    ),
    Table(name="row_sums", key="sum", columns=("sum",), nature="derived"),
    Table(
        name="reasoning_words",
        key="rowid",
        columns=("query", "pattern", "subgoals", "keywords", "tools"),
        nature="derived",
    ),
)
"""Every table of a memory file. The carried ones stand in the order of an export: what is named comes first."""


def carried() -> Iterator[tuple[Table, Carried]]:
    """The tables that travel, in the order of an export, each with the form of its lines."""
    return ((table, table.carried) for table in TABLES if table.carried is not None)


def held() -> str:
    """SQL condition on rows of `chunks`: something was learned of the chunk that outlives it."""
    return " OR ".join(
        f"EXISTS (SELECT 1 FROM {table.name} WHERE {table.name}.{column} = chunks.id{_and(table.rows)})"
        for table, column in holding()
    )


def holding() -> list[tuple[Table, str]]:
    """The tables whose rows outlive the chunk they speak of, each with the column that says which chunk it is."""
    return [(table, each.column) for table in TABLES for each in table.references if each.holds]


def spoken_of() -> str:
    """SQL condition on rows of `chunks`: something learned names the chunk, or was written into its row."""
    named = [
        f"chunks.id IN (SELECT {each.column} FROM {table.name} WHERE {each.column} IS NOT NULL{_and(table.rows)})"
        for table in TABLES
        if table.nature == "learned"
        for each in table.references
    ]
    return " OR ".join((*named, CHUNKS.rows))


def _and(condition: str) -> str:
    return f" AND {condition}" if condition else ""


CHUNKS = next(table for table in TABLES if table.name == "chunks")
