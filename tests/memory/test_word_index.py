"""The word index: what is written is found, whatever is struck out or rewritten in between."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from aurora_memory.bm25 import Parts, match, rarity
from aurora_memory.chunks import CodeChunk
from aurora_memory.recall import parse_question, recall
from aurora_memory.store import Store, chunk_reader
from aurora_memory.store.reader import Reader
from aurora_memory.term_counts import unpacked
from aurora_memory.tokens import terms
from tests.memory.blocks import BITS, REAL, have_blocks_of
from tests.memory.chunks import chunk, file
from tests.memory.runs import NOON
from tests.memory.stores import new_store
from tests.shares import long

WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november".split()


_ENDINGS = "mer bax tul dif wen pok ryl sov hux jib nad kef".split()
NAMES = [f"{one}{other}" for one in ("quag", "zorp") for other in _ENDINGS]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await new_store(tmp_path / "memory.db")
    yield opened
    await opened.close()


def parts_now(reader: Reader) -> Parts:
    return reader.words.parts(reader.writes)


def entries_of(reader: Reader, found: Sequence[str]) -> Mapping[str, tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    return reader.words.entries(found)


async def stands_in_each(store: Store, words: Sequence[str]) -> dict[str, set[str]]:
    """The names of the living chunks whose body has a word, by the index alone."""
    parts = await store.read(parts_now)
    of_word = {word: next(iter(terms(word))) for word in words}
    found = await store.read(entries_of, list(of_word.values()))
    owners = {
        word: {
            int(parts.chunks[number])
            for number, value in zip(*map(np.ndarray.tolist, found[term]), strict=True)
            if parts.chunks[number] and "body" in unpacked(value)
        }
        for word, term in of_word.items()
        if term in found
    }
    views = await store.read(chunk_reader.by_id, sorted(set().union(*owners.values())))
    return {word: {views[each].name for each in owners.get(word, ())} for word in words}


async def stands_in(store: Store, word: str) -> set[str]:
    return (await stands_in_each(store, [word]))[word]


async def test_the_index_agrees_with_the_files_after_any_sequence_of_saves(store: Store) -> None:
    chance = random.Random(5)
    bodies: dict[str, dict[str, str]] = {}
    for _ in range(60):
        path = f"f{chance.randrange(6)}.py"
        if chance.random() < 0.2:
            bodies.pop(path, None)
            await store.write(removed=[path])
        else:
            names = [f"n{path[1]}_{n}" for n in range(chance.randrange(1, 6))]
            bodies[path] = {name: " ".join(chance.sample(WORDS, 4)) for name in names}
            chunks = [
                chunk(path, name, body, line=10 * n) for n, (name, body) in enumerate(bodies[path].items(), start=1)
            ]
            await store.write([file(path, *chunks)])
        assert await stands_in_each(store, WORDS) == {
            word: {name for file in bodies.values() for name, body in file.items() if word in body.split()}
            for word in WORDS
        }


@pytest.mark.parametrize(("bits", "many"), [(BITS, 44), long((REAL, 700))])
async def test_a_mostly_dead_block_is_rewritten_and_nothing_is_lost(
    store: Store, monkeypatch: pytest.MonkeyPatch, bits: int, many: int
) -> None:
    block = have_blocks_of(bits, monkeypatch)

    async def save(path: str, round_: int) -> None:
        chunks = [
            chunk(path, f"{path[0]}{n}", f"body{round_} number{n} {WORDS[n % 14]}", line=10 * n + 1)
            for n in range(many)
        ]
        await store.write([file(path, *chunks)])

    for path in ("a.py", "b.py"):
        await save(path, 0)
    for round_ in range(1, 8):
        await save("a.py", round_)
    before = await stands_in(store, "alpha")
    rows = await store.read(lambda reader: reader.rows("SELECT block, dead FROM blocks"))
    assert any(dead >= block // 2 for _, dead in rows)
    await store.tidy()
    rows = await store.read(lambda reader: reader.rows("SELECT block, dead FROM blocks"))
    assert not any(block > dead >= block // 2 for _, dead in rows)
    assert await stands_in(store, "alpha") == before == {f"{f}{n}" for f in "ab" for n in range(0, many, 14)}
    left = await store.read(lambda reader: reader.rows("SELECT count(*) FROM postings WHERE term = 'body1'"))
    assert left[0][0] == 0, "entries of what was struck out went with their block"


@pytest.mark.parametrize(("bits", "many"), [(BITS, 56), long((REAL, 900))])
async def test_a_file_that_is_saved_all_day_leaves_no_index_of_the_dead(
    store: Store, monkeypatch: pytest.MonkeyPatch, bits: int, many: int
) -> None:
    """Numbers of parts are given anew: words are found, their vectors are theirs, and the file is sound."""
    block = have_blocks_of(bits, monkeypatch)

    def chunks(path: str, round_: int) -> Iterable[CodeChunk]:
        for n in range(many):
            yield chunk(path, f"{path[0]}{n}", f"{NAMES[round_]} number{n} {WORDS[n % 14]}", line=10 * n + 1)

    await store.write([file("a.py", *chunks("a.py", 0)), file("b.py", *chunks("b.py", 0))])
    sizes: list[int] = []
    for round_ in range(1, 13):
        await store.write([file("a.py", *chunks("a.py", round_))])
        if round_ % 6 == 0:
            await store.tidy()
            rows = await store.read(lambda reader: reader.rows("SELECT count(*) FROM blocks"))
            sizes.append(rows[0][0])
            assert (await store.check()).faults == ()
            assert await stands_in(store, "alpha") == {f"{f}{n}" for f in "ab" for n in range(0, many, 14)}
            assert await stands_in(store, NAMES[round_]) == {f"a{n}" for n in range(many)}
            (hit, *_) = await store.read(recall, parse_question(f"b{many * 7 // 9}"), 5, NOON)
            assert hit.chunk.name == f"b{many * 7 // 9}"
    assert max(sizes) <= 3, "twice as many parts live in one block, and what was saved since the last time in another"
    before = await store.read(lambda reader: reader.rows("SELECT id, chunk_id FROM parts ORDER BY id"))
    assert before[-1][0] < 3 * block and len({number for number, _ in before}) == 2 * many


async def test_matching_weighs_rare_words_and_names_most(store: Store) -> None:
    await store.write(
        [
            file(
                "a.py",
                chunk("a.py", "expand_template", "work on values", line=1),
                chunk("a.py", "other", "calls expand with a template and values and values", line=10),
                chunk("a.py", "third", "values only", line=20),
            )
        ]
    )
    parts = await store.read(parts_now)
    weights = dict.fromkeys(terms("expand template values"), 1.0)
    found = match(parts, await store.read(entries_of, list(weights)), weights, weights, 10)
    views = await store.read(chunk_reader.by_id, [int(n) for n in found.chunks])
    assert [views[int(n)].name for n in found.chunks] == ["expand_template", "other", "third"]
    assert found.cover[0] == pytest.approx(1.0)
    assert found.name_share[0] == pytest.approx(2 / 3)  # expand, template, expandtemplate
    assert rarity(100, 1) > rarity(100, 50) > 0


async def test_entries_written_after_the_parts_were_read_wait_for_the_next_question(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "one", "alpha"))])
    parts = await store.read(parts_now)
    await store.write([file("b.py", chunk("b.py", "two", "alpha"))])
    found = match(parts, await store.read(entries_of, ["alpha"]), {"alpha": 1.0}, ["alpha"], 10)
    assert len(found.chunks) == 1
