"""Which chunks and relations a memory tells first, and where it stops."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.chunks import Import
from aurora_memory.store import Store, chunk_reader, file_reader, relation_reader
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = await new_store(tmp_path / "memory.db")
    yield made
    await made.close()


async def ids(store: Store, path: str) -> dict[str, int]:
    return {each.name: each.id for each in await store.read(chunk_reader.of_file, path)}


async def test_a_name_is_found_as_it_is_spelled_first_then_as_the_last_part_then_in_other_letters(store: Store) -> None:
    names = ("LOGIN", "Auth.login", "Auth.Login", "web.Auth.login", "relogin")
    await store.write([file("a.py", *(chunk("a.py", name, name, line=10 * n + 1) for n, name in enumerate(names)))])
    found = [each.name for each in await store.read(chunk_reader.named, ["Auth.login"])]
    assert found == ["Auth.login", "Auth.Login"], "the whole name, in whatever case"
    found = [each.name for each in await store.read(chunk_reader.named, ["login"])]
    assert (set(found[:2]), set(found[2:])) == ({"Auth.login", "web.Auth.login"}, {"LOGIN", "Auth.Login"})
    found = [each.name for each in await store.read(chunk_reader.named, ["LOGIN"])]
    assert found[0] == "LOGIN" and len(found) == 4
    assert len(await store.read(chunk_reader.named, ["login"], 3)) == 3


async def test_symbols_are_told_the_shortest_first_and_only_those_that_are_called_so(store: Store) -> None:
    kinds = {"loaded": "function", "Load": "class", "A.load": "method", "Load it": "section", "load_all": "function"}
    made = [chunk("b.py", name, name, line=10 * n + 1, kind=kind) for n, (name, kind) in enumerate(kinds.items())]  # type: ignore[arg-type]
    await store.write([file("b.py", *made), file("a.py", chunk("a.py", "B.load", kind="method"))])
    found = [(each.path, each.name) for each in await store.read(chunk_reader.name_prefix, "lo", 9)]
    assert found == [("b.py", "Load"), ("a.py", "B.load"), ("b.py", "A.load"), ("b.py", "loaded"), ("b.py", "load_all")]
    assert len(await store.read(chunk_reader.name_prefix, "lo", 2)) == 2
    assert await store.read(chunk_reader.name_prefix, "oad", 9) == []


async def test_members_are_those_of_the_owner_that_is_named_the_shortest_first(store: Store) -> None:
    names = ("Cart.add_line", "Cart.add", "web.Cart.added", "Card.adder", "add")
    await store.write([file("a.py", *(chunk("a.py", name, name, line=10 * n + 1) for n, name in enumerate(names)))])
    assert await store.read(chunk_reader.members_from, "cart.ad", 9) == ["Cart.add", "Cart.add_line", "web.Cart.added"]
    assert await store.read(chunk_reader.members_from, "Cart.ad", 1) == ["Cart.add"]
    assert await store.read(chunk_reader.members_from, "Cart.", 9) == []


async def test_names_with_letters_in_them_are_those_that_were_indexed_first_and_marks_are_letters(store: Store) -> None:
    names = ("zoo_b", "Oo_B", "aoob", "oo%b", "b!oo", "oo_b", "oo_b")
    made = [chunk("a.py", f"C{n}.{name}", name, line=10 * n + 1, kind="method") for n, name in enumerate(names)]
    await store.write([file("a.py", *made)])
    assert await store.read(chunk_reader.names_with, "OO_b") == ["zoo_b", "Oo_B", "oo_b"], "each name once"
    assert await store.read(chunk_reader.names_with, "oo_b", 2) == ["zoo_b", "Oo_B"]
    assert await store.read(chunk_reader.names_with, "o%") == ["oo%b"]
    assert await store.read(chunk_reader.names_with, "!") == ["b!oo"]
    assert await store.read(chunk_reader.names_with, "\\") == []


async def test_what_was_edited_last_is_told_first_and_what_was_edited_at_that_moment_as_well(store: Store) -> None:
    for at, path in ((30.0, "b.py"), (10.0, "a.py"), (20.0, "c.py")):
        await store.write([file(path, chunk(path, "f", path))], now=at, edited=True)
    found = [each.path for each in await store.read(chunk_reader.changed_since, 20.0, 9)]
    assert found == ["b.py", "c.py"]
    assert [each.path for each in await store.read(chunk_reader.changed_since, 0.0, 1)] == ["b.py"]


async def test_files_of_a_folder_are_those_below_it_and_of_none_that_only_begins_so(store: Store) -> None:
    paths = ["src/a.py", "src/deep/b.py", "src-old/c.py", "src.py", "src0/d.py"]
    await store.write([file(path, chunk(path, "f", path)) for path in paths])
    assert set(await store.read(file_reader.files_at, ["src"])) == {"src/a.py", "src/deep/b.py"}
    assert set(await store.read(file_reader.files_at, ["src.py", "src/deep"])) == {"src.py", "src/deep/b.py"}


@pytest.fixture
async def called(store: Store) -> Store:
    """`check` is called by three, of which one only may mean it, and calls one; the files of those three import it."""
    own = (Import("base", "check"),)
    base = [chunk("base.py", "check", "one", calls=("deep",)), chunk("base.py", "deep", "two", line=11)]
    await store.write(
        [
            file("base.py", *base),
            file("c.py", chunk("c.py", "late", "three", calls=("check",)), imports=own),
            file("a.py", chunk("a.py", "unsure", "four", calls=("db.check",)), imports=own),
            file("b.py", chunk("b.py", "early", "five", calls=("check",)), imports=own),
        ]
    )
    await store.resolve()
    return store


async def test_what_is_surely_related_is_told_before_what_may_be_then_by_place(called: Store) -> None:
    check = (await ids(called, "base.py"))["check"]
    found = await called.read(relation_reader.related, [check], "calls", 9)
    names = {(await ids(called, path))[name]: name for path, name in (("a.py", "unsure"), ("b.py", "early"))}
    assert [(names.get(row, "late"), surely) for row, surely in found] == [
        ("early", True),
        ("late", True),
        ("unsure", False),
    ]
    assert len(await called.read(relation_reader.related, [check], "calls", 2)) == 2
    edges = [edge.other.name for edge in await called.read(relation_reader.edges, check) if edge.kind == "calls"]
    assert edges == ["deep", "early", "late", "unsure"], "what it calls, then who calls it, surest first"


async def test_what_chunks_call_is_told_by_the_caller_and_never_itself(store: Store) -> None:
    own = chunk("a.py", "walk", "one", calls=("walk", "step"), hands_on=("stop",))
    others = [chunk("a.py", name, name, line=line) for name, line in (("step", 11), ("stop", 21))]
    await store.write([file("a.py", own, *others)])
    await store.resolve()
    known = await ids(store, "a.py")
    found = await store.read(relation_reader.callees, list(known.values()))
    assert found == {known["walk"]: {known["step"]}}
    assert await store.read(relation_reader.callees, [known["step"]]) == {}


@pytest.mark.parametrize(("hub", "reached"), [(6, ["deep", "early", "late", "unsure"]), (5, ["deep"])])
async def test_what_too_many_call_says_nothing_of_them_and_what_it_calls_itself_still(
    called: Store, hub: int, reached: list[str]
) -> None:
    check = (await ids(called, "base.py"))["check"]
    arcs = await called.read(relation_reader.arcs, [check], hub)
    views = await called.read(chunk_reader.by_id, [target for _, target, kind, *_ in arcs if kind == "calls"])
    assert sorted(each.name for each in views.values()) == reached
