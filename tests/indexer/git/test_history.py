"""Git's history in memory, function by function: real repositories, a real store, passes one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from aurora_indexer.git import commit_chain, history
from aurora_indexer.git.commit_chain import branches
from aurora_indexer.git.function_history import SWEEPING_FILES, WalkedCommit
from aurora_indexer.git.history import Bounds, learn_history
from aurora_indexer.workers.messages import Parsed, WorkItem
from aurora_indexer.workers.process_file import parse_source, process_file
from aurora_memory.store import FileStat, IndexedFile, Store, chunk_reader, commit_reader, file_reader
from aurora_memory.store.commit_writer import ChangingCommit
from aurora_memory.tokens import terms
from aurora_memory.views import Commits
from tests.indexer.repository import commit, new_repository, run
from tests.memory.stores import new_store

A = "def alpha():\n    return 'first of the alphabet'\n"
B = "def beta():\n    return 'second of the alphabet'\n"
GAP = "\n\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repository")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await new_store(tmp_path / "memory.db")
    yield store
    await store.close()


async def index(store: Store, root: Path, *paths: str) -> None:
    """Bring these files into memory as they are now; those that are gone leave it."""
    files: list[IndexedFile] = []
    removed: list[str] = []
    for path in paths:
        reply = process_file(str(root), WorkItem(path), 1 << 20, parse_source)
        if isinstance(reply, Parsed):
            files.append(IndexedFile(FileStat(reply.stat.size, reply.stat.mtime_ns), reply.file))
        else:
            removed.append(path)
    await store.write(files, removed)


async def commits_of(store: Store, path: str, name: str) -> Commits | None:
    (chunk,) = await store.read(chunk_reader.by_name, path, name)
    return (await store.read(commit_reader.chunk_commits, [chunk.id])).get(chunk.id)


async def learnt(store: Store, root: Path, *paths: str) -> None:
    await index(store, root, *paths)
    await learn_history(root, store)


async def times(store: Store, path: str, name: str) -> Sequence[int]:
    found = await commits_of(store, path, name)
    return found.times if found else ()


async def test_each_function_has_its_own_commits(repository: Path, store: Store) -> None:
    commit(repository, "both", {"m.py": A + GAP + B}, at=1000)
    last = commit(repository, "only beta", {"m.py": A + GAP + B.replace("second", "2nd")}, at=2000)
    await learnt(store, repository, "m.py")
    beta = await commits_of(store, "m.py", "beta")
    assert beta == Commits([2000, 1000], last[:10], "only beta", latest=2000)
    assert await times(store, "m.py", "alpha") == [1000]


async def test_new_commits_are_added_and_old_ones_stay(repository: Path, store: Store) -> None:
    commit(repository, "one", {"m.py": A}, at=1000)
    await learnt(store, repository, "m.py")
    commit(repository, "two", {"m.py": "import os\n" + GAP + A.replace("first", "1st") + GAP + B}, at=2000)
    await learnt(store, repository, "m.py")
    assert await times(store, "m.py", "alpha") == [2000, 1000]
    assert await times(store, "m.py", "beta") == [2000]


async def test_edits_not_committed_do_not_shift_history(repository: Path, store: Store) -> None:
    commit(repository, "alpha", {"m.py": A}, at=1000)
    commit(repository, "beta", {"m.py": A + GAP + B}, at=2000)
    new = "def gamma():\n    return 3\n"
    (repository / "m.py").write_text(new + GAP + A + GAP + B.replace("return", "return 'new' +"))
    (repository / "untracked.py").write_text(A)
    await learnt(store, repository, "m.py", "untracked.py")
    assert await times(store, "m.py", "alpha") == [1000]
    assert await times(store, "m.py", "beta") == [2000]
    assert await commits_of(store, "m.py", "gamma") is None
    assert await commits_of(store, "untracked.py", "alpha") is None


async def test_a_root_below_the_repository(repository: Path, store: Store) -> None:
    commit(repository, "one", {"lib/m.py": A, "m.py": B}, at=1000)
    commit(repository, "two", {"lib/m.py": A.replace("first", "1st"), "m.py": A}, at=2000)
    await learnt(store, repository / "lib", "m.py")
    assert await times(store, "m.py", "alpha") == [2000, 1000]


async def test_a_moved_file_keeps_its_history(repository: Path, store: Store) -> None:
    commit(repository, "one", {"m.py": A + GAP + B}, at=1000)
    await learnt(store, repository, "m.py")
    run(repository, "mv", "m.py", "n.py")
    commit(repository, "moved", {}, at=2000)
    await learnt(store, repository, "m.py", "n.py")
    assert await times(store, "n.py", "alpha") == [1000]


async def test_a_chunk_new_in_memory_finds_its_past(repository: Path, store: Store) -> None:
    commit(repository, "one", {"m.py": A, "late.py": B}, at=1000)
    await learnt(store, repository, "m.py")
    commit(repository, "two", {"m.py": A.replace("first", "1st")}, at=2000)
    await learnt(store, repository, "m.py", "late.py")
    assert await times(store, "late.py", "beta") == [1000]
    assert await times(store, "m.py", "alpha") == [2000, 1000]


async def test_a_merge_is_found_by_what_its_branch_says(repository: Path, store: Store) -> None:
    commit(repository, "one", {"m.py": A}, at=1000)
    run(repository, "checkout", "-q", "-b", "side")
    commit(repository, "Teach alpha about unicorns", {"m.py": A.replace("first", "1st")}, at=1500)
    run(repository, "checkout", "-q", "main")
    commit(repository, "meanwhile", {"b.py": B}, at=1600)
    run(repository, "merge", "-q", "--no-ff", "-m", "Merge branch 'side'", "side", at=2000)
    assert await store.read(commit_reader.similar_commits, terms("unicorn"), 5) == [], "nothing is known yet"
    await learnt(store, repository, "m.py", "b.py")
    found = await store.read(commit_reader.similar_commits, terms("unicorn"), 5)
    assert len(found) == 1
    (alpha,) = await store.read(chunk_reader.by_name, "m.py", "alpha")
    assert alpha.id in (await store.read(commit_reader.changed_by, [found[0].id]))[found[0].id]
    told = await commits_of(store, "m.py", "alpha")
    assert told is not None
    assert (told.times, told.last_subject) == ([2000, 1000], "Teach alpha about unicorns")


@pytest.mark.parametrize(
    ("subject", "body", "subjects", "title"),
    [
        pytest.param("Merge branch 'side'", "", ["second", "first"], "second", id="the latest commit of its branch"),
        pytest.param("Merge pull request #7", "\nTeach alpha", ["first"], "Teach alpha", id="what its author says"),
        pytest.param(
            "Merge branch 'a'", "Acked-by: Ann <a@b.c>", ["first"], "first", id="who looked at it says nothing"
        ),
        *(
            pytest.param("Merge branch 'a'", f"{trailer}: Ann <a@b.c>\nSaid", ["first"], "Said", id=trailer)
            for trailer in ("Signed-off-by", "Co-authored-by", "Reviewed-by", "ACKED-BY", "Tested-by", "Change-Id")
        ),
        pytest.param(
            "Merge branch 'side'", "", [" ", ""], "Merge branch 'side'", id="itself where nothing else is said"
        ),
        pytest.param(
            "Bring in the side", "Teach alpha", ["first"], "Bring in the side", id="one that says what it does"
        ),
    ],
)
def test_what_a_merge_is_called(subject: str, body: str, subjects: list[str], title: str) -> None:
    merge = WalkedCommit("m", 1, ("a", "b"), subject, body, 1, False, ())
    said, message = commit_chain.told(merge, subjects)
    assert said == title
    assert [each for each in subjects if each.strip() and each not in message] == []
    alone = WalkedCommit("m", 1, ("a",), subject, body, 1, False, ())
    assert commit_chain.told(alone, [])[0] == subject, "only of a merge somebody else speaks"


def test_side_commits_go_to_the_oldest_merge() -> None:
    graph = {
        "m2": (["m1", "s3"], "merge 2"),
        "m1": (["a", "s2"], "merge 1"),
        "a": (["root"], "a"),
        "s3": (["s2"], "third"),
        "s2": (["s1"], "second"),
        "s1": (["root"], "first"),
    }
    assert branches(["m2", "m1"], graph) == {"m1": ["second", "first"], "m2": ["third"]}


async def test_a_shallow_clone_does_not_take_its_end_for_a_change(
    repository: Path, store: Store, tmp_path: Path
) -> None:
    commit(repository, "one", {"m.py": A}, at=1000)
    commit(repository, "two", {"m.py": A + GAP + B}, at=2000)
    commit(repository, "three", {"m.py": A + GAP + B.replace("second", "2nd")}, at=3000)
    run(tmp_path, "clone", "-q", "--depth=2", f"file://{repository}", "clone")
    await learnt(store, tmp_path / "clone", "m.py")
    assert await commits_of(store, "m.py", "alpha") == Commits(
        [2000], "", "", changed=False
    )  # there by then, that is all
    assert await times(store, "m.py", "beta") == [3000]


async def test_bounds_leave_older_functions_with_a_latest_date(repository: Path, store: Store) -> None:
    for number in range(5):
        commit(repository, f"c{number}", {"m.py": A + GAP + B.replace("second", str(number))}, at=1000 + number)
    await index(store, repository, "m.py")
    await learn_history(repository, store, Bounds(commits=2))
    assert await times(store, "m.py", "beta") == [1004, 1003]
    assert await commits_of(store, "m.py", "alpha") == Commits([1002], "", "", changed=False)
    commit(repository, "c5", {"m.py": A.replace("first", "1st") + GAP + B.replace("second", "4")}, at=1005)
    await learnt(store, repository, "m.py")
    assert await times(store, "m.py", "alpha") == [1005]


async def test_a_rewritten_history_replaces_what_is_no_longer_true(repository: Path, store: Store) -> None:
    commit(repository, "one", {"m.py": A}, at=1000)
    commit(repository, "mistake", {"m.py": A.replace("first", "wrong")}, at=2000)
    await learnt(store, repository, "m.py")
    run(repository, "reset", "-q", "--hard", "HEAD~1")
    commit(repository, "better", {"m.py": A.replace("first", "right")}, at=2500)
    await learnt(store, repository, "m.py")
    assert await times(store, "m.py", "alpha") == [2500, 1000]
    assert await store.read(commit_reader.similar_commits, terms("mistake"), 5) == []
    run(repository, "reset", "-q", "--hard", "HEAD~1")
    await learnt(store, repository, "m.py")
    assert await times(store, "m.py", "alpha") == [1000]


async def test_a_pass_ended_in_the_middle_goes_on(
    repository: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        commit(repository, f"c{number}", {"m.py": A.replace("first", str(number)), "o.py": B}, at=1000 + number)
    await index(store, repository, "m.py", "o.py")
    monkeypatch.setattr(history, "SAVED_AT_ONCE", 1)
    saved = store.history.save

    async def killed(commits: object, names: object) -> None:
        monkeypatch.setattr(store.history, "save", saved)
        await saved(list(commits)[:1], names)  # type: ignore[call-overload,arg-type]
        raise asyncio.CancelledError

    monkeypatch.setattr(store.history, "save", killed)
    with pytest.raises(asyncio.CancelledError):
        await learn_history(repository, store)
    assert await times(store, "m.py", "alpha") == [1005]
    assert await store.read(file_reader.fact, "git_head") is None
    await learn_history(repository, store)
    assert await times(store, "m.py", "alpha") == [1005, 1004, 1003, 1002, 1001, 1000]
    assert await times(store, "o.py", "beta") == [1000]


async def test_without_repository_commits_or_git(
    repository: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    await learn_history(tmp_path / "plain", store)
    await learn_history(repository, store)
    commit(repository, "one", {"m.py": A})
    await index(store, repository, "m.py")
    monkeypatch.setattr(history.commands, "_COMMAND", (str(tmp_path / "no-git"),))
    await learn_history(repository, store)
    assert await commits_of(store, "m.py", "alpha") is None
    assert not await store.read(file_reader.fact, history.BROKEN), "nobody was asked"
    (repository / ".git" / "HEAD").write_text("garbage")
    await learn_history(repository, store)
    assert await store.read(file_reader.fact, "git_head") is None


async def test_a_git_that_does_not_answer_says_of_no_commit_that_it_is_broken(
    repository: Path, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, "one", {"m.py": A})
    await index(store, repository, "m.py")
    killed = tmp_path / "git"
    killed.write_text("#!/bin/sh\nkill -9 $$\n")
    killed.chmod(0o755)
    with monkeypatch.context() as patched:
        patched.setattr(history.commands, "_COMMAND", (str(killed),))
        assert await learn_history(repository, store) == "git log was killed; try again"
    assert not await store.read(file_reader.fact, history.BROKEN)
    assert await store.read(file_reader.fact, "git_head") is None
    assert await learn_history(repository, store) is None
    assert await commits_of(store, "m.py", "alpha") is not None, "it is asked again"


async def test_sweeping_commits_prove_little_and_what_is_edited_together(repository: Path, store: Store) -> None:
    commit(repository, "one", {"m.py": A, "n.py": B}, at=1000)
    for number in range(2):
        commit(repository, f"pair {number}", {"m.py": A + "#" * number, "n.py": B + f"    # {number}\n"}, at=2000)
    texts = {f"f{n}.py": "x = 1\n" for n in range(101)}
    commit(repository, "reformat", {"m.py": A.replace("'", '"'), "n.py": B.replace("'", '"'), **texts}, at=3000)
    await learnt(store, repository, "m.py", "n.py")
    assert 3000 not in await times(store, "m.py", "alpha")
    (alpha,) = await store.read(chunk_reader.by_name, "m.py", "alpha")
    (beta,) = await store.read(chunk_reader.by_name, "n.py", "beta")
    (reformat,) = await store.read(commit_reader.similar_commits, terms("reformatting"), 5)
    assert await store.read(commit_reader.changed_by, [reformat.id]) == {}
    assert alpha.id in (await store.read(commit_reader.changed_by, [reformat.id], sweeping=True))[reformat.id]
    assert dict(await store.read(commit_reader.edited_with, alpha.id, 9, least=1)).get(beta.id) in (1, 2)
    assert await store.read(commit_reader.edited_with, alpha.id, 9, least=5) == []


async def test_deleted_chunks_lose_their_rows(repository: Path, store: Store) -> None:
    commit(repository, "one", {"m.py": A, "n.py": B})
    await learnt(store, repository, "m.py", "n.py")
    (beta,) = await store.read(chunk_reader.by_name, "n.py", "beta")
    (repository / "n.py").unlink()
    await index(store, repository, "n.py")
    assert await store.read(commit_reader.chunk_commits, [beta.id]) == {}


def lose_object(root: Path, name: str) -> None:
    """Delete a loose object, as a broken disk does."""
    found = run(root, "rev-parse", name)
    file = root / ".git" / "objects" / found[:2] / found[2:]
    file.chmod(0o600)
    file.unlink()


@pytest.mark.parametrize("what", ["blob", "tree"])
async def test_a_missing_object_does_not_hide_the_history_behind_it(repository: Path, store: Store, what: str) -> None:
    commit(repository, "one", {"a.py": A, "b.py": B}, at=1000)
    commit(repository, "two", {"a.py": A.replace("first", "1st")}, at=2000)
    broken = commit(repository, "three", {"b.py": B.replace("second", "2nd")}, at=3000)
    commit(repository, "four", {"b.py": B.replace("second", "no. 2")}, at=4000)
    commit(repository, "five", {"b.py": B.replace("second", "no. two")}, at=5000)
    lose_object(repository, f"{broken}:b.py" if what == "blob" else f"{broken}^{{tree}}")
    told: list[float] = []
    await index(store, repository, "a.py", "b.py")
    await learn_history(repository, store, tell=told.append)
    assert await times(store, "a.py", "alpha") == [2000, 1000]
    assert (await times(store, "b.py", "beta"))[0] == 5000
    assert broken in (await store.read(file_reader.fact, history.BROKEN) or "").split()
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)


async def test_a_missing_commit_ends_history_and_is_told(repository: Path, store: Store) -> None:
    gone = commit(repository, "one", {"a.py": A}, at=1000)
    commit(repository, "two", {"a.py": A.replace("first", "1st"), "b.py": B}, at=2000)
    commit(repository, "three", {"b.py": B.replace("second", "2nd")}, at=3000)
    lose_object(repository, gone)
    await learnt(store, repository, "a.py", "b.py")
    assert (await times(store, "b.py", "beta"))[0] == 3000
    assert await store.read(file_reader.fact, history.BROKEN)


async def test_a_whole_history_is_not_called_broken(repository: Path, store: Store) -> None:
    commit(repository, "one", {"a.py": A}, at=1000)
    commit(repository, "two", {"a.py": A.replace("first", "1st")}, at=2000)
    await learnt(store, repository, "a.py")
    assert not await store.read(file_reader.fact, history.BROKEN)


async def test_what_a_checkout_wrote_was_not_changed_just_now(repository: Path, store: Store) -> None:
    commit(repository, "one", {"a.py": A, "b.py": B}, at=1000)
    await index(store, repository, "a.py", "b.py")  # as a watcher sees the files of a clone arrive: one by one
    await index(store, repository, "a.py")
    edited = B.replace("second", "2nd")
    (repository / "b.py").write_text(edited)
    await index(store, repository, "b.py")
    await learn_history(repository, store)
    (alpha,) = await store.read(chunk_reader.by_name, "a.py", "alpha")
    (beta,) = await store.read(chunk_reader.by_name, "b.py", "beta")
    assert alpha.changed_at is None, "it is as it was committed, long ago"
    assert beta.changed_at is not None, "it is being worked on"


async def test_a_file_that_was_gone_for_a_while_has_its_past_again(repository: Path, store: Store) -> None:
    commit(repository, "one", {"a.py": A, "b.py": B}, at=1000)
    await index(store, repository, "b.py")
    await learnt(store, repository, "a.py")
    (repository / "a.py").unlink()
    await index(store, repository, "a.py")
    (repository / "a.py").write_text(A)
    await index(store, repository, "a.py")
    await learn_history(repository, store)
    (alpha,) = await store.read(chunk_reader.by_name, "a.py", "alpha")
    assert alpha.changed_at is None
    assert await times(store, "a.py", "alpha") == [1000]


@pytest.mark.parametrize("log_of_files", [True, False])
async def test_a_chunk_that_memory_has_anew_is_followed_through_renames(
    repository: Path, store: Store, monkeypatch: pytest.MonkeyPatch, log_of_files: bool
) -> None:
    monkeypatch.setattr(history, "FEW_FILES", 100 if log_of_files else 0)
    commit(repository, "one", {"a.py": A, "other.py": B}, at=1000)
    commit(repository, "two", {"a.py": A + GAP + B}, at=2000)
    for at, (old, new) in enumerate([("a.py", "b.py"), ("b.py", "c.py")]):
        commit(repository, "beside", {"other.py": B + "\n" * (at + 1)}, at=2500 + at)
        run(repository, "mv", old, new)
        run(repository, "commit", "-qm", f"to {new}", at=3000 + at)
    await learnt(store, repository)
    await index(store, repository, "c.py")
    commit(repository, "beside", {"d.py": B}, at=4000)
    await learnt(store, repository)
    assert await times(store, "c.py", "alpha") == [1000]
    assert await times(store, "c.py", "beta") == [2000]


async def test_a_log_of_some_files_tells_how_much_each_commit_changed(repository: Path, store: Store) -> None:
    commit(repository, "one", {"a.py": A}, at=1000)
    everything = {f"f{n}.txt": "text\n" for n in range(SWEEPING_FILES)}
    sweeping = commit(repository, "everything", {"a.py": A.replace("first", "1st"), **everything}, at=2000)
    await learnt(store, repository)
    await index(store, repository, "a.py")
    commit(repository, "beside", {"d.py": B}, at=3000)
    await learnt(store, repository)
    told = await store.read(lambda reader: reader.rows("SELECT hash, files FROM git_commits WHERE sweeping", ()))
    assert told == [(sweeping, SWEEPING_FILES + 1)]


async def test_a_rename_in_a_commit_that_cannot_be_read_ends_what_is_known(repository: Path, store: Store) -> None:
    commit(repository, "one", {"a.py": A}, at=1000)
    run(repository, "mv", "a.py", "b.py")
    commit(repository, "rename", {"b.py": A.replace("first", "1st"), "x.py": B}, at=2000)
    broken = run(repository, "rev-parse", "HEAD:x.py")
    commit(repository, "beside", {"x.py": B.replace("second", "2nd")}, at=3000)
    await learnt(store, repository)
    (repository / ".git" / "objects" / broken[:2] / broken[2:]).unlink()
    await index(store, repository, "b.py")
    commit(repository, "more", {"d.py": A}, at=4000)
    await learnt(store, repository)
    found = await commits_of(store, "b.py", "alpha")
    assert found is None or not found.changed, "it may have come by a rename"


async def test_a_history_of_other_rules_is_read_anew(
    repository: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "WALKING", "of another version")
    commit(repository, "one", {"a.py": A}, at=1000)
    wrong = commit(repository, "two", {"b.py": B}, at=2000)
    await learnt(store, repository, "a.py", "b.py")
    (alpha,) = await store.read(chunk_reader.by_name, "a.py", "alpha")
    lie = ChangingCommit(wrong, 2000, "two", "", 1, False, (alpha.id,))
    await store.history.save([lie], {alpha.id: "alpha"})
    await learn_history(repository, store)
    assert await times(store, "a.py", "alpha") == [2000, 1000]
    monkeypatch.undo()
    with monkeypatch.context() as broken:
        broken.setattr(history, "own_spans", failing)
        assert await learn_history(repository, store) == "the disk is gone"
    assert await learn_history(repository, store) is None
    assert await times(store, "a.py", "alpha") == [1000]


def failing(*_: object) -> NoReturn:
    raise OSError("the disk is gone")


async def test_an_edit_that_was_undone_is_none_though_its_commit_is_dated_in_the_future(
    repository: Path, store: Store
) -> None:
    commit(repository, "one", {"a.py": A}, at=4_000_000_000)
    await learnt(store, repository, "a.py")
    for text in (A.replace("first", "1st"), A):
        (repository / "a.py").write_text(text)
        await learnt(store, repository, "a.py")
    (alpha,) = await store.read(chunk_reader.by_name, "a.py", "alpha")
    assert alpha.changed_at is None


async def test_what_is_as_committed_is_looked_for_in_files_that_were_edited_only(
    repository: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[set[bytes]] = []
    real = history.edits

    async def edits(root: Path, files: Mapping[bytes, bytes], indexed: Mapping[str, bytes]) -> object:
        asked.append(set(files))
        return await real(root, files, indexed)

    monkeypatch.setattr(history, "edits", edits)
    commit(repository, "one", {"a.py": A, "b.py": B}, at=1000)
    await learnt(store, repository, "a.py", "b.py")
    await learn_history(repository, store)
    (repository / "a.py").write_text(A.replace("first", "1st"))
    await index(store, repository, "a.py")
    told: list[float] = []
    await learn_history(repository, store, tell=told.append)
    assert asked == [{b"a.py", b"b.py"}, {b"a.py"}]
    assert told == [], "no history is read for that"
