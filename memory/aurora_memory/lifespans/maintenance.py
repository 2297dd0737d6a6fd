"""A maintenance pass over memory: what to archive, what is flagged, what fades (AURORA §6.7.1, App. C.2)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from aurora_memory.lifespans.evaluate import Verdict, judge
from aurora_memory.lifespans.facts import ChunkFacts
from aurora_memory.lifespans.policies import Policies


class JudgedChunk(Struct, frozen=True):
    """A chunk's row id and what was decided over it."""

    id: int
    verdict: Verdict


class Review(Struct, frozen=True):
    """What one pass found, in the order of the chunks; a chunk may be flagged and fade as well.

    `archive` holds what is past its lifespan: learned chunks only, never code or what else a file still says.
    """

    archive: tuple[JudgedChunk, ...]
    escalate: tuple[JudgedChunk, ...]
    decaying: tuple[JudgedChunk, ...]


def review(facts: Iterable[ChunkFacts], policies: Policies, now: float) -> Review:
    """Judge every chunk. Changes nothing; `aurora_memory.store.lifespans` writes down what follows."""
    archive: list[JudgedChunk] = []
    escalate: list[JudgedChunk] = []
    decaying: list[JudgedChunk] = []
    for chunk in facts:
        verdict = judge(chunk, policies, now)
        if verdict.state == "expired":
            archive.append(JudgedChunk(chunk.id, verdict))
        elif verdict.state == "decaying":
            decaying.append(JudgedChunk(chunk.id, verdict))
        if verdict.escalations:
            escalate.append(JudgedChunk(chunk.id, verdict))
    return Review(tuple(archive), tuple(escalate), tuple(decaying))
