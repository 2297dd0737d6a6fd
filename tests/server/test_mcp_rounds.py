"""Questions to the client in revision 2026-07-28: a call is answered by what it wants to know, and called again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from aurora_server.mcp import input_rounds
from aurora_server.mcp.input_rounds import Rounds, ToolCall, asks_by_rounds
from tests.orchestration.llm.loopback import Request
from tests.orchestration.soar.minds import Mind
from tests.server.agents import agent, said
from tests.server.client_requests import MEDIUM, TWO, workspace
from tests.server.daemons import Daemon

OTHER = "Explain how login makes a token and compare it with expand"
Result = types.CallToolResult | types.InputRequiredResult
QUESTION = types.ElicitRequest(
    params=types.ElicitRequestFormParams(message="Which?", requested_schema={"type": "object", "properties": {}})
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A home whose only model is the client's, and an indexed workspace."""
    root, home = workspace(tmp_path / "ws"), tmp_path / "home"
    home.mkdir()
    (home / "config.json").write_text(json.dumps({"llm": {"reasoning_llm": {"provider": "editor", "model": "own"}}}))
    with Daemon(home) as daemon:
        with daemon.client(root) as client:
            client.request("aurora/index", {})
        yield home, root


async def nobody(*_: Any) -> types.CreateMessageResult:
    """Declares that the client has a model; these tests answer by hand."""
    raise AssertionError("not asked")


async def call(client: Client, tool: str, query: str, last: Result | None = None, **more: Any) -> Result:
    """One round."""
    if isinstance(last, types.InputRequiredResult):
        more = {"request_state": last.request_state, **more}
    return await client.session.call_tool(tool, {"query": query}, allow_input_required=True, **more)


def answers(mind: Mind, asked: Result) -> dict[str, Any]:
    """What the client's model says to all that is asked."""
    assert isinstance(asked, types.InputRequiredResult) and asked.input_requests, asked
    found: dict[str, Any] = {}
    for key, request in asked.input_requests.items():
        assert isinstance(request, types.CreateMessageRequest) and request.params.system_prompt
        content = request.params.messages[0].content
        assert isinstance(content, types.TextContent)
        reply = mind(Request("/v1/messages", {}, {"messages": [{"role": "user", "content": content.text}]})).said
        text = types.TextContent(type="text", text=reply)
        found[key] = types.CreateMessageResult(role="assistant", content=text, model="the client's")
    return found


async def finished(client: Client, mind: Mind, tool: str, query: str, last: Result) -> tuple[types.CallToolResult, int]:
    """The result of a call that goes on from `last`, and how many rounds that took."""
    rounds = 1
    while isinstance(last, types.InputRequiredResult):
        last = await call(client, tool, query, last, input_responses=answers(mind, last))
        rounds += 1
    return last, rounds


async def test_a_run_needs_fewer_rounds_than_clients_allow_and_its_progress_grows_through_all(
    place: tuple[Path, Path],
) -> None:
    told: list[float] = []

    async def heard(progress: float, _: float | None, __: str | None) -> None:
        told.append(progress)

    mind = Mind(TWO)
    async with agent(*place, sampling_callback=nobody) as client:
        asked = await call(client, "aurora_query", MEDIUM, progress_callback=heard)
        rounds = 1
        states = set()
        while isinstance(asked, types.InputRequiredResult):
            states.add(asked.request_state)
            replies = answers(mind, asked)
            asked = await call(
                client, "aurora_query", MEDIUM, asked, input_responses=replies, progress_callback=heard
            )  # fmt: skip
            rounds += 1
        assert "state complete" in said(asked), said(asked)
    assert mind.asked.count("work") == 2
    assert rounds <= 10 and len(states) == rounds - 1
    assert len(told) > 3 and told == sorted(set(told)) and told[-1] == 1.0


async def test_two_calls_at_once_are_each_asked_their_own_questions(place: tuple[Path, Path]) -> None:
    minds = {MEDIUM: Mind(TWO), OTHER: Mind(("Explain how login makes a token", "Compare login with expand"))}
    async with agent(*place, sampling_callback=nobody) as client:
        begun = await asyncio.gather(*(call(client, "aurora_decompose", query) for query in minds))
        for query, asked in zip(minds, begun, strict=True):
            assert isinstance(asked, types.InputRequiredResult) and asked.input_requests
            (request,) = asked.input_requests.values()
            assert query in request.model_dump_json() and not any(
                other in request.model_dump_json() for other in minds if other != query
            )
        for query, asked in reversed(list(zip(minds, begun, strict=True))):
            result, _ = await finished(client, minds[query], "aurora_decompose", query, asked)
            assert not result.is_error and minds[query].asked, said(result)


async def test_a_state_is_good_for_its_own_call_and_once(place: tuple[Path, Path]) -> None:
    mind = Mind(TWO)
    async with agent(*place, sampling_callback=nobody) as client:
        asked = await call(client, "aurora_decompose", MEDIUM)
        for tool, query, state in (
            ("aurora_decompose", OTHER, None),
            ("aurora_query", MEDIUM, None),
            ("aurora_decompose", MEDIUM, "made up"),
            ("aurora_decompose", MEDIUM, ""),
        ):
            with pytest.raises(MCPError, match="no call waits under this `requestState`"):
                await call(client, tool, query, asked, **({} if state is None else {"request_state": state}))
        again = await call(
            client, "aurora_decompose", MEDIUM, asked, input_responses={"unheard-of": answer_of_a_user()}
        )
        assert isinstance(again, types.InputRequiredResult) and isinstance(asked, types.InputRequiredResult)
        assert again.input_requests == asked.input_requests and again.request_state != asked.request_state
        with pytest.raises(MCPError, match="no call waits"):
            await call(client, "aurora_decompose", MEDIUM, asked, input_responses=answers(mind, asked))
        result, _ = await finished(client, mind, "aurora_decompose", MEDIUM, again)
        assert not result.is_error, said(result)


def answer_of_a_user() -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"answer": "42"})


async def test_an_answer_of_the_wrong_kind_fails_that_question_and_not_the_server(place: tuple[Path, Path]) -> None:
    async with agent(*place, sampling_callback=nobody) as client:
        asked = await call(client, "aurora_decompose", MEDIUM)
        for _ in range(10):
            if not isinstance(asked, types.InputRequiredResult):
                break
            wrong = dict.fromkeys(asked.input_requests or {}, answer_of_a_user())
            asked = await call(client, "aurora_decompose", MEDIUM, asked, input_responses=wrong)
        assert isinstance(asked, types.CallToolResult) and asked.is_error
        assert "sampling/createMessage" in said(asked), said(asked)
        found = await client.call_tool("aurora_recall", {"query": "expand template"})
        assert "src/template.py" in said(found)


async def test_who_does_not_come_back_costs_nobody_anything(place: tuple[Path, Path]) -> None:
    mind = Mind(TWO)
    async with agent(*place, sampling_callback=nobody) as client:
        left = [await call(client, "aurora_decompose", MEDIUM) for _ in range(3)]
        assert len({each.request_state for each in left if isinstance(each, types.InputRequiredResult)}) == 3
        asked = await call(client, "aurora_decompose", OTHER)
        result, _ = await finished(client, mind, "aurora_decompose", OTHER, asked)
        assert not result.is_error, said(result)
    # that the program ended with its standard input, three calls still waiting, is what leaving `agent` takes


class Waiting:
    """Calls that each ask their client one question, in one server's `Rounds`."""

    def __init__(self) -> None:
        self.rounds = Rounds()
        self.calls: list[ToolCall] = []

    async def serve(self, state: str | None = None, /, **answers: Any) -> Result:
        """One round: of a new call, or of the one that `state` names."""
        params = types.CallToolRequestParams(
            name="ask", arguments={}, request_state=state, input_responses=answers or None
        )

        async def work(call: ToolCall) -> types.CallToolResult:
            await call.ask(QUESTION, types.ElicitResult)
            return types.CallToolResult(content=[])

        call = ToolCall(cast("Any", SimpleNamespace()), "normal")
        self.calls.append(call)
        return await self.rounds.serve(call, params, work)


async def state_of(waiting: Waiting) -> str:
    asked = await waiting.serve()
    assert isinstance(asked, types.InputRequiredResult) and asked.request_state
    return asked.request_state


async def test_where_too_many_wait_the_one_that_waits_longest_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_rounds, "MAX_PARKED", 2)
    waiting = Waiting()
    longest, _, latest = [await state_of(waiting) for _ in range(3)]
    with pytest.raises(MCPError, match="no call waits"):
        await waiting.serve(longest)
    assert waiting.calls[0].work is not None and waiting.calls[0].work.cancelling(), "its work is over"
    answered = await waiting.serve(latest, **{"elicitation/create-1": answer_of_a_user()})
    assert isinstance(answered, types.CallToolResult)
    waiting.rounds.close()


async def test_a_call_whose_client_stays_away_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_rounds, "_PATIENCE", 0.0)
    waiting = Waiting()
    state = await state_of(waiting)
    work = waiting.calls[0].work
    assert work is not None
    await asyncio.wait({work})
    assert work.cancelled()
    with pytest.raises(MCPError, match="no call waits"):
        await waiting.serve(state)


def test_clients_of_the_revision_that_brought_rounds_are_asked_by_them() -> None:
    for version, by_rounds in (("2026-07-28", True), ("2025-11-25", False)):
        ctx = SimpleNamespace(session=SimpleNamespace(protocol_version=version))
        assert asks_by_rounds(cast("Any", ctx)) is by_rounds
