"""Completions (autocomplete) of what is typed as an argument of a prompt or of a resource's address: names, paths,
change ids.
"""

from __future__ import annotations

from collections.abc import Iterable

import mcp_types as types
from mcp.shared.exceptions import MCPError

from aurora_protocol import methods
from aurora_protocol.deliverable_methods import DELIVERABLE
from aurora_server.mcp.daemon_link import DaemonLink
from aurora_server.mcp.prompts import PROMPTS
from aurora_server.mcp.resources import TEMPLATES

MAX_VALUES = 100
"""MCP's bound of one answer."""
_LOOKED_AT = 50
"""Results of memory whose names and paths are offered."""

CHUNK, TOOL = (template.uri_template for template in TEMPLATES)


def argument_of(params: types.CompleteRequestParams) -> str:
    """What is completed: `prompt.argument`, or a resource's template. Raises MCPError for what there is not."""
    ref, name = params.ref, params.argument.name
    if isinstance(ref, types.PromptReference):
        prompt = PROMPTS.get(ref.name)
        if prompt is None or name not in {each.name for each in prompt.arguments or ()}:
            raise MCPError(types.INVALID_PARAMS, f"there is no argument {name[:80]} of a prompt {ref.name[:80]}")
        return f"{ref.name}.{name}"
    if (ref.uri, name) not in ((CHUNK, "id"), (TOOL, "name")):
        raise MCPError(types.INVALID_PARAMS, f"there is no {name[:80]} in a template {ref.uri[:200]}", {"uri": ref.uri})
    return ref.uri


async def completed(what: str, typed: str, link: DaemonLink, tools: Iterable[str]) -> types.CompleteResult:
    """The values of an `argument_of` that begin with what is typed, then those that have it in them."""
    if what == TOOL:
        values = list(tools)
    elif what == "learn.change_id":
        listed = await link.request(DELIVERABLE, {"action": "list"}, again=True)
        values = [each["change_id"] for each in listed["deliverables"]]
    elif what == "learn.task" or not typed.strip():
        values = []
    else:
        asked = {"query": typed[:1_000], "limit": _LOOKED_AT, "prefix": True}
        found = (await link.request(methods.RECALL, asked, again=True))["results"]
        values = [each["id"] for each in found] if what == CHUNK else [each["name"] for each in found]
        if what != CHUNK:
            values += [each["file"] for each in found if each["file"]]
    return _ranked(values, typed)


def _ranked(values: Iterable[str], typed: str) -> types.CompleteResult:
    """Values with what was typed in them, prefix matches first, bounded in number."""
    wanted = typed.casefold()
    fitting = [each for each in dict.fromkeys(values) if wanted in each.casefold()]
    fitting.sort(key=lambda each: not each.casefold().startswith(wanted))
    kept = fitting[:MAX_VALUES]
    completion = types.Completion(values=kept, total=len(fitting), has_more=len(kept) < len(fitting))
    return types.CompleteResult(completion=completion)
