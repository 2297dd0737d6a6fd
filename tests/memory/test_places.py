"""Places and ids in a query: what they mean, and that chunks there come first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.places import LATER, QueryPlace, below, places_in, standing_at, within
from aurora_memory.store import Store, chunk_reader
from aurora_memory.views import ChunkHead
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("query", "places", "rest"),
    [
        ("auth.py", [QueryPlace("auth.py")], "auth.py"),
        ("AuthService.login", [QueryPlace("AuthService.login")], "AuthService.login"),
        ("src/auth.py", [QueryPlace("src/auth.py")], ""),
        ("./src/auth.py:login", [QueryPlace("src/auth.py", "login")], ""),
        ("where is `src/auth.py:45`?", [QueryPlace("src/auth.py", None, 45)], "where is"),
        ("src/auth.py:45-78", [QueryPlace("src/auth.py", None, 45)], ""),
        ("src/auth.py:45:7", [QueryPlace("src/auth.py", None, 45)], ""),
        ("src/auth.py:45:", [QueryPlace("src/auth.py", None, 45)], ""),
        ("/src/auth.py:45", [QueryPlace("src/auth.py", None, 45)], ""),
        ("/src/auth.ts#L45", [QueryPlace("src/auth.ts", None, 45)], ""),
        ("/tests/test_auth.py::test_it", [QueryPlace("tests/test_auth.py", "test_it")], ""),
        ('File "src/a.py", line 4, in <module>', [QueryPlace("src/a.py", None, 4)], ""),
        (
            'File "/usr/lib/python3/site-packages/shop/auth.py", line 45, in login',
            [QueryPlace("shop/auth.py", None, 45)],
            "",
        ),
        ("/opt/venv/lib/dist-packages/shop/auth.py:45", [QueryPlace("shop/auth.py", None, 45)], ""),
        ("site-packages/auth.py", [QueryPlace("site-packages/auth.py")], ""),
        ("src/auth.py: is empty", [QueryPlace("src/auth.py")], "is empty"),
        ('File "src/auth.py", line 45, in login', [QueryPlace("src/auth.py", None, 45)], ""),
        ("why src/auth.ts(45,7):", [QueryPlace("src/auth.ts", None, 45)], "why"),
        ("app/(shop)/page.tsx(45)", [QueryPlace("app/(shop)/page.tsx", None, 45)], ""),
        ("src/auth.ts#L45", [QueryPlace("src/auth.ts", None, 45)], ""),
        ("src/auth.ts#L45-L78", [QueryPlace("src/auth.ts", None, 45)], ""),
        ("src/auth.ts#L45C2-L78C9", [QueryPlace("src/auth.ts", None, 45)], ""),
        ('File "src/my auth.py", line 45, in login', [QueryPlace("src/my auth.py", None, 45)], ""),
        ("Math.max(2,3)", [QueryPlace("Math.max", None, 2, may_be_call=True)], "Math.max(2,3)"),
        ("code:src/auth.py:login", [QueryPlace("src/auth.py", "login", None, True)], ""),
        ("code:src/auth.py:A.login:45-78", [QueryPlace("src/auth.py", "A.login", 45, True)], ""),
        ("know:README.md:Shop.All the prices", [QueryPlace("README.md", "Shop.All the prices", None, True)], ""),
        ("read/write lock", [QueryPlace("read/write")], "read/write lock"),
        ("std::vector push_back", [], "std::vector push_back"),
        ("tests/test_auth.py::test_it", [QueryPlace("tests/test_auth.py", "test_it")], ""),
        ("FAILED test_auth.py::TestIn::test_it[a b]", [QueryPlace("test_auth.py", "TestIn.test_it")], "FAILED b]"),
        ("src/auth.rb:45:in `login'", [QueryPlace("src/auth.rb", None, 45)], "`login'"),
        ("src/auth.py:45:token = None", [QueryPlace("src/auth.py", None, 45)], "= None"),
        ("src/auth.rs:45:7: oh", [QueryPlace("src/auth.rs", None, 45)], "oh"),
        ("at shop.Auth.login(Auth.java:45)", [QueryPlace("Auth.java", None, 45)], "at"),
        ("in src/auth.php on line 45", [QueryPlace("src/auth.php", None, 45)], "in"),
        ("in src/Auth.cs:line 45", [QueryPlace("src/Auth.cs", None, 45)], "in"),
        ("a.b::c", [], "a.b::c"),
        ("std::fs::read", [], "std::fs::read"),
        ("https://example.org/a.py", [], "https://example.org/a.py"),
        ("expand url templates", [], "expand url templates"),
        ("e.g. 3.14", [], "e.g. 3.14"),
    ],
)
def test_places_are_told_from_words(query: str, places: list[QueryPlace], rest: str) -> None:
    assert places_in(query) == (tuple(places), rest)


def test_paths_below_the_root_are_spelled_from_it() -> None:
    for query in ("/w/shop/src/a.py:3", "file:///w/shop/src/a.py:3"):
        assert below("/w/shop", query) == "src/a.py:3"
    assert below("/w/shop", "where is `/w/shop/a.py` in /w/shop/b.py?") == "where is `a.py` in b.py?"
    for query in ("/w/shopping/a.py", "/v/w/shop/a.py", "/w/shop", "a question"):
        assert below("/w/shop", query) == query


@given(st.text(st.sampled_from("ab./:-1 code"), max_size=200) | st.text(max_size=200))
def test_any_text_is_a_query(query: str) -> None:
    parse_question(query)


def test_hostile_queries_cost_little() -> None:
    for query in (
        "/" * 16_000,
        "a/" * 8_000,
        ":" * 16_000,
        "code:" + ":" * 16_000,
        'File "' * 3_000,
        "a(1" * 90,
        "." * 16_000,
        "a.b/ " * 3_000,
    ):
        parse_question(query)


async def fill(store: Store) -> None:
    await store.write(
        [
            file(
                "src/auth.py",
                chunk("src/auth.py", "AuthService", "a service of tokens", kind="class"),
                chunk("src/auth.py", "AuthService.login", "check the password", line=10, kind="method"),
                chunk("src/auth.py", "logout", "forget everything", line=20),
            ),
            file("src/web.py", chunk("src/web.py", "login", "show the login auth form"), chunk("src/web.py", "auth")),
            file("old/auth.py", chunk("old/auth.py", "sign", "old way")),
            file("src/oauth.py", chunk("src/oauth.py", "dance", "auth py login")),
        ]
    )


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def found(store: Store, query: str) -> list[str]:
    return [f"{hit.chunk.path}:{hit.chunk.name}" for hit in await store.read(recall, parse_question(query), 10, NOW)]


async def test_a_file_name_brings_that_files_chunks_first(store: Store) -> None:
    assert {each.split(":")[0] for each in (await found(store, "auth.py"))[:4]} == {"src/auth.py", "old/auth.py"}
    assert {each.split(":")[0] for each in (await found(store, "src/auth.py"))[:3]} == {"src/auth.py"}


async def test_a_name_in_a_file_comes_before_that_name_elsewhere(store: Store) -> None:
    assert (await found(store, "src/auth.py:login"))[:2] == ["src/auth.py:AuthService.login", "src/web.py:login"]
    assert (await found(store, "auth.py:AuthService.login"))[0] == "src/auth.py:AuthService.login"
    assert (await found(store, "login in src/web.py"))[0] == "src/web.py:login"


async def test_a_line_means_the_smallest_chunk_around_it(store: Store) -> None:
    assert (await found(store, "src/auth.py:12"))[0] == "src/auth.py:AuthService.login"


async def test_what_is_around_a_line_follows_far_behind_the_smallest_chunk(store: Store) -> None:
    path = "src/shop.py"
    shop = replace(chunk(path, "shop", "src shop py", kind="class"), line_end=40)
    sell = replace(chunk(path, "shop.sell", "take the money", line=10, kind="method"), line_end=30)
    count = chunk(path, "shop.sell.count", "one two three", line=20)
    rest = replace(chunk(path, "<module>", "src shop py", kind="module"), line_end=60)
    await store.write([file(path, shop, sell, count, rest)])
    for line, wanted in ((22, count), (12, sell), (2, shop), (50, rest)):
        first, *others = [
            hit for hit in await store.read(recall, parse_question(f"{path}:{line}"), 10, NOW) if hit.chunk.path == path
        ]
        assert (first.chunk.name, round(first.score, 2)) == (wanted.name, 1.0), line
        assert all(hit.strength < first.strength - 10 for hit in others), line
        assert {"shop", "shop.sell", "shop.sell.count", "<module>"} == {
            first.chunk.name,
            *(hit.chunk.name for hit in others),
        }


async def test_of_what_is_around_a_line_the_larger_stands_the_farther_behind(store: Store) -> None:
    path = "src/shop.py"
    shop = replace(chunk(path, "shop", "src shop py", kind="class"), line_end=40)
    sell = replace(chunk(path, "shop.sell", "take the money", line=10, kind="method"), line_end=30)
    await store.write([file(path, shop, sell, chunk(path, "shop.sell.count", "one two three", line=20))])
    there = await store.read(chunk_reader.of_file, path)
    standing = standing_at(parse_question(f"{path}:22").places, there)
    ordered = sorted(there, key=lambda each: -standing[each.id])
    assert [each.name for each in ordered] == ["shop.sell.count", "shop.sell", "shop"]
    assert len(set(standing.values())) == 3


async def test_of_two_that_are_on_the_same_lines_the_one_inside_is_meant(store: Store) -> None:
    path = "src/one.py"
    await store.write([file(path, chunk(path, "Door", "two", kind="class"), chunk(path, "Door.open", "one"))])
    there = await store.read(chunk_reader.of_file, path)
    standing = standing_at(parse_question(f"{path}:3").places, there)
    assert {each.name: standing[each.id] for each in there} == {"Door.open": 1.0, "Door": 0.1}


def test_what_two_places_mean_stands_as_the_one_has_it_that_means_it_more_exactly() -> None:
    login = ChunkHead(1, "src/auth.py", "login", "function", None, 10, 14, None)
    rest = ChunkHead(2, "src/auth.py", "<module>", "module", None, 1, 40, None)
    for places in (("src/auth.py:12", "src/auth.py"), ("src/auth.py:12", "src/auth.py:3")):
        found = standing_at([*(places_in(each)[0][0] for each in places)], [login, rest])
        assert found[1] == 1.0, places


@pytest.mark.parametrize(
    ("name", "exactness"),
    [("Auth.login", 1.0), ("login", 0.8), ("LOGIN", 0.8), ("auth.Login", 0.8), ("gin", 0.8), ("logi", 0.0)],
)
def test_a_name_in_a_file_means_what_ends_so_in_whatever_case(name: str, exactness: float) -> None:
    login = ChunkHead(1, "a.py", "Auth.login", "method", None, 1, 5, None)
    assert standing_at([QueryPlace("a.py", name)], [login]) == ({1: exactness} if exactness else {})


def test_the_rest_of_a_file_is_meant_by_a_line_only_where_no_definition_has_it_however_few_its_lines() -> None:
    whole = ChunkHead(1, "a.py", "A", "class", None, 1, 40, None)
    rest = ChunkHead(2, "a.py", "<module>", "module", None, 1, 30, None)
    assert standing_at([QueryPlace("a.py", None, 3)], [rest, whole]) == {1: 1.0, 2: 0.1}


@pytest.mark.parametrize(
    ("told", "path", "meant"),
    [
        pytest.param("auth.py", "src/auth.py", True, id="the end of a path"),
        pytest.param("auth.py", "src/oauth.py", False, id="not the end of a name"),
        pytest.param("usr/lib/src/auth.py", "src/auth.py", True, id="a path of another disk that ends as one here"),
        pytest.param("usr/lib/auth.py", "auth.py", False, id="whose name alone would be anybody's"),
    ],
)
def test_which_file_a_place_is_in(told: str, path: str, meant: bool) -> None:
    assert within(QueryPlace(told, None, 3), path) is meant


async def test_the_end_of_a_name_is_less_exact_than_the_whole(store: Store) -> None:
    path = "src/door.py"
    await store.write([file(path, chunk(path, "open", "one"), chunk(path, "Door.open", "two", line=20, kind="method"))])
    there = await store.read(chunk_reader.of_file, path)
    standing = standing_at(parse_question(f"{path}:open").places, there)
    assert {each.name: standing[each.id] for each in there} == {"open": 1.0, "Door.open": 0.8}


async def test_names_are_still_names(store: Store) -> None:
    assert (await found(store, "AuthService.login"))[0] == "src/auth.py:AuthService.login"
    assert (await found(store, "AuthService"))[0] == "src/auth.py:AuthService"


async def test_an_id_means_one_chunk(store: Store) -> None:
    assert await found(store, "code:src/auth.py:logout") == ["src/auth.py:logout"]
    assert await found(store, "code:src/auth.py:logout:20-24") == ["src/auth.py:logout"]
    assert await found(store, "code:src/auth.py:logout:99-120") == ["src/auth.py:logout"], "it has moved"


async def test_nothing_that_an_embedding_finds_is_told_beside_an_id(store: Store) -> None:
    near = [(view.id, 0.9) for view in await store.read(chunk_reader.of_file, "src/oauth.py")]
    hits = await store.read(recall, parse_question("code:src/auth.py:logout"), 9, NOW, near=near)
    assert [hit.chunk.name for hit in hits] == ["logout"]


async def test_of_two_of_one_name_an_id_means_the_one_that_stands_at_its_lines(store: Store) -> None:
    path = "src/forms.py"
    first, second = chunk(path, "save", "one", line=10), replace(chunk(path, "save", "two", line=30), ordinal=1)
    await store.write([file(path, first, second)])
    there = await store.read(chunk_reader.of_file, path)
    for line in (10, 30):
        places = parse_question(f"code:{path}:save:{line}-{line + 4}").places
        standing = standing_at(places, there)
        assert max(there, key=lambda each: standing[each.id]).line_start == line
        assert len(set(standing.values())) == 2


async def test_a_place_that_is_gone_still_asks_for_its_name(store: Store) -> None:
    assert (await found(store, "src/gone.py:login"))[0] == "src/web.py:login"
    assert (await found(store, "code:src/gone.py:logout"))[0] == "src/auth.py:logout"


async def test_the_frame_that_raised_comes_first_though_its_path_is_of_another_disk(store: Store) -> None:
    frame = '  File "/usr/lib/site-packages/{}", line {}, in {}\n'
    trace = frame.format("src/auth.py", 20, "logout") + frame.format("src/auth.py", 11, "login")
    query = f"Traceback (most recent call last):\n{trace}ValueError: password"
    standing = standing_at(parse_question(query).places, await store.read(chunk_reader.of_file, "src/auth.py"))
    names = {each.id: each.name for each in await store.read(chunk_reader.of_file, "src/auth.py")}
    told = {names[each]: exactness for each, exactness in standing.items()}
    assert (told["AuthService.login"], told["logout"]) == (1.0, LATER)
