"""Forked workers: a run of the tests in processes that are forked once all is collected (`--forked-workers 6`).

With workers that start for themselves (pytest-xdist) each imports and collects all 14,000 tests again, and says of each
phase of each test all that it knows of it. Here the first process collects, each worker asks it for the tests of one
file after another, and answers with their reports, which pytest's own hooks take up as if the tests had run there.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import signal
import tempfile
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from _pytest.capture import CaptureManager, FDCapture
from _pytest.tmpdir import TempPathFactory

_FORKED = multiprocessing.get_context("fork")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("terminal reporting").addoption(
        "--forked-workers", type=int, default=0, help="Run the tests in so many processes, forked after the collection."
    )


IN_MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that a file system in memory has free where the tests' folders are made there."""


def pytest_configure(config: pytest.Config) -> None:
    if config.option.forked_workers:
        config.pluginmanager.register(ForkedRun(config.option.forked_workers))
        if _has_room(IN_MEMORY):  # a fifth of what the workers would wait for is the disk: `make test-long` is on it
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def _has_room(folder: Path) -> bool:
    """Whether files of tests can be there, programs among them."""
    if not os.access(folder, os.W_OK):
        return False
    told = os.statvfs(folder)
    return told.f_bavail * told.f_frsize >= ROOM and not told.f_flag & os.ST_NOEXEC


class ForkedRun:
    """A run whose tests other processes do."""

    def __init__(self, many: int) -> None:
        self.many = many

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Hand out the tests, file by file, to half of the workers from the last one on: where what waits for programs
        comes first, what computes goes on beside it. Pytest's own loop tells what could not be collected.
        """
        if session.testsfailed or session.config.option.collectonly:
            return None
        files: dict[Any, list[int]] = {}
        for number, item in enumerate(session.items):
            files.setdefault(item.path, []).append(number)
        left = deque(files.values())
        workers: dict[Connection, Worker] = {}
        begun = 0
        try:
            while left or workers:
                while left and len(workers) < self.many:
                    begun += 1
                    worker = Worker(session, begun, list(workers))
                    workers[worker.pipe] = worker
                for pipe in wait(list(workers)):
                    assert isinstance(pipe, Connection)
                    self._hear(session, workers, pipe, left)
                    if session.shouldfail:
                        raise session.Failed(session.shouldfail)
        finally:
            for worker in workers.values():
                worker.end()
        return True

    def _hear(
        self, session: pytest.Session, workers: dict[Connection, Worker], pipe: Connection, left: deque[list[int]]
    ) -> None:
        """Take up what one worker says: reports of a test, or None where it asks for a file."""
        worker = workers[pipe]
        hook = session.config.hook
        try:
            said = pipe.recv()
            if said is None:
                given = [] if not left else left.popleft() if worker.number % 2 else left.pop()
                worker.given.extend(given)
                pipe.send(given)
                return
        except (EOFError, ConnectionError):
            del workers[pipe]
            if status := worker.end():
                item = session.items[worker.given.popleft()] if worker.given else session.items[-1]
                told = f"worker {worker.number} ended with {status} while it ran {item.nodeid}"
                report = pytest.TestReport(item.nodeid, item.location, {}, "failed", told, "call")
                hook.pytest_runtest_logreport(report=report)
            if worker.given:
                left.appendleft(list(worker.given))
            return
        worker.given.popleft()
        for each in said:
            report = hook.pytest_report_from_serializable(config=session.config, data=each)
            hook.pytest_runtest_logreport(report=report)


class Worker:
    """One worker, as the run sees it: its process, the pipe to it, and what it has been given and not yet reported."""

    def __init__(self, session: pytest.Session, number: int, others: list[Connection]) -> None:
        self.number = number
        self.given: deque[int] = deque()
        self.pipe, theirs = _FORKED.Pipe()
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self._process = _FORKED.Process(target=work, args=(session, theirs, number, [*others, self.pipe]))
        self._process.start()
        theirs.close()

    def end(self) -> int:
        """Have it end what it is at, if it is at something. Its exit status."""
        if self._process.is_alive() and self.given:
            os.kill(self._process.ident or 0, signal.SIGINT)
        self.pipe.close()
        self._process.join()
        status = self._process.exitcode or 0
        self._process.close()
        return status


def work(session: pytest.Session, pipe: Connection, number: int, others: list[Connection]) -> None:
    """Be a worker: run what is given, in a folder and with captured output of its own."""
    for other in others:
        other.close()
    atexit._clear()  # what was begun before is for the first process to end
    plugins = session.config.pluginmanager
    terminal: Any = plugins.unregister(name="terminalreporter")
    plugins.register(SimpleNamespace(_tw=terminal._tw), "terminalreporter")  # for what times out, and says so at once
    plugins.register(Reports(session.config, pipe))
    _capture_apart(plugins.getplugin("capturemanager"))
    factory: TempPathFactory = session.config._tmp_path_factory  # type: ignore[attr-defined]
    factory._basetemp = factory.getbasetemp() / f"worker{number}"
    factory._basetemp.mkdir(mode=0o700)
    try:
        given = _given(pipe)
        following = next(given, None)
        while following is not None and not session.shouldstop:
            item, following = following, next(given, None)
            after = None if following is None else session.items[following]
            session.config.hook.pytest_runtest_protocol(item=session.items[item], nextitem=after)
    except KeyboardInterrupt:
        pass  # whoever ends the run says so
    finally:
        session._setupstate.teardown_exact(None)
        atexit._run_exitfuncs()


def _capture_apart(capture: CaptureManager) -> None:
    """Have what is captured in files of this worker's own, behind the same numbers, which imported modules may hold."""
    capture.suspend_global_capture()
    for stream in (capture._global_capturing.out, capture._global_capturing.err) if capture._global_capturing else ():
        if isinstance(stream, FDCapture):
            with tempfile.TemporaryFile(buffering=0) as own:
                os.dup2(own.fileno(), stream.tmpfile.fileno())


def _given(pipe: Connection) -> Iterator[int]:
    """Numbers of tests to run. A file is asked for before the last test of the one before it: what comes next decides
    what that test tears down.
    """
    while True:
        pipe.send(None)
        if not (numbers := pipe.recv()):
            return
        yield from numbers


class Reports:
    """What a worker tells of its tests."""

    def __init__(self, config: pytest.Config, pipe: Connection) -> None:
        self._config = config
        self._pipe = pipe
        self._told: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a report until the test is over; of what was set up or torn down and passed there is nothing to tell."""
        if report.when == "call" or not report.passed:
            self._told.append(self._config.hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_runtest_logfinish(self) -> None:
        """Tell all reports of a test."""
        self._pipe.send(self._told)
        self._told = []
