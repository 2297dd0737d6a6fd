"""Forked workers: their tests end, fail, write and crash as if there were one process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wait_limits import HANG

ROOT = Path(__file__).parent.parent
TESTS = """
import atexit
import os
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
atexit.register(HERE.joinpath("left by the first").touch)


@pytest.fixture(scope="session", autouse=True)
def worker(tmp_path_factory):
    HERE.joinpath(f"begun {os.getpid()}").touch()
    while len([*HERE.glob("begun *")]) < min(2, len([*HERE.glob("test_?.py")])):
        time.sleep(0.01)  # for the other worker, which there is
    atexit.register(HERE.joinpath(f"left {os.getpid()}").touch)
    yield tmp_path_factory.getbasetemp()
    HERE.joinpath(f"ended {os.getpid()}").touch()


@pytest.fixture(scope="module")
def of_the_file(worker):
    yield worker
    assert "bad" not in __name__, "torn down"


@pytest.mark.parametrize("number", range(3))
def test_right(number, of_the_file):
    HERE.joinpath(f"{__name__} {os.getpid()} {of_the_file.name}").touch()
"""
WRONG = """
import os
import sys

import pytest

FIRST = sys.stdout


def test_wrong():
    print("by Python")
    print("by who was there before", file=FIRST)
    os.write(1, b"by the system\\n")
    assert 1 == 2


@pytest.mark.skip(reason="for a reason")
def test_skipped(): ...


def test_crash():
    os._exit(3)


def test_after_it(): ...
"""


def run_of(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "tests.forked_workers", "--forked-workers", "2", "-rsfE"]
    said = subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", str(folder), "--import-mode", "importlib", *options, str(folder)],
        cwd=ROOT, env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True, text=True, timeout=HANG,
    )  # fmt: skip
    assert said.stderr == ""
    return re.sub(r"in [\d.]+s.*", "", said.stdout) + f"exit {said.returncode}"


def test_each_file_is_one_workers_and_each_worker_has_its_folder_and_ends_what_it_set_up(tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py", "test_c.py"):
        (tmp_path / name).write_text(TESTS)
    assert re.search(r"9 passed \nexit 0$|= 9 passed exit 0$", run_of(tmp_path))
    ran = [path.name.split() for path in tmp_path.iterdir() if path.name.startswith("test_") and path.suffix != ".py"]
    assert sorted(name for name, _, _ in ran) == ["test_a", "test_b", "test_c"], "one process for each file"
    assert {folder for _, _, folder in ran} == {"worker1", "worker2"}
    ended = {path.name.split()[1] for path in tmp_path.glob("ended *")}
    assert ended == {process for _, process, _ in ran}
    left = [path.name.removeprefix("left ") for path in tmp_path.glob("left *")]
    assert sorted(left) == sorted([*ended, "by the first"])


def test_what_fails_where_it_fails_and_what_it_wrote_is_told(tmp_path: Path) -> None:
    (tmp_path / "test_bad.py").write_text(TESTS)
    (tmp_path / "test_wrong.py").write_text(WRONG)
    said = run_of(tmp_path)
    assert "by Python\nby who was there before\nby the system\n" in said
    assert re.search(r"worker \d ended with 3 while it ran test_wrong.py::test_crash\n", said)
    told = [line.split(" - ")[0] for line in said.splitlines() if line.startswith(("FAILED", "ERROR ", "SKIPPED"))]
    assert sorted(re.sub(r" \S*/", " ", line) for line in told) == [
        "ERROR test_bad.py::test_right[2]",
        "FAILED test_wrong.py::test_crash",
        "FAILED test_wrong.py::test_wrong",
        "SKIPPED [1] test_wrong.py:17: for a reason",
    ]
    assert "2 failed, 4 passed, 1 skipped, 1 error" in said and said.endswith("exit 1")


@pytest.mark.long
@pytest.mark.parametrize(("option", "failed"), [("--maxfail=1", "1 failed"), ("--collect-only", "7 tests collected")])
def test_a_run_ends_when_it_is_told_to(tmp_path: Path, option: str, failed: str) -> None:
    (tmp_path / "test_right.py").write_text(TESTS)
    (tmp_path / "test_wrong.py").write_text(WRONG)
    assert failed in run_of(tmp_path, option)
