"""What git's commits tell of chunks: which count, which come first, and how far back it goes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.store import Store, chunk_reader, commit_reader, file_reader
from aurora_memory.store.commit_writer import ChangingCommit
from aurora_memory.tokens import terms
from tests.memory.chunks import chunk, file
from tests.memory.stores import filled_store, new_store

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
    for known in (times, whole):
        latest = {row: each.latest for row, each in known.items()}
        assert latest == {ids["alpha"]: 4, ids["beta"]: 3}, "what it changed it did"
    told = {}
    for name in ("alpha", "beta"):
        told[name] = [int(each, 16) for each in await store.read(commit_reader.changing_commits, [ids[name]])]
    assert told == {"alpha": [3, 1], "beta": [3, 2]}, "latest first"
    assert {(known.last_hash, known.last_subject) for known in whole.values()} == {(f"{3:040x}"[:10], "fix")}


async def test_the_time_of_a_file_that_history_knows_is_no_date_of_what_is_in_it(store: Store) -> None:
    """A clone writes each file anew; that git tells nothing of a function there does not make it new."""
    await store.write([file("b.py", chunk("b.py", "other"))])
    assert (await store.read(file_reader.mtimes, ["a.py", "b.py"])).keys() == {"a.py", "b.py"}
    await commit(store, (1, "first", ("alpha",)))
    assert (await store.read(file_reader.mtimes, ["a.py", "b.py"])).keys() == {"b.py"}


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


async def test_of_a_chunk_that_many_commits_changed_all_of_them_speak_for_what_changed_with_it(store: Store) -> None:
    """As many as speak against it: beta never changed without alpha."""
    given = [(n, "fix", ("alpha", "beta")) for n in range(600)]
    await commit(store, *given, *((n, "fix", ("gamma",)) for n in range(600, 700)))
    ids = await rows(store)
    assert await store.read(commit_reader.edited_with, ids["alpha"], 9) == [(ids["beta"], 600)]
    assert await store.read(commit_reader.edited_with, ids["beta"], 9) == [(ids["alpha"], 600)]
    assert await store.read(commit_reader.change_counts, [ids["alpha"]]) == {ids["alpha"]: 600}


async def test_of_what_changed_equally_often_with_a_chunk_the_nearest_comes_first_then_what_changes_oftener(
    tmp_path: Path,
) -> None:
    store = await new_store(tmp_path / "memory.db")
    paths = {"alpha": "x/a.py", "same": "x/a.py", "folder": "x/b.py", "far": "b.py", "busy": "y/c.py", "most": "y/d.py"}
    written = {
        path: [chunk(path, name, name, line=10 * n + 1) for n, (name, at) in enumerate(paths.items()) if at == path]
        for path in paths.values()
    }
    await store.write([file(path, *chunks) for path, chunks in written.items()])
    ids = {name: (await store.read(chunk_reader.by_name, path, name))[0].id for name, path in paths.items()}
    names = [list(paths)] * 2 + [["alpha", "most"]] + [["busy"]] * 2
    made = [
        ChangingCommit(f"{n:040x}", n, "fix", "fix", 2, False, tuple(ids[each] for each in some))
        for n, some in enumerate(names)
    ]
    await store.history.save(made, {row: name for name, row in ids.items()})
    found = await store.read(commit_reader.edited_with, ids["alpha"], 9)
    await store.close()
    assert found == [(ids["most"], 3), *((ids[name], 2) for name in ("same", "folder", "busy", "far"))]


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
