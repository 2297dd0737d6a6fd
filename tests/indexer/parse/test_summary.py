"""What a chunk is summed up to: how complex it is, and the words that tell it best."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from aurora_indexer.parse.summary import Keywords, ast_summary
from aurora_memory.chunks import ComplexityCounts

PLAIN = Keywords(frozenset({"self", "def"})).choose


@pytest.mark.parametrize(
    ("branches", "loops", "complexity"),
    [
        (0, 0, "low"),
        (3, 0, "low"),
        (2, 2, "medium"),
        (0, 4, "medium"),
        (6, 4, "medium"),
        (6, 5, "high"),
        (40, 0, "high"),
    ],
)
def test_three_branches_and_loops_are_few_and_more_than_ten_are_many(
    branches: int, loops: int, complexity: str
) -> None:
    assert ast_summary(branches, loops) == ComplexityCounts(complexity, branches, loops)


@pytest.mark.parametrize(
    ("name", "signature", "docstring", "more", "words"),
    [
        pytest.param(
            "Cart.total", "def total(self, tax)", "", (), ["total", "cart", "tax"], id="name, class, signature"
        ),
        pytest.param(
            "total", "", "Sum prices.", (), ["total", "sum", "prices"], id="the name before what is said of it"
        ),
        pytest.param(
            "Cart.total", "", "Sum prices.", (), ["total", "sum", "prices", "cart"], id="what is said before the class"
        ),
        pytest.param(
            "run", "def run(tax, tax, tax, tax, tax, tax)", "", (), ["tax", "run"], id="a word counts each time"
        ),
        pytest.param(
            "ab", "", "", ("fetch_rows", "rows"), ["rows", "fetch"], id="short words tell nothing, calls fill up"
        ),
        pytest.param(
            "alpha_beta_gamma_delta_omega",
            "",
            "",
            ("fetch",),
            "alpha beta gamma delta omega".split(),
            id="five are enough",
        ),
        pytest.param(
            "alpha_beta_gamma_delta", "", "", ("fetch",), "alpha beta gamma delta fetch".split(), id="four are not"
        ),
        pytest.param(
            "one_alpha_beta",
            "",
            "",
            ("gamma delta omega sigma zeta kappa",),
            "alpha beta gamma delta omega sigma zeta".split(),
            id="seven at most",
        ),
        pytest.param(
            "total",
            "",
            "Sum up all prices of a customer. Rounding follows.",
            (),
            ["total", "sum", "prices", "customer", "rounding", "follows"],
            id="the first sentence before the rest",
        ),
        pytest.param(
            "total",
            "",
            "Sum up. Rows rows rows of what is there.",
            (),
            ["rows", "total", "sum"],
            id="forty letters are one sentence",
        ),
        pytest.param(
            "total",
            "",
            "Sum up. Rows rows rows of what is there..",
            (),
            ["total", "sum", "rows"],
            id="of more the first",
        ),
    ],
)
def test_the_words_that_tell_a_chunk_best_come_first(
    name: str, signature: str, docstring: str, more: Sequence[str], words: list[str]
) -> None:
    assert list(PLAIN(name, signature, docstring, more)) == words
