"""Overloads: one function of many declarations is one answer; a getter and its setter are two."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_memory.chunks import CodeChunk
from aurora_memory.recall import Hit, parse_question, recall
from aurora_memory.store import Store
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
