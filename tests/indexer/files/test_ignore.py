"""Ignore rules, held against git itself wherever git has an opinion."""

from __future__ import annotations

import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from aurora_indexer.files import ignore
from aurora_indexer.files.ignore import BUILT_IN, IgnoreRules
from aurora_indexer.files.wildmatch import MalformedPattern, compile_pattern
from tests.growth import bytes_kept, grows_with_length


def git(folder: Path, *arguments: str, given: str | None = None) -> str:
    done = subprocess.run(
        ["git", "-c", "core.excludesFile=", "-c", "init.defaultBranch=main", "-C", str(folder), *arguments],
        input=given.encode() if given is not None else None,
        capture_output=True,
        check=False,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
    )
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.decode()


def entries(root: Path) -> list[tuple[str, bool]]:
    found: list[tuple[str, bool]] = []
    for folder, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        above = Path(folder).relative_to(root)
        found += [((above / name).as_posix(), True) for name in folders]
        found += [((above / name).as_posix(), False) for name in files]
    return found


def ignored_by_git(root: Path, paths: list[str]) -> set[str]:
    out = git(root, "check-ignore", "--no-index", "-z", "--stdin", given="\0".join(paths))
    return set(out.split("\0")) - {""}


def assert_same_as_git(root: Path) -> int:
    found = entries(root)
    expected = ignored_by_git(root, [path for path, _ in found])
    rules = IgnoreRules(root)
    actual = {path for path, is_folder in found if rules.is_ignored(path, is_folder)}
    assert actual == expected
    return len(actual)


def write(file: Path, text: str = "x\n") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, newline="")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    return root


TREE = [
    "a.o", "b.py", "foo", "foo ", "#x", "!x", "a*", "b c.txt", "x/a.o", "x/foo/a.py", "x/y/foo", "build/a.py",
    "x/build/a.py", "x/y/build/deep/a.py", "docs/a.md", "docs/x/a.md", "docs/x/y/a.md", "log/keep.log", "log/a.log",
    "Aa/b", "ab/b", "a/b/c", "a/x/b/c", "a/x/y/b/c", "[x]", "1x", "é", "éa", "axb/x", "a/b", "-", "]",
    "a-b", "trail\\ ", "nested/keep/me.o",
]  # fmt: skip


@pytest.mark.parametrize(
    "lines",
    [
        "*.o\n!x/a.o\n",
        "x/\n!x/a.o\n",
        "/foo\n",
        "foo/\n",
        "foo \n",
        "foo\\ \n",
        "foo\t\n",
        "\\#x\n\\!x\n",
        "#x\n!x\n",
        "a\\*\n",
        "docs/*\n!docs/x\n",
        "docs/**\n!docs/x/\n!docs/x/**\n",
        "**/build\n",
        "x/**/build/\n",
        "a/**/c\n",
        "a**/b\n",
        "/a/**/\n",
        "**/\n",
        "**\n!x/\n",
        "*\n!*/\n!*.py\n",
        "/*\n!/x\n",
        "*.log\n!keep.log\n",
        "log/*\n!log/keep.log\n",
        "[[:upper:]]*\n",
        "[[:digit:]]x\n",
        "[!a-z]*\n",
        "[z-a]\n[\n[[:nope:]]\nfoo\\\n",
        "[]-]\n",
        "\\[x\\]\n",
        "[[]x[]]\n",
        "a[!x]b\n",
        "a?b\n??\n",
        "[é]\n",
        "é*\n",
        "foo\r\n*.o\r\n",
        "\ufefffoo\n",
        "//foo\nfoo//\n/\n!\n!/\n",
        "x/./foo\n../foo\n",
        "{a,b}\n(a)\na|b\na+\n",
        "foo\n!foo\nfoo\n",
    ],
)
def test_nasty_lines_are_read_as_git_reads_them(repository: Path, lines: str) -> None:
    for path in TREE:
        if not (repository / path).is_dir() and not any(parent.is_file() for parent in (repository / path).parents):
            write(repository / path)
    write(repository / ".gitignore", lines)
    assert_same_as_git(repository)


NAMES = ["a", "b", "ab", "abc", "foo", "x.o", "a.o", "foo.py", ".hid", "A", "1x", "axb", "b c", "!x", "#x", "]", "é"]
PIECES = [
    "a", "b", "foo", "*", "**", "?", "*.o", "[ab]", "[!a]", "[a-c]", "a*", "*b", "a?b", "**a", "a**", "x.o", ".hid",
    "[[:alpha:]]", "[^b]*", "\\!x", "\\#x", "b c", "*.*", ".*", "[z-a]", "a[!b]b", "[]a]", "\\a", "*o*", "a*b*", "[",
    "***", "foo.py", "ab", "é", "??", "[[]x[]]", "a*[!x]",
]  # fmt: skip


def random_lines(chance: random.Random, count: int) -> str:
    lines = []
    for _ in range(count):
        line = "/".join(chance.choice(PIECES) for _ in range(chance.choice([1, 1, 1, 2, 2, 3])))
        line = ("!" if chance.random() < 0.35 else "") + ("/" if chance.random() < 0.2 else "") + line
        lines.append(line + ("/" if chance.random() < 0.3 else "") + chance.choice(["", "", "", " ", "\r"]))
    return "\n".join(lines)


def grow(chance: random.Random, folder: Path, depth: int) -> None:
    for name in chance.sample(NAMES, chance.randint(2, 5)):
        if depth < 4 and chance.random() < 0.55:
            (folder / name).mkdir()
            grow(chance, folder / name, depth + 1)
        else:
            (folder / name).write_text("x")
    if depth == 0 or chance.random() < 0.35:
        write(folder / ".gitignore", random_lines(chance, chance.randint(1, 6)))


@pytest.mark.parametrize("seed", range(25))
def test_random_trees_are_judged_as_git_judges_them(repository: Path, seed: int) -> None:
    chance = random.Random(seed)
    grow(chance, repository, 0)
    write(repository / ".git" / "info" / "exclude", random_lines(chance, 2))
    assert_same_as_git(repository)


def many_lines(chance: random.Random, count: int) -> str:
    """Lines with wildcards in every place, that share few of their letters; some of them match `many_names`."""

    def word() -> str:
        return "".join(chance.choices("abcdefgh", k=chance.randrange(2, 5)))

    shapes = (
        "**/x{0}*[a-z]?", "{0}*{1}", "*{0}*", "*[0-9]{0}?*", "{0}/**/{1}*.o", "/{0}/*/{1}", "!*{0}?{1}*",
        "?{0}", "[ab]{0}*", "{0}?.{1}", "*/{0}/*", "!/src/**/{0}*", "{0}/", "*.{0}", "/src/{0}", "\\{0}*", "!{0}*/",
        "??*{0}", "**/{0}/*[!a]",
    )  # fmt: skip
    return "\n".join(chance.choice(shapes).format(word(), word()) for _ in range(count))


@pytest.mark.long
def test_of_forty_thousand_lines_few_are_ever_tried_and_all_are_judged_as_git_judges_them(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def counted(pattern: str) -> re.Pattern[str]:
        tried.append(pattern)
        return compile_pattern(pattern)

    monkeypatch.setattr("aurora_indexer.files.glob_index.compile_pattern", counted)
    chance = random.Random(5)
    for number in range(600):
        name = "".join(chance.choices("abcdefgh", k=chance.randrange(2, 9))) + chance.choice((".py", ".o", "_1", ""))
        write(repository / "src" / f"{chance.choice('abc')}d{number % 7}" / name)
    lines = many_lines(chance, 40_000)
    write(repository / ".gitignore", lines + "\n!*/\n!*a?.py\n" + many_lines(chance, 300))
    rules = IgnoreRules(repository)
    for path, is_folder in entries(repository):
        rules.is_ignored(path, is_folder)
    assert len(tried) < 4_000, len(tried)
    assert 50 < assert_same_as_git(repository) < len(entries(repository)) - 50


def test_agrees_with_what_git_would_add(repository: Path) -> None:
    for path in ("src/a.py", "src/gen/b.py", "src/gen/keep/c.py", "out/d.py", "e.log", "src/.gitignore"):
        write(repository / path)
    write(repository / ".gitignore", "out/\n*.log\n")
    write(repository / "src" / ".gitignore", "gen/*\n!gen/keep/\n")
    listed = set(git(repository, "ls-files", "-co", "--exclude-standard").split())
    rules = IgnoreRules(repository)
    ours = {path for path, is_folder in entries(repository) if not is_folder and not rules.is_ignored(path, False)}
    assert ours == listed
    assert "src/gen/keep/c.py" in ours


def test_a_root_inside_a_repository_obeys_the_files_above_it(repository: Path) -> None:
    write(repository / ".gitignore", "/app/gen/\n*.tmp.py\n/app/ä/x.py\n")
    write(repository / ".git" / "info" / "exclude", "app/secret.py\n")
    root = repository / "app"
    for path in ("gen/a.py", "sub/gen/a.py", "b.tmp.py", "secret.py", "ok.py", "ä/x.py"):
        write(root / path)
    rules = IgnoreRules(root)
    assert {path for path, is_folder in entries(root) if rules.is_ignored(path, is_folder)} == {
        "gen",
        "gen/a.py",
        "b.tmp.py",
        "secret.py",
        "ä/x.py",
    }


def test_worktrees_share_the_exclude_file(repository: Path, tmp_path: Path) -> None:
    write(repository / "a.py")
    git(repository, "add", ".")
    git(repository, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "first")
    git(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    write(repository / ".git" / "info" / "exclude", "private.py\n")
    assert IgnoreRules(tmp_path / "tree").is_ignored("private.py", False)


def test_global_excludes_come_last(repository: Path, tmp_path: Path) -> None:
    write(tmp_path / "global", "*.swp.py\nkeep.py\n")
    write(repository / ".gitignore", "!keep.py\n")
    rules = IgnoreRules(repository, global_excludes=tmp_path / "global")
    assert rules.is_ignored("a.swp.py", False)
    assert not rules.is_ignored("keep.py", False)


@pytest.mark.parametrize(
    ("stronger", "weaker"),
    [
        pytest.param(".gitignore", ".git/info/exclude", id="what all agreed on before what is one's own"),
        pytest.param(".git/info/exclude", "global", id="what is of this repository before what is of all"),
    ],
)
def test_the_nearer_file_has_the_last_word(repository: Path, stronger: str, weaker: str) -> None:
    write(repository / weaker, "keep.py\n")
    write(repository / stronger, "!keep.py\n")
    assert not IgnoreRules(repository, global_excludes=repository / "global").is_ignored("keep.py", False)


def test_what_is_left_out_by_its_name_only_our_own_file_brings_back(tmp_path: Path) -> None:
    write(tmp_path / ".gitignore", "!node_modules/\n")
    assert IgnoreRules(tmp_path).is_ignored("node_modules/x/index.js", False)
    write(tmp_path / ".auroraignore", "!node_modules/\n")
    assert not IgnoreRules(tmp_path).is_ignored("node_modules/x/index.js", False)


def test_our_own_file_outranks_all_and_brings_back(tmp_path: Path) -> None:
    write(tmp_path / ".gitignore", "gen/\n")
    write(tmp_path / ".auroraignore", "!gen/\n!node_modules/\n*.sql\n")
    write(tmp_path / "lib" / ".auroraignore", "!keep.sql\n")
    write(tmp_path / "lib" / ".gitignore", "keep.sql\n")
    rules = IgnoreRules(tmp_path)
    assert not rules.is_ignored("gen/a.py", False)
    assert not rules.is_ignored("node_modules/x/index.js", False)
    assert rules.is_ignored("lib/a.sql", False)
    assert not rules.is_ignored("lib/keep.sql", False)


def test_version_control_folders_stay_out_whatever_is_written(tmp_path: Path) -> None:
    write(tmp_path / ".auroraignore", "!.git/\n!.hg/\n!.svn\n!*\n")
    rules = IgnoreRules(tmp_path)
    assert all(rules.is_ignored(f"sub/{name}", True) for name in (".git", ".hg", ".svn"))


def test_dependency_folders_stay_out_without_any_file(tmp_path: Path) -> None:
    rules = IgnoreRules(tmp_path)
    for line in BUILT_IN.split():
        assert rules.is_ignored("a/" + line.rstrip("/").replace("*", "x"), True), line
    assert not rules.is_ignored("a/node_modules", False)
    assert not rules.is_ignored("src", True)


def test_environments_and_caches_are_known_by_what_they_hold(tmp_path: Path) -> None:
    write(tmp_path / "env" / "pyvenv.cfg", "home = /usr\n")
    write(tmp_path / "target" / "CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# cargo\n")
    write(tmp_path / "fake" / "CACHEDIR.TAG", "not a signature\n")
    write(tmp_path / "clone" / ".git" / "HEAD", "ref: refs/heads/main\n")
    rules = IgnoreRules(tmp_path)
    assert rules.is_ignored("env/lib/a.py", False)
    assert rules.is_ignored("target/a.rs", False)
    assert not rules.is_ignored("fake/a.py", False)
    closed = rules.folder("clone/src").closed
    assert closed is not None
    assert (closed.path, closed.reason) == ("clone", "nested-repository")


def test_refresh_reads_anew(tmp_path: Path) -> None:
    rules = IgnoreRules(tmp_path)
    assert not rules.is_ignored("a.py", False)
    write(tmp_path / ".gitignore", "a.py\n")
    assert not rules.is_ignored("a.py", False)
    rules.refresh()
    assert rules.is_ignored("a.py", False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_place_of_an_ignore_file_blocks_nobody(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    assert not IgnoreRules(tmp_path).is_ignored("a.py", False)


@pytest.mark.parametrize(
    ("pattern", "piece"),
    [
        ("*a" * 30 + "b", "a"),
        ("**/a*" * 20 + "/b", "aaaa/"),
        ("**/*a*a*/" * 20 + "b", "aaaa/"),
        ("a/**/" * 100 + "b", "a/"),
        ("[^b]*" * 60 + "z", "a"),
    ],
)
def test_hostile_patterns_cost_what_the_path_is_long(pattern: str, piece: str) -> None:
    compiled = compile_pattern(pattern)

    def match(pieces: int) -> None:
        assert compiled.fullmatch((piece * pieces).removesuffix("/")) is None

    assert grows_with_length(match, 1_000, 10_000)


@pytest.mark.parametrize("pattern", ["[", "a[!", "a\\", "[[:nope:]]", "[a-"])
def test_malformed_patterns_say_so(pattern: str) -> None:
    with pytest.raises(MalformedPattern):
        compile_pattern(pattern)


@pytest.mark.long
async def test_folders_that_are_only_asked_about_are_not_kept_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignore, "MAX_FOLDERS", 100)
    (tmp_path / ".gitignore").write_text("*.log\n")
    rules = IgnoreRules(tmp_path)

    async def ask(number: int) -> None:
        assert rules.is_ignored(f"nowhere{number}/deeper/a.log", False)
        assert not rules.is_ignored(f"nowhere{number}/deeper/a.py", False)

    assert await bytes_kept(ask, 150, 1_500) < 50
