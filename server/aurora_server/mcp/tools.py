"""Tools of `aurora mcp` (registry, `tools/list`): ours in the order in which clients show them, then those of plug-ins
(`aurora.mcp_tools`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from msgspec.structs import replace

from aurora_protocol import plugins
from aurora_protocol.plugins import Plugin
from aurora_server.mcp.arguments import schema_of
from aurora_server.mcp.deliverable_tools import DELIVERABLE_TOOL
from aurora_server.mcp.manifest_tools import MANIFEST_TOOL
from aurora_server.mcp.memory_tools import MEMORY_TOOLS
from aurora_server.mcp.soar_tools import SOAR_TOOLS
from aurora_server.mcp.tool import Arguments, Tool

GROUP = "aurora.mcp_tools"
Which = Literal["all", "core"]
BUILT_IN = (*MEMORY_TOOLS, *SOAR_TOOLS, DELIVERABLE_TOOL, MANIFEST_TOOL)

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Names that every client and every model's API takes."""


def offered(which: Which) -> dict[str, Tool]:
    """Tools that a client is offered, by name: all, or the few that an agent needs beside its own."""
    return {name: tool for name, tool in tools().items() if which == "all" or tool.core}


@cache
def tools() -> dict[str, Tool]:
    """Every tool by name. Imports the modules of plug-ins with the first call: not for the event loop's thread."""
    found = {tool.name: tool for tool in BUILT_IN}
    for plugin in plugins.load(GROUP, Tool):
        why = _unusable(plugin, found)
        if why is not None:
            plugins.leave_out(GROUP, plugin, why)
        else:
            found[plugin.value.name] = replace(plugin.value, owner=plugin.distribution)
    return found


def _unusable(plugin: Plugin[Tool], known: dict[str, Tool]) -> str | None:
    """Reason why a plug-in's tool is not offered: clients refuse a whole list for one tool that is wrong."""
    tool = plugin.value
    if not isinstance(tool.name, str) or not _NAME.fullmatch(tool.name):
        return f"a tool's name is 1 to 64 letters, digits, - and _, not {tool.name!r}"
    if tool.name in known:
        return f"{known[tool.name].owner} has a tool {tool.name} already"
    if not (isinstance(tool.takes, type) and issubclass(tool.takes, Arguments)):
        return f"what {tool.name} takes is no subclass of {Arguments.__module__}.{Arguments.__name__}"
    try:
        schema_of(tool.takes)
        if tool.gives is not None:
            schema_of(tool.gives)
    except (TypeError, ValueError, LookupError, NameError) as error:  # as msgspec says of annotations it cannot read
        return f"{tool.name} has no JSON Schema, {type(error).__name__}: {error}"
    return None
