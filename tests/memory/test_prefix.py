"""The last word of a query as the beginning of one: rows that read as rules."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from msgspec.structs import replace

from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.prefix import _stems, completed, entries_of
from aurora_memory.recall.search import Focus
from aurora_memory.store import Store, chunk_reader
from aurora_memory.store.reader import Reader
from aurora_memory.term_counts import LIMITS
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store

CHUNKS = (
    chunk("sessions.py", "SessionInterface", "open and save the session", line=1),
    chunk("cookies.py", "save_session", "store cookie", line=10),
    chunk("blueprints.py", "Blueprint", "register routes", line=1),
    chunk("auth.py", "authenticate", "check password of the user", line=1, calls=("hidden_step",)),
    chunk("auth.py", "con", "connect to the directory", line=10),
    chunk("auth.py", "connection_pool", "pool of links", line=20),
    chunk("steps.py", "hidden_step", "deep inside", line=1),
    chunk("users.py", "CaféMenu", "serve coffee", line=1),
    chunk("users.py", "トークン検証", "ユーザー認証を行う", line=10),
    chunk("users.py", "confirm", "로그인을 확인", line=20),
)


async def fill(store: Store) -> None:
    by_path = dict.fromkeys(each.path for each in CHUNKS)
    await store.write([file(path, *(each for each in CHUNKS if each.path == path)) for path in by_path])
    await store.resolve()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def names(store: Store, query: str, focus: Focus | None = None) -> list[str]:
    hits = await store.read(recall, parse_question(query), 5, 2e9, focus)
    return [hit.chunk.name for hit in hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("sessi", "save_session"),  # a word begun
        ("blueprin", "Blueprint"),
        ("save_sessi", "save_session"),  # the last piece of a name begun
        ("saveSess", "save_session"),
        ("authenti", "authenticate"),  # longer than the word's stem
        ("authenticatio", "authenticate"),
        ("check passwo", "authenticate"),  # the last of several
        ("con", "con"),  # a word that is there is itself
        ("cafe", "CaféMenu"),  # letters fold
        ("CAFÉ", "CaféMenu"),
        ("caf", "CaféMenu"),
        ("認証", "トークン検証"),  # text without spaces
        ("ユーザー認証", "トークン検証"),
        ("検", "トークン検証"),
        ("로그인", "confirm"),
    ],
)
async def test_what_is_typed_finds_what_is_meant(store: Store, query: str, first: str) -> None:
    assert (await names(store, query))[:1] == [first]


@pytest.mark.parametrize(
    "query",
    [
        "sessix",  # begins no word
        "authentxy",  # a stem, and no ending behind it
        "se",  # too short to be the beginning of one
        "sessi ",  # finished by a space
        "sessi?",  # finished by a sign
        "zzz unknownword",
    ],
)
async def test_what_begins_nothing_finds_nothing(store: Store, query: str) -> None:
    assert await names(store, query) == []


async def test_only_the_last_word_is_begun(store: Store) -> None:
    assert "SessionInterface" not in await names(store, "sessi password")


async def test_a_word_that_is_there_becomes_others_only_where_that_is_asked(store: Store) -> None:
    question = parse_question("con")
    assert (await store.read(completed, question)).completions == {}
    asked = await store.read(lambda reader: completed(reader, question, always=True))
    hits = await store.read(recall, asked, 5, 2e9)
    assert hits[0].chunk.name == "con"
    assert "connection_pool" in [hit.chunk.name for hit in hits]


async def test_a_beginning_says_which_words_it_matched(store: Store) -> None:
    hits = await store.read(recall, parse_question("blueprin"), 5, 2e9)
    assert hits[0].matched == ("blueprint",)


async def test_the_cursor_ranks_and_adds_nothing(store: Store) -> None:
    views = await store.read(chunk_reader.of_file, "auth.py")
    focus = Focus({view.id: 0.3 for view in views})
    assert await names(store, "zzz unknownword", focus) == []
    assert sorted(await names(store, "session cookie", focus)) == sorted(await names(store, "session cookie"))


async def test_what_a_last_word_may_become_is_asked_once(store: Store) -> None:
    """Who answers by several recalls hands the same question on."""

    def asked(reader: Reader) -> tuple[int, int]:
        said: list[str] = []
        cast(Any, reader._db).set_trace_callback(said.append)
        question = completed(reader, parse_question("check password"))
        once = len(said)
        completed(reader, question, always=True)
        return once, len(said)

    assert await store.read(asked) == (1, 1)


@pytest.mark.parametrize(
    ("begun", "known", "stem"),
    [
        ("formatio", {"form", "format"}, ["format"]),  # on its way to `formation` and to `formatio(n)`
        ("formatio", {"form"}, ["form"]),
        ("formatxy", {"form", "format"}, []),
        ("formed", {"for", "form"}, ["form"]),
        ("fored", {"for"}, []),  # too short to be the stem of a word
    ],
)
def test_the_longest_stem_is_meant_that_a_beginning_spells_with_part_of_an_ending(
    begun: str, known: set[str], stem: list[str]
) -> None:
    reader = cast(Reader, SimpleNamespace(words=SimpleNamespace(has=known.__contains__)))
    assert _stems(reader, begun) == stem


async def test_a_beginning_stands_for_the_most_frequent_words_and_of_those_for_the_first(store: Store) -> None:
    said = {"a.py": "zebra zeal zest", "b.py": "zebra zeal zest", "c.py": "zebra zone zest", "d.py": "zoo"}
    await store.write([file(path, chunk(path, "f", text)) for path, text in said.items()])
    assert await store.read(lambda reader: reader.words.beginning("z", 4)) == ["zebra", "zest", "zeal", "zone"]
    assert await store.read(lambda reader: reader.words.beginning("ze", 2)) == ["zebra", "zest"]


@pytest.mark.parametrize(
    ("mentions", "by_name"),
    [
        pytest.param(3, True, id="what it is called says more than what it mentions thrice"),
        pytest.param(9, False, id="but not than what it mentions nine times"),
    ],
)
async def test_of_the_words_of_a_beginning_that_stand_in_one_place_the_one_that_says_most_counts(
    store: Store, mentions: int, by_name: bool
) -> None:
    await store.write([file("a.py", chunk("a.py", "zeal", "zest " * mentions))])

    def counted(reader: Reader) -> list[int]:
        question = replace(parse_question("zee"), completions={"zee": ("zeal", "zest")})
        reader.words.parts(reader.writes)
        ((_, packed),) = entries_of(reader, question).values()
        return [int(each) for each in packed]

    (packed,) = await store.read(counted)
    assert bool(packed & LIMITS["name"]) is by_name
