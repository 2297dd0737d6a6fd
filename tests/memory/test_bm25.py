"""BM25 over many terms at once: as each term alone would have it, in work that does not grow with their number."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from types import FrameType

import numpy as np
import numpy.typing as npt
import pytest

from aurora_memory import bm25
from aurora_memory.bm25 import FIELD_WEIGHTS, Matches, Parts, match, rarity
from aurora_memory.term_counts import LIMITS, SHIFTS, unpacked

Entries = Mapping[str, tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]


def parts_of(count: int, files: int, chance: random.Random) -> Parts:
    """So many parts; every ninth is struck out, and those of a file do not all follow each other."""
    chunks = np.array([0 if n % 9 == 8 else n + 1 for n in range(count)], dtype=np.uint32)
    of_files = np.array(
        [n * files // count if n % 7 else chance.randrange(files) for n in range(count)], dtype=np.uint32
    )
    lengths = np.array([chance.randrange(1, 90) for _ in range(count)], dtype=np.uint16)
    names = np.array([chance.randrange(1, 4) for _ in range(count)], dtype=np.uint8)
    return Parts.of(chunks, of_files, lengths, names, np.zeros(count, dtype=np.uint8))


def entries_of(terms: int, count: int, share: float, chance: random.Random) -> Entries:
    """Terms, each of which stands in that share of the parts."""
    found = {}
    for term in range(terms):
        numbers = np.array(sorted(chance.sample(range(count), max(1, int(share * count)))), dtype=np.intp)
        packed = [sum(chance.randrange(2) << SHIFTS[field] for field in LIMITS) or 1 for _ in numbers]
        found[f"t{term}"] = numbers, np.array(packed, dtype=np.intp)
    return found


def words_of(parts: Parts, entries: Entries, weights: Mapping[str, float]) -> dict[int, float]:
    """BM25F of each part per unit of rarity, term by term and part by part."""
    found: dict[int, float] = {}
    whole = sum(weight * rarity(parts.living, len(entries[term][0])) for term, weight in weights.items())
    for term, weight in weights.items():
        value = weight * rarity(parts.living, len(entries[term][0])) / whole
        for number, packed in zip(*(column.tolist() for column in entries[term]), strict=True):
            counts = sum(FIELD_WEIGHTS[field] * count for field, count in unpacked(packed).items())
            found[number] = found.get(number, 0.0) + value * counts / (counts + float(parts.norms[number]))
    return found


@pytest.mark.parametrize(("count", "share"), [(900, 0.02), (900, 0.5), (9_000, 0.6)])
def test_terms_together_say_of_a_part_what_each_of_them_says(count: int, share: float) -> None:
    chance = random.Random(count)
    parts, entries = parts_of(count, 40, chance), entries_of(8, count, share, chance)
    weights = {term: chance.uniform(0.2, 1.0) for term in entries}
    found = match(parts, entries, weights, weights, count)
    expected = words_of(parts, entries, weights)
    assert set(found.numbers.tolist()) == {number for number in expected if parts.chunks[number]}
    assert found.words.tolist() == pytest.approx([expected[number] for number in found.numbers.tolist()], abs=1e-5)


def rows(found: Matches) -> list[tuple[float, ...]]:
    return list(zip(*(column.tolist() for column in found), strict=True))


def test_pieces_of_entries_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(3)
    parts, entries = parts_of(2_000, 60, chance), entries_of(6, 2_000, 0.4, chance)
    weights = dict.fromkeys(entries, 1.0)
    whole = rows(match(parts, entries, weights, weights, 50, members=5, also=np.array([7, 1_999], dtype=np.intp)))
    for at_once in (1, 97, 800, 4_801):
        monkeypatch.setattr(bm25, "_AT_ONCE", at_once)
        assert rows(match(parts, entries, weights, weights, 50, members=5, also=np.array([7, 1_999]))) == whole


def test_the_best_of_few_are_the_best_of_all_and_of_equals_the_first() -> None:
    chance = random.Random(4)
    parts, entries = parts_of(6_000, 30, chance), entries_of(3, 6_000, 0.5, chance)
    weights = dict.fromkeys(entries, 1.0)
    everything = rows(match(parts, entries, weights, [], 6_000))
    assert rows(match(parts, entries, weights, [], 60)) == everything[:60]
    alike = {"one": (np.arange(6_000), np.ones(6_000, dtype=np.intp))}
    same = parts._replace(norms=np.ones_like(parts.norms), chunks=np.arange(1, 6_001, dtype=np.uint32))
    assert match(same, alike, {"one": 1.0}, [], 60).numbers.tolist() == list(range(60))


def calls(parts: Parts, entries: Entries) -> int:
    """Functions that weighing some terms calls, numpy's among them."""
    made = 0

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        match(parts, entries, dict.fromkeys(entries, 1.0), entries, 50)
    finally:
        sys.setprofile(None)
    return made


def test_a_long_question_asks_for_little_more_than_a_short_one() -> None:
    chance = random.Random(5)
    parts = parts_of(3_000, 60, chance)
    short, long = (calls(parts, entries_of(terms, 3_000, 0.005, chance)) for terms in (4, 64))
    assert long - short < 60 * 26, "of each further term its entries and its rarity"
