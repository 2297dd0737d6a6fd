"""Files of a spec, read bounded and below the root: no path traversal, no symbolic link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from aurora_indexer import IndexerError
from aurora_indexer.files.safe_read import read_steady

MAX_FILE_BYTES = 1 << 20
MAX_FILES = 200
"""Files of one folder that are looked at; no change has that many specs."""

MAX_DEPTH = 8

KERNEL_TICK = 0.01
"""Seconds that a file's time may lie before the clock's: Linux stamps files with its last tick (10 ms at HZ=100)."""


class SeenFile(Struct, frozen=True):
    """A file as it was read: `path` relative to the workspace, with `/`; `at` its mtime in Unix seconds."""

    path: str
    text: str
    at: float


def see(root: Path, path: str) -> SeenFile | None:
    """The file at `path` below `root`; None where there is no regular file, a link, or more than `MAX_FILE_BYTES`."""
    if not _below(root, path):
        return None
    try:
        content, status = read_steady(str(root / path), MAX_FILE_BYTES)
    except (OSError, IndexerError):
        return None
    return SeenFile(path, content.decode("utf-8", "replace"), status.st_mtime)


def names(root: Path, folder: str) -> list[str]:
    """The folders directly in `folder`, links left out, in order; empty where there is none."""
    if not _below(root, folder):
        return []
    try:
        with os.scandir(root / folder) as entries:
            return sorted(each.name for each in entries if each.is_dir(follow_symlinks=False))
    except OSError:
        return []


def documents(root: Path, folder: str) -> list[str]:
    """The Markdown files below `folder`, in order, at most `MAX_FILES`."""
    return sorted(_documents(root, folder, MAX_DEPTH))[:MAX_FILES] if _below(root, folder) else []


def is_folder(root: Path, folder: str) -> bool:
    """Whether `folder` is there, through no link."""
    return _below(root, folder) and (root / folder).is_dir()


def changed_at(root: Path, folder: str) -> float | None:
    """Time when a folder was last made, moved or changed in itself (its ctime), in Unix seconds: never before."""
    try:
        return (root / folder).stat(follow_symlinks=False).st_ctime + KERNEL_TICK
    except OSError:
        return None


def _documents(root: Path, folder: str, depth: int) -> Iterator[str]:
    """Recursive walk for Markdown files, down to a depth; links are not followed."""
    try:
        with os.scandir(root / folder) as listed:
            entries = sorted(listed, key=lambda each: each.name)[: 4 * MAX_FILES]
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and depth > 0:
            yield from _documents(root, f"{folder}/{entry.name}", depth - 1)
        elif entry.name.endswith(".md") and entry.is_file(follow_symlinks=False):
            yield f"{folder}/{entry.name}"


def _below(root: Path, path: str) -> bool:
    """Path traversal check: whether `path` leads straight down from `root`."""
    parts = path.split("/")
    if not path or any(part in ("", ".", "..") for part in parts):
        return False
    above = str(root)
    for part in parts:
        above = f"{above}/{part}"
        if Path(above).is_symlink():
            return False
    return True
