"""How signals become an order."""

from __future__ import annotations

import msgspec

from aurora_memory.recall import understand
from aurora_memory.recall.question import ERRAND, SUGGESTED
from aurora_memory.recall.ranking import WEIGHTS, Signals, is_test, score, strength


def test_every_signal_counts_by_its_weight() -> None:
    for field in Signals.__struct_fields__:
        alone = msgspec.structs.replace(Signals(), **{field: 2.0})
        assert strength(alone) == 2.0 * getattr(WEIGHTS, field)
    assert strength(Signals(), bonus=3.0) == 3.0


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
    for path in ("tests/a.py", "src/test_a.py", "pkg/a_test.go", "src/a.spec.ts", "src/__tests__/a.ts"):
        assert is_test(path), path
    for path in ("src/testament.py", "contest/a.py", "src/latest.go"):
        assert not is_test(path), path
