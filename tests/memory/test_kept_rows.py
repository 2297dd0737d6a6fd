"""What is kept of chunks and files between questions: as if it were read anew, and no more than its bound."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.bm25 import numbers_of
from aurora_memory.recall.spreading_activation import HUB
from aurora_memory.store import Store, chunk_reader, commit_reader, file_reader, relation_reader
from aurora_memory.store.kept_rows import KeptRows
from aurora_memory.store.reader import Reader
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

IDS = range(1, 60)
PATHS = [f"f{n}.py" for n in range(6)]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await new_store(tmp_path / "memory.db")
    yield opened
    await opened.close()


def told(reader: Reader) -> tuple[object, ...]:
    """Everything that is kept, in the order in which it is told."""
    return (
        chunk_reader.heads(reader, [*reversed(IDS)]),
        list(commit_reader.commit_times(reader, IDS).items()),
        sorted(file_reader.mtimes(reader, PATHS).items()),
        relation_reader.arcs(reader, IDS, HUB),
    )


async def test_what_is_kept_is_what_would_be_read_anew_after_saves_of_this_process_and_another(store: Store) -> None:
    chance = random.Random(5)
    other = await Store.open(store.path)
    before: tuple[object, ...] = ()
    changes = 0
    for _ in range(30):
        writer, path = chance.choice([store, other]), chance.choice(PATHS)
        if chance.random() < 0.2:
            await writer.write(removed=[path])
        else:
            names = [f"n{path[1]}_{n}" for n in range(chance.randrange(1, 6))]
            line = chance.randrange(1, 9)
            await writer.write(
                [file(path, *[chunk(path, name, "alpha", line=line + 9 * n) for n, name in enumerate(names)])]
            )
        if chance.random() < 0.6:  # else two writes come between two questions
            kept = await store.read(told)
            fresh = Reader(store.path)
            fresh.connect()
            assert kept == told(fresh)
            changes += kept != before
            before = kept
    await other.close()
    assert changes > 10


async def test_no_more_is_kept_than_its_bound_and_a_row_that_is_not_there_is_not_asked_for_again() -> None:
    asked: list[list[int]] = []
    versions = [1]
    kept: KeptRows[int, str] = KeptRows(lambda sql: list(versions), 16)

    def read(missing: object) -> dict[int, str]:
        asked.append(list(missing))  # type: ignore[call-overload]
        return {each: str(each) for each in asked[-1] if each % 2}

    assert kept.of([3, 2, 1], read) == {3: "3", 1: "1"}
    assert kept.of([1, 2, 3, 5], read) == {1: "1", 3: "3", 5: "5"}
    assert asked == [[3, 2, 1], [5]]
    for first in range(0, 400, 8):
        assert kept.of(range(first, first + 8), read) == {
            each: str(each) for each in range(first, first + 8) if each % 2
        }
        assert len(kept) <= 16
    assert len(kept.of(range(100), read)) == 50, "a question that asks for more than is kept is answered as well"
    assert len(kept) <= 16
    versions[0] = 2
    kept.of([99], read)
    assert asked[-1] == [99] and len(kept) == 1, "nothing is kept of before a write"


async def test_the_parts_of_chunks_are_told_by_the_columns_that_are_there(store: Store) -> None:
    await store.write([file(path, *[chunk(path, f"n{n}", "alpha", line=9 * n) for n in range(4)]) for path in PATHS])
    await store.write(removed=[PATHS[2]])

    def both(reader: Reader) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        parts = reader.words.parts(reader.writes)
        numbers = numbers_of(parts, [2, 5, 9, 10, 17, 10_000])
        rows = reader.rows("SELECT chunk_id, id FROM parts WHERE chunk_id IN (2, 5, 9, 10, 17) ORDER BY id")
        return list(zip(parts.chunks[numbers].tolist(), numbers.tolist(), strict=True)), rows

    by_columns, by_rows = await store.read(both)
    assert by_columns == by_rows and by_rows
