"""Trials of mutants: the tests that call a mutated function run in a fork, in a copy of the repository.

A fork begins with everything imported that is not ours, so a trial costs the tests themselves. In the copy there is
nothing beside the repository: what only holds with reference material at hand does not hold here.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from types import FrameType
from typing import Any, Literal

import msgspec
import pytest

Outcome = Literal["killed", "survived", "too slow", "error"]
OUTCOMES: dict[int, Outcome] = {0: "survived", 1: "killed", 2: "killed"}
"""By pytest's exit status; 2 is a file that cannot be imported any more."""

PROFILE = "mutation"


@dataclass
class Baseline:
    """What the tests of a file do where nothing is mutated: seconds of each, and which functions each calls.

    Functions are known by their first line; the tests are in the order in which they are to be tried.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    calls: dict[str, list[int]] = field(default_factory=dict)
    modules: list[str] = field(default_factory=list)

    def tests_of(self, function: int, seconds: float) -> list[str]:
        """The tests that call the function; where none does or there is no function, those of the whole file.

        As many of them as take about so many seconds, the nearest file's first.
        """
        calling = [test for test in self.seconds if function in self.calls.get(test, ())]
        found = calling or sorted(self.seconds, key=lambda test: not self.calls.get(test))
        until = accumulate(self.seconds[test] for test in found)
        return [test for test, when in zip(found, until, strict=True) if when <= seconds] or found[:1]


class Copy:
    """A copy of the repository's files, which trials may change."""

    def __init__(self, repository: Path, folder: Path, packages: Sequence[str]) -> None:
        self.root = folder / "repository"
        listed = ["git", "-C", str(repository), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout.split("\0")
        for name in names:
            if name and (repository / name).is_file():
                to = self.root / name
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes((repository / name).read_bytes())
        self.paths = [str(self.root), *(str(self.root / package) for package in packages)]

    def write(self, path: str, text: str) -> None:
        """Change one file; what was compiled of it goes."""
        file = self.root / path
        file.write_text(text)
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*.pyc"):
            compiled.unlink()

    def baseline(self, path: str, tests: Sequence[str], limit: float) -> Baseline:
        """Run the tests of a file as they are. Raises `RuntimeError` with what pytest says where they are not green."""
        answer = self.root / ".baseline.json"
        answer.unlink(missing_ok=True)
        watch = _Watch(str(self.root / path))

        def run() -> int:
            watch.begin()
            status = _pytest([*tests], [watch])
            found = Baseline(watch.seconds, {test: sorted(lines) for test, lines in watch.calls.items()}, _foreign())
            answer.write_bytes(msgspec.json.encode(found))
            return status

        code, _ = self._forked(run, limit, compiling=True)
        if code != 0 or not answer.exists():
            raise RuntimeError(self.said())
        found = msgspec.json.decode(answer.read_bytes(), type=Baseline)
        for name in found.modules:
            with suppress(Exception):  # what only some tests can import, they import themselves
                importlib.import_module(name)
        return found

    def trial(self, tests: Sequence[str], limit: float) -> tuple[Outcome, float]:
        """Run tests until one fails, for `limit` seconds at most."""
        code, took = self._forked(lambda: _pytest(["--exitfirst", *tests], []), limit)
        return ("too slow" if code is None else OUTCOMES.get(code, "error")), took

    def said(self, most: int = 2000) -> str:
        """The end of what pytest said last."""
        return (self.root / ".output").read_text(errors="replace")[-most:]

    def _forked(self, run: Callable[[], int], limit: float, *, compiling: bool = False) -> tuple[int | None, float]:
        begun = time.monotonic()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 3
            try:
                os.setsid()
                with (self.root / ".output").open("wb") as output:
                    os.dup2(output.fileno(), 1)
                    os.dup2(output.fileno(), 2)
                os.chdir(self.root)
                os.environ["PYTHONPATH"] = os.pathsep.join(self.paths)
                os.environ["PYTHONDONTWRITEBYTECODE"] = "" if compiling else "1"
                sys.dont_write_bytecode = not compiling
                sys.path[:0] = self.paths
                code = run()
            finally:
                if sys.exc_info()[0] is not None:
                    traceback.print_exc()
                sys.stderr.flush()
                sys.stdout.flush()
                os._exit(code)
        while time.monotonic() - begun < limit:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                _end_group(child)
                return os.waitstatus_to_exitcode(status), time.monotonic() - begun
            time.sleep(0.01)
        _end_group(child)
        os.waitpid(child, 0)
        return None, time.monotonic() - begun


def _end_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _pytest(arguments: list[str], plugins: list[object]) -> int:
    from hypothesis import Phase, settings

    # The first example that fails is enough, and the same ones each time.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile(PROFILE, deadline=None, derandomize=True, phases=phases, database=None)
    common = [
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--assert=plain",
        "--tb=short",
        f"--hypothesis-profile={PROFILE}",
    ]
    return int(pytest.main([*common, *arguments], plugins=plugins))


def _foreign() -> list[str]:
    """What was imported that does not come from the copy."""
    ours = ("tests", "aurora_", "__main__", "conftest")
    found = [name for name, module in sys.modules.items() if getattr(module, "__file__", None)]
    return [name for name in found if not name.startswith(ours)]


class _Watch:
    """Coverage by test: which functions of one file each test calls, in whatever thread, and how long it takes."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._test = ""
        self.seconds: dict[str, float] = {}
        self.calls: defaultdict[str, set[int]] = defaultdict(set)

    def begin(self) -> None:
        threading.setprofile(self._called)
        sys.setprofile(self._called)

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and self._test and frame.f_code.co_filename == self._file:
            self.calls[self._test].add(frame.f_code.co_firstlineno)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._test = item.nodeid
        begun = time.monotonic()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.monotonic() - begun
            self._test = ""
