"""Which patterns of other repositories fit a question, and which of two comes first."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_memory.learning import lesson_of
from aurora_memory.record.transfer import TransferablePattern, matching, suffix_of
from aurora_memory.semantic_tags import stems_of
from tests.memory.runs import run

QUERY = "weld iron pipes"


def pattern(
    name: str = "one", *, says: str = QUERY, domain: str = "general", score: float = 0.9, **changes: Any
) -> TransferablePattern:
    document = lesson_of(run(query=says, pattern=name, score=score)).document
    assert document is not None
    document = replace(document, metadata=replace(document.metadata, domain=domain))
    made = TransferablePattern(document, 5.0, "shop", "a" * 32, "", frozenset(stems_of(says)), frozenset({"a.py"}))
    return replace(made, **changes)


def order(*patterns: TransferablePattern, query: str = QUERY, limit: int = 9) -> list[str]:
    found = matching(patterns, query, frozenset({".py"}), 0.5, limit)
    return [match.pattern.document.id.removeprefix("reas:") for match in found]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(pattern("b"), pattern("a", says="weld iron"), id="what says more of the question"),
        pytest.param(pattern("b"), pattern("a", score=0.85), id="what went better"),
        pytest.param(pattern("b"), pattern("a", files=frozenset({"a.go"})), id="what is in a language of here"),
        pytest.param(pattern("b"), pattern("a", learned_by="Ann"), id="one's own before a colleague's"),
        pytest.param(pattern("b"), pattern("a", learned_by=None), id="whoever that is"),
        pytest.param(pattern("b", learned_at=6.0), pattern("a"), id="of equals the later"),
        pytest.param(pattern("a"), pattern("b"), id="then by the alphabet"),
    ],
)
def test_which_of_two_patterns_comes_first(better: TransferablePattern, worse: TransferablePattern) -> None:
    names = [each.document.id.removeprefix("reas:") for each in (better, worse)]
    assert order(better, worse) == order(worse, better) == names


@pytest.mark.parametrize(("query", "adds"), [("encrypt the password", True), ("weld iron pipes", False)])
def test_the_same_area_speaks_for_a_pattern_unless_it_is_none(query: str, adds: bool) -> None:
    domain = "security" if adds else "general"
    same, other = pattern("b", says=query, domain=domain), pattern("a", says=query, domain="files")
    assert order(same, other, query=query) == (["b", "a"] if adds else ["a", "b"])


def test_what_two_repositories_have_in_common_is_told_once_and_no_more_than_are_wanted() -> None:
    twin = pattern("a", repository="till", learned_at=4.0)
    assert order(pattern("a"), twin, pattern("b")) == ["a", "b"]
    assert order(pattern("a"), pattern("b"), limit=1) == ["a"]
    assert order(pattern("a"), query="the") == [], "who asks nothing gets nothing"


@pytest.mark.parametrize(("said", "fits"), [("weld iron", True), ("weld", False)])
def test_a_pattern_fits_that_has_half_of_what_is_asked(said: str, fits: bool) -> None:
    assert bool(order(pattern(says=said), query="weld iron pipes twice")) is fits


@pytest.mark.parametrize(
    ("path", "suffix"), [("a/b.PY", ".py"), ("a.b/c", ""), (".bashrc", ""), ("a/x.tar.gz", ".gz"), ("Makefile", "")]
)
def test_the_ending_of_a_file(path: str, suffix: str) -> None:
    assert suffix_of(path) == suffix
