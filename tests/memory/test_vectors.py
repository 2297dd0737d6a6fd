"""Vector index: the nearest are those that plain arithmetic finds, however they came in; what is kept is current."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_indexer.embedding import vector_index as module
from aurora_indexer.embedding.vector_index import VectorIndex
from aurora_memory.store import Store, chunk_reader, embeddings
from tests.memory.chunks import chunk, digest, file
from tests.memory.stores import new_store


def row(*values: float) -> bytes:
    return np.array(values, dtype="<f2").tobytes()


def test_the_nearest_are_those_of_plain_arithmetic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 64)
    chance = np.random.default_rng(1)
    table = chance.standard_normal((500, 8))
    table = (table / np.linalg.norm(table, axis=1, keepdims=True)).astype("<f2")
    found = VectorIndex(8)
    found.put((1000 + n, (-table[n]).tobytes()) for n in range(0, 500, 3))  # replaced below
    found.put((1000 + n, table[n].tobytes()) for n in chance.permutation(500).tolist())
    assert len(found) == 500
    for number in (0, 77, 499):
        alike = table.astype(np.float32) @ table[number].astype(np.float32)
        expected = np.sort(alike[alike > 0])[::-1][:10]
        nearest = found.nearest(table[number].tobytes(), 10)
        assert nearest[0][0] == 1000 + number
        assert [similarity for _, similarity in nearest] == pytest.approx(expected.tolist(), abs=1e-6)
        assert [similarity for _, similarity in nearest] == [pytest.approx(alike[id_ - 1000]) for id_, _ in nearest]


@given(st.floats(-1, 1, width=16), st.floats(-1, 1, width=16))
def test_products_are_exact_down_to_the_smallest_numbers(one: float, other: float) -> None:
    found = VectorIndex(1)
    found.put([(1, row(one)), (2, row(-one))])
    product = float(np.float32(one) * np.float32(other))
    expected = [(1, product)] if product > 0 else [(2, -product)] if product < 0 else []
    assert found.nearest(row(other), 2) == expected


def test_what_has_nothing_in_common_is_not_near_and_other_sizes_are_not_taken() -> None:
    found = VectorIndex(2)
    assert found.nearest(row(1, 0), 5) == []
    found.put([(1, row(1, 0)), (2, row(0, 1)), (3, row(-1, 0)), (4, row(1, 0, 0)), (5, b"")])
    assert found.nearest(row(1, 0), 5) == [(1, 1.0)]
    assert found.nearest(row(1, 0, 0), 5) == []


def test_memory_is_bounded() -> None:
    found = VectorIndex(2, most_bytes=12)
    found.put((number, row(1, 0)) for number in range(5))
    assert (len(found), found.left_out) == (3, 2)
    found.put([(0, row(0, 1))])
    assert found.nearest(row(0, 1), 5) == [(0, 1.0)]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await new_store(tmp_path / "memory.db")
    yield opened
    await opened.close()


async def waiting(store: Store, model: str = "m1") -> set[str]:
    return {each.name for each in await store.read(embeddings.to_embed, model, ["a.py", "b.py"])}


async def embed(store: Store, model: str = "m1") -> None:
    found = await store.read(embeddings.to_embed, model, ["a.py", "b.py"])
    await store.keep_embeddings(model, [(each.id, each.body_hash, row(1, 0)) for each in found])


async def test_only_what_changed_is_embedded_again(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "one"), chunk("a.py", "two", "return 2", line=9))], now=10.0)
    await store.write([file("b.py", chunk("b.py", "three", "return 3"))], now=20.0)
    assert [each.path for each in await store.read(embeddings.files_since, 0)] == ["a.py", "b.py"]
    assert [each.path for each in await store.read(embeddings.files_since, 20.0)] == ["b.py"]
    assert await waiting(store) == {"one", "two", "three"}
    await embed(store)
    assert await waiting(store) == set()
    assert await store.read(embeddings.embedded, "m1") == 3
    shifted = [chunk("a.py", "one", line=3), chunk("a.py", "two", "return two things", line=12)]
    await store.write([file("a.py", *shifted)], now=30.0)
    assert await waiting(store) == {"two"}


async def test_another_model_embeds_everything_anew(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "one"), chunk("a.py", "two", "return 2", line=9))])
    await embed(store)
    assert await waiting(store, "m2") == {"one", "two"}
    assert await store.read(embeddings.vectors, "m2", 0, 10) == []
    await embed(store, "m2")
    await store.drop_embeddings_but("m2")
    assert len(await store.read(embeddings.vectors, "m2", 0, 10)) == 2
    assert await waiting(store, "m1") == {"one", "two"}


async def test_a_vector_belongs_to_its_chunk_alone(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "one"))])
    (one,) = await store.read(embeddings.to_embed, "m1", ["a.py"])
    await store.keep_embeddings("m1", [(one.id, digest("another body"), row(1, 0)), (one.id + 1, b"", row(1, 0))])
    assert await store.read(embeddings.embedded, "m1") == 0, "what was embedded is not what the chunk is now"
    await embed(store)
    await store.write(removed=["a.py"])
    assert await store.read(embeddings.embedded, "m1") == 0
    await store.write([file("b.py", chunk("b.py", "other", "return other"))])
    (other,) = await store.read(embeddings.to_embed, "m1", ["b.py"])
    assert other.id == one.id, "row ids are given anew"


async def test_a_chunk_that_is_put_aside_is_not_near_anything(store: Store) -> None:
    await store.write([file("a.py", chunk("a.py", "one"))])
    await embed(store)
    (one,) = await store.read(chunk_reader.by_name, "a.py", "one")
    await store.record_accesses([one.id], "used", 5.0)
    await store.write(removed=["a.py"])
    assert await store.read(embeddings.embedded, "m1") == 1
    assert await store.read(embeddings.vectors, "m1", 0, 10) == []


async def test_vectors_are_read_in_pages(store: Store) -> None:
    await store.write([file("a.py", *(chunk("a.py", f"f{n}", f"return {n}", line=9 * n + 1) for n in range(7)))])
    await embed(store)
    pages, last = [], 0
    while page := await store.read(embeddings.vectors, "m1", last, 3):
        pages.append(len(page))
        last = page[-1][0]
    assert pages == [3, 3, 1]
