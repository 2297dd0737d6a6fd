"""Leaks of tests: threads, processes, files, sockets and asyncio tasks that go on after the test that made them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import os
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from tests.programs import FORK_SERVERS

GRACE = 120.0
"""Seconds within which what a test made has ended, on a busy machine too; only what is still ending is waited for."""
SOON = 0.1
"""Seconds in which a thread closes what a test no longer needs, without a garbage collection (.1 to 1 s)."""
SHARED_THREADS = ("asyncio_", "ThreadPoolExecutor", "AnyIO")
"""Threads of executors that an event loop, or the interpreter, ends when it ends itself."""
SHARED_FILES = ("anon_inode:[eventpoll]", "anon_inode:[eventfd]")
"""What gRPC's pollers of the whole process have; an event loop that is not closed leaves a pair of sockets as well."""

_LIBRARY_FILES = "/.onnxruntime/"
"""Folder of a file that onnxruntime has open from its first model to the end of the process."""

_FILES = Path("/proc/self/fd")


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Fail a test after which threads, processes, files or sockets of its are left: whoever made them has to end them.

    Those that fixtures of a wider scope have are there before. What is ending gets a moment; nothing is waited for
    where nothing is left, so this costs microseconds.
    """
    threads, children, files = set(threading.enumerate()), _children(), _open_files()
    programs = FORK_SERVERS.programs
    yield
    until = time.monotonic() + GRACE
    for thread in set(threading.enumerate()) - threads:
        if not thread.daemon and not thread.name.startswith(SHARED_THREADS):
            thread.join(max(0.0, until - time.monotonic()))
            assert not thread.is_alive(), f"a thread goes on: {thread.name}"
    for program in FORK_SERVERS.programs - programs:
        _wait(lambda program=program: program.poll() is not None, until)
        assert program.poll() is not None, f"a program goes on: {program.pid}: {program.args}"
    for child in _children() - children - FORK_SERVERS.pids:
        while _goes_on(child) and time.monotonic() < until:
            time.sleep(0.02)
        assert not _goes_on(child), f"a process goes on: {child}"
    if _open_files() - files:
        _wait(lambda: not _left(files), time.monotonic() + SOON)
        if _left(files):  # a thread that closes them has, by now; what a cycle holds is let go of by a collection
            gc.collect()
            _wait(lambda: not _left(files), until)
        assert not (left := _left(files)), f"open files or sockets: {left}"


@pytest.fixture
async def no_task_left() -> AsyncIterator[None]:
    """Fail a test whose event loop has tasks of its when everything it set up was ended: the loop would cancel them."""
    tasks = asyncio.all_tasks()
    yield
    if left := asyncio.all_tasks() - tasks - {asyncio.current_task()}:
        _, left = await asyncio.wait(left, timeout=GRACE)
        assert not left, f"tasks go on: {left}"


@pytest.fixture(scope="session", autouse=True)
def fork_servers() -> Iterator[None]:
    """The servers that programs of tests are forked from; fail a run of tests after which one of those goes on."""
    with FORK_SERVERS.begun(os.environ):
        yield
        left = [program.args for program in FORK_SERVERS.programs if program.poll() is None]
    assert not left, f"programs go on: {left}"


@pytest.fixture(scope="session", autouse=True)
def no_daemon_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fail a run of tests after which programs go on that live in its folders, whoever started them.

    A daemon that a command started is nobody's child; the folder it lives in is named after its test.
    """
    folder = os.fsencode(tmp_path_factory.getbasetemp())
    yield
    until = time.monotonic() + GRACE
    _wait(lambda: not _living_in(folder), until)
    left = _living_in(folder)
    assert not left, f"programs go on: {left}"


def watch_tasks(items: list[pytest.Item]) -> None:
    """Have `no_task_left` around each test that has an event loop."""
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.function):
            item.fixturenames.insert(0, "no_task_left")


def _wait(ended: Callable[[], bool], until: float) -> None:
    while not ended() and time.monotonic() < until:
        time.sleep(0.02)


def _children() -> set[int]:
    """Process ids of this process's children, as Linux tells them in one file for each thread; elsewhere none."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)  # asks nobody, and fails where there are none
        for thread in Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError):
                found.update(map(int, (thread / "children").read_bytes().split()))
    return found


def _goes_on(pid: int) -> bool:
    """Whether a child is there and works; one that has ended and was not asked for is none that goes on."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] not in ("Z", "X", "")
    return False


def _open_files() -> set[tuple[str, int, int]]:
    """This process's open files and sockets: number, device and inode; none where the system does not tell."""
    found: set[tuple[str, int, int]] = set()
    with contextlib.suppress(OSError):
        for number in {*os.listdir(_FILES)} - FORK_SERVERS.descriptors:  # noqa: PTH208 - twice for each test
            with contextlib.suppress(OSError):  # the one that listed them is closed
                told = os.fstat(int(number))
                found.add((number, told.st_dev, told.st_ino))
    return found


def _left(before: set[tuple[str, int, int]]) -> list[str]:
    """What the files are that were not open before."""
    found = []
    for number, _, _ in _open_files() - before:
        with contextlib.suppress(OSError):
            found.append(str((_FILES / number).readlink()))
    return [each for each in found if each not in SHARED_FILES and _LIBRARY_FILES not in each]


def _living_in(folder: bytes) -> list[str]:
    """Programs whose command line or environment names a place in a folder: process id, command, place."""
    found = []
    for entry in Path("/proc").iterdir() if _FILES.exists() else ():
        if entry.name.isdigit() and entry.name != str(os.getpid()):
            with contextlib.suppress(OSError):
                command = (entry / "cmdline").read_bytes()
                told = command + (entry / "environ").read_bytes()
                if place := re.search(re.escape(folder) + rb"/[^\0]*", told):
                    shown = command.replace(b"\0", b" ") + b"in " + place[0]
                    found.append(f"{entry.name}: {shown.decode(errors='replace')}")
    return found
