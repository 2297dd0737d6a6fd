"""Answers that are none of the provider's: a web page, a redirect, a whole answer in the place of a stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.orchestration.llm.loopback import Answer, Kind, LoopbackProvider, Request, Scripted
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind

PAGE = b"\n<!DOCTYPE html><html><head><title>Welcome</title></head><body>Sign in to go on</body></html>"
MEDIUM = "Explain how expand fills a template and compare it with request"


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@pytest.mark.parametrize("question", ["what is expand?", MEDIUM])
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Scripted(garbage=PAGE), "check base_url"),
        (Scripted(status=404, garbage=PAGE), "check base_url"),
        (Scripted(status=302, garbage=PAGE), "sends on to another address (302)"),
        (Scripted(status=403, garbage=PAGE), "web page"),
    ],
)
async def test_a_web_page_is_one_line_with_the_next_step_and_costs_nothing(
    tmp_path: Path, kind: Kind, question: str, answer: Answer, said: str
) -> None:
    with LoopbackProvider() as provider:
        provider.otherwise = answer
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


async def test_an_error_in_the_place_of_a_stream_is_told_as_it_is(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        provider.otherwise = Scripted(garbage=b'{"error": {"message": "model llama9 is not pulled"}}')
        async with bench(tmp_path, provider.llm_settings("openai"), provider.environ) as it:
            run = await it.ask("what is expand?")
            assert run.state == "failed" and run.error is not None and "llama9 is not pulled" in run.error
