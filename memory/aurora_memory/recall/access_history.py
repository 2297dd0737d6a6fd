"""Access history of a chunk (uses, edits and commits, with their times), as base-level learning needs it (AURORA §6.3;
ruling 7).
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence

from aurora_memory.activation import DECAY_RATE, levels_of_histories
from aurora_memory.views import ChunkHead, Commits, OthersUses
from aurora_protocol.human_text import CLOCKS_APART

_NEVER = math.log(3650.0)
"""A chunk of which no access is known counts as used once, ten years ago."""


def histories_of(
    chunks: Sequence[ChunkHead],
    accesses: Mapping[int, Sequence[float]],
    others: Container[int],
    commits: Mapping[int, Commits],
    mtimes: Mapping[str, float],
    now: float,
) -> list[tuple[float, ...]]:
    """Each chunk's access times, oldest first: one's own, else its git commits and latest edit, else its file's time.
    Colleagues' stand in for these as one's own do: what only they have used has none here (`with_others`). What is
    dated after `now` is left out.
    """
    histories: list[tuple[float, ...]] = []
    for chunk in chunks:
        own = accesses.get(chunk.id)
        if own:
            histories.append(tuple(own))
            continue
        if chunk.id in others:
            histories.append(())
            continue
        known = commits.get(chunk.id)
        times = tuple(map(float, reversed(known.times))) if known else ()
        if chunk.changed_at is not None:
            times = tuple(sorted((*times, chunk.changed_at)))
        elif not times and chunk.path in mtimes:
            times = (mtimes[chunk.path],)
        histories.append(not_after(times, now))
    return histories


def not_after(times: Sequence[float], now: float) -> tuple[float, ...]:
    """Those of some times, oldest first, that may be right: what is dated later than `now` was so by a wrong clock."""
    end = len(times)
    while end and times[end - 1] > now + CLOCKS_APART:
        end -= 1
    return tuple(times[:end])


def modified_at(chunk: ChunkHead, commits: Mapping[int, Commits], now: float) -> float | None:
    """Time of a chunk's last change: the edit memory saw, or its last commit; None where neither is known, or what came
    last is dated after `now`.

    A file's own time is no evidence: a clone, a checkout and a copy write files anew.
    """
    known = commits.get(chunk.id)
    latest = now + CLOCKS_APART
    committed = float(known.latest or known.times[0]) if known and known.changed and known.times else None
    if chunk.changed_at is None:
        return committed if committed is not None and committed <= latest else None
    if committed is None or committed > latest:  # no edit is seen that is behind a commit
        committed = chunk.changed_at
    return max(chunk.changed_at, committed) if chunk.changed_at <= latest else None


def modified_before(chunk: ChunkHead, commits: Mapping[int, Commits], now: float) -> float | None:
    """Time by which a chunk was there already, where that is all that is known: the end of a history cut off."""
    known = commits.get(chunk.id)
    if chunk.changed_at is not None or known is None or known.changed or not known.times:
        return None
    return float(known.times[0]) if known.times[0] <= now + CLOCKS_APART else None


def levels_of(histories: Sequence[tuple[float, ...]], now: float, decay: float = DECAY_RATE) -> list[float]:
    """Base level of each history at once."""
    known = levels_of_histories(histories, now, decay)
    never = -decay * _NEVER
    return [never if math.isinf(known[history]) else known[history] for history in histories]


def with_others(
    levels: Sequence[float],
    histories: Sequence[tuple[float, ...]],
    others: Sequence[OthersUses | None],
    weight: float,
) -> list[float]:
    """Base levels with colleagues' uses: beside one's own by their weight; what only they have used is as present as it
    is to them, and no use of one's own makes it less so.
    """
    return [
        level
        if uses is None
        else math.log(max(uses.amount, (math.exp(level) if history else 0.0) + weight * uses.amount))
        for level, history, uses in zip(levels, histories, others, strict=True)
    ]
