"""BM25 ranking (term frequency and its saturation): which parts a question's words point at: BM25 over weighted fields,
and what else the words tell. Pure arrays.

BM25F (Robertson & Zaragoza): a term's counts are weighted by field, then saturated once, and the part's length counts
once. Besides that score each part is told how much of the question it covers, its name covers, and its file covers.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
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

_AT_ONCE = 32_768
"""Entries that are weighed at a time."""

_GROUP = 32
"""Parts of which one is taken to tell how good the best are."""

_LOW_BITS = SHIFTS["path"]
_NAME_MASK = LIMITS["name"]
_SIGNATURE_MASK = LIMITS["signature"] << SHIFTS["signature"]
_PATH_MASK = LIMITS["path"] << SHIFTS["path"]


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
    import numpy as np

    whole = np.bincount(files, weights=lengths)
    average = float(whole[whole > 0].mean()) if whole.any() else 1.0
    norms: Floats = SATURATION * (1 - FILE_LENGTH_SHARE + FILE_LENGTH_SHARE * whole / average).astype(np.float32)
    return norms


class Matches(NamedTuple):
    """Matches, the best-matching parts, best first. All shares are of the question's rarity, in [0, 1].

    `words`: BM25F per unit of rarity; `cover`: share of the question that stands in the part; `name_cover`: in its
    chunk's name; `name_share`: share of the name that the question says; `file_cover`: share that stands anywhere in
    its file; `signature_cover`: in its signature; `file_words`: BM25F of its file as one.
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
    file_words: Floats


def rarity(living: int, stands_in: int) -> float:
    """BM25's inverse document frequency."""
    return math.log(1 + (living - min(stands_in, living) + 0.5) / (stands_in + 0.5))


class _Sums(NamedTuple):
    """Sums over a question's terms: those of `touched` parts (their numbers, ascending) and those of every file.

    `total` is what the terms weigh that the question says, `whole_total` what all do.
    """

    touched: Places
    words: Floats
    cover: Floats
    name_cover: Floats
    name_hits: Floats
    signature_cover: Floats
    file_cover: Floats
    file_words: Floats
    called: Floats
    total: float
    whole_total: float


def match(
    parts: Parts,
    entries: Mapping[str, tuple[Places, Places]],
    weights: Mapping[str, float],
    said: Collection[str],
    limit: int,
    types: Collection[int] | None = None,
    members: int = 0,
    also: Places | None = None,
) -> Matches:
    """Weigh every part in which one of the terms stands; keep the `limit` best of those types.

    `weights` says how much each term counts, `said` are those that the question says and does not only suggest. Of
    the likeliest files, each up to `members` parts more are kept, however little they say; `also` are parts that are
    kept whatever stands in them. Of parts of which the same can be said, those of lower numbers come first.
    """
    import numpy as np

    sums = _summed(parts, entries, weights, said, also)
    touched, whole = sums.touched, np.float32(sums.total or 1.0)
    wanted = sums.words > 0
    if also is not None:
        also = np.searchsorted(touched, np.sort(also))
        wanted[also] = True
    wanted &= parts.chunks[touched] != 0
    if types is not None:
        wanted &= np.isin(parts.types[touched], list(types))
    words, cover, names = (np.minimum(each / whole, 1) for each in (sums.words, sums.cover, sums.name_cover))
    own = 2 * words + cover + names
    own[~wanted] = -1
    in_files = np.minimum(sums.file_cover / whole, 1)
    files = parts.files[touched]
    # What its file adds is asked of those only that it can bring among the best.
    near = np.flatnonzero(own >= max(0.0, _at_least(own, limit) - 0.5 * float(in_files.max(initial=0.0))))
    first = own[near] + 0.5 * in_files[files[near]]
    best = near[_highest(first, limit)]
    called = sums.called / whole
    there = np.flatnonzero((called > 0)[files] & wanted)
    if len(there):
        first = own[there] + 0.5 * in_files[files[there]]
        best = np.concatenate([best, _of_called_files(there, files[there], called, first, best)])
    if members:
        first = own + 0.5 * in_files[files]
        best = np.concatenate([best, _members(files, first, np.flatnonzero(wanted), best, members)])
    if also is not None:
        best = np.concatenate([best, np.setdiff1d(also[wanted[also]], best)])
    places, files = touched[best], files[best]
    of_files = np.minimum(sums.file_words[files] / np.float32(sums.whole_total or 1.0), 1)
    return Matches(
        places,
        parts.chunks[places],
        files,
        words[best],
        cover[best],
        names[best],
        np.minimum(sums.name_hits[best] / parts.name_lengths[places], 1),
        in_files[files],
        np.minimum(sums.signature_cover[best] / whole, 1),
        of_files,
    )


def _summed(
    parts: Parts,
    entries: Mapping[str, tuple[Places, Places]],
    weights: Mapping[str, float],
    said: Collection[str],
    also: Places | None,
) -> _Sums:
    import numpy as np

    terms = [term for term in weights if term in entries]
    known = [_known(entries[term], len(parts.chunks)) for term in terms]
    of_terms = np.array(
        [weights[term] * rarity(parts.living, len(each)) for term, (each, _) in zip(terms, known, strict=True)],
        dtype=np.float32,
    )
    hits = np.array([min(1.0, weights[term]) for term in terms], dtype=np.float32)
    touched, slots = _touched(len(parts.chunks), [numbers for numbers, _ in known], also)
    words, cover, name_cover, name_hits, signature_cover = (np.zeros(len(touched), dtype=np.float32) for _ in range(5))
    low, high = _tables()
    by_file = []
    for numbers, packed, sizes in _pieces(known):
        ends = np.cumsum(sizes)
        at = numbers if slots is None else slots[numbers]
        value = np.repeat(of_terms, sizes)
        counts = low[packed & ((1 << _LOW_BITS) - 1)]
        counts += high[packed >> _LOW_BITS]
        lengths = parts.norms[numbers]
        lengths += counts
        np.add.at(words, at, value * counts / lengths)
        np.add.at(cover, at, value)
        heads = np.flatnonzero((packed & (_NAME_MASK | _SIGNATURE_MASK)) != 0)  # most entries are of bodies
        counted = packed[heads]
        named = heads[(counted & _NAME_MASK) != 0]
        np.add.at(name_cover, at[named], value[named])
        np.add.at(name_hits, at[named], hits[np.searchsorted(ends, named, side="right")])
        signed = heads[(counted & _SIGNATURE_MASK) != 0]
        np.add.at(signature_cover, at[signed], value[signed])
        by_file.append(_by_file(ends, parts.files[numbers], counts, packed))
    files = _together(by_file, parts.file_count)
    file_cover, file_words, called = (np.zeros(parts.file_count, dtype=np.float32) for _ in range(3))
    np.add.at(file_cover, files.files, of_terms[files.terms])
    holding = np.bincount(files.terms, minlength=len(terms)).tolist()
    of_files = np.array(
        [weights[term] * rarity(parts.file_count, count) for term, count in zip(terms, holding, strict=True)],
        dtype=np.float32,
    )
    lengths = files.counts + parts.file_norms[files.files]
    np.add.at(file_words, files.files, of_files[files.terms] * files.counts / lengths)
    are_said = np.array([term in said for term in terms], dtype=bool)
    placed = ((files.fields & _PATH_MASK) != 0) & are_said[files.terms]
    np.add.at(called, files.files[placed], of_terms[files.terms[placed]])
    values = of_terms.tolist()
    total = sum(each for term, each in zip(terms, values, strict=True) if term in said)
    whole = sum(values)
    return _Sums(
        touched, words, cover, name_cover, name_hits, signature_cover, file_cover, file_words, called, total, whole
    )


def _known(entry: tuple[Places, Places], count: int) -> tuple[Places, Places]:
    """Entries of the first `count` parts: what was written since these were read, the next question sees."""
    numbers, packed = entry
    if not len(numbers) or numbers.max() < count:
        return entry
    known = numbers < count
    return numbers[known], packed[known]


def _pieces(entries: Sequence[tuple[Places, Places]]) -> Iterator[tuple[Places, Places, list[int]]]:
    """Entries of all terms in their order, so many at a time, with how many of these each term has.

    Of a long question an array for each term would cost more to ask for than to reckon with; of common terms, one for
    all is more than the processor's cache holds.
    """
    import numpy as np

    numbers: list[Places] = []
    packed: list[Places] = []
    sizes = [0] * len(entries)
    left = _AT_ONCE
    for term, (of_term, counts) in enumerate(entries):
        begin = 0
        while begin < len(of_term):
            end = min(len(of_term), begin + left)
            numbers.append(of_term[begin:end])
            packed.append(counts[begin:end])
            sizes[term] += end - begin
            left -= end - begin
            begin = end
            if not left:
                yield np.concatenate(numbers), np.concatenate(packed), sizes
                numbers, packed, sizes, left = [], [], [0] * len(entries), _AT_ONCE
    if numbers:
        yield np.concatenate(numbers), np.concatenate(packed), sizes


def _touched(count: int, postings: Sequence[Places], also: Places | None) -> tuple[Places, Places | None]:
    """The parts that any of the terms stands in, and of each number its place among them; None where that is all."""
    import numpy as np

    if sum(map(len, postings)) >= count:
        return np.arange(count), None
    seen = np.zeros(count, dtype=bool)
    for numbers in postings:
        seen[numbers] = True
    if also is not None:
        seen[also] = True
    touched = np.flatnonzero(seen)
    slots = np.empty(count, dtype=np.intp)  # what is not written is not fetched either
    slots[touched] = np.arange(len(touched))
    return touched, slots


class _OfFiles(NamedTuple):
    """Entries summed up by term (its place) and file, terms in their order: their counts, and all their fields."""

    terms: Places
    files: Places
    counts: Floats
    fields: Places


def _by_file(ends: Places, files: Places, counts: Floats, packed: Places) -> _OfFiles:
    """Entries summed up as long as term and file stay the same: a file's parts have numbers that follow each other,
    until it is edited. `ends` says where each term's entries end.
    """
    import numpy as np

    begins = np.empty(len(files), dtype=bool)
    np.not_equal(files[1:], files[:-1], out=begins[1:])
    begins[0] = True
    begins[ends[ends < len(files)]] = True
    starts = np.flatnonzero(begins)
    terms = np.searchsorted(ends, starts, side="right")
    return _OfFiles(terms, files[starts], np.add.reduceat(counts, starts), np.bitwise_or.reduceat(packed, starts))


def _together(pieces: Sequence[_OfFiles], file_count: int) -> _OfFiles:
    """Pieces as one, in which no file is told twice of a term."""
    import numpy as np

    if not pieces:
        nothing = np.zeros(0, dtype=np.intp)
        return _OfFiles(nothing, nothing, np.zeros(0, dtype=np.float32), nothing)
    whole = _OfFiles(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))
    keys = whole.terms * file_count + whole.files
    if (keys[1:] > keys[:-1]).all():
        return whole
    order = np.argsort(keys, kind="stable")
    ends = np.cumsum(np.bincount(whole.terms))
    return _by_file(ends, whole.files[order], whole.counts[order], whole.fields[order])


def _at_least(values: Floats, limit: int) -> float:
    """What `limit` of some values reach, or a little less: the highest of every group are enough to tell."""
    import numpy as np

    groups = len(values) // _GROUP
    if groups < limit:
        return 0.0
    highest = values[: groups * _GROUP].reshape(_GROUP, groups).max(axis=0)
    return float(np.partition(highest, groups - limit)[groups - limit])


def _highest(values: Floats, limit: int) -> Places:
    """Places of the `limit` highest values, highest first; of equal ones, the first."""
    import numpy as np

    if len(values) > limit:
        least = np.partition(values, len(values) - limit)[len(values) - limit]
        above = np.flatnonzero(values > least)
        chosen = np.concatenate([above, np.flatnonzero(values == least)[: limit - len(above)]])
    else:
        chosen = np.arange(len(values))
    chosen.sort()
    return chosen[np.argsort(-values[chosen], kind="stable")]


def _of_called_files(there: Places, files: Places, called: Floats, first: Floats, best: Places) -> Places:
    """Of the parts `there` (with their files and scores) the best ones of files called as the question says; not those
    in `best`.

    `called` is, by file, the share of the question that stands in its path.
    """
    import numpy as np

    order = _highest(2 * called[files] + first, 4 * CALLED_FILES)
    known = set(best.tolist())
    taken: dict[int, int] = {}
    found: list[int] = []
    for part, file in zip(there[order].tolist(), files[order].tolist(), strict=True):
        if taken.get(file, 0) < CALLED_PARTS and (file in taken or len(taken) < CALLED_FILES):
            taken[file] = taken.get(file, 0) + 1
            if part not in known:
                found.append(part)
    return np.array(found, dtype=np.intp)


def _members(files: Places, first: Floats, alive: Places, best: Places, most: int) -> Places:
    """Of the files that `best` says most of, each up to `most` further parts of those `alive`, best first."""
    import numpy as np

    worth: dict[int, float] = {}
    left: dict[int, float] = {}
    for file, score in zip(files[best].tolist(), first[best].tolist(), strict=True):
        share = left.get(file, 1.0)
        worth[file] = worth.get(file, 0.0) + share * score
        left[file] = share * MEMBERS_DECAY
    chosen = sorted(worth, key=lambda file: -worth[file])[:MEMBERS_FILES]
    are_chosen = np.zeros(int(files.max(initial=0)) + 1, dtype=bool)
    are_chosen[chosen] = True
    rest = np.setdiff1d(alive[are_chosen[files[alive]]], best)
    rest = rest[np.argsort(-first[rest], kind="stable")]
    taken = dict.fromkeys(chosen, 0)
    found: list[int] = []
    for part, file in zip(rest.tolist(), files[rest].tolist(), strict=True):
        if taken[file] < most:
            taken[file] += 1
            found.append(part)
    return np.array(found, dtype=np.intp)


@cache
def _tables() -> tuple[Floats, Floats]:
    """Weighted counts by packed value: one table for the low fields, one for the high ones; one for all has 4 MB."""
    return _weighted(0, _LOW_BITS), _weighted(_LOW_BITS, sum(FIELD_BITS.values()))


def _weighted(start: int, end: int) -> Floats:
    import numpy as np

    values = np.arange(1 << (end - start), dtype=np.uint32)
    table = np.zeros(len(values), dtype=np.float32)
    for field, weight in FIELD_WEIGHTS.items():
        if start <= SHIFTS[field] < end:
            table += np.float32(weight) * ((values >> (SHIFTS[field] - start)) & LIMITS[field])
    return table
