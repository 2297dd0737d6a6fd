"""Word vectors in time: the first question of a day has them, and so has the first after an hour of quiet."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from aurora_indexer.workers.pool import WorkerPool
from aurora_memory.recall import kinship
from aurora_memory.store import part_vectors
from aurora_memory.store.reader import Reader
from aurora_protocol.methods import RecallParams
from aurora_server.configuration.settings import Settings
from aurora_server.workspace import recall
from aurora_server.workspace.workspace import Workspace

PARTS = 40
CHECKED = (
    "def authenticate(user):\n    # check the password of user against hash\n    return check(user.password, hash)\n"
)


def write(root: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        (root / path).write_text(text)


@pytest.fixture
async def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workspace]:
    """A memory of more parts than a question reads itself, all of whose vectors are given back in a time of quiet."""
    monkeypatch.setattr(
        part_vectors.PartVectors, "stay", lambda _, count=None: count is not None and count <= part_vectors.KEPT
    )
    monkeypatch.setattr(kinship, "AT_ONCE", PARTS // 4)
    monkeypatch.setattr(kinship, "STEP", PARTS // 8)
    monkeypatch.setattr(recall, "VECTORS_WITHIN", 60.0)
    root, home, work = (tmp_path / name for name in ("shop", "home", "work"))
    for folder in (root, home, work):
        folder.mkdir()
    texts = {"users.py": CHECKED}
    for n in range(PARTS):
        what = "page" if n < 3 else "row"
        texts[f"part{n}.py"] = f"def render{n}({what}):\n    return {what}.colour{n} + {what}.border\n"
    await asyncio.to_thread(write, root, texts)
    pool = WorkerPool(1, folder=work, environment=os.environ)
    opened = await Workspace.open(root, Settings(home=home), pool)
    await opened.index(None)
    yield opened
    await opened.close()
    await pool.aclose()


def missing(reader: Reader) -> int:
    return reader.vectors.missing(len(reader.words.parts(reader.writes).chunks))


async def names(workspace: Workspace) -> list[str]:
    answer = await workspace.recall(RecallParams(query="the login page", limit=50))
    return [each.name for each in answer.results]


async def test_who_has_files_indexed_does_not_wait_for_them(workspace: Workspace) -> None:
    async with asyncio.timeout(30):
        while await workspace._recall._read(missing):
            await asyncio.sleep(0.01)
    assert "authenticate" in await names(workspace)


async def test_the_first_question_has_them_and_the_first_after_they_were_given_back(workspace: Workspace) -> None:
    assert "authenticate" in await names(workspace), "by meaning alone: none of the question's words stands in it"
    await workspace.give_memory_back()
    assert "authenticate" in await names(workspace)


async def test_questions_wait_together_for_some_seconds_until_all_were_read_once(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    missing, now = True, 0.0

    async def waited(tasks: set[asyncio.Task[None]], *, timeout: float) -> None:
        nonlocal now
        waits.append(timeout)
        if missing:
            now += 0.75
        else:
            await really(tasks)

    really = asyncio.wait
    monkeypatch.setattr(recall, "VECTORS_WITHIN", 2.0)
    monkeypatch.setattr(recall.asyncio, "wait", waited)
    monkeypatch.setattr(recall, "read_some", lambda _: missing)
    monkeypatch.setattr(recall.time, "perf_counter", lambda: now)
    await workspace.give_memory_back()
    for _ in range(5):
        await names(workspace)
    assert waits == [2.0, 1.25, 0.5], "then who asks is answered without"
    missing = False
    await names(workspace)
    await workspace.give_memory_back()
    await names(workspace)
    await names(workspace)
    assert waits == [2.0, 1.25, 0.5, 2.0], "and once they are there, nobody waits"


async def test_those_of_a_huge_workspace_are_read_beside_questions(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_vectors, "KEPT", 5)
    await workspace.give_memory_back()
    waits: list[float] = []

    async def waited(_: set[asyncio.Task[None]], *, timeout: float) -> None:
        waits.append(timeout)

    monkeypatch.setattr(recall.asyncio, "wait", waited)
    await names(workspace)
    assert not waits
