"""State of a process (liveness): whether it is there, and whether it was stopped or suspended (SIGSTOP, Ctrl-Z), and so
hears nothing.

Standard library only.
"""

from __future__ import annotations

import os
import sys


def is_stopped(pid: int | None) -> bool:
    """Whether a process was stopped; False where the system does not tell. Microseconds."""
    if pid is None or sys.platform != "linux":
        return False
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - part of the start of every command
            told = file.read(512)
    except OSError:
        return False
    return told.rpartition(b") ")[2][:1] in (b"T", b"t")


def may_live(pid: int) -> bool:
    """Whether a process of that number may be there. On Windows, where asking would end it, all may. Microseconds."""
    if sys.platform == "win32":
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
