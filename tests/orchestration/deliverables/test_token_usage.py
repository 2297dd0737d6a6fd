"""Tokens and costs added up: what of a total is unsplit, and that nothing told stays nothing."""

from __future__ import annotations

import pytest

from aurora_deliverables.deliverable import TokenUsage
from aurora_deliverables.events import TokensUsed
from aurora_deliverables.token_usage import TokenSum, added, usage_of


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        pytest.param(TokensUsed(input_tokens=10, output_tokens=5), TokenUsage(10, 5), id="what is split is no total"),
        pytest.param(TokensUsed(total_tokens=20), TokenUsage(None, None, 0, None, 20), id="a total alone is unsplit"),
        pytest.param(
            TokensUsed(input_tokens=10, output_tokens=5, total_tokens=20),
            TokenUsage(10, 5, 0, None, 5),
            id="so is what it is above the two",
        ),
        pytest.param(
            TokensUsed(input_tokens=10, total_tokens=30), TokenUsage(10, None, 0, None, 20), id="or above the one"
        ),
        pytest.param(
            TokensUsed(input_tokens=10, output_tokens=5, total_tokens=15), TokenUsage(10, 5), id="not what is in both"
        ),
        pytest.param(
            TokensUsed(input_tokens=10, output_tokens=5, total_tokens=12),
            TokenUsage(10, 5),
            id="nor a total below them",
        ),
    ],
)
def test_what_of_a_total_is_unsplit(told: TokensUsed, usage: TokenUsage) -> None:
    assert usage_of(told) == usage


def test_costs_are_kept_by_model_and_what_nobody_told_stays_unknown() -> None:
    spending = TokenSum()
    spending.add(TokensUsed(input_tokens=1, cached_tokens=3))
    assert spending.usage() == TokenUsage(1, None, 3, None, None) and spending.costs == {}
    for cost, model in ((0.5, "opus"), (0.25, "opus"), (0.0, None)):
        spending.add(TokensUsed(output_tokens=2, cost_usd=cost, model=model))
    assert spending.usage() == TokenUsage(1, 6, 3, 0.75, None)
    assert spending.costs == {"opus": 0.75, None: 0.0}


def test_usages_of_several_changes_are_one() -> None:
    assert added([]) is None
    assert added([TokenUsage(1, None), TokenUsage(None, None)]) == TokenUsage(1, None, 0, None, None)
    assert added([TokenUsage(1, 2, 3, 0.5, 4), TokenUsage(1, 2, 3, None, 4)]) == TokenUsage(2, 4, 6, 0.5, 8)
