"""The walk: what is found, what is left out and why, and that single files get the walk's verdict."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from aurora_indexer.files import skips
from aurora_indexer.files.ignore import IgnoreRules
from aurora_indexer.files.safe_read import file_mark
from aurora_indexer.files.scan import FoundFile, Limits, find_file, scan, walk
from aurora_indexer.files.skips import Skip

LIMITS = Limits()


def write(file: Path, text: str = "x = 1\n") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_finds_sources_with_their_stats(tmp_path: Path) -> None:
    file = write(tmp_path / "pkg" / "a.py", "x = 1\n")
    write(tmp_path / "README.unknown")
    write(tmp_path / "notes")
    result = scan(tmp_path, LIMITS)
    status = file.stat()
    assert result.files == [FoundFile("pkg/a.py", 6, status.st_mtime_ns, file_mark(status))]
    assert result.other_files == {".unknown": 1, "": 1}
    assert (result.skips, result.folders, result.truncated) == ([], 2, False)


def test_every_reason_has_its_sentence(tmp_path: Path) -> None:
    write(tmp_path / "ok.py")
    write(tmp_path / "big.py", "#" * 2000)
    write(tmp_path / "lib.min.js")
    (tmp_path / "inside.py").symlink_to(tmp_path / "ok.py")
    (tmp_path / "outside.py").symlink_to("/etc/passwd")
    (tmp_path / "loop.py").symlink_to(tmp_path / "loop.py")
    (tmp_path / "dangling.py").symlink_to(tmp_path / "nothing")
    write(tmp_path / "clone" / "a.py")
    write(tmp_path / "clone" / ".git" / "HEAD")
    write(tmp_path / "worktree" / "a.py")
    write(tmp_path / "worktree" / ".git", "gitdir: /elsewhere\n")
    os.mkfifo(tmp_path / "pipe.py")
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.open(tmp_path, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{folder}/s.py" if sys.platform == "linux" else str(tmp_path / "s.py"))
        finally:
            os.close(folder)
    result = scan(tmp_path, Limits(max_file_bytes=1000))
    assert [file.path for file in result.files] == ["ok.py"]
    assert {skip.path: skip.reason for skip in result.skips} == {
        "big.py": "too-large",
        "lib.min.js": "minified",
        "inside.py": "symlink",
        "outside.py": "symlink-outside",
        "loop.py": "symlink-loop",
        "dangling.py": "symlink",
        "clone": "nested-repository",
        "worktree": "nested-repository",
        "pipe.py": "not-a-file",
        "s.py": "not-a-file",
    }
    assert all(skip.detail.endswith(".") and "\n" not in skip.detail for skip in result.skips)


def test_gits_own_folder_is_not_told_as_left_out(tmp_path: Path) -> None:
    for path in (".git/HEAD", "build/a.py", "a.py"):
        write(tmp_path / path)
    write(tmp_path / ".gitignore", "build/\n")
    found = scan(tmp_path, LIMITS)
    assert (found.ignored, found.ignored_paths) == (1, ["build"])


def test_linked_folders_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "real" / "a.py")
    (tmp_path / "real" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    rules = IgnoreRules(tmp_path)
    assert [file.path for file in scan(tmp_path, LIMITS, rules).files] == ["real/a.py"]
    skip = find_file(rules, "link/a.py", LIMITS)
    assert isinstance(skip, Skip)
    assert skip.reason == "symlink"


@pytest.mark.skipif(sys.platform != "linux", reason="names are Unicode here")
def test_names_that_are_not_utf8_are_told_and_survive_encoding(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    with open(root + b"/caf\xe9.py", "wb"):  # noqa: PTH123 - a name no str path spells
        pass
    os.mkdir(root + b"/d\xff")  # noqa: PTH102
    with open(root + b"/d\xff/a.py", "wb"):  # noqa: PTH123
        pass
    write(tmp_path / "naïve" / "é.py")
    rules = IgnoreRules(tmp_path)
    result = scan(tmp_path, LIMITS, rules)
    assert [file.path for file in result.files] == ["naïve/é.py"]
    assert {skip.path for skip in result.skips} == {"caf\\xe9.py", "d\\xff"}
    assert all(skip.reason == "name-encoding" and skip.path.encode() for skip in result.skips)
    skip = find_file(rules, os.fsdecode(b"caf\xe9.py"), LIMITS)
    assert isinstance(skip, Skip)
    assert skip.reason == "name-encoding"


def test_scripts_without_suffix_count_when_they_say_what_they_are(tmp_path: Path) -> None:
    script = write(tmp_path / "bin" / "tool", "#!/usr/bin/env python3\nprint(1)\n")
    write(tmp_path / "bin" / "other", "#!/usr/bin/env nonesuch\n").chmod(0o755)
    assert scan(tmp_path, LIMITS).files == []
    script.chmod(0o755)
    assert [file.path for file in scan(tmp_path, LIMITS).files] == ["bin/tool"]
    assert isinstance(find_file(IgnoreRules(tmp_path), "bin/tool", LIMITS), FoundFile)


def test_single_files_get_the_verdict_of_the_walk(tmp_path: Path) -> None:
    write(tmp_path / ".gitignore", "gen/\n*.tmp.py\n")
    for path in ("a.py", "gen/b.py", "c.tmp.py", "d/e.py", "node_modules/f.js", "x.min.js", "clone/g.py", "h.unknown"):
        write(tmp_path / path)
    write(tmp_path / "clone" / ".git" / "HEAD")
    rules = IgnoreRules(tmp_path)
    found = {file.path: file for file in scan(tmp_path, LIMITS, rules).files}
    assert set(found) == {"a.py", "d/e.py"}
    reasons = {}
    for path in (p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()):
        verdict = find_file(rules, path, LIMITS)
        if isinstance(verdict, FoundFile):
            assert found.pop(path) == verdict
        else:
            reasons[path] = verdict.reason
    assert not found
    assert reasons["gen/b.py"] == reasons["c.tmp.py"] == reasons["node_modules/f.js"] == "ignored"
    assert reasons["clone/g.py"] == "nested-repository"
    assert reasons["h.unknown"] == "no-language"
    gone = find_file(rules, "d/gone.py", LIMITS)
    assert isinstance(gone, Skip)
    assert gone.reason == "gone"


def test_of_a_deep_tree_that_is_gone_each_file_costs_a_few_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[object] = []

    def lstat(path: str) -> os.stat_result:
        looked.append(path)
        return status(path)

    status = os.lstat
    rules = IgnoreRules(tmp_path)
    paths = ["d/" * depth + "a.py" for depth in range(1, 300)]
    monkeypatch.setattr(os, "lstat", lstat)
    verdicts = [find_file(rules, path, LIMITS) for path in paths]
    assert {each.reason for each in verdicts if isinstance(each, Skip)} == {"gone"} and len(verdicts) == len(paths)
    assert len(paths) <= len(looked) <= 10 * len(paths), "else a gone tree of thousands keeps it at work"


def test_given_rules_follow_the_ignore_files(tmp_path: Path) -> None:
    write(tmp_path / "a.py")
    rules = IgnoreRules(tmp_path)
    assert len(scan(tmp_path, LIMITS, rules).files) == 1
    write(tmp_path / ".gitignore", "a.py\n")
    assert scan(tmp_path, LIMITS, rules).files == []
    (tmp_path / ".gitignore").unlink()
    assert len(scan(tmp_path, LIMITS, rules).files) == 1


def test_too_many_files_are_cut_off_and_told(tmp_path: Path) -> None:
    for number in range(20):
        write(tmp_path / f"f{number}.py")
    result = scan(tmp_path, Limits(max_files=10))
    assert result.truncated
    assert len(result.files) == 10
    assert result.skips[-1].reason == "too-many"


def test_code_does_not_wait_for_data_and_data_gives_way_to_code(tmp_path: Path) -> None:
    for name in ("a.json", "b.yaml", "y.py", "z.py"):
        write(tmp_path / name)
    named = [each.path for each in scan(tmp_path, LIMITS).files]
    assert (set(named[:2]), set(named[2:])) == ({"y.py", "z.py"}, {"a.json", "b.yaml"})
    some = scan(tmp_path, Limits(max_files=3))
    assert {"y.py", "z.py"} < {each.path for each in some.files} and len(some.files) == 3


def test_depth_does_not_matter(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 400)
    deep.mkdir(parents=True)
    write(deep / "a.py")
    result = scan(tmp_path, LIMITS)
    assert [file.path for file in result.files] == ["d/" * 400 + "a.py"]


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        scan(tmp_path / "none", LIMITS)


def test_unreadable_folders_are_skips(tmp_path: Path) -> None:
    write(tmp_path / "open" / "a.py")
    write(tmp_path / "shut" / "b.py")
    (tmp_path / "shut").chmod(0)
    code = (
        "import os, sys; from pathlib import Path; from aurora_indexer.files.scan import Limits, scan\n"
        "if os.geteuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "r = scan(Path(sys.argv[1]), Limits())\n"
        "print([f.path for f in r.files], [(s.path, s.reason) for s in r.skips])"
    )
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid() and str(folder) not in ("/", "/tmp"):
            folder.chmod(folder.stat().st_mode | 0o055)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False, cwd="/"
        )
        if "PermissionError" in done.stderr and "aurora_indexer" not in done.stderr:
            pytest.skip("another user cannot run this interpreter here")
        assert done.stdout.strip() == "['open/a.py'] [('shut', 'unreadable')]", done.stderr
    finally:
        (tmp_path / "shut").chmod(0o755)


def test_the_walk_tells_of_folders_before_it_lists_them(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "c.py")
    write(tmp_path / "node_modules" / "x" / "y.js")
    told: list[str] = []
    for walked in walk(IgnoreRules(tmp_path), before_listing=told.append):
        assert told[-1] == walked.folder.path
    assert told == ["", "a", "a/b"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"x = 1\n", None),
        (b"abc\0def", "binary"),
        (b"a" * 9000 + b"\0", "minified"),
        (b"\n" * 9000 + b"\0", None),
        (b"# @generated by tool\nx = 1\n", "generated"),
        (b"/**\n * @generated SignedSource<<abc>>\n */\n", "generated"),
        (b"// Code generated by protoc-gen-go. DO NOT EDIT.\n", "generated"),
        (b"# *** GENERATED BY `setup.py antlr`, DO NOT EDIT BY HAND ***\n", "generated"),
        (b"// <auto-generated>\n", "generated"),
        (b"/* DO NOT EDIT. This is generated. */\n", "generated"),
        (b"MARK = '@generated'\n", None),
        (b"# looks for `@generated` in headers\n", None),
        (b'"""Why a file counts as @generated."""\n', None),
        (b"import os\n# @generated\n", None),
        (b"# a\n" * 30 + b"# @generated\n", None),
        (b"/* first\n   Generated by x.\n   This file was automatically generated.\n*/\n", "generated"),
        (b"/* first */\nx = 1 /* @generated */\n", None),
        (b"<?php\n// @generated\n", "generated"),
        (b"x" * 5000, "minified"),
        (b"x" * 3000, None),
    ],
)
def test_content_is_judged(source: bytes, reason: str | None) -> None:
    skip = skips.by_content("a.py", source)
    assert (skip.reason if skip else None) == reason


@pytest.mark.parametrize("path", ["a\0.py", "a\0/b.py", "x" * 300 + ".py", "yyy/" * 1100 + "a.py", "a.py/b.py", "a\0"])
def test_a_path_that_no_file_can_have_is_gone(tmp_path: Path, path: str) -> None:
    write(tmp_path / "a.py")
    verdict = find_file(IgnoreRules(tmp_path), path, LIMITS)
    assert isinstance(verdict, Skip) and verdict.reason == "gone"
