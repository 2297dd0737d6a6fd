"""Patterns: recall of reasoning chunks: past solutions, ways of working that went well for similar questions. Reads
only.

They are few, so every match is weighed: by words (BM25), by how much of the question they cover, and by activation,
which adds what finished runs taught: `A = B + S + C − D + L`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from aurora_memory.activation import Activation, context_boost
from aurora_memory.lifespans.evaluate import decay_term, judge, ranking_factor
from aurora_memory.lifespans.policies import BUILT_IN, Policies
from aurora_memory.recall import signals
from aurora_memory.recall.access_history import levels_of
from aurora_memory.recall.question import Question, spelled_out
from aurora_memory.recall.ranking import Hit, score
from aurora_memory.recall.signals import Signals
from aurora_memory.store import chunk_reader, learned_reader, lifespans
from aurora_memory.store.reader import Reader
from aurora_memory.tokens import terms
from aurora_memory.views import ChunkView

CANDIDATES = 50
ALIKE = 0.7
"""Share of terms that the questions, and the steps, of two patterns have in common which say the same."""

PARTIAL = -0.5
"""Weight of what went only partly well, beside a pattern."""


FADING = 2.0
"""By what the logarithm of a verdict's ranking factor counts, as log odds: −0.3 for what fades, −1.0 for expired."""


def recall_reasoning(
    reader: Reader, question: Question, limit: int, now: float, policies: Policies = BUILT_IN
) -> list[Hit]:
    """The `limit` most useful reasoning chunks for a question, best first, scored as code is. `now` is Unix seconds.

    `policies` say how fast each fades, and what ranks lower because its lifespan is over (AURORA §6.7.1).
    """
    asked = spelled_out(question)
    matches = learned_reader.match_reasoning(reader, asked, max(limit, CANDIDATES))
    ids = [chunk_id for chunk_id, _ in matches]
    best = max((score for _, score in matches), default=0.0)
    words = {chunk_id: score / best if best > 0 else 1.0 for chunk_id, score in matches}
    weighed = weigh_reasoning(reader, ids, now, asked, words, policies)
    hits = [hit for hit in weighed if not reader.weighing.forgets(hit.activation)]
    return merged(sorted(hits, key=lambda hit: (-hit.strength, hit.chunk.name)))[:limit]


def merged(hits: Sequence[Hit]) -> list[Hit]:
    """Patterns that say the same as one: the first, which is best, answers for the others (`similar`)."""
    kept: list[tuple[Hit, list[ChunkView]]] = []
    for hit in hits:
        same = next((others for one, others in kept if _say_the_same(one.chunk, hit.chunk)), None)
        if same is None:
            kept.append((hit, []))
        else:
            same.append(hit.chunk)
    return [replace(hit, similar=tuple(others)) if others else hit for hit, others in kept]


def _say_the_same(one: ChunkView, other: ChunkView) -> bool:
    """Likeness of both the questions and the steps taken."""
    return _alike(one.signature, other.signature) >= ALIKE and _alike(one.docstring, other.docstring) >= ALIKE


def _alike(one: str, other: str) -> float:
    """Jaccard similarity: share of the terms of two texts that stand in both."""
    mine, theirs = set(terms(one)), set(terms(other))
    return len(mine & theirs) / len(mine | theirs) if mine or theirs else 1.0


def weigh_reasoning(
    reader: Reader,
    ids: Sequence[int],
    now: float,
    asked: Sequence[str] = (),
    words: Mapping[int, float] | None = None,
    policies: Policies = BUILT_IN,
) -> list[Hit]:
    """Live reasoning chunks with their activation, in the order given.

    `asked` are the question's terms, `words` how well each chunk's words match them, in [0, 1].
    """
    if not ids:
        return []
    weighing = reader.weighing
    chunks = chunk_reader.by_id(reader, ids)
    accesses = chunk_reader.weighed_accesses(reader, ids, now)
    used = chunk_reader.accesses(reader, ids)
    boosts = learned_reader.boosts(reader, ids)
    documents = learned_reader.reasoning(reader, ids)
    indexed = learned_reader.reasoning_terms(reader, ids)
    facts = lifespans.lifespan_facts(reader, ids)
    live = [chunk_id for chunk_id in ids if chunk_id in chunks]
    histories = [tuple(accesses.get(chunk_id, ())) for chunk_id in live]
    hits: list[Hit] = []
    for chunk_id, history, level in zip(live, histories, levels_of(histories, now, weighing.decay_rate), strict=True):
        matched = tuple(term for term in asked if term in indexed[chunk_id])
        covered = len(matched) / len(asked) if asked else 0.0
        verdict = judge(facts[chunk_id], policies, now)
        activation = Activation(
            base_level=level,
            spreading=0.0,
            context_boost=context_boost(covered, weighing.context_boost_max),
            decay=decay_term((now - used[chunk_id][-1]) / 86_400, verdict.decay_mechanism) if history else 0.0,
            learned=boosts.get(chunk_id, 0.0),
        )
        speaking = Signals.of(
            {
                signals.words: covered * (words or {}).get(chunk_id, 0.0),
                signals.cover: covered,
                signals.name_cover: covered,
                signals.file_cover: covered,
                signals.context_boost: activation.context_boost,
                signals.recency: activation.base_level - activation.decay,
                signals.learned: activation.learned,
            }
        )
        bonus = 0.0 if documents[chunk_id].is_pattern else PARTIAL
        total = bonus + FADING * math.log(ranking_factor(verdict)) + speaking.strength()
        chunk = chunks[chunk_id]
        hits.append(
            Hit(
                chunk=chunk,
                score=round(score(total), 6),
                strength=total,
                signals=speaking,
                activation=activation,
                last_used=history[-1] if history else None,
                last_modified=chunk.changed_at,
                focus=(chunk.line_start, chunk.line_end),
                matched=matched,
                history=history,
            )
        )
    return hits
