"""Learned writer: what finished runs taught, written inside the caller's transaction.

A reasoning chunk is a row of `chunks` without a path, so that accesses, relations and boosts mean it by the same ids as
code; its document stands beside it. Some rows outlive the code they speak of (`tables.held`): a chunk with any is put
aside when it vanishes, and its history moves along with a copy of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import aiosqlite
import msgspec

from aurora_memory.documents import ReasoningDocument
from aurora_memory.learning import (
    POLICY,
    Difficulty,
    Feedback,
    FinishedRun,
    Learned,
    LearningPolicy,
    Lesson,
    alikeness,
    better,
    boost,
    judged,
    signature,
    similar_difficulties,
)
from aurora_memory.store.statements import any_of, marks
from aurora_memory.store.tables import held, holding
from aurora_memory.tokens import terms
from aurora_protocol import typed

KIND = "reasoning"
_MAX_TERMS = 64
_MOST_ALIKE = 20
"""Reasoning chunks that share a question's words, best first, among which a near-identical one is looked for."""

MAX_DIFFICULT = 1000
"""Kinds of failed question that are remembered; the oldest go first."""

_COLUMNS = (
    "signature, docstring, complexity, keywords, body_hash, tokens, changed_at"  # of a reasoning chunk, what can change
)


_ADD = f"""INSERT INTO chunks (id, path, name, ordinal, leaf, kind, language, line_start, line_end, branches, loops,
             shape_hash, part_count, {_COLUMNS})
           VALUES (?, '', ?, 0, '', '{KIND}', '', 0, 0, 0, 0, x'', 0, ?, ?, ?, ?, ?, ?, ?)"""
"""A row of `chunks` with no path, no lines and no simple name: nothing that looks for code finds it."""


async def keep(db: aiosqlite.Connection, run: FinishedRun, lesson: Lesson, policy: LearningPolicy = POLICY) -> Learned:
    """Idempotent write of a lesson: nothing where its run was learned before."""
    known = await _known_run(db, run.id)
    if known is not None:
        return known
    kinds = await _kinds(db, [each.id for each in lesson.retrieved])
    accesses = [(chunk_id, run.at, lesson.outcome) for chunk_id in lesson.of_use if chunk_id in kinds]
    await db.executemany("INSERT INTO accesses (chunk_id, at, kind) VALUES (?, ?, ?)", accesses)
    amounts = [
        (each.id, run.id, run.at, boost(lesson.outcome, each.helpful, kinds[each.id] == KIND, policy))
        for each in lesson.retrieved
        if each.id in kinds
    ]
    boosts = [row for row in amounts if row[-1]]
    await db.executemany("INSERT INTO boosts (chunk_id, run_id, at, amount) VALUES (?, ?, ?, ?)", boosts)
    kept = await _keep_reasoning(db, lesson.document, lesson.fingerprint, run.at) if lesson.document else None
    if kept is not None:
        if kept not in lesson.of_use:  # it was of use once in this run, whether recalled for it or not
            await db.execute("INSERT INTO accesses (chunk_id, at, kind) VALUES (?, ?, 'learned')", (kept, run.at))
        await db.executemany(
            """INSERT INTO relations VALUES (?, 'used', ?, ?)
               ON CONFLICT DO UPDATE SET weight = max(weight, excluded.weight)""",
            [(kept, chunk_id, sure) for chunk_id, sure in lesson.used if chunk_id in kinds and chunk_id != kept],
        )
    await _mind_difficulty(db, run, lesson)
    await db.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)",
        (run.id, run.at, lesson.outcome, run.score, run.query[:2000], kept),
    )
    shown, is_pattern = await _shown(db, kept)
    return Learned(
        outcome=lesson.outcome,
        reasoning_id=shown,
        is_pattern=is_pattern,
        runs=await _runs(db, kept),
        accessed=len(accesses),
        boosted=len(boosts),
        unknown=tuple(each.id for each in lesson.retrieved if each.id not in kinds),
    )


async def judge(db: aiosqlite.Connection, judgement: Feedback, policy: LearningPolicy) -> bool:
    """Write down what a user said of a pattern's answer; False where it is gone, or this was said before."""
    name = judgement.reasoning_id.removeprefix("reas:")
    rows = await _rows(db, f"SELECT id FROM chunks WHERE path = '' AND name = ? AND kind = '{KIND}'", (name,))
    if not rows:
        return False
    cursor = await db.execute(
        "INSERT OR IGNORE INTO boosts (chunk_id, run_id, at, amount) VALUES (?, ?, ?, ?)",
        (rows[0][0], f"{judgement.run}:{judgement.verdict}", judgement.at, judged(judgement.verdict, policy)),
    )
    if cursor.rowcount and judgement.verdict == "incorrect":
        await _difficult(db, signature(judgement.query), judgement.query, 0.0, judgement.at)
    return cursor.rowcount > 0


async def _known_run(db: aiosqlite.Connection, run_id: str) -> Learned | None:
    """Look-up of a run that was learned already (idempotency)."""
    rows = await _rows(db, "SELECT outcome, reasoning_id FROM runs WHERE id = ?", (run_id,))
    if not rows:
        return None
    shown, is_pattern = await _shown(db, rows[0][1])
    return Learned(
        outcome=rows[0][0],
        reasoning_id=shown,
        is_pattern=is_pattern,
        runs=await _runs(db, rows[0][1]),
        repeated=True,
    )


async def _runs(db: aiosqlite.Connection, chunk_id: int | None) -> int:
    """How many runs made a reasoning chunk."""
    return int((await _rows(db, "SELECT count(*) FROM runs WHERE reasoning_id = ?", (chunk_id,)))[0][0])


async def _shown(db: aiosqlite.Connection, chunk_id: int | None) -> tuple[str | None, bool]:
    """Id of a reasoning chunk as people see it, and whether it is a pattern."""
    rows = await _rows(db, "SELECT json FROM documents WHERE chunk_id = ?", (chunk_id,))
    if not rows:
        return None, False
    document = typed.decode(rows[0][0], ReasoningDocument)
    return document.id, document.is_pattern


async def _kinds(db: aiosqlite.Connection, ids: Sequence[int]) -> dict[int, str]:
    """The kinds of those chunks that there are, put aside or not."""
    return dict(await _rows(db, f"SELECT id, kind FROM chunks WHERE id IN ({marks(ids)})", ids))


async def _keep_reasoning(db: aiosqlite.Connection, new: ReasoningDocument, fingerprint: bytes, at: float) -> int:
    """Store a reasoning chunk, or add to the one that took the same question apart in the same way; returns its id.

    What went best is what is remembered: a later, worse run of the same decomposition takes nothing away.
    """
    pattern = new.id.removeprefix("reas:")
    known = await _same(db, pattern, fingerprint) or await _alike(db, new)
    if known is None:
        return await add_reasoning(db, pattern, fingerprint, new, at)
    chunk_id, pattern, old = known
    if better(old, new):
        same = await _same(db, pattern, fingerprint)  # under the other's name this decomposition may be a version
        if same is not None:
            chunk_id, pattern, old = same
        await replace_reasoning(db, chunk_id, pattern, fingerprint, old, new, at)
    else:
        await db.execute("UPDATE chunks SET gone_at = NULL, archived_at = NULL WHERE id = ?", (chunk_id,))
    return chunk_id


async def _same(
    db: aiosqlite.Connection, pattern: str, fingerprint: bytes
) -> tuple[int, str, ReasoningDocument] | None:
    """The chunk of a pattern with just this decomposition: its id, pattern and document."""
    rows = await _rows(
        db, "SELECT chunk_id, json FROM documents WHERE pattern = ? AND fingerprint = ?", (pattern, fingerprint)
    )
    return (int(rows[0][0]), pattern, typed.decode(rows[0][1], ReasoningDocument)) if rows else None


async def _alike(db: aiosqlite.Connection, new: ReasoningDocument) -> tuple[int, str, ReasoningDocument] | None:
    """Near-duplicate of a run: the chunk of a near-identical one, the most like it of those that share its words; None
    where there is none."""
    asked = terms(new.content.original_query)[:_MAX_TERMS]
    if not asked:
        return None
    rows = await _rows(
        db,
        """SELECT chunk_id, documents.pattern, json
           FROM reasoning_words JOIN documents ON chunk_id = reasoning_words.rowid
           WHERE reasoning_words MATCH ? ORDER BY bm25(reasoning_words), chunk_id LIMIT ?""",
        (any_of(asked), _MOST_ALIKE),
    )
    found = [(int(row[0]), str(row[1]), typed.decode(row[2], ReasoningDocument)) for row in rows]
    best = max(found, key=lambda each: alikeness(each[2], new), default=None)
    return best if best is not None and alikeness(best[2], new) > 0 else None


async def add_reasoning(
    db: aiosqlite.Connection, pattern: str, fingerprint: bytes, new: ReasoningDocument, at: float
) -> int:
    """Store a reasoning chunk as the next version of its pattern; returns its id."""
    versions = (await _rows(db, "SELECT count(*) FROM documents WHERE pattern = ?", (pattern,)))[0][0]
    name = f"{pattern}:v{versions + 1}" if versions else pattern
    document = msgspec.structs.replace(new, id=f"reas:{name}")
    chunk_id = await _add(db, name, document, fingerprint, at)
    await save_document(db, chunk_id, pattern, fingerprint, document)
    return chunk_id


async def replace_reasoning(
    db: aiosqlite.Connection,
    chunk_id: int,
    pattern: str,
    fingerprint: bytes,
    old: ReasoningDocument,
    new: ReasoningDocument,
    at: float,
) -> None:
    """Remember a reasoning chunk by another run of it, which also brings it back from wherever it was put."""
    document = msgspec.structs.replace(new, id=old.id, created_at=old.created_at)
    await db.execute(
        f"UPDATE chunks SET ({_COLUMNS}) = (?, ?, ?, ?, ?, ?, ?), gone_at = NULL, archived_at = NULL WHERE id = ?",
        (*_values(document, fingerprint, at), chunk_id),
    )
    await save_document(db, chunk_id, pattern, fingerprint, document)
    await db.execute("DELETE FROM others_patterns WHERE chunk_id = ?", (chunk_id,))  # it is whose run this was


async def _add(db: aiosqlite.Connection, name: str, document: ReasoningDocument, mark: bytes, at: float) -> int:
    """Insertion of a reasoning chunk; its row id."""
    cursor = await db.execute(_ADD, (None, name, *_values(document, mark, at)))
    assert cursor.lastrowid is not None
    return cursor.lastrowid


async def recover(db: aiosqlite.Connection, chunk_id: int, document: ReasoningDocument, mark: bytes) -> None:
    """Make the row of a reasoning chunk of which only the document was left."""
    at = datetime.fromisoformat(document.metadata.timestamp).timestamp()
    await db.execute(_ADD, (chunk_id, document.id.removeprefix("reas:"), *_values(document, mark, at)))


def _values(document: ReasoningDocument, fingerprint: bytes, at: float) -> tuple[Any, ...]:
    """Column values of a reasoning chunk."""
    content = document.content
    steps = "; ".join(subgoal.description for subgoal in content.subgoals)
    size = len(msgspec.json.encode(content)) // 4
    keywords = " ".join(document.metadata.keywords)
    return content.original_query, steps, content.complexity, keywords, fingerprint, size, at


async def save_document(
    db: aiosqlite.Connection, chunk_id: int, pattern: str, fingerprint: bytes, document: ReasoningDocument
) -> None:
    """Keep a reasoning chunk's document and the words it is found by, in place of what it had."""
    await db.execute(
        """INSERT INTO documents VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint, json = excluded.json""",
        (chunk_id, pattern, fingerprint, msgspec.json.encode(document).decode()),
    )
    content = document.content
    agents = [subgoal.agent for subgoal in content.subgoals]
    texts = (
        content.original_query,
        content.pattern,
        " ".join(subgoal.description for subgoal in content.subgoals),
        " ".join((*document.metadata.keywords, document.metadata.domain, document.metadata.semantic_role)),
        " ".join((*dict.fromkeys((*content.tool_sequence, *agents)),)),
    )
    await db.execute("DELETE FROM reasoning_words WHERE rowid = ?", (chunk_id,))
    await db.execute(
        """INSERT INTO reasoning_words (rowid, query, pattern, subgoals, keywords, tools)
           VALUES (?, ?, ?, ?, ?, ?)""",
        (chunk_id, *(" ".join(terms(text)) for text in texts)),
    )


async def _mind_difficulty(db: aiosqlite.Connection, run: FinishedRun, lesson: Lesson) -> None:
    """A failure marks a kind of question as difficult; a success frees all that are like it."""
    if lesson.outcome == "failure":
        await _difficult(db, lesson.signature, run.query, run.score, run.at)
    elif lesson.outcome == "success":
        rows = await _rows(db, "SELECT signature, query, failures, last_score, last_at FROM difficult")
        solved = similar_difficulties(run.query, (Difficulty(*row) for row in rows))
        await db.executemany("DELETE FROM difficult WHERE signature = ?", [(each.signature,) for each in solved])


async def _difficult(db: aiosqlite.Connection, signature: str, query: str, score: float, at: float) -> None:
    """Upsert of a question that failed; beyond MAX_DIFFICULT the oldest are evicted."""
    await db.execute(
        """INSERT INTO difficult VALUES (?, ?, 1, ?, ?) ON CONFLICT DO UPDATE SET failures = failures + 1,
             last_score = excluded.last_score, last_at = max(last_at, excluded.last_at)""",
        (signature, query[:2000], score, at),
    )
    await db.execute(
        """DELETE FROM difficult WHERE signature IN (
             SELECT signature FROM difficult ORDER BY last_at DESC LIMIT -1 OFFSET ?)""",
        (MAX_DIFFICULT,),
    )


async def keep_places(db: aiosqlite.Connection, ids: Sequence[int]) -> None:
    """Keep where chunks stand that are about to move, in the caller's transaction: a colleague whose work tree has them
    there still tells of them by that place. Of those alone that something was learned of.
    """
    await db.executemany(
        f"INSERT OR REPLACE INTO former_places SELECT path, name, ordinal, id FROM chunks WHERE id = ? AND ({held()})",
        [(each,) for each in ids],
    )


async def follow_copies(db: aiosqlite.Connection, ids: Sequence[int]) -> None:
    """Move what was learned of chunks just put aside to a live copy of each that nothing was learned of yet.

    A function saved into its new file before it left the old one is a copy by now: its history goes with it.
    """
    copies: list[tuple[int, int]] = []
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        copies += await _rows(
            db,
            f"""SELECT max(chunks.id), gone.id FROM chunks AS gone
                JOIN chunks ON chunks.shape_hash = gone.shape_hash AND chunks.kind = gone.kind
                  AND chunks.leaf = gone.leaf AND chunks.gone_at IS NULL
                WHERE gone.id IN ({marks(some)}) AND gone.gone_at IS NOT NULL AND NOT ({held()}) GROUP BY gone.id""",
            some,
        )
    await _move(db, dict(copies).items())


async def _move(db: aiosqlite.Connection, pairs: Iterable[tuple[int, int]]) -> None:
    """Transfer of all that was learned of chunks to others."""
    rows = list(pairs)
    await db.executemany("UPDATE former_places SET chunk_id = ? WHERE chunk_id = ?", rows)
    await db.executemany(
        "INSERT OR REPLACE INTO former_places SELECT path, name, ordinal, ? FROM chunks WHERE id = ?", rows
    )
    for table, column in holding():
        await db.executemany(
            f"UPDATE {table.name} SET {column} = ? WHERE {column} = ? AND ({table.rows or 'TRUE'})", rows
        )


async def _rows(db: aiosqlite.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any]:
    return list(await db.execute_fetchall(sql, values))
