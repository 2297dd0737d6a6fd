"""Which words stand for one thing: the very word, a form of it, another for the same, and its opposite."""

from __future__ import annotations

import pytest

from aurora_memory.tokens import terms
from aurora_orchestration.soar.concepts import _TOLD, MOST_LETTERS, OPPOSITES, PROCESS, Words, telling, union


def stem(word: str) -> str:
    return terms(word)[-1]


@pytest.mark.parametrize(
    ("text", "word", "says", "has"),
    [
        pytest.param("write the guide", "guides", True, True, id="a word in another form"),
        pytest.param("write the guide", "document", False, True, id="another word for it"),
        pytest.param("write the guide", "tenant", False, False, id="no word for it"),
    ],
)
def test_what_stands_for_a_word(text: str, word: str, says: bool, has: bool) -> None:
    found = telling(text)
    assert (found.says(stem(word)), found.has(stem(word))) == (says, has)


@pytest.mark.parametrize(("word", "nearly"), [("forester", True), ("forecast", False), ("fore", False)])
def test_forms_of_one_word_begin_alike_by_five_letters(word: str, nearly: bool) -> None:
    assert Words(frozenset(), frozenset(), frozenset({"fores"})).nearly(word) is nearly


def test_everyday_words_tell_nothing_and_several_texts_are_one() -> None:
    assert telling("what is the of and").stems == frozenset()
    one, other = telling("write guides"), telling("resize images")
    both = union(["write guides", "resize images"])
    assert both.stems == one.stems | other.stems and both.starts == one.starts | other.starts
    assert both.groups == one.groups | other.groups and union([]) == telling("")


def test_an_opposite_is_a_word_or_a_phrase_and_never_of_both_sides() -> None:
    assert OPPOSITES and PROCESS
    for pair in OPPOSITES:
        assert pair.ones | set(pair.one_phrases) and pair.others | set(pair.other_phrases)
        assert not pair.ones & pair.others
        assert not any("_" in phrase for phrase in (*pair.one_phrases, *pair.other_phrases))


def test_words_of_texts_are_kept_by_how_long_the_texts_are() -> None:
    long = MOST_LETTERS // 4
    for number in range(9):
        assert telling(f"{number} tenants " + "x" * long).says(stem("tenant"))
        assert sum(map(len, _TOLD)) <= MOST_LETTERS
    assert telling("8 tenants " + "x" * long) is telling("8 tenants " + "x" * long)
    telling("y" * (MOST_LETTERS + 1))
    assert len(_TOLD) == 1, "one that is longer is kept by itself until the next"
