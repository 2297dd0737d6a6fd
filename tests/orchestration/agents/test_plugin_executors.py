"""Executors of plug-ins: which types there are, what they are given, and that the rules for agents hold for theirs."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_orchestration.agents.executors import plugin_executors
from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.agents.executors.plugin_executors import ExecutorKind, Surroundings, type_of
from aurora_orchestration.agents.executors.processes import AgentError
from aurora_orchestration.agents.formats.registry_file import read_registry
from aurora_orchestration.agents.sources import AgentSource
from aurora_orchestration.agents.task import Task
from aurora_orchestration.agents.user_questions import Dialogue
from aurora_orchestration.settings import AgentSettings
from aurora_orchestration.types import Agent, AgentResponse
from aurora_protocol import plugins
from aurora_protocol.plugins import Plugin
from tests.orchestration.agents.programs import TASK
from tests.orchestration.nobody import ask_nobody

ECHO = Agent(id="echoing", type="example:echo", environment={"MODE": "${MOOD}"})
Offered = Callable[..., None]


@pytest.fixture(autouse=True)
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Offered]:
    """Installs kinds of executors by type, as plug-ins of one distribution each."""

    def offer(*kinds: tuple[str, Callable[..., Any]]) -> None:
        found = [Plugin(name, ExecutorKind(type=name, run=run), f"dist-{n}") for n, (name, run) in enumerate(kinds)]
        monkeypatch.setattr(plugins, "load", lambda group, kind: found if group == "aurora.executors" else [])
        monkeypatch.setattr(plugins, "_left_out", {})
        plugin_executors.plugged.cache_clear()

    offer()
    yield offer
    plugin_executors.plugged.cache_clear()


async def run(tmp_path: Path, agent: Agent = ECHO, *, trusted: bool = True) -> AgentResponse:
    home = tmp_path / "home"
    environ = {"PATH": "/bin", "MOOD": "calm", "ANTHROPIC_API_KEY": "secret"}
    executors = Executors(tmp_path, home, AgentSettings(), environ, lambda: 0.0, trusted=trusted)
    return await executors.run(agent, TASK, llm=None, ask_user=ask_nobody)


@pytest.mark.parametrize(
    ("answer", "summary", "confidence"),
    [
        ({"summary": "done", "confidence": 0.75}, "done", 0.75),
        ("plain words", "plain words", 0.5),
        ('{"summary": "as text", "confidence": 1}', "as text", 1.0),
    ],
)
async def test_whatever_it_answers_is_brought_into_the_envelope(
    offered: Offered, tmp_path: Path, answer: object, summary: str, confidence: float
) -> None:
    async def echo(agent: Agent, task: Task, dialogue: Dialogue, surroundings: Surroundings) -> object:
        assert (agent, task) == (ECHO, TASK)
        return answer

    offered(("example:echo", echo))
    response = await run(tmp_path)
    assert response.output is not None and (response.subgoal_id, response.agent_id) == ("SG1", "echoing")
    assert (response.output.summary, response.output.confidence) == (summary, confidence)


async def test_it_is_given_what_a_program_would_see(offered: Offered, tmp_path: Path) -> None:
    given: list[Surroundings] = []

    async def echo(agent: Agent, task: Task, dialogue: Dialogue, surroundings: Surroundings) -> str:
        given.append(surroundings)
        return "done"

    offered(("example:echo", echo))
    await run(tmp_path)
    await run(tmp_path, trusted=False)
    assert [dict(each.environment) for each in given] == [{"PATH": "/bin", "MODE": "calm"}] * 2, "and no key"
    assert [each.folder for each in given] == [tmp_path, tmp_path / "home"]
    assert (given[0].workspace, given[0].seconds, given[0].llm) == (tmp_path, 300.0, None)


async def test_the_rules_for_agents_hold(offered: Offered, tmp_path: Path) -> None:
    ran: list[str] = []

    async def echo(agent: Agent, task: Task, dialogue: Dialogue, surroundings: Surroundings) -> str:
        ran.append(agent.id)
        if agent.id == "slow":
            await asyncio.sleep(600)
        raise (AgentError("said so") if agent.id == "said" else ZeroDivisionError("one\ntwo"))

    offered(("example:echo", echo))
    for name, more, said in (
        ("stranger", {"trusted": False}, "is not trusted"),
        ("slow", {"timeout_seconds": 0.05}, "not done within 0.05 s"),
        ("said", {}, "said so"),
        ("faulty", {}, "internal error, ZeroDivisionError: one two"),
    ):
        agent = Agent(id=name, type="example:echo", **more)
        response = await run(tmp_path, agent)
        assert response.status == "error" and said in (response.error or "")
    assert ran == ["slow", "said", "faulty"], "who is not trusted never runs"


async def test_an_agent_whose_plugin_is_gone_says_what_to_install(tmp_path: Path) -> None:
    response = await run(tmp_path)
    assert response.error == "agent echoing: nothing here runs agents of type example:echo; install its plug-in"


async def _unused(*_: object) -> str:
    return ""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mcp", "'mcp' is not vendor:name"),
        ("echo", "'echo' is not vendor:name"),
        ("a:b:c", "'a:b:c' is not vendor:name"),
        ("example:echo", "there is an executor of type example:echo already"),
    ],
)
def test_what_is_no_type_of_its_own_is_left_out_with_a_line(
    offered: Offered, caplog: pytest.LogCaptureFixture, name: str, why: str
) -> None:
    offered(("example:echo", _unused), (name, _unused))
    with caplog.at_level(logging.WARNING):
        assert [*plugin_executors.plugged()] == ["example:echo"]
    assert [record.getMessage() for record in caplog.records] == [
        f"plug-in {name} of dist-1 (aurora.executors) is left out: {why}"
    ]


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [("mcp", "mcp"), ("built_in", "builtin"), ("example:echo", "example:echo"), ("example:gone", None), ("mpc", None)],
)
def test_a_registry_names_types_of_ours_and_of_plugins(
    offered: Offered, tmp_path: Path, spelled: str, meant: str | None
) -> None:
    offered(("example:echo", _unused))
    assert type_of(spelled) == meant
    path = tmp_path / "agents.json"
    path.write_text(json.dumps([{"id": "one", "type": spelled, "command": "x"}]))
    found = read_registry(AgentSource(path, "agents.json", tmp_path, False, True))
    assert [each.type for each in found.agents] == ([meant] if meant else [])
    assert bool(found.notices) == (meant is None)
