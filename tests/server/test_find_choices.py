"""Choices of what one memory is asked for by a question, a rule each: which ways are gone, what is said, how much."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.lifespans.policies import BUILT_IN
from aurora_memory.recall import parse_question
from aurora_memory.store import Store
from aurora_protocol.methods import Freshness, RecallParams
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.recall import CHOICE, find, symbols
from tests.memory.chunks import chunk, file
from tests.memory.runs import NOON, run

QUERY = "rotate refresh tokens"
MANY = 60


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory that all these questions are put to; nothing is written to it any more."""
    path = tmp_path_factory.mktemp("memory") / "memory.db"

    async def written() -> None:
        store = await Store.open(path)
        await store.write(
            [
                file("src/tokens.py", chunk("src/tokens.py", "rotate_tokens", "rotate refresh tokens")),
                file("src/cli.py", chunk("src/cli.py", "main", calls=("rotate_tokens",))),
                *(file(f"src/f{n}.py", chunk(f"src/f{n}.py", f"tokens_{n}", "refresh tokens")) for n in range(MANY)),
            ]
        )
        await store.resolve()
        await store.learn(run(query=QUERY))
        await store.close()

    asyncio.run(written())
    return path


@pytest.fixture
async def store(memory: Path) -> AsyncIterator[Store]:
    store = await Store.open(memory)
    yield store
    await store.close()


async def found(store: Store, query: str, pending: int = 0, **more: Any) -> Any:
    freshness = Freshness(indexed_at=None, pending_files=pending, skipped_files=0, files=1, chunks=1, state="ready")
    return await store.read(
        find, parse_question(query), RecallParams(query=query, **more), BUILT_IN, NOON + 60.0,
        focus=None, near=(), read_text=lambda path: "", freshness=freshness, colleagues=Colleagues(Path("/w")),
    )  # fmt: skip


def kinds(findings: Any) -> set[str]:
    return {hit.chunk.kind for hit in findings.hits}


@pytest.mark.parametrize(
    ("query", "more", "patterns", "code"),
    [
        pytest.param(QUERY, {}, True, True, id="a question is answered by code and by patterns"),
        pytest.param(QUERY, {"types": ["code"]}, False, True, id="by code alone where that is asked for"),
        pytest.param(QUERY, {"types": ["reas"]}, True, False, id="or by patterns alone"),
        pytest.param(QUERY, {"level": "function"}, False, True, id="of one size there are no patterns"),
        pytest.param("code:src/tokens.py:rotate_tokens", {}, False, True, id="beside what an id names there are none"),
        pytest.param("who calls rotate_tokens", {}, False, True, id="nor beside who calls it"),
    ],
)
async def test_by_what_a_question_is_answered(
    store: Store, query: str, more: dict[str, Any], patterns: bool, code: bool
) -> None:
    told = kinds(await found(store, query, **more))
    assert ("reasoning" in told, bool(told - {"reasoning"})) == (patterns, code)


async def test_who_calls_it_is_told_only_where_code_is_asked_for(store: Store) -> None:
    assert [hit.chunk.name for hit in (await found(store, "who calls rotate_tokens")).hits] == ["main"]
    patterns = await found(store, "who calls rotate_tokens", types=["reas"])
    assert kinds(patterns) <= {"reasoning"}


async def test_what_is_strongest_comes_first_of_whatever_type(store: Store) -> None:
    strengths = [hit.strength for hit in (await found(store, QUERY, limit=100)).hits]
    assert strengths == sorted(strengths, reverse=True) and len(strengths) > 2


@pytest.mark.parametrize(
    ("more", "many"),
    [
        pytest.param({"limit": 2}, 2, id="as many as are asked for"),
        pytest.param({"limit": 2, "budget_tokens": 100}, CHOICE, id="more to choose from where they must fit a budget"),
        pytest.param({"limit": CHOICE + 1, "budget_tokens": 100}, CHOICE + 1, id="never fewer than are asked for"),
    ],
)
async def test_how_many_answers_are_looked_for(store: Store, more: dict[str, Any], many: int) -> None:
    told = await found(store, QUERY, **more)
    assert len(told.hits) == many < MANY


@pytest.mark.parametrize(
    ("query", "pending", "hint"),
    [
        pytest.param(QUERY, 2, None, id="nothing beside answers, whatever is pending"),
        pytest.param(
            "who calls rotate_tokens", 2, "Maybe 1 calls", id="how many callers there are, whatever is pending"
        ),
        pytest.param("who calls frobnicate_it", 2, "; 2 files still being indexed", id="who is not there may come"),
        pytest.param("who calls frobnicate_it", 0, "Nothing here is called", id="or is not there"),
        pytest.param("src/none.py", 0, "memory knows no file src/none.py", id="of a file that it is not there"),
        pytest.param("zzzz qqqq", 0, "No file here says 'zzzz', 'qqqq'", id="of words which ones nobody says"),
    ],
)
async def test_what_is_said_below_an_answer(store: Store, query: str, pending: int, hint: str | None) -> None:
    told = (await found(store, query, pending)).hint
    assert told is None if hint is None else hint in told
    assert "still being indexed" not in (told or "") or "still being indexed" in (hint or "")


@pytest.mark.parametrize(
    ("query", "first", "more"),
    [
        pytest.param("rotate_t", "rotate_tokens", True, id="what begins so, then what recall finds"),
        pytest.param("  ", None, False, id="for nothing typed nothing is recalled"),
    ],
)
async def test_symbols_for_what_is_typed(store: Store, query: str, first: str | None, more: bool) -> None:
    told = [hit.chunk.name for hit in await store.read(symbols, query, 5, NOON)]
    assert (told[0] if first else None) == first and len(told) == len(set(told)) <= 5
    assert (len(told) > 0) is more or not first
