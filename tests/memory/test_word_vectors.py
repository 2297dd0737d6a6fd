"""Word vectors: a question finds what is about the same in other words, where its own would not bring it up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from aurora_memory import word_vectors as table
from aurora_memory.recall import Focus, Hit, parse_question, recall
from aurora_memory.recall.kinship import read_some, share_told
from aurora_memory.recall.search import search
from aurora_memory.recall.signals import asks_vectors, fitted, meaning
from aurora_memory.store import Store, chunk_reader, part_vectors
from aurora_memory.store.reader import Reader
from aurora_memory.term_counts import packed
from aurora_memory.tokens import terms
from aurora_memory.word_vectors import DIMENSIONS, word_vectors
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store
from tests.memory.test_signals import LEFT_FOR_MEASURING

NOW = 1_765_540_800.0
MOST_BYTES = 8 << 20
PROVENANCE = Path(table.__file__).with_suffix(".json")


async def fill(store: Store) -> None:
    """A repository whose functions about users say nothing of a login, and three of much else say `page`."""
    await store.write([file("users.py", chunk("users.py", "authenticate", "check the password of user against hash"))])
    for n in range(60):
        path, what = f"draw/part{n}.py", "page" if n < 3 else "row"
        await store.write([file(path, chunk(path, f"render{n}", f"draw color {n} of a {what} with border and margin"))])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await filled_store(tmp_path / "memory.db", fill)
    yield opened
    await opened.close()


async def asked(store: Store, query: str, focus: Focus | None = None, *, by_meaning: bool = True) -> list[Hit]:
    return await store.read(recall, parse_question(query), 10, NOW, focus, by_meaning=by_meaning)


async def test_a_login_finds_what_authenticates(store: Store) -> None:
    query = "the login page"
    assert "authenticate" not in [hit.chunk.name for hit in await asked(store, query, by_meaning=False)]
    hits = {hit.chunk.name: hit for hit in await asked(store, query)}
    found = hits["authenticate"]
    assert not found.matched, "none of the question's words stands in it"
    assert found.signals[meaning] > max(hit.signals[meaning] for name, hit in hits.items() if name != "authenticate")


async def test_a_chunk_is_as_near_as_its_nearest_part(store: Store) -> None:
    near, far = chunk("a.py", "authenticate", "check the password of user").parts[0], chunk("a.py", "row").parts[0]
    orders = [(near,), (near, far), (far, near)]
    written = [replace(chunk("a.py", "authenticate", line=n, ordinal=n), parts=order) for n, order in enumerate(orders)]
    await store.write([file("a.py", *written)])

    def cosines(reader: Reader) -> list[float]:
        alike = search(reader, parse_question("the login page"), by_meaning=True).alike
        return [alike[head.id] for head in chunk_reader.heads(reader, list(alike)) if head.path == "a.py"]

    first, *others = await store.read(cosines)
    assert others == pytest.approx([first, first])


async def test_at_an_editors_cursor_vectors_find_as_much_and_the_cursor_ranks(store: Store) -> None:
    at_cursor = {hit.chunk.name: hit for hit in await asked(store, "the login page", Focus({1: 1.0}))}
    assert at_cursor.keys() == {hit.chunk.name for hit in await asked(store, "the login page")}
    assert {hit.signals[meaning] for hit in at_cursor.values()} == {0.0}


async def test_a_question_none_of_whose_words_is_known_finds_nothing(store: Store) -> None:
    assert await asked(store, "login credential") == []


async def test_a_name_is_looked_up_without_vectors(store: Store) -> None:
    assert not asks_vectors(parse_question("authenticate"))
    assert [hit.chunk.name for hit in await asked(store, "authenticate")] == ["authenticate"]


async def test_many_parts_are_read_beside_questions_and_new_ones_with_the_next(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aurora_memory.recall.kinship.AT_ONCE", 10)
    monkeypatch.setattr("aurora_memory.recall.kinship.STEP", 25)
    query = "the login page"
    assert "authenticate" not in [hit.chunk.name for hit in await asked(store, query)]
    steps = 1
    while await store.read(read_some):
        steps += 1
    assert steps == 3
    assert "authenticate" in [hit.chunk.name for hit in await asked(store, query)]
    await store.write([file("oauth.py", chunk("oauth.py", "authorize", "check the password of user against hash"))])
    assert {"authenticate", "authorize"} <= {hit.chunk.name for hit in await asked(store, query)}


async def test_what_was_struck_out_is_not_found_any_more(store: Store) -> None:
    assert "authenticate" in [hit.chunk.name for hit in await asked(store, "the login page")]
    await store.write([file("users.py", chunk("users.py", "count", "number of rows"))])
    assert "authenticate" not in [hit.chunk.name for hit in await asked(store, "the login page")]


async def test_parts_that_are_gone_before_they_were_read_are_nothing(store: Store) -> None:
    """Each save of a file appends its parts anew; those of a file that was removed since are numbers without a row."""
    before = [hit.chunk.name for hit in await asked(store, "the login page")]
    for n in range(3):
        await store.write([file("marker.py", chunk("marker.py", f"marker{n}", "a marker"))])
    await store.write([file("marker.py")])
    assert [hit.chunk.name for hit in await asked(store, "the login page")] == before
    assert await store.read(read_some) is False
    assert word_vectors().of_parts([]).shape == (0, DIMENSIONS)


async def test_a_memory_that_is_too_large_is_recalled_by_words(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_vectors, "MOST", 50)
    assert "authenticate" not in [hit.chunk.name for hit in await asked(store, "the login page")]
    assert await store.read(read_some) is False


@pytest.mark.parametrize(("kept", "left"), [(61, 0), (60, 61)])
async def test_many_vectors_are_given_back_and_read_anew(
    store: Store, monkeypatch: pytest.MonkeyPatch, kept: int, left: int
) -> None:
    monkeypatch.setattr(part_vectors, "KEPT", kept)
    await asked(store, "the login page")

    def missing(reader: Reader) -> int:
        return reader.vectors.missing(61)

    assert await store.read(missing) == 0
    await store.give_memory_back()
    assert await store.read(missing) == left
    assert "authenticate" in [hit.chunk.name for hit in await asked(store, "the login page")]


def test_kin_are_nearer_than_strangers() -> None:
    vectors = word_vectors()
    for said, kin, stranger in (
        ("login", "authenticate", "compress"),
        ("delete", "remove", "parse"),
        ("gzip", "compress", "login"),
        ("directory", "folder", "password"),
    ):
        rows = vectors.of_parts([packed("body", dict.fromkeys(terms(word), 1)) for word in (kin, stranger)])
        question = vectors.of_question(terms(said))
        assert question is not None
        near, far = (rows.astype(np.float32) @ question).tolist()
        assert near > far + 20, (said, kin, stranger)


def test_vectors_have_one_length_and_nothing_has_none() -> None:
    vectors = word_vectors()
    rows = vectors.of_parts(
        [{}, packed("name", {"login": 1}), packed("body", {"qqqqzz": 3}), packed("doc", {"page": 2})]
    )
    assert rows.shape == (4, DIMENSIONS) and rows.dtype == np.int8
    lengths = np.linalg.norm(rows.astype(np.float32), axis=1)
    assert lengths == pytest.approx([0, 127, 0, 127], abs=3)
    assert vectors.of_question(["qqqqzz"]) is None


def test_the_table_is_small_and_says_what_it_was_trained_on() -> None:
    assert PROVENANCE.with_suffix(".npz").stat().st_size <= MOST_BYTES
    about = json.loads(PROVENANCE.read_text())
    assert about["words"] == len(word_vectors())
    assert len(about["repositories"]) >= 100 and sum(about["pairs"].values()) > 200_000
    for name, known in about["repositories"].items():
        assert len(known["commit"]) == 40 and known["licence"], name
    names = {name.lower().rpartition("/")[2] for name in about["repositories"]}
    assert not names & set(LEFT_FOR_MEASURING.split())
    assert about["repositories"].keys().isdisjoint(fitted().provenance["commits"]), "weights are fitted on other ones"


def test_meaning_counts_for_what_the_table_knows_of_a_question() -> None:
    """`send book to kindle` is about devices: of books alone it would be told by whatever is about books."""
    assert word_vectors().has("book") and not word_vectors().has("kindl")
    question = parse_question("book kindle")
    assert share_told(question, {"book": 2.0, "kindl": 6.0}) == 0.25
    assert share_told(question, {"book": 2.0, "kindl": 6.0, "novel": 9.0}) == 0.25, "what is only suggested is not said"
    assert share_told(question, {"book": 2.0}) == 1.0, "nothing here has the other word"
    assert share_told(question, {"kindl": 6.0}) == 1.0, "what it knows nothing of it says nothing of"
