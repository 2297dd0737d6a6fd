"""`aurora mcp` as agents meet it: the official SDK's client over stdio, a real daemon, every tool and revision."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from aurora_memory.token_cost import estimated_tokens
from aurora_server.mcp.replies import chunk_uri
from tests.orchestration.llm.loopback import KEY, LoopbackProvider
from tests.orchestration.soar.minds import Mind
from tests.server.agents import COMMAND, Raw, agent, environment, links, price, raw, said
from tests.server.client_requests import FILES, MEDIUM, TWO, asked, workspace
from tests.server.daemons import Daemon
from tests.shares import long

NAMES = {
    "aurora_recall",
    "aurora_retrieve_context",
    "aurora_explain",
    "aurora_learn",
    "aurora_query",
    "aurora_assess",
    "aurora_decompose",
    "aurora_verify",
    "aurora_deliverable",
    "aurora_validate_manifest",
}
SECRET = "sk-ant-api03-" + "Zq7" * 12


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path, dict[str, str]]]:
    """A daemon with a model of good will: its home, an indexed workspace, the variables for the provider."""
    folder = tmp_path_factory.mktemp("mcp")
    with asked(folder, Mind(TWO)) as (_, provider, root):
        (root / "src/many.py").write_text("".join(_function(number) for number in range(150)))
        yield folder / "home", root, provider.environ


def _function(number: int) -> str:
    return f'def collect_rows_{number}(rows, limit):\n    """Collect rows of the table, part {number}."""\n' + (
        f"    total = sum(rows[:limit]) + {number}\n" * 12 + "    return total\n\n\n"
    )


Place = tuple[Path, Path, dict[str, str]]


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
async def test_every_older_revision_is_spoken_as_it_was(place: Place, version: str) -> None:
    home, root, variables = place
    with raw(home, root, **variables) as client:
        told = client.initialize(version)
        assert told["protocolVersion"] == version
        assert "aurora_recall" in told["instructions"]
        tools = client.ask(1, "tools/list")["result"]["tools"]
        assert {tool["name"] for tool in tools} == NAMES
        found = client.ask(2, "tools/call", name="aurora_recall", arguments={"query": "expand template"})["result"]
        assert [each["type"] for each in found["content"]] == ["text"] and "src/template.py" in json.dumps(found)
        context = {"query": "collect rows of the table", "budget": 100}
        number, whole = 4, client.ask(4, "tools/call", name="aurora_retrieve_context", arguments=context)["result"]
        while "still to be indexed" in json.dumps(whole):  # on a busy machine it may be
            number += 1
            whole = client.ask(number, "tools/call", name="aurora_retrieve_context", arguments=context)["result"]
        kinds = {each["type"] for each in whole["content"]}
        assert "aurora://chunk/" in json.dumps(whole) and ("resource_link" in kinds) == (version >= "2025-06-18")
        assert client.ask(3, "ping")["result"] == {}


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_the_sdks_client_finds_reads_and_explains(place: Place, mode: str, version: str) -> None:
    home, root, variables = place
    async with agent(home, root, variables, mode=mode) as client:
        assert client.session.protocol_version == version
        found = await client.call_tool("aurora_recall", {"query": "expand template", "limit": 3})
        assert not found.is_error and said(found).startswith("1. expand src/template.py:1-3")
        assert found.structured_content is None and links(found) == []
        read = await client.read_resource(chunk_uri("code:src/template.py:expand"))
        assert isinstance(read.contents[0], types.TextResourceContents)
        assert read.contents[0].text == FILES["src/template.py"].rstrip()
        whole = await client.call_tool("aurora_retrieve_context", {"query": "expand template"})
        assert "return fill(template, values)" in said(whole)
        explained = await client.call_tool("aurora_explain", {"id": "code:src/template.py:expand"})
        assert "called by request" in said(explained)


async def test_resources_are_those_that_memory_has_and_nothing_else(place: Place) -> None:
    home, root, variables = place
    async with agent(home, root, variables) as client:
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == ["aurora://chunk/{id}", "aurora://tool/{name}"]
        assert (await client.list_resources()).resources == []
        missing = ("aurora://chunk/code%3Asrc%2Fnone.py%3Aexpand%3A1-3", "aurora://tool/aurora_recal")
        for uri in ("file:///etc/passwd", "aurora://chunk/", *missing):
            with pytest.raises(MCPError) as refused:
                await client.read_resource(uri)
            assert refused.value.error.data == {"uri": uri}
        short = await client.read_resource("aurora://chunk/code%3Asrc%2Fauth.py%3Alogin")
        assert isinstance(short.contents[0], types.TextResourceContents) and "token(user)" in short.contents[0].text


async def test_tools_describe_themselves_in_one_piece(place: Place) -> None:
    home, root, variables = place
    async with agent(home, root, variables) as client:
        tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == NAMES
    for tool in tools:
        assert tool.title and tool.description and len(tool.description) > 60
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint or tool.annotations.destructive_hint is False
        for schema in filter(None, (tool.input_schema, tool.output_schema)):
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
            assert "$ref" not in json.dumps(schema) and '"null"' not in json.dumps(
                schema.get("properties", {}).get("query")
            )
        for name, member in tool.input_schema["properties"].items():
            assert member.get("description") and member.get("type"), f"{tool.name}.{name}"
    hints = {tool.name: tool.annotations for tool in tools if tool.annotations is not None}
    changing = {name for name, hint in hints.items() if not hint.read_only_hint}
    costly = {"aurora_query", "aurora_decompose", "aurora_verify"}
    assert changing == {"aurora_learn", "aurora_deliverable"} | costly
    assert {name for name, hint in hints.items() if hint.open_world_hint is not False} == costly


def test_the_list_of_tools_costs_little_and_resources_tell_the_rest(place: Place, spoken: Raw) -> None:
    listed = spoken.ask("priced", "tools/list")["result"]
    assert tokens_of(listed) <= 1_500
    for tool in listed["tools"]:
        address = f"aurora://tool/{tool['name']}"
        text = spoken.ask(address, "resources/read", uri=address)["result"]["contents"][0]["text"]
        full = json.loads(text)
        assert full["inputSchema"]["properties"].keys() >= tool["inputSchema"]["properties"].keys()
        assert full["inputSchema"]["additionalProperties"] is False
        assert set(full.get("outputSchema", {}).get("required", ())) >= set(
            tool.get("outputSchema", {}).get("required", ())
        )
        if tool["name"] == "aurora_deliverable":
            details = full["inputSchema"]["properties"]["details"]["properties"]
            assert {"description", "failure_type", "duration_seconds", "output_tokens"} <= details.keys()
            assert all(each["description"] for each in details.values())


def test_a_core_of_tools_is_offered_alone(place: Place) -> None:
    home, root, variables = place
    with raw(home, root, "--tools", "core", **variables) as client:
        client.initialize()
        listed = client.ask("few", "tools/list")["result"]
        names = {tool["name"] for tool in listed["tools"]}
        assert names == {"aurora_recall", "aurora_retrieve_context", "aurora_explain", "aurora_learn"}
        assert tokens_of(listed) <= 650
        refused = client.ask("other", "tools/call", name="aurora_assess", arguments={"query": "x"})
        assert "aurora_assess" in refused["error"]["message"]


def tokens_of(document: object) -> int:
    """What a document costs a model as JSON, by the estimate that answers are held to."""
    return estimated_tokens(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode())


@pytest.fixture(scope="module")
def spoken(place: Place) -> Iterator[Raw]:
    """One session for many questions: starting `aurora mcp` takes a second of CPU time."""
    home, root, variables = place
    with raw(home, root, **variables) as client:
        client.initialize()
        yield client


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("aurora_recall", {}, "missing required field `query`"),
        ("aurora_recall", {"query": ""}, "length >= 1"),
        ("aurora_recall", {"query": "x" * 10_001}, "length <= 10000"),
        ("aurora_recall", {"query": "x", "limits": 3}, "did you mean `limit`?"),
        ("aurora_recall", {"query": "x", "limit": "many"}, "$.limit"),
        ("aurora_recall", {"query": "x", "limit": 0}, "$.limit"),
        ("aurora_recall", {"query": "x", "types": ["prose"]}, "$.types[0]"),
        ("aurora_recall", {"query": {"a": 1}}, "$.query"),
        ("aurora_recall", {"query": "x", "max_tokens": 10**9}, "$.max_tokens"),
        ("aurora_retrieve_context", {"query": "x", "budget": -1}, "$.budget"),
        ("aurora_explain", {"id": "nothing"}, "nothing here is called 'nothing'"),
        ("aurora_explain", {"id": "code:no.py:none:1-2"}, "code:no.py:none"),
        ("aurora_query", {"query": "   "}, "empty"),
        ("aurora_query", {"query": "x", "verification": "option_z"}, "option_z"),
        ("aurora_verify", {"query": "x"}, "give either `decomposition` or `output`"),
        ("aurora_verify", {"query": "x", "decomposition": {"goal": 5}}, "`decomposition` is none"),
        ("aurora_learn", {"query": "x", "result": "y", "score": 2}, "$.score"),
        ("aurora_learn", {"query": "x", "result": "y" * 200_001, "score": 1}, "$.result"),
        ("aurora_learn", {"query": "x", "result": "y", "score": 1, "tools": ["t"] * 201}, "$.tools"),
        ("aurora_deliverable", {"action": "explode"}, "explode"),
        ("aurora_deliverable", {"action": "ingest"}, "ingest"),
        ("aurora_deliverable", {"action": "start"}, "change_id"),
        ("aurora_deliverable", {"action": "task", "details": {"compleeted": 1}}, "did you mean `completed`?"),
        ("aurora_deliverable", {"action": "show", "change_id": "none-such"}, "no deliverable none-such"),
        ("aurora_validate_manifest", {}, ".well-known/aura.json cannot be read"),
        ("aurora_validate_manifest", {"file": "../secret.json"}, "outside of the workspace"),
        ("aurora_validate_manifest", {"file": "/etc/passwd"}, "outside of the workspace"),
        ("aurora_validate_manifest", {"file": "src"}, "src"),
        ("aurora_validate_manifest", {"file": "a\0b"}, "cannot be read"),
    ],
)
def test_wrong_arguments_are_an_answer_that_helps(
    spoken: Raw, tool: str, arguments: dict[str, Any], told: str, request: pytest.FixtureRequest
) -> None:
    result = spoken.ask(request.node.name, "tools/call", name=tool, arguments=arguments)["result"]
    text = result["content"][0]["text"]
    assert result["isError"] and told in text and tool in text and len(text) < 1_000
    assert "structuredContent" not in result


async def test_arguments_are_taken_as_models_send_them(place: Place) -> None:
    home, root, variables = place
    async with agent(home, root, variables) as client:
        loose = {"query": "expand", "limit": "1", "types": '["code"]', "max_tokens": "500"}
        found = await client.call_tool("aurora_recall", loose)
        assert said(found).startswith("1. ") and "\n2. " not in said(found)
        begun = {"action": "start", "change_id": "loose", "details": '{"description": "as text"}'}
        assert json.loads(said(await client.call_tool("aurora_deliverable", begun)))["description"] == "as text"


@pytest.mark.parametrize("tokens", [100, long(300), 1_000, long(4_000)])
async def test_answers_cost_no_more_than_was_allowed(place: Place, tokens: int) -> None:
    home, root, variables = place
    async with agent(home, root, variables) as client:
        query = "collect rows of the table"
        for name, arguments in (
            ("aurora_recall", {"query": query, "limit": 100, "max_tokens": tokens}),
            ("aurora_retrieve_context", {"query": query, "budget": tokens}),
            ("aurora_explain", {"id": "code:src/template.py:expand", "max_tokens": tokens}),
            ("aurora_query", {"query": MEDIUM, "max_tokens": tokens}),
            ("aurora_decompose", {"query": MEDIUM, "max_tokens": max(tokens, 500)}),
            ("aurora_verify", {"query": MEDIUM, "output": "Expand fills it. " * 500, "max_tokens": max(tokens, 500)}),
            ("aurora_validate_manifest", {"text": '{"a": 1, ' + '"x": ' * 3_000, "max_tokens": tokens}),
        ):
            result = await client.call_tool(name, arguments)
            assert said(result), name
            assert price(result) <= arguments.get("max_tokens", tokens), name
        more = await client.call_tool("aurora_retrieve_context", {"query": query, "budget": 100})
        assert "more did not fit" in said(more) and links(more)


async def test_steps_of_the_phases_give_what_their_schemas_say(place: Place) -> None:
    home, root, variables = place
    async with agent(home, root, variables) as client:
        await client.list_tools()  # from here on the client holds each answer against the tool's output schema
        assessed = await client.call_tool("aurora_assess", {"query": MEDIUM})
        assert assessed.structured_content is not None
        assert (assessed.structured_content["complexity"], assessed.structured_content["route"]) == (
            "medium",
            "decompose",
        )
        planned = await client.call_tool("aurora_decompose", {"query": MEDIUM, "context": "expand is in template.py"})
        assert planned.structured_content is not None and planned.structured_content["verdict"] == "pass"
        assert json.loads(said(planned)) == planned.structured_content
        plan = planned.structured_content["decomposition"]
        judged = await client.call_tool("aurora_verify", {"query": MEDIUM, "decomposition": plan})
        assert judged.structured_content is not None
        assert (judged.structured_content["verdict"], judged.structured_content["score"]) == ("pass", 0.9)
        output = await client.call_tool("aurora_verify", {"query": MEDIUM, "output": "Expand fills the template."})
        assert output.structured_content is not None and "addresses_query" in output.structured_content["checks"]


async def test_what_an_agent_tells_is_kept_without_secrets(place: Place) -> None:
    home, root, variables = place
    async with agent(home, root, variables) as client:
        learned = await client.call_tool(
            "aurora_learn",
            {
                "query": f"rotate the login key {SECRET} of the site",
                "result": f"login takes the key {SECRET} from the environment",
                "score": 0.9,
                "used": ["code:src/auth.py:login", "code:none.py:none"],
                "tools": ["edit", SECRET],
            },
        )
        told = learned.structured_content
        assert told is not None and told["cached"] and told["unknown"] == ["code:none.py:none"]
        recalled = await client.call_tool("aurora_recall", {"query": "rotate the login key", "types": ["reas"]})
        assert told["reasoning_id"] in said(recalled)
        for action, details in (
            ("start", {"description": f"with {SECRET}"}),
            ("phase", {"phase": "apply"}),
            ("task", {"completed": 1, "total": 2}),
            ("fail", {"reason": f"{SECRET} was refused", "failure_type": "tool_failure"}),
        ):
            answer = await client.call_tool(
                "aurora_deliverable", {"action": action, "change_id": "rotate", "details": details}
            )
            assert not answer.is_error, said(answer)
        listed = json.loads(said(await client.call_tool("aurora_deliverable", {"action": "list"})))
        assert "failed" in {each["status"] for each in listed["deliverables"]}
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"rotate" in kept and SECRET.encode() not in kept


async def test_an_agent_changes_nothing_in_the_workspace_and_trusts_nobody(place: Place) -> None:
    home, root, variables = place
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    async with agent(home, root, variables) as client:
        await client.call_tool("aurora_query", {"query": MEDIUM})
        await client.call_tool("aurora_deliverable", {"action": "start", "change_id": "quiet"})
        tools = {tool.name for tool in (await client.list_tools()).tools}
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
    assert not any("trust" in name or "config" in name or "index" in name for name in tools)
    assert not [path for path in home.iterdir() if "trust" in path.name]


async def test_a_manifest_is_checked_in_the_workspace_alone(place: Place, tmp_path: Path) -> None:
    home, root, variables = place
    (tmp_path / "secret.json").write_text('{"password": "none of your business"}')
    (root / "linked.json").symlink_to(tmp_path / "secret.json")
    (root / "site").mkdir()
    (root / "site/aura.json").write_text('{"protocol": "AURA"}')
    (root / "huge.json").write_bytes(b" " * (9 << 20))
    async with agent(home, root, variables) as client:

        async def check(**arguments: object) -> types.CallToolResult:
            return await client.call_tool("aurora_validate_manifest", arguments)

        found = await check(file="site/aura.json")
        assert not found.is_error and said(found).startswith("not valid: ") and "error 1:1" in said(found)
        linked = await check(file="linked.json")
        assert linked.is_error and "outside of the workspace" in said(linked) and "business" not in said(linked)
        huge = await check(file="huge.json")
        assert huge.is_error and "larger than" in said(huge)
        deep = await check(text="[" * 100_000)
        assert "error" in said(deep)
    for name in ("linked.json", "huge.json", "site/aura.json"):
        (root / name).unlink()


async def test_progress_tells_every_phase_and_only_ever_grows(place: Place) -> None:
    home, root, variables = place
    for mode, verbosity in (("legacy", "normal"), ("auto", "quiet"), ("auto", "verbose")):
        async with agent(home, root, variables, "--verbosity", verbosity, mode=mode) as client:
            heard: list[tuple[float, float | None, str]] = []

            async def on_progress(
                progress: float, total: float | None, message: str | None, to: list[Any] = heard
            ) -> None:
                to.append((progress, total, message or ""))

            result = await client.call_tool("aurora_query", {"query": MEDIUM}, progress_callback=on_progress)
            assert not result.is_error, said(result)
        values = [progress for progress, _, _ in heard]
        assert all(one < following for one, following in itertools.pairwise(values)), values
        assert values[-1] == 1.0 and {total for _, total, _ in heard} == {1.0}
        order = list(dict.fromkeys(message.partition(":")[0] for _, _, message in heard))
        wanted = ["guard", "assess", "retrieve", "decompose", "verify", "route", "collect", "synthesize", "record"]
        if "answered from memory" not in " ".join(order) and "decompose" in order:
            assert [each for each in order if each in wanted] == wanted
        messages = " ".join(message for _, _, message in heard)
        assert ("in_progress" in messages) == (verbosity != "quiet")
        assert ('"elapsed_ms":' in messages) == (verbosity == "verbose")


async def test_two_agents_at_once_do_not_hear_of_each_other(place: Place) -> None:
    home, root, variables = place
    async with agent(home, root, variables) as one, agent(home / "other", root, {**variables}) as _:
        pass
    async with agent(home, root, variables) as one, agent(home, root, variables) as two:
        found = await one.call_tool("aurora_recall", {"query": "expand"})
        other = await two.call_tool("aurora_recall", {"query": "login"})
        assert "src/template.py" in said(found) and "src/auth.py" in said(other)


async def test_variables_of_the_client_choose_the_model_of_a_running_daemon(tmp_path: Path) -> None:
    root = workspace(tmp_path / "ws")
    home = tmp_path / "home"
    with LoopbackProvider() as provider:
        provider.otherwise = Mind(TWO)
        home.mkdir()
        url = provider.settings().base_url
        (home / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": {
            "provider": "anthropic", "model": "claude-sonnet-4-5", "base_url": url}}}))  # fmt: skip
        with Daemon(home, ANTHROPIC_API_KEY="") as daemon:
            with daemon.client(root) as plain:
                plain.request("aurora/index", {})
                assert plain.request("aurora/query", {"query": MEDIUM})["state"] == "no_provider"
            chosen = {"AURORA_LLM_PROVIDER": "anthropic", "AURORA_LLM_MODEL": "mine", "AURORA_API_KEY": KEY}
            async with agent(home, root, chosen) as client:
                result = await client.call_tool("aurora_query", {"query": MEDIUM})
                assert not result.is_error and "state complete" in said(result), said(result)
                unknown = await client.call_tool("aurora_assess", {"query": MEDIUM})
                assert not unknown.is_error
            assert {request.json.get("model") for request in provider.requests if "model" in request.json} <= {"mine"}
            asked_for = len(provider.requests)
            async with agent(home, root, {"AURORA_LLM_PROVIDER": "nobody-knows"}) as client:
                refused = await client.call_tool("aurora_query", {"query": "compare expand with login once more"})
                assert refused.is_error and "AURORA_LLM_MODEL" in said(refused)
            assert len(provider.requests) == asked_for
        assert KEY not in daemon.address.log.read_text()


@pytest.mark.parametrize("mode", ["legacy", long("auto")])
async def test_an_editor_that_starts_it_elsewhere_tells_the_workspace_as_its_root(
    place: Place, tmp_path: Path, mode: str
) -> None:
    home, root, variables = place
    (tmp_path / "elsewhere").mkdir()

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=root.as_uri())])  # type: ignore[arg-type]

    started = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "mcp"], env=environment(home, variables), cwd=tmp_path / "elsewhere"
    )
    async with Client(stdio_client(started), mode=mode, list_roots_callback=roots) as client:
        found = await client.call_tool("aurora_recall", {"query": "expand template"})
    assert "src/template.py" in said(found)
