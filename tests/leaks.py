"""Leaks of tests: threads and processes that go on after the test that made them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

GRACE = 20.0
"""Seconds within which what a test made has ended; only what is still ending then is waited for."""
SHARED_THREADS = ("asyncio_", "ThreadPoolExecutor", "AnyIO")
"""Threads of executors that an event loop, or the interpreter, ends when it ends itself."""


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test after which threads of ours, or processes it started, go on: whoever made them has to end them.

    Those that fixtures of a wider scope have are there before. What is ending gets a moment; nothing is waited for
    where nothing is left, so this costs microseconds.
    """
    threads = set(threading.enumerate())
    children = _children()
    yield
    until = time.monotonic() + GRACE
    for thread in set(threading.enumerate()) - threads:
        if not thread.daemon and not thread.name.startswith(SHARED_THREADS):
            thread.join(max(0.0, until - time.monotonic()))
            assert not thread.is_alive(), f"a thread goes on: {thread.name}"
    for child in _children() - children:
        while _goes_on(child) and time.monotonic() < until:
            time.sleep(0.02)
        assert not _goes_on(child), f"a process goes on: {child}"


def _children() -> set[int]:
    """Process ids of this process's children, as Linux tells them in one file for each thread; elsewhere none."""
    found: set[int] = set()
    for path in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(map(int, path.read_text().split()))
    return found


def _goes_on(pid: int) -> bool:
    """Whether a child is there and works; one that has ended and was not asked for is none that goes on."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] not in ("Z", "X", "")
    return False
