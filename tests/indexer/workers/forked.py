"""Workers of pools of tests, forked from the test's process: the imports are most of what starting one takes.

They are the processes that the pool began, with its pipes, signals and folder, and run the same code.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from aurora_indexer.workers.process_file import parse_source
from aurora_indexer.workers.worker import serve
from tests.fork_server import WORKER

REAL_WORKER = partial(serve, parse_source)

_KEPT: list[object] = []
"""Streams of the tests' process, which a worker must neither flush nor close."""


def have_forked(
    monkeypatch: pytest.MonkeyPatch,
    command: Sequence[str] = WORKER,
    run: Callable[[list[str]], None] = REAL_WORKER,
) -> None:
    """Have processes that begin with this command forked, and `run` with its other arguments."""
    parse_source("a.py", b"def a():\n    return 0\n")  # what each of them would load anew

    class Popen(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, args: Any, *more: Any, **options: Any) -> None:
            if tuple(args[: len(command)]) == tuple(command):
                worker = partial(run, list(map(str, args[len(command) :])))
                options["preexec_fn"] = partial(_be_worker, worker, dict(options["env"]))
            super().__init__(args, *more, **options)

    monkeypatch.setattr(subprocess, "Popen", Popen)


def _be_worker(worker: Callable[[], None], environment: Mapping[str, str]) -> None:
    """Be the worker, in the place of the process that this one would become: its standard streams are there."""
    try:
        gc.disable()
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        signal.set_wakeup_fd(-1)
        for number in signal.valid_signals():
            if callable(signal.getsignal(number)):
                signal.signal(number, signal.SIG_DFL)
        _KEPT.extend((sys.stdin, sys.stdout, sys.stderr))
        sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate("rww"))  # noqa: SIM115, PTH123
        os.environ.clear()
        os.environ.update(environment)
        worker()
    finally:
        os._exit(1)
