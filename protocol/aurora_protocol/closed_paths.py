"""Closed paths (permission denied, EACCES): the folder or file that its own user may not enter or write, and the
`chmod` that opens it. Standard library only.
"""

from __future__ import annotations

import os
from pathlib import Path


def closed_on_way(path: Path, *, folder: bool = False) -> Path | None:
    """The first folder on the way to `path`, or `path` itself, that we may not use; None where nothing is closed.

    `path` is a file that is written, or with `folder` a folder of such; what is not there yet is not closed.
    """
    of_files = path if folder else path.parent
    for each in (*reversed(path.parents), path):
        needed = os.R_OK | os.W_OK | (os.X_OK if each == of_files else 0) if each in (of_files, path) else os.X_OK
        if not _allowed(each, needed) and _exists(each):
            return each
    return None


def opening(path: Path) -> str:
    """The next step for a closed path: the command that opens it, where it is ours."""
    status = path.stat()
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        return f"have user {status.st_uid} let you write {path}"
    return f"run: chmod {'u+rwx' if path.is_dir() else 'u+rw'} '{path}'"


def _allowed(path: Path, needed: int) -> bool:
    return os.access(path, needed, effective_ids=os.access in os.supports_effective_ids)


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except OSError:  # what is above it is open, or we would not ask: it is not there
        return False
    return True
