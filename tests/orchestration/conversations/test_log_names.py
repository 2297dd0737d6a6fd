"""Names of conversation logs: telling, safe for every file system, and never given twice."""

from __future__ import annotations

import os
import subprocess
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_orchestration.conversations.log_names import day_of, keywords, names, reserve
from aurora_orchestration.settings import FileNaming
from tests.orchestration.runs import BEGAN
from tests.programs import CODE, Started, start
from tests.wait_limits import HANG

NAMING = FileNaming()


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Implement OAuth2 authentication for our API", "oauth-authentication-2025-12-13.md"),
        ("Fix database migration issue", "database-migration-2025-12-13.md"),
        ("Optimize React component rendering", "react-rendering-2025-12-13.md"),
        ("How does the recall ranking work?", "recall-ranking-2025-12-13.md"),
        ("why is it so slow?", "slow-2025-12-13.md"),
        ("is IPv6 routing supported", "ipv6-routing-2025-12-13.md"),
        ("Wo werden Schlüssel geprüft?", "werden-schlussel-2025-12-13.md"),
        ("what of it?", "query-1-2025-12-13.md"),
        ("", "query-1-2025-12-13.md"),
    ],
)
def test_two_telling_words_of_the_question_and_the_day(query: str, name: str) -> None:
    assert next(names(query, BEGAN, NAMING)) == name


def test_the_number_of_words_and_the_fallback_are_configured() -> None:
    three = FileNaming(keyword_count=3, fallback_prefix="../ask me")
    assert keywords("rotate the signing keys of the token service", 3) == ("rotate", "signing", "keys")
    assert next(names("rotate the signing keys", BEGAN, three)) == "rotate-signing-keys-2025-12-13.md"
    assert next(names("?", BEGAN, three)) == "askme-1-2025-12-13.md"


@given(st.text(max_size=400))
def test_every_question_has_a_name_that_stays_in_its_folder(query: str) -> None:
    for name in islice(names(query, BEGAN, NAMING), 3):
        stem = name.removesuffix(".md")
        assert all(sign.isalnum() or sign == "-" for sign in stem), name
        assert len(os.fsencode(name)) < 250
        assert day_of(name) == day_of(f"{name}.gz") == "2025-12-13"


@pytest.mark.parametrize("query", ["../../etc/passwd", "con nul", "a/b\\c\0d", ".hidden ..", "x" * 70 + " " + "é" * 75])
def test_hostile_questions_make_a_file_in_their_month(tmp_path: Path, query: str) -> None:
    path, descriptor = reserve(tmp_path, query, BEGAN, NAMING)
    os.close(descriptor)
    assert path.parent == tmp_path / "2025" / "12" and path.is_file()
    assert not path.name.startswith(".")


def test_files_and_folders_are_closed_to_others(tmp_path: Path) -> None:
    path, descriptor = reserve(tmp_path / "logs", "token refresh", BEGAN, NAMING)
    os.close(descriptor)
    assert path.stat().st_mode & 0o777 == 0o600
    assert {each.stat().st_mode & 0o777 for each in (path.parent, path.parent.parent, tmp_path / "logs")} == {0o700}


def test_a_name_is_taken_by_the_compressed_form_too(tmp_path: Path) -> None:
    place = tmp_path / "2025" / "12"
    place.mkdir(parents=True)
    (place / "token-refresh-2025-12-13.md.gz").touch()
    (place / "Token-Refresh-2025-12-13-2.md").touch()
    path, descriptor = reserve(tmp_path, "token refresh", BEGAN, NAMING)
    os.close(descriptor)
    assert path.name == "token-refresh-2025-12-13-3.md"


RACE = """
import sys, os
from pathlib import Path
from aurora_orchestration.conversations.log_names import reserve
from aurora_orchestration.settings import FileNaming
sys.stdin.read(1)
for _ in range(25):
    query = "?" if sys.argv[2] == "none" else "token refresh"
    path, descriptor = reserve(Path(sys.argv[1]), query, 1765636335.0, FileNaming())
    os.close(descriptor)
    print(path.name)
"""


def said_by(program: Started) -> list[str]:
    """The lines of a program, which has ended then."""
    with program:
        assert program.stdout is not None
        lines: list[str] = program.stdout.read().splitlines()
        program.wait(HANG)
    return lines


@pytest.mark.parametrize("words", ["some", "none"])
def test_processes_that_race_never_get_the_same_name(tmp_path: Path, words: str) -> None:
    racers = [
        start([*CODE, RACE, str(tmp_path), words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for each in racers:
        assert each.stdin is not None
        each.stdin.write("x")
        each.stdin.flush()
    got = [name for each in racers for name in said_by(each)]
    assert len(got) == len(set(got)) == 100


def test_other_names_are_not_ours() -> None:
    for name in ("notes.md", "2025-12-13.md", "a-2025-13-01.md", "a-2025-12-13.txt", "a-b.md", "x/a-2025-12-13.md"):
        assert day_of(name) is None
