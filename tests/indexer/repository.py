"""Real git repositories for tests, apart from the user's own configuration."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
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
_SETTINGS = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false")


def run(folder: Path, *arguments: str, at: int = 1_700_000_000, said: str = "") -> str:
    """What git says; `at` is the time of what it commits, `said` what it is told."""
    done = subprocess.run(
        ["git", *_SETTINGS, *arguments],
        cwd=folder,
        env={**_ENVIRONMENT, "GIT_COMMITTER_DATE": f"@{at} +0000", "GIT_AUTHOR_DATE": f"@{at} +0000"},
        input=said.encode(),
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
    head = folder / ".git" / "HEAD"
    if not head.is_file():  # a work tree beside
        return run(folder, "rev-parse", "HEAD")
    place = head.read_text().strip()  # one program less for each commit of each test
    return (head.parent / place.removeprefix("ref: ")).read_text().strip() if place.startswith("ref: ") else place


def commits(folder: Path, path: str, texts: Sequence[str]) -> None:
    """Commit a file's texts one after the other, as c0, c1, …, with one program. Nothing of it is checked out."""
    told = "".join(
        f"commit refs/heads/main\ncommitter t <t@example.com> 1700000000 +0000\ndata <<.\nc{number}\n.\n"
        f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n"
        for number, text in enumerate(texts)
    )
    run(folder, "fast-import", "--quiet", said=told)
