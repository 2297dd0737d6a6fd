"""The maintenance pass over a real file: what is archived, flagged, fades in recall, and comes back."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from aurora_memory import UnknownChunk
from aurora_memory.documents import PatternSubgoal
from aurora_memory.lifespans.policies import BUILT_IN
from aurora_memory.recall import parse_question
from aurora_memory.recall.patterns import recall_reasoning
from aurora_memory.store import Store, file_reader, lifespans
from aurora_memory.store.lifespans import ChunkStatus
from tests.memory.chunks import chunk, file
from tests.memory.runs import DAY, NOON, retrieved, run
from tests.memory.stores import new_store

NAME = "reas:oauth2-authentication-api-implementation"
QUERY = "oauth2 authentication"
OTHER = (PatternSubgoal(id="SG1", description="Draw the login form", agent="coder"),)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """Some code, and what a run learned that went only partly well."""
    store = await new_store(tmp_path / "memory.db")
    await store.write([file("a.py", *(chunk("a.py", f"f{n}", f"body {n}", line=n * 10) for n in (1, 2)))])
    await store.learn(run(1, score=0.6, at=NOON, retrieved=retrieved(1, helpful=True)))
    yield store
    await store.close()


async def names(store: Store, now: float) -> list[str]:
    return [f"reas:{hit.chunk.name}" for hit in await store.read(recall_reasoning, parse_question(QUERY), 5, now)]


async def test_what_is_past_its_lifespan_is_archived_and_comes_back(store: Store) -> None:
    early = await store.review_lifespans(BUILT_IN, NOON + 300 * DAY)
    assert (early.chunks, early.archived) == (2, 0)
    assert await names(store, NOON + 300 * DAY) == [NAME]
    late = NOON + 400 * DAY
    assert (await store.review_lifespans(BUILT_IN, late)).archived == 1
    assert await names(store, late) == []
    assert await store.read(lifespans.in_archive) == [ChunkStatus(NAME, "archived", late)]
    assert await store.read(file_reader.fact, "reviewed_at") == str(late)
    assert (await store.review_lifespans(BUILT_IN, late)).archived == 0
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("SELECT count(*) FROM documents").fetchone() == (1,)
        assert db.execute("SELECT count(*) FROM chunks WHERE archived_at IS NOT NULL").fetchone() == (1,)

    assert await store.restore(NAME, late)
    assert await names(store, late) == [NAME] and await store.read(lifespans.in_archive) == []
    assert (await store.review_lifespans(BUILT_IN, late + DAY)).archived == 0
    assert not await store.restore(NAME, late)
    with pytest.raises(UnknownChunk, match="reas:nothing"):
        await store.restore("reas:nothing", late)


async def test_what_is_learned_again_leaves_the_archive(store: Store) -> None:
    late = NOON + 400 * DAY
    await store.review_lifespans(BUILT_IN, late)
    await store.learn(run(2, score=0.5, at=late))
    assert await names(store, late) == [NAME]


async def test_code_that_is_used_often_is_flagged_and_never_archived(store: Store) -> None:
    for at in range(12):
        await store.record_accesses([1], "success", NOON + at)
    done = await store.review_lifespans(BUILT_IN, NOON + 5000 * DAY)
    assert done.flagged == 1
    assert [each.shown for each in await store.read(lifespans.in_archive)] == [NAME]
    (flagged,) = await store.read(lifespans.escalated)
    assert (flagged.shown, flagged.what) == ("code:a.py:f1:10-14", "candidate_for_fine_tuning")


async def test_policies_that_are_switched_off_archive_nothing(store: Store) -> None:
    off = msgspec.structs.replace(BUILT_IN, enabled=False)
    done = await store.review_lifespans(off, NOON + 4000 * DAY)
    assert (done.archived, done.flagged, done.decaying) == (0, 0, 0)


async def test_what_fades_ranks_behind_its_like(store: Store) -> None:
    later = NOON + 200 * DAY
    (before,) = await store.read(
        recall_reasoning, parse_question(QUERY), 5, later, msgspec.structs.replace(BUILT_IN, enabled=False)
    )
    with closing(sqlite3.connect(store.path)) as db:  # without its security tags the rule of 90 idle days holds
        (json,) = db.execute("SELECT json FROM documents").fetchone()
        db.execute("UPDATE documents SET json = ?", (json.replace('"security"', '"general"'),))
        db.commit()
    (after,) = await store.read(recall_reasoning, parse_question(QUERY), 5, later)
    assert after.activation.decay > before.activation.decay + 1.0
    assert after.strength < before.strength - 0.3
    assert after.activation.base_level == before.activation.base_level
