"""Overloads: one function of many declarations is one answer; a getter and its setter are two."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_memory.chunks import CodeChunk, Reference
from aurora_memory.recall import Hit, parse_question, recall, relation_answer
from aurora_memory.store import Store, chunk_reader, relation_reader
from aurora_server.workspace.explanation import chunk_named
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

NOW = 1_800_000_000.0


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = await new_store(tmp_path / "memory.db")
    yield made
    await made.close()


def definitions(path: str, name: str, lengths: Sequence[int]) -> list[CodeChunk]:
    """Definitions of one name, as many lines long as given; the words of the longest are the least alike."""
    return [
        replace(
            chunk(path, name, "evaluate polynomial coefficients" if length < 20 else "work", line=at, ordinal=place),
            line_end=at + length,
        )
        for place, (at, length) in enumerate(zip(range(1, 1000, 50), lengths, strict=False))
    ]


async def answers(store: Store, question: str) -> list[Hit]:
    return list(await store.read(recall, parse_question(question), 5, NOW))


@pytest.mark.parametrize("question", ["polyval", "polyval evaluates polynomial coefficients wrongly"])
async def test_the_longest_of_overloads_answers_for_all(store: Store, question: str) -> None:
    await store.write([file("a.py", *definitions("a.py", "polyval", [2, 3, 40])), file("b.py", chunk("b.py", "poly"))])
    found = await answers(store, question)
    assert [hit.chunk.name for hit in found if hit.chunk.path == "a.py"] == ["polyval"]
    assert found[0].chunk.line_end - found[0].chunk.line_start == 40
    assert sorted(each.line_end - each.line_start for each in found[0].similar) == [2, 3]


async def test_methods_are_overloaded_as_functions_are(store: Store) -> None:
    methods = [replace(each, kind="method") for each in definitions("a.py", "Fit.polyval", [2, 3, 40])]
    await store.write([file("a.py", *methods)])
    assert len(await answers(store, "polyval")) == 1


async def test_of_overloads_as_long_as_each_other_the_last_answers(store: Store) -> None:
    """Where a function is declared for each way of calling it, what does the work stands behind its declarations."""
    await store.write([file("a.py", *definitions("a.py", "polyval", [40, 2, 40]))])
    (found, *_) = await answers(store, "polyval")
    assert found.chunk.line_start == 101


async def test_a_getter_and_its_setter_are_answers_both(store: Store) -> None:
    await store.write([file("a.py", *definitions("a.py", "Fit.polyval", [3, 40]))])
    found = await answers(store, "polyval evaluates polynomial coefficients wrongly")
    assert len(found) == 2


async def test_the_same_name_elsewhere_is_another_answer(store: Store) -> None:
    await store.write([file(path, *definitions(path, "polyval", [40])) for path in ("a.py", "b.py", "c.py")])
    assert len(await answers(store, "polyval")) == 3


async def test_whoever_calls_one_of_its_overloads_calls_each(store: Store) -> None:
    """As many callers are told of the function, of its declarations, and where it is asked who calls it."""
    methods = [
        replace(each, kind="method", parent="Fit", references=(Reference("calls", "polyval", "self"),))
        for each in definitions("a.py", "Fit.polyval", [2, 3, 40])
    ]
    owner = replace(chunk("a.py", "Fit", kind="class"), line_end=400)
    caller = chunk("a.py", "Fit.solve", kind="method", line=300, calls=("self.polyval",))
    await store.write([file("a.py", owner, *methods, caller)])
    await store.resolve()
    found = await store.read(relation_answer.answer, parse_question("who calls Fit.polyval"), 10, NOW)
    assert found is not None
    assert ([hit.chunk.name for hit in found.hits], found.said) == (["Fit.solve"], "1 calls 'Fit.polyval'.")
    ids = [each.id for each in await store.read(chunk_reader.by_name, "a.py", "Fit.polyval")]
    counted = await store.read(relation_reader.usages, ids)
    assert [counted[each].callers for each in ids] == [1, 1, 1]


@pytest.mark.parametrize("named", ["polyval", "Fit.polyval", "a.py:Fit.polyval", "code:a.py:Fit.polyval"])
@pytest.mark.parametrize(("lengths", "first"), [([2, 3, 40], 101), ([40, 2, 3], 1), ([2, 40], 1)])
async def test_it_is_explained_by_the_longest_of_overloads(
    store: Store, named: str, lengths: list[int], first: int
) -> None:
    methods = [replace(each, kind="method") for each in definitions("a.py", "Fit.polyval", lengths)]
    await store.write([file("a.py", *methods)])
    found = await store.read(chunk_named, Path("/shop"), named)
    assert found.line_start == first


async def test_a_declaration_is_explained_where_its_lines_are_asked_for(store: Store) -> None:
    await store.write([file("a.py", *definitions("a.py", "polyval", [2, 3, 40]))])
    for named, first in (("code:a.py:polyval:51-54", 51), ("a.py:52", 51)):
        assert (await store.read(chunk_named, Path("/shop"), named)).line_start == first
