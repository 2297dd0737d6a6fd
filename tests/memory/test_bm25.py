"""Which parts are looked at beside those that have most of a question's words."""

from __future__ import annotations

import numpy as np
import pytest

from aurora_memory.bm25 import CALLED_FILES, MEMBERS_FILES, Matches, _highest, _members, _of_called_files, rarity
from aurora_memory.recall.search import _by_chunk


def called(files: list[int], shares: list[float], first: list[float], best: list[int]) -> list[int]:
    """Parts by number, of which each has a file and a score; each file a share of the question in its path."""
    found = _of_called_files(
        np.array(files, dtype=np.intp),
        np.array(shares, np.float32),
        np.array(first, np.float32),
        np.array(best, np.intp),
    )
    return list(map(int, found))


@pytest.mark.parametrize(
    ("files", "shares", "first", "best", "found"),
    [
        pytest.param(
            [0, 1, 1], [0, 0.5], [3, 1, 2], [0], [2, 1], id="those of a file that is called so, the best first"
        ),
        pytest.param([0, 0, 0], [0.5], [1, 3, 2], [], [1, 2], id="two of one file"),
        pytest.param([0, 0, 0], [0.5], [1, 3, 2], [1], [2], id="of which one that is there already is one"),
        pytest.param([0, 1], [0.5, 0.1], [1, 1.7], [], [0, 1], id="what a file is called counts twice"),
        pytest.param([0, 1], [0.5, 0.1], [1, 1.9], [], [1, 0], id="beside what its part says"),
        pytest.param([0], [0.0], [3], [], [], id="none of a file that is called otherwise"),
    ],
)
def test_parts_of_files_that_are_called_as_the_question_says(
    files: list[int], shares: list[float], first: list[float], best: list[int], found: list[int]
) -> None:
    assert called(files, shares, first, best) == found


def test_of_many_files_that_are_called_so_the_first_are_looked_into() -> None:
    count = CALLED_FILES + 5
    assert called(list(range(count)), [0.5] * count, [float(n) for n in range(count)], []) == list(range(28, 4, -1))


def members(files: list[int], first: list[float], best: list[int], most: int, into: tuple[int, ...] = ()) -> list[int]:
    found = _members(np.array(files, dtype=np.intp), np.array(first, np.float32), np.array(best, np.intp), most, into)
    return list(map(int, found))


def test_of_a_likely_file_further_parts_are_looked_at_the_best_first_and_so_many() -> None:
    assert members([0, 0, 0, 0, 1], [9, 1, 3, 2, 8], [0], 2) == [2, 3]
    assert members([0, 0, 1, 1], [9, 1, 0, 0], [0], 2, into=(1,)) == [1, 2, 3], "and of one that is pointed at"


def test_eight_files_are_likely_and_two_middling_parts_make_one_likelier_than_one_good_one() -> None:
    count = MEMBERS_FILES + 1
    files = [*range(count), 0, *range(count)]
    first = [3.0, *[4.0] * (count - 1), 2.0, *[0.1] * count]
    best = list(range(count + 1))  # the first file has two parts there: 3 + .6 * 2
    found = {files[part] for part in members(files, first, best, 5)}
    assert 0 in found and len(found) == MEMBERS_FILES


def test_the_highest_are_found_among_few_and_among_many() -> None:
    few = np.array([3, 9, 1, 7], np.float32)
    assert sorted(map(int, _highest(few, 2))) == [1, 3] and sorted(map(int, _highest(few, 9))) == [0, 1, 2, 3]
    many = np.zeros(70_000, np.float32)
    many[[5, 60_000, 69_999]] = [1, 3, 2]
    assert sorted(map(int, _highest(many, 2))) == [60_000, 69_999]


def test_a_word_is_the_rarer_the_fewer_have_it_and_what_all_have_still_counts() -> None:
    values = [rarity(100, each) for each in (0, 1, 50, 100, 120)]
    assert values == sorted(values, reverse=True) and values[-1] > 0


def test_a_chunk_is_matched_by_its_best_part_and_stands_in_a_file_as_good_as_the_best_of_that() -> None:
    words = np.array([0.2, 0.9, 0.5, 0.1], np.float32)
    whole = np.array([1, 1, 2, 3])
    files = np.array([0, 0, 0, 1])
    nothing = np.zeros(4, np.float32)
    found = _by_chunk(Matches(np.arange(4), whole, files, words, *[nothing] * 8))
    assert {chunk: match.part for chunk, match in found.items()} == {1: 1, 2: 2, 3: 3}
    assert {chunk: round(match.file_best, 1) for chunk, match in found.items()} == {1: 0.9, 2: 0.9, 3: 0.1}
