"""What git's commits tell of chunks: which count, which come first, and how far back it goes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.store import Store, chunk_reader, commit_reader
from aurora_memory.store.commit_writer import ChangingCommit
from aurora_memory.tokens import terms
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store

NAMES = ("alpha", "beta", "gamma", "delta")


async def fill(store: Store) -> None:
    await store.write([file("a.py", *(chunk("a.py", name, name, line=10 * n + 1) for n, name in enumerate(NAMES)))])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await filled_store(tmp_path / "memory.db", fill)
    yield store
    await store.close()


async def rows(store: Store) -> dict[str, int]:
    return {each.name: each.id for each in await store.read(chunk_reader.of_file, "a.py")}


async def commit(store: Store, *commits: tuple[int, str, tuple[str, ...]], sweeping: tuple[int, ...] = ()) -> None:
    """Commits at a time, with a subject and the names that they change."""
    ids = await rows(store)
    made = [
        ChangingCommit(f"{at:040x}", at, said, said, len(names), at in sweeping, tuple(ids[name] for name in names))
        for at, said, names in commits
    ]
    await store.history.save(made, {row: name for name, row in ids.items()})


async def test_a_sweeping_commit_tells_of_a_chunk_only_where_it_wrote_it(store: Store) -> None:
    given = [(1, "first", ("alpha",)), (2, "format", ("alpha", "beta")), (3, "fix", ("alpha", "beta"))]
    await commit(store, *given, (4, "format", ("alpha",)), sweeping=(2, 4))
    ids = await rows(store)
    times = await store.read(commit_reader.commit_times, [ids["alpha"], ids["beta"], ids["gamma"]])
    assert {row: list(known.times) for row, known in times.items()} == {ids["alpha"]: [3, 1], ids["beta"]: [3, 2]}
    whole = await store.read(commit_reader.chunk_commits, list(ids.values()))
    assert {row: list(known.times) for row, known in whole.items()} == {ids["alpha"]: [3, 1], ids["beta"]: [3, 2]}
    told = {}
    for name in ("alpha", "beta"):
        told[name] = [int(each, 16) for each in await store.read(commit_reader.changing_commits, [ids[name]])]
    assert told == {"alpha": [3, 1], "beta": [3, 2]}, "latest first"
    assert {(known.last_hash, known.last_subject) for known in whole.values()} == {(f"{3:040x}"[:10], "fix")}


async def test_what_is_changed_together_was_so_twice_and_not_by_what_changes_everything(store: Store) -> None:
    given = [(n, "fix", ("alpha", "beta")) for n in (1, 2, 3)]
    given += [(n, "fix", ("alpha", "gamma")) for n in (4, 5, 6, 7)]
    given += [(8, "fix", ("alpha", "delta")), (9, "format", ("alpha", "delta"))]
    await commit(store, *given, sweeping=(9,))
    ids = await rows(store)
    found = await store.read(commit_reader.edited_with, ids["alpha"], 9)
    assert found == [(ids["gamma"], 4), (ids["beta"], 3)], "most often first, once is none"
    assert await store.read(commit_reader.edited_with, ids["alpha"], 1) == found[:1]
    assert await store.read(commit_reader.change_counts, [ids["alpha"], ids["delta"]]) == {
        ids["alpha"]: 8,
        ids["delta"]: 1,
    }


async def test_who_is_asked_what_commits_changed_hears_of_sweeping_ones_where_he_wants_to(store: Store) -> None:
    await commit(store, (1, "fix", ("alpha",)), (2, "format", ("alpha", "beta")), sweeping=(2,))
    numbers = sorted(each.id for each in await store.read(commit_reader.similar_commits, terms("fix format"), 9))
    ids = await rows(store)
    assert sorted((await store.read(commit_reader.changed_by, numbers)).values()) == [[ids["alpha"]]]
    found = await store.read(lambda reader: commit_reader.changed_by(reader, numbers, sweeping=True))
    assert sorted(map(sorted, found.values())) == [[ids["alpha"]], [ids["alpha"], ids["beta"]]]


@pytest.mark.parametrize(("commits", "times"), [(64, 64), (70, 65)])
async def test_of_the_commits_of_a_chunk_the_latest_count_and_the_one_that_wrote_it(
    store: Store, commits: int, times: int
) -> None:
    await commit(store, *((n, "fix", ("alpha",)) for n in range(1, commits + 1)))
    (known,) = (await store.read(commit_reader.commit_times, [(await rows(store))["alpha"]])).values()
    assert (len(known.times), known.times[0], known.times[-1]) == (times, commits, 1)
