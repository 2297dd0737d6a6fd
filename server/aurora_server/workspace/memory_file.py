"""Where the memory of a workspace is kept."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from aurora_protocol.address import in_home
from aurora_server.configuration.settings import Settings


def database_path(root: Path, settings: Settings) -> Path:
    """Where the memory of `root` is kept: `$AURORA_HOME/memory/<name>-<hash>.db`, or `memory.database_path`."""
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    name = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in root.name)[:60]
    workspace = f"{name or 'root'}-{digest}"
    if settings.memory.database_path is None:
        return settings.home / "memory" / f"{workspace}.db"
    path = in_home(settings.memory.database_path, settings.home)
    return Path(path.replace("{workspace}", workspace)).expanduser().absolute()
