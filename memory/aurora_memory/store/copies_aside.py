"""Removal (scrubbing) of secrets from memory files that were set aside: copies of what was damaged, what was adopted
elsewhere.

Nobody opens them again, so the memory's own cleaning never comes to them. Their bytes are gone through instead: what
looks like a secret becomes spaces, in its place, so that all the rest of a file can be read as before. Texts that
SQLite has split over pages are put together first. Single words of a secret in the word index are not seen, and neither
are halves of one of which no page leads to the other any more.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import BinaryIO

import msgspec

from aurora_memory.store.page_reader import ByteRange, Pages
from aurora_protocol import typed
from aurora_protocol.secret_mask import RULES, blanked
from aurora_protocol.strict_modes import open_own, read_own

BLOCK = 1 << 20
OVERLAP = 1 << 16
"""Bytes of the next block that are looked at with each: more than the longest secret."""

PAGES = 256
"""Pages of one text that are looked at together, and again with the last `PAGES_AGAIN` of them."""
PAGES_AGAIN = 16

_ASIDE = ("*.db.damaged-*", "*.db.adopted*")
_DONE = ".secret-rules.json"
_RULES = f"{RULES} across pages"
"""By which rules, and how, files are gone through: another word and all are gone through again."""


class _Done(msgspec.Struct):
    """Which files were gone through, by which rules."""

    rules: str = ""
    files: list[str] = []


def clean_aside(folder: Path) -> list[Path]:
    """Scrubbing: blank the secrets of the files set aside in a folder of memory files, each once; returns those that
    had some.

    Blocks. Raises OSError where one cannot be written; those before it are done.
    """
    found = sorted({path for pattern in _ASIDE for path in folder.glob(pattern) if not path.name.endswith("-shm")})
    known = _known(folder / _DONE)
    todo = [path for path in found if path.name not in known]
    changed = []
    try:
        for path in todo:
            if path.is_file() and not path.is_symlink() and _kept_in_time(path):
                changed.append(path)
            known.add(path.name)
    finally:
        if todo:
            _remember(folder / _DONE, sorted(known & {path.name for path in found}))
    return changed


def _kept_in_time(path: Path) -> bool:
    """Blank a file, and keep its time (and its log's) where it was changed: how long it is kept counts from there."""
    before = {each: each.stat() for each in (path, _log(path)) if each.is_file()}
    # first what lies on several pages: half a secret may look like one
    changed = not path.name.endswith("-wal") and _blank_spilled(path)
    changed |= _blank(path)
    if changed:
        for each, status in before.items():
            os.utime(each, ns=(status.st_atime_ns, status.st_mtime_ns))
    return changed


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _blank(path: Path) -> bool:
    """Scrubbing of a file in overlapping blocks, in place."""
    changed = False
    with _writable(path) as file:
        for at in range(0, path.stat().st_size, BLOCK):
            file.seek(at)
            raw = file.read(BLOCK + OVERLAP)
            clean = blanked(raw, unknown=False)
            if clean != raw:
                file.seek(at)
                file.write(clean)
                changed = True
        file.flush()
        os.fsync(file.fileno())
    return changed


def _blank_spilled(path: Path) -> bool:
    """Blank secrets of which one page has the beginning and another the end, in a file and in its log."""
    log = _log(path)
    changed = False
    with contextlib.ExitStack() as stack:
        pages = stack.enter_context(Pages(path))
        files = [stack.enter_context(_writable(path))]
        if log.is_file() and not log.is_symlink():
            files.append(stack.enter_context(_writable(log)))
        for places in pages.spilled():
            for first in range(0, max(len(places) - 1, 0), PAGES - PAGES_AGAIN):
                changed |= _blank_together(files, places[first : first + PAGES])
        for file in files:
            file.flush()
            os.fsync(file.fileno())
    return changed


def _blank_together(files: list[BinaryIO], places: list[ByteRange]) -> bool:
    """Scrubbing of a payload that lies in several pieces."""
    parts = []
    for place in places:
        files[place.in_log].seek(place.at)
        parts.append(files[place.in_log].read(place.length))
    raw = b"".join(parts)
    clean = blanked(raw, unknown=False)
    if clean == raw:
        return False
    at = 0
    for place, part in zip(places, parts, strict=True):
        files[place.in_log].seek(place.at)
        files[place.in_log].write(clean[at : at + len(part)])
        at += len(part)
    return True


def _writable(path: Path) -> BinaryIO:
    return os.fdopen(open_own(path, os.O_RDWR), "r+b")


def _known(path: Path) -> set[str]:
    """Files that were gone through by today's rules."""
    try:
        done = typed.decode(read_own(path, BLOCK), _Done)
    except (OSError, msgspec.DecodeError):  # the first time, or not ours any more
        return set()
    return set(done.files) if done.rules == _RULES else set()


def _remember(path: Path, files: list[str]) -> None:
    """Atomic write of which files were gone through."""
    unfinished = path.with_suffix(".tmp")
    with contextlib.suppress(FileNotFoundError):
        unfinished.unlink()
    with os.fdopen(open_own(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(msgspec.json.encode(_Done(rules=_RULES, files=files)))
    unfinished.replace(path)
