"""What is kept of the word index between questions: as if it were read anew, and no more than its bytes."""

from __future__ import annotations

import random
import sqlite3
import struct
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from aurora_memory.bm25 import MANY, Parts, _highest
from aurora_memory.recall import parse_question, recall
from aurora_memory.store import Store, kept_entries
from aurora_memory.store.kept_entries import KeptEntries
from aurora_memory.store.reader import Reader
from aurora_memory.store.word_index import WordIndex
from tests.memory.blocks import BITS, REAL, have_blocks_of
from tests.memory.chunks import chunk, file
from tests.memory.runs import NOON
from tests.memory.stores import new_store
from tests.shares import long

WORDS = "alpha bravo charlie delta echo foxtrot golf hotel".split()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await new_store(tmp_path / "memory.db")
    yield opened
    await opened.close()


def told(index: WordIndex, writes: int) -> tuple[list[object], dict[str, tuple[list[int], list[int]]]]:
    """Everything that an index tells, as plain values."""
    parts = index.parts(writes)
    columns = [each.tolist() if isinstance(each, np.ndarray) else each for each in parts[:-1]]
    entries = {
        term: (numbers.tolist(), packed.tolist()) for term, (numbers, packed) in index.entries([*WORDS, "none"]).items()
    }
    return columns, entries


def kept_and_fresh(reader: Reader) -> tuple[object, object]:
    return told(reader.words, reader.writes), told(WordIndex(reader.rows), 0)


@pytest.mark.parametrize("bits", [BITS, long(REAL)])
async def test_what_is_kept_is_what_would_be_read_anew_after_any_sequence_of_saves(
    store: Store, monkeypatch: pytest.MonkeyPatch, bits: int
) -> None:
    block = have_blocks_of(bits, monkeypatch)
    chance = random.Random(3)
    for round_ in range(40):
        path = f"f{chance.randrange(5)}.py"
        if chance.random() < 0.2:
            await store.write(removed=[path])
        else:
            many = block * 3 // 8 if round_ % 9 == 0 else chance.randrange(1, 5)
            names = [f"n{path[1]}_{n}" for n in range(many)]
            chunks = [chunk(path, name, " ".join(chance.sample(WORDS, 3)), line=9 * n) for n, name in enumerate(names)]
            await store.write([file(path, *chunks)])
        if round_ % 13 == 12:
            await store.tidy()  # blocks that are mostly dead are written anew, and gaps closed
        kept, fresh = await store.read(kept_and_fresh)
        assert kept == fresh
        monkeypatch.setattr(kept_entries, "MOST_BYTES", chance.choice([0, 20_000, 1 << 20]))
    states = await store.read(lambda reader: reader.rows("SELECT count(*) FROM blocks"))
    assert states[0][0] > 1, "several blocks were kept, of which a save changes one or two"


async def test_a_write_of_another_process_is_seen_with_the_next_of_ones_own(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "one", "alpha"))])
    await store.read(recall, parse_question("alpha"), 5, NOON)
    other = await Store.open(store.path)
    await other.write([file("b.py", chunk("b.py", "two", "alpha"))])
    await other.close()
    await store.write([file("c.py", chunk("c.py", "three", "bravo"))])
    kept, fresh = await store.read(kept_and_fresh)
    assert kept == fresh
    hits = await store.read(recall, parse_question("alpha"), 5, NOON)
    assert {hit.chunk.name for hit in hits} == {"one", "two"}


@pytest.mark.parametrize("bits", [BITS, long(REAL)])
async def test_only_changed_blocks_are_read_again(store: Store, monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    many = have_blocks_of(bits, monkeypatch) + 10
    await store.write([file("a.py", *(chunk("a.py", f"n{n}", "alpha", line=9 * n) for n in range(many)))])
    await store.read(recall, parse_question("alpha"), 5, NOON)
    await store.write([file("b.py", chunk("b.py", "two", "alpha"))])
    asked: list[tuple[Sequence[str], Sequence[int]]] = []
    read = kept_entries._read
    monkeypatch.setattr(
        kept_entries,
        "_read",
        lambda rows, terms, blocks: asked.append((terms, blocks)) or read(rows, terms, blocks),
    )
    await store.read(recall, parse_question("alpha"), 5, NOON)
    await store.read(recall, parse_question("alpha"), 5, NOON)
    assert [list(blocks) for terms, blocks in asked if terms] == [[1]]


async def test_no_more_is_kept_than_the_bytes_allow_and_the_latest_stays(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies = [" ".join(WORDS) for _ in range(400)]
    await store.write([file("a.py", *(chunk("a.py", f"n{n}", body, line=9 * n) for n, body in enumerate(bodies)))])
    monkeypatch.setattr(kept_entries, "MOST_BYTES", 2 * (400 * 8 + 400))

    def sizes(reader: Reader) -> list[tuple[int, list[str]]]:
        kept = KeptEntries(reader.rows)
        found = []
        for word in (*WORDS, WORDS[-2], WORDS[0]):
            kept.of([word], [0])
            found.append((kept.size, list(kept._kept)))
        return found

    found = await store.read(sizes)
    assert all(0 < size <= kept_entries.MOST_BYTES for size, _ in found)
    assert found[-2][1] == [WORDS[-1], WORDS[-2]], "asked again, it is the last to go"
    assert found[-1][1] == [WORDS[-2], WORDS[0]]


async def test_memory_that_is_given_back_is_read_anew(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "one", "alpha"))])
    first = await store.read(recall, parse_question("alpha"), 5, NOON)
    await store.give_memory_back()
    assert await store.read(lambda reader: reader.words._kept.size) == 0
    assert await store.read(recall, parse_question("alpha"), 5, NOON) == first


@pytest.mark.parametrize("kinds", [3, 1000, 1 << 22])
@pytest.mark.parametrize("count", [50, 90, MANY, MANY + 1, 5 * MANY])
def test_the_highest_of_many_are_found_by_a_look_at_some(count: int, kinds: int) -> None:
    scores = np.random.default_rng(count).integers(kinds, size=count).astype(np.float32)
    found = _highest(scores, 90)
    assert len(set(found.tolist())) == len(found)
    assert sorted(scores[found].tolist()) == sorted(scores.tolist())[-90:]


def test_a_damaged_block_of_a_file_that_was_read_before_is_told(tmp_path: Path) -> None:
    """Its bytes are no rows: the question fails as one that reads it first does, and nothing of it is kept."""
    db = sqlite3.connect(tmp_path / "m.db")
    db.execute("CREATE TABLE blocks (block INTEGER PRIMARY KEY, dead INTEGER NOT NULL DEFAULT 0, parts BLOB)")
    db.execute("INSERT INTO blocks VALUES (0, 0, ?)", (struct.pack("<IIHBB", 1, 7, 5, 1, 0) * 2,))
    index = WordIndex(lambda sql, values: db.execute(sql, values).fetchall())
    before: Parts = index.parts(1)
    assert len(before.chunks) == 2
    db.execute("UPDATE blocks SET parts = ?, dead = 1", (bytes(13),))
    for writes in (2, 3):
        with pytest.raises(ValueError, match="buffer size"):
            index.parts(writes)
    db.close()
