"""Reading what finished runs taught: reasoning chunks, boosts and difficult questions."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aurora_memory.document_builder import iso_time
from aurora_memory.documents import ReasoningDocument
from aurora_memory.learning import Boost, Difficulty, bounded, similar_difficulties
from aurora_memory.store.reader_thread import Asking, any_of, marks
from aurora_protocol import typed

WORD_WEIGHTS = (5.0, 4.0, 2.0, 3.0, 1.0)
"""How much a term counts in the question, the pattern's name, the subgoals, the keywords, the tools."""

MAX_TERMS = 64


class LearnedReading(Asking):
    """The reader's part for learned memory."""

    async def match_reasoning(self, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Row ids of live reasoning chunks with any of the stemmed terms, best first by BM25 (higher is better)."""
        if not terms or not await self._single("SELECT EXISTS (SELECT 1 FROM reasoning_words)"):
            return []
        rows = await self._rows(
            f"""SELECT chunks.id, -bm25(reasoning_words, {", ".join(map(str, WORD_WEIGHTS))}) AS score
                FROM reasoning_words JOIN chunks ON chunks.id = reasoning_words.rowid
                WHERE reasoning_words MATCH ? AND chunks.gone_at IS NULL AND chunks.archived_at IS NULL
                ORDER BY score DESC, chunks.id DESC LIMIT ?""",
            (any_of(terms[:MAX_TERMS]), limit),
        )
        return [(chunk_id, score) for chunk_id, score in rows]

    async def reasoning_terms(self, ids: Sequence[int]) -> dict[int, frozenset[str]]:
        """Every indexed term of those reasoning chunks."""
        rows = await self._rows(
            f"""SELECT rowid, query || ' ' || pattern || ' ' || subgoals || ' ' || keywords || ' ' || tools
                FROM reasoning_words WHERE rowid IN ({marks(ids)})""",
            ids,
        )
        return {chunk_id: frozenset(text.split()) for chunk_id, text in rows}

    async def reasoning(self, ids: Sequence[int]) -> dict[int, ReasoningDocument]:
        """The documents of those reasoning chunks, with how often and when last they were of use."""
        rows = await self._rows(
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

    async def reasoning_named(self, shown: str) -> int | None:
        """The row id of the live reasoning chunk people call `reas:<slug>` or `reas:<slug>:v2`."""
        rows = await self._rows(
            "SELECT id FROM chunks WHERE path = '' AND name = ? AND kind = 'reasoning' AND gone_at IS NULL",
            (shown.removeprefix("reas:"),),
        )
        return int(rows[0][0]) if rows else None

    async def has_reasoning(self) -> bool:
        """Whether any reasoning chunk was ever learned."""
        return bool(await self._rows("SELECT 1 FROM documents LIMIT 1"))

    async def has_learned(self) -> bool:
        """Whether any finished run left accesses or boosts; asked again only when something was written."""
        return bool(await self._single("SELECT EXISTS (SELECT 1 FROM accesses) OR EXISTS (SELECT 1 FROM boosts)"))

    async def boosts(self, ids: Sequence[int]) -> dict[int, float]:
        """What finished runs added to those chunks' activation, in ±1.0; chunks they did not touch are left out."""
        rows = await self._rows(
            f"SELECT chunk_id, total(amount) FROM boosts WHERE chunk_id IN ({marks(ids)}) GROUP BY chunk_id", ids
        )
        return {chunk_id: bounded(total) for chunk_id, total in rows}

    async def lessons(self, ids: Sequence[int]) -> dict[int, list[Boost]]:
        """What each finished run added to those chunks' activation, latest first."""
        rows = await self._rows(
            f"""SELECT chunk_id, run_id, amount, at FROM boosts WHERE chunk_id IN ({marks(ids)})
                ORDER BY at DESC, run_id""",
            ids,
        )
        found: dict[int, list[Boost]] = {}
        for chunk_id, run, amount, at in rows:
            found.setdefault(chunk_id, []).append(Boost(run, amount, at))
        return found

    async def difficulties(self) -> list[Difficulty]:
        """The kinds of question that failed and did not succeed since, latest first."""
        rows = await self._rows(
            "SELECT signature, query, failures, last_score, last_at FROM difficult ORDER BY last_at DESC, signature"
        )
        return [Difficulty(*row) for row in rows]

    async def difficult(self, query: str) -> bool:
        """Whether questions like this one failed: such need the deepest verification (Appendix D)."""
        return bool(similar_difficulties(query, await self.difficulties()))
