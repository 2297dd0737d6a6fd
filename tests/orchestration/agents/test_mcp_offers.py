"""Choices of which MCP servers are asked for their tools, a rule each; asking itself is stood in for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from aurora_orchestration.agents import mcp_tools
from aurora_orchestration.agents.cache import ToolOffer
from aurora_orchestration.agents.mcp_tools import MAX_SERVERS, _key, ask_servers
from aurora_orchestration.types import Agent

SERVER = Agent(id="notes", type="mcp", command="serve", arguments=("--all",), environment={"KEY": "a"})
KEPT = ToolOffer(_key(SERVER), ("search",))


async def asked(
    agents: list[Agent], known: dict[str, ToolOffer], monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, ToolOffer], list[str]]:
    heard: list[str] = []

    async def ask(agent: Agent, key: str, *_: Any) -> ToolOffer:
        heard.append(agent.id)
        return ToolOffer(key, ("new",))

    monkeypatch.setattr(mcp_tools, "_asked", ask)
    return await ask_servers(agents, known, Path("/"), {}, None), heard


@pytest.mark.parametrize(
    ("changed", "known", "again"),
    [
        pytest.param({}, KEPT, False, id="what is known of a server is kept"),
        pytest.param({}, None, True, id="an unknown one is asked"),
        pytest.param({}, replace(KEPT, trouble="it broke"), True, id="and one that could not be asked"),
        pytest.param({"arguments": ()}, KEPT, True, id="one that is started otherwise"),
        pytest.param({"command": "other"}, KEPT, True, id="or is another program"),
        pytest.param({"environment": {"OTHER": "a"}}, KEPT, True, id="or gets other variables"),
        pytest.param({"environment": {"KEY": "b"}}, KEPT, False, id="not where a key has changed"),
    ],
)
async def test_which_servers_are_asked_again(
    changed: dict[str, Any], known: ToolOffer | None, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    offers, heard = await asked([replace(SERVER, **changed)], {"notes": known} if known else {}, monkeypatch)
    assert (heard == ["notes"]) is again
    assert offers["notes"].tools == (("new",) if again else ("search",))


async def test_only_servers_that_are_trusted_are_started_and_no_more_than_forty(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    others = [replace(SERVER, id="foreign", trusted=False), replace(SERVER, id="program", type="executable")]
    many = [replace(SERVER, id=f"s{number}") for number in range(MAX_SERVERS + 1)]
    offers, heard = await asked([*others, *many], {}, monkeypatch)
    assert heard == [*offers] == [f"s{number}" for number in range(MAX_SERVERS)]
