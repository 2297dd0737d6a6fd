"""How far a search looks for a question: which limit is whose, what comes first at it, and what counts as a source."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from aurora_memory.recall import Focus, parse_question
from aurora_memory.recall.pointers import Pointed
from aurora_memory.recall.search import PartMatch, _by_chunk, _placed, _sources, search
from aurora_memory.recall.similar_commits import Primed
from aurora_memory.recall.spreading_activation import Spread

MODULE = sys.modules[search.__module__]


class _Matched(Exception):
    """What parts were asked for."""


def asked(
    monkeypatch: pytest.MonkeyPatch,
    kind: Any,
    terms: int = 1,
    synonyms: int = 0,
    said: tuple[str, ...] = (),
    **more: Any,
) -> tuple[list[str], Any, Any]:
    """The terms that are looked for, how many parts, and how many more of each file. The first stands in one part, the
    second in two, and so on.
    """

    def match(
        parts: Any, entries: Any, weights: Any, terms: Any, looked_at: Any, places: Any, members: Any, *_: Any
    ) -> None:
        raise _Matched([*entries], looked_at, members)

    names = [f"t{n:02}" for n in range(terms)]
    question = replace(
        parse_question("one two three"),
        kind=kind,
        weights={name: float(n + 1) for n, name in enumerate(names)},
        synonyms=frozenset(names[:synonyms]),
        terms=said,
        **more,
    )
    entries = {name: ([1] * (n + 1), [1] * (n + 1)) for n, name in enumerate(names)}
    monkeypatch.setattr(MODULE, "entries_of", lambda *_: entries)
    monkeypatch.setattr(MODULE, "rarity", lambda *_: 1.0)
    monkeypatch.setattr(MODULE, "pointed_at", lambda *_: Pointed())
    monkeypatch.setattr(MODULE, "match", match)
    parts = SimpleNamespace(living=9, chunks=[], files=[])
    reader: Any = SimpleNamespace(words=SimpleNamespace(parts=lambda _: parts), writes=0)
    with pytest.raises(_Matched) as caught:
        search(reader, question)
    found, looked_at, members = caught.value.args
    return found, looked_at, members


@pytest.mark.parametrize(
    ("kind", "looked_at", "members"),
    [
        pytest.param("topic", 90, 0, id="of a topic what resembles its words"),
        pytest.param("change", 90, 0, id="as of a change"),
        pytest.param("report", 200, 20, id="of a report more, and more of its likeliest files"),
        pytest.param("error", 200, 20, id="as of an error"),
        pytest.param("issue", 200, 20, id="and of an issue"),
    ],
)
def test_how_widely_is_looked_for_a_question(
    monkeypatch: pytest.MonkeyPatch, kind: str, looked_at: int, members: int
) -> None:
    assert asked(monkeypatch, kind)[1:] == (looked_at, members)


def test_a_report_in_plain_words_is_looked_for_as_a_topic_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asked(monkeypatch, "report", is_in_plain_words=True)[1:] == (90, 0)


def test_of_a_long_question_the_sixty_four_terms_that_tell_most_are_weighed(monkeypatch: pytest.MonkeyPatch) -> None:
    found, *_ = asked(monkeypatch, "issue", 66)
    assert sorted(found) == [f"t{n:02}" for n in range(2, 66)]
    assert len(asked(monkeypatch, "issue", 64)[0]) == 64


def test_what_only_code_may_have_for_a_question_is_looked_for_beside_what_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert asked(monkeypatch, "topic", 2, synonyms=1)[0] == ["t00", "t01"]


def test_what_is_only_suggested_and_stands_everywhere_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "EVERYWHERE", 2)
    assert asked(monkeypatch, "topic", 4)[0] == ["t00", "t01"]
    assert asked(monkeypatch, "topic", 4, said=("t03",))[0] == ["t00", "t01", "t03"], "what is said counts all the same"


def found_by(monkeypatch: pytest.MonkeyPatch, episodes: Any = None, **more: Any) -> list[int]:
    """What is found without a word in memory: what similar commits changed."""
    monkeypatch.setattr(MODULE, "entries_of", lambda *_: {name: ([1], [1]) for name in more.get("synonyms", ())})
    monkeypatch.setattr(MODULE, "rarity", lambda *_: 1.0)
    monkeypatch.setattr(MODULE, "_episodes", lambda *_: episodes or {})
    monkeypatch.setattr(MODULE, "_spread", lambda *_: (Spread({}), []))
    parts = SimpleNamespace(living=9, chunks=[], files=[])
    reader: Any = SimpleNamespace(words=SimpleNamespace(parts=lambda _: parts), writes=0)
    question = replace(parse_question("close each session"), weights={"kill": 1.0}, **more)
    return [*search(reader, question).by_words]


def test_what_only_code_may_have_for_a_question_is_no_answer_where_nothing_has_what_it_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert found_by(monkeypatch, synonyms=frozenset({"kill"})) == []


def test_of_what_similar_commits_changed_the_thirty_they_speak_for_most_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episodes = {n: Primed(n / 40, []) for n in range(32)}
    assert found_by(monkeypatch, episodes) == [*range(31, 1, -1)]


def matched(words: float, name_share: float = 0.0) -> PartMatch:
    return PartMatch(0, words, 0.0, 0.0, name_share, 0.0, 0.0, 0.0, 0.0, 0.0)


def named(*ids: int) -> list[Any]:
    return [SimpleNamespace(id=each) for each in ids]


def test_the_twelve_best_matches_are_sources_by_the_square_of_their_words() -> None:
    shares = _sources({n: matched(n / 20) for n in range(1, 14)}, [])
    assert shares == {n: (n / 20) ** 2 for n in range(2, 14)}


def test_a_name_makes_a_match_a_source_though_it_counts_by_its_words() -> None:
    found = {n: matched(0.5) for n in range(12)} | {99: matched(0.1, name_share=0.9)}
    shares = _sources(found, [])
    assert len(shares) == 12 and shares[99] == pytest.approx(0.01)


def test_twelve_exact_names_are_sources_and_count_fully_or_more() -> None:
    shares = _sources({1: matched(2.0)}, named(*range(1, 15)))
    assert shares == {1: 4.0} | dict.fromkeys(range(2, 13), 1.0)


def test_what_is_in_focus_has_a_share_of_all_that_was_found() -> None:
    focus = Focus({1: 0.5, 7: 0.25})
    assert _sources({1: matched(1.0), 2: matched(1.0)}, [], focus) == {1: 2.0, 2: 1.0, 7: 0.5}
    assert _sources({}, [], focus) == {1: 0.5, 7: 0.25}, "of nothing, it is all there is"


def test_a_chunk_is_matched_by_its_best_part_and_of_equals_by_the_first() -> None:
    words = [0.4, 0.6, 0.6, 0.2]
    columns = [np.array([value] * 4) for value in range(7)]
    numbers, chunks, files = np.array([10, 11, 12, 13]), np.array([1, 1, 1, 2]), np.array([5, 5, 5, 5])
    found = _by_chunk((numbers, chunks, files, np.array(words), *columns, np.zeros(4)))  # type: ignore[arg-type]
    assert {chunk: (each.part, each.words, each.file_best) for chunk, each in found.items()} == {
        1: (11, 0.6, 0.6),
        2: (13, 0.2, 0.6),
    }


@pytest.mark.parametrize(
    ("query", "exact", "found"),
    [
        pytest.param("src/shop.py", False, 100, id="of a file a hundred chunks"),
        pytest.param("src/shop.py:7", True, 1, id="what can only be a place, whatever is called so"),
        pytest.param("shop.load", True, 0, id="what may be a name is one where something is called so"),
        pytest.param("shop.load", False, 100, id="else it may be a file"),
        pytest.param("close each session when src/shop.py was read", False, 0, id="not where more is asked"),
    ],
)
def test_what_a_place_stands_for(monkeypatch: pytest.MonkeyPatch, query: str, exact: bool, found: int) -> None:
    asked_for: list[int] = []

    def files_like(reader: Any, path: str, most: int) -> list[str]:
        asked_for.append(most)
        return [path]

    def of_file(reader: Any, path: str) -> list[Any]:
        return [
            SimpleNamespace(id=n, path=path, name=f"f{n}", line_start=n, line_end=n, kind="function")
            for n in range(1, 121)
        ]

    monkeypatch.setattr(MODULE.file_reader, "files_like", files_like)
    monkeypatch.setattr(MODULE.chunk_reader, "of_file", of_file)
    reader: Any = None
    assert len(_placed(reader, parse_question(query), named(1) if exact else [])) == found
    assert set(asked_for) <= {5}, "and of five files that are called so"
