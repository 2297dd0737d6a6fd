"""Git's log in pieces: what of a commit is kept, and what of it is only counted."""

from __future__ import annotations

import pytest

from aurora_indexer.git import log_parser
from aurora_indexer.git.line_moves import Hunk
from aurora_indexer.git.log_parser import FileChange, GitLogParser, LoggedCommit


def commit(diff: str, name: str = "c1", parents: str = "p1", at: str = "1700000000", body: str = "") -> bytes:
    return f"\0{name}\0{at}\0{parents}\0Subject\0{body}\0\n\n{diff}".encode()


def read(log: bytes, *wanted: bytes, piece: int = 1 << 20) -> list[LoggedCommit]:
    """The commits of a log, fed in pieces."""
    found: list[LoggedCommit] = []
    parser = GitLogParser(wanted, found.append)
    for start in range(0, len(log), piece):
        parser.feed(log[start : start + piece])
    parser.finish()
    return found


def diff(path: str, *hunks: str, old: str = "") -> str:
    return f"diff --git a/{old or path} b/{path}\n--- a/{old or path}\n+++ b/{path}\n{''.join(hunks)}"


HUNK = "@@ -1 +1,2 @@\n-a\n+b\n+c\n"
MOVED = "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"


@pytest.mark.parametrize("piece", [1, 7, 1 << 20])
def test_wanted_files_keep_their_hunks_and_others_are_counted(piece: int) -> None:
    (one,) = read(commit(diff("a.py", HUNK) + diff("b.py", HUNK)), b"a.py", piece=piece)
    assert (one.files, one.lines, one.at, one.parents) == (2, 6, 1_700_000_000, ["p1"])
    assert one.changes == [FileChange(b"a.py", b"a.py", [Hunk(1, 1, 2)])]


@pytest.mark.parametrize(
    ("text", "wanted", "change"),
    [
        pytest.param(MOVED, b"new.py", FileChange(b"new.py", b"old.py"), id="a file that moved is where it went"),
        pytest.param(MOVED, b"old.py", None, id="and not where it was"),
        pytest.param(
            "diff --git a/a b/a\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n", b"a",
            FileChange(b"a", None, [Hunk(0, 1, 1)]), id="a file that came was nowhere",
        ),
        pytest.param(
            'diff --git "a/\\303\\251" "b/\\303\\251"\n--- "a/\\303\\251"\n+++ "b/\\303\\251"\n', "é".encode(),
            FileChange("é".encode(), "é".encode()), id="names are read as git quotes them",
        ),
        pytest.param(
            "diff --git a/x y b/x y\n--- a/x y\t\n+++ b/x y\t\n", b"x y", FileChange(b"x y", b"x y"), id="with spaces"
        ),
    ],
)  # fmt: skip
def test_what_a_file_was_called(text: str, wanted: bytes, change: FileChange | None) -> None:
    (one,) = read(commit(text), wanted)
    assert one.changes == ([] if change is None else [change]) and one.files == 1


def test_nothing_in_a_file_is_taken_for_the_log() -> None:
    inside = "@@ -0,0 +1,3 @@\n+diff --git a/z b/z\n++++ b/z\n+@@ -1 +1 @@\n\\ No newline at end of file\n"
    (one,) = read(commit(diff("a.py", inside) + diff("b.py", HUNK)), b"a.py", b"b.py", b"z")
    assert [each.path for each in one.changes] == [b"a.py", b"b.py"] and one.files == 2


def test_of_one_file_so_many_hunks_are_kept_and_all_lines_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert log_parser.MAX_HUNKS == 20_000
    monkeypatch.setattr(log_parser, "MAX_HUNKS", 2)
    (one,) = read(commit(diff("a.py", HUNK, HUNK, HUNK) + diff("b.py", HUNK)), b"a.py", b"b.py")
    assert [len(each.hunks) for each in one.changes] == [2, 1] and one.lines == 12


@pytest.mark.parametrize("piece", [100, 1 << 20])
def test_a_long_message_is_cut_and_the_commit_kept(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_parser, "MAX_HEADER", 1000)
    found = read(commit(diff("a.py", HUNK), body="x" * 5000) + commit("", "c2"), b"a.py", piece=piece)
    assert [each.hash for each in found] == ["c1", "c2"] and found[0].lines == 3
    assert len(found[0].body) == 5000 if piece > 5000 else len(found[0].body) < 1000


@pytest.mark.parametrize("at", ["", "-5", "soon", "9" * 15])
def test_a_time_that_is_none_is_the_beginning(at: str) -> None:
    (one,) = read(commit("", at=at))
    assert one.at == 0


def test_a_log_that_ends_within_a_commit_does_not_tell_of_it() -> None:
    whole = commit(diff("a.py", HUNK)) + commit(diff("a.py", HUNK), "c2")
    assert [each.hash for each in read(whole[:-2], b"a.py")] == ["c1"], "its last hunk is cut off"
    assert [each.hash for each in read(whole[: whole.rindex(b"Subject")], b"a.py")] == ["c1"]
