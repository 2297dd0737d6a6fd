"""Of two memories' words on difficult questions: which counts, what settles them, and how many are kept."""

from __future__ import annotations

import pytest

from aurora_memory.learning import Difficulty, signature
from aurora_memory.store import learned_writer
from aurora_memory.store.importer import _still_difficult


def difficulty(said: str, at: float, failures: int = 1, score: float = 0.3) -> Difficulty:
    return Difficulty(signature(said), said, failures, score, at)


@pytest.mark.parametrize(
    ("here", "there", "kept"),
    [
        pytest.param(difficulty("weld", 1), difficulty("weld", 2), "there", id="the later word"),
        pytest.param(difficulty("weld", 2), difficulty("weld", 1, 9), "here", id="though the earlier is graver"),
        pytest.param(
            difficulty("weld", 1), difficulty("weld", 1, 2), "there", id="of one moment that of more failures"
        ),
        pytest.param(difficulty("weld", 1, 2), difficulty("weld", 1, 2, 0.1), "there", id="then that which went worse"),
        pytest.param(difficulty("weld", 1, 2, 0.1), difficulty("weld", 1, 2), "here", id="wherever it is"),
    ],
)
def test_of_two_memories_words_on_a_difficult_question_one_counts(
    here: Difficulty, there: Difficulty, kept: str
) -> None:
    found = _still_difficult({here.signature: here}, {there.signature: there}, [])
    assert found == [{"here": here, "there": there}[kept]]


@pytest.mark.parametrize(("at", "is_left"), [(4.0, True), (5.0, False), (6.0, False)])
def test_a_success_settles_what_failed_until_then(at: float, is_left: bool) -> None:
    failed = difficulty("weld iron pipes", 5.0)
    found = _still_difficult({}, {failed.signature: failed}, [("weld pipes of iron", at), ("paint walls", 9.0)])
    assert found == [failed] * is_left


def test_of_too_many_difficult_questions_of_two_memories_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_writer, "MAX_DIFFICULT", 2)
    given = [difficulty(said, at) for said, at in (("weld", 2.0), ("paint", 1.0), ("mill", 3.0), ("bake", 2.0))]
    found = _still_difficult({}, {each.signature: each for each in given}, [])
    assert [each.query for each in found] == ["mill", "bake"], "of those of one moment by the alphabet"
