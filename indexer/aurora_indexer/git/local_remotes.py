"""Local remotes (bare repositories on disk): remotes of a repository that are folders of this machine, and where their
branches and tags are.

A push by address moves no remote-tracking branch and leaves no reflog here; what moved at its other end is seen there.
Only that of remotes on this machine: nobody is asked over a network.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from aurora_indexer.git import commands

MAX_REMOTES = 8
MAX_SHOWN = 10
"""Refs of a remote that are told of one by one."""

Published = dict[str, dict[str, str]]
"""Commit of every branch and tag, by ref, of each local remote, by the folder git keeps it in."""

_URLS = r"^remote\..*\.(url|pushurl)$"


async def remote_addresses(root: Path) -> tuple[str, ...]:
    """The addresses of the remotes that are configured at `root`."""
    said = await commands.text(root, ["config", "-z", "--get-regexp", _URLS])
    return tuple(dict.fromkeys(value for _, _, value in (each.partition("\n") for each in said.split("\0")) if value))


def local_path(root: Path, address: str) -> Path | None:
    """The folder that an address means, seen from `root`; None where it is one of another machine. Blocks."""
    plain = unquote(address.removeprefix("file://")) if address.startswith("file://") else address
    try:
        return path if "://" not in plain and (path := (root / plain).resolve()).is_dir() else None
    except (OSError, RuntimeError, ValueError):  # no path that could be followed
        return None


async def published(root: Path) -> Published:
    """What the local remotes of the repository at `root` have now; none of a remote that is that very repository."""
    folders = await asyncio.to_thread(_repositories, root, await remote_addresses(root))
    if not folders:
        return {}
    own = await commands.text(root, ["rev-parse", "--path-format=absolute", "--git-common-dir"])
    own = await asyncio.to_thread(os.path.realpath, own)
    found: Published = {}
    for folder in folders:
        if folder != own and (refs := await _refs(root, folder)) is not None:
            found[folder] = refs
        if len(found) >= MAX_REMOTES:
            break
    return found


async def published_since(root: Path, before: Published, head: str) -> tuple[list[str], list[str]]:
    """What moved at local remotes since `before`, in words: pushed from here, and else by somebody.

    A commit that this repository has and never fetched came from it; so did one of the branch at `head` that no ref
    there was at.
    """
    pushed: list[str] = []
    others: list[str] = []
    for folder, old in before.items():
        new = await _refs(root, folder)
        if new is None:
            others.append(f"remote {folder} cannot be read any more")
            continue
        moved = [ref for ref in sorted({*old, *new}) if old.get(ref) != new.get(ref)]
        for ref in moved[:MAX_SHOWN]:
            shown = f"{ref.removeprefix('refs/heads/')} of {folder}"
            if ref not in new:
                others.append(f"{shown} was deleted")
            elif await _from_here(root, new[ref], old, head):
                pushed.append(f"pushed to {shown}")
            else:
                others.append(f"{shown} was {'moved' if ref in old else 'made'}")
    return pushed, others


async def _from_here(root: Path, commit: str, old: Mapping[str, str], head: str) -> bool:
    """Whether a remote's commit was pushed from here, rather than fetched from it."""
    if commit in old.values() or await commands.answer(root, ["cat-file", "-e", commit]) is None:
        return False
    if head and await commands.text(root, ["merge-base", commit, head]) == commit:
        return True
    return not await commands.text(root, ["for-each-ref", "--count=1", f"--contains={commit}", "refs/remotes"])


async def _refs(root: Path, folder: str) -> dict[str, str] | None:
    """Refs (branches, tags) of a bare repository and their commits; None where git cannot tell."""
    arguments = [f"--git-dir={folder}", "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads", "refs/tags"]
    said = await commands.answer(root, arguments)
    if said is None:
        return None
    lines = said.decode("utf-8", "replace").splitlines()
    return {ref: commit for commit, _, ref in (line.partition(" ") for line in lines)}


def _repositories(root: Path, addresses: Sequence[str]) -> list[str]:
    """The folders (or the files that name them) in which git keeps remotes on this machine, none twice. Blocks."""
    found: dict[str, None] = {}
    for path in (local_path(root, address) for address in addresses):
        if path is None:
            continue
        bare = (path / "HEAD").is_file() and (path / "objects").is_dir()
        folder = path if bare else Path(os.path.realpath(path / ".git"))
        if folder.exists():
            found[str(folder)] = None
    return list(found)
