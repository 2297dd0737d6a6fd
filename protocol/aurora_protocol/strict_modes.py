"""Strict modes: owner and permissions of what is read to be obeyed and of where we write (OpenSSH's StrictModes).

A file or folder is believed where it belongs to its user or to root and nobody else may write it. A group may where it
is its user's own, with no other member (the usual one where the umask is 002). On Windows nothing is checked.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

OWN_FILE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Flags of `os.open` for a file of ours that is written: a link in its place is refused, not followed."""


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
    by_group = status.st_mode & stat.S_IWGRP and not _private_group(status.st_gid, status.st_uid)
    if by_group or status.st_mode & stat.S_IWOTH:
        mode = stat.S_IMODE(status.st_mode)
        return (
            f"{path} may be written by other users (mode {mode:o}); look at what it says, then run: chmod go-w '{path}'"
        )
    return None


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
