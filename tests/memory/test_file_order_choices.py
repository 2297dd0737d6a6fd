"""Which of the files that have most to do with a question come among its first answers, and behind which."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_memory.recall import file_evidence
from aurora_memory.recall.file_evidence import (
    CALLERS,
    Ordered,
    in_order,
    strongest,
    with_files_pointed_at,
    with_likeliest_files,
    with_report,
)
from aurora_memory.recall.file_features import file_order
from aurora_memory.recall.signals import Signals, named, test


class Answer(SimpleNamespace):
    """A rank as an order needs it: one chunk of a file."""

    def as_strong(self, strength: float) -> Answer:
        return Answer(id=self.id, place=self.place, strength=strength, signals=self.signals)


FILES = "abcde"


def ordered(spelled: str = "") -> Any:
    """One answer of each file, those by their names where a question spells them."""
    ranks: Any = [
        Answer(id=n, place=n, strength=9.0 - n, signals=Signals.of({named: 0.4} if name in spelled else {}))
        for n, name in enumerate(FILES)
    ]
    return Ordered(ranks)


ORDERED = ordered()


def candidates(kind: str = "report", **pointed_at: float) -> Any:
    heads = [SimpleNamespace(path=name) for name in FILES]
    return SimpleNamespace(question=SimpleNamespace(kind=kind), heads=heads, pointed=SimpleNamespace(files=pointed_at))


def names(ordered: Ordered) -> str:
    assert [rank.strength for rank in ordered.ranks] == [9.0, 8.0, 7.0, 6.0, 5.0], "of the place it comes to"
    return "".join(FILES[rank.place] for rank in ordered.ranks)


@pytest.mark.parametrize(
    ("kind", "worth", "order"),
    [
        pytest.param("report", [0.0, 0.0, 1.0, 2.0, 3.0], "edabc", id="of a report the two likeliest first"),
        pytest.param("change", [0.0, 0.0, 1.0, 2.0, 3.0], "abedc", id="of a change behind two that stay"),
        pytest.param("report", [3.0, 2.0, 0.0, 0.0, 1.0], "abcde", id="those that stand there anyway"),
        pytest.param("task", [0.0, 0.5, 0.0, 0.9, 1.0], "abedc", id="of a task those that are clearly likelier"),
        pytest.param("task", [0.0, 0.5, 0.0, 0.89, 1.0], "abecd", id="and no others"),
    ],
)
def test_where_the_likeliest_files_come(kind: str, worth: list[float], order: str) -> None:
    of_files = dict(zip(FILES, worth, strict=True))
    assert names(with_likeliest_files(candidates(kind), ORDERED, of_files)) == order


@pytest.mark.parametrize(("spelled", "order"), [("a", "aedbc"), ("ab", "abedc"), ("abc", "abedc"), ("b", "edabc")])
def test_of_a_report_what_it_spells_first_stays(spelled: str, order: str) -> None:
    found = with_likeliest_files(
        candidates(), ordered(spelled), dict(zip(FILES, (0.0, 0.0, 1.0, 2.0, 3.0), strict=True))
    )
    assert names(found) == order


def test_the_two_files_that_a_report_points_at_most_come_behind_two_that_stay() -> None:
    assert names(with_files_pointed_at(candidates(c=0.16, d=0.4, e=1.0), ORDERED)) == "abedc"
    assert names(with_files_pointed_at(candidates(unknown=1.0, d=0.4), ORDERED)) == "abdce", "of those that answer"


def test_answers_to_a_report_come_behind_the_first_to_a_topic_and_none_twice() -> None:
    as_report: Any = [ORDERED.ranks[n] for n in (4, 0, 3)]
    assert names(with_report(ORDERED, as_report, 2)) == "abedc"


LEAD = file_order().lead


@pytest.mark.parametrize(
    ("chunks", "worth", "order"),
    [
        pytest.param("abacd", {"a": LEAD + 1, "b": 1.0}, "abacd", id="its second comes third where its lead is clear"),
        pytest.param("aabcd", {"a": LEAD + 1, "b": 1.0}, "abacd", id="and not second, though it ranks so"),
        pytest.param("abacd", {"a": LEAD + 1, "b": LEAD + 1}, "abacd", id="the lead is over the third"),
        pytest.param("abacd", {"a": LEAD + 0.9, "b": 1.0, "c": 1.0}, "abcda", id="where it is not, each file's own"),
        pytest.param("abcd", {"a": LEAD + 1, "b": 1.0}, "abcd", id="a file of one chunk has no second"),
        pytest.param("aab", {"a": LEAD + 1}, "aba", id="of two files each is told before a second"),
        pytest.param("baac", {"a": LEAD + 1, "b": 1.0}, "abac", id="what leads is told by evidence, not by one chunk"),
    ],
)
def test_a_file_that_leads_clearly_answers_a_topic_twice(
    chunks: str, worth: dict[str, float], order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_evidence, "evidence", lambda *_: {path: worth.get(path, 0.0) for path in chunks})
    heads = [
        SimpleNamespace(path=path, name=str(n), kind="function", line_start=1, line_end=9)
        for n, path in enumerate(chunks)
    ]
    matches = [SimpleNamespace(words=0.0)] * len(chunks)
    question = SimpleNamespace(kind="topic", by_name=False)
    asked: Any = SimpleNamespace(question=question, heads=heads, matches=matches, standing=[])
    ranks: Any = [Answer(id=n, place=n, strength=9.0 - n, signals=Signals.of({})) for n in range(len(chunks))]
    ordered = in_order(asked, ranks)
    assert "".join(chunks[rank.place] for rank in ordered.ranks) == order
    assert [rank.strength for rank in ordered.ranks] == [9.0 - n for n in range(len(chunks))]


def test_beside_what_is_no_test_none_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rust has tests in the file of what they test; where a test answers, others are told beside it."""
    monkeypatch.setattr(file_evidence, "evidence", lambda *_: {"a": 2.0, "b": 1.0})
    heads = [
        SimpleNamespace(path=path, name=str(n), kind="function", line_start=1, line_end=9)
        for n, path in enumerate("aaabb")
    ]
    question = SimpleNamespace(kind="topic", by_name=False)
    asked: Any = SimpleNamespace(question=question, heads=heads, matches=[SimpleNamespace(words=0.0)] * 5, standing=[])
    ranks: Any = [
        Answer(id=n, place=n, strength=9.0 - n, signals=Signals.of({test: float(n in (1, 3, 4))})) for n in range(5)
    ]
    assert in_order(asked, ranks).also == {0: [2], 3: [4]}


@pytest.mark.parametrize(
    ("kind", "chunks", "asked"),
    [
        pytest.param("topic", "aabcb", [0, 2], id="the first of each file that has several"),
        pytest.param("how", "bacab", [0, 1], id="in their order"),
        pytest.param("report", "aabb", [], id="what is answered function by function asks for none"),
        pytest.param(
            "topic", [str(n // 2) for n in range(60)], [2 * n for n in range(CALLERS)], id="no more than so many"
        ),
    ],
)
def test_of_which_chunks_it_is_asked_what_they_call(kind: str, chunks: Any, asked: list[int]) -> None:
    heads = [SimpleNamespace(path=path) for path in chunks]
    given: Any = SimpleNamespace(question=SimpleNamespace(kind=kind, by_name=False), heads=heads)
    ranks: Any = [Answer(id=n, place=n, strength=9.0) for n in range(len(chunks))]
    assert strongest(given, ranks) == asked
