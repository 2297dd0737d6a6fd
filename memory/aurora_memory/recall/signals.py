"""Weighing what was found: the activation of each chunk, what speaks for it, and the best of them as hits."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import astuple

from aurora_memory.activation import Activation, context_boost, decay_penalty
from aurora_memory.recall.access_history import histories_of, levels_of, modified_at
from aurora_memory.recall.places import standing_at
from aurora_memory.recall.question import Question
from aurora_memory.recall.ranking import WEIGHTS, Hit, Signals, amount, kind_signals, name_bonus, score
from aurora_memory.recall.similar_commits import Primed
from aurora_memory.recall.spreading_activation import Spread
from aurora_memory.store.history import Commits
from aurora_memory.store.reader import ChunkView, Reader, Sketch

_Terms = tuple[float, float, float, float, float]
"""Of `Activation`, in its order."""

_Signals = tuple[
    float, float, float, float, float, float, float, float, float, float, float, float, float, float, float, float
]
"""Of `Signals`, in their order."""


class Found(NamedTuple):
    """What the words say of one chunk, by its best part: that part, then the first of `Signals`, in their order."""

    part: int
    words: float
    cover: float
    name_cover: float
    name_share: float
    file_cover: float
    file_best: float


_UNFOUND = (0.0,) * 6
"""What the words say of a chunk that was found otherwise."""


async def weighed(
    reader: Reader,
    question: Question,
    chunks: Sequence[Sketch | ChunkView],
    found: Mapping[int, Found],
    spread: Spread,
    episodes: Mapping[int, Primed],
    now: float,
    weights: Signals = WEIGHTS,
    enough: int | None = None,
    declaring: Collection[int] = (),
) -> list[Hit]:
    """The `enough` best of the chunks, best first; where it is None all of them (whole chunks), in the order given.

    `declaring` are the remainders (row ids) that declare what the question names.
    """
    ids = [chunk.id for chunk in chunks]
    accesses: Mapping[int, Sequence[float]] = {}
    boosts: Mapping[int, float] = {}
    if await reader.has_learned():
        accesses, boosts = await reader.accesses(ids), await reader.boosts(ids)
    commits = await reader.history.commit_times(ids)
    mtimes = await _uncommitted(reader, chunks, commits)
    histories = histories_of(chunks, accesses, commits, mtimes)
    weighing = reader.weighing
    levels = levels_of(histories, now, weighing.decay_rate)
    by_file: dict[str, float] = {}
    for chunk in chunks:
        if chunk.id in episodes:
            by_file[chunk.path] = max(episodes[chunk.id].amount, by_file.get(chunk.path, 0.0))
    # For each of many chunks plain values only; what is shown of a few is made of them below.
    strongest: list[tuple[float, int, float, _Terms, _Signals]] = []
    plain_weights, amounts, most = astuple(weights), spread.amounts, weighing.context_boost_max
    standing = standing_at(question.places, chunks) if question.places else {}
    forgetful = enough is not None and weighing.retrieval_threshold is not None
    for n, (chunk, history, level) in enumerate(zip(chunks, histories, levels, strict=True)):
        chunk_id = chunk.id
        match = found.get(chunk_id)
        primed = episodes.get(chunk_id)
        reached = amounts.get(chunk_id, 0.0)
        brought = primed.amount if primed else 0.0
        boost = context_boost(match.name_cover, most) if match else 0.0
        decay = decay_penalty((now - history[-1]) / 86_400) if history else 0.0
        learned = boosts.get(chunk_id, 0.0)
        terms = level, reached + brought, boost, decay, learned
        if forgetful and weighing.forgets(Activation(*terms)):
            continue
        signals = (
            *(match[1:] if match else _UNFOUND),
            math.sqrt(reached),
            math.sqrt(brought),
            math.sqrt(by_file.get(chunk.path, 0.0)) if by_file else 0.0,
            boost,
            level - decay,
            learned,
            *kind_signals(chunk, question, declares=chunk_id in declaring),
        )
        named = name_bonus(chunk, question, standing.get(chunk_id, 0.0), declares=chunk_id in declaring)
        strongest.append((amount(signals, named, plain_weights), n, named, terms, signals))
    if enough is not None:
        strongest.sort(key=lambda each: (-each[0], chunks[each[1]].path, chunks[each[1]].line_start))
    best = strongest[:enough]
    whole = await reader.chunks([ids[n] for _, n, *_ in best]) if enough is not None else {}
    hits: list[Hit] = []
    for total, n, named, terms, signals in best:
        given = chunks[n]
        shown = given if isinstance(given, ChunkView) else whole.get(given.id)
        if shown is None:  # gone since it was weighed
            continue
        used, primed = accesses.get(shown.id), episodes.get(shown.id)
        hits.append(
            Hit(
                chunk=shown,
                score=round(score(total), 6),
                strength=total,
                named=named,
                activation=Activation(*terms),
                last_used=used[-1] if used else None,
                last_modified=modified_at(shown, commits, mtimes),
                focus=(shown.line_start, shown.line_end),
                matched=(),
                history=histories[n],
                signals=Signals(*signals),
                episodes=primed.episodes if primed else (),
            )
        )
    return hits


async def _uncommitted(
    reader: Reader, chunks: Sequence[Sketch | ChunkView], commits: Mapping[int, Commits]
) -> dict[str, float]:
    """Modification times of the files of chunks that git knows nothing of."""
    unknown = sorted({chunk.path for chunk in chunks if chunk.id not in commits})
    return await reader.mtimes(unknown) if unknown else {}
