"""Lifespan facts in tables: what lifespans go by, read from the tables: a chunk's uses, age, and what its document
says of itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from aurora_memory.chunks import REASONING, chunk_id, type_of
from aurora_memory.documents import ReasoningDocument
from aurora_memory.lifespans import PolicyError
from aurora_memory.lifespans.facts import ChunkFacts
from aurora_memory.lifespans.lifespan import LifespanRule
from aurora_memory.lifespans.retention import retention_rules
from aurora_memory.store.placeholders import marks
from aurora_memory.store.reader import Reader
from aurora_protocol import typed

_Rows = Callable[[str, Sequence[Any]], Awaitable[list[Any]]]

_FACTS = """SELECT chunks.id, kind, path, language, complexity, keywords, changed_at, json,
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
    """What lifespans go by, of those chunks."""
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
    """What lifespans go by, of every live chunk that something was learned of and that is not archived."""
    return [_facts(row) for row in await rows(_facts_where(_LEARNED), ())]


def _facts_where(condition: str) -> str:
    return f"{_FACTS} WHERE {condition} ORDER BY chunks.id"


def _facts(row: Sequence[Any]) -> ChunkFacts:
    number, kind, path, language, complexity, keywords, changed_at, json, count, last = row
    if kind != REASONING:
        knowledge = type_of(kind) == "know"
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
        rules=_rules(tuple((rule.when, rule.then) for rule in document.governance.retention_rules)),
    )


@lru_cache(maxsize=256)
def _rules(given: tuple[tuple[str, str], ...]) -> tuple[LifespanRule, ...]:
    """A document's own rules; one that nobody understands leaves the chunk to the policies."""
    found: list[LifespanRule] = []
    for when, then in given:
        try:
            found.extend(retention_rules([{"if": when, "then": then}]))
        except PolicyError:
            continue
    return tuple(found)
