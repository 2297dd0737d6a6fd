"""Spreading activation: 0.7 a hop, three hops, hubs kept from lighting up everything."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.activation import MAX_SPREAD_HOPS as MAX_HOPS
from aurora_memory.activation import SPREAD_FACTOR as PER_HOP
from aurora_memory.activation import Weighing
from aurora_memory.recall.dedupe import TELLING, content_terms, fold_near_duplicates
from aurora_memory.recall.similar_commits import prime, similar_enough
from aurora_memory.recall.spreading_activation import FRONTIER, WEIGHTS, Spread
from aurora_memory.term_counts import Field, packed
from aurora_memory.views import Arc, SimilarCommit


def spread(sources: dict[int, float], arcs: list[Arc]) -> Spread:
    found = Spread(sources)
    while frontier := found.frontier():
        found.follow([arc for arc in arcs if arc[0] in frontier])
    return found


def call(source: int, target: int) -> Arc:
    return (source, target, "calls", 1.0, True)


def test_a_chain_fades_by_seven_tenths_and_ends_after_three_hops() -> None:
    found = spread({1: 1.0}, [call(n, n + 1) for n in range(1, 8)])
    assert found.amounts == pytest.approx({2: PER_HOP, 3: PER_HOP**2, 4: PER_HOP**3})
    assert [(step.source, step.kind, step.hops) for step in found.path_to(4)] == [
        (1, "calls", 1),
        (2, "calls", 2),
        (3, "calls", 3),
    ]


def test_a_fan_divides_what_is_passed_on() -> None:
    found = spread({1: 1.0}, [call(1, n) for n in range(2, 18)])
    assert found.amounts[2] == pytest.approx(PER_HOP / math.sqrt(16))


def test_sources_share_one_unit_of_attention_and_kinds_differ() -> None:
    found = spread({1: 3.0, 2: 1.0}, [call(1, 5), (2, 6, "imports", 1.0, False)])
    assert found.amounts[5] == pytest.approx(0.75 * PER_HOP)
    assert found.amounts[6] == pytest.approx(0.25 * PER_HOP * WEIGHTS["imports"])


edges = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12), st.floats(0.01, 1.0)), max_size=60)


@given(edges, st.dictionaries(st.integers(1, 12), st.floats(0.01, 10.0), min_size=1, max_size=4))
def test_amounts_stay_bounded_and_every_reached_chunk_has_a_way(
    raw: list[tuple[int, int, float]], sources: dict[int, float]
) -> None:
    arcs = [(a, b, "calls", weight, True) for a, b, weight in raw if a != b]
    found = spread(sources, arcs)
    for chunk, amount in found.amounts.items():
        assert 0.0 < amount <= sum((PER_HOP * math.sqrt(12)) ** hop for hop in range(1, MAX_HOPS + 1))
        steps = found.path_to(chunk)
        assert 1 <= len(steps) <= MAX_HOPS
        assert steps[0].source in sources or steps[0].hops > 1


def test_episodes_prime_what_similar_commits_changed() -> None:
    alike, vague = SimilarCommit(1, 0.8, "abc", "Expand templates"), SimilarCommit(2, 0.05, "def", "Misc")
    assert similar_enough([alike, vague]) == [alike]
    primed = prime([alike], {1: [10, 11, 12, 13], 2: [14]})
    assert set(primed) == {10, 11, 12, 13}
    assert primed[10].amount == pytest.approx(PER_HOP * 0.64 / 2)
    assert primed[10].episodes[0].subject == "Expand templates"


def test_of_similar_commits_those_that_bring_most_are_told_first() -> None:
    broad, narrow = SimilarCommit(1, 0.8, "abc", "Reformat all"), SimilarCommit(2, 0.7, "def", "Expand templates")
    primed = prime([broad, narrow], {1: list(range(10, 19)), 2: [10]})
    assert [each.hash for each in primed[10].episodes] == ["def", "abc"]


def test_of_many_chunks_the_strongest_pass_activation_on() -> None:
    found = Spread({n: float(n) for n in range(1, FRONTIER + 4)})
    assert found.frontier() == list(range(FRONTIER + 3, 3, -1)), "the weakest three say nothing"


@pytest.mark.parametrize(("terms", "folds"), [(TELLING, True), (TELLING - 1, False)])
def test_chunks_of_few_terms_look_like_many_others_and_stay(terms: int, folds: bool) -> None:
    said = frozenset(f"w{n}" for n in range(terms))
    assert fold_near_duplicates([said, said], enough=4).similar == ({0: [1]} if folds else {})


def test_a_chunk_of_few_terms_answers_for_none_that_has_one_more() -> None:
    words = [f"w{n}" for n in range(TELLING)]
    assert fold_near_duplicates([frozenset(words[1:]), frozenset(words)], enough=4).similar == {}


def test_near_duplicates_fold_under_the_first() -> None:
    words = [f"w{n}" for n in range(20)]
    one, twin, other = frozenset(words), frozenset([*words[:19], "else"]), frozenset(f"x{n}" for n in range(20))
    small = frozenset(words[:3])
    folded = fold_near_duplicates([one, other, twin, small, small], enough=4)
    assert (folded.kept, folded.similar) == ([0, 1, 3, 4], {0: [2]})


def test_of_two_like_it_the_better_one_answers_for_a_duplicate() -> None:
    words = [f"w{n}" for n in range(20)]
    best, second = frozenset([*words[:19], "best"]), frozenset([*words[1:], "second"])
    between = frozenset(words)
    folded = fold_near_duplicates([best, second, between], enough=4)
    assert (folded.kept, folded.similar) == ([0, 1], {0: [2]}), "though the two differ from each other"


def test_a_duplicate_of_what_stays_goes_under_it_where_there_is_no_more_room_too() -> None:
    one, other = (frozenset(f"{sign}{n}" for n in range(20)) for sign in "wx")
    folded = fold_near_duplicates([one, other, one], enough=1)
    assert (folded.kept, folded.similar) == ([0], {0: [2]})


def test_nine_of_ten_terms_in_common_are_enough_to_say_the_same() -> None:
    words = [f"w{n}" for n in range(20)]
    assert fold_near_duplicates([frozenset(words), frozenset(words[:18])], enough=4).similar == {0: [1]}
    assert fold_near_duplicates([frozenset(words), frozenset(words[:17])], enough=4).similar == {}


@pytest.mark.parametrize(
    ("field", "says"),
    [("signature", True), ("doc", True), ("calls", True), ("body", True), ("name", False), ("path", False)],
)
def test_copies_under_another_name_say_the_same(field: Field, says: bool) -> None:
    """What a chunk is called, and where it stands, is no part of what makes it a near-duplicate."""
    assert (content_terms(packed(field, {"cart": 1})) == {"cart"}) is says


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("calls", "inherits"),
        ("used", "tests"),
        ("inherits", "contains"),
        ("tests", "mentions"),
        ("edited with", "contains"),
        ("contains", "imports"),
        ("mentions", "imports"),
    ],
)
def test_what_is_reached_by_a_surer_relation_is_the_more_active(more: str, less: str) -> None:
    found = spread({1: 1.0}, [(1, 2, more, 1.0, True), (1, 3, less, 1.0, True)])
    assert found.amounts[2] > found.amounts[3]


def test_of_those_that_are_as_active_the_first_known_pass_it_on() -> None:
    assert Spread(dict.fromkeys(range(FRONTIER + 3, 0, -1), 1.0)).frontier() == list(range(1, FRONTIER + 1))


@pytest.mark.parametrize("weights", [(0.9, 0.3), (0.3, 0.9)])
def test_the_strongest_of_two_ways_to_a_chunk_is_told(weights: tuple[float, float]) -> None:
    arcs = [(1, 9, "calls", weights[0], True), (2, 9, "calls", weights[1], True)]
    (step,) = spread({1: 1.0, 2: 1.0}, arcs).path_to(9)
    assert step.source == (1 if weights[0] > weights[1] else 2)


def test_three_commits_are_told_of_a_chunk_that_more_speak_for() -> None:
    similar = [SimilarCommit(n, 0.5 + n / 100, f"hash{n}", "Expand templates") for n in range(1, 6)]
    primed = prime(similar, {n: [10] for n in range(1, 6)})
    assert [each.hash for each in primed[10].episodes] == ["hash5", "hash4", "hash3"]


def test_a_commit_that_is_a_tenth_like_the_question_is_like_it() -> None:
    alike, less = SimilarCommit(1, 0.1, "a", "Expand"), SimilarCommit(2, 0.09, "b", "Misc")
    assert similar_enough([alike, less]) == [alike]


def test_how_far_activation_goes_can_be_chosen() -> None:
    chain = {1: [call(1, 2)], 2: [call(2, 3)]}
    found = Spread({1: 1.0}, Weighing(spread_factor=0.5, max_spread_hops=1))
    while frontier := found.frontier():
        found.follow([arc for source in frontier for arc in chain.get(source, [])])
    assert found.amounts == {2: 0.5}
