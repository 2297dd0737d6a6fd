"""Removal of secrets from memory files that were set aside: what was damaged, what was adopted elsewhere.

Nobody opens them again, so the memory's own cleaning never comes to them. Their bytes are gone through instead: what
looks like a secret becomes spaces, in its place, so that all the rest of a file can be read as before. A secret that
SQLite has split over two pages is not seen, and neither are single words of one in the word index.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from aurora_protocol import typed
from aurora_protocol.secret_mask import RULES, blanked
from aurora_protocol.strict_modes import open_own, read_own

BLOCK = 1 << 20
OVERLAP = 1 << 16
"""Bytes of the next block that are looked at with each: more than the longest secret."""

_ASIDE = ("*.db.damaged-*", "*.db.adopted*")
_DONE = ".secret-rules.json"


class _Done(msgspec.Struct):
    """Which files were gone through, by which rules."""

    rules: str = ""
    files: list[str] = []


def clean_aside(folder: Path) -> list[Path]:
    """Blank the secrets of the files set aside in a folder of memory files, each once; returns those that had some.

    Blocks. Raises OSError where one cannot be written; those before it are done.
    """
    found = sorted({path for pattern in _ASIDE for path in folder.glob(pattern) if not path.name.endswith("-shm")})
    known = _known(folder / _DONE)
    todo = [path for path in found if path.name not in known]
    changed = []
    try:
        for path in todo:
            if path.is_file() and not path.is_symlink() and _blank(path):
                changed.append(path)
            known.add(path.name)
    finally:
        if todo:
            _remember(folder / _DONE, sorted(known & {path.name for path in found}))
    return changed


def _blank(path: Path) -> bool:
    before = path.stat()
    changed = False
    with os.fdopen(open_own(path, os.O_RDWR), "r+b") as file:
        for at in range(0, before.st_size, BLOCK):
            file.seek(at)
            raw = file.read(BLOCK + OVERLAP)
            clean = blanked(raw)
            if clean != raw:
                file.seek(at)
                file.write(clean)
                changed = True
        file.flush()
        os.fsync(file.fileno())
    if changed:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    return changed


def _known(path: Path) -> set[str]:
    try:
        done = typed.decode(read_own(path, BLOCK), _Done)
    except (OSError, msgspec.DecodeError):  # the first time, or not ours any more
        return set()
    return set(done.files) if done.rules == RULES else set()


def _remember(path: Path, files: list[str]) -> None:
    unfinished = path.with_suffix(".tmp")
    with contextlib.suppress(FileNotFoundError):
        unfinished.unlink()
    with os.fdopen(open_own(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(msgspec.json.encode(_Done(rules=RULES, files=files)))
    unfinished.replace(path)
