"""Workspace roots (project root detection): which folder a path belongs to as a workspace. File checks only, and cheap
to import.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

MARKS = (".git", ".aurora")


def find_root(path: Path, *, aurora_home: Path | None = None) -> Path:
    """The nearest folder at or above `path` with `.git` or `.aurora`, else the folder `path` is (or lies in).

    `aurora_home` is the daemon's own folder (default `~/.aurora`), which marks no workspace. Nor does what another user
    put into a folder that is not his, as anybody can into `/tmp`.
    """
    own = (aurora_home if aurora_home is not None else Path("~/.aurora").expanduser()).absolute()
    start = path.expanduser().resolve()
    if not stat.S_ISDIR(_mode(start)):
        start = start.parent
    for folder in (start, *start.parents):
        for mark in MARKS:
            candidate = folder / mark
            if _mode(candidate) and not (mark == ".aurora" and _same(candidate, own)) and not _strange(candidate):
                return folder
    return start


def _same(one: Path, other: Path) -> bool:
    return one == other or (_mode(other) != 0 and one.samefile(other))


def _strange(mark: Path) -> bool:
    """Whether a mark is neither its folder's owner's, nor ours, nor root's."""
    return sys.platform != "win32" and mark.lstat().st_uid not in (os.geteuid(), 0, mark.parent.stat().st_uid)


def _mode(path: Path) -> int:
    """0 where there is nothing, or nothing we may look at."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0
