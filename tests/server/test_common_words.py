"""A hint where one word's answer is as good as any other, and none where it is what was meant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.recall import parse_question
from aurora_memory.store import Store
from aurora_server.workspace.common_words import why_arbitrary
from tests.memory.chunks import chunk, file

SHOWN, KNOWN = 10, 120
"""What is shown, and how many chunks there are."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "memory.db")
    written = [chunk("a.py", f"get_item{n}", "error TODO", line=10 * n + 1) for n in range(12)]
    written += [chunk("a.py", f"other{n}", "error in a value", line=200 + 10 * n) for n in range(12)]
    written += [chunk("a.py", f"last{n}", "nothing else", line=500 + 10 * n) for n in range(96)]
    await store.write(
        [
            file("a.py", *written),
            file("http/rows.py", *(chunk("http/rows.py", f"row{n}", "http", line=9 * n + 1) for n in range(40))),
            file("b.py", chunk("b.py", "Fixme"), *(chunk("b.py", f"b{n}", "fixme", line=9 * n + 9) for n in range(20))),
            file("c.py", *(chunk("c.py", f"c{n}", "HACK", line=9 * n + 1) for n in range(SHOWN))),
        ]
    )
    yield store
    await store.close()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("get", "'get' is in 12 of 120 chunks and the name of none: one more word would tell which is meant."),
        ("error", "'error' is in 24 of 120 chunks and the name of none: one more word would tell which is meant."),
        ("TODO", "12 chunks say 'TODO', none is about it: a search of the text (git grep TODO) tells all."),
        ("todo", "12 chunks say 'todo', none is about it: a search of the text (git grep todo) tells all."),
    ],
)
async def test_a_word_that_is_everywhere_is_told_as_that(store: Store, query: str, said: str) -> None:
    assert await store.read(why_arbitrary, parse_question(query), SHOWN, KNOWN) == said


@pytest.mark.parametrize(
    "query",
    [
        pytest.param("item", id="a word that tells something"),
        pytest.param("get error", id="two words"),
        pytest.param("get_item3", id="a name"),
        pytest.param("http", id="what a folder is called"),
        pytest.param("rows", id="what a file is called"),
        pytest.param("FIXME", id="what a definition is called"),
        pytest.param("HACK", id="all that have it are shown"),
        pytest.param("a.py", id="a file"),
        pytest.param("nowhere", id="what nothing says"),
        pytest.param("", id="nothing"),
    ],
)
async def test_what_is_answered_well_has_no_hint(store: Store, query: str) -> None:
    assert await store.read(why_arbitrary, parse_question(query), SHOWN, KNOWN) is None


@pytest.mark.parametrize(
    ("shown", "said"),
    [
        (13, "Only 12 of these say 'TODO'; the others are related to what does."),
        (12, None),
        (11, "12 chunks say 'TODO', none is about it: a search of the text (git grep TODO) tells all."),
    ],
)
async def test_a_marker_is_told_apart_from_what_is_near(store: Store, shown: int, said: str | None) -> None:
    assert await store.read(why_arbitrary, parse_question("TODO"), shown, KNOWN) == said


async def test_one_marker_is_one(store: Store) -> None:
    await store.write([file("d.py", chunk("d.py", "lonely", "XXX"))])
    said = await store.read(why_arbitrary, parse_question("XXX"), 3, KNOWN)
    assert said == "Only one of these says 'XXX'; the others are related to what does."


@pytest.mark.parametrize(("word", "known", "is_said"), [("error", 121, False), ("get", 240, True), ("get", 241, False)])
async def test_from_which_share_on(store: Store, word: str, known: int, is_said: bool) -> None:
    assert (await store.read(why_arbitrary, parse_question(word), SHOWN, known) is not None) is is_said
