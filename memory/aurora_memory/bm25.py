"""BM25 ranking (full-text relevance: term frequency and its saturation, inverse document frequency, length
normalization): which parts a question's words point at, and what else the words tell. Pure arrays.

BM25F (Robertson & Zaragoza): a term's counts are weighted by field, then saturated once, and the part's length counts
once. Besides that score each part is told how much of the question it covers, its name covers, and its file covers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from aurora_memory.term_counts import FIELD_BITS, LIMITS, SHIFTS, Field

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Places = npt.NDArray[np.intp]  # numpy turns every other kind of index into this one, at each use
    Numbers = npt.NDArray[np.uint32]
    Bytes = npt.NDArray[np.uint8]

FIELD_WEIGHTS: dict[Field, float] = {
    "name": 5.0,
    "signature": 2.0,
    "path": 1.5,
    "doc": 2.0,
    "calls": 1.0,
    "body": 1.0,
}
"""Weight of a term by the field it stands in: what a chunk is called says more than what it mentions."""

SATURATION = 1.2
LENGTH_SHARE = 0.5
FILE_LENGTH_SHARE = 0.6
CALLED_FILES = 24
CALLED_PARTS = 2
"""Files that are called as the question says, and best parts of each, that are looked at beside the best of all: a
short file's words alone do not bring it far.
"""

MEMBERS_FILES = 8
MEMBERS_DECAY = 0.6
"""Files whose further parts are looked at for a report, by what their best say, each less than the one before."""

_LOW_BITS = SHIFTS["path"]
_NAME_MASK = LIMITS["name"]
_SIGNATURE_MASK = LIMITS["signature"] << SHIFTS["signature"]
_PATH_MASK = LIMITS["path"] << SHIFTS["path"]
_DOC_MASK = LIMITS["doc"] << SHIFTS["doc"]


class Parts(NamedTuple):
    """Documents of BM25, every part by number: its chunk (0 where it is struck out), file, name's length, length norm,
    chunk's type.

    `file_norms` are length norms by file: of all its parts as one.
    """

    chunks: Numbers
    files: Places
    name_lengths: Floats
    norms: Floats
    types: Bytes
    living: int
    file_count: int
    file_norms: Floats

    @classmethod
    def of(cls, chunks: Numbers, files: Numbers, lengths: npt.NDArray[np.uint16], names: Bytes, types: Bytes) -> Parts:
        """From the columns of the store."""
        import numpy as np

        alive = chunks != 0
        living = int(alive.sum())
        average = float(lengths[alive].mean()) if living else 1.0
        norms = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths.astype(np.float32) / max(1.0, average))
        return cls(
            np.ascontiguousarray(chunks),
            files.astype(np.intp),
            np.maximum(names, 1).astype(np.float32),
            norms.astype(np.float32),
            np.ascontiguousarray(types),
            living,
            int(files.max()) + 1 if len(files) else 0,
            _file_norms(files, lengths * alive),
        )


def _file_norms(files: Numbers, lengths: npt.NDArray[np.uint16]) -> Floats:
    """Length normalization of whole files."""
    import numpy as np

    whole = np.bincount(files, weights=lengths)
    average = float(whole[whole > 0].mean()) if whole.any() else 1.0
    norms: Floats = SATURATION * (1 - FILE_LENGTH_SHARE + FILE_LENGTH_SHARE * whole / average).astype(np.float32)
    return norms


class Matches(NamedTuple):
    """Matches, the best-matching parts, best first. All shares are of the question's rarity, in [0, 1].

    `words`: BM25F per unit of rarity; `cover`: share of the question that stands in the part; `name_cover`: in its
    chunk's name; `name_share`: share of the name that the question says; `file_cover`: share that stands anywhere in
    its file; `signature_cover`: in its signature; `doc_cover`: in its documentation; `file_words`: BM25F of its file
    as one; `heading_words`: BM25F of the terms of the question's heading alone, of no unit.
    """

    numbers: npt.NDArray[np.intp]
    chunks: Numbers
    files: Places
    words: Floats
    cover: Floats
    name_cover: Floats
    name_share: Floats
    file_cover: Floats
    signature_cover: Floats
    doc_cover: Floats
    file_words: Floats
    heading_words: Floats


def rarity(living: int, stands_in: int) -> float:
    """BM25's inverse document frequency."""
    return math.log(1 + (living - min(stands_in, living) + 0.5) / (stands_in + 0.5))


def match(
    parts: Parts,
    entries: Mapping[str, tuple[Places, Places]],
    weights: Mapping[str, float],
    said: Collection[str],
    limit: int,
    types: Collection[int] | None = None,
    members: int = 0,
    also: Places | None = None,
    into: Collection[int] = (),
    heading: Collection[str] = (),
) -> Matches:
    """Scoring of every part in which one of the terms stands; the `limit` best of those types are kept (top-k).

    `weights` says how much each term counts, `said` are those that the question says and does not only suggest. Of
    the likeliest files, each up to `members` parts more are kept, however little they say, and of the files `into`;
    `also` are parts that are kept whatever stands in them. `heading` are the terms of a report's first line.
    """
    import numpy as np

    low, high = _tables()
    count = len(parts.chunks)
    words, cover, name_cover, name_hits, signature_cover, doc_cover = (
        np.zeros(count, dtype=np.float32) for _ in range(6)
    )
    heading_words = np.zeros(count if heading else 0, dtype=np.float32)
    file_cover, called, seen, file_words = (np.zeros(parts.file_count, dtype=np.float32) for _ in range(4))
    total, whole_total = 0.0, 0.0
    for term, weight in weights.items():
        if term not in entries:
            continue
        numbers, packed = entries[term]
        if len(numbers) and numbers.max() >= count:  # written since the parts were read; the next question sees them
            known = numbers < count
            numbers, packed = numbers[known], packed[known]
        value = np.float32(weight * rarity(parts.living, len(numbers)))
        total += float(value) if term in said else 0.0
        counts = low[packed & ((1 << _LOW_BITS) - 1)] + high[packed >> _LOW_BITS]
        whole_total += float(value)
        said_there = value * counts / (counts + parts.norms[numbers])
        np.add.at(words, numbers, said_there)
        if term in heading:
            np.add.at(heading_words, numbers, said_there)
        np.add.at(cover, numbers, value)
        named = numbers[(packed & _NAME_MASK) != 0]
        np.add.at(name_cover, named, value)
        np.add.at(name_hits, named, np.float32(min(1.0, weight)))
        np.add.at(signature_cover, numbers[(packed & _SIGNATURE_MASK) != 0], value)
        doc_cover[numbers[(packed & _DOC_MASK) != 0]] += value
        in_file = np.bincount(parts.files[numbers], weights=counts, minlength=parts.file_count).astype(np.float32)
        holding = in_file > 0
        file_cover += value * holding
        file_value = np.float32(weight * rarity(parts.file_count, int(holding.sum())))
        file_words += file_value * in_file / (in_file + parts.file_norms)
        placed = numbers[(packed & _PATH_MASK) != 0]
        if term in said and len(placed):
            seen.fill(0)
            seen[parts.files[placed]] = value
            called += seen
    if not total:
        total = 1.0
    wanted = words > 0
    if also is not None:
        wanted[also] = True
    wanted &= parts.chunks != 0
    if types is not None:
        wanted &= np.isin(parts.types, list(types))
    alive = np.flatnonzero(wanted)
    whole = np.float32(total)
    found_words, found_cover = np.minimum(words[alive] / whole, 1), np.minimum(cover[alive] / whole, 1)
    found_names = np.minimum(name_cover[alive] / whole, 1)
    found_files = np.minimum(file_cover / whole, 1)[parts.files[alive]]
    first = 2 * found_words + found_cover + found_names + 0.5 * found_files
    best = np.argpartition(-first, limit)[:limit] if len(alive) > limit else np.arange(len(alive))
    best = best[np.argsort(-first[best], kind="stable")]
    best = np.concatenate([best, _of_called_files(parts.files[alive], called / whole, first, best)])
    if members:
        best = np.concatenate([best, _members(parts.files[alive], first, best, members, into)])
    if also is not None:
        kept = np.searchsorted(alive, np.sort(also[wanted[also]]))
        best = np.concatenate([best, np.setdiff1d(kept, best)])
    places = alive[best]
    in_files = np.minimum(file_words / np.float32(whole_total or 1.0), 1)
    return Matches(
        places,
        parts.chunks[places],
        parts.files[places],
        found_words[best],
        found_cover[best],
        found_names[best],
        np.minimum(name_hits[places] / parts.name_lengths[places], 1),
        found_files[best],
        np.minimum(signature_cover[places] / whole, 1),
        np.minimum(doc_cover[places] / whole, 1),
        in_files[parts.files[places]],
        heading_words[places] if heading else np.zeros(len(places), dtype=np.float32),
    )


def _of_called_files(files: Places, called: Floats, first: Floats, best: Places) -> Places:
    """Of the parts (by their files and scores) the best ones of files called as the question says; not those in `best`.

    `called` is, by file, the share of the question that stands in its path.
    """
    import numpy as np

    there = np.flatnonzero(called[files] > 0)
    scores = 2 * called[files[there]] + first[there]
    most = 4 * CALLED_FILES
    if len(there) > most:
        chosen = np.argpartition(-scores, most)[:most]
        there, scores = there[chosen], scores[chosen]
    known = set(best.tolist())
    taken: dict[int, int] = {}
    found: list[int] = []
    for part in there[np.argsort(-scores, kind="stable")].tolist():
        file = int(files[part])
        if taken.get(file, 0) < CALLED_PARTS and (file in taken or len(taken) < CALLED_FILES):
            taken[file] = taken.get(file, 0) + 1
            if part not in known:
                found.append(part)
    return np.array(found, dtype=np.intp)


def _members(files: Places, first: Floats, best: Places, most: int, into: Collection[int]) -> Places:
    """Of the files that `best` says most of, and those `into`, each up to `most` further parts, best first."""
    import numpy as np

    worth: dict[int, float] = {}
    left: dict[int, float] = {}
    for part in best.tolist():
        file = int(files[part])
        share = left.get(file, 1.0)
        worth[file] = worth.get(file, 0.0) + share * float(first[part])
        left[file] = share * MEMBERS_DECAY
    chosen = list({*sorted(worth, key=lambda file: -worth[file])[:MEMBERS_FILES], *into})
    rest = np.setdiff1d(np.flatnonzero(np.isin(files, chosen)), best)
    rest = rest[np.argsort(-first[rest], kind="stable")]
    taken = dict.fromkeys(chosen, 0)
    found: list[int] = []
    for part in rest.tolist():
        file = int(files[part])
        if taken[file] < most:
            taken[file] += 1
            found.append(part)
    return np.array(found, dtype=np.intp)


def _tables() -> tuple[Floats, Floats]:
    """Weighted counts by packed value: one table for the low fields, one for the high ones."""
    global _cached
    if _cached is None:
        _cached = _weighted(0, _LOW_BITS), _weighted(_LOW_BITS, sum(FIELD_BITS.values()))
    return _cached


_cached: tuple[Floats, Floats] | None = None


def _weighted(start: int, end: int) -> Floats:
    import numpy as np

    values = np.arange(1 << (end - start), dtype=np.uint32)
    table = np.zeros(len(values), dtype=np.float32)
    for field, weight in FIELD_WEIGHTS.items():
        if start <= SHIFTS[field] < end:
            table += np.float32(weight) * ((values >> (SHIFTS[field] - start)) & LIMITS[field])
    return table
