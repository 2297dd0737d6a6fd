"""What leaks.py tells after tests that leave something behind, in a run of tests of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

SETTINGS = "asyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
CONFTEST = """
from tests.conftest import fork_servers, no_daemon_left, no_task_left, nothing_left_behind
from tests.conftest import pytest_collection_modifyitems
"""
LEAKY = """
import asyncio, os, socket, subprocess, threading
from tests import leaks, programs

leaks.GRACE = 0.2
kept, go_on = [], threading.Event()

def test_file(): kept.append(open(__file__))
def test_socket(): kept.append(socket.socket())
def test_thread(): threading.Thread(target=go_on.wait).start()
def test_process(): kept.append(subprocess.Popen(["sleep", "20"]))
def test_program(tmp_path):
    told = {**os.environ, "AURORA_HOME": str(tmp_path)}
    kept.append(programs.start([*programs.COMMAND, "daemon", "run", "--detached"], env=told))
async def test_task(): kept.append(asyncio.create_task(asyncio.sleep(60)))
async def test_nothing(tmp_path):
    with open(__file__), socket.socket():
        await asyncio.create_task(asyncio.sleep(0))
def test_daemon(tmp_path):
    go_on.set()
    kept[2].kill()
    kept[3].kill()
    subprocess.run("sleep 20 &", shell=True, cwd=tmp_path, env={"HOME": str(tmp_path)})
"""


@pytest.mark.long
def test_what_goes_on_is_told_and_nothing_else(
    pytester: pytest.Pytester, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # the summary's lines are cut to fit
    root = Path(__file__).parents[1]
    pytester.makeini(f"[pytest]\npythonpath = {root}\n{SETTINGS}")
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(LEAKY)
    done = pytester.runpytest_subprocess(
        "-p", "no:xdist", "-p", "no:cacheprovider", "-q", f"--basetemp={tmp_path / 'b'}"
    )
    told = done.stdout.str()
    for name, said in (
        ("file", "open files or sockets"),
        ("socket", "open files or sockets"),
        ("thread", "a thread goes on"),
        ("process", "a process goes on"),
        ("program", "a program goes on"),
        ("task", "tasks go on"),
        ("daemon", "programs go on"),
    ):
        assert [line for line in told.splitlines() if f"::test_{name} " in line and said in line], told
    assert "::test_nothing" not in told
    done.assert_outcomes(passed=8, errors=7)
