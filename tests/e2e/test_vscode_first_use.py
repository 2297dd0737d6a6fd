"""The VS Code extension as somebody meets it who has just installed it, in a real VS Code (code-server).

A folder that is not trusted, no folder, no server, and a server that the extension installs. Screenshots are kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import product_in
from tests.e2e.repositories import SHOP, commit, git, write
from tests.e2e.test_vscode import CHROMIUM, EXTENSION, PACKAGED, _missing, step, vsix

WHOLE = 1500
"""Seconds: pip's installation of the server and all it builds on included."""

pytestmark = [
    pytest.mark.skipif((reason := _missing()) is not None, reason=str(reason)),
    pytest.mark.timeout(WHOLE + PACKAGED),
]
__all__ = ["vsix"]

UNTRUSTED = "a folder that is not trusted is remembered"
ASKED = "a question in a folder that is not trusted is answered without what the folder brings"
WALKTHROUGH = "the walkthrough opens and its buttons work"
EMPTY = "every command shows something with no folder open"
MISSING = "every command shows something with no server on the machine"
INSTALLED = "the server is installed by the extension when asked to, and serves"


@pytest.fixture(scope="module")
def bundled(vsix: Path) -> Path:
    """The package with the wheel in it."""
    command = ["npm", "run", "package", "--", "--bundled"]
    environ = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run(
        command, cwd=EXTENSION, env=environ, capture_output=True, text=True, timeout=PACKAGED, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return EXTENSION / "aurora-bundled.vsix"


@pytest.fixture(scope="module")
def known(vsix: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What was seen in Restricted Mode and without a folder, where the server is on PATH."""
    folder = tmp_path_factory.mktemp("restricted")
    launcher = folder / "bin" / "aurora"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m aurora_cli "$@"\n')
    launcher.chmod(0o755)
    path = f"{launcher.parent}{os.pathsep}{os.environ['PATH']}"
    yield from journey(folder, vsix, {"PATH": path}, [UNTRUSTED, ASKED, WALKTHROUGH, EMPTY])


@pytest.fixture(scope="module")
def unknown(bundled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What was seen where there is no server, until the extension had installed it."""
    folder = tmp_path_factory.mktemp("missing")
    path = os.pathsep.join(
        each for each in os.environ["PATH"].split(os.pathsep) if not Path(each, "aurora").exists() and each
    )
    yield from journey(folder, bundled, {"PATH": path, "HOME": str(folder)}, [MISSING, INSTALLED])


def journey(folder: Path, package: Path, environ: dict[str, str], only: list[str]) -> Iterator[dict[str, Any]]:
    """Take the steps `only` in a window of their own."""
    agents = {
        "agents": [{"id": "toucher", "description": "touches a file", "command": ["touch", str(folder / "touched")]}]
    }
    root = write(folder / "shop", {**SHOP, ".aurora/agents.json": json.dumps(agents)})
    git(root, "init", "-q", "-b", "main")
    commit(root, "open the shop")
    home = folder / "aurora"
    with product_in(home):
        options = {
            "steps": "./firstUse.mjs",
            "only": only,
            "restricted": UNTRUSTED in only,
            "folder": str(root),
            "data": str(folder / "data"),
            "extensions": str(folder / "extensions"),
            "artefacts": str(folder / "artefacts"),
            "install": [str(package)],
            "settings": {
                "security.workspace.trust.startupPrompt": "never",
                "workbench.startupEditor": "none",
                "workbench.tips.enabled": False,
                "files.hotExit": "off",
                "telemetry.telemetryLevel": "off",
            },
            "environment": {"AURORA_HOME": str(home), **environ},
            "chromium": CHROMIUM,
            "question": "Where is the tax added to a total price",
        }
        (folder / "options.json").write_text(json.dumps(options))
        command = ["node", "test/journey.mjs", str(folder / "options.json")]
        done = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, timeout=WHOLE, check=False)
        print(done.stdout, done.stderr, f"screenshots: {folder / 'artefacts'}", sep="\n")
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads((folder / "artefacts" / "report.json").read_text())
        yield {"steps": {each["name"]: each for each in report["steps"]}, "folder": folder}


def all_visible(shown: dict[str, dict[str, Any]]) -> None:
    assert len(shown) > 10
    assert {title: what for title, what in shown.items() if not what.get("news")} == {}


def test_memory_works_in_a_folder_that_is_not_trusted(known: dict[str, Any]) -> None:
    found = step(known, UNTRUSTED)
    assert "called by pay_by_card" in found["text"]
    assert "limited in restricted mode" in found["trust"].casefold() and "AURORA" in found["trust"]


def test_nothing_that_a_folder_brings_runs_before_it_is_trusted(known: dict[str, Any]) -> None:
    assert "add_tax" in step(known, ASKED)["text"]
    assert not (known["folder"] / "touched").exists()


def test_the_walkthrough_leads_to_recall(known: dict[str, Any]) -> None:
    found = step(known, WALKTHROUGH)
    assert len(found["steps"]) == 5 and "Install the server" in found["steps"][0]
    assert "What is it about?" in found["recall"]


def test_without_a_folder_every_command_shows_something(known: dict[str, Any]) -> None:
    shown = step(known, EMPTY)["shown"]
    all_visible(shown)
    assert "none is open in this window" in str(shown["Recall…"])


def test_without_a_server_every_command_shows_something(unknown: dict[str, Any]) -> None:
    found = step(unknown, MISSING)
    assert "which came with this extension" in found["offered"]
    all_visible(found["shown"])


def test_the_extension_installs_the_server_when_asked_and_uses_it(unknown: dict[str, Any]) -> None:
    found = step(unknown, INSTALLED)
    assert "is installed" in found["told"] and "pay_by_card" in found["hover"]


def test_the_installation_by_itself() -> None:
    done = subprocess.run(["npm", "test"], cwd=EXTENSION, capture_output=True, text=True, timeout=WHOLE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
