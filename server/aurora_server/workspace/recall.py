"""Recall of one workspace: a question parsed here, asked of code, documents and reasoning in one call, told in words.

The way of a recall: `RecallParams` → `Question` (parsed once) → `find` on the reader's thread → hits with their texts →
`Recalled` for the wire.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from aurora_memory import StoreError
from aurora_memory.chunks import REASONING
from aurora_memory.conversation_logs import LogReference
from aurora_memory.lifespans.policies import Policies
from aurora_memory.recall import (
    Focus,
    Hit,
    Question,
    file_answer,
    line_answer,
    parse_question,
    recall,
    relation_answer,
    weigh,
    with_uses_of_others,
)
from aurora_memory.recall.conversation_logs import recall_logs
from aurora_memory.recall.kinship import read_some, vectors_stay
from aurora_memory.recall.patterns import recall_reasoning, weigh_reasoning
from aurora_memory.recall.places import below
from aurora_memory.recall.prefix import completed
from aurora_memory.recall.recall import STORED
from aurora_memory.recall.relation_answer import RelatedHits
from aurora_memory.recall.relation_question import answered_as_words
from aurora_memory.recall.signals import asks_vectors
from aurora_memory.recall.spaced_paths import with_whole_places
from aurora_memory.store import chunk_reader, file_reader, learned_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.store.reader_thread import ReaderThread
from aurora_memory.views import ChunkView, UsageCounts
from aurora_protocol.methods import Evidence, Freshness, Recalled, RecallParams, RecallResult
from aurora_server.workspace import recall_documents
from aurora_server.workspace.colleagues import Colleagues, PatternState
from aurora_server.workspace.common_words import why_arbitrary
from aurora_server.workspace.evidence import evidence_of
from aurora_server.workspace.nothing_found import misspelled, not_here, too_short, unsaid, why_nothing
from aurora_server.workspace.recall_uses import RecallUses
from aurora_server.workspace.recalled_text import Text, file_text, surroundings, texts, within_budget
from aurora_server.workspace.wire import iso

if TYPE_CHECKING:
    from aurora_indexer.embedding.embedder import Embedder

logger = logging.getLogger(__name__)

CHOICE = 50
"""Hits that a budget is filled from, at least."""

VECTORS_WITHIN = 3.0
"""Seconds that questions, all together, wait for word vectors where these are still to be read (the 100,000 parts that
are waited for take that long): who asks first is answered as who asks later is.
"""

_NEVER = -1
"""As a count of writes: vectors were not read."""

_UP_TO_DATE = Freshness(indexed_at=None, pending_files=0, skipped_files=0, files=1, chunks=1, state="ready")
"""Freshness where nobody is told of it."""


class RecallFindings(Struct, frozen=True):
    """Findings of one call to memory: the best hits of all types, and what telling them takes beside files.

    `usages` counts who calls and inherits each chunk (row id), `around` has the other chunks of files whose chunks
    fold what they hold, `evidence` is of each hit where it is asked for, `hint` is there where there is no hit,
    `patterns` are the states of those among the hits (row id), `by_id` says that one chunk was asked for by its id,
    `missing` that the place that was asked for is not there.
    """

    indexed_at: float | None
    hits: list[Hit]
    usages: Mapping[int, UsageCounts]
    around: Mapping[str, Sequence[ChunkView]]
    evidence: Sequence[Evidence] | None
    logs: Sequence[LogReference]
    hint: str | None
    patterns: Mapping[int, PatternState] = {}
    by_id: bool = False
    missing: bool = False


class RecallAnswer(NamedTuple):
    """Answer to a recall, and the chunk of each of its results, which is shown once it is told.

    What was asked for `by_id` is not shown: nobody had to be led to it.
    """

    result: RecallResult
    chunks: Sequence[ChunkView]
    by_id: bool

    def told(self, results: Sequence[Recalled]) -> list[ChunkView]:
        """The chunks shown where these results are told: an answer of several folders leaves some of each out."""
        if self.by_id:
            return []
        kept = {id(each) for each in results}
        return [chunk for one, chunk in zip(self.result.results, self.chunks, strict=True) if id(one) in kept]


class MemoryRecall:
    """Recall from one memory. With an `embedder`, by meaning too."""

    def __init__(
        self,
        root: Path,
        read: ReaderThread,
        policies: Policies,
        embedder: Embedder | None,
        uses: RecallUses,
        colleagues: Colleagues,
    ) -> None:
        self._root = root
        self._read = read
        self._policies = policies
        self._embedder = embedder
        self._uses = uses
        self._colleagues = colleagues
        self._reading: asyncio.Task[None] | None = None
        self._read_at = _NEVER
        self._patience = VECTORS_WITHIN

    def read_anew(self) -> None:
        """Look with the next question whether vectors are missing: memory was given back."""
        self._read_at = _NEVER
        self._patience = VECTORS_WITHIN

    async def read_ahead(self) -> None:
        """Begin to read the vectors that stay, where somebody is about to ask."""
        if self._embedder is None and await self._read(vectors_stay):
            self._begin_reading()

    async def close(self) -> None:
        """Stop reading what later questions need."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def answer(
        self, params: RecallParams, focus: Focus | None, freshness: Freshness, began: float
    ) -> RecallAnswer:
        """Rank what memory holds. `focus` is primed; what is pending by `freshness`, a hint may say.

        When memory was indexed, it says itself. `took_ms` counts from `began` (of `time.perf_counter`).
        """
        found = await self._found(params, focus, freshness)
        chosen: Mapping[int, Text | None] = dict.fromkeys(range(len(found.hits)))
        if params.budget_tokens is not None:
            chosen = await self._within_budget(found, params.budget_tokens, params.limit)
        elif params.include_content:
            chosen = dict(enumerate(await asyncio.to_thread(texts, self._root, found.hits, found.around)))
        if found.by_id and params.include_content and found.hits:
            self._uses.read(found.hits[0].chunk)
        results = [
            recall_documents.recalled(
                found.hits[n],
                self._root,
                found.usages.get(found.hits[n].chunk.id, UsageCounts()),
                text,
                found.evidence[n] if found.evidence is not None else UNSET,
                found.patterns.get(found.hits[n].chunk.id),
            )
            for n, text in chosen.items()
        ]
        hint = found.hint
        if found.hits and not results:
            hint = recall_documents.nothing_fits(found.hits[0], params.budget_tokens)
        result = RecallResult(
            query=params.query,
            took_ms=round((time.perf_counter() - began) * 1000, 3),
            freshness=replace(freshness, indexed_at=iso(found.indexed_at)),
            results=results,
            hint=hint,
            logs=[recall_documents.seen_log(log) for log in found.logs],
            missing=found.missing,
        )
        return RecallAnswer(result, [found.hits[n].chunk for n in chosen], found.by_id)

    async def with_texts(self, params: RecallParams) -> list[tuple[Hit, Text, PatternState | None]]:
        """The best mix that fits `budget_tokens`, best first, each with what is delivered of it."""
        found = await self._found(params, None, _UP_TO_DATE)
        chosen = await self._within_budget(found, params.budget_tokens or 0, params.limit)
        return [(found.hits[n], text, found.patterns.get(found.hits[n].chunk.id)) for n, text in chosen.items()]

    async def _found(self, params: RecallParams, focus: Focus | None, freshness: Freshness) -> RecallFindings:
        """Ask memory in one call. The query is parsed here, where it comes in, with paths spelled from the root."""
        question = parse_question(below(str(self._root), params.query))
        near = await self._near(question, params.types)
        read = partial(file_text, self._root)
        if self._embedder is None and asks_vectors(question):
            self._begin_reading()
            await self._vectors_read()
        return await self._read(
            find,
            question,
            params,
            self._policies,
            time.time(),
            focus=focus,
            near=near,
            read_text=read,
            freshness=freshness,
            colleagues=self._colleagues,
            by_meaning=self._embedder is None,
        )

    async def _vectors_read(self) -> None:
        """Wait until vectors are read, as long as there is patience and where that takes no more than some seconds."""
        if self._reading is None or self._patience <= 0 or not await self._read(vectors_stay):
            return
        began = time.perf_counter()
        await asyncio.wait({self._reading}, timeout=self._patience)
        self._patience -= time.perf_counter() - began

    def _begin_reading(self) -> None:
        """Begin to read vectors where something was written since; who is reading reads what comes meanwhile, too."""
        reads = self._reading is not None and not self._reading.done()
        if not reads and self._read_at != self._read.writes:
            self._read_at = self._read.writes
            self._reading = asyncio.create_task(self._read_vectors(), name=f"word vectors of {self._root}")

    async def _read_vectors(self) -> None:
        """Read the vectors that this question does without and the next ones have, a few at a time."""
        try:
            more = True
            while more:
                more = await self._read(read_some)
            self._patience = 0.0
        except StoreError as error:
            logger.warning("no word vectors", extra={"root": str(self._root), "problem": str(error)})

    async def _near(self, question: Question, types: Sequence[str] | None) -> Sequence[tuple[int, float]]:
        """Chunks that are near by meaning, where a model tells and chunks that have one are asked for."""
        if self._embedder is None or question.is_id or (types is not None and not STORED & set(types)):
            return ()
        return await self._embedder.nearest(question.text)

    async def _within_budget(self, found: RecallFindings, budget: int, limit: int) -> dict[int, Text]:
        return await asyncio.to_thread(within_budget, self._root, found.hits, found.around, budget, limit)


def find(
    reader: Reader,
    question: Question,
    params: RecallParams,
    policies: Policies,
    now: float,
    *,
    focus: Focus | None,
    near: Sequence[tuple[int, float]],
    read_text: Callable[[str], str],
    freshness: Freshness,
    colleagues: Colleagues,
    by_meaning: bool = True,
) -> RecallFindings:
    """Everything that an answer takes from memory, in one call. `now` is Unix seconds.

    Where hits must fit a budget, there are more to choose from.
    """
    question = with_whole_places(reader, question)
    indexed = file_reader.fact(reader, "indexed_at")
    depth = params.limit if params.budget_tokens is None else max(params.limit, CHOICE)
    is_code = params.types is None or "code" in params.types
    related = line_answer.answer_begun(reader, question, depth, now) if params.prefix and is_code else None
    missing = None if related else recall_documents.missing_place(reader, question, freshness.pending_files)
    if missing is not None:
        said = not_here(reader, question, missing, freshness)
        return RecallFindings(float(indexed) if indexed else None, [], {}, {}, None, (), said, missing=True)
    types = None if params.types is None else frozenset(params.types)
    question = completed(reader, question, always=params.prefix)
    reasoning = types is None or "reas" in types
    hits = None
    if reasoning and question.reasoning_id is not None:
        row = learned_reader.reasoning_named(reader, question.reasoning_id)
        if row is not None:
            hits = weigh_reasoning(reader, [row], now, question.terms, policies=policies)
    usages: Mapping[int, UsageCounts] = {}
    if related is None and hits is None and is_code:
        related = relation_answer.answer(reader, question, depth, now, read_text, is_typing=params.prefix)
        related = related or line_answer.answer_at(reader, question, depth, now)
    if hits is None and related is None and params.level is None:
        related = file_answer.answer_file(reader, question, depth, now, types)
    if related is not None:
        hits = related.hits
        usages = relation_reader.usages(reader, [hit.chunk.id for hit in hits])
    if hits is None:
        hits = []
        if (types is None or types & STORED) and misspelled(reader, question) is None:
            hits += recall(
                reader,
                question,
                depth,
                now,
                focus,
                types,
                near=near,
                read=read_text,
                level=params.level,
                by_meaning=by_meaning,
            )
        if reasoning and params.level is None and not (hits and question.is_id):
            hits += recall_reasoning(reader, question, depth, now, policies)
        hits = sorted(hits, key=lambda hit: -hit.strength)
        if params.level is None:
            hits = line_answer.spelled_first(reader, question, hits, now, types)
        hits = hits[:depth]
        usages = relation_reader.usages(reader, [hit.chunk.id for hit in hits])
    no_file = None if hits or related else recall_documents.missing_file(reader, question, freshness.pending_files)
    told = params.include_content or params.budget_tokens is not None
    return RecallFindings(
        float(indexed) if indexed else None,
        hits,
        usages,
        surroundings(reader, hits) if told else {},
        evidence_of(reader, with_uses_of_others(reader, hits, now), question, now, colleagues)
        if params.explain and hits
        else None,
        [] if related is not None else recall_logs(reader, question, hits),
        no_file or _hint(reader, question, hits, related, freshness, params),
        colleagues.patterns(reader, [hit.chunk.id for hit in hits if hit.chunk.kind == REASONING]),
        question.is_id and related is None,
        missing=no_file is not None or (related is not None and related.is_unknown),
    )


def _hint(
    reader: Reader,
    question: Question,
    hits: Sequence[Hit],
    related: RelatedHits | None,
    freshness: Freshness,
    params: RecallParams,
) -> str | None:
    """What is said below an answer: how much there is of relations asked for; where nothing is found, why; what of the
    question stands nowhere, or why what is found might as well be something else.
    """
    if related is not None:
        if not related.is_unknown:
            return related.said or None
        said = recall_documents.still_indexed(related.said, freshness.pending_files)
        return not_here(reader, question, said, freshness)
    begun = too_short(question) if params.prefix else None
    if not hits:
        return begun if begun and freshness.files else why_nothing(reader, question, freshness, params.types)
    is_whole = freshness.state == "ready" and not freshness.pending_files  # what is not indexed yet may say it
    nowhere = unsaid(reader, question) if is_whole and not begun else None
    if is_whole and (params.types is None or "code" in params.types):
        nowhere = answered_as_words(question.text) or nowhere
    return nowhere or why_arbitrary(reader, question, len(hits), freshness.chunks)


def symbols(reader: Reader, query: str, limit: int, now: float) -> list[Hit]:
    """Definitions whose name starts like the query, then those recall finds for it, each with what else of its file
    answers (`workspace/symbol`, asked at every key: the last word may be the beginning of one).
    """
    hits = weigh(reader, chunk_reader.name_prefix(reader, query, limit), now)
    if len(hits) < limit and query.strip():
        known = {hit.chunk.id for hit in hits}
        found = recall(reader, completed(reader, parse_question(query), always=True), limit, now)
        beside = {each.id: each for hit in found for each in (hit.chunk, *hit.also)}
        more = [each for each in beside.values() if each.id not in known and each.kind not in ("module", "section")]
        hits += weigh(reader, more, now)
    return hits[:limit]
