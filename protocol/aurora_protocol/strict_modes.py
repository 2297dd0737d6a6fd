"""Strict modes: owner and file permissions (nothing group- or world-writable) of what is read to be obeyed, as
configuration is, and of where we write (OpenSSH's StrictModes).

A file or folder is believed where it belongs to its user or to root and nobody else may write it. A group may where it
is its user's own, with no other member (the usual one where the umask is 002) and no access list. On Windows nothing
is checked.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

OWN_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Flags of `os.open` for a file of ours that is written: a link in its place is refused, not followed."""


def open_own(path: str | Path, flags: int, mode: int = 0o600) -> int:
    """Open a file of ours to write it: `os.open` with `flags` and `OWN_FILE`. A pipe in its place is not waited for.

    Raises OSError, also for a link, for what is no regular file and for one that others own or may write.
    """
    descriptor = os.open(path, flags | OWN_FILE | getattr(os, "O_NONBLOCK", 0), mode)
    status = os.fstat(descriptor)
    problem = None if stat.S_ISREG(status.st_mode) else f"{path} is no regular file"
    if problem := problem or complaint(path, status):
        os.close(descriptor)
        raise OSError(errno.EPERM, problem, os.fspath(path))
    return descriptor


def without_waiting(path: str, flags: int) -> int:
    """Opener for `open` that waits for no pipe's writer. Where `open` refuses what is there (a folder), nothing is left
    open, as it is behind `os.fdopen`.
    """
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_own(path: str | Path, at_most: int) -> bytes:
    """The first `at_most` bytes of a file of ours. Never waits. Raises OSError as `open_own` does."""
    descriptor = open_own(path, os.O_RDONLY)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(at_most)


def make_private_folder(folder: Path) -> None:
    """Make `folder`, and those above it that are missing, each closed to other users (0700) whatever the umask lets
    them do: `Path.mkdir` gives its mode to the last one only. Raises OSError.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileNotFoundError:
        make_private_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:  # a system may say something else first of what is there, as where it is read-only
        if not folder.is_dir():
            raise


def way_complaint(path: str | Path, also: int | None = None) -> str | None:
    """Why a folder that `path` lies in, or a link on the way, lets others put another in its place; None where nobody
    can.

    In a sticky folder (`/tmp`) nobody can exchange what is another's. `also` is another user who may own the folders,
    as in `complaint`.
    """
    if sys.platform == "win32":
        return None
    if problem := link_complaint(path):
        return problem
    for folder in Path(os.path.realpath(path)).parents:
        status = folder.stat()
        sticky = status.st_mode & stat.S_ISVTX and status.st_uid in (os.geteuid(), 0, also)
        problem = None if sticky else complaint(folder, status, also)
        if problem and not (_is_nobodys(status.st_uid) and not status.st_mode & 0o022):
            return problem
    return None


def link_complaint(path: str | Path) -> str | None:
    """Which link on the way to `path`, itself included, is another user's; None where there is none."""
    if sys.platform == "win32":
        return None
    for link, status in _links(Path(path).absolute()):
        if status.st_uid not in (os.geteuid(), 0) and not _is_nobodys(status.st_uid):
            return f"{link} is a link of user {status.st_uid}, who may let it lead elsewhere; name what it leads to"
    return None


def _links(path: Path, most: int = 40) -> Iterator[tuple[Path, os.stat_result]]:
    """Links on the way to `path`, the first one first, and those on the way to what they name."""
    for each in (*reversed(path.parents), path):
        try:
            status = each.lstat()
            target = each.readlink() if most and stat.S_ISLNK(status.st_mode) else None
        except OSError:
            return
        if target is not None:
            yield each, status
            yield from _links(each.parent / target, most - 1)


def _is_nobodys(user: int) -> bool:
    """Whether a user id stands for all that have none here, as in a container without privileges (Linux)."""
    try:
        nobody = int(Path("/proc/sys/kernel/overflowuid").read_bytes())
        users = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return False
    return user == nobody and users != ["0", "0", "4294967295"]


def complaint(path: str | Path, status: os.stat_result, also: int | None = None) -> str | None:
    """Why what `status` tells of is not to be believed, in a line with the next step; None where it may be.

    `also` is another user who may own it: of what lies in a trusted workspace, the owner of that.
    """
    if sys.platform == "win32":
        return None
    if status.st_uid not in (os.geteuid(), 0, also):
        return (
            f"{path} belongs to user {status.st_uid}, not to you; look at what it says, then remove it or make it yours"
        )
    by_group = status.st_mode & stat.S_IWGRP and not (
        _private_group(status.st_gid, status.st_uid) and not _has_access_list(path)
    )
    if by_group or status.st_mode & stat.S_IWOTH:
        mode = stat.S_IMODE(status.st_mode)
        return (
            f"{path} may be written by other users (mode {mode:o}); look at what it says, then run: chmod go-w '{path}'"
        )
    return None


def is_strange(path: Path) -> bool:
    """Whether what lies at `path` is neither its folder's owner's, nor ours, nor root's, as what anybody can put into
    `/tmp`. False where nobody can tell.
    """
    if sys.platform == "win32":
        return False
    try:
        return path.lstat().st_uid not in (os.geteuid(), 0, path.parent.stat().st_uid)
    except OSError:
        return False


def _has_access_list(path: str | Path) -> bool:
    """Access control list (ACL): whether more users are named than the mode tells of: its bits of the group are then
    the most that any may.
    """
    try:
        return "system.posix_acl_access" in os.listxattr(path)
    except (AttributeError, OSError):  # a system, or a file system, without
        return False


def _private_group(group: int, owner: int) -> bool:
    """Whether `group` is the owner's primary one and nobody else is in it."""
    if sys.platform == "win32":
        return True
    import grp  # both are needed for files that a group may write, which are few
    import pwd

    try:
        if pwd.getpwuid(owner).pw_gid != group:
            return False
        name, members = pwd.getpwuid(owner).pw_name, grp.getgrgid(group).gr_mem
    except KeyError:  # a user or group without a name, as in some containers: who else is in it is not known
        return False
    return set(members) <= {name} and all(user.pw_gid != group or user.pw_name == name for user in pwd.getpwall())
