"""Child process start: the parent-death signal, and what else every process that works for the daemon does first."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import BinaryIO

_PR_SET_PDEATHSIG = 1


def detach(niceness: int, parent: int) -> None:
    """Live apart from the terminal, at a lower priority (nice), and by the parent-death signal never longer than
    `parent`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if parent and os.getppid() != parent:
            os._exit(0)


def claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Take stdin and stdout for the protocol; whatever a library prints goes to stderr."""
    sys.stdout.flush()
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return requests, replies
