"""Which chunk answers for its file, and by what weights files are ordered."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple, cast

import pytest
from msgspec.structs import replace

from aurora_memory.chunks import CodeChunk
from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.candidates import Candidates
from aurora_memory.recall.file_evidence import Ordered, with_files_pointed_at, with_likeliest_files, with_report
from aurora_memory.recall.file_features import FileFeatures, answering, file_order
from aurora_memory.recall.ranking import Rank
from aurora_memory.recall.signals import Signals
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

NOW = 1_800_000_000.0


class Member(NamedTuple):
    """A chunk of a file: its strength, its share of the question's words, its lines, its kind, and whether the file's
    strongest calls it.
    """

    strength: float = 9.0
    words: float = 0.0
    lines: int = 5
    kind: str = "function"
    called: bool = False


def answers(*members: Member) -> int:
    """Which of the members answers for their file."""
    heads = [SimpleNamespace(kind=each.kind, line_start=1, line_end=each.lines) for each in members]
    matches = [SimpleNamespace(words=each.words) for each in members]
    candidates = cast("Candidates", SimpleNamespace(heads=heads, matches=matches))
    ranks = [Rank(n, n, each.strength, Signals(())) for n, each in enumerate(members)]
    called = [n for n, each in enumerate(members) if each.called]
    return answering(candidates, sorted(ranks, key=lambda rank: -rank.strength), called).place


ROWS = [
    ("of equals the longer function", Member(lines=60), Member()),
    ("of those that are as long the one that ranks first", Member(9.1), Member()),
    ("a function of 60 lines before one of five that is a little stronger", Member(lines=60), Member(10.0)),
    ("but not before one that is much stronger", Member(11.5), Member(lines=60)),
    ("of up to thirty lines each tells more", Member(lines=30), Member(9.8, lines=10)),
    ("of two that are longer the stronger one", Member(9.1, lines=40), Member(lines=900)),
    ("what the strongest calls before it, where it is nearly as strong", Member(called=True), Member(9.4)),
    ("but not where it is much weaker", Member(10.7), Member(called=True)),
    ("words count for more than in strength alone", Member(words=0.5), Member(9.8, words=0.1)),
    ("but do not outweigh it all", Member(11.0, words=0.1), Member(words=0.5)),
    ("a class does not answer for being long", Member(9.1, kind="class"), Member(lines=900, kind="class")),
    ("nor a remainder", Member(9.1, kind="module"), Member(lines=900, kind="module")),
]


@pytest.mark.parametrize(("first", "second"), [row[1:] for row in ROWS], ids=[rule for rule, *_ in ROWS])
def test_who_answers_for_a_file(first: Member, second: Member) -> None:
    assert (answers(first, second), answers(second, first), answers(second)) == (0, 1, 0)


def longer(made: CodeChunk, lines: int) -> CodeChunk:
    return replace(made, line_end=made.line_start + lines)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("how are uploads retried", "send_all"),
        ("where is the retry of uploads", "send_all"),
        ("retry of uploads", "send_all"),
        ("upload_again", "upload_again"),
    ],
)
async def test_a_function_that_does_it_answers_before_a_short_one_called_by_a_word_of_it(
    question: str, first: str, tmp_path: Path
) -> None:
    store = await new_store(tmp_path / "memory.db")
    short = chunk("a.py", "upload_again", "retry later", line=200)
    long = longer(chunk("a.py", "send_all", "retry upload retries uploads", doc="retry of uploads"), 90)
    await store.write([file("a.py", short, long), file("b.py", chunk("b.py", "wait", "seconds"))])
    found = await store.read(recall, parse_question(question), 1, NOW)
    await store.close()
    assert [hit.chunk.name for hit in found] == [first]


def test_each_feature_of_a_file_has_a_weight_and_what_they_were_fitted_on_is_told() -> None:
    assert file_order().files.keys() == set(FileFeatures.__struct_fields__)
    assert {name for name, weight in file_order().files.items() if weight < 0} == {
        "test",
        "aside",
        "document",
        "outdated",
        "depth",
    }
    assert len(file_order().provenance["commits"]) >= 40
    assert len(file_order().provenance["members"]["commits"]) >= 7
    assert file_order().reports.keys() == set(FileFeatures.__struct_fields__)
    assert len(file_order().provenance["reports"]) >= 6


def ranks_of(*numbers: int) -> list[Rank]:
    """Chunks of those numbers, best first."""
    return [Rank(number, number, 9.0 - place, Signals.of({})) for place, number in enumerate(numbers)]


def test_the_two_files_that_a_report_points_at_most_answer_third_and_fourth() -> None:
    heads = [SimpleNamespace(path=f"{letter}.py") for letter in "abccdefg"]
    pointed = SimpleNamespace(files={"e.py": 0.2, "d.py": 0.4, "g.py": 1.0, "unheard.py": 0.1})
    candidates = cast("Candidates", SimpleNamespace(heads=heads, pointed=pointed))
    found = with_files_pointed_at(candidates, Ordered(ranks_of(*range(8)))).ranks
    assert [rank.id for rank in found] == [0, 1, 7, 4, 2, 3, 5, 6]
    assert [rank.strength for rank in found] == [rank.strength for rank in ranks_of(*range(8))]


def test_a_topic_that_may_be_a_report_is_answered_as_one_behind_its_first_answers() -> None:
    found = with_report(Ordered(ranks_of(*range(6)), {0: [9]}), ranks_of(3, 0, 5), 2)
    assert [rank.id for rank in found.ranks] == [0, 1, 3, 5, 2, 4]
    assert found.also == {0: [9]}


@pytest.mark.parametrize(
    ("kind", "order"),
    [
        pytest.param("report", [6, 7, 0, 1, 2, 3, 4, 5], id="of a report the two likeliest files come first"),
        pytest.param("change", [0, 1, 6, 7, 2, 3, 4, 5], id="of a change they are third and fourth"),
        pytest.param("task", [0, 1, 6, 2, 3, 4, 5, 7], id="of a task those that have clearly more to do with it"),
    ],
)
def test_where_the_likeliest_files_answer(kind: str, order: list[int]) -> None:
    worth = {"a.py": 1.0, "b.py": 2.0, "e.py": 2.3, "g.py": 2.5, "h.py": 2.39, "unheard.py": 0.1}
    heads = [SimpleNamespace(path=f"{letter}.py") for letter in "abcdefgh"]
    candidates = cast("Candidates", SimpleNamespace(heads=heads, question=SimpleNamespace(kind=kind)))
    found = with_likeliest_files(candidates, Ordered(ranks_of(*range(8))), worth)
    assert [rank.id for rank in found.ranks] == order


@pytest.mark.parametrize(
    ("calls", "first"), [(("send",), "send"), (("client.post",), "upload_again"), ((), "upload_again")]
)
async def test_what_the_strongest_of_a_file_hands_on_to_answers_for_it(
    calls: tuple[str, ...], first: str, tmp_path: Path
) -> None:
    """A function that has the words of a question in its name calls the one that does what is asked."""
    store = await new_store(tmp_path / "memory.db")
    try:
        named = chunk("a.py", "upload_again", "retry upload later", line=200, calls=calls)
        does = longer(chunk("a.py", "send", "retry upload later", doc="retry upload"), 12)
        await store.write([file("a.py", named, does), file("b.py", chunk("b.py", "wait", "seconds"))])
        await store.resolve()
        hits = await store.read(recall, parse_question("how are uploads retried"), 1, NOW)
    finally:
        await store.close()
    assert [hit.chunk.name for hit in hits] == [first]
