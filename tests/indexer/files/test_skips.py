"""Why a file is left out: which reason wins where several hold, and where each limit lies, to the byte and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer.files import skips
from aurora_indexer.files.ignore import IgnoreRules
from aurora_indexer.files.scan import FoundFile, Limits, find_file, scan

LIMITS = Limits(max_file_bytes=100)
LARGE = "#" * 101
OPENAPI = '{"openapi": "3.1.0", "padding": "' + "x" * 101 + '"}'


def write(file: Path, text: str = "x = 1\n") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [
        pytest.param("a.py", "x = 1\n", None, id="nothing speaks against it"),
        pytest.param("gen/lib.min.js", LARGE, "ignored", id="ignored by its folder, before its name and size"),
        pytest.param("b.tmp.py", LARGE, "ignored", id="ignored by its own name, before its size"),
        pytest.param("clone/b.tmp.py", LARGE, "nested-repository", id="in another repository, before any rule of ours"),
        pytest.param("clone/deep/a.py", LARGE, "nested-repository", id="below a folder of another repository"),
        pytest.param("gen/clone2/a.py", LARGE, "ignored", id="a repository within an ignored folder is ignored"),
        pytest.param("linked/b.tmp.py", LARGE, "ignored", id="ignored, before lying below a link"),
        pytest.param("linked/a.unknown", LARGE, "symlink", id="below a link, before its language"),
        pytest.param("link.unknown", "", "no-language", id="no language, before being a link"),
        pytest.param("link.min.js", "", "symlink", id="a link, before its name"),
        pytest.param("folder.py", "", "not-a-file", id="no file at all"),
        pytest.param("lib.min.js", LARGE, "minified", id="minified by its name, before its size"),
        pytest.param("Cargo.lock", LARGE, "no-language", id="a lock file of no language we know"),
        pytest.param("big.py", LARGE, "too-large", id="too large"),
        pytest.param("big.unknown", LARGE, "no-language", id="no language, before its size"),
        pytest.param("package-lock.json", OPENAPI, "no-language", id="data that hardly ever counts gets no reason"),
        pytest.param("openapi.json", OPENAPI, "too-large", id="but one that is named like a schema does"),
        pytest.param("none.py", None, "gone", id="there is none"),
        pytest.param("gen/none.py", None, "ignored", id="there is none, and it would be ignored"),
        pytest.param("none.unknown", None, "gone", id="there is none, and it would have no language"),
        pytest.param("none.json", None, "gone", id="there is none, and it would be data"),
    ],
)
def test_one_reason_wins(tmp_path: Path, path: str, text: str | None, reason: str | None) -> None:
    root = tmp_path / "root"
    write(root / ".gitignore", "gen/\n*.tmp.py\n")
    for clone in ("clone", "gen/clone2"):
        write(root / clone / ".git/HEAD")
    write(root / "real/other.py")
    (root / "linked").symlink_to(root / "real")
    (root / "link.unknown").symlink_to(root / "real/other.py")
    (root / "link.min.js").symlink_to(root / "real/other.py")
    (root / "folder.py").mkdir()
    if text:
        write(root / path, text)
    found = find_file(IgnoreRules(root), path, LIMITS)
    assert (None if isinstance(found, FoundFile) else found.reason) == reason
    walked = scan(root, LIMITS)
    assert (path in {file.path for file in walked.files}) == (reason is None), "the walk says the same"
    told = {skip.path: skip.reason for skip in walked.skips}
    assert told.get(path, reason) == reason


@pytest.mark.parametrize(("size", "reason"), [(99, None), (100, None), (101, "too-large")])
def test_a_file_of_just_the_limit_counts(tmp_path: Path, size: int, reason: str | None) -> None:
    write(tmp_path / "a.py", "#" * size)
    found = find_file(IgnoreRules(tmp_path), "a.py", LIMITS)
    assert (None if isinstance(found, FoundFile) else found.reason) == reason
    skip = skips.by_size("a.py", size, 100)
    assert (skip.detail if skip else None) == ("101 bytes, over the limit of 100." if reason else None)


@pytest.mark.parametrize(("files", "kept", "truncated"), [(9, 9, False), (10, 10, False), (11, 10, True)])
def test_just_as_many_files_as_the_limit_are_all_taken(tmp_path: Path, files: int, kept: int, truncated: bool) -> None:
    for number in range(files):
        write(tmp_path / f"f{number}.py")
    found = scan(tmp_path, Limits(max_files=10))
    assert (len(found.files), found.truncated) == (kept, truncated)
    assert [skip.reason for skip in found.skips] == ["too-many"] * truncated


def test_data_files_take_the_places_that_code_leaves(tmp_path: Path) -> None:
    for number in range(8):
        write(tmp_path / f"z{number}.py")
        write(tmp_path / f"a{number}.json", "{}")
    found = scan(tmp_path, Limits(max_files=10))
    assert sum(file.path.endswith(".py") for file in found.files) == 8
    assert sum(file.path.endswith(".json") for file in found.files) == 2 and not found.truncated


MARK = b"# @generated\n"
COMMENT = b"# a comment\n"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param(MARK + b"\0", "binary", id="binary, before generated"),
        pytest.param(MARK + b"x" * 5_000, "generated", id="generated, before minified"),
        pytest.param(b"x" * 8_191 + b"\0" + b"\n" * 8_192, "binary", id="a NUL at the end of the first 8 KiB"),
        pytest.param(b"\n" * 8_192 + b"\0", None, id="a NUL right behind them"),
        pytest.param(COMMENT * 19 + MARK, "generated", id="the mark on line 20"),
        pytest.param(COMMENT * 20 + MARK, None, id="the mark on line 21"),
        pytest.param(b"#" * 4_000 + b"\n" + MARK, "generated", id="the mark within 4 KiB"),
        pytest.param(b"#" * 4_096 + b"\n" + MARK + b"\n" * 90, None, id="the mark behind them"),
        pytest.param(b"\n\n" + MARK, "generated", id="behind empty lines"),
        pytest.param(b"x = 1\n" + MARK, None, id="behind code"),
        pytest.param(b"x" * 4_095, None, id="one line of 4,095 bytes"),
        pytest.param(b"x" * 4_096, "minified", id="one line of 4,096 bytes"),
        pytest.param((b"x" * 999 + b"\n") * 9 + b"x" * 1_009, None, id="lines of 1,000 bytes on average"),
        pytest.param((b"x" * 1_001 + b"\n") * 9 + b"x" * 1_009, "minified", id="lines of more than that"),
    ],
)
def test_what_its_content_tells(source: bytes, reason: str | None) -> None:
    skip = skips.by_content("a.py", source)
    assert (skip.reason if skip else None) == reason


def test_the_line_of_the_mark_is_told() -> None:
    skip = skips.by_content("a.py", COMMENT * 4 + MARK)
    assert skip is not None and skip.detail == "Line 5 says it is generated and not edited by hand."


@pytest.mark.parametrize(
    ("lines", "path", "ignored"),
    [
        pytest.param({".gitignore": "*.sql\n!keep.sql\n"}, "keep.sql", False, id="of one file the last line decides"),
        pytest.param({".gitignore": "!keep.sql\n*.sql\n"}, "keep.sql", True, id="whatever stood before it"),
        pytest.param({".gitignore": "*.sql\n", "db/.gitignore": "!a.sql\n"}, "db/a.sql", False, id="the deepest wins"),
        pytest.param({".gitignore": "a.sql\n", ".auroraignore": "!a.sql\n"}, "a.sql", False, id="ours wins over git's"),
        pytest.param(
            {".auroraignore": "a.sql\n", "db/.gitignore": "!a.sql\n"},
            "db/a.sql",
            True,
            id="even over a deeper of git's",
        ),
        pytest.param(
            {".auroraignore": "a.sql\n", "db/.auroraignore": "!a.sql\n"},
            "db/a.sql",
            False,
            id="not over our deeper one",
        ),
        pytest.param(
            {".gitignore": "!node_modules/\n"}, "node_modules/a.js", True, id="git's file brings no built-in back"
        ),
        pytest.param({".auroraignore": "!node_modules/\n"}, "node_modules/a.js", False, id="ours does"),
        pytest.param(
            {".auroraignore": "a.sql\n", "db/.auroraignore": "b.sql\n"},
            "db/a.sql",
            True,
            id="a deeper file of ours adds",
        ),
        pytest.param(
            {".gitignore": "a.sql\n", "db/.gitignore": "b.sql\n"}, "db/a.sql", True, id="and so does one of git's"
        ),
        pytest.param(
            {".gitignore": "a.sql\n", "db/.auroraignore": "b.sql\n"}, "db/a.sql", True, id="which leaves git's as well"
        ),
        pytest.param(
            {".gitignore": "gen/\n", "gen/.auroraignore": "!*\n"}, "gen/a.py", True, id="nothing below an ignored one"
        ),
        pytest.param({".auroraignore": "!.git/\n"}, ".git/a.py", True, id="version control, whatever is written"),
    ],
)
def test_which_rule_decides(tmp_path: Path, lines: dict[str, str], path: str, ignored: bool) -> None:
    for name, text in lines.items():
        write(tmp_path / name, text)
    write(tmp_path / path)
    assert IgnoreRules(tmp_path).is_ignored(path, False) == ignored


LOCKS = (
    "Cargo.lock Gemfile.lock Pipfile.lock Podfile.lock bun.lock composer.lock deno.lock flake.lock go.sum"
    " gradle.lockfile mix.lock npm-shrinkwrap.json package-lock.json packages.lock.json pdm.lock pnpm-lock.yaml"
    " poetry.lock pubspec.lock uv.lock yarn.lock"
).split()


@pytest.mark.parametrize("name", LOCKS)
def test_lock_files_are_written_by_tools(name: str) -> None:
    skip = skips.by_name(f"a/{name}", name)
    assert skip == skips.Skip(f"a/{name}", "generated", "A lock file, written by a package tool.")
    assert skips.by_name(f"my-{name}", f"my-{name}") is None


@pytest.mark.parametrize(
    "start", ["#", "//", "/*", "*", "--", ";", "%", "<!--", "(*", "<?php", "'use strict'", '"use x"']
)
def test_a_mark_stands_in_comments_of_any_language(start: str) -> None:
    for source in (f"{start} @generated", f"{start} first\n{start} @generated", f"\ufeff  {start} @generated"):
        assert skips.by_content("a", source.encode()) is not None, source
    assert skips.by_content("a", f"x {start} @generated".encode()) is None


@pytest.mark.parametrize(("opened", "closed"), [("/*", "*/"), ("<!--", "-->"), ("(*", "*)")])
def test_a_mark_stands_anywhere_in_a_comment_of_several_lines(opened: str, closed: str) -> None:
    assert skips.by_content("a", f"{opened}\n any\n @generated\n{closed}\n".encode()) is not None
    assert skips.by_content("a", f"{opened}\n any {closed}\n @generated\n".encode()) is None
    assert skips.by_content("a", f"{opened} any {closed}\n any\n# @generated\n".encode()) is None


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("@generated", True),
        ("@Generated by x", True),
        ("me@generated.example", False),
        ("`@generated`", False),
        ("@generated-code", False),
        ("Code generated by x. DO NOT EDIT.", True),
        ("code generated by x", False),
        ("Generated. Do not modify!", True),
        ("Generated. Do not delete!", False),
        ("Do not edit: generated by x", True),
        ("Do not modify, it is generated", True),
        ("<auto-generated>", True),
        ("<autogenerated />", True),
        ("This file is auto-generated", True),
        ("this file was automatically generated", True),
        ("This file has been autogenerated", True),
        ("This file is generated", False),
        ("Generates files, do not edit", False),
    ],
)
def test_how_a_mark_is_written(line: str, is_one: bool) -> None:
    assert (skips.by_content("a.py", f"# {line}\n".encode()) is not None) is is_one


def test_other_files_are_counted_by_a_suffix_that_can_be_shown(tmp_path: Path) -> None:
    for name in ("a.zzz", "b.zzz", "c.zz\u00e9", "plain", ".hidden", "d.tar.zzz", "\u00e9.zzz", "e.json"):
        write(tmp_path / name)
    assert scan(tmp_path, LIMITS).other_files == {".zzz": 3, "": 4}


@pytest.mark.parametrize("name", [".git", ".hg", ".svn", ".jj", ".bzr", "CVS", "_darcs", ".pijul"])
def test_what_version_control_keeps_is_never_looked_at(tmp_path: Path, name: str) -> None:
    write(tmp_path / ".auroraignore", f"!{name}/\n!{name}\n")
    assert IgnoreRules(tmp_path).is_ignored(f"a/{name}", True)
    assert IgnoreRules(tmp_path).is_ignored(f"{name}/a.py", False)


BUILT_IN = (
    "node_modules bower_components jspm_packages .yarn .pnpm-store __pycache__ .venv .tox .nox .mypy_cache .ruff_cache"
    " .pytest_cache .hypothesis .ipynb_checkpoints .eggs a.egg-info a.dist-info site-packages .gradle .terraform .next"
    " .nuxt .svelte-kit .parcel-cache .turbo .angular .dart_tool .bundle .stack-work dist-newstyle .direnv .aurora"
    " .idea .vs"
).split()


@pytest.mark.parametrize("name", BUILT_IN)
def test_folders_of_tools_are_left_out_by_their_names_and_files_are_not(tmp_path: Path, name: str) -> None:
    rules = IgnoreRules(tmp_path)
    assert rules.is_ignored(name, True) and rules.is_ignored(f"deep/{name}", True)
    assert not rules.is_ignored(name, False)


@pytest.mark.parametrize(
    ("files", "reason", "detail"),
    [
        pytest.param({"pyvenv.cfg": "x"}, "ignored", "A Python virtual environment (pyvenv.cfg).", id="environment"),
        pytest.param({"CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n# x"}, "ignored",
                     "A cache folder (CACHEDIR.TAG).", id="cache"),
        pytest.param({"CACHEDIR.TAG": "x"}, None, None, id="a tag that is not signed"),
        pytest.param({".git": "gitdir: x", "pyvenv.cfg": "x"}, "nested-repository",
                     "A repository of its own: open it as its own workspace.", id="a repository, whatever else it is"),
    ],
)  # fmt: skip
def test_a_folder_is_closed_by_what_lies_in_it(
    tmp_path: Path, files: dict[str, str], reason: str | None, detail: str | None
) -> None:
    for name, text in files.items():
        write(tmp_path / "a" / name, text)
    closed = IgnoreRules(tmp_path).folder("a").closed
    assert (closed.reason if closed else None, closed.detail if closed else None) == (reason, detail)
    write(tmp_path / ".gitignore", "a/\n")
    again = IgnoreRules(tmp_path).folder("a").closed
    assert again is not None and again.detail == "An ignore rule names this folder."


@pytest.mark.parametrize(
    ("path", "source", "is_skipped"),
    [
        ("lang/app_de.ts", '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n<TS version="2.1">', True),
        ("lang/app_de.ts", "\ufeff<!DOCTYPE TS>\n<TS></TS>", True),
        ("src/app.ts", "const a = <T>b;\n", False),
        ("src/app.ts", "<T>b;\n", False),
        ("src/app.vue", '<?xml version="1.0"?>\n', False),
    ],
)
def test_translations_of_qt_are_no_typescript(path: str, source: str, is_skipped: bool) -> None:
    skip = skips.by_content(path, source.encode())
    assert (skip is not None and skip.reason == "no-language") is is_skipped
