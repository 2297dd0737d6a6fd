"""Programs that are forked for tests are processes like any other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.product import eventually, product_in
from tests.fork_server import WORKER, take_up_warnings
from tests.programs import CODE, COMMAND, FORK_SERVERS, ForkServer, Program, run, shared_server, start
from tests.wait_limits import HANG

PIPE = subprocess.PIPE
BROKEN = {"AURORA_LOGGING_LEVEL": "no level"}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "AURORA_HOME": str(tmp_path / "home")}


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "given", "more"),
    [
        (["--version"], None, {}),
        (["config", "path"], None, {}),
        (["config", "no-such-command"], None, {}),
        (["config", "get", "logging.level"], None, BROKEN),
        (["manifest", "validate", "-"], '{"protocol": "AURA"}\n', {}),
        (["manifest", "validate", "-", "--json"], "{", {"PYTHONUTF8": "1"}),
        (["status", "--json"], None, {"PYTHONWARNINGS": "error", "TZ": "Asia/Tokyo"}),
        (["config", "get", "größe"], None, {"PYTHONIOENCODING": "ascii"}),
        (["manifest", "validate", "-"], '{"protocol": "größe"}', {"PYTHONIOENCODING": "cp1252:replace"}),
    ],
)
def test_it_says_and_returns_what_a_program_does_that_starts_for_itself(
    tmp_path: Path, home: dict[str, str], arguments: list[str], given: str | None, more: dict[str, str]
) -> None:
    options: dict[str, Any] = {
        "env": {**home, **more}, "cwd": tmp_path, "input": given, "capture_output": True, "timeout": HANG,
        "encoding": "latin-1",
    }  # fmt: skip
    forked, started = run([*COMMAND, *arguments], **options), subprocess.run([*COMMAND, *arguments], **options)
    assert (forked.returncode, forked.stdout, forked.stderr) == (started.returncode, started.stdout, started.stderr)
    assert started.stdout or started.stderr


@pytest.mark.parametrize("code", ["import sys, here; print(__name__, here.NAME, sys.argv)", "raise ValueError('no')"])
def test_code_is_run_as_python_runs_it(tmp_path: Path, home: dict[str, str], code: str) -> None:
    (tmp_path / "here.py").write_text("NAME = 'here'\n")
    options: dict[str, Any] = {"env": home, "cwd": tmp_path, "capture_output": True, "text": True, "timeout": HANG}
    command = [*CODE, code, "-x", "y"]
    forked, started = run(command, **options), subprocess.run(command, **options)
    assert (forked.returncode, forked.stdout) == (started.returncode, started.stdout)
    assert forked.stderr.splitlines()[-1:] == started.stderr.splitlines()[-1:]


def test_it_has_its_own_folder_environment_session_and_only_standard_streams(
    tmp_path: Path, home: dict[str, str]
) -> None:
    (tmp_path / "home").mkdir()
    program = start(
        [*COMMAND, "daemon", "run"], env=home, cwd=tmp_path, stdout=PIPE, stderr=PIPE, start_new_session=True
    )
    assert isinstance(program, Program)
    try:
        assert program.stderr is not None and b"daemon started" in program.stderr.readline()
        assert os.getsid(program.pid) == program.pid
        assert Path(f"/proc/{program.pid}/cwd").resolve() == tmp_path
        opened = [each.resolve() for each in Path(f"/proc/{program.pid}/fd").iterdir() if each.exists()]
        assert not [path for path in opened if path.is_file() and not path.is_relative_to(tmp_path)]
        with pytest.raises(subprocess.TimeoutExpired):
            program.wait(0.01)
        assert program.poll() is None and program in FORK_SERVERS.programs
    finally:
        program.kill()
        program.communicate(timeout=HANG)
    assert program.returncode == -signal.SIGKILL and program not in FORK_SERVERS.programs


@pytest.mark.skipif(sys.platform != "linux", reason="sockets with names that are no files, and /proc")
def test_a_daemon_that_it_starts_is_forked_and_so_are_its_workers_and_both_say_what_they_are(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / "work" / f"m{number}.py").parent.mkdir(exist_ok=True)
        (tmp_path / "work" / f"m{number}.py").write_text("def f():\n    return 1\n")
    with product_in(tmp_path / "home", SAID="yes") as product:
        product.json("index", cwd=tmp_path / "work")
        (daemon,), workers = product.daemons(), product.workers()
        assert daemon.cmdline()[:7] == [*COMMAND, "daemon", "run", "--detached"]
        assert (daemon.environ()["SAID"], daemon.cwd()) == ("yes", str(product.home))
        assert "fork_server.py" in " ".join(psutil.Process(daemon.ppid()).cmdline())
        assert workers and all(each.ppid() == daemon.pid for each in workers)
        for each in workers:
            assert each.cmdline()[:4] == list(WORKER) and "SAID" not in each.environ()
            opened = [Path(file.path) for file in each.open_files()]
            assert not [path for path in opened if path.is_relative_to(product.home)]
        daemon.kill()
        eventually(lambda: not product.processes(), "the workers of a killed daemon end")


def test_what_counts_when_an_interpreter_starts_is_not_inherited(tmp_path: Path, home: dict[str, str]) -> None:
    ran = tmp_path / "ran"
    (tmp_path / "sitecustomize.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    with start([*COMMAND, "--version"], env={**home, "PYTHONPATH": str(tmp_path)}, stdout=PIPE) as program:
        assert isinstance(program, subprocess.Popen)
        assert program.wait(HANG) == 0
    assert ran.exists()


@pytest.mark.long
def test_it_has_nothing_of_the_servers_environment(tmp_path: Path, home: dict[str, str]) -> None:
    server = ForkServer.begun({**os.environ, **BROKEN})
    try:
        program = Program(server, ["config", "get", "logging.level"], env=home, cwd=tmp_path, stdout=PIPE, stderr=PIPE)
        assert program.communicate(timeout=HANG)[1] == b"" and program.returncode == 0
    finally:
        server.close()


@pytest.mark.long
def test_one_server_forks_for_all_who_join_it_until_it_is_closed(tmp_path: Path, home: dict[str, str]) -> None:
    def said(server: ForkServer) -> str:
        program = Program(server, ["--version"], env=home, cwd=tmp_path, stdout=PIPE, stderr=PIPE, text=True)
        return str(program.communicate(timeout=HANG)[0])

    with shared_server(os.environ) as place:
        first, second = ForkServer.joined(place), ForkServer.joined(place)
        assert said(first).startswith("aurora")
        first.close()
        assert said(second).startswith("aurora"), "who leaves does not end it"
        second.close()
    with pytest.raises(FileNotFoundError):
        ForkServer.joined(place)


def test_a_forked_program_takes_up_the_warnings_of_its_environment() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        take_up_warnings("error,ignore")
        warnings.warn("the last one counts", UserWarning, stacklevel=1)
        take_up_warnings("ignore,error")
        with pytest.raises(UserWarning):
            warnings.warn("the last one counts", UserWarning, stacklevel=1)
