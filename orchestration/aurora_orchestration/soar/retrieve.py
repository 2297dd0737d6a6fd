"""Phase 2 (context retrieval, as in RAG): what memory has for a question, within a token budget (AURORA §3.2,
§6.8.2.1).

Memory ranks and measures; here every type gets its share, nothing comes twice, no secret goes on, and where recall is
weak the logs of earlier conversations are looked at as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from aurora_memory import StoreError
from aurora_memory.recall.conversation_logs import COVERED
from aurora_memory.recall.question import parse_question
from aurora_memory.token_cost import estimated_tokens
from aurora_memory.tokens import terms
from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.settings import RetrievalSettings
from aurora_orchestration.soar.services import Memory
from aurora_orchestration.soar.stages import Tell
from aurora_orchestration.types import LEVELS, Assessment, Complexity, ContextBundle, ContextChunk, LogSection

Part = TypeVar("Part", ContextChunk, LogSection)

TYPES = ("code", "reas", "know")
SHARES = {"code": 0.5, "reas": 0.2, "know": 0.15}
"""Of the budget, what a type's own good hits may take before the best of all fill the rest."""

GOOD = 0.5
"""The score from which a hit is good: even odds, as memory scores, that it is of use."""

_MAX_TOLD = 20_000

LOG_SHARE = 0.25
"""Of the budget, what sections of logs may take."""


async def retrieve(
    query: str, memory: Memory, assessment: Assessment, settings: RetrievalSettings, *, tell: Tell
) -> ContextBundle:
    """Context that memory gives to `query`, best first. Memory that cannot answer gives nothing, with a notice."""
    budget = budget_of(assessment.complexity, settings)
    if budget == 0:
        tell("retrieve", "skipped", "no tokens are set aside for context")
        return ContextBundle()
    tell("retrieve", "in_progress", "asking memory")
    try:
        best = await memory.recall(query, budget=budget, limit=settings.max_chunks)
        missing = [kind for kind in TYPES if not any(chunk.type == kind and chunk.score >= GOOD for chunk in best)]
        shares = [max(1, round(SHARES[kind] * budget)) for kind in missing]
        more = await asyncio.gather(
            *(
                memory.recall(query, budget=share, limit=settings.max_chunks, types=(kind,))
                for kind, share in zip(missing, shares, strict=True)
            )
        )
        recalled = (best, *more)
        weak = await asyncio.to_thread(is_weak, query, [chunk for chunks in recalled for chunk in chunks])
        logs = await memory.logs(query, budget=max(1, round(LOG_SHARE * budget))) if weak else ()
    except StoreError as error:
        tell("retrieve", "failed", f"memory cannot be asked, so nothing is known beforehand: {error}", notice=True)
        return ContextBundle(budget=budget)
    bundle = await asyncio.to_thread(mixed, recalled, logs, budget, settings.max_chunks)
    counts = {kind: sum(chunk.type == kind for chunk in bundle.chunks) for kind in TYPES}
    said = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count) or "nothing"
    detail = f"{said}; {bundle.tokens} of {budget} tokens" + (f"; {len(bundle.logs)} from logs" if weak else "")
    found = {
        kind: {
            f"{chunk.file}:{chunk.line_start}" if chunk.file else chunk.id: round(chunk.activation, 2)
            for chunk in bundle.chunks
            if chunk.type == kind
        }
        for kind in TYPES
        if counts[kind]
    }
    tell(
        "retrieve",
        "complete",
        detail,
        chunks=counts,
        activations=found,
        logs=len(bundle.logs),
        tokens=bundle.tokens,
        budget=budget,
        weak=weak,
    )
    return bundle


def budget_of(complexity: Complexity, settings: RetrievalSettings) -> int:
    """The tokens of context that a complexity gets."""
    tokens = (settings.simple_tokens, settings.medium_tokens, settings.complex_tokens, settings.critical_tokens)
    return tokens[LEVELS.index(complexity)]


def is_weak(query: str, chunks: Sequence[ContextChunk]) -> bool:
    """Whether nothing good was recalled: no chunk scores `GOOD` and has half of the question's telling terms. Pure.

    The score alone cannot tell: where memory knows few of the words, a chunk that shares one of them scores well.
    """
    asked = set(parse_question(query).terms)
    for chunk in chunks:
        if chunk.score >= GOOD:
            told = terms(f"{chunk.name} {chunk.file} {chunk.summary} {chunk.content[:_MAX_TOLD]}")
            if len(asked.intersection(told)) >= COVERED * len(asked):
                return False
    return True


def mixed(
    recalled: Sequence[Sequence[ContextChunk]], logs: Sequence[LogSection], budget: int, most: int
) -> ContextBundle:
    """Context selection: first each type's good hits within its share, then the best of what is left. Pure.

    Of overlapping chunks of one file the better stays. The order is by score, then by id, the same for the same hits.
    """
    once: dict[int, ContextChunk] = {}
    for chunk in (chunk for chunks in recalled for chunk in chunks):
        once.setdefault(chunk.row, chunk)
    safe = map(_safe, once.values())
    ranked = sorted(safe, key=lambda chunk: (-chunk.score, chunk.id, chunk.row))
    sections = sorted(map(_safe, logs), key=lambda section: (-section.score, section.file, section.line_start))
    left = budget
    kept_logs: list[LogSection] = []
    room = round(LOG_SHARE * budget)
    for section in sections:
        if section.tokens <= room:
            kept_logs.append(section)
            room -= section.tokens
            left -= section.tokens
    kept: list[ContextChunk] = []
    for kind in TYPES:
        share = min(left, round(SHARES[kind] * budget))
        for chunk in ranked:
            if chunk.type == kind and chunk.score >= GOOD and chunk.tokens <= share and _fits(chunk, kept, most):
                kept.append(chunk)
                share -= chunk.tokens
                left -= chunk.tokens
    for chunk in ranked:
        if chunk.tokens <= left and _fits(chunk, kept, most):
            kept.append(chunk)
            left -= chunk.tokens
    kept.sort(key=lambda chunk: (-chunk.score, chunk.id, chunk.row))
    return ContextBundle(chunks=tuple(kept), logs=tuple(kept_logs), tokens=budget - left, budget=budget)


def _fits(chunk: ContextChunk, kept: Sequence[ContextChunk], most: int) -> bool:
    return len(kept) < most and not any(_repeats(chunk, other) for other in kept)


def _repeats(chunk: ContextChunk, other: ContextChunk) -> bool:
    """Near-duplicates: whether the two are one, say the same, or one holds the other's lines."""
    if chunk.row == other.row or chunk.id == other.id or (chunk.content and chunk.content == other.content):
        return True
    if chunk.file != other.file or not chunk.file or chunk.type != other.type:
        return False
    within = other.line_start <= chunk.line_start and chunk.line_end <= other.line_end
    around = chunk.line_start <= other.line_start and other.line_end <= chunk.line_end
    return within or around


def _safe(part: Part) -> Part:
    """The part without secrets, its tokens counted anew where something was taken out."""
    content = redact(part.content, pii=False).text
    if content != part.content:
        part = msgspec.structs.replace(part, content=content, tokens=estimated_tokens(content.encode()))
    if isinstance(part, ContextChunk) and part.summary:
        return msgspec.structs.replace(part, summary=redact(part.summary, pii=False).text)
    return part
