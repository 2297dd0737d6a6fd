"""No type of memory crowds the others out of a context."""

from __future__ import annotations

import pytest

from aurora_memory.recall.token_budget import KnapsackItem, fill_token_budget, within_shares

CODE = KnapsackItem(0.5, 100)
BEST = KnapsackItem(0.9, 100)
LONG = KnapsackItem(0.9, 900, 120)


def taken(types: list[str], offers: list[KnapsackItem], budget: int) -> dict[str, int]:
    """Tokens of a budget that each type gets."""
    plan = fill_token_budget(within_shares(types, offers, budget), budget)
    found = dict.fromkeys(types, 0)
    for place, form in plan.items():
        found[types[place]] += offers[place].tokens(form)
    return found


@pytest.mark.parametrize(
    ("types", "offers", "expected"),
    [
        # earlier solutions: a quarter, however good they are
        (["reas"] * 8 + ["code"] * 8, [BEST] * 8 + [CODE] * 8, {"reas": 200, "code": 600}),
        # documents: a half
        (["know"] * 8 + ["code"] * 8, [BEST] * 8 + [CODE] * 8, {"know": 400, "code": 400}),
        (["know"] * 8 + ["code"] * 8, [KnapsackItem(0.9, 80)] * 8 + [CODE] * 8, {"know": 400, "code": 400}),
        # code: all that is left
        (["code"] * 8 + ["reas"], [BEST] * 8 + [KnapsackItem(0.1, 100)], {"code": 800, "reas": 0}),
        # one type alone: everything
        (["reas"] * 8, [BEST] * 8, {"reas": 800}),
        # within its share a type has the form that fits it
        (["know", "code"], [LONG, CODE], {"know": 120, "code": 100}),
        (["reas", "code"], [KnapsackItem(0.9, 201), CODE], {"reas": 0, "code": 100}),
        (["reas", "code"], [KnapsackItem(0.9, 200), CODE], {"reas": 200, "code": 100}),
    ],
)
def test_a_type_takes_its_share(types: list[str], offers: list[KnapsackItem], expected: dict[str, int]) -> None:
    assert taken(types, offers, 800) == expected
