"""Filling a budget: never exceeded, the best always there, close to the best there is."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_memory.recall.token_budget import (
    EXCERPT_WORTH,
    Form,
    KnapsackItem,
    Plan,
    fill_token_budget,
    within_shares,
)


@st.composite
def offered(draw: st.DrawFn, most: int = 30) -> list[KnapsackItem]:
    scores = sorted(draw(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=most)), reverse=True)
    offers = []
    for score in scores:
        whole = draw(st.integers(1, 400))
        short = draw(st.none() | st.integers(1, whole))
        offers.append(KnapsackItem(score, whole, None if short in (None, whole) else short))
    return offers


def tokens(offers: list[KnapsackItem], plan: Plan) -> int:
    return sum(offers[place].tokens(form) for place, form in plan.items())


def worth(offers: list[KnapsackItem], plan: Plan) -> float:
    return sum(offers[place].worth(form) for place, form in plan.items())


def smallest(offer: KnapsackItem) -> int:
    return offer.whole if offer.excerpt is None else offer.excerpt


@given(offered(), st.integers(0, 3000), st.none() | st.integers(0, 10))
def test_the_budget_and_the_limit_hold_and_the_best_that_fits_is_there(
    offers: list[KnapsackItem], budget: int, limit: int | None
) -> None:
    plan = fill_token_budget(offers, budget, limit)
    assert tokens(offers, plan) <= budget
    assert limit is None or len(plan) <= limit
    assert all(form == "whole" or offers[place].excerpt is not None for place, form in plan.items())
    fitting = [place for place, offer in enumerate(offers) if smallest(offer) <= budget]
    if fitting and limit != 0:
        assert fitting[0] in plan
    else:
        assert plan == {}


@given(offered(), st.integers(0, 3000), st.integers(1, 10))
def test_no_worse_than_taking_the_best_whole_while_they_fit(
    offers: list[KnapsackItem], budget: int, limit: int
) -> None:
    left, plain = budget, 0.0
    for offer in offers[:limit]:
        if offer.whole <= left:
            left, plain = left - offer.whole, plain + offer.score
    # What the rule that the best is always there may cost: nothing, where it fits whole.
    if offers[0].whole <= budget:
        assert worth(offers, fill_token_budget(offers, budget, limit)) >= plain - 1e-9


@given(offered(most=6), st.integers(1, 900))
def test_at_least_half_of_the_best_there_is(offers: list[KnapsackItem], budget: int) -> None:
    first = next((place for place, offer in enumerate(offers) if smallest(offer) <= budget), None)
    best = 0.0
    forms: tuple[Form | None, ...] = (None, "excerpt", "whole")
    for mix in product(forms, repeat=len(offers)):
        plan: Plan = {place: form for place, form in enumerate(mix) if form is not None}
        exists = all(form == "whole" or offers[place].excerpt for place, form in plan.items())
        if exists and first in plan and tokens(offers, plan) <= budget:
            best = max(best, worth(offers, plan))
    assert worth(offers, fill_token_budget(offers, budget)) >= best / 2 - 1e-9


def test_a_long_best_hit_is_cut_so_that_others_find_room() -> None:
    offers = [KnapsackItem(0.9, 900, 100), KnapsackItem(0.8, 300, 120), KnapsackItem(0.7, 250, None)]
    assert fill_token_budget(offers, 1000) == {0: "excerpt", 1: "whole", 2: "whole"}
    assert fill_token_budget(offers, 5000) == dict.fromkeys(range(3), "whole")
    assert fill_token_budget(offers, 99) == {}
    assert fill_token_budget(offers, 110) == {0: "excerpt"}


def test_many_small_ones_do_not_crowd_out_a_good_large_one() -> None:
    offers = [
        KnapsackItem(0.9, 10, None),
        KnapsackItem(0.9, 900, None),
        *(KnapsackItem(0.05, 20, None) for _ in range(9)),
    ]
    assert 1 in fill_token_budget(offers, 910)


@pytest.mark.parametrize(
    ("types", "left_out"),
    [
        pytest.param(["know"] * 4, 0, id="of documents alone all that fits"),
        pytest.param(["reas"] * 4, 0, id="so too of earlier solutions"),
        pytest.param(["code", "know", "know", "know"], 1, id="beside code documents take half of a budget"),
        pytest.param(["code", "reas", "reas", "reas"], 2, id="and earlier solutions a quarter"),
        pytest.param(["know", "code", "code", "code"], 0, id="code may take what it needs"),
        pytest.param(["know", "know", "know", "reas"], 1, id="each of two keeps its share, though there is no code"),
    ],
)
def test_what_of_a_budget_a_type_may_take(types: list[str], left_out: int) -> None:
    offers = [KnapsackItem(0.9 - place / 10, 25) for place in range(4)]
    found = within_shares(types, offers, 100)
    assert [each.score for each in found] == [each.score for each in offers]
    assert sum(each.whole > 100 for each in found) == left_out, "too large to fit is what is beyond a share"


@pytest.mark.parametrize(
    ("longer", "form"),
    [
        pytest.param(-1, "excerpt", id="an excerpt shorter than what does not fit"),
        pytest.param(0, None, id="an excerpt as long as the whole, which does not fit"),
        pytest.param(3, None, id="an excerpt longer than the whole"),
    ],
)
def test_only_an_excerpt_shorter_than_the_whole_can_take_its_place(longer: int, form: str | None) -> None:
    offer = KnapsackItem(0.5, 10, 10 + longer)
    assert fill_token_budget([offer], 9).get(0) == form
    assert fill_token_budget([offer], 20) == {0: "whole"}


def test_an_excerpt_as_long_as_the_whole_is_never_told_as_an_excerpt() -> None:
    """Beside whatever other offers, in whatever budget: who is given all of it must not be told that it is a part."""
    chance = random.Random(11)
    for _ in range(2_000):
        offers, budget = [], chance.randrange(1, 31)
        for _ in range(chance.randrange(1, 6)):
            whole = chance.randrange(1, 13)
            excerpt = chance.choice([None, whole, whole + chance.randrange(4), max(1, whole - chance.randrange(9))])
            offers.append(KnapsackItem(chance.choice([0.1, 0.3, 0.9]), whole, excerpt))
        plan = fill_token_budget(offers, budget, chance.choice([None, 1, 2, 3]))
        short = [offers[place] for place, form in plan.items() if form == "excerpt"]
        assert all(each.excerpt is not None and each.excerpt < each.whole for each in short), (offers, budget)


def test_what_an_excerpt_is_worth() -> None:
    assert KnapsackItem(0.5, 100, 10).worth("excerpt") == 0.5 * EXCERPT_WORTH


def test_a_budget_is_used_to_its_last_token() -> None:
    offers = [KnapsackItem(0.9, 100, 40), KnapsackItem(0.8, 100, 40), KnapsackItem(0.7, 100, 40)]
    assert fill_token_budget(offers, 120) == dict.fromkeys(range(3), "excerpt")
    assert fill_token_budget(offers, 119).keys() == {0, 1}
    assert fill_token_budget(offers, 300) == dict.fromkeys(range(3), "whole")
    assert list(fill_token_budget(offers, 299).values()).count("whole") == 2


def test_of_offers_that_are_worth_as_much_the_first_is_taken() -> None:
    offers = [KnapsackItem(0.9, 10), KnapsackItem(0.5, 10), KnapsackItem(0.5, 10)]
    assert fill_token_budget(offers, 20).keys() == {0, 1}


WAYS = [
    pytest.param(
        [(0.9, 8, 7), (0.7, 12, None), (0.1, 12, None), (0.1, 6, 1)], 19, None, {0: "excerpt", 1: "whole"},
        id="the best shortened, so that the one that is worth most beside it has room",
    ),
    pytest.param(
        [(0.9, 3, None), (0.5, 9, 1), (0.5, 8, None), (0.3, 1, None), (0.1, 11, 3)], 18, 3,
        {0: "whole", 1: "excerpt", 2: "whole"},
        id="of the first three alone, where three are wanted and a fourth would take a place for little",
    ),
    pytest.param(
        [(0.7, 5, None), (0.5, 6, 5), (0.3, 11, 9), (0.1, 3, None)], 20, None, {0: "whole", 1: "whole", 2: "excerpt"},
        id="in order, the last shortened",
    ),
    pytest.param(
        [(0.9, 4, None), (0.9, 12, None), (0.9, 10, None), (0.1, 8, 6)], 21, 3, {0: "whole", 2: "whole", 3: "excerpt"},
        id="at last what is left out as a whole is shortened",
    ),
]  # fmt: skip
"""Each way of filling a budget is the best of all for some offers (score, tokens, tokens of the excerpt)."""


@pytest.mark.parametrize(("offers", "budget", "limit", "plan"), WAYS)
def test_of_several_ways_to_fill_a_budget_the_one_that_is_worth_most_is_taken(
    offers: list[tuple[float, int, int | None]], budget: int, limit: int | None, plan: Plan
) -> None:
    assert fill_token_budget([KnapsackItem(*each) for each in offers], budget, limit) == plan
