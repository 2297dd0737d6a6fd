"""The VS Code extension, installed from its .vsix into a real VS Code (code-server) and used through its window.

The window is driven by `editor-clients/vscode/test/journey.mjs` in Chromium; here is the world around it (a repository, a
home, a provider on loopback) and the judgement of what it saw. Screenshots are kept in the test's folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.product import product_in
from tests.e2e.repositories import SHOP, commit, git, write
from tests.orchestration.llm.loopback import LoopbackProvider, Request
from tests.orchestration.llm.wire_formats import Scripted
from tests.orchestration.soar.minds import Mind
from tests.server.asking import configure

EXTENSION = Path(__file__).parents[2] / "editor-clients" / "vscode"
CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), "")
PACKAGED = 240
WHOLE = 840
"""Seconds: code-server's installation included, which is kept for the next time."""

QUESTION = "Explain how total_price adds the tax and compare it with pay_by_card"
SLOW = "Explain slowly how renderBasketPage works and compare it with refreshView"
BROKEN = """{
  "$schema": "https://aura.dev/schemas/v1.0.json",
  "protocol": "AURA",
  "version": "1.0",
  "site": {"name": "Notes", "url": "https://notes.example"},
  "resources": {"notes": {"uriPattern": "/notes", "description": "All notes", "operations": {"GET": {"capabilityId": "read"}}}},
  "capabilities": {"read": {"id": "read", "v": "1", "description": "Read", "action": {"type": "HTTP", "method": "GET", "urlTemplate": "/notes"}}}
}
"""


def _missing() -> str | None:
    for program in ("node", "npm", "npx"):
        if shutil.which(program) is None:
            return f"{program} is not installed"
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
    if not version.startswith("v20."):
        return f"code-server 4.100 needs Node 20, this is {version.strip()}"
    return None if CHROMIUM else "chromium is not installed"


pytestmark = [
    pytest.mark.skipif((reason := _missing()) is not None, reason=str(reason)),
    pytest.mark.timeout(WHOLE + PACKAGED),
]


@pytest.fixture(scope="module")
def vsix() -> Path:
    """The package, built as its users get it."""
    lock, installed = EXTENSION / "package-lock.json", EXTENSION / "node_modules" / ".package-lock.json"
    fresh = installed.exists() and installed.stat().st_mtime >= lock.stat().st_mtime
    for command in ([] if fresh else [["npm", "ci"]]) + [["npm", "run", "package"]]:
        done = subprocess.run(command, cwd=EXTENSION, capture_output=True, text=True, timeout=PACKAGED, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return EXTENSION / "aurora.vsix"


@pytest.fixture(scope="module")
def seen(vsix: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What the journey saw, by step. A step that failed has a `problem`."""
    folder = tmp_path_factory.mktemp("vscode")
    root = write(folder / "shop", {**SHOP, "notes/aura.json": BROKEN})
    git(root, "init", "-q", "-b", "main")
    commit(root, "open the shop")
    launcher = folder / "bin" / "aurora"
    launcher.parent.mkdir()
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m aurora_server "$@"\n')
    launcher.chmod(0o755)
    mind = Mind(("Explain how total_price adds the tax", "Compare total_price with pay_by_card"))

    def thinking(request: Request) -> Any:
        if "slowly" in json.dumps(request.body):
            return Scripted(json={}, delay=60.0)
        return mind(request)

    home = folder / "home"
    with LoopbackProvider() as provider, product_in(home, **provider.environ) as product:
        provider.otherwise = thinking
        configure(home, provider)
        mend = BROKEN.splitlines()[6].index('"1"') + 1
        options = {
            "folder": str(root),
            "data": str(folder / "data"),
            "extensions": str(folder / "extensions"),
            "artefacts": str(folder / "artefacts"),
            "install": [str(vsix)],
            "settings": {
                "security.workspace.trust.startupPrompt": "never",
                "workbench.startupEditor": "none",
                "workbench.tips.enabled": False,
                "editor.hover.delay": 100,
                "files.hotExit": "off",
                "telemetry.telemetryLevel": "off",
            },
            "environment": {
                "AURORA_HOME": str(home),
                "PATH": f"{launcher.parent}{os.pathsep}{os.environ['PATH']}",
                **provider.environ,
            },
            "chromium": CHROMIUM,
            "aurora": str(launcher),
            "question": QUESTION,
            "slowQuestion": SLOW,
            "broken": {"line": 7, "column": mend + 1, "fix": "1"},
        }
        (folder / "options.json").write_text(json.dumps(options))
        done = subprocess.run(
            ["node", "test/journey.mjs", str(folder / "options.json")],
            cwd=EXTENSION,
            capture_output=True,
            text=True,
            timeout=WHOLE,
            check=False,
        )
        print(done.stdout, done.stderr, f"screenshots: {folder / 'artefacts'}", sep="\n")
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads((folder / "artefacts" / "report.json").read_text())
        steps = {step["name"]: step for step in report["steps"]}
        yield {"steps": steps, "dropped": len(provider.dropped), "logs": folder / "data" / "logs", "root": root}


def step(seen: dict[str, Any], name: str) -> Any:
    """What was seen in one step; fails with what went wrong in it."""
    found = seen["steps"][name]
    assert "problem" not in found, found["problem"]
    return found["seen"]


def test_the_package_is_small(vsix: Path) -> None:
    assert vsix.stat().st_size <= 500_000


def test_the_window_shows_that_the_folder_is_indexed(seen: dict[str, Any]) -> None:
    assert "AURORA" in step(seen, "the window opens and the folder is indexed")["status"]
