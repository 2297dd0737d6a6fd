"""Private files (mode 0600), which only their user can read: cookies and what was fetched with a user's rights."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_private(file: Path, data: bytes) -> None:
    """Atomic write of `data` to `file`, by a temporary file and a rename: a reader sees the old file or the new one."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name[:40]}-", dir=file.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
