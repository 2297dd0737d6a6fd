"""Where one is led: to the line of a name, below its comments and decorators, by every client alike; and what a file's
path alone finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.agents import agent, said
from tests.server.daemons import Daemon
from tests.server.test_relation_answers import aur

RETRY = '''"""Trying again."""

import functools

# Try again, as often
# as is allowed.
@functools.cache
@functools.wraps(
    print
)
def try_again(times, pause):
    return times * pause


# What is tried.
class Attempt:
    """One of several."""

    # Whether it went well.
    @property
    def went_well(self):
        return try_again(1, 2)
'''
README = "Shop\n====\n\nSells things.\n"
MANUAL = "======\nManual\n======\n\nTry it again.\n"
Place = tuple[Daemon, Path, Path]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    root = tmp_path_factory.mktemp("retries")
    (root / ".git").mkdir()
    for name, text in (("retry.py", RETRY), ("README.md", README), ("manual.rst", MANUAL)):
        (root / name).write_text(text, encoding="utf-8")
    home = tmp_path_factory.mktemp("aurora") / "home"
    with Daemon(home) as daemon:
        with daemon.client(root) as client:
            client.request("aurora/index")
        yield daemon, root, home


def recalled(place: Place, query: str) -> dict[str, Any]:
    daemon, root, _ = place
    with daemon.client(root) as client:
        return dict(client.request("aurora/recall", {"query": query})["results"][0])


@pytest.mark.parametrize(
    ("query", "name", "lines"),
    [
        ("try_again", "try_again", (5, 11, 12)),
        ("Attempt", "Attempt", (15, 16, 22)),
        ("went_well", "Attempt.went_well", (19, 21, 22)),
        ("manual.rst", "Manual", (1, 2, 5)),
        ("README.md", "Shop", (1, 1, 4)),
        ("retry.py", "<module>", (1, 1, 3)),
    ],
)
def test_a_result_keeps_its_lines_and_says_which_has_its_name(
    place: Place, query: str, name: str, lines: tuple[int, int, int]
) -> None:
    found = recalled(place, query)
    assert found["name"] == name
    assert (found["line_start"], found["line"], found["line_end"]) == lines
    assert found["id"].endswith(f":{lines[0]}-{lines[2]}")


def test_the_command_line_leads_to_the_name(place: Place) -> None:
    _, root, home = place
    assert aur(root, home, "mem", "try_again").stdout.splitlines()[0].split()[:3] == ["1", "try_again", "retry.py:11"]
    first = aur(root, home, "explain", "Attempt.went_well").stdout.splitlines()[0]
    assert first.split() == ["Attempt.went_well", "retry.py:21"]
    assert "retry.py:11" in aur(root, home, "who", "try_again").stdout.splitlines()[0]


def test_a_path_finds_the_file_then_what_it_defines(place: Place) -> None:
    _, root, home = place
    lines = aur(root, home, "mem", "retry.py").stdout.splitlines()
    numbered = [line.split()[1:] for line in lines if line[:2].strip().isdigit()]
    assert [each[: 3 if each[0] in ("class", "module") else 2] for each in numbered] == [
        ["module", "retry", "retry.py:1"],
        ["try_again", "retry.py:11"],
        ["class", "Attempt", "retry.py:16"],
        ["Attempt.went_well", "retry.py:21"],
    ]


async def test_an_agent_is_led_to_the_name(place: Place) -> None:
    _, root, home = place
    async with agent(home, root) as client:
        text = said(await client.call_tool("aurora_recall", {"query": "try_again"}))
    assert text.startswith("1. try_again retry.py:11-12")


def test_an_editor_is_led_to_the_name(place: Place) -> None:
    daemon, root, _ = place
    uri = (root / "retry.py").as_uri()
    with daemon.wire() as wire:
        wire.initialize(root)
        symbol, *_ = wire.result("workspace/symbol", {"query": "try_again"})
        lenses = wire.result("textDocument/codeLens", {"textDocument": {"uri": uri}})
        at = {"textDocument": {"uri": uri}, "position": {"line": 10, "character": 6}}
        hover = wire.result("textDocument/hover", at)["contents"]["value"]
    assert symbol["location"]["range"] == {"start": {"line": 10, "character": 0}, "end": {"line": 12, "character": 0}}
    assert [each["range"]["start"]["line"] for each in lenses] == [10]
    assert f"called by [Attempt.went\\_well]({uri}#L21)" in hover
