"""How signals become an order."""

from __future__ import annotations

import pytest

from aurora_memory.recall import understand
from aurora_memory.recall.question import ERRAND, SUGGESTED
from aurora_memory.recall.ranking import Signals, is_test, score, strength


def test_each_signal_counts_on_its_own_and_the_name_beside_them() -> None:
    for field in Signals.__struct_fields__:
        one, two = (strength(Signals(**{field: amount})) for amount in (1.0, 2.0))
        assert one and two == pytest.approx(2 * one), field
    everything = Signals(**dict.fromkeys(Signals.__struct_fields__, 1.0))
    alone = (strength(Signals(**{field: 1.0})) for field in Signals.__struct_fields__)
    assert strength(everything, bonus=3.0) == pytest.approx(3.0 + sum(alone))
    against = {field for field in Signals.__struct_fields__ if strength(Signals(**{field: 1.0})) < 0}
    assert against == {"type_like", "remainder", "document", "test"}


def test_scores_rise_with_strength_and_stay_within_bounds() -> None:
    scores = [score(value) for value in (-1e6, -10.0, 0.0, 5.0, 10.0, 1e6)]
    assert scores == sorted(scores)
    assert all(0.0 <= value <= 1.0 for value in scores)


def test_a_question_says_suggests_and_asks_for_errands() -> None:
    question = understand("fix the config loading of `Syntax`")
    assert question.weights["config"] == 1.0
    assert question.weights["cfg"] == SUGGESTED
    assert question.weights["fix"] == ERRAND
    assert question.identifiers == ("Syntax",)
    assert not question.by_name
    assert understand("fix").weights["fix"] == 1.0, "a question of nothing else is about it"


def test_names_alone_ask_by_name() -> None:
    for query in ("AuthService.login", "parse_latex", "where is parse_latex defined", "Symbol", "a::b"):
        assert understand(query).by_name, query
    for query in ("parse latex", "how does parse_latex treat matrices", "cache decorator"):
        assert not understand(query).by_name, query


def test_tests_are_known_by_their_path() -> None:
    for folder in ("test", "tests", "testing", "spec", "specs", "__tests__"):
        assert is_test(f"{folder}/a.py") and is_test(f"src/{folder}/a.py"), folder
    for path in ("src/test_a.py", "test_a.py", "pkg/a_test.go", "src/a.spec.ts", "src/a.test.ts", "a/conftest.py"):
        assert is_test(path), path
    assert is_test("bin/test"), "a program called so"
    for path in ("src/testament.py", "contest/a.py", "src/latest.go", "src/specs.py", "src/respec.ts", "a/tests.md"):
        assert not is_test(path), path
