"""Mentions: a name with what only the asker's file calls its beginning is found; reports look into likely files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.mentions import with_known_names, without_unknown_fronts
from aurora_memory.recall.search import CANDIDATES, WIDELY, search
from aurora_memory.store import Store, chunk_reader
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

NOW = 1_800_000_000.0


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = await new_store(tmp_path / "memory.db")
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
        ("xr.where", ("where",)),
        ("lib.nowhere", ("lib.nowhere",)),
        ("grid.Coarsen", ("Coarsen",)),
        ("pkg::grid::Coarsen::construct", ("Coarsen.construct",)),
        ("where.go", ("where.go",)),
        ("Coarsen.con", ("Coarsen.connect", "Coarsen.construct")),
        ("grid.coarsen.Con", ("Coarsen.connect", "Coarsen.construct")),
        ("Coarsen.con of where", ("Coarsen.con",)),
        ("lib.con", ("lib.con",)),
        ("Coarsen.", ("Coarsen",)),
    ],
)
async def test_the_longest_end_of_a_name_that_something_is_called(
    store: Store, question: str, names: tuple[str, ...]
) -> None:
    names_of_grid = ("where", "Coarsen", "Coarsen.construct", "Coarsen.connect", "Other.contain", "go")
    await store.write([file("b.py", *(chunk("b.py", name, line=10 * n + 1) for n, name in enumerate(names_of_grid)))])
    await store.write([file("where.go", chunk("where.go", "main"))])
    asked = await store.read(with_known_names, parse_question(question))
    assert asked.identifiers == names


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        pytest.param("click.core.Option", ["core.Option", "Option"], id="every end, the longest first"),
        pytest.param("where", [], id="no end of a name alone"),
        pytest.param("where.other", [], id="none behind what something here is called: that has no such member"),
        pytest.param("lib.where.other", ["where.other"], id="up to there"),
        pytest.param("Cart.sell", [], id="none behind a class whose member is meant"),
        pytest.param("shop.Cart.sell", ["Cart.sell"], id="up to the class"),
        pytest.param("Shop.Cart", ["Cart"], id="behind a name with a capital a class of its own may be meant"),
        pytest.param("shop.sell", ["sell"], id="behind one without, anything"),
    ],
)
async def test_a_name_may_be_meant_without_a_front_that_nothing_here_is_called(
    store: Store, name: str, meant: list[str]
) -> None:
    await store.write([file("a.py", chunk("a.py", "where"))])
    assert await store.read(lambda reader: list(without_unknown_fronts(reader, name))) == meant


async def test_a_name_by_its_package_is_found_before_what_resembles_it(store: Store) -> None:
    option = chunk("core.py", "Option", "a choice", kind="class")
    alike = chunk("click_option.py", "click_option", "click option click option", doc="click option")
    await store.write([file("core.py", option), file("click_option.py", alike)])
    found = await store.read(recall, parse_question("click.Option"), 5, NOW)
    assert found[0].chunk.name == "Option"


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("route!", "Base.route!"),
        ("Base#route!", "Base.route!"),
        ("Base.route", "Base.route"),
        ("route", "Base.route"),
        ("status=", "Base.status="),
        ("status", "Base.status"),
        ("status == 3", "Base.status"),
        ("draw!", "Base.draw"),
    ],
)
async def test_a_mark_at_the_end_of_a_name_is_of_the_name_where_something_is_called_so(
    store: Store, question: str, name: str
) -> None:
    names = ("Base.route", "Base.route!", "Base.status", "Base.status=", "Base.draw")
    await store.write(
        [file("b.rb", *(chunk("b.rb", each, "one", line=10 * n + 1, kind="method") for n, each in enumerate(names)))]
    )
    found = await store.read(recall, parse_question(question), 5, NOW)
    assert found[0].chunk.name == name


@pytest.mark.parametrize(
    ("question", "looked_at"),
    [
        ("The ledger total is wrong when carts are empty", True),
        ("the ledger total is wrong when carts are empty", False),
        ("ledger total of empty carts", False),
    ],
    ids=["report", "in plain words", "topic"],
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
