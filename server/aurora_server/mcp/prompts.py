"""MCP prompts: what a person asks of memory through their assistant (`/recall`, `/explain`, `/learn`).

Clients show them as commands. What memory knows stands in the prompt already, so that the assistant reads before it
searches.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from aurora_server.mcp.arguments import BadArguments, given_as, unknown_name
from aurora_server.mcp.daemon_link import DaemonLink
from aurora_server.mcp.memory_tools import MEMORY_TOOLS


def _argument(name: str, description: str, *, required: bool = True) -> types.PromptArgument:
    return types.PromptArgument(name=name, description=description, required=required)


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        types.Prompt(
            name="recall",
            title="Recall",
            description="Answer from what memory finds in this workspace.",
            arguments=[_argument("query", "What to find: words, or names of code")],
        ),
        types.Prompt(
            name="explain",
            title="Explain",
            description="Explain a function by who calls it and what changes with it.",
            arguments=[_argument("target", "A name, a place (src/auth.py:45) or an id")],
        ),
        types.Prompt(
            name="learn",
            title="Learn",
            description="Keep how a task was solved, for the next one like it.",
            arguments=[
                _argument("task", "What was to be done"),
                _argument("change_id", "The deliverable that it completes", required=False),
            ],
        ),
    )
}


def prompt_arguments(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """A prompt's arguments as it takes them. Raises MCPError for a prompt or an argument that there is not."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise MCPError(types.INVALID_PARAMS, f"{unknown_name(name, list(PROMPTS))}; see prompts/list")
    takes = {each.name: bool(each.required) for each in prompt.arguments or ()}
    unknown = [each for each in given if each not in takes]
    if unknown:
        raise MCPError(types.INVALID_PARAMS, f"{name}: {unknown_name(unknown[0], list(takes))}")
    missing = [each for each, required in takes.items() if required and not given.get(each, "").strip()]
    if missing:
        raise MCPError(types.INVALID_PARAMS, f"{name} needs `{missing[0]}`")
    return dict(given)


async def prompt_result(name: str, given: Mapping[str, str], link: DaemonLink) -> types.GetPromptResult:
    """A prompt with what memory says to it. `given` are its `prompt_arguments`. Raises RequestFailed, MCPError."""
    if name == "recall":
        found = await _told_by("aurora_recall", {"query": given["query"]}, link)
        text = (
            f"{given['query']}\n\nAURORA, the memory of this workspace, finds these places for it, best first. Read "
            f"the ones you need by their lines, and search files only for what is missing.\n\n{found}"
        )
    elif name == "explain":
        found = await _told_by("aurora_explain", {"id": given["target"]}, link)
        text = (
            f"Explain {given['target']}: what it does, who depends on it, and what to mind when it is changed. AURORA, "
            f"the memory of this workspace, knows this of it; read the places that you need.\n\n{found}"
        )
    else:
        text = (
            f"This task is done: {given['task']}\n\nCheck that it is, and call aurora_learn once: `query` is the task, "
            "`result` how it was solved, `score` how well that went (0 to 1), `used` the ids of chunks that helped."
        )
        if given.get("change_id"):
            text += (
                f" Then call aurora_deliverable with action complete for {given['change_id']}, if that tool is there."
            )
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=PROMPTS[name].description, messages=[message])


async def _told_by(name: str, arguments: Mapping[str, Any], link: DaemonLink) -> str:
    tool = next(each for each in MEMORY_TOOLS if each.name == name)
    try:
        given = given_as(tool.takes, arguments)
    except BadArguments as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from error
    return (await tool.handler(link, given, lambda _: None)).text
