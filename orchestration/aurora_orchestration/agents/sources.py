"""Source of agents, a file that may name some: whose it is, whether it is trusted, and how it is read."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from aurora_indexer import IndexerError
from aurora_indexer.files.safe_read import NotOurs, read_prefix
from aurora_orchestration.types import Agent

MAX_FILE_BYTES = 1 << 20
MAX_SETTINGS_BYTES = 32 << 20
"""`~/.claude.json` keeps more than servers: histories of every project."""

MAX_NOTICES = 100
MAX_AGENTS = 500


class AgentSource(Struct, frozen=True):
    """A file or folder to look for agents in. `shown` is how notices name it.

    `ours` says that it lies in the workspace: `trusted` is then the user's word on that, else always true. Relative
    paths in it are meant from `base`.
    """

    path: Path
    shown: str
    base: Path
    ours: bool
    trusted: bool


class PathState(Struct, frozen=True):
    """State of a path when agents were looked for: nanoseconds and bytes; both 0 where there was nothing."""

    path: str
    mtime_ns: int = 0
    size: int = 0


class FoundAgents(Struct, frozen=True):
    """Agents that a source gave, what was wrong in it, and the files that were looked at."""

    agents: tuple[Agent, ...] = ()
    notices: tuple[str, ...] = ()
    seen: tuple[PathState, ...] = ()


def look(path: Path) -> PathState:
    """How `path` looks now."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return PathState(os.fspath(path))
    return PathState(os.fspath(path), status.st_mtime_ns, status.st_size)


def read_text(source: AgentSource, limit: int = MAX_FILE_BYTES) -> tuple[str, str]:
    """A source's text, and what kept it from being read: one of both is empty. Never waits.

    Links are followed in the user's own folders, not in a workspace's, which could point anywhere.
    """
    try:
        owner = source.base.stat().st_uid if source.ours else 0  # a workspace is obeyed by trust in whose it is
        content = read_prefix(os.fspath(source.path), limit + 1, follow=not source.ours, owner=owner)
    except OSError as error:
        return "", f"{source.shown}: cannot be read: {error.strerror or error}"
    except NotOurs as error:
        return "", str(error)
    except IndexerError:
        return "", f"{source.shown}: is not a regular file"
    if len(content) > limit:
        return "", f"{source.shown}: is larger than {limit >> 10:,} KiB, and was left out"
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return "", f"{source.shown}: is not UTF-8 text"
