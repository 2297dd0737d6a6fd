"""Questions about relations from outside: asked of a real daemon by the command line, an agent and an editor alike."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.programs import COMMAND, run
from tests.server.agents import agent, environment, said
from tests.server.daemons import Daemon, until
from tests.wait_limits import HANG

FILES = {
    "store.py": "class Store:\n    def read_rows(self, key):\n        return [key]\n\n\nclass Base:\n    pass\n",
    "memory_store.py": "from store import Base, Store\n\n\nclass MemoryStore(Base):\n    pass\n\n\n"
    "def load(key):\n    store = Store()\n    return store.read_rows(key)\n",
    "other.py": "def copy(source, key):\n    return source.read_rows(key)\n",
}
ANSWERS = [
    ("who calls read_rows", ["load", "maybe copy"], "1 calls 'read_rows', and maybe 1 more."),
    ("callers of Store.read_rows", ["load", "maybe copy"], "1 calls 'Store.read_rows', and maybe 1 more."),
    ("where is read_rows used?", ["load", "maybe copy"], "1 calls 'read_rows', and maybe 1 more."),
    ("what implements Base", ["MemoryStore"], "1 inherits from 'Base'."),
    ("subclasses of Base", ["MemoryStore"], "1 inherits from 'Base'."),
    ("what usually changes with load", ["copy"], "1 changed with 'load'."),
    ("co-changes of load", ["copy"], "1 changed with 'load'."),
    ("who calls load", [], "Nothing here calls 'load', as far as is known."),
    ("who calls raed_rows", [], "Nothing here is called 'raed_rows'; did you mean 'read_rows'?"),
    ("subclasses of Bse", [], "Nothing here is called 'Bse'; did you mean 'Base'?"),
]
EVERY = pytest.mark.parametrize(("query", "names", "hint"), ANSWERS, ids=[each[0] for each in ANSWERS])
Place = tuple[Daemon, Path, Path]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A daemon and a workspace in which two functions were changed together twice."""
    root = tmp_path_factory.mktemp("stores")
    git(root, "init", "-q")
    for turn in range(3):
        for name, text in FILES.items():
            if turn == 0 or name != "store.py":
                (root / name).write_text(text.replace("return s", f"print({turn})\n    return s"), encoding="utf-8")
        git(root, "add", ".")
        git(root, "commit", "-qm", f"Change {turn}")
    home = tmp_path_factory.mktemp("aurora") / "home"
    with Daemon(home) as daemon:
        with daemon.client(root) as client:
            client.request("aurora/index")
            commits = {"query": "co-changes of load"}
            until(lambda: client.request("aurora/recall", commits)["results"] != [], what="git's history is read")
        yield daemon, root, home


def git(root: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *settings, *arguments], cwd=root, env=environment, check=True, capture_output=True)


def aur(root: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(
        [*COMMAND, *arguments],
        cwd=root, env=environment(home, {}), capture_output=True, text=True, timeout=HANG, check=False,
    )  # fmt: skip


def named(reply: dict[str, Any]) -> list[str]:
    return [f"{'maybe ' if each.get('likely') else ''}{each['name']}" for each in reply["results"]]


@EVERY
def test_an_editor(place: Place, query: str, names: list[str], hint: str) -> None:
    daemon, root, _ = place
    with daemon.wire() as wire:
        wire.initialize(root)
        for reply in (
            wire.result("aurora/recall", {"query": query}),
            wire.result("workspace/executeCommand", {"command": "aurora.recall", "arguments": [{"query": query}]}),
        ):
            assert (named(reply), reply["hint"]) == (names, hint)
            assert reply["missing"] == ("is called" in hint)


@EVERY
def test_the_command_line(place: Place, query: str, names: list[str], hint: str) -> None:
    _, root, home = place
    run = aur(root, home, "mem", query)
    lines = (run.stdout + run.stderr).splitlines()
    assert run.returncode == (1 if "is called" in hint else 0), lines
    if names:
        at = [next(n for n, line in enumerate(lines) if _begins(line, name)) for name in names]
        assert at == sorted(at), "what is sure is first"
    assert any(hint in line for line in lines), lines
    if "is called" in hint:
        assert len(lines) == 1


def _begins(line: str, name: str) -> bool:
    words = line.split()
    return words[1 : 1 + len(name.split())] == name.split() or words[1:3] == ["class", name]


@EVERY
async def test_an_agent(place: Place, query: str, names: list[str], hint: str) -> None:
    _, root, home = place
    async with agent(home, root) as client:
        text = said(await client.call_tool("aurora_recall", {"query": query}))
    lines = text.splitlines()
    for number, name in enumerate(names, start=1):
        assert lines[number - 1].startswith(f"{number}. {name} "), text
    assert hint in lines


@pytest.mark.parametrize(
    "target", ["Store.read_rows", "read_rows", "store.py:read_rows", "store.py:3", "code:store.py:Store.read_rows"]
)
def test_explain_takes_names_places_and_ids(place: Place, target: str) -> None:
    _, root, home = place
    run = aur(root, home, "explain", target)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0].split() == ["Store.read_rows", "store.py:2"]
    assert "    called by load" in lines
    assert "    maybe called by copy" in lines


def test_explain_of_what_is_not_there_is_one_line(place: Place) -> None:
    _, root, home = place
    run = aur(root, home, "explain", "raed_rows")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "aurora: nothing here is called 'raed_rows'; did you mean 'read_rows'?\n"


def test_explain_with_several_words_recalls(place: Place) -> None:
    _, root, home = place
    run = aur(root, home, "explain", "read", "rows", "--limit", "1")
    assert run.returncode == 2, "an option of mem is none of explain"
    assert "read_rows" in aur(root, home, "explain", "read", "rows").stdout


async def test_agents_explain_names_and_places(place: Place) -> None:
    _, root, home = place
    async with agent(home, root) as client:
        for target in ("read_rows", "store.py:3"):
            text = said(await client.call_tool("aurora_explain", {"id": target}))
            assert text.startswith("code:store.py:Store.read_rows:")
