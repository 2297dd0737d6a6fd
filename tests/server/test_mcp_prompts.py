"""Prompts and completions of `aurora mcp`, over a real daemon, in both kinds of protocol revision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.orchestration.soar.minds import Mind
from tests.server.agents import agent
from tests.server.client_requests import TWO, asked
from tests.shares import long

Place = tuple[Path, Path, dict[str, str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A daemon's home, an indexed workspace, the variables for the provider."""
    folder = tmp_path_factory.mktemp("prompts")
    (folder / "ws").mkdir()
    (folder / "ws" / "session.py").write_text("def log():\n    return 1\n\n\ndef logout():\n    return 2\n")
    with asked(folder, Mind(TWO)) as (_, provider, root):
        yield folder / "home", root, provider.environ


async def _text(client: Client, name: str, **arguments: str) -> str:
    content = (await client.get_prompt(name, arguments)).messages[0].content
    assert isinstance(content, types.TextContent)
    return content.text


@pytest.mark.parametrize("mode", [long("legacy"), "auto"])
async def test_prompts_say_what_memory_knows(place: Place, mode: str) -> None:
    home, root, variables = place
    async with agent(home, root, variables, mode=mode) as client:
        offered = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert list(offered) == ["recall", "explain", "learn"]
        assert all(prompt.description and prompt.title and prompt.arguments for prompt in offered.values())
        recalled = await _text(client, "recall", query="expand template")
        assert recalled.startswith("expand template") and "1. expand src/template.py:1-3" in recalled
        assert "called by request" in await _text(client, "explain", target="expand")
        learned = await _text(client, "learn", task="Rotate the key", change_id="rotate-key")
        assert "Rotate the key" in learned and "aurora_learn" in learned and "rotate-key" in learned


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("recal", {"query": "x"}, "did you mean `recall`?"),
        ("recall", {}, "needs `query`"),
        ("recall", {"query": " "}, "needs `query`"),
        ("recall", {"query": "x", "querry": "y"}, "did you mean `query`?"),
        ("recall", {"query": "x" * 10_001}, "length"),
        ("explain", {"target": "no_such_name_anywhere"}, "no_such_name_anywhere"),
    ],
)
async def test_wrong_prompts_are_refused_with_what_is_right(
    place: Place, name: str, arguments: dict[str, str], told: str
) -> None:
    home, root, variables = place
    async with agent(home, root, variables) as client:
        with pytest.raises(MCPError) as refused:
            await client.get_prompt(name, arguments)
    assert refused.value.error.code == types.INVALID_PARAMS and told in refused.value.error.message


@pytest.mark.parametrize("mode", ["legacy", long("auto")])
async def test_names_paths_and_change_ids_are_completed(place: Place, mode: str) -> None:
    home, root, variables = place
    async with agent(home, root, variables, mode=mode) as client:

        async def values(
            ref: types.PromptReference | types.ResourceTemplateReference, name: str, typed: str
        ) -> list[str]:
            return (await client.complete(ref, {"name": name, "value": typed})).completion.values

        explain = types.PromptReference(name="explain")
        assert (await values(explain, "target", "exp"))[0] == "expand"
        assert "src/template.py" in await values(explain, "target", "src/temp")
        assert await values(explain, "target", "") == []
        told = await values(explain, "target", "log")
        assert {"log", "logout"} <= set(told), "a word may be the beginning of another"
        chunk = types.ResourceTemplateReference(uri="aurora://chunk/{id}")
        assert any("src/template.py:expand" in each for each in await values(chunk, "id", "expand"))
        tool = types.ResourceTemplateReference(uri="aurora://tool/{name}")
        assert await values(tool, "name", "aurora_re") == ["aurora_recall", "aurora_retrieve_context"]
        for change in ("add-dark-mode", "re-add-colors"):
            await client.call_tool("aurora_deliverable", {"action": "start", "change_id": change})
        told = await values(types.PromptReference(name="learn"), "change_id", "add-")
        assert told == ["add-dark-mode", "re-add-colors"], "what begins as typed comes before what holds it"
        for ref, name in ((explain, "none"), (types.PromptReference(name="none"), "query"), (chunk, "name")):
            with pytest.raises(MCPError):
                await values(ref, name, "x")
