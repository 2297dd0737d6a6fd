"""Mentions: a name with what only the asker's file calls its beginning is found; reports look into likely files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.mentions import with_known_names
from aurora_memory.recall.search import CANDIDATES, WIDELY, search
from aurora_memory.store import Store, chunk_reader
from tests.memory.chunks import chunk, file

NOW = 1_800_000_000.0


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = await Store.open(tmp_path / "memory.db")
    yield made
    await made.close()


async def test_a_stop_word_that_is_spelled_as_code_is_a_name(store: Store) -> None:
    await store.write(
        [
            file("a.py", chunk("a.py", "Data.keep", "preserving attributes", doc="preserving attributes")),
            file("b.py", chunk("b.py", "where", "pick")),
        ]
    )
    found = await store.read(recall, parse_question("xr.where is not preserving attributes"), 5, NOW)
    assert [hit.chunk.name for hit in found] == ["where", "Data.keep"]
    found = await store.read(recall, parse_question("tell me where it is preserving attributes"), 5, NOW)
    assert [hit.chunk.name for hit in found] == ["Data.keep"], "what only asks is still no word"


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("xr.where loses attributes", ("where",)),
        ("ds.Coarsen.construct loses attributes", ("Coarsen.construct",)),
        ("Coarsen.construct loses attributes", ("Coarsen.construct",)),
        ("lib.nowhere loses attributes", ("lib.nowhere",)),
        ("coarsen.CONSTRUCT loses attributes", ("coarsen.CONSTRUCT",)),
        ("xr.where", ("xr.where",)),
    ],
)
async def test_the_longest_end_of_a_name_that_something_is_called(
    store: Store, question: str, names: tuple[str, ...]
) -> None:
    await store.write([file("b.py", chunk("b.py", "where"), chunk("b.py", "Coarsen.construct", line=20))])
    asked = await store.read(with_known_names, parse_question(question))
    assert asked.identifiers == names


@pytest.mark.parametrize(
    ("question", "looked_at"),
    [("the ledger total is wrong when carts are empty", True), ("ledger total of empty carts", False)],
    ids=["report", "topic"],
)
async def test_a_report_looks_into_its_likeliest_files(store: Store, question: str, looked_at: bool) -> None:
    said = "ledger total empty carts wrong"
    many = max(CANDIDATES, WIDELY) + 60
    others = [file(f"o{n}.py", chunk(f"o{n}.py", f"unit_{n}", said if n % 2 else "other")) for n in range(2 * many)]
    strong = [chunk("book.py", f"spend_{n}", said, doc=said, line=10 * n) for n in (1, 2)]
    weak = chunk("book.py", "spill", "empty " + "other " * 200, line=40)
    await store.write([*others, file("book.py", *strong, weak)])
    findings = await store.read(search, parse_question(question))
    names = {head.name for head in await store.read(chunk_reader.heads, findings.ids)}
    assert {"spend_1", "spend_2"} < names
    assert ("spill" in names) == looked_at
