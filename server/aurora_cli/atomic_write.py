"""A file's text replaced at once: whoever reads it sees the old one or the new one, never half of it."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path


class Changed(Exception):
    """The file is not any more what it was when it was read; the message says so in one line."""


def replace_text(path: Path, old: str, new: str) -> None:
    """Put `new` in place of `old`, which `path` held when it was read, in UTF-8 and with nothing else changed.

    Keeps permissions and, where that is allowed, the owner; a link stays one, what it leads to is replaced. Raises
    Changed, and OSError where the folder cannot be written to.
    """
    target = path.resolve(strict=True)
    status = target.stat()
    if not stat.S_ISREG(status.st_mode):
        raise Changed(f"{path}: this is not a regular file, so it was not fixed; save it as one")
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(new.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if sys.platform != "win32":
            with suppress(PermissionError):  # only root may give files away; the mode below holds anyway
                os.chown(name, status.st_uid, status.st_gid)
        Path(name).chmod(stat.S_IMODE(status.st_mode))
        if target.read_bytes() != old.encode("utf-8"):
            raise Changed(f"{path}: it was changed while it was being fixed, and left alone; try again")
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
