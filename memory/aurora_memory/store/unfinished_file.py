"""Unfinished file (atomic write, then rename): what is to stand at a place once it is whole. Until then it has no name
there (Linux, `O_TMPFILE`): who is killed leaves nothing behind, and nobody else can have it open.

Elsewhere, and on file systems without such files, it has a name that nobody can guess.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from aurora_protocol.strict_modes import OWN_FILE

_OPEN_FILES = Path("/proc/self/fd")


class UnfinishedFile:
    """File that becomes `target`, readable by its user alone (0600). `close` it in any case. Everything blocks."""

    def __init__(self, target: Path, *, unnamed: bool = True) -> None:
        """Raises OSError. With `unnamed` False it has a name in any case."""
        self._target = target
        self._name: Path | None = None
        descriptor = _unnamed_in(target.parent) if unnamed else None
        if descriptor is None:
            self._name = self._free_name()
            descriptor = os.open(self._name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OWN_FILE, 0o600)
        self._file = os.fdopen(descriptor, "wb")

    def write(self, content: bytes) -> None:
        """Write more of it."""
        self._file.write(content)

    def finish(self) -> None:
        """Atomic replacement: put what was written on the disk (fsync), then in the place of what `target` is."""
        self._file.flush()
        os.fsync(self._file.fileno())
        if self._name is None:
            descriptor, name = self._file.fileno(), self._free_name()
            # A folder has to be given, or a link to the link is made; with a whole path it stands for nothing.
            os.link(_OPEN_FILES / str(descriptor), name, src_dir_fd=descriptor, follow_symlinks=True)
            self._name = name
        self._file.close()
        self._name.replace(self._target)
        self._name = None

    def close(self) -> None:
        """Leave nothing of what was not finished."""
        with suppress(OSError):  # what could not be written before cannot be now
            self._file.close()
        if self._name is not None:
            self._name.unlink(missing_ok=True)
            self._name = None

    def _free_name(self) -> Path:
        return self._target.with_name(f".{self._target.name}.{os.getpid()}-{secrets.token_hex(8)}.part")


def _unnamed_in(folder: Path) -> int | None:
    """A new file without a name on the disk of `folder`; None where there are none."""
    flag = getattr(os, "O_TMPFILE", 0)
    if not flag or not _OPEN_FILES.is_dir():
        return None
    try:
        return os.open(folder, flag | os.O_WRONLY | OWN_FILE, 0o600)
    except OSError:  # what is wrong with the folder is told where the name is tried
        return None
