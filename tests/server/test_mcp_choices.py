"""What MCP's side chooses, a rule each: what is offered first, what counts as what, what is left out."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp import types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from aurora_protocol.client import RequestFailed
from aurora_server.mcp import completions, input_rounds, memory_tools, server, stdio_lines
from aurora_server.mcp.arguments import LIMIT, brief_schema, schema_of, unknown_name
from aurora_server.mcp.daemon_link import DaemonLink, LinkLost, _settle
from aurora_server.mcp.manifest_tools import MAX_MANIFEST, NotRead, manifest_in
from aurora_server.mcp.memory_tools import MEMORY_TOOLS, Recall
from aurora_server.mcp.progress import MAX_MESSAGE, message_of
from aurora_server.mcp.prompts import prompt_arguments
from aurora_server.mcp.replies import MoreLink, ToolReply
from aurora_server.mcp.resources import chunk_resource
from aurora_server.mcp.soar_tools import SOAR_TOOLS, _verdict
from tests.server.test_mcp_client_features import context

TOOLS = {each.name: each for each in (*MEMORY_TOOLS, *SOAR_TOOLS)}


class Link:
    """A session with a daemon that answers with these, one after the other of a method, and its last one for good."""

    root = Path("/w")

    def __init__(self, **answers: Any) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._answers = {name: list(said) for name, said in answers.items()}

    async def request(self, method: str, params: Any, **_: Any) -> Any:
        self.asked.append((method, dict(params)))
        left = self._answers[method.rpartition("/")[2]]
        said = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(said, Exception):
            raise said
        return said


# Completion


@pytest.mark.parametrize(
    ("values", "typed", "kept"),
    [
        pytest.param(["re-add", "add-b", "Add-a", "x"], "ADD", ["add-b", "Add-a", "re-add"], id="what begins so first"),
        pytest.param(["a", "a", "b"], "", ["a", "b"], id="each once, all where nothing is typed"),
    ],
)
def test_what_completes_what_is_typed(values: list[str], typed: str, kept: list[str]) -> None:
    assert completions._ranked(values, typed).completion.values == kept


@pytest.mark.parametrize(("many", "more"), [(100, False), (101, True)])
def test_a_hundred_completions_are_offered_and_whether_there_are_more(many: int, more: bool) -> None:
    found = completions._ranked([f"a{n}" for n in range(many)], "a").completion
    assert (len(found.values), found.total, found.has_more) == (100, many, more)


FOUND = {
    "results": [{"id": "code:a.py:get", "name": "get", "file": "a.py"}, {"id": "reas:get", "name": "get", "file": ""}]
}


@pytest.mark.parametrize(
    ("what", "typed", "values"),
    [
        pytest.param(completions.CHUNK, "get", ["code:a.py:get", "reas:get"], id="a chunk by its id"),
        pytest.param("explain.target", "get", ["get"], id="a target by its name"),
        pytest.param("recall.query", "a", ["a.py"], id="or its file, where it has one"),
        pytest.param("recall.query", " ", [], id="where nothing is typed nothing is looked for"),
        pytest.param("learn.task", "get", [], id="a task is the user's own words"),
        pytest.param("learn.change_id", "", ["x", "y"], id="a change from all there are"),
        pytest.param(completions.TOOL, "re", ["recall"], id="a tool from those offered"),
    ],
)
async def test_where_completions_come_from(what: str, typed: str, values: list[str]) -> None:
    link: Any = Link(recall=[FOUND], deliverable=[{"deliverables": [{"change_id": "x"}, {"change_id": "y"}]}])
    found = await completions.completed(what, typed, link, ["recall", "learn"])
    assert found.completion.values == values


@pytest.mark.parametrize(
    ("ref", "name", "what"),
    [
        (types.PromptReference(name="learn"), "task", "learn.task"),
        (types.PromptReference(name="learn"), "query", None),
        (types.PromptReference(name="none"), "task", None),
        (types.ResourceTemplateReference(uri=completions.CHUNK), "id", completions.CHUNK),
        (types.ResourceTemplateReference(uri=completions.TOOL), "name", completions.TOOL),
        (types.ResourceTemplateReference(uri=completions.TOOL), "id", None),
    ],
)
def test_what_can_be_completed(ref: Any, name: str, what: str | None) -> None:
    params: Any = SimpleNamespace(ref=ref, argument=SimpleNamespace(name=name))
    if what is None:
        with pytest.raises(MCPError, match="there is no"):
            completions.argument_of(params)
    else:
        assert completions.argument_of(params) == what


# Lines that are no messages


def refused(line: str) -> Any:
    with pytest.raises(ValidationError) as error:
        types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    (*found,) = stdio_lines._messages(error.value)
    return [(each.error.code, each.id) if isinstance(each, types.JSONRPCError) else "message" for each in found]


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        pytest.param("{", [(types.PARSE_ERROR, None)], id="no JSON"),
        pytest.param(" ", [], id="an empty line is nothing"),
        pytest.param('{"id": 7}', [(types.INVALID_REQUEST, 7)], id="no message, with its id"),
        pytest.param('{"id": true}', [(types.INVALID_REQUEST, None)], id="which true is none"),
        pytest.param("[]", [(types.INVALID_REQUEST, None)], id="an empty batch"),
        pytest.param(json.dumps([PING, 1]), ["message", (types.INVALID_REQUEST, None)], id="a batch, taken apart"),
        pytest.param(json.dumps([PING] * 100), ["message"] * 100, id="of a hundred at most"),
        pytest.param(json.dumps([PING] * 101), [(types.INVALID_REQUEST, None)], id="and no more"),
        pytest.param(json.dumps({**PING, "method": "\ud83d"}), ["message"], id="half of a character is mended"),
    ],
)
def test_how_a_line_that_is_no_message_is_answered(line: str, answers: list[Any]) -> None:
    assert refused(line) == answers


def test_an_error_that_tells_no_line_is_answered_as_no_json() -> None:
    (found,) = stdio_lines._messages(ValueError("x"))
    assert isinstance(found, types.JSONRPCError) and found.error.code == types.PARSE_ERROR


# Arguments and schemas


def test_the_list_of_tools_tells_what_an_argument_is_and_not_what_a_wrong_one_is_told_of_anyway() -> None:
    """Whole schemas have the bounds; what tools have in common is told once."""
    brief, whole = brief_schema(Recall), schema_of(Recall)
    assert set(brief) == {"type", "properties", "required"}
    assert LIMIT in whole["properties"] and LIMIT not in brief["properties"]
    limit = whole["properties"]["limit"]
    assert {"minimum", "maximum", "default"} <= set(limit)
    assert set(brief["properties"]["limit"]) == {"type", "description"}
    assert brief["properties"]["types"]["items"]["enum"] == ["code", "know", "reas"]


def test_a_schema_has_no_references_no_null_and_a_type_beside_each_choice() -> None:
    def parts(schema: Any) -> Any:
        yield schema
        for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
            yield from parts(each)

    for tool in TOOLS.values():
        for part in parts(schema_of(tool.takes)):
            if isinstance(part, dict):
                assert "$ref" not in part and part.get("type") != "null" and part.get("required") != []
                assert "enum" not in part or part["type"] == "string"


def test_a_long_name_that_is_not_there_is_not_said_again_whole() -> None:
    assert unknown_name("x" * 200, []) == f"there is no `{'x' * 80}`"
    assert unknown_name("qery", ["query", "limit"]) == "there is no `qery`; did you mean `query`?"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"task": "t", "change_id": ""}, None),
        ({"task": "t"}, None),
        ({"change_id": "x"}, "learn needs `task`"),
        ({"tsk": "x"}, "did you mean `task`"),
    ],
)
def test_which_arguments_a_prompt_needs(given: dict[str, str], said: str | None) -> None:
    if said is None:
        assert prompt_arguments("learn", given) == given
    else:
        with pytest.raises(MCPError, match=said):
            prompt_arguments("learn", given)


# Stages


@pytest.mark.parametrize(
    ("verbosity", "said"),
    [
        ("quiet", "plan: completed"),
        ("normal", "plan: completed, two"),
        ("verbose", 'plan: completed, two {"score":1,"cost_usd":0.5,"elapsed_ms":null}'),
    ],
)
def test_how_much_of_a_stage_is_told(verbosity: Any, said: str) -> None:
    stage = {"stage": "plan", "status": "completed", "detail": "two", "data": {"score": 1}, "cost_usd": 0.5}
    assert message_of(stage, verbosity) == said


@pytest.mark.parametrize(("extra", "ends"), [(0, "x"), (1, "…")])
def test_two_thousand_characters_of_a_stage_are_told(extra: int, ends: str) -> None:
    begin = "plan: failed, "
    said = message_of(
        {"stage": "plan", "status": "failed", "detail": "x" * (MAX_MESSAGE - len(begin) + extra)}, "normal"
    )
    assert len(said) == MAX_MESSAGE and said.endswith(ends)


# Tools


def chunk_found(name: str = "code:a.py:f:1-2", content: str = "text") -> dict[str, Any]:
    return {"results": [{"id": name, "content": content}]}


async def test_a_chunk_whose_lines_have_moved_is_found_by_its_name() -> None:
    moved = "code:a.py:f:5-6"
    link: Any = Link(recall=[chunk_found(moved), chunk_found(moved)], explain=[{"chunk": {"id": moved}}])
    uri = "aurora://chunk/code:a.py:f:1-2"
    assert (await chunk_resource(uri, link)).text == "text"
    assert [method.rpartition("/")[2] for method, _ in link.asked] == ["recall", "explain", "recall"]
    there: Any = Link(recall=[chunk_found()])
    assert (await chunk_resource(uri, there)).text == "text" and len(there.asked) == 1
    gone: Any = Link(recall=[{"results": []}], explain=[{"chunk": {"id": moved}}])
    with pytest.raises(MCPError, match=f"memory has no {moved} any more"):
        await chunk_resource(uri, gone)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(RequestFailed("there is none", -1, None), types.INVALID_PARAMS, id="what is not there"),
        pytest.param(LinkLost("gone"), types.INTERNAL_ERROR, id="a daemon that is not there"),
        pytest.param(OSError("gone"), types.INTERNAL_ERROR, id="a system that fails"),
    ],
)
async def test_why_a_chunk_cannot_be_read(error: Exception, code: int) -> None:
    link: Any = Link(recall=[error])
    with pytest.raises(MCPError) as failed:
        await chunk_resource("aurora://chunk/x", link)
    assert failed.value.error.code == code


async def test_a_workspace_that_was_never_indexed_is_indexed_and_asked_again() -> None:
    empty, known = (
        {"freshness": {"indexed_at": at, "pending_files": 0}, "results": [], "hint": None} for at in (None, "x")
    )
    link: Any = Link(recall=[empty, known], index=[{}])
    heard: list[str] = []
    assert await memory_tools._known(link, {"query": "q"}, lambda stage: heard.append(stage["status"])) is known
    assert [method.rpartition("/")[2] for method, _ in link.asked] == ["recall", "index", "recall"]
    assert heard == ["in_progress", "completed"]
    fresh: Any = Link(recall=[known])
    await memory_tools._known(fresh, {"query": "q"}, lambda _: None)
    assert len(fresh.asked) == 1


async def test_types_are_asked_for_where_they_are_given_and_text_has_four_fifths_of_a_budget() -> None:
    reply = {"freshness": {"indexed_at": "x", "pending_files": 0}, "results": [], "hint": None}
    link: Any = Link(recall=[reply])
    nothing: Any = lambda _: None  # noqa: E731
    for name, given in (
        ("aurora_recall", {}),
        ("aurora_recall", {"types": ("know",)}),
        ("aurora_retrieve_context", {}),
    ):
        tool = TOOLS[name]
        await tool.handler(link, tool.takes(query="q", **given), nothing)
    plain, typed, budget = (params for _, params in link.asked)
    assert plain == {"query": "q", "limit": 10} and typed["types"] == ("know",)
    assert (budget["budget_tokens"], budget["include_content"], budget["limit"]) == (3200, True, 50)


async def test_an_explanation_tells_ten_times_of_each_kind_and_sixty_relations() -> None:
    times = [f"t{n}" for n in range(11)]
    chunk = {"id": "code:a.py:f", "kind": "function", "name": "f", "signature": "", "activation": {"total": 1.0}}
    relations = [{"relation": "calls", "name": f"r{n}", "id": f"i{n}", "likely": n == 0} for n in range(61)]
    link: Any = Link(
        explain=[{"chunk": chunk, "docstring": "", "accesses": times, "commits": times, "relations": relations}]
    )
    tool = TOOLS["aurora_explain"]
    told = (await tool.handler(link, tool.takes(id="f"), lambda _: None)).text.split("\n")
    assert told[0] == "code:a.py:f (function)" and told[1].startswith("activation: ")
    assert [line.count("t") for line in told[2:4] if "t10" not in line] and "t10" not in "".join(told)
    assert told[2].startswith("used: t0") and told[3].startswith("changed: t0")
    assert told[4] == "maybe calls r0 (i0)" and told[5] == "calls r1 (i1)" and len(told) == 4 + 60


def test_critical_issues_of_a_verdict_are_told_before_those_of_its_checks_and_each_once() -> None:
    judged = {
        "critical_issues": ["no plan", "scope: wide"], "checks": {"scope": {"issues": ["wide", "vague"]}},
        "verdict": "fail", "overall_score": 0.1, "suggestions": [], "by": "rules",
    }  # fmt: skip
    assert _verdict({"verification": judged})["issues"] == ["no plan", "scope: wide", "scope: vague"]


def test_what_clients_suppose_of_a_tool_is_not_told() -> None:
    """A tool that only reads destroys nothing and repeats; the others say what they do."""

    def hints(name: str) -> dict[str, Any]:
        return server._hints(TOOLS[name]).model_dump(exclude_none=True)

    assert hints("aurora_recall") == {"read_only_hint": True, "open_world_hint": False}
    assert hints("aurora_learn") == {"destructive_hint": False, "open_world_hint": False}
    assert hints("aurora_verify") == {"destructive_hint": False, "idempotent_hint": True}
    assert hints("aurora_query") == {"destructive_hint": False}


@pytest.mark.parametrize(
    ("version", "kinds"), [("2025-03-26", ["text", "text"]), ("2025-06-18", ["text", "resource_link"])]
)
def test_links_are_links_in_revisions_that_have_them_and_text_before(version: str, kinds: list[str]) -> None:
    told = server._result(ToolReply("answer", (MoreLink("aurora://chunk/x", "x", ""),)), context(version))
    assert [each.type for each in told.content] == kinds
    assert [each.type for each in server._result(ToolReply("answer"), context(version)).content] == ["text"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.json", None),
        ("in/../a.json", None),
        ("../x.json", "is outside of the workspace"),
        ("/etc/hostname", "is outside of the workspace"),
        ("gone.json", "cannot be read: No such file"),
        pytest.param("in", "in cannot be read: Is a directory", id="a folder, which leaves nothing open"),
        ("bad.json", "is not UTF-8: byte 1"),
        ("large.json", "is larger than 8 MiB"),
        ("a\0b", "cannot be read"),
    ],
)
def test_which_manifests_of_a_workspace_are_read(tmp_path: Path, name: str, said: str | None) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "a.json").write_text("{}")
    (tmp_path / "bad.json").write_bytes(b"a\xff")
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(MAX_MANIFEST + 1)
    if said is None:
        assert manifest_in(tmp_path, name) == "{}"
    else:
        with pytest.raises(NotRead, match=said):
            manifest_in(tmp_path, name)


# The link


async def test_what_an_error_of_the_daemon_is_told_as() -> None:
    loop = asyncio.get_running_loop()

    def settled(message: dict[str, Any]) -> Any:
        future: Any = loop.create_future()
        _settle(future, message)
        return future.exception() or future.result()

    assert settled({"result": 1}) == 1
    told = settled({"error": {"code": -5, "message": "no", "data": {"kind": "refused"}}})
    assert (str(told), told.code, told.kind) == ("no", -5, "refused")
    bare = settled({"error": {"code": "x", "data": {"kind": 1}}})
    assert (str(bare), bare.code, bare.kind) == ("the request failed", 0, None)


async def test_a_request_is_asked_again_once_where_that_costs_nothing() -> None:
    link: Any = DaemonLink.__new__(DaemonLink)
    tries: list[str] = []

    async def lost(method: str, *_: Any) -> Any:
        tries.append(method)
        raise LinkLost("gone")

    link._request = lost
    with pytest.raises(LinkLost):
        await link.request("learn", {})
    with pytest.raises(LinkLost):
        await link.request("recall", {}, again=True)
    assert tries == ["learn", "recall", "recall"]


async def test_of_too_many_calls_that_wait_the_one_that_waits_longest_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(input_rounds, "MAX_PARKED", 2)
    cancelled: list[int] = []
    rounds = input_rounds.Rounds()
    calls: list[Any] = [SimpleNamespace(work=SimpleNamespace(cancel=lambda n=n: cancelled.append(n))) for n in range(3)]
    states = [rounds._park(("t", {}), each) for each in calls]
    assert cancelled == [0] and rounds._back(states[1], ("t", {})) is calls[1]
    for state, about in ((states[1], ("t", {})), (states[2], ("t", {"x": 1}))):
        with pytest.raises(MCPError, match="no call waits"):
            rounds._back(state, about)
    rounds.close()
    assert cancelled == [0, 2]


async def test_twenty_sources_of_an_answer_are_linked_where_there_is_room() -> None:
    sources = [{"id": f"code:a.py:f{n}", "name": f"f{n}", "file": "a.py"} for n in range(21)]
    reply = {
        "answer": "a", "claims": [], "sources": sources, "state": "complete", "score": None, "cost_usd": 0.0,
        "unpriced_calls": 0, "id": "r", "error": "", "notices": [],
    }  # fmt: skip
    link: Any = Link(query=[reply])
    tool = TOOLS["aurora_query"]
    told = await tool.handler(link, tool.takes(query="q", max_tokens=50_000), lambda _: None)
    assert [each.name for each in told.links] == [f"f{n}" for n in range(20)]


def test_a_long_name_of_a_prompt_that_is_not_there_is_cut() -> None:
    long = "x" * 500
    params: Any = SimpleNamespace(ref=types.PromptReference(name=long), argument=SimpleNamespace(name=long))
    with pytest.raises(MCPError) as refused:
        completions.argument_of(params)
    assert refused.value.error.message == f"there is no argument {'x' * 80} of a prompt {'x' * 80}"
