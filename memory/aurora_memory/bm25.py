"""BM25 ranking (full-text relevance: term frequency and its saturation, inverse document frequency, length
normalization): which parts a question's words point at, and what else the words tell. Pure arrays.

BM25F (Robertson & Zaragoza): a term's counts are weighted by field, then saturated once, and the part's length counts
once. Besides that score each part is told how much of the question it covers, its name covers, and its file covers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from aurora_memory.term_counts import FIELD_BITS, LIMITS, SHIFTS, Field

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Places = npt.NDArray[np.intp]  # numpy turns every other kind of index into this one, at each use
    Entries = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]  # kept in great number: half as large
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
"""BM25's k1 parameter."""
LENGTH_SHARE = 0.5
FILE_LENGTH_SHARE = 0.6
"""BM25's b parameter, of parts and of whole files."""
CALLED_FILES = 24
CALLED_PARTS = 2
"""Files that are called as the question says, and best parts of each, that are looked at beside the best of all: a
short file's words alone do not bring it far.
"""

MEMBERS_FILES = 8
MEMBERS_DECAY = 0.6
"""Files whose further parts are looked at for a report, by what their best say, each less than the one before."""

PIECE = 8192
"""Entries of a term that are weighed at a time: few enough for the processor's cache."""

MANY = 1 << 16
SAMPLED = 16
"""Parts of which the best are looked for by a look at a few thousand first, one of so many or more."""

_LOW_BITS = SHIFTS["path"]
_LOW_MASK = (1 << _LOW_BITS) - 1
_NAME_MASK = LIMITS["name"]
_SIGNATURE_MASK = LIMITS["signature"] << SHIFTS["signature"]
_PATH_MASK = LIMITS["path"] << SHIFTS["path"]
_DOC_MASK = LIMITS["doc"] << SHIFTS["doc"]


class Room:
    """Room for arrays as long as there are parts or files, and for pieces of a term's entries, kept between questions.

    What is as large is mapped anew where it is asked for, and given back as it is freed; the system then clears each of
    its pages as it is touched, 800 of them for a question to 40,000 parts.
    """

    def __init__(self) -> None:
        import numpy as np

        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self.places, self.fields, self.files = (np.empty(PIECE, dtype=np.intp) for _ in range(3))
        self.counts, self.more, self.worth = (np.empty(PIECE, dtype=np.float32) for _ in range(3))

    def array(self, name: str, count: int, kind: type[np.generic] | None = None) -> npt.NDArray[Any]:
        """The array of that name, with whatever is in it; who asks for it again has the same one."""
        known = self._arrays.get(name)
        if known is None or len(known) < count:
            import numpy as np

            known = self._arrays[name] = np.empty(count, dtype=kind or np.float32)
        return known[:count]

    def clear(self) -> None:
        """Let go of what is as long as there are parts or files."""
        self._arrays.clear()

    def zeros(self, name: str, count: int, kind: type[np.generic] | None = None) -> npt.NDArray[Any]:
        """The array of that name, all 0."""
        found = self.array(name, count, kind)
        found.fill(0)
        return found


class Parts(NamedTuple):
    """Documents of BM25, every part by number: its chunk (0 where it is struck out), file, name's length, length norm,
    chunk's type.

    `file_norms` are length norms by file: of all its parts as one. `highest` is the chunk of the highest row id, `room`
    is where they are weighed.
    """

    chunks: Numbers
    files: Places
    name_lengths: Floats
    norms: Floats
    types: Bytes
    living: int
    file_count: int
    file_norms: Floats
    highest: int
    room: Room


def norms(lengths: npt.NDArray[np.uint16], average: float, found: Floats) -> None:
    """Length normalization of parts, written into `found`."""
    found[...] = lengths
    found *= LENGTH_SHARE
    found /= max(1.0, average)
    found += 1 - LENGTH_SHARE
    found *= SATURATION


def file_norms(lengths: npt.NDArray[np.float64]) -> Floats:
    """Length normalization of whole files."""
    import numpy as np

    there = lengths[lengths > 0]
    average = float(there.mean()) if len(there) else 1.0
    found: Floats = SATURATION * (1 - FILE_LENGTH_SHARE + FILE_LENGTH_SHARE * lengths / average).astype(np.float32)
    return found


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
    entries: Mapping[str, Entries],
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
    count, room = len(parts.chunks), parts.room
    words, cover, name_cover = (room.zeros(name, count) for name in ("words", "cover", "name cover"))
    file_cover, called, seen, file_words = (
        room.zeros(name, parts.file_count) for name in ("file cover", "called", "seen", "file words")
    )
    heading_words = room.zeros("heading words", count if heading else 0)
    in_file, share, file_sums = (room.array(name, parts.file_count) for name in ("in file", "share", "file norms"))
    holding = room.array("holding", parts.file_count, np.bool_)
    sums = room.array("sums", parts.file_count, np.float64)
    weighed: list[tuple[Entries, float, np.float32]] = []
    total, whole_total = 0.0, 0.0
    for term, weight in weights.items():
        if term not in entries:
            continue
        numbers, packed = entries[term]
        if len(numbers) and numbers[-1] >= count:  # written since the parts were read; the next question sees them
            known = numbers.searchsorted(count)
            numbers, packed = numbers[:known], packed[:known]
        value = np.float32(weight * rarity(parts.living, len(numbers)))
        weighed.append(((numbers, packed), weight, value))
        total += float(value) if term in said else 0.0
        whole_total += float(value)
        sums.fill(0)
        for begin in range(0, len(numbers), PIECE):
            size = min(PIECE, len(numbers) - begin)
            some, fields, files = room.places[:size], room.fields[:size], room.files[:size]
            counts, more, worth = room.counts[:size], room.more[:size], room.worth[:size]
            some[...] = numbers[begin : begin + size]
            values = packed[begin : begin + size]
            # `mode` other than "raise" writes where it should at once.
            low.take(np.bitwise_and(values, _LOW_MASK, out=fields), out=counts, mode="clip")
            counts += high.take(np.right_shift(values, _LOW_BITS, out=fields), out=more, mode="clip")
            parts.norms.take(some, out=more, mode="clip")
            more += counts
            np.multiply(value, counts, out=worth)
            worth /= more
            np.add.at(words, some, worth)
            if term in heading:
                np.add.at(heading_words, some, worth)
            np.add.at(cover, some, value)
            np.add.at(name_cover, some[(values & _NAME_MASK) != 0], value)
            parts.files.take(some, out=files, mode="clip")
            np.add.at(sums, files, counts.astype(np.float64))
            if term in said:
                seen[files[(values & _PATH_MASK) != 0]] = value
        in_file[...] = sums
        np.greater(in_file, 0, out=holding)
        file_value = np.float32(weight * rarity(parts.file_count, int(np.count_nonzero(holding))))
        file_cover += np.multiply(value, holding, out=share)
        np.add(in_file, parts.file_norms, out=file_sums)
        in_file *= file_value
        file_words += np.divide(in_file, file_sums, out=share)
        if term in said:
            called += seen
            seen.fill(0)
    if not total:
        total = 1.0
    wanted = np.greater(words, 0, out=room.array("wanted", count, np.bool_))
    if also is not None:
        wanted[also] = True
    wanted &= np.not_equal(parts.chunks, 0, out=room.array("there", count, np.bool_))
    if types is not None:
        wanted &= np.isin(parts.types, list(types))
    (alive,) = wanted.nonzero()
    whole = np.float32(total)
    files = parts.files.take(alive, out=room.array("files", len(alive), np.intp), mode="clip")

    def shares(name: str, of: Floats, at: Places) -> Floats:
        found = of.take(at, out=room.array(name, len(at)), mode="clip")
        found /= whole
        np.minimum(found, 1, out=found)
        return found

    found_words, found_cover = shares("found words", words, alive), shares("found cover", cover, alive)
    found_names, found_files = shares("found names", name_cover, alive), shares("found files", file_cover, files)
    first = np.multiply(2, found_words, out=room.array("first", len(alive)))
    first += found_cover
    first += found_names
    first += np.multiply(0.5, found_files, out=room.array("half", len(alive)))
    best = _highest(first, limit)
    best = best[(-first[best]).argsort(kind="stable")]
    best = np.concatenate([best, _of_called_files(files, np.divide(called, whole, out=called), first, best)])
    if members:
        best = np.concatenate([best, _members(files, first, best, members, into)])
    if also is not None:
        there = set(best.tolist())
        kept = alive.searchsorted(np.sort(also[wanted[also]])).tolist()
        best = np.concatenate([best, np.array([each for each in kept if each not in there], dtype=np.intp)])
    places = alive[best]
    in_files = np.minimum(file_words / np.float32(whole_total or 1.0), 1)
    name_hits, signature_cover, doc_cover = _of_fields(weighed, places)
    return Matches(
        places,
        parts.chunks[places],
        parts.files[places],
        found_words[best],
        found_cover[best],
        found_names[best],
        np.minimum(name_hits / parts.name_lengths[places], 1),
        found_files[best],
        np.minimum(signature_cover / whole, 1),
        np.minimum(doc_cover / whole, 1),
        in_files[parts.files[places]],
        heading_words[places] if heading else np.zeros(len(places), dtype=np.float32),
    )


def numbers_of(parts: Parts, chunks: Collection[int]) -> Places:
    """The numbers of all parts of some chunks."""
    import numpy as np

    wanted = parts.room.zeros("wanted chunks", parts.highest + 1, np.bool_)
    wanted[[chunk for chunk in chunks if chunk < len(wanted)]] = True
    count = len(parts.chunks)
    found = parts.room.array("found", count, np.bool_)
    for begin in range(0, count, PIECE):
        some = parts.room.places[: min(PIECE, count - begin)]
        some[...] = parts.chunks[begin : begin + len(some)]
        wanted.take(some, out=found[begin : begin + len(some)], mode="clip")
    return found.nonzero()[0]


def _of_fields(weighed: Sequence[tuple[Entries, float, np.float32]], places: Places) -> tuple[Floats, Floats, Floats]:
    """Of the parts that are kept: how many of the name's terms a question says, by their weights, and how much of it
    stands in the signature and in the documentation. `weighed` are the terms: where each stands, its counts and worth.
    """
    import numpy as np

    order = places.argsort()
    wanted = places[order].astype(np.int32)  # a search for what rises begins where the one before it ended
    counts = np.zeros((len(weighed), len(places)), dtype=np.int32)
    for row, ((numbers, packed), _, _) in zip(counts, weighed, strict=True):
        if len(numbers):
            at = numbers.searchsorted(wanted)
            np.minimum(at, len(numbers) - 1, out=at)
            row[order] = np.where(numbers.take(at) == wanted, packed.take(at), 0)
    hits = np.array([min(1.0, weight) for _, weight, _ in weighed], dtype=np.float32)[:, None]
    worth = np.array([value for _, _, value in weighed], dtype=np.float32)[:, None]
    return (
        (hits * ((counts & _NAME_MASK) != 0)).sum(axis=0),
        (worth * ((counts & _SIGNATURE_MASK) != 0)).sum(axis=0),
        (worth * ((counts & _DOC_MASK) != 0)).sum(axis=0),
    )


def _highest(scores: Floats, most: int) -> Places:
    """Top-k selection: the places of the highest scores, in any order."""
    import numpy as np

    if len(scores) <= most:
        return np.arange(len(scores))
    if len(scores) <= MANY:
        return (-scores).argpartition(most)[:most]
    # No fewer are as high as the last of the highest of some of them: these are few, and parted quickly.
    some = np.partition(scores[:: len(scores) // MANY * SAMPLED], -most)
    there = np.flatnonzero(scores >= some[-most])
    return there[np.argpartition(-scores[there], most)[:most]] if len(there) > most else there


def _of_called_files(files: Places, called: Floats, first: Floats, best: Places) -> Places:
    """Of the parts (by their files and scores) the best ones of files called as the question says; not those in `best`.

    `called` is, by file, the share of the question that stands in its path.
    """
    import numpy as np

    (there,) = (called > 0).take(files).nonzero()
    scores = 2 * called[files[there]] + first[there]
    chosen = _highest(scores, 4 * CALLED_FILES)
    there, scores = there[chosen], scores[chosen]
    known = set(best.tolist())
    taken: dict[int, int] = {}
    found: list[int] = []
    for part in there[(-scores).argsort(kind="stable")].tolist():
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


def weighted(packed: npt.NDArray[np.int32]) -> Floats:
    """Weighted counts of a term, by the fields it stands in."""
    low, high = _tables()
    found: Floats = low[packed & _LOW_MASK] + high[packed >> _LOW_BITS]
    return found


def _tables() -> tuple[Floats, Floats]:
    """Weighted counts by packed value: one table for the low fields, one for the high ones."""
    global _cached
    if _cached is None:
        _cached = _weighted(0, _LOW_BITS), _weighted(_LOW_BITS, sum(FIELD_BITS.values()))
    return _cached


_cached: tuple[Floats, Floats] | None = None


def _weighted(start: int, end: int) -> Floats:
    """Look-up table of field weights (BM25F): what each value of the packed counts within those bits weighs."""
    import numpy as np

    values = np.arange(1 << (end - start), dtype=np.uint32)
    table = np.zeros(len(values), dtype=np.float32)
    for field, weight in FIELD_WEIGHTS.items():
        if start <= SHIFTS[field] < end:
            table += np.float32(weight) * ((values >> (SHIFTS[field] - start)) & LIMITS[field])
    return table
