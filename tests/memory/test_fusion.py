"""Reciprocal rank fusion: what two rankings agree on comes first, names stay in front, nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.recall import signals
from aurora_memory.recall.fusion import K, fuse, reciprocal_ranks
from aurora_memory.recall.ranking import Nearness, Rank
from aurora_memory.recall.signals import RankingSignal, Signals


def rank(number: int, strength: float, *speaking: RankingSignal) -> Rank:
    return Rank(0, number, strength, Signals.of(dict.fromkeys(speaking, 1.0)))


def ranked(*numbers: int) -> list[Rank]:
    return [rank(number, 10.0 - place) for place, number in enumerate(numbers)]


def order(ranks: list[Rank]) -> list[int]:
    return [each.id for each in ranks]


def test_a_rank_counts_as_the_paper_says() -> None:
    sums = reciprocal_ranks([["a", "b"], ["b", "c", "b"]])
    assert sums == {"a": 1 / (K + 1), "b": 1 / (K + 2) + 1 / (K + 1), "c": 1 / (K + 2)}


def test_what_both_find_comes_before_what_one_finds() -> None:
    near = [(3, 0.9), (9, 0.8), (2, 0.7)]
    assert order(fuse(ranked(1, 2, 3, 9), near, by_words={1, 2, 3}, share=1.0)) == [3, 2, 1, 9]


def test_what_only_meaning_finds_is_not_ranked_by_words() -> None:
    fused = fuse(ranked(1, 2, 7), [(7, 0.9)], by_words={1, 2}, share=1.0)
    assert order(fused) == [1, 7, 2]
    assert [each.nearness for each in fused] == [None, Nearness(1, 0.9), None]


def test_at_its_usual_share_meaning_only_moves_what_words_find_too() -> None:
    assert order(fuse(ranked(1, 2, 7), [(7, 0.9), (2, 0.8)], by_words={1, 2})) == [2, 1, 7]


def test_names_that_are_spelled_stay_in_front() -> None:
    fused = fuse(ranked(1, 2, 3), [(3, 0.9), (1, 0.1)], by_words={1, 2, 3}, pinned={1})
    assert order(fused) == [1, 3, 2]
    assert fused[0].nearness == Nearness(2, 0.1)


def test_tests_and_remainders_rank_behind_by_meaning_too() -> None:
    near = [(3, 0.9), (2, 0.8)]
    alike = [rank(1, 3.0), rank(2, 2.0), rank(3, 1.0)]
    assert order(fuse(alike, near, {1, 2, 3}, share=1.0)) == [3, 2, 1], "where none is a test"
    for behind in (signals.test, signals.remainder):
        ranks = [rank(1, 3.0), rank(2, 2.0), rank(3, 1.0, behind)]
        assert order(fuse(ranks, near, {1, 2, 3}, share=1.0)) == [2, 3, 1], behind.name


@pytest.mark.parametrize("kind", ["test", "remainder"])
def test_what_is_behind_by_its_kind_is_so_in_meaning_too(kind: str) -> None:
    hits = [rank(1, 3.0), rank(2, 2.0, getattr(signals, kind)), rank(3, 1.0)]
    assert order(fuse(hits, [(2, 0.9), (3, 0.8)], by_words={1})) == [1, 3, 2], "the farther one is source"


@pytest.mark.parametrize("kind", ["document", "type_like"])
def test_documents_and_classes_keep_their_place_in_meaning(kind: str) -> None:
    hits = [rank(1, 3.0), rank(2, 2.0, getattr(signals, kind)), rank(3, 1.0)]
    assert order(fuse(hits, [(2, 0.9), (3, 0.8)], by_words={1})) == [1, 2, 3]


def test_meaning_alone_does_not_come_before_words_alone() -> None:
    assert order(fuse(ranked(7, 1), [(7, 0.9)], by_words={1})) == [1, 7]


def test_meaning_lifts_its_best_to_the_front_from_the_twentieth_place_and_not_from_the_twenty_fifth() -> None:
    hits = ranked(*range(1, 31))
    everything = set(range(1, 31))
    assert order(fuse(hits, [(20, 0.9)], everything))[0] == 20
    assert order(fuse(hits, [(25, 0.9)], everything))[0] == 1


def test_a_name_that_is_spelled_takes_no_place_from_the_others() -> None:
    assert order(fuse(ranked(1, 7, 2), [(1, 0.9), (7, 0.8)], by_words={1, 2}, pinned={1}, share=1.0)) == [1, 7, 2]


def test_what_neither_finds_comes_last() -> None:
    assert order(fuse(ranked(1, 2), [], by_words={2})) == [2, 1]


@given(st.lists(st.integers(1, 30), unique=True), st.lists(st.integers(1, 40), unique=True), st.data())
def test_nothing_is_lost_and_strengths_go_down(numbers: list[int], near: list[int], data: st.DataObject) -> None:
    ranks = ranked(*numbers)
    pinned = set(numbers[: data.draw(st.integers(0, 3))])
    by_words = data.draw(st.sets(st.sampled_from(numbers))) if numbers else set()
    fused = fuse(ranks, [(number, 1 / (1 + place)) for place, number in enumerate(near)], by_words | pinned, pinned)
    assert sorted(order(fused)) == sorted(numbers)
    assert [each.strength for each in fused] == [each.strength for each in ranks]
    assert set(order(fused)[: len(pinned)]) == pinned
    assert order(fuse(ranks, [], set(numbers))) == numbers
