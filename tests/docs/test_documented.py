"""What people can call is told of where they look for it."""

from aurora_server.mcp_server.tools import TOOLS
from docs.generate.citations import ROOT


def test_every_mcp_tool_is_in_its_page() -> None:
    page = (ROOT / "docs/mcp.md").read_text(encoding="utf-8")
    assert [tool.name for tool in TOOLS if f"`{tool.name}`" not in page] == []
