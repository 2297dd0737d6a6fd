"""Learned reader: past solutions (reasoning chunks), boosts and difficult questions of finished runs. Never writes."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aurora_memory.document_builder import iso_time
from aurora_memory.documents import ReasoningDocument
from aurora_memory.learning import POLICY, Boost, Difficulty, bounded, similar_difficulties
from aurora_memory.store import others_rows
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import any_of, as_list, marks
from aurora_protocol import typed

WORD_WEIGHTS = (5.0, 4.0, 2.0, 3.0, 1.0)
"""Weights of a term in the question, the pattern's name, the subgoals, the keywords, the tools."""

MAX_TERMS = 64


def match_reasoning(reader: Reader, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Row ids of live reasoning chunks with any of the stemmed terms, best first by BM25 (higher is better)."""
    if not terms or not reader.single("SELECT EXISTS (SELECT 1 FROM reasoning_words)"):
        return []
    rows = reader.rows(
        f"""SELECT chunks.id, -bm25(reasoning_words, {", ".join(map(str, WORD_WEIGHTS))}) AS score
            FROM reasoning_words JOIN chunks ON chunks.id = reasoning_words.rowid
            WHERE reasoning_words MATCH ? AND chunks.gone_at IS NULL AND chunks.archived_at IS NULL
            ORDER BY score DESC, chunks.id DESC LIMIT ?""",
        (any_of(terms[:MAX_TERMS]), limit),
    )
    return [(chunk_id, score) for chunk_id, score in rows]


def reasoning_terms(reader: Reader, ids: Sequence[int]) -> dict[int, frozenset[str]]:
    """Every indexed term of those reasoning chunks."""
    rows = reader.rows(
        f"""SELECT rowid, query || ' ' || pattern || ' ' || subgoals || ' ' || keywords || ' ' || tools
            FROM reasoning_words WHERE rowid IN ({marks(ids)})""",
        ids,
    )
    return {chunk_id: frozenset(text.split()) for chunk_id, text in rows}


def reasoning(reader: Reader, ids: Sequence[int]) -> dict[int, ReasoningDocument]:
    """The documents of those reasoning chunks, with how often and when last they were of use."""
    rows = reader.rows(
        f"""SELECT chunk_id, json, (SELECT count(*) FROM accesses WHERE accesses.chunk_id = documents.chunk_id),
              (SELECT max(at) FROM accesses WHERE accesses.chunk_id = documents.chunk_id)
            FROM documents WHERE chunk_id IN ({marks(ids)})""",
        ids,
    )
    found: dict[int, ReasoningDocument] = {}
    for chunk_id, document, count, last in rows:
        found[chunk_id] = msgspec.structs.replace(
            typed.decode(document, ReasoningDocument),
            access_count=count,
            last_accessed=None if last is None else iso_time(last),
        )
    return found


def reasoning_named(reader: Reader, shown: str) -> int | None:
    """The row id of the live reasoning chunk people call `reas:<slug>` or `reas:<slug>:v2`."""
    rows = reader.rows(
        "SELECT id FROM chunks WHERE path = '' AND name = ? AND kind = 'reasoning' AND gone_at IS NULL",
        (shown.removeprefix("reas:"),),
    )
    return int(rows[0][0]) if rows else None


def has_reasoning(reader: Reader) -> bool:
    """Whether any reasoning chunk was ever learned."""
    return bool(reader.rows("SELECT 1 FROM documents LIMIT 1"))


def has_learned(reader: Reader) -> bool:
    """Whether any finished run left accesses or boosts; asked again only when something was written."""
    return bool(reader.single("SELECT EXISTS (SELECT 1 FROM accesses) OR EXISTS (SELECT 1 FROM boosts)"))


def boosts(reader: Reader, ids: Sequence[int]) -> dict[int, float]:
    """Boosts of those chunks' activation by finished runs, in ±1.0; chunks they did not touch are left out.

    Those of colleagues' runs count by their weight.
    """
    if not reader.single("SELECT EXISTS (SELECT 1 FROM boosts)"):
        return {}
    weight = ""
    if others_rows.has_others(reader):
        is_others = "EXISTS (SELECT 1 FROM others_runs WHERE others_runs.run_id = boosts.run_id)"
        weight = f" * CASE WHEN {is_others} THEN {float(reader.weighing.others_weight)!r} ELSE 1.0 END"
    rows = reader.rows(
        f"""SELECT chunk_id, total(amount{weight}) FROM boosts
            WHERE chunk_id IN (SELECT value FROM json_each(?)) GROUP BY chunk_id""",
        (as_list(ids),),
    )
    return {chunk_id: bounded(total) for chunk_id, total in rows}


def lessons(reader: Reader, ids: Sequence[int]) -> dict[int, list[Boost]]:
    """Boosts of those chunks' activation, each with its run, latest first."""
    rows = reader.rows(
        f"""SELECT chunk_id, run_id, amount, at FROM boosts WHERE chunk_id IN ({marks(ids)})
            ORDER BY at DESC, run_id""",
        ids,
    )
    found: dict[int, list[Boost]] = {}
    for chunk_id, run, amount, at in rows:
        found.setdefault(chunk_id, []).append(Boost(run, amount, at))
    return found


def difficulties(reader: Reader) -> list[Difficulty]:
    """The kinds of question that failed and did not succeed since, latest first."""
    rows = reader.rows(
        "SELECT signature, query, failures, last_score, last_at FROM difficult ORDER BY last_at DESC, signature"
    )
    return [Difficulty(*row) for row in rows]


def difficult(reader: Reader, query: str, now: float) -> bool:
    """Whether questions like this one failed lately: such need the deepest verification (Appendix D).

    Not for ever: models, code and questions change, and the deepest verification is the dearest. `now` in Unix seconds.
    """
    since = now - POLICY.difficult_days * 86_400
    return bool(similar_difficulties(query, (each for each in difficulties(reader) if each.last_at >= since)))
