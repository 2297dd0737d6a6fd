"""What holds for all tests, whatever machine and shell they are run from."""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.leaks import fork_servers, no_daemon_left, no_task_left, nothing_left_behind, watch_tasks
from tests.programs import FORK_SERVERS, shared_server

__all__ = ["fork_servers", "no_daemon_left", "no_task_left", "nothing_left_behind"]

# How long an example takes says more of the machine than of the code: `make bench` is for time. `make test` has few
# examples of each law, the same each time; `make test-long` has four times as many, others each time.
settings.register_profile("few", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("many", deadline=None)
settings.load_profile("few")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts what runs in the background so, and every program that is started inherits it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


gc.disable()  # until all is collected: what is imported and collected stays


SLOW_ROOMS = ("e2e", "torture", "team", "server")
"""Folders whose tests wait for programs, up to half a minute each: at the end of a run, one worker would wait alone."""


ROOT = Path(__file__).parent.parent
FOR_ALL = contextlib.ExitStack()
"""What the process that gives the workers their tests has for all of them, until the run ends."""


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """The workers of a run share one fork server, which imports while they collect."""
    if not FORK_SERVERS.shared:
        FORK_SERVERS.shared = FOR_ALL.enter_context(shared_server(os.environ))
    node.workerinput["fork_server"] = FORK_SERVERS.shared


def pytest_configure(config: pytest.Config) -> None:
    FORK_SERVERS.shared = getattr(config, "workerinput", {}).get("fork_server", "")
    if getattr(config.option, "forked_workers", 0):
        FORK_SERVERS.shared = FOR_ALL.enter_context(shared_server(os.environ))


def pytest_unconfigure() -> None:
    FOR_ALL.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """A worker imports its share of the test files first: in a clone that is new each file, and what it imports, is
    compiled by one worker (8 s of the CPU time for all files) and not by each. What cannot be imported, or is left
    out, the collection tells.
    """
    worker, workers = os.environ.get("PYTEST_XDIST_WORKER", ""), os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    for path in _asked_for(session.config.args)[int(worker.removeprefix("gw")) :: int(workers)] if worker else ():
        with contextlib.suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))


def _asked_for(arguments: list[str]) -> list[Path]:
    """Test files below the arguments, the same in each worker."""
    places = [Path(each.partition("::")[0]).absolute() for each in arguments]
    return sorted({file for place in places for file in (place.rglob("test_*.py") if place.is_dir() else [place])})


def pytest_collection_finish() -> None:
    """What collecting made stays until the end: no garbage collection has to look through it again (a third of the CPU
    time of tests that start no program). One looks seldom: tests make trees of thousands of nodes.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parent.name not in SLOW_ROOMS)
    watch_tasks(items)
