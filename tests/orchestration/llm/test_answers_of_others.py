"""Answers that are none of the provider's: a web page, a redirect, a whole answer in the place of a stream."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_orchestration.llm.completion import Ask, Unavailable
from aurora_orchestration.types import ModelCall
from tests.orchestration.llm.conftest import Opened
from tests.orchestration.llm.loopback import Kind, LoopbackProvider, Request, Scripted
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.shares import one_of_each

PAGE = b"\n<!DOCTYPE html><html><head><title>Welcome</title></head><body>Sign in to go on</body></html>"
SHORT = Ask(phase="decompose", purpose="decompose", system="You plan.", prompt="plan", max_tokens=500)
LONG = Ask(phase="decompose", purpose="decompose", system="You plan.", prompt="plan", max_tokens=4096)
MEDIUM = "Explain how expand fills a template and compare it with request"


PAGES = {
    200: "check base_url",
    404: "check base_url",
    302: "sends on to another address (302)",
    403: "web page",
}


@pytest.mark.parametrize(
    ("status", "kind", "question"),
    one_of_each(itertools.product(PAGES, ("anthropic", "openai"), ("what is expand?", MEDIUM))),
)
async def test_a_web_page_is_one_line_with_the_next_step_and_costs_nothing(
    tmp_path: Path, status: int, kind: Kind, question: str
) -> None:
    said = PAGES[status]
    with LoopbackProvider() as provider:
        provider.otherwise = Scripted(status=status, garbage=PAGE)
        async with bench(tmp_path, provider.llm_settings(kind), provider.environ) as it:
            run = await it.ask(question)
            assert run.state == "failed" and run.error is not None
            assert said in run.error and "\n" not in run.error and "Sign in to go on" not in run.error
            assert len(provider.requests) == 1 and run.counted_usd == 0


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_a_server_that_ignores_stream_is_understood_and_paid_once(tmp_path: Path, kind: Kind) -> None:
    mind = Mind(("Explain how expand fills a template", "Compare expand with request"))

    def whole(request: Request) -> Scripted:
        return Scripted(json=mind(request).json, unstreamed=True)

    with LoopbackProvider() as provider:
        provider.otherwise = whole
        async with bench(tmp_path, provider.llm_settings(kind), provider.environ) as it:
            run = await it.ask(MEDIUM)
            assert run.state == "complete", run.error
            assert any(request.streamed for request in provider.requests)
            assert len(provider.requests) == len(run.calls) and all(call.usage.total > 0 for call in run.calls)


@pytest.mark.parametrize(("breaks", "tries"), [("overloaded_error", 2), ("invalid_request_error", 1)])
async def test_an_error_event_after_the_answer_began_is_told_as_that_and_counted(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], breaks: str, tries: int
) -> None:
    provider.otherwise = Scripted(text="x" * 400, breaks=breaks)
    with pytest.raises(Unavailable, match=f"broke off in the middle of an answer .*{breaks}") as caught:
        await reasoning(max_retries=1, retry_seconds=20).ask(LONG)
    assert "(200)" not in str(caught.value) and "limits the rate" not in str(caught.value)
    assert len(provider.requests) == tries, "what passes is tried again"
    assert calls[0].counted_usd > 0, "what was said until then may be charged for"


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_a_servers_own_error_is_told_in_its_words(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind
) -> None:
    provider.otherwise = Scripted(status=500, error="the disk\nis full")
    with pytest.raises(Unavailable, match=r"failed \(500\): the disk is full; try again later"):
        await reasoning(kind, max_retries=0).ask(LONG)


@pytest.mark.parametrize("first", [True, False])
async def test_a_tool_that_nobody_offered_gives_no_answer(
    provider: LoopbackProvider, reasoning: Opened, first: bool
) -> None:
    def with_tool(pieces: Iterator[bytes]) -> Iterator[bytes]:
        message = json.loads(b"".join(pieces))
        used = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"cmd": "ls"}}
        message["content"] = [used, *message["content"]] if first else [*message["content"], used]
        yield json.dumps({**message, "stop_reason": "tool_use"}).encode()

    provider.otherwise = Scripted(text='{"a": "b"}', rewritten=with_tool)
    assert (await reasoning().ask(SHORT)).text == '{"a": "b"}'


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_an_error_in_the_place_of_a_stream_is_told_as_it_is(tmp_path: Path, kind: Kind) -> None:
    with LoopbackProvider() as provider:
        error = {"type": "error", "error": {"type": "api_error", "message": "model llama9 is not pulled"}}
        provider.otherwise = Scripted(garbage=json.dumps(error).encode())
        async with bench(tmp_path, provider.llm_settings(kind), provider.environ) as it:
            run = await it.ask("what is expand?")
            assert run.state == "failed" and run.error is not None and "llama9 is not pulled" in run.error
