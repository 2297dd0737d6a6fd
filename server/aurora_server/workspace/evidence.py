"""Evidence for a chunk's rank (score breakdown): each term of its activation with where it comes from, each of its
ranking signals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, UnsetType

from aurora_memory.chunks import REASONING
from aurora_memory.learning import Boost
from aurora_memory.recall import Hit
from aurora_memory.recall.question import Question
from aurora_memory.recall.question_kind import MEANING, QuestionKind
from aurora_memory.recall.ranking import Nearness
from aurora_memory.recall.signals import SIGNALS, weights_of
from aurora_memory.recall.similar_commits import Episode
from aurora_memory.store import chunk_reader, commit_reader, learned_reader
from aurora_memory.store.reader import Reader
from aurora_memory.term_counts import unpacked
from aurora_memory.views import ChunkView, Commits, PartView
from aurora_protocol.methods import (
    Evidence,
    LearnedBoost,
    Lines,
    Match,
    PrimingCommit,
    Reach,
    SignalContribution,
    Similarity,
)
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.wire import iso, place_name, shown_id

ACCESSES = 10
"""Accesses listed; the rest are counted."""

LESSONS = 10
_DAY = 86_400.0


def evidence_of(
    reader: Reader, hits: Sequence[Hit], question: Question | None, now: float, colleagues: Colleagues
) -> list[Evidence]:
    """The evidence for each hit; without a question, that of its activation only. `now` is Unix seconds."""
    ids = [hit.chunk.id for hit in hits]
    parts = chunk_reader.parts_of(reader, ids) if question is not None else {}
    commits = commit_reader.chunk_commits(reader, ids)
    used = chunk_reader.accesses(reader, ids)
    learned = learned_reader.lessons(reader, ids)
    parts_of_others = colleagues.parts(reader, ids)
    sources = chunk_reader.by_id(reader, list({step.source for hit in hits for step in hit.path}))
    return [
        Evidence(
            matched_terms=list(hit.matched),
            matches=_matches(hit, question, parts.get(hit.chunk.id, ())),
            accesses=[iso(time) for time in hit.history[-ACCESSES:]],
            access_count=len(hit.history),
            accesses_from=_origin(hit, commits, hit.chunk.id in used),
            days_since_access=round(max(0.0, now - hit.history[-1]) / _DAY, 4) if hit.history else None,
            reached=_reached(hit, sources),
            episodes=[_remembered(each) for each in hit.episodes],
            learned=[_lesson(each) for each in learned.get(hit.chunk.id, ())[:LESSONS]],
            signals=signals(hit, question.kind) if question is not None else [],
            question="" if question is None else _understood(question),
            semantic=_near(hit.nearness),
            focus=Lines(line_start=hit.focus[0], line_end=hit.focus[1]),
            colleagues=parts_of_others.get(hit.chunk.id, []),
        )
        for hit in hits
    ]


def signals(hit: Hit, kind: QuestionKind | None = None) -> list[SignalContribution]:
    """Ranking signals of a hit, for it and against it, largest first.

    Beside those that are declared: a run that went only partly well, and the place that its file and an embedding gave
    it.
    """
    weights = weights_of(None if kind is None or hit.chunk.kind == REASONING else kind)
    found = [_signal(each.name, hit.signals[each], weights[each.place]) for each in SIGNALS]
    rest = "partial success" if hit.chunk.kind == REASONING else "order"
    found.append(_signal(rest, hit.strength - hit.signals.strength(weights), 1.0))
    return sorted((each for each in found if each.contribution), key=lambda each: -abs(each.contribution))


def _understood(question: Question) -> str:
    """Question kind that a question is taken for, and what that makes of the answers."""
    if question.is_open:
        return f"{question.kind}, or a report: five answers as to a topic, one of each file, then function by function"
    return f"{question.kind}: {MEANING[question.kind]}"


def _signal(name: str, value: float, weight: float) -> SignalContribution:
    return SignalContribution(name=name, value=round(value, 6), weight=weight, contribution=round(weight * value, 6))


def _matches(hit: Hit, question: Question | None, parts: Sequence[PartView]) -> list[Match]:
    """Matched terms of a hit, and in which fields they stand."""
    if question is None:
        return []
    if hit.chunk.kind == REASONING:
        return [Match(term=term, fields=[]) for term in hit.matched]
    found: list[Match] = []
    for term in question.weights:
        fields = {field: None for part in parts for field in unpacked(part.occurrences.get(term, 0))}
        if fields:
            found.append(Match(term=term, fields=list(fields)))
    return found


def _origin(hit: Hit, commits: Mapping[int, Commits], used: bool) -> str:
    if used:
        return "answers"
    if not hit.history:
        return "unknown"
    if (known := commits.get(hit.chunk.id)) is not None:
        return (
            "git" if known.changed else "unknown"
        )  # where a history is cut off, a chunk was there, and was not changed
    return "edits" if hit.chunk.changed_at is not None else "file"


def _reached(hit: Hit, sources: Mapping[int, ChunkView]) -> list[Reach]:
    """Path by which activation spread to a hit."""
    return [
        Reach(
            id=shown_id(source),
            name=place_name(source),
            file=source.path,
            relation=step.kind,
            forward=step.forward,
            amount=round(step.amount, 6),
        )
        for step in hit.path
        if (source := sources.get(step.source)) is not None
    ]


def _lesson(boost: Boost) -> LearnedBoost:
    return LearnedBoost(run=boost.run, amount=round(boost.amount, 6), at=iso(boost.at))


def _remembered(episode: Episode) -> PrimingCommit:
    return PrimingCommit(commit=episode.hash, subject=episode.subject, amount=round(episode.amount, 6))


def _near(nearness: Nearness | None) -> Similarity | UnsetType:
    if nearness is None:
        return UNSET
    return Similarity(rank=nearness.rank, similarity=round(nearness.similarity, 4))
