"""Temporary files in AURORA's own folder that pass what has no name there between a command and the daemon: standard
input, or what is to go to standard output. Standard library only.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from aurora_protocol.strict_modes import make_private_folder

ABANDONED = 3600.0
"""Seconds after which one that nobody wrote to is one of a command that was killed."""

_PREFIX, _SUFFIX = ".passed-", ".jsonl"
"""Names that nobody gives a file of his own: an export may lie in the same folder, under any name of its user's."""


@contextmanager
def passing_file(home: Path) -> Iterator[Path]:
    """A file that only the user can read, gone when done."""
    make_private_folder(home)
    forget_passed(home)
    handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=home)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def forget_passed(home: Path, now: float | None = None) -> list[Path]:
    """Remove what commands left that were killed; what was removed. Blocks."""
    gone: list[Path] = []
    for each in home.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):  # another one did, or it is no file of ours
            if (time.time() if now is None else now) - each.lstat().st_mtime > ABANDONED:
                each.unlink()
                gone.append(each)
    return gone
