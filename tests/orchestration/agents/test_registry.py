"""Agents are found, kept, found again and learned of; nothing of a workspace that is not trusted is taken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aurora_orchestration.agents import mcp_tools
from aurora_orchestration.agents.discovery import Discovered, Places, discover
from aurora_orchestration.agents.registry import DAY, POOR, NoAgents, Registry
from aurora_orchestration.settings import AgentSettings, DefaultAgent
from aurora_orchestration.types import Declined
from tests.orchestration.agents.programs import mcp_server
from tests.wait_limits import HANG

REVIEWER = """---
name: code-reviewer
description: Use this agent when: python code has to be reviewed for vulnerability, auth and token mistakes
tools: Read, Grep
---
You review code.
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.setattr(mcp_tools, "SECONDS", HANG)  # a server that tests ask does answer, on a busy machine too
    for name in ("w", "h", "u"):
        (tmp_path / name).mkdir()
    return Places(tmp_path / "w", tmp_path / "h", tmp_path / "u")


def put(path: Path, content: str | dict[str, Any] | list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def found(places: Places, *, trusted: bool = True, **settings: Any) -> Discovered:
    return discover(places, AgentSettings(**settings), trusted=trusted)


def registered(*agents: dict[str, Any]) -> dict[str, Any]:
    return {"agent_registry": {"agents": list(agents), "refresh_interval_days": 15, "auto_discover": True}}


def registry(
    places: Places, now: Callable[[], float] = lambda: 1e9, *, trusted: bool = True, **settings: Any
) -> Registry:
    chosen = AgentSettings(**settings)
    return Registry(places.home, places.workspace, chosen, now, trusted=trusted, environ=os.environ, user=places.user)


def test_every_place_of_every_tool_is_looked_at(places: Places) -> None:
    put(places.workspace / ".aurora/agents.json", registered({"id": "a", "type": "http", "endpoint": "https://x.y/a"}))
    put(places.home / "agents.json", [{"id": "b", "type": "executable", "path": "/bin/b"}])
    for number, folder in enumerate((".claude/agents", "agents", "droids", "agent")):
        put(places.workspace / folder / f"one{number}.md", REVIEWER.replace("code-reviewer", f"w{number}"))
    for number, folder in enumerate(
        (".claude/agents", ".config/amp/agents", ".factory/droids", ".config/opencode/agent")
    ):
        put(places.user / folder / f"u{number}.md", "---\ndescription: Writes go tests\nmode: subagent\n---\nDo.")
    put(places.workspace / ".mcp.json", {"mcpServers": {"m1": {"command": "npx", "args": ["x"]}}})
    put(places.home / "mcp.json", {"mcpServers": {"m2": {"command": "./server"}}})
    project = {"mcpServers": {"m4": {"command": "s"}}}
    put(
        places.user / ".claude.json",
        {"mcpServers": {"m3": {"command": "s"}}, "projects": {str(places.workspace): project, "/other": 7}},
    )
    names = {agent.id for agent in found(places).agents}
    assert names == {"a", "b", "w0", "w1", "w2", "w3", "u0", "u1", "u2", "u3", "m1", "m2", "m3", "m4"}
    alone = {agent.id for agent in found(places, auto_discover=False).agents}
    assert alone == {"a", "b"}


def test_a_markdown_agent_says_in_words_what_it_can(places: Places) -> None:
    put(places.workspace / ".claude/agents/r.md", REVIEWER)
    put(places.workspace / "agents/README.md", "# Just a document\n")
    (agent,) = found(places).agents
    assert (agent.id, agent.type, agent.prompt) == ("code-reviewer", "builtin", "You review code.")
    assert {"python", "security"} <= set(agent.domains)
    assert "Read" in agent.capabilities and "vulnerability" in agent.capabilities


def test_what_is_wrong_is_a_notice_with_file_and_member_and_the_rest_holds(places: Places) -> None:
    bad = [{"id": "x", "type": "ftp"}, {"type": "mcp"}, 7, {"id": "h", "type": "http"}]
    put(places.home / "agents.json", registered({"id": "good", "type": "mcp", "path": "~/s"}, *bad))
    put(places.home / "mcp.json", {"mcpServers": {"web": {"type": "http", "url": "https://x"}, "n": {"command": 5}}})
    put(places.workspace / ".aurora/agents.json", "[" * 100_000)
    put(places.user / ".claude/agents/b.md", "---\ndescription: [\n---\nx")
    result = found(places)
    assert [agent.id for agent in result.agents] == ["good", "b"]
    told = "\n".join(result.notices)
    for part in (
        "agents[1] ('x'): type 'ftp'",
        "agents[2]",
        "agents[3]",
        "needs an endpoint",
        "mcpServers.web",
        "mcpServers.n",
    ):
        assert part in told, part
    assert "./.aurora/agents.json: " in told


def test_the_first_of_two_with_one_name_holds(places: Places) -> None:
    put(places.workspace / ".aurora/agents.json", [{"id": "a", "type": "executable", "path": "./bin/a"}])
    put(places.home / "agents.json", [{"id": "a", "type": "executable", "path": "/bin/other"}])
    result = found(places)
    (agent,) = result.agents
    assert agent.command == str(places.workspace / "bin/a")
    assert "already there" in result.notices[0]
    put(places.home / "agents.json", [{"id": "b", "type": "executable", "path": "/bin/b"}])
    assert found(places).first == "./.aurora/agents.json", "it is where agents were found"


def test_a_path_that_a_user_named_comes_after_the_configured_ones(places: Places) -> None:
    put(places.home / "agents.json", [{"id": "a", "type": "executable", "path": "/bin/configured"}])
    named = put(places.user / "more.json", [{"id": name, "type": "executable", "path": "/bin/named"} for name in "ab"])
    agents = discover(places, AgentSettings(), trusted=True, more=(str(named),)).agents
    assert {agent.id: agent.command for agent in agents} == {"a": "/bin/configured", "b": "/bin/named"}


def hostile(workspace: Path) -> None:
    put(workspace / ".aurora/agents.json", [{"id": "evil-run", "type": "executable", "path": "./evil"}])
    put(workspace / ".mcp.json", {"mcpServers": {"evil-mcp": {"command": "sh", "args": ["-c", "touch /tmp/evil"]}}})
    put(workspace / ".claude/agents/evil.md", REVIEWER.replace("code-reviewer", "evil-prompt"))
    put(workspace / "droids/agents.md", REVIEWER.replace("code-reviewer", "evil-droid"))


def test_a_workspace_that_is_not_trusted_gives_no_agents_and_they_are_named(places: Places) -> None:
    hostile(places.workspace)
    put(places.home / "agents.json", [{"id": "mine", "type": "executable", "path": "/bin/mine"}])
    result = found(places, trusted=False)
    assert [agent.id for agent in result.agents] == ["mine"]
    assert {agent.id for agent in result.ignored} == {"evil-run", "evil-mcp", "evil-prompt", "evil-droid"}
    assert all(not agent.trusted for agent in result.ignored)
    told = "\n".join(result.notices)
    for part in ("./.aurora/agents.json: ignored 'evil-run'", "./.mcp.json: ignored", "./.claude/agents: ignored"):
        assert part in told and "aurora trust" in told
    inside = str(places.workspace / ".claude/agents")
    assert found(places, trusted=False, discovery_paths=(inside,)).agents == ()


async def test_agents_are_looked_for_again_when_a_file_changed_and_after_fifteen_days(places: Places) -> None:
    file = put(places.home / "agents.json", [{"id": "a", "type": "executable", "path": "/a"}])
    at = [1e9]
    first = await registry(places, lambda: at[0]).current()
    assert [agent.id for agent in first.agents] == ["a", "llm-executor"]
    at[0] += 14.9 * DAY
    assert (await registry(places, lambda: at[0]).current()).refreshed_at == 1e9, "kept from the process before"
    put(file, [{"id": "changed", "type": "executable", "path": "/a"}])
    assert (await registry(places, lambda: at[0]).current()).agents[0].id == "changed"
    changed_at = at[0]
    put(places.workspace / ".claude/agents/new.md", REVIEWER)
    assert len((await registry(places, lambda: at[0], check_file_modified=False).current()).agents) == 3
    at[0] = changed_at + 15.1 * DAY
    assert (await registry(places, lambda: at[0]).current()).refreshed_at == at[0]


async def test_trust_that_is_given_or_taken_counts_at_once(places: Places) -> None:
    hostile(places.workspace)
    assert [each.id for each in (await registry(places, trusted=False).current()).agents] == ["llm-executor"]
    assert len((await registry(places).current()).agents) == 5
    known = await registry(places, trusted=False).current()
    assert [each.id for each in known.agents] == ["llm-executor"] and len(known.ignored) == 4


async def test_an_mcp_server_is_asked_for_its_tools_and_keys_are_not_kept(places: Places) -> None:
    agent = mcp_server(places.home)
    entry = {"command": agent.command, "args": list(agent.arguments), "env": {"SECRET_KEY": "hush-hush"}}
    put(places.home / "mcp.json", {"mcpServers": {"notes": entry}})
    known = await registry(places).current()
    assert "search_templates" in known.agents[0].capabilities
    (file,) = (places.home / "agents").glob("*.json")
    assert "hush-hush" not in file.read_text() and file.stat().st_mode & 0o077 == 0
    again = await registry(places).current()
    assert again.agents[0].environment == {"SECRET_KEY": "hush-hush"}
    assert "search_templates" in again.agents[0].capabilities


async def test_what_a_file_says_of_an_agent_comes_before_what_its_server_says(places: Places) -> None:
    agent = mcp_server(places.home)
    entry = {"id": "notes", "type": "mcp", "command": agent.command, "arguments": list(agent.arguments)}
    file = put(places.home / "agents.json", [{**entry, "description": "Keeps the minutes"}])
    assert (await registry(places).current()).agents[0].description == "Keeps the minutes"
    put(file, [entry])
    assert "Search where url templates" in (await registry(places).current()).agents[0].description


async def test_an_agent_of_no_domain_in_particular_has_those_that_its_servers_tools_tell(places: Places) -> None:
    agent = mcp_server(places.home)
    entry = {"id": "notes", "type": "mcp", "command": agent.command, "arguments": list(agent.arguments)}
    domains = []
    for said in ([], ["general"], ["finance"]):
        put(places.home / "agents.json", [{**entry, "description": "SQL database indexes", "domains": said}])
        domains.append((await registry(places).current()).agents[0].domains)
    assert domains[0] == domains[1] != ("general",) and domains[2] == ("finance",)


LEARNING = """
import sys
from pathlib import Path
from aurora_orchestration.agents.registry import Registry
from aurora_orchestration.settings import AgentSettings
home, workspace = map(Path, sys.argv[1:3])
own = Registry(home, workspace, AgentSettings(), lambda: 1e9, trusted=True, environ={})
for place in range(20):
    own.learn("a", place % 4 != 0)
"""


async def test_what_two_daemons_learn_adds_up(places: Places) -> None:
    put(places.home / "agents.json", [{"id": "a", "type": "executable", "path": "/a"}])
    assert (await registry(places).current()).agents[0].success_rate is None
    command = [sys.executable, "-c", LEARNING, str(places.home), str(places.workspace)]
    daemons = [subprocess.Popen(command) for _ in range(2)]
    assert [daemon.wait() for daemon in daemons] == [0, 0]
    (agent, _) = (await registry(places).current()).agents
    assert agent.success_rate == pytest.approx((30 + 1) / (40 + 2))


async def test_an_agent_put_aside_is_tried_again_after_a_rest_and_one_success_brings_it_back(places: Places) -> None:
    put(places.home / "agents.json", [{"id": "a", "type": "executable", "path": "/a"}])
    clock = [1e9]
    own = registry(places, lambda: clock[0])

    async def rate() -> float:
        return (await own.current()).agents[0].success_rate or 0.0

    async def rested(least: float) -> float:
        """Days until it is tried again."""
        days = 0.0
        while await rate() < POOR:
            days += 0.25
            clock[0] += DAY / 4
            assert days < 30, await rate()
        assert days >= least
        return days

    for _ in range(8):
        own.learn("a", False)
    assert await rate() == pytest.approx(0.1), "put aside"
    first = await rested(1)
    own.learn("a", False)
    assert await rate() < POOR, "one failed trial puts it aside again"
    assert await rested(0.5) < first
    own.learn("a", True)
    assert await rate() > POOR
    clock[0] += 100 * DAY
    own.learn("a", True)
    assert await rate() > 0.5


async def test_what_an_agent_did_well_does_not_fade(places: Places) -> None:
    put(places.home / "agents.json", [{"id": "a", "type": "executable", "path": "/a"}])
    clock = [1e9]
    own = registry(places, lambda: clock[0])
    own.learn_all([("a", number % 2 == 0) for number in range(10)])
    before = (await own.current()).agents[0].success_rate
    clock[0] += 10 * DAY
    assert (await own.current()).agents[0].success_rate == before == pytest.approx(0.5)


async def test_without_agents_the_fallback_is_what_is_configured(places: Places) -> None:
    known = await registry(places).current()
    assert [each.id for each in known.agents] == ["llm-executor"] and "no agents were found" in known.notices[-1]
    known = await registry(
        places, fallback_mode="default_agents", default_agent=DefaultAgent(id="generalist")
    ).current()
    assert [each.id for each in known.agents] == ["generalist", "llm-executor"]
    with pytest.raises(NoAgents, match="fallback_mode"):
        await registry(places, fallback_mode="fail").current()


async def test_a_user_who_has_none_is_asked_once_in_all_workspaces(places: Places, tmp_path: Path) -> None:
    asked = []

    async def user(question: str) -> str:
        asked.append(question)
        raise Declined("the user gave no answer")

    first = await registry(places).current(user)
    assert asked and not first.notices
    other = Places(tmp_path / "elsewhere", places.home, places.user)
    assert not (await registry(other).current(user)).notices
    assert len(asked) == 1


async def test_a_user_who_is_there_is_asked_for_a_path_and_it_is_kept(places: Places, tmp_path: Path) -> None:
    put(tmp_path / "mine/agents.json", [{"id": "a", "type": "executable", "path": "/a"}])
    asked = []

    async def user(question: str) -> str:
        asked.append(question)
        return str(tmp_path / "mine/agents.json")

    known = await registry(places).current(user)
    assert [each.id for each in known.agents] == ["a", "llm-executor"]
    assert known.last_discovered_path == str(tmp_path / "mine/agents.json")
    assert [each.id for each in (await registry(places).refresh()).agents] == ["a", "llm-executor"]
    assert len(asked) == 1
    with pytest.raises(NoAgents):
        other = Places(tmp_path / "elsewhere", places.home, places.user)
        await registry(other, fallback_mode="fail", prompt_for_path_if_missing=False).current(user)
