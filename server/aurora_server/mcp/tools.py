"""The tools of `aurora mcp`, in the order in which clients show them."""

from __future__ import annotations

from aurora_server.mcp.deliverable_tools import DELIVERABLE_TOOL
from aurora_server.mcp.manifest_tools import MANIFEST_TOOL
from aurora_server.mcp.memory_tools import MEMORY_TOOLS
from aurora_server.mcp.soar_tools import SOAR_TOOLS

TOOLS = (*MEMORY_TOOLS, *SOAR_TOOLS, DELIVERABLE_TOOL, MANIFEST_TOOL)
BY_NAME = {tool.name: tool for tool in TOOLS}
