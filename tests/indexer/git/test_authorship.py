"""Authors by git: whose a commit and a line are, and what is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aurora_indexer.git import authorship, commands


def saying(monkeypatch: pytest.MonkeyPatch, said: bytes | None) -> list[dict[str, Any]]:
    """What git was asked with, by and by."""
    asked: list[dict[str, Any]] = []

    async def answer(*_: Any, **options: Any) -> bytes | None:
        asked.append(options)
        return said

    monkeypatch.setattr(commands, "answer", answer)
    return asked


async def test_a_mail_address_is_the_same_person_in_capitals_and_small_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of them: that which `.mailmap` says and that of the commit. The name stays as it is written."""
    saying(monkeypatch, b"c1\0 Ann@Shop.EXAMPLE\0aNN@old.example \0Ann Lee\x001700000000\n")
    (found,) = await authorship.authors(Path("/w"), ["c1"])
    assert found == authorship.Authored("c1", "ann@shop.example", "ann@old.example", "Ann Lee", 1_700_000_000.0)


@pytest.mark.parametrize(
    ("said", "commits"),
    [
        pytest.param(b"c1\0a\0a\0A\x00-5\nc2\0b\0b\0B\x007\n", ["c1", "c2"], id="a time before 1970 is one"),
        pytest.param(b"c1\0a\0a\0A\x00soon\nc2\0b\0b\0B\x007\n", ["c2"], id="no line without a time"),
        pytest.param(b"warning: odd\nc2\0b\0b\0B\x007\n", ["c2"], id="nothing that is no such line"),
        pytest.param(None, [], id="nothing where git says nothing"),
    ],
)
async def test_which_authors_are_told(monkeypatch: pytest.MonkeyPatch, said: bytes | None, commits: list[str]) -> None:
    saying(monkeypatch, said)
    assert [each.commit for each in await authorship.authors(Path("/w"), ["c1", "c2"])] == commits


async def test_lines_that_are_in_no_commit_yet_are_nobodys_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    one, none = "a" * 40, "0" * 40
    said = "".join(f"{commit} 1 1 1\nauthor Ann\n\tcode {n}\n" for n, commit in enumerate([one, none, one]))
    asked = saying(monkeypatch, said.encode())
    assert await authorship.lines_of(Path("/w"), "a.py", 1, 3) == authorship.LineCommits({one: 2}, 1)
    assert asked[0]["seconds"] == 10.0, "git has its time, and no more"
    saying(monkeypatch, None)
    assert await authorship.lines_of(Path("/w"), "a.py", 1, 3) is None, "git cannot tell"


async def test_nothing_is_asked_about_no_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = saying(monkeypatch, b"c1\0a\0a\0A\x007\n")
    assert await authorship.authors(Path("/w"), []) == [] and asked == []
    assert [each.commit for each in await authorship.authors(Path("/w"), ["c1"])] == ["c1"]
    assert asked[0]["send"] == b"c1\n"
