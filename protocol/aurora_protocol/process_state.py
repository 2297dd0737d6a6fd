"""State of a process of ours: whether it was stopped (SIGSTOP, Ctrl-Z), and so hears nothing. Standard library only."""

from __future__ import annotations

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
