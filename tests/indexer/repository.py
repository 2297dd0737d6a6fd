"""Real git repositories for tests, apart from the user's own configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.com",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.com",
}


def run(folder: Path, *arguments: str, at: int = 1_700_000_000) -> str:
    """What git says; `at` is the time of what it commits."""
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env={**_ENVIRONMENT, "GIT_COMMITTER_DATE": f"@{at} +0000", "GIT_AUTHOR_DATE": f"@{at} +0000"},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def new_repository(folder: Path) -> Path:
    """An empty repository at `folder`."""
    folder.mkdir(parents=True)
    run(folder, "init", "-q")
    return folder


def commit(folder: Path, subject: str, files: Mapping[str, str], at: int = 1_700_000_000) -> str:
    """Write files and commit everything; the new commit's hash."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    run(folder, "add", "-A")
    run(folder, "commit", "-q", "--allow-empty", "-m", subject, at=at)
    return run(folder, "rev-parse", "HEAD")
