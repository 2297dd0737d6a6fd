"""Identity of open files (device and inode): of those that a connection has open, and what lies at a memory file's
path, which may have been replaced or deleted. Microseconds; only looks.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from aurora_memory import StoreCorrupt


class FileIdentity:
    """Inodes of the files that lay at a memory file's path when it was opened, with SQLite's own two beside it.

    SQLite goes on with files that have lost their names: what is then acknowledged dies with the process, and a log
    that another process makes anew under the name knows nothing of ours.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        real = os.path.realpath(path)  # beside this one SQLite puts its files
        self._files = (str(path), f"{real}-wal", f"{real}-shm")
        self._known = [_number(each) for each in self._files]

    @property
    def removed(self) -> bool:
        """Whether what is at the path is no more what was opened."""
        return _number(str(self._path)) != self._known[0]

    @property
    def changed(self) -> bool:
        """Whether any of the three is gone or exchanged."""
        for place, name in enumerate(self._files):
            now = _number(name)
            if self._known[place] is None and place:  # SQLite makes its two when it needs them
                self._known[place] = now
            elif now != self._known[place]:
                return True
        return False


def usable_size(path: Path) -> int | None:
    """Bytes of the file at a path; None where there is nothing, -1 where it may not be looked at.

    Raises StoreCorrupt for what can be no memory file: a folder, a pipe, a device, a link to nothing.
    """
    try:
        found = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            raise _no_file(path, "a link to nothing") from None
        return None
    except OSError:
        if path.is_symlink() and not os.access(path, os.F_OK):
            raise _no_file(path, "a link that leads nowhere") from None
        return -1
    if not stat.S_ISREG(found.st_mode):
        raise _no_file(path, "a folder" if stat.S_ISDIR(found.st_mode) else "no file but a pipe or a device")
    return found.st_size


def _no_file(path: Path, what: str) -> StoreCorrupt:
    return StoreCorrupt(f"{path} is {what}, and no memory file; 'aurora doctor --repair' sets it aside")


def _number(name: str) -> tuple[int, int] | None:
    """Device and inode number of what lies at a path; None where nothing does."""
    try:
        found = os.lstat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino
