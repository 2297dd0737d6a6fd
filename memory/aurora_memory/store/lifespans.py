"""Lifespans in the tables (expiry, archiving): facts that verdicts go by, archive and escalations that follow (AURORA
App. C.2).

Nothing is deleted here. Functions that write take a connection and run in the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import aiosqlite
import msgspec
from msgspec import Struct

from aurora_memory.chunks import REASONING, chunk_id, type_of
from aurora_memory.documents import ReasoningDocument
from aurora_memory.lifespans import PolicyError
from aurora_memory.lifespans.facts import ChunkFacts
from aurora_memory.lifespans.lifespan import LifespanRule
from aurora_memory.lifespans.policies import retention_rules
from aurora_memory.semantic_tags import code_tags, compliance_of, knowledge_tags
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import marks
from aurora_protocol import typed

_Rows = Callable[[str, Sequence[Any]], Awaitable[list[Any]]]

_FACTS = """SELECT chunks.id, chunks.kind, path, language, complexity, keywords, changed_at, json, name, docstring,
              (SELECT group_concat(iif(qualifier = '', refs.name, qualifier || '.' || refs.name), ' ') FROM refs
               WHERE refs.chunk_id = chunks.id AND refs.kind = 'calls'),
              (SELECT count(*) FROM accesses WHERE accesses.chunk_id = chunks.id),
              (SELECT max(at) FROM accesses WHERE accesses.chunk_id = chunks.id)
            FROM chunks LEFT JOIN documents ON documents.chunk_id = chunks.id"""

_LEARNED = """gone_at IS NULL AND archived_at IS NULL AND (kind = 'reasoning'
              OR chunks.id IN (SELECT chunk_id FROM accesses) OR chunks.id IN (SELECT chunk_id FROM boosts))"""


class ChunkStatus(Struct, frozen=True):
    """A chunk by the id people see, what holds of it (`archived`, or an escalation's action), and since when."""

    shown: str
    what: str
    at: float


def lifespan_facts(reader: Reader, ids: Sequence[int]) -> dict[int, ChunkFacts]:
    """Lifespan facts of those chunks."""
    rows = reader.rows(_facts_where(f"chunks.id IN ({marks(ids)})"), ids)
    return {row[0]: _facts(row) for row in rows}


def in_archive(reader: Reader) -> list[ChunkStatus]:
    """Every archived chunk that could come back, longest there first."""
    rows = reader.rows(
        """SELECT path, name, line_start, line_end, kind, archived_at FROM chunks
           WHERE archived_at IS NOT NULL AND gone_at IS NULL ORDER BY archived_at, id"""
    )
    return [ChunkStatus(chunk_id(*row[:5]), "archived", row[5]) for row in rows]


def escalated(reader: Reader) -> list[ChunkStatus]:
    """Every flagged chunk with its action, longest flagged first."""
    rows = reader.rows(
        """SELECT path, name, line_start, line_end, kind, action, at FROM escalations
           JOIN chunks ON chunks.id = chunk_id WHERE gone_at IS NULL ORDER BY at, chunk_id, action"""
    )
    return [ChunkStatus(chunk_id(*row[:5]), row[5], row[6]) for row in rows]


async def learned_facts(rows: _Rows) -> list[ChunkFacts]:
    """Lifespan facts of every live chunk that something was learned of and that is not archived."""
    return [_facts(row) for row in await rows(_facts_where(_LEARNED), ())]


def _facts_where(condition: str) -> str:
    return f"{_FACTS} WHERE {condition} ORDER BY chunks.id"


def _facts(row: Sequence[Any]) -> ChunkFacts:
    """Facts of one row (row mapping)."""
    number, kind, path, language, complexity, keywords, changed_at, json, name, docstring, calls, count, last = row
    if kind != REASONING:
        knowledge = type_of(kind) == "know"
        told = (
            knowledge_tags(name, (docstring, keywords))
            if knowledge
            else code_tags(name, kind, path, docstring, keywords.split(), (calls or "").split())
        )
        return ChunkFacts(
            id=number,
            type="knowledge" if knowledge else "code",
            access_count=count,
            last_used=last,
            made_at=changed_at,
            mirrors_file=knowledge,  # all knowledge there is yet was cut from files
            complexity=complexity,
            language=language,
            path=path,
            keywords=keywords,
            domain=told.domain,
            semantic_role=told.semantic_role,
            tags=compliance_of(told.domain),
        )
    known = ChunkFacts(number, "reasoning", count, last, changed_at, complexity=complexity, keywords=keywords)
    if json is None:
        return known
    document = typed.decode(json, ReasoningDocument)
    return msgspec.structs.replace(
        known,
        is_pattern=document.is_pattern,
        success_score=document.content.success_score,
        domain=document.metadata.domain,
        semantic_role=document.metadata.semantic_role,
        tags=document.governance.compliance_tags,
        rules=understood_rules(tuple((rule.when, rule.then) for rule in document.governance.retention_rules)),
    )


@lru_cache(maxsize=256)
def understood_rules(given: tuple[tuple[str, str], ...]) -> tuple[LifespanRule, ...]:
    """A document's own rules; one that nobody understands leaves the chunk to the policies."""
    found: list[LifespanRule] = []
    for when, then in given:
        try:
            found.extend(retention_rules([{"if": when, "then": then}]))
        except PolicyError:
            continue
    return tuple(found)


class Escalation(Struct, frozen=True, array_like=True):
    """A chunk that was flagged: its row id, the action it is a candidate for, and since when (Unix seconds)."""

    chunk_id: int
    action: str
    at: float


async def archive(db: aiosqlite.Connection, ids: Iterable[int], at: float) -> int:
    """Take chunks out of recall, keeping all that was learned; how many were not archived yet. `at` is Unix seconds."""
    return await _changed(
        db, "UPDATE chunks SET archived_at = ? WHERE id = ? AND archived_at IS NULL", [(at, each) for each in ids]
    )


async def restore(db: aiosqlite.Connection, ids: Iterable[int]) -> int:
    """Bring chunks back from the archive; how many were in it."""
    return await _changed(
        db, "UPDATE chunks SET archived_at = NULL WHERE id = ? AND archived_at IS NOT NULL", [(each,) for each in ids]
    )


async def archived(db: aiosqlite.Connection) -> dict[int, float]:
    """Every archived chunk's row id and when it was archived (Unix seconds)."""
    rows = await db.execute_fetchall("SELECT id, archived_at FROM chunks WHERE archived_at IS NOT NULL")
    return {int(row[0]): float(row[1]) for row in rows}


async def escalate(db: aiosqlite.Connection, flagged: Mapping[int, Sequence[str]], at: float) -> None:
    """Make the flags those of this pass: chunk ids and their actions. Flags that were there keep their time."""
    current = {(chunk_id, action) for chunk_id, actions in flagged.items() for action in actions}
    rows = await db.execute_fetchall("SELECT chunk_id, action FROM escalations")
    over = {(int(row[0]), str(row[1])) for row in rows} - current
    await db.executemany("DELETE FROM escalations WHERE chunk_id = ? AND action = ?", sorted(over))
    await db.executemany(
        "INSERT OR IGNORE INTO escalations SELECT id, ?, ? FROM chunks WHERE id = ?",
        [(action, at, chunk_id) for chunk_id, action in sorted(current)],
    )


async def escalations(db: aiosqlite.Connection) -> list[Escalation]:
    """Every flag, those longest there first."""
    rows = await db.execute_fetchall("SELECT chunk_id, action, at FROM escalations ORDER BY at, chunk_id, action")
    return [Escalation(*row) for row in rows]


async def _changed(db: aiosqlite.Connection, statement: str, values: list[tuple[float, ...]]) -> int:
    """Number of rows that a statement changed."""
    if not values:
        return 0
    cursor = await db.executemany(statement, values)
    count = cursor.rowcount
    await cursor.close()
    return count
