"""The memory files of a folder: which of them are told, what of each, and in which order."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from aurora_memory import StoreCorrupt
from aurora_memory.store import Store
from aurora_memory.store import memory_files as found_files
from aurora_memory.store.file_identity import usable_size
from aurora_memory.store.memory_files import memory_file, memory_files
from tests.memory.runs import run


async def kept(path: Path, root: Path | None, learned: int = 0, **facts: str) -> None:
    """A memory file of the folder `root` with so many runs in it, each of which leaves a reasoning chunk used once."""
    store = await Store.open(path)
    if root is not None:
        await store.remember("root", str(root))
    for name, value in facts.items():
        await store.remember(name, value)
    for number in range(learned):
        await store.learn(run(number, query="Answer " + "one two three four".split()[number]))
    await store.close()


async def test_those_with_most_in_them_come_first_then_by_name(tmp_path: Path) -> None:
    for name, learned in (("a", 0), ("b", 1), ("c", 2), ("d", 1)):
        await kept(tmp_path / f"{name}.db", tmp_path, learned)
    found = memory_files(tmp_path)
    assert [each.path.stem for each in found] == ["c", "b", "d", "a"]
    assert [each.learned > 0 for each in found] == [True, True, True, False]


async def test_a_memory_is_told_by_what_it_says_of_itself(tmp_path: Path) -> None:
    await kept(tmp_path / "here.db", tmp_path, git_root="c0ffee", git_common="/g")
    await kept(tmp_path / "gone.db", tmp_path / "gone", 1)
    here, gone = memory_file(tmp_path / "here.db"), memory_file(tmp_path / "gone.db")
    assert here is not None and gone is not None
    assert (here.root, here.git_root, here.common, here.learned, here.left) == (tmp_path, "c0ffee", "/g", 0, False)
    assert (gone.root, gone.git_root, gone.common, gone.left) == (tmp_path / "gone", "", "", True)
    assert gone.learned == 2, "the solution, and its use"


async def test_what_is_no_memory_is_passed_over(tmp_path: Path) -> None:
    await kept(tmp_path / "memory.db", tmp_path)
    await kept(tmp_path / "rootless.db", None)
    await kept(tmp_path / "memory.db.adopted", tmp_path)
    (tmp_path / "empty.db").touch()
    (tmp_path / "text.db").write_text("no database")
    (tmp_path / "folder.db").mkdir()
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE facts (key, value)")
    assert [each.path.name for each in memory_files(tmp_path)] == ["memory.db"]
    assert memory_files(tmp_path / "nowhere") == []


async def test_a_folder_of_very_many_is_looked_through_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "cab":
        await kept(tmp_path / f"{name}.db", tmp_path)
    monkeypatch.setattr(found_files, "MAX_FILES", 2)
    assert [each.path.stem for each in memory_files(tmp_path)] == ["a", "b"]


@pytest.mark.parametrize("error", [PermissionError, OSError])
def test_a_memory_file_behind_a_link_that_may_not_be_looked_at_is_none_that_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError]
) -> None:
    (tmp_path / "real.db").touch()
    for name, target in (("link.db", "real.db"), ("loop.db", "loop.db"), ("gone.db", "nothing.db")):
        (tmp_path / name).symlink_to(tmp_path / target)
    for name, said in (("loop.db", "leads nowhere"), ("gone.db", "link to nothing")):
        with pytest.raises(StoreCorrupt, match=said):
            usable_size(tmp_path / name)
    assert usable_size(tmp_path / "link.db") == 0

    def refused(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if follow_symlinks:
            raise error
        return os.lstat(path)

    monkeypatch.setattr(Path, "stat", refused)
    assert usable_size(tmp_path / "link.db") == usable_size(tmp_path / "real.db") == -1
