"""Cache of a workspace's agents: what is kept of them between runs, in a file in $AURORA_HOME/agents that is replaced
atomically under a file lock.

What agents' files declare of environment and headers may hold keys, and is not kept: an agent that has some is read
from its own file again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_indexer import IndexerError
from aurora_indexer.files.safe_read import read_prefix
from aurora_orchestration import OrchestrationError
from aurora_orchestration.agents.discovery import Discovered
from aurora_protocol import typed
from aurora_protocol.strict_modes import OWN_FILE, make_private_folder

FORMAT = 1
MAX_BYTES = 32 << 20
LOCK_SECONDS = 10.0


class Tally(Struct, frozen=True):
    """Tally of how an agent's work was judged so far; `last` is when it was, in Unix seconds (0: before that was
    noted).
    """

    good: float = 0.0
    all: float = 0.0
    last: float = 0.0


class ToolOffer(Struct, frozen=True):
    """Offer of tools, what an MCP server said it offers; `key` tells one way of starting it from another."""

    key: str
    tools: tuple[str, ...] = ()
    description: str = ""
    trouble: str = ""


class Kept(Struct, frozen=True):
    """Content of the cache file. `refreshed_at` in Unix seconds, 0 for never; `whole` is false where agents must be
    read again.
    """

    format: int = FORMAT
    refreshed_at: float = 0.0
    trusted: bool = False
    asked: str = ""
    whole: bool = False
    found: Discovered = Discovered()
    offers: dict[str, ToolOffer] = {}
    tallies: dict[str, Tally] = {}
    paths: tuple[str, ...] = ()
    last_discovered_path: str | None = None


class Cache:
    """Cache of agents: the file of one workspace."""

    def __init__(self, home: Path, workspace: Path) -> None:
        digest = hashlib.sha256(os.fsencode(workspace)).hexdigest()[:12]
        name = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in workspace.name)[:60]
        self.path = home / "agents" / f"{name or 'root'}-{digest}.json"
        self.declined = home / "agents" / "none-wanted"
        """Exists when the user was asked where agents are, in any workspace, and there are none."""

    def read(self) -> Kept:
        """What is kept; nothing where there is no file, or one of another version or that cannot be read. Blocks."""
        try:
            kept = typed.decode(read_prefix(os.fspath(self.path), MAX_BYTES, owner=0), Kept)
        except (OSError, IndexerError, msgspec.MsgspecError, RecursionError):
            return Kept()
        return kept if kept.format == FORMAT else Kept()

    def decline(self) -> None:
        """Keep that the user has no agents. Blocks. Raises OrchestrationError."""
        try:
            make_private_folder(self.declined.parent)
            self.declined.touch(0o600)
        except OSError as error:
            raise OrchestrationError(f"{self.declined}: cannot be written: {error.strerror or error}") from error

    @contextlib.contextmanager
    def changing(self) -> Iterator[Change]:
        """Read-modify-write under a file lock: other processes wait. Blocks. Raises OrchestrationError."""
        from filelock import FileLock, Timeout

        try:
            make_private_folder(self.path.parent)
            with FileLock(self.path.with_suffix(".lock"), timeout=LOCK_SECONDS, mode=0o600):
                change = Change(self.read())
                yield change
                self._write(change.kept)
        except Timeout as error:
            raise OrchestrationError(f"{self.path}: another process keeps it locked; end that one") from error
        except OSError as error:
            raise OrchestrationError(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def _write(self, kept: Kept) -> None:
        """Write a temporary file, fsync it, and rename it over the old one: atomic."""
        content = msgspec.json.encode(_without_keys(kept))
        temporary = self.path.with_suffix(f".{os.getpid()}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | OWN_FILE, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)


class Change:
    """Change (transaction) of what is kept, while the file is locked: assign to `kept`."""

    def __init__(self, kept: Kept) -> None:
        self.kept = kept


def _without_keys(kept: Kept) -> Kept:
    """Agents without credentials, as the file has them. `whole` says whether that is all of the agents."""
    found = kept.found
    whole = not any(agent.environment or agent.headers for agent in found.agents)
    agents = tuple(msgspec.structs.replace(agent, environment={}, headers={}) for agent in found.agents)
    ignored = tuple(msgspec.structs.replace(agent, environment={}, headers={}, prompt="") for agent in found.ignored)
    cleaned = msgspec.structs.replace(found, agents=agents, ignored=ignored)
    return msgspec.structs.replace(kept, found=cleaned, whole=whole)
