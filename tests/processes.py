"""Processes that tests start, and that are to end."""

from __future__ import annotations

import psutil


def lives(pid: int) -> bool:
    """Whether a process is there and is no zombie; it may end while it is asked."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
