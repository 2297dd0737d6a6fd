"""Programs as agents: what they see, how they answer and ask, and that nothing of them is left."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.settings import AgentSettings
from aurora_orchestration.types import Agent, AgentResponse
from tests.orchestration.agents.programs import (
    ANSWERS,
    ASKS_BY_ENDING,
    ASKS_BY_LINE,
    FAILS,
    FLOODS,
    FORKS_AND_HANGS,
    LEAVES_A_CHILD,
    SHOWS_ENVIRONMENT,
    TASK,
    program,
)
from tests.orchestration.nobody import ask_nobody
from tests.processes import lives
from tests.wait_limits import HANG

ENVIRON = {**os.environ, "ANTHROPIC_API_KEY": "sk-ant-secret", "AURORA_HOME": "/h", "PATH": f".:{os.environ['PATH']}"}


def executors(workspace: Path, home: Path, *, trusted: bool = True) -> Executors:
    home.mkdir(exist_ok=True)
    return Executors(workspace, home, AgentSettings(), ENVIRON, lambda: 1_764_000_000.0, trusted=trusted)


async def run(agent: Agent, tmp_path: Path, ask: Callable[..., object] = ask_nobody, **more: bool) -> AgentResponse:
    return await executors(tmp_path, tmp_path / "h", **more).run(agent, TASK, llm=None, ask_user=ask)  # type: ignore[arg-type]


async def gone(*pids: int) -> None:
    """Wait until none of these is alive."""
    until = time.monotonic() + HANG
    while alive := [pid for pid in pids if lives(pid)]:
        assert time.monotonic() < until, alive
        await asyncio.sleep(0.02)


async def written(folder: Path, *names: str) -> list[int]:
    """The process ids that an agent's children wrote."""
    until = time.monotonic() + HANG
    while not all((folder / name).exists() and (folder / name).read_text() for name in names):
        assert time.monotonic() < until, list(folder.iterdir())
        await asyncio.sleep(0.02)
    return [int((folder / name).read_text()) for name in names]


FAMILY = ("agent", "same_group", "own_session", "daemonised")


async def test_a_program_answers_in_the_envelope(tmp_path: Path) -> None:
    response = await run(program(tmp_path, ANSWERS), tmp_path)
    assert response.status == "success" and response.output is not None
    assert response.output.summary == "expand() in a.py:1"
    assert response.output.data == {"attempt": 1}
    assert response.metadata.tools_used == ("grep",) and response.metadata.duration_ms > 0


async def test_a_program_sees_no_key_and_runs_in_the_workspace(tmp_path: Path) -> None:
    agent = program(tmp_path, SHOWS_ENVIRONMENT, environment={"TOKEN": "${ANTHROPIC_API_KEY}", "MODE": "${M:-fast}"})
    response = await run(agent, tmp_path)
    assert response.output is not None
    seen = response.output.data["env"]
    assert "ANTHROPIC_API_KEY" not in seen and "AURORA_HOME" not in seen
    assert seen["MODE"] == "fast" and seen["HOME"] == os.environ["HOME"]
    assert "TOKEN" in seen, "what its own entry declares is there"
    assert "." not in seen["PATH"].split(":")
    assert response.output.data["cwd"] == str(tmp_path)


async def test_where_the_workspace_is_not_trusted_programs_run_elsewhere_and_its_own_do_not(tmp_path: Path) -> None:
    response = await run(program(tmp_path / "p", SHOWS_ENVIRONMENT), tmp_path, trusted=False)
    assert response.output is not None and response.output.data["cwd"] == str(tmp_path / "h")
    response = await run(program(tmp_path / "p", SHOWS_ENVIRONMENT, trusted=False), tmp_path)
    assert response.status == "error" and "aurora trust" in (response.error or "")


async def test_when_its_time_is_over_a_program_ends_with_all_it_started(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    agent = program(tmp_path, FORKS_AND_HANGS, arguments=(str(marks),), timeout_seconds=2.0)
    running = asyncio.create_task(run(agent, tmp_path))
    pids = await written(marks, *FAMILY)
    response = await running
    assert response.status == "error" and "within 2 s" in (response.error or "")
    await gone(*pids)


async def test_a_cancelled_program_is_gone_before_the_cancelling_is_over(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    running = asyncio.create_task(run(program(tmp_path, FORKS_AND_HANGS, arguments=(str(marks),)), tmp_path))
    pids = await written(marks, *FAMILY)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [pid for pid in pids if lives(pid)] == []


DAEMON = """
import asyncio, sys
from pathlib import Path
from tests.orchestration.agents.programs import FORKS_AND_HANGS, program
from tests.orchestration.agents.test_executables import run
folder = Path(sys.argv[1])
asyncio.run(run(program(folder, FORKS_AND_HANGS, arguments=(sys.argv[2],)), folder))
"""


async def test_when_the_daemon_is_killed_its_programs_end_with_all_they_started(tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()
    root = Path(__file__).parents[3]
    daemon = subprocess.Popen([sys.executable, "-c", DAEMON, str(tmp_path), str(marks)], cwd=root)
    pids = await written(marks, *FAMILY)
    daemon.send_signal(signal.SIGKILL)
    daemon.wait()
    await gone(*pids)


async def test_what_a_program_leaves_running_is_killed_when_it_ends(tmp_path: Path) -> None:
    response = await run(program(tmp_path, LEAVES_A_CHILD, arguments=(str(tmp_path),)), tmp_path)
    assert response.status == "success", response.error
    await gone(int((tmp_path / "left").read_text()))


async def test_a_program_that_floods_is_ended(tmp_path: Path) -> None:
    response = await run(program(tmp_path, FLOODS), tmp_path)
    assert response.status == "error" and "more than an answer can hold" in (response.error or "")


async def test_a_program_that_fails_says_why_in_one_printable_line(tmp_path: Path) -> None:
    response = await run(program(tmp_path, FAILS), tmp_path)
    assert response.status == "error"
    assert response.error is not None and response.error.startswith("exit code 3 (no such model")
    assert response.error.isprintable()


async def test_a_program_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    response = await run(Agent(id="x", type="executable", command=str(tmp_path / "nothing")), tmp_path)
    assert "there is no program" in (response.error or "")


@pytest.mark.parametrize(
    ("code", "interactive"), [(ASKS_BY_LINE, True), (ASKS_BY_LINE, False), (ASKS_BY_ENDING, False)]
)
async def test_a_program_asks_its_user_and_goes_on(tmp_path: Path, code: str, interactive: bool) -> None:
    asked = []

    async def user(question: str) -> str:
        asked.append(question)
        return "$2000"

    response = await run(program(tmp_path, code, interactive=interactive), tmp_path, user)
    assert response.output is not None, response.error
    assert response.output.summary == "budget is $2000"
    assert asked == ["finder (SG1): which budget?"]
    (one,) = response.user_interactions
    assert (one.turn, one.agent_question, one.user_response) == (1, "which budget?", "$2000")
    assert one.timestamp == "2025-11-24T16:00:00.000+00:00"


async def test_a_program_is_told_that_nobody_answers(tmp_path: Path) -> None:
    response = await run(program(tmp_path, ASKS_BY_LINE, interactive=True), tmp_path)
    assert response.output is not None and response.output.summary == "budget is None"
    assert response.user_interactions[0].user_response == "(nobody answered)"


async def test_waiting_for_the_user_is_not_the_programs_own_time(tmp_path: Path) -> None:
    async def slow(question: str) -> str:
        await asyncio.sleep(3.0)
        return "late"

    response = await run(program(tmp_path, ASKS_BY_LINE, interactive=True, timeout_seconds=2.5), tmp_path, slow)
    assert response.output is not None, response.error
    assert response.output.summary == "budget is late"
