"""Chunk reader: live chunks by row id, name, place or time of change, their parts and accesses. Never writes."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import accumulate
from operator import attrgetter

from aurora_memory.activation import MINUTE, Weighing
from aurora_memory.store import others_rows
from aurora_memory.store.postings import decode_occurrences
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import as_list
from aurora_memory.views import ChunkHead, ChunkView, OthersUses, PartView

COLUMNS = ", ".join(ChunkView.__struct_fields__)
_HEAD = ", ".join(ChunkHead.__struct_fields__)
_CHUNK = f"SELECT {COLUMNS} FROM chunks"


def named(reader: Reader, names: Sequence[str], limit: int = 50) -> list[ChunkView]:
    """Live chunks whose simple or qualified name is one of `names`, whatever the case; those spelled so first."""
    marks = ", ".join("?" * len(names))
    leaves = [name.rsplit(".", 1)[-1] for name in names]
    rows = reader.rows(
        f"""{_CHUNK} WHERE gone_at IS NULL AND leaf COLLATE NOCASE IN ({marks})
            AND (leaf COLLATE NOCASE IN ({marks}) OR name COLLATE NOCASE IN ({marks}))
            ORDER BY name IN ({marks}) DESC, leaf IN ({marks}) DESC LIMIT ?""",
        (*leaves, *names, *names, *names, *names, limit),
    )
    return [ChunkView(*row) for row in rows]


def name_prefix(reader: Reader, prefix: str, limit: int) -> list[ChunkView]:
    """Symbol search: live chunks whose simple name starts with `prefix`, shortest names first (`workspace/symbol`)."""
    end = prefix[:-1] + chr(ord(prefix[-1].lower()) + 1) if prefix else "\U0010ffff"
    rows = reader.rows(
        f"""{_CHUNK} WHERE gone_at IS NULL AND leaf COLLATE NOCASE >= ? AND leaf COLLATE NOCASE < ?
            AND kind NOT IN ('module', 'section', 'reasoning') ORDER BY length(leaf), leaf, path LIMIT ?""",
        (prefix, end, limit),
    )
    return [ChunkView(*row) for row in rows]


def members_from(reader: Reader, beginning: str, limit: int) -> list[str]:
    """Qualified names that `Owner.beg` may become, whatever the case: members of that owner, shortest first."""
    begun = beginning.rpartition(".")[2].lower()
    if not begun:
        return []
    rows = reader.rows(
        """SELECT DISTINCT name FROM chunks
           WHERE gone_at IS NULL AND leaf COLLATE NOCASE >= ? AND leaf COLLATE NOCASE < ?
           AND instr('.' || lower(name), ?)
           ORDER BY length(name), name LIMIT ?""",
        (begun, begun[:-1] + chr(ord(begun[-1]) + 1), f".{beginning.lower()}", limit),
    )
    return [row[0] for row in rows]


def names_from(reader: Reader, letter: str, limit: int = 5000) -> list[str]:
    """Simple names of live chunks that begin with a letter, whatever the case, for "did you mean"."""
    rows = reader.rows(
        """SELECT DISTINCT leaf FROM chunks
           WHERE gone_at IS NULL AND leaf COLLATE NOCASE >= ?1 AND leaf COLLATE NOCASE < ?2 LIMIT ?3""",
        (letter.lower(), chr(ord(letter.lower()) + 1), limit),
    )
    return [row[0] for row in rows]


def names_with(reader: Reader, letters: str, limit: int = 5000) -> list[str]:
    """Simple names of live chunks with `letters` in them, whatever the case, for "did you mean": of many those that
    were indexed first.

    What is true of every name (`>= ''`) has SQLite look through their index, and not through all of the chunks.
    """
    literally = re.sub("([!%_])", r"!\1", letters.lower())
    rows = reader.rows(
        """SELECT leaf FROM chunks WHERE gone_at IS NULL AND leaf COLLATE NOCASE >= '' AND leaf LIKE ? ESCAPE '!'
           GROUP BY leaf ORDER BY min(id) LIMIT ?""",
        (f"%{literally}%", limit),
    )
    return [row[0] for row in rows]


def by_id(reader: Reader, ids: Sequence[int]) -> dict[int, ChunkView]:
    """Live chunks by row id."""
    rows = reader.rows(f"{_CHUNK} WHERE id IN (SELECT value FROM json_each(?)) AND gone_at IS NULL", (as_list(ids),))
    return {row[0]: ChunkView(*row) for row in rows}


def heads(reader: Reader, ids: Sequence[int]) -> list[ChunkHead]:
    """As `by_id`, by path and line: for ranking many of which few are shown."""

    def read(missing: Sequence[int]) -> dict[int, ChunkHead]:
        rows = reader.rows(
            f"SELECT {_HEAD} FROM chunks WHERE id IN (SELECT value FROM json_each(?)) AND gone_at IS NULL",
            (as_list(missing),),
        )
        return {row[0]: ChunkHead(*row) for row in rows}

    return sorted(reader.heads.of(ids, read).values(), key=attrgetter("path", "line_start", "id"))


def remainders(reader: Reader) -> list[int]:
    """The row ids of all files' remainders."""
    return [row[0] for row in reader.lasting("SELECT id FROM chunks WHERE kind = 'module' AND gone_at IS NULL")]


def of_file(reader: Reader, path: str) -> list[ChunkView]:
    """A file's live chunks in line order."""
    rows = reader.rows(f"{_CHUNK} WHERE path = ? AND gone_at IS NULL ORDER BY line_start, id", (path,))
    return [ChunkView(*row) for row in rows]


def by_name(reader: Reader, path: str, name: str) -> list[ChunkView]:
    """A file's live chunks of that qualified name: one, unless it is overloaded."""
    rows = reader.rows(f"{_CHUNK} WHERE path = ? AND name = ? AND gone_at IS NULL ORDER BY line_start", (path, name))
    return [ChunkView(*row) for row in rows]


def changed_since(reader: Reader, since: float, limit: int) -> list[ChunkView]:
    """Live chunks whose text was edited at or after a moment (Unix seconds), latest first."""
    rows = reader.rows(
        f"""{_CHUNK} WHERE changed_at >= ? AND gone_at IS NULL AND kind != 'reasoning'
            ORDER BY changed_at DESC, id LIMIT ?""",
        (since, limit),
    )
    return [ChunkView(*row) for row in rows]


def parts_of(reader: Reader, ids: Sequence[int]) -> dict[int, list[PartView]]:
    """The searchable parts of some chunks, in line order."""
    rows = reader.rows(
        """SELECT chunk_id, id, line_start, line_end, occurrences FROM parts
           WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY line_start, id""",
        (as_list(ids),),
    )
    found: dict[int, list[PartView]] = {}
    for chunk_id, number, line_start, line_end, blob in rows:
        found.setdefault(chunk_id, []).append(PartView(number, line_start, line_end, decode_occurrences(blob)))
    return found


def first_part(reader: Reader, path: str) -> list[int]:
    """The number of a searchable part of a file, where it has any."""
    sql = "SELECT parts.id FROM chunks JOIN parts ON chunk_id = chunks.id WHERE path = ? AND gone_at IS NULL LIMIT 1"
    return [row[0] for row in reader.rows(sql, (path,))]


def weighed_accesses(reader: Reader, ids: Sequence[int], now: float) -> dict[int, list[float]]:
    """Access times as they count at `now` (Unix seconds), one's own and colleagues' together (`parted_accesses`)."""
    own, others = parted_accesses(reader, ids, now)
    found = {each: sorted((*own.get(each, ()), *others.get(each, ()))) for each in own.keys() | others.keys()}
    return {each: found[each] for each in ids if each in found}


def summed_accesses(
    reader: Reader, ids: Sequence[int], now: float
) -> tuple[dict[int, list[float]], dict[int, OthersUses]]:
    """One's own access times (Unix seconds, oldest first), and what colleagues' come to at `now`, without a weight."""
    if not _weighs_others(reader):
        return accesses(reader, ids), {}
    known = reader.times.of(ids, reader.writes)
    own = {each: times.own for each, times in known.items() if times.own}
    used = {each: times for each, times in known.items() if times.authors}
    if not used:
        return own, {}
    import numpy as np  # 0.1 s that opening a workspace need not pay

    counts = [len(times.others) for times in used.values()]
    ages = np.concatenate([times.others for times in used.values()])
    # In place: recall comes here with each question, and three copies more push what it reads next out of the cache.
    np.subtract(now, ages, out=ages)
    ages /= 86_400
    np.maximum(ages, MINUTE, out=ages)
    ages **= -reader.weighing.decay_rate
    amounts = np.add.reduceat(ages, [0, *accumulate(counts[:-1])]).tolist()
    sums = zip(used.items(), counts, amounts, strict=True)
    return own, {each: OthersUses(count, amount, times.latest) for (each, times), count, amount in sums}


def parted_accesses(
    reader: Reader, ids: Sequence[int], now: float
) -> tuple[dict[int, list[float]], dict[int, list[float]]]:
    """One's own access times (Unix seconds, oldest first), and colleagues' as they count at `now`: as ones that are
    older.

    ACT-R's `w · t^−d` is `(t · w^(−1/d))^−d`: of weight 0.5, with the usual decay, one four times as long ago.
    """
    if not _weighs_others(reader):
        return accesses(reader, ids), {}
    older = _older(reader.weighing)
    known = reader.times.of(ids, reader.writes)
    own = {each: list(times.own) for each, times in known.items() if times.own}
    others = {
        each: (now - (now - times.others).clip(MINUTE * 86_400) * older).tolist()
        for each, times in known.items()
        if len(times.others)
    }
    return own, others


def counted_accesses(reader: Reader, ids: Sequence[int], now: float) -> dict[int, list[float]]:
    """Colleagues' access times as they count at `now` beside one's own; where there are none, as they are."""
    own, others = parted_accesses(reader, ids, now)
    known = reader.times.of(list(others), reader.writes)
    return {each: times if each in own else known[each].others.tolist() for each, times in others.items()}


def _weighs_others(reader: Reader) -> bool:
    """Whether there are colleagues' uses that weigh less than one's own: without decay, all uses weigh the same."""
    return reader.weighing.decay_rate != 0 and others_rows.has_others(reader)


def _older(weighing: Weighing) -> float:
    return math.pow(weighing.others_weight, -1 / weighing.decay_rate)


def accesses(reader: Reader, ids: Sequence[int]) -> dict[int, list[float]]:
    """Access times (Unix seconds, oldest first) of those chunks that have any."""
    rows = reader.rows(
        "SELECT chunk_id, at FROM accesses WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY chunk_id, at",
        (as_list(ids),),
    )
    found: dict[int, list[float]] = {}
    for chunk_id, at in rows:
        found.setdefault(chunk_id, []).append(at)
    return found
