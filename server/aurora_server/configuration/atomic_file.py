"""Files that people and AURORA both write, changed in one step: readers see the old file or the new one."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aurora_server.configuration.documents import SettingsError, read_document

PRIVATE = 0o600
WAIT_SECONDS = 10.0
"""How long another process that changes the same file is waited for."""


def change(path: Path, home: Path, how: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Replace the JSON object in `path` by what `how` makes of it; returns that. Other processes wait meanwhile.

    A new file is 0600, an existing one keeps its mode, a link stays one. The lock is kept in `home`. Raises
    SettingsError, also where the present content is no JSON object: it is not replaced then.
    """
    from filelock import FileLock, Timeout  # 30 ms that reading need not pay

    path = path.resolve()
    locks = home / "run"
    try:
        locks.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        with FileLock(locks / f"change-{name}.lock", timeout=WAIT_SECONDS, mode=PRIVATE):
            document = how(read_document(path, required=False))
            _replace(path, document)
    except Timeout as error:
        raise SettingsError(
            f"{path} is being changed by another process for {WAIT_SECONDS:.0f} s; try again"
        ) from error
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from error
    return document


def _replace(path: Path, document: dict[str, Any]) -> None:
    try:
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        raise SettingsError(f"{path}: nothing was changed: it would hold a number that JSON does not have") from error
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".new")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(name, stat.S_IMODE(path.stat().st_mode))  # noqa: PTH101 - a name, as mkstemp gives it
        os.replace(name, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)  # noqa: PTH108
        raise
