"""Functions followed backwards through git's log: held against `git log -L` on histories made at random."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_indexer.git.function_history import SWEEPING_FILES, FunctionWalk
from aurora_indexer.git.line_diff import hunks_between
from aurora_indexer.git.line_moves import Hunk, LineMap, LineSpan, own_spans
from aurora_indexer.git.log_parser import ARGUMENTS, MAX_HEADER, MAX_LINE, GitLogParser, LoggedCommit
from tests.indexer.repository import commit, commits, new_repository, run


def log_of(root: Path) -> bytes:
    command = ["git", "-c", "core.quotePath=false", *ARGUMENTS, "HEAD"]
    return subprocess.run(command, cwd=root, capture_output=True, check=True).stdout


def walked(
    root: Path, files: dict[bytes, list[LineSpan]], step: int = 1 << 16, log: bytes | None = None
) -> dict[int, list[str]]:
    """The subjects of the commits that changed each chunk, newest first."""
    log = log_of(root) if log is None else log
    walk = FunctionWalk(files)
    reader = GitLogParser(walk.files, walk.take)
    for start in range(0, len(log), step):
        reader.feed(log[start : start + step])
    reader.finish()
    found: dict[int, list[str]] = {}
    for one in walk.walked():
        for chunk_id in one.chunk_ids:
            found.setdefault(chunk_id, []).append(one.subject)
    return found


def by_line_log(root: Path, path: str, start: int, end: int) -> list[str]:
    said = run(root, "log", "--first-parent", "-s", "--format=%s", f"-L{start},{end}:{path}")
    return said.splitlines()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return new_repository(tmp_path / "repository")


def test_lines_above_move_a_function_and_lines_inside_change_it(repository: Path) -> None:
    commit(repository, "both", {"a.py": "def a():\n    return 1\n\n\ndef b():\n    return 2\n"})
    commit(repository, "above", {"a.py": "import os\n\ndef a():\n    return 1\n\n\ndef b():\n    return 2\n"})
    commit(repository, "b only", {"a.py": "import os\n\ndef a():\n    return 1\n\n\ndef b():\n    return 3\n"})
    found = walked(repository, {b"a.py": [LineSpan(1, 3, 4), LineSpan(2, 7, 8)]})
    assert found == {1: ["both"], 2: ["b only", "both"]}


def test_a_function_brought_in_later_ends_there(repository: Path) -> None:
    commit(repository, "one", {"a.py": "def a():\n    return 1\n"})
    commit(repository, "two", {"a.py": "def b():\n    return 2\n\n\ndef a():\n    return 1\n"})
    assert walked(repository, {b"a.py": [LineSpan(1, 5, 6), LineSpan(2, 1, 2)]}) == {1: ["one"], 2: ["two"]}


def test_a_deletion_inside_counts_and_one_beside_does_not(repository: Path) -> None:
    commit(repository, "one", {"a.py": "x\ny\ndef a():\n    b\n    c\nz\n"})
    commit(repository, "beside", {"a.py": "x\ndef a():\n    b\n    c\n"})
    commit(repository, "inside", {"a.py": "x\ndef a():\n    c\n"})
    assert walked(repository, {b"a.py": [LineSpan(1, 2, 3)]}) == {1: ["inside", "one"]}


def test_renamed_and_swapped_files(repository: Path) -> None:
    long = "".join(f"line {n}\n" for n in range(20))
    other = "".join(f"other {n}\n" for n in range(20))
    commit(repository, "one", {"a.py": long, "b.py": other})
    run(repository, "mv", "a.py", "c d\té.py")
    commit(repository, "moved", {})
    commit(repository, "edited", {"c d\té.py": long.replace("line 3\n", "line three\n")})
    found = walked(
        repository, {"c d\té.py".encode(): [LineSpan(1, 2, 6), LineSpan(2, 10, 12)], b"b.py": [LineSpan(3, 1, 3)]}
    )
    assert found == {1: ["edited", "one"], 2: ["one"], 3: ["one"]}


def test_paths_that_are_no_text_and_files_that_look_like_a_log(repository: Path) -> None:
    odd = b'q"\\\xff\n.py'
    tricky = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n\0\n+++ b/y\n\\ No newline\n"
    for number in range(2):
        (Path(repository) / "real.py").write_text(f"def f():\n    {number}\n")
        Path(os.fsdecode(bytes(repository) + b"/" + odd)).write_bytes(b"def g():\n    %d" % number)
        (repository / "tricky.txt").write_text(tricky * (number + 1))
        (repository / ".gitattributes").write_text("tricky.txt diff\n")
        commit(repository, f"c{number}", {})
    found = walked(repository, {odd: [LineSpan(1, 1, 2)], b"real.py": [LineSpan(2, 1, 2)], b"y": [LineSpan(3, 1, 2)]})
    assert found == {1: ["c1", "c0"], 2: ["c1", "c0"]}


def test_a_merge_stands_for_its_branch(repository: Path) -> None:
    commit(repository, "one", {"a.py": "a\nb\nc\n"})
    run(repository, "checkout", "-q", "-b", "side")
    commit(repository, "on the side", {"a.py": "a\nB\nc\n"})
    run(repository, "checkout", "-q", "main")
    commit(repository, "meanwhile", {"b.py": "x\n"})
    run(repository, "merge", "-q", "--no-ff", "-m", "merge it", "side")
    assert walked(repository, {b"a.py": [LineSpan(1, 1, 3)]}) == {1: ["merge it", "one"]}


def test_a_commit_of_many_files_is_sweeping(repository: Path) -> None:
    commit(repository, "many", {f"f{n}.py": "x\n" for n in range(SWEEPING_FILES + 1)})
    commit(repository, "one", {"f1.py": "y\n"})
    log = run(repository, *ARGUMENTS, "HEAD").encode()
    walk = FunctionWalk({b"f1.py": [LineSpan(1, 1, 1)]})
    reader = GitLogParser(walk.files, walk.take)
    reader.feed(log + b"\n")
    reader.finish()
    assert [(one.subject, one.files, one.sweeping) for one in walk.walked()] == [("one", 1, False), ("many", 101, True)]


@pytest.mark.parametrize("seed", range(6))
def test_random_histories_agree_with_git(repository: Path, seed: int) -> None:
    """Functions between lines that stay: no hunk reaches across, so every commit must be the one git finds."""
    chance = random.Random(seed)
    functions = {name: [f"def {name}(): pass"] for name in "abcd"}
    order = list(functions)

    def text() -> str:
        return "".join(f"# --- {name}\n" + "".join(f"{line}\n" for line in functions[name]) for name in order)

    texts = [text()]
    for number in range(1, 25):
        name = chance.choice(order)
        body = functions[name]
        place = chance.randrange(1, len(body) + 1)
        kind = chance.choice(("insert", "insert", "replace", "delete"))
        if kind == "delete" and len(body) > 2:
            del body[min(place, len(body) - 2)]
        elif kind == "replace" and place < len(body):
            body[place] = f"    {name}{number}()"
        else:
            body[place:place] = [f"    {name}{number}_{n}()" for n in range(chance.randrange(1, 4))]
        texts.append(text())
    commits(repository, "x.py", texts)
    lines = text().splitlines()
    spans = []
    for n, name in enumerate(order):
        start = lines.index(f"def {name}(): pass") + 1
        spans.append(LineSpan(n, start, start + len(functions[name]) - 1))
    found = walked(repository, {b"x.py": spans}, step=chance.choice((7, 100, 1 << 16)))
    assert found == {span.chunk_id: by_line_log(repository, "x.py", span.start, span.end) for span in spans}


@pytest.mark.parametrize("seed", range(4))
def test_wild_histories_find_the_newest_change_and_nothing_git_does_not(repository: Path, seed: int) -> None:
    chance = random.Random(seed)
    lines = [f"l{n}" for n in range(30)]
    texts: list[str] = []
    for number in range(20):
        at, length = chance.randrange(len(lines)), chance.randrange(6)
        lines[at : at + length] = [f"n{number}.{n}" for n in range(chance.randrange(6))]
        texts.append("".join(f"{line}\n" for line in lines))
    commits(repository, "x.py", texts)
    log = log_of(repository)
    for start in range(1, len(lines) - 4, 5):
        (mine,) = walked(repository, {b"x.py": [LineSpan(0, start, start + 3)]}, log=log).values()
        theirs = by_line_log(repository, "x.py", start, start + 3)
        assert mine[0] == theirs[0]
        assert set(mine) <= set(theirs)


def read(log: bytes, wanted: set[bytes], step: int = 1 << 20) -> list[LoggedCommit]:
    found: list[LoggedCommit] = []
    reader = GitLogParser(wanted, found.append)
    for start in range(0, len(log), step):
        reader.feed(log[start : start + step])
        assert len(reader._data) <= max(MAX_HEADER, MAX_LINE) + step
    reader.finish()
    return found


HEAD = b"\0" + b"a" * 40 + b"\x00100\0\0subject\0body\0\n\n"
DIFF = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@ f\n-1\n-2\n\\ No newline at end of file\n+3\n"


@pytest.mark.parametrize(("files", "lines", "sweeping"), [(100, 10_000, False), (101, 1, True), (1, 10_001, True)])
def test_a_commit_is_sweeping_by_its_files_or_its_lines(files: int, lines: int, sweeping: bool) -> None:
    walk = FunctionWalk({})
    walk.take(LoggedCommit(hash="a", at=1, parents=[], subject="", body="", files=files, lines=lines))
    assert [each.sweeping for each in walk.walked()] == [sweeping]


def test_the_log_may_be_cut_anywhere() -> None:
    log = (HEAD + DIFF) * 3
    whole = read(log, {b"x"})
    assert [change.hunks for one in whole for change in one.changes] == [[Hunk(2, 1, 1)]] * 3
    for step in (1, 2, 3, 50):
        assert read(log, {b"x"}, step) == whole


@given(st.binary(max_size=300))
def test_no_bytes_break_the_reader(noise: bytes) -> None:
    walk = FunctionWalk({b"x": [LineSpan(1, 1, 9)]})
    reader = GitLogParser(walk.files, walk.take)
    reader.feed(HEAD + noise + HEAD + DIFF)
    reader.finish()
    assert walk.commits <= 2 + noise.count(0)


def test_overlong_messages_and_lines_are_not_held() -> None:
    message = b"\0" + b"a" * 40 + b"\x00100\0\0" + b"s" * 500_000 + b"\0" + b"b" * 500_000 + b"\0\n\n"
    data = b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ " + b"f" * 300_000
    log = message + data + b"\n-" + b"1" * 500_000 + b"\n+" + b"2" * 500_000 + b"\n" + HEAD + DIFF
    found = read(log, {b"x"}, 10_000)
    assert [one.hash for one in found] == ["a" * 40] * 2
    assert found[1].changes[0].hunks == [Hunk(2, 1, 1)]


def test_a_function_rewritten_with_its_neighbours_keeps_its_share() -> None:
    lines = LineMap([Hunk(20, 11, 40)])  # lines 11-50 were 20 lines
    assert lines.before(LineSpan(1, 31, 40)) == (True, LineSpan(1, 21, 25))
    assert lines.before(LineSpan(1, 51, 60)) == (False, LineSpan(1, 31, 40))
    assert lines.before(LineSpan(1, 5, 20)) == (True, LineSpan(1, 5, 15))
    assert LineMap([Hunk(2, 11, 40)]).before(LineSpan(1, 31, 40))[1] == LineSpan(1, 31, 30)


def test_a_function_is_new_where_a_change_put_more_than_three_lines_for_each_it_took() -> None:
    within = LineSpan(1, 21, 30)
    assert LineMap([Hunk(10, 11, 30)]).before(within)[1] == LineSpan(1, 14, 17), "three for each: its share of them"
    assert LineMap([Hunk(10, 11, 31)]).before(within)[1] == LineSpan(1, 21, 20), "nothing was there before"


def test_a_function_that_begins_before_a_large_change_or_goes_over_two_is_not_new() -> None:
    large = Hunk(1, 11, 30)
    assert LineMap([large]).before(LineSpan(1, 10, 40))[1] == LineSpan(1, 10, 11)
    assert LineMap([large, Hunk(1, 43, 30)]).before(LineSpan(1, 11, 72))[1] == LineSpan(1, 11, 14)
    assert LineMap([large]).before(LineSpan(1, 11, 40))[1] == LineSpan(1, 11, 10), "of that change and no more"


@pytest.mark.parametrize(
    ("hunk", "spared"),
    [
        pytest.param(Hunk(1, 9, 1), True, id="a line changed two before it"),
        pytest.param(Hunk(1, 10, 1), False, id="the line before it, of which a part may have been its own"),
        pytest.param(Hunk(0, 10, 1), True, id="a new line before it"),
        pytest.param(Hunk(0, 11, 1), False, id="a new line that is its first"),
        pytest.param(Hunk(0, 20, 1), False, id="a new line that is its last"),
        pytest.param(Hunk(0, 21, 1), True, id="a new line behind it"),
        pytest.param(Hunk(1, 21, 1), False, id="a line changed behind it"),
        pytest.param(Hunk(1, 22, 1), True, id="a line changed two behind it"),
        pytest.param(Hunk(2, 9, 0), True, id="lines gone two before it"),
        pytest.param(Hunk(2, 10, 0), False, id="lines gone before it"),
        pytest.param(Hunk(2, 20, 0), False, id="lines gone at its end"),
        pytest.param(Hunk(2, 21, 0), True, id="lines gone two behind it"),
    ],
)
def test_a_function_is_surely_as_it_was_where_nothing_that_may_be_its_own_changed(hunk: Hunk, spared: bool) -> None:
    assert LineMap([hunk]).spares(LineSpan(1, 11, 20)) is spared


def test_each_line_belongs_to_the_innermost_chunk() -> None:
    spans = own_spans([LineSpan(1, 1, 10), LineSpan(2, 3, 4), LineSpan(3, 6, 10), LineSpan(4, 8, 8)])
    owners = {line: span.chunk_id for span in spans for line in range(span.start, span.end + 1)}
    assert owners == {1: 1, 2: 1, 3: 2, 4: 2, 5: 1, 6: 3, 7: 3, 8: 4, 9: 3, 10: 3}


@given(st.lists(st.sampled_from("abcdefg"), max_size=12), st.lists(st.sampled_from("abcdefg"), max_size=12))
def test_hunks_turn_one_text_into_the_other(old: list[str], new: list[str]) -> None:
    before, after = ["unique", *old], [*new, "unique"]
    hunks = hunks_between("\n".join(before).encode(), "\r\n".join(after).encode())
    kept = list(after)
    for hunk in reversed(hunks):
        start = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        kept[start : start + hunk.new_lines] = []
    rest = list(before)
    for hunk in reversed(hunks):
        first = hunk.new_start - 1 if hunk.new_lines else hunk.new_start
        shift = sum(one.old_lines - one.new_lines for one in hunks if one.new_start < hunk.new_start)
        rest[first + shift : first + shift + hunk.old_lines] = []
    assert rest == kept
