"""Atomic write of a private file: all of it or nothing, readable by its user alone (0600)."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from aurora_protocol.strict_modes import make_private_folder


def write_private(path: Path, data: bytes) -> None:
    """Write `data` beside `path` and move it there; its folder is made (0700). Raises OSError, and leaves nothing."""
    make_private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:40]}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
