"""MCP tools of plug-ins: listed behind ours, called like ours; one that fails costs its call, never the server."""

from pathlib import Path

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.e2e.product import Product
from tests.plugins.environment import install, uninstall
from tests.server.agents import said


async def test_agents_find_and_call_a_tool_of_a_plugin(product: Product, python: Path, shop: Path) -> None:
    install(python)
    started = StdioServerParameters(
        command=str(python),
        args=["-P", "-m", "aurora_cli", "mcp", "--project", str(shop)],
        env=product.environment,
        cwd=shop,
    )
    product.home.mkdir()
    with (product.home / "stderr").open("w+") as errors:
        async with Client(stdio_client(started, errlog=errors)) as client:
            offered = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(offered)[-2:] == ["example_ends", "example_names"], "behind ours, by name"
            assert offered["aurora_recall"].description != "Not ours."
            assert offered["example_names"].input_schema["properties"]["limit"]["type"] == "integer"
            await client.call_tool("aurora_recall", {"query": "evict"})  # waits until the shop is indexed
            found = await client.call_tool("example_names", {"query": "evict the oldest cache entry", "limit": 1})
            assert (said(found), found.is_error) == ("cache.evict", False)
            wrong = await client.call_tool("example_names", {"querry": "evict"})
            assert wrong.is_error and "did you mean `query`?" in said(wrong)
            ended = await client.call_tool("example_ends", {"query": "evict"})
            assert ended.is_error
            assert said(ended) == "example_ends failed: SystemExit; this is a fault of aurora-example 1.0's"
            again = await client.call_tool("example_names", {"query": "release date", "limit": 1})
            assert said(again) == "Release date", "the server is still there"
    assert (product.home / "stderr").read_text() == "", "standard error is the client's log"
    uninstall(python)
