"""A question to one workspace's memory: code, documents and reasoning ranked together, and put into words."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct
from msgspec.structs import replace

from aurora_memory.lifespans.policies import Policies
from aurora_memory.recall import Focus, Hit, Question, recall, understand
from aurora_memory.recall.conversation_logs import recall_logs
from aurora_memory.recall.patterns import recall_reasoning, weigh_reasoning
from aurora_memory.recall.places import below
from aurora_memory.recall.recall import STORED
from aurora_memory.store.reader import Reader
from aurora_protocol.methods import Recalled, RecallParams, SeenLog
from aurora_server.workspace import recall_documents
from aurora_server.workspace.evidence import evidence_of
from aurora_server.workspace.recalled_text import Text, file_text, texts, within_budget

if TYPE_CHECKING:
    from aurora_indexer.embedding.embedder import Embedder

CHOICE = 50
"""Hits that a budget is filled from, at least."""


class Answer(Struct, frozen=True):
    """What memory says: the results, best first, a hint where there are none, and logs where they tell more.

    `indexed_at` is when what it rests on was indexed, in Unix seconds.
    """

    indexed_at: float | None
    results: list[Recalled]
    hint: str | None
    logs: list[SeenLog]


class Recalling:
    """Asks one memory. With an `embedder`, by meaning too."""

    def __init__(self, root: Path, reader: Reader, policies: Policies, embedder: Embedder | None) -> None:
        self._root = root
        self._reader = reader
        self._policies = policies
        self._embedder = embedder

    async def answer(self, params: RecallParams, focus: Focus | None, pending: int) -> Answer:
        """Rank what memory holds. `focus` is primed; `pending` files are not indexed yet, which a hint may say."""
        reader, now = self._reader, time.time()
        params = self._from_root(params)
        question = understand(params.query)
        near = await self._near(params, question)
        at, hits, callers = await reader.at_once(self._hits(params, question, focus, near, now))
        ranked = hits
        chosen: list[Text] | None = None
        if params.budget_tokens is not None:
            hits, chosen = await within_budget(self._root, reader, hits, params.budget_tokens, params.limit)
        elif params.include_content:
            chosen = await texts(self._root, reader, hits)
        results = await self._recalled(hits, callers, chosen, question if params.explain else None, now)
        hint = None
        if ranked and not results:
            hint = recall_documents.nothing_fits(ranked[0], params.budget_tokens)
        elif not results:
            hint = await recall_documents.hint(reader, question, pending)
        logs = await recall_logs(reader, params.query, ranked)
        return Answer(at, results, hint, [recall_documents.seen_log(log) for log in logs])

    async def with_texts(self, params: RecallParams) -> list[tuple[Hit, Text]]:
        """The best mix that fits `budget_tokens`, best first, each with what is delivered of it."""
        params = self._from_root(params)
        question = understand(params.query)
        near = await self._near(params, question)
        _, hits, _ = await self._reader.at_once(self._hits(params, question, None, near, time.time()))
        budget = params.budget_tokens or 0
        return list(zip(*await within_budget(self._root, self._reader, hits, budget, params.limit), strict=True))

    def _from_root(self, params: RecallParams) -> RecallParams:
        return replace(params, query=below(str(self._root), params.query))

    async def _near(self, params: RecallParams, question: Question) -> Sequence[tuple[int, float]]:
        """What is near by meaning, where a model tells and chunks that have one are asked for."""
        if self._embedder is None or question.is_id or (params.types is not None and not STORED & set(params.types)):
            return ()
        return await self._embedder.nearest(params.query)

    async def _hits(
        self,
        params: RecallParams,
        question: Question,
        focus: Focus | None,
        near: Sequence[tuple[int, float]],
        now: float,
    ) -> tuple[float | None, list[Hit], dict[int, int]]:
        """When memory was indexed, the best hits of all types that are asked for, and how many chunks call each.

        Where they must fit a budget, there are more to choose from. Asks memory only.
        """
        reader = self._reader
        fact = await reader.fact("indexed_at")
        at = float(fact) if fact else None
        depth = params.limit if params.budget_tokens is None else max(params.limit, CHOICE)
        types = None if params.types is None else frozenset(params.types)
        hits: list[Hit] = []
        if params.query.strip().startswith("reas:"):
            row = await reader.reasoning_named(params.query.strip())
            if row is not None and (types is None or "reas" in types):
                return at, await weigh_reasoning(reader, [row], now, question.terms, policies=self._policies), {}
        if types is None or types & STORED:
            hits += await recall(
                reader, params.query, depth, now, focus, types, near=near, read=partial(file_text, self._root)
            )
        if (types is None or "reas" in types) and not (hits and question.is_id):
            hits += await recall_reasoning(reader, params.query, depth, now, self._policies)
        hits = sorted(hits, key=lambda hit: -hit.strength)[:depth]
        return at, hits, await reader.caller_counts([hit.chunk.id for hit in hits])

    async def _recalled(
        self,
        hits: Sequence[Hit],
        callers: Mapping[int, int],
        chosen: Sequence[Text] | None,
        question: Question | None,
        now: float,
    ) -> list[Recalled]:
        """The hits for the wire, with their texts, and with evidence where there is a question to explain them by."""
        evidence = await evidence_of(self._reader, hits, question, now) if question is not None and hits else None
        return [
            recall_documents.recalled(
                hit,
                self._root,
                callers.get(hit.chunk.id, 0),
                chosen[n] if chosen is not None else None,
                evidence[n] if evidence is not None else UNSET,
            )
            for n, hit in enumerate(hits)
        ]
