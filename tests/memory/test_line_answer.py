"""What stands at a line is told with its relations, and nothing beside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_memory.chunks import Import
from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.line_answer import answer_at, spelled_first
from aurora_memory.store import Store
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store


async def fill(store: Store) -> None:
    shop = replace(chunk("src/shop.py", "Shop", "sell", kind="class"), line_end=30)
    sell = replace(chunk("src/shop.py", "Shop.sell", "sell", line=10, kind="method", calls=("parse",)), line_end=20)
    parse = replace(chunk("src/shop.py", "parse", line=40), line_end=44)
    rest = replace(chunk("src/shop.py", "<module>", kind="module"), line_end=60)
    mine = (Import("shop", "parse"),)
    await store.write(
        [
            file("src/shop.py", rest, shop, sell, parse),
            file("src/cli.py", chunk("src/cli.py", "main", calls=("parse",)), imports=mine),
            file("src/shop_parse.py", chunk("src/shop_parse.py", "shop_parse", "shop parse py")),
            file("other/shop.py", chunk("other/shop.py", "far", line=40)),
        ]
    )
    await store.resolve()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def told(store: Store, query: str, limit: int = 10) -> list[tuple[str, str]] | None:
    found = await store.read(answer_at, parse_question(query), limit, 1000.0)
    return None if found is None else [(hit.chunk.name, hit.relation) for hit in found.hits]


async def test_the_innermost_definition_comes_first_then_what_it_has_to_do_with(store: Store) -> None:
    assert await told(store, "src/shop.py:42") == [("parse", ""), ("main", "calls it"), ("Shop.sell", "calls it")]
    assert await told(store, "src/shop.py:12") == [("Shop.sell", ""), ("parse", "called by it")]
    assert await told(store, "src/shop.py:25") == [("Shop", "")]
    assert await told(store, "src/shop.py:50") == [("<module>", "")], "where no definition is, what is between them"
    assert await told(store, "src/shop.py:42", limit=1) == [("parse", "")]


async def fill_related(store: Store) -> None:
    """Functions that call each other, and a class that also calls its base."""
    ping = chunk("a.py", "ping", calls=("pong",))
    pong = chunk("a.py", "pong", line=11, calls=("ping",))
    base = chunk("a.py", "Base", kind="class", line=21)
    heir = chunk("a.py", "Heir", kind="class", line=31, inherits=("Base",), calls=("Base",))
    await store.write([file("a.py", ping, pong, base, heir)])
    await store.resolve()


@pytest.fixture
async def related(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill_related)
    yield store
    await store.close()


async def test_who_calls_and_is_called_is_told_as_a_caller_and_a_call_before_a_base(related: Store) -> None:
    assert await told(related, "a.py:1") == [("ping", ""), ("pong", "calls it")]
    assert await told(related, "a.py:21") == [("Base", ""), ("Heir", "calls it")]
    assert await told(related, "a.py:31") == [("Heir", ""), ("Base", "called by it")]


async def test_a_caller_that_is_sure_comes_before_a_call_that_is_not(related: Store) -> None:
    sell = chunk("b.py", "sell", calls=("db.ping",))
    await related.write([file("b.py", sell, chunk("b.py", "main", line=11, calls=("sell",)))])
    await related.resolve()
    assert await told(related, "b.py:1") == [("sell", ""), ("main", "calls it"), ("ping", "called by it")]


async def test_relations_fill_what_the_definition_leaves_of_the_limit(store: Store) -> None:
    assert await told(store, "src/shop.py:42", limit=2) == [("parse", ""), ("main", "calls it")]


async def test_a_file_of_several_is_each_told_without_relations(store: Store) -> None:
    assert await told(store, "shop.py:42:7") == [("parse", ""), ("far", "")]
    assert await told(store, "shop.py:42:7", limit=1) == [("parse", "")]


async def test_of_files_that_are_called_so_five_are_told(store: Store) -> None:
    await store.write([file(f"d{n}/many.py", chunk(f"d{n}/many.py", "far", line=40)) for n in range(6)])
    assert await told(store, "many.py:42") == [("far", "")] * 5


@pytest.mark.parametrize(
    "query",
    [
        "src/shop.py",
        "src/shop.py:parse",
        "selling in shop.py:42",
        "src/gone.py:3",
        "parse",
        "code:src/shop.py:parse:40-44",
    ],
)
async def test_whatever_is_no_line_is_another_question(store: Store, query: str) -> None:
    assert await told(store, query) is None


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("src/shop.py:42: error: the shop parse py is wrong", ["parse"]),
        ("main fails:\n --> src/shop.py:12:5\n --> src/shop.py:42:1", ["Shop.sell", "parse"]),
        ("FAILED src/shop.py::Shop::sell - shop parse py", ["Shop.sell"]),
        ("cli.py:3: shop parse py", ["main"]),
        ("shop.py:42: which of two files is not told", []),
        ("src/gone.py:42: shop parse py", []),
        ("src/shop.py:4200: shop parse py", []),
        ("why does src/shop.py parse shop py", []),
        ("shop.parse of shop py", []),
        ("main of cli.py(3,1) shop parse py", []),  # which may be a call
        (f"src/shop.py:42: error:{' shop parse py is wrong' * 7} and so", ["parse"]),  # 39 words
        (f"src/shop.py:42: error:{' shop parse py is wrong' * 7} and so on", []),  # an issue's 40
    ],
)
async def test_what_stands_at_a_place_comes_before_what_resembles_what_is_said_of_it(
    store: Store, query: str, names: list[str]
) -> None:
    question = parse_question(query)
    hits = await store.read(recall, question, 10, 1000.0)
    found = await store.read(spelled_first, question, hits, 1000.0)
    assert [hit.chunk.name for hit in found[: len(names)]] == names
    assert len({hit.chunk.id for hit in found}) == len(found)
    assert {hit.chunk.id for hit in hits} <= {hit.chunk.id for hit in found}
    if not names:
        assert found == hits
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)


async def test_a_path_that_a_file_has_from_its_beginning_is_that_file_though_another_ends_so(store: Store) -> None:
    await store.write([file("old/src/shop.py", chunk("old/src/shop.py", "old", line=40))])
    question = parse_question("src/shop.py:42: error: unheard of")
    assert [hit.chunk.name for hit in await store.read(spelled_first, question, [], 1000.0)] == ["parse"]


async def test_a_place_is_of_the_types_that_are_asked_for(store: Store) -> None:
    question = parse_question("src/shop.py:42: error: unheard of")
    assert await store.read(spelled_first, question, [], 1000.0, {"know"}) == []
    assert len(await store.read(spelled_first, question, [], 1000.0, {"code"})) == 1
