"""What comes behind the first ten answers where something is to be changed: files that none of these is of."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.candidates import Candidates
from aurora_memory.recall.file_evidence import AMONG, BEFORE_MEMBERS, Ordered, evidence, with_members, with_other_files
from aurora_memory.recall.ranking import Rank
from aurora_memory.recall.signals import Signals
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

NOW = 1_800_000_000.0
LOG = "\n".join(f"line {n} of what the shop printed" for n in range(8))


def in_order(*paths: str, worth: dict[str, float]) -> list[int]:
    """The places of answers of those files, best first, in the order in which they are told."""
    candidates = cast(Candidates, SimpleNamespace(heads=[SimpleNamespace(path=path) for path in paths]))
    ranks = [Rank(n, n, -float(n), Signals(())) for n in range(len(paths))]
    told = with_other_files(candidates, Ordered(ranks), worth).ranks
    assert [rank.strength for rank in told] == [rank.strength for rank in ranks], "strengths go on falling"
    return [rank.id for rank in told]


def test_behind_ten_answers_comes_the_best_of_the_likeliest_other_file() -> None:
    paths = ["a"] * 12 + ["b", "c", "c"]
    assert in_order(*paths, worth={"a": 3.0, "b": 1.0, "c": 2.0}) == [*range(10), 13, 12, 10, 11, 14]


def test_behind_four_answers_to_a_report_come_others_of_the_first_one_s_file() -> None:
    paths = [*"abcdbaba", *"e" * AMONG, "a"]
    heads = [SimpleNamespace(path=path) for path in paths]
    ranks = [Rank(n, n, -float(n), Signals(())) for n in range(len(paths))]
    told = with_members(cast(Candidates, SimpleNamespace(heads=heads)), Ordered(ranks)).ranks
    assert (BEFORE_MEMBERS, [rank.id for rank in told][:9]) == (4, [0, 1, 2, 3, 5, 7, 4, 6, 8])
    assert [rank.id for rank in told][9:] == list(range(9, len(paths))), "of those that are little weaker"
    assert [rank.strength for rank in told] == [rank.strength for rank in ranks]
    assert with_members(cast(Candidates, SimpleNamespace(heads=[])), Ordered([])).ranks == []


@pytest.mark.parametrize(
    ("question", "moves"),
    [
        ("totals of empty carts are wrong", True),
        ("Fix totals of empty carts", False),
        ("CartError: totals of empty carts", False),
        (f"totals of empty carts are wrong\n\nThis is what we see.\n{LOG}", False),
        ("totals of empty carts", False),
    ],
    ids=["report", "change", "error", "issue", "topic"],
)
async def test_only_a_report_by_itself_is_answered_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, moves: bool
) -> None:
    """A text is asked by its title, too, and says more of the functions itself."""
    asked: list[str] = []
    module = import_module("aurora_memory.recall.recall")
    monkeypatch.setattr(module, "with_members", lambda given, ordered: asked.append(given.question.text) or ordered)
    store = await new_store(tmp_path / "memory.db")
    try:
        await store.write([file("src/cart.py", chunk("src/cart.py", "total", "totals of empty carts are wrong"))])
        await store.read(recall, parse_question(question), 10, NOW)
    finally:
        await store.close()
    assert asked == ([question] if moves else [])


def test_a_file_of_the_tenth_answer_is_told_and_one_of_the_eleventh_is_not() -> None:
    tenth = ["a"] * 9 + ["b", "a", "b", "c"]
    assert in_order(*tenth, worth={"a": 3.0, "b": 2.0, "c": 1.0}) == [*range(10), 12, 10, 11]
    eleventh = ["a"] * 10 + ["b", "b", "c"]
    assert in_order(*eleventh, worth={"a": 3.0, "b": 1.0, "c": 2.0}) == [*range(10), 12, 10, 11]


def test_of_the_five_likeliest_files_only() -> None:
    worth = {"a": 9.0, "b": 1.0, "c": 2.0, "d": 3.0, "e": 4.0, "f": 5.0}
    paths = ["a"] * 12 + ["b", "c", "d", "e", "f"]
    assert in_order(*paths, worth=worth) == [*range(10), 16, 15, 14, 13, 10, 11, 12]


@pytest.mark.parametrize(
    "question",
    [
        "Fix totals of empty carts",
        "totals of empty carts are wrong",
        "CartError: totals of empty carts",
        f"totals of empty carts are wrong\n\nThis is what we see.\n{LOG}",
    ],
    ids=["change", "report", "error", "issue"],
)
async def test_who_wants_something_changed_has_two_other_files_among_twelve(tmp_path: Path, question: str) -> None:
    assert set((await answered(tmp_path, question))[:12]) == {"cart.py", "other.py", "rest.py"}


async def test_who_asks_what_a_function_does_has_not(tmp_path: Path) -> None:
    assert set((await answered(tmp_path, "Return totals of empty carts."))[:12]) == {"cart.py"}


@pytest.mark.parametrize(
    ("question", "limit", "asked"),
    [
        ("totals of empty carts are wrong", 10, [True]),
        ("totals of empty carts are wrong", 11, [True]),
        ("Fix totals of empty carts", 11, [True]),
        ("Fix totals of empty carts", 10, [True]),
        ("CartError: totals of empty carts", 10, []),
        ("CartError: totals of empty carts", 11, [True]),
        ("Return totals of empty carts.", 11, [False]),
    ],
)
async def test_files_are_weighed_as_those_of_reports_and_for_an_error_where_more_than_ten_answers_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, limit: int, asked: list[bool]
) -> None:
    weighed: list[bool] = []

    def told(candidates: Candidates, ranks: Sequence[Rank], *, of_reports: bool = False) -> dict[str, float]:
        weighed.append(of_reports)
        return evidence(candidates, ranks, of_reports=of_reports)

    monkeypatch.setattr(import_module("aurora_memory.recall.recall"), "evidence", told)
    await answered(tmp_path, question, limit)
    assert weighed == asked


async def answered(folder: Path, question: str, limit: int = 15) -> list[str]:
    """The files of the answers to a question, in a memory where a dozen functions of one are before those of others."""
    store = await new_store(folder / "memory.db")
    names = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth".split()
    carts = [
        chunk(
            "cart.py",
            f"totals_of_empty_carts_{name}",
            f"totals of empty carts {name} {name}er {name}ish",
            line=n * 20 + 1,
        )
        for n, name in enumerate(names)
    ]
    other = chunk("other.py", "sum_up", "empty carts have prices and rates and coupons")
    rest = chunk("rest.py", "add_up", "empty rooms and their guests and keys")
    await store.write([file("cart.py", *carts), file("other.py", other), file("rest.py", rest)])
    found = await store.read(recall, parse_question(question), limit, NOW)
    await store.close()
    return [hit.chunk.path for hit in found]
