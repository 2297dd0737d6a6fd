"""What a file holds is told to who asks for it by its path: the file, what is at its top level, what is used most."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.recall import parse_question
from aurora_memory.recall.file_answer import BESIDE, answer_file
from aurora_memory.store import Store
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store


async def fill(store: Store) -> None:
    """A file whose definitions are used in another order than they stand, one of the same name, and a document."""
    beat = [
        chunk("app/beat.py", "<module>", kind="module", line=90),
        chunk("app/beat.py", "Beat", kind="class", line=1),
        chunk("app/beat.py", "Beat.idle", line=2),
        chunk("app/beat.py", "Beat.tick", line=3),
        chunk("app/beat.py", "often", line=10),
        chunk("app/beat.py", "seldom", line=20),
        chunk("app/beat.py", "never", line=30),
    ]
    calling = [chunk("app/use.py", f"use{n}", line=9 * n + 1, calls=calls) for n, calls in enumerate(CALLS)]
    calling.append(chunk("app/use.py", "Heart", kind="class", line=80, inherits=("Beat",)))
    guide = [chunk("docs/beat.md", name, kind="section", line=9 * n + 1) for n, name in enumerate(("Use", "Be", "Am"))]
    space = [
        chunk("lib/space.cs", "Shop", kind="namespace", line=1),
        chunk("lib/space.cs", "Shop.Cart", kind="class", line=2),
        chunk("lib/space.cs", "Shop.Cart.add", line=3),
        chunk("lib/space.cs", "Late", kind="class", line=9),
    ]
    names = ("one", "two", "three", "four", "five", "six", "seven")
    other = [chunk("tests/beat.py", each, line=n + 1) for n, each in enumerate(names)]
    menu = [chunk("ui/CartMenu.vue", "<module>", kind="module", line=9), chunk("ui/CartMenu.vue", "open", line=1)]
    await store.write([file("ui/CartMenu.vue", *menu), file("ui/till.vue", chunk("ui/till.vue", "close", line=1))])
    files = (("app/beat.py", beat), ("app/use.py", calling), ("docs/beat.md", guide), ("lib/space.cs", space))
    await store.write([file(path, *chunks) for path, chunks in (*files, ("tests/beat.py", other))])
    await store.resolve()


CALLS = (("often", "seldom"), ("often", "tick"), ("often", "tick"), ("tick",))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def told(store: Store, query: str, limit: int = 10, types: set[str] | None = None) -> list[str] | None:
    found = await store.read(answer_file, parse_question(query), limit, 1000.0, types)
    return None if found is None else [hit.chunk.name for hit in found.hits]


@pytest.mark.parametrize("query", ["app/beat.py", "./app/beat.py", " app/beat.py ", "/app/beat.py"])
async def test_the_file_then_its_top_level_the_most_used_first_then_what_that_holds(store: Store, query: str) -> None:
    assert await told(store, query) == ["<module>", "often", "Beat", "seldom", "never", "Beat.tick", "Beat.idle"]


async def test_a_name_space_is_no_level(store: Store) -> None:
    assert await told(store, "lib/space.cs") == ["Shop", "Shop.Cart", "Late", "Shop.Cart.add"]


async def test_a_document_in_its_order_and_only_what_is_asked_for(store: Store) -> None:
    assert await told(store, "docs/beat.md") == ["Use", "Be", "Am"]
    assert await told(store, "docs/beat.md", types={"code"}) is None
    assert await told(store, "docs/beat.md", types={"know"}) == ["Use", "Be", "Am"]


async def test_of_several_files_of_a_name_each_is_told_with_what_is_used_most(store: Store) -> None:
    found = await store.read(answer_file, parse_question("beat.py"), 10, 1000.0, None)
    assert found is not None and found.said == "2 files are called beat.py."
    assert [(hit.chunk.path, hit.chunk.name) for hit in found.hits] == [
        ("app/beat.py", "<module>"),
        ("tests/beat.py", "one"),
    ], "what tests others last"
    assert [each.name for each in found.hits[0].also] == ["often", "Beat", "seldom", "never", "Beat.tick"]
    assert [each.name for each in found.hits[1].also] == ["two", "three", "four", "five", "six"]
    assert len(found.hits[1].also) == BESIDE


async def test_what_is_left_out_is_counted(store: Store) -> None:
    found = await store.read(answer_file, parse_question("app/beat.py"), 2, 1000.0, None)
    assert found is not None and len(found.hits) == 2
    assert found.said == "app/beat.py has 7 parts: what is at its top level first, of that what is used most."
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)
    found = await store.read(answer_file, parse_question("docs/beat.md"), 2, 1000.0, None)
    assert found is not None and found.said == "docs/beat.md has 3 parts."
    found = await store.read(answer_file, parse_question("docs/beat.md"), 3, 1000.0, None)
    assert found is not None and found.said == ""


@pytest.mark.parametrize(
    "query", ["app/beat.py:10", "app/beat.py:often", "often in app/beat.py", "no/beat.py", "often"]
)
async def test_anything_else_is_another_question(store: Store, query: str) -> None:
    assert await told(store, query) is None


@pytest.mark.parametrize("query", ["CartMenu", "cartMenu", " CartMenu "])
async def test_a_component_is_found_by_the_name_of_its_file(store: Store, query: str) -> None:
    assert await told(store, query) == ["<module>", "open"]


@pytest.mark.parametrize(
    "query", ["Beat", "cart menu", "CartMenus", "Cart_enu", "ui", "CartMenu tick", "till", "what calls CartMenu"]
)
async def test_what_else_is_called_so_or_asked_is_no_files_name(store: Store, query: str) -> None:
    assert await told(store, query) is None
