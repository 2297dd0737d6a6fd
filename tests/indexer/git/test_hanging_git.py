"""A git that does not answer: whoever asks waits as long as was said, whatever the git has started meanwhile."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import psutil
import pytest

from aurora_indexer.git import commands
from aurora_indexer.git.commands import GitSilent
from tests.wait_limits import HANG

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell's program stands for git")

LONG = 3 * HANG
"""Seconds that what git started goes on, with git's pipes in its hands."""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"sleep {LONG:g}; exit 1", id="a program of its own"),
        pytest.param(f"setsid sleep {LONG:g} & echo $! > child; exec sleep {LONG:g}", id="one that left its group"),
    ],
)
async def test_who_asks_a_git_that_hangs_waits_for_git_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(commands, "GONE_SECONDS", 0.1)
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(f"#!/bin/sh\n{script}\n")
    git.chmod(0o755)
    environment = {**os.environ, "PATH": f"{git.parent}{os.pathsep}{os.environ['PATH']}"}
    monkeypatch.setenv("PATH", environment["PATH"])
    began = time.monotonic()
    with pytest.raises(GitSilent, match="took longer than"):
        await commands.told(tmp_path, ["log"], seconds=0.5, environment=environment)
    assert time.monotonic() - began < HANG
    child = tmp_path / "child"
    left = [int(child.read_text())] if child.exists() and child.read_text() else []
    for number in left:
        psutil.Process(number).kill()
    here = [
        each
        for each in psutil.process_iter(["cmdline"])
        if f"sleep {LONG:g}" in " ".join(each.info["cmdline"] or []) and each.pid not in left
    ]
    _, alive = psutil.wait_procs(here, HANG)
    assert alive == [], "what is git's went with it"
