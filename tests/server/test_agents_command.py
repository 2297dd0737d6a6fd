"""`aurora agents list|refresh`: as people and programs see it, without the daemon."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aurora_cli.agents import agent_lines
from aurora_cli.output import TerminalStyle
from tests.programs import COMMAND, run


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    (root / ".git").mkdir(parents=True)
    (root / ".aurora").mkdir()
    evil = [{"id": "evil\x1b[31m", "type": "executable", "path": "./evil"}]
    (root / ".aurora" / "agents.json").write_text(json.dumps(evil))
    (tmp_path / "h").mkdir()
    mine = [{"id": "mine", "type": "http", "endpoint": "https://x.y/z", "headers": {"Authorization": "Bearer hush"}}]
    (tmp_path / "h" / "agents.json").write_text(json.dumps(mine))
    return root


def aurora(workspace: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    home = workspace.parent
    environ = {**os.environ, "AURORA_HOME": str(home / "h"), "HOME": str(home / "u")}
    return run([*COMMAND, "agents", *arguments], cwd=workspace, env=environ, capture_output=True, text=True)


def test_agents_are_listed_and_those_of_an_untrusted_workspace_named_as_ignored(workspace: Path) -> None:
    done = aurora(workspace, "list", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert [agent["id"] for agent in document["agents"]] == ["mine", "llm-executor"]
    assert [(agent["id"], agent["trusted"]) for agent in document["ignored"]] == [("evil\x1b[31m", False)]
    assert "hush" not in done.stdout and "aurora trust" in document["notices"][0]
    shown = aurora(workspace, "list")
    assert shown.returncode == 0 and "mine" in shown.stdout and "\x1b" not in shown.stdout
    assert "is not trusted" in shown.stdout
    assert "" not in map(str.strip, shown.stdout.splitlines()), "an agent without a description has no empty line"
    assert not (workspace.parent / "h" / "run").exists(), "no daemon was needed"


def test_refresh_looks_again_and_trust_counts(workspace: Path) -> None:
    aurora(workspace, "list")
    (workspace.parent / "h" / "agents.json").write_text("[]")
    run(
        [*COMMAND, "trust"],
        cwd=workspace,
        env={**os.environ, "AURORA_HOME": str(workspace.parent / "h"), "HOME": str(workspace.parent / "u")},
        capture_output=True,
        check=True,
    )
    document = json.loads(aurora(workspace, "refresh", "--json").stdout)
    assert [agent["type"] for agent in document["agents"]] == ["executable", "builtin"]
    assert document["ignored"] == [] and document["last_discovered_path"] == "./.aurora/agents.json"


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        pytest.param({"description": "Tests it"}, ["a cli", "Tests it"], id="what it says of itself before its skills"),
        pytest.param({}, ["a cli", "test, web"], id="else its skills"),
        pytest.param({"capabilities": (), "domains": ()}, ["a cli"], id="else nothing, and no empty line"),
        pytest.param({"success_rate": 0.0}, ["a cli · 0% done well", "test, web"], id="how it did, also where badly"),
    ],
)
def test_an_agent_is_told_by(said: dict[str, Any], lines: list[str]) -> None:
    agent = SimpleNamespace(
        **{"id": "a", "type": "cli", "success_rate": None, "capabilities": ("test",), "domains": ("web",),
           "description": "", "origin": "here", **said}
    )  # fmt: skip
    known: Any = SimpleNamespace(agents=[agent], ignored=[], notices=["a notice"])
    shown = [line.strip() for line in agent_lines(known, TerminalStyle())]
    assert shown == ["1 agent", *lines, "here", "a notice"]
