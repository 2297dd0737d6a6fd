"""What holds for all tests, whatever machine and shell they are run from."""

from __future__ import annotations

import gc
import signal

import pytest
from hypothesis import settings

from tests.leaks import fork_servers, no_daemon_left, no_task_left, nothing_left_behind, watch_tasks

__all__ = ["fork_servers", "no_daemon_left", "no_task_left", "nothing_left_behind"]

# How long an example takes says more of the machine than of the code: `make bench` is for time.
settings.register_profile("any-machine", deadline=None)
settings.load_profile("any-machine")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background so, and every program that is started inherits it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


gc.disable()  # until all is collected: what is imported and collected stays


SLOW_ROOMS = ("torture", "team")
"""Folders whose tests wait for half a minute each: at the end of a run, one worker would wait alone."""


def pytest_collection_finish() -> None:
    """What collecting made stays until the end: no garbage collection has to look through it again (a third of the CPU
    time of tests that start no program).
    """
    gc.enable()
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parent.name not in SLOW_ROOMS)
    watch_tasks(items)
