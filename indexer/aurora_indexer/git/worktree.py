"""Work tree status (git status, dirty files): how files stand to HEAD: which are tracked, and what was edited since.

`git diff` on a work tree would run the clean filters a repository configures, so this reads files and blobs itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from aurora_indexer.files.safe_read import Changing, NotARegularFile, TooLarge, read_steady
from aurora_indexer.git import commands
from aurora_indexer.git.line_diff import hunks_between
from aurora_indexer.git.line_moves import Hunk
from aurora_indexer.workers.messages import content_hash

MAX_FILE = 4 << 20
MAX_EDITED = 500
"""Edited files that are compared line by line; who edits more at once gets the history of these with the next walk."""

TREE_SECONDS = 20.0


async def tracked_files(root: Path, commit: str, paths: Iterable[bytes] = ()) -> dict[bytes, bytes] | None:
    """Tracked files: paths below `root` as git has them, with their blobs' hashes (hex); None if git cannot tell. Only
    those of `paths` where any are given. Raises GitSilent."""
    arguments = ["ls-tree", "-r", "-z", commit, "--", *map(os.fsdecode, paths)]
    said = await commands.told(root, arguments, seconds=TREE_SECONDS)
    if said is None:
        return None
    found: dict[bytes, bytes] = {}
    for entry in said.split(b"\0"):
        facts, _, path = entry.partition(b"\t")
        words = facts.split(b" ")
        if len(words) == 3 and words[1] == b"blob":
            found[path] = words[2]
    return found


async def edits(
    root: Path, files: Mapping[bytes, bytes], indexed: Mapping[str, bytes]
) -> tuple[dict[bytes, list[Hunk]], set[bytes]]:
    """The hunks from HEAD to the indexed content of those `files` that differ, and the files that cannot be compared.

    `indexed` holds the content hashes of today's chunks: a file saved since is left for the next walk.
    """
    contents, lost = await asyncio.to_thread(_differing, root, files, indexed)
    blobs = await _blobs(root, [files[path] for path in contents])
    hunks: dict[bytes, list[Hunk]] = {}
    for path, content in contents.items():
        old = blobs.get(files[path])
        if old is None:
            lost.add(path)
        else:
            hunks[path] = await asyncio.to_thread(hunks_between, old, content)
    return hunks, lost


def _differing(
    root: Path, files: Mapping[bytes, bytes], indexed: Mapping[str, bytes]
) -> tuple[dict[bytes, bytes], set[bytes]]:
    """Dirty files: contents of those whose blob is not HEAD's, and those that cannot be compared."""
    contents: dict[bytes, bytes] = {}
    lost: set[bytes] = set()
    for path, blob in files.items():
        name = path.decode("utf-8", "surrogateescape")
        try:
            content, _ = read_steady(str(root / name), MAX_FILE)
        except (OSError, NotARegularFile, TooLarge, Changing):
            lost.add(path)
            continue
        if content_hash(content) != indexed.get(name):
            lost.add(path)
        elif blob not in (_blob_hash(content, len(blob)), _blob_hash(content.replace(b"\r\n", b"\n"), len(blob))):
            if len(contents) < MAX_EDITED:
                contents[path] = content
            else:
                lost.add(path)
    return contents, lost


def _blob_hash(content: bytes, digits: int) -> bytes:
    """Object id of a blob, as git computes it."""
    digest = hashlib.new("sha1" if digits == 40 else "sha256", usedforsecurity=False)
    digest.update(b"blob %d\0" % len(content))
    digest.update(content)
    return digest.hexdigest().encode()


async def _blobs(root: Path, wanted: Iterable[bytes]) -> dict[bytes, bytes]:
    """The contents of blobs; those git does not have are left out."""
    names = list(dict.fromkeys(wanted))
    if not names:
        return {}
    said = await commands.answer(
        root, ["cat-file", "--batch"], send=b"".join(b"%s\n" % name for name in names), seconds=20.0
    )
    found: dict[bytes, bytes] = {}
    place = 0
    while said and (end := said.find(b"\n", place)) >= 0:
        words = said[place:end].split(b" ")
        place = end + 1
        if len(words) == 3 and words[1] == b"blob":
            size = int(words[2])
            found[words[0]] = said[place : place + size]
            place += size + 1
    return found
