"""The provider of the tests does what tests are told it does."""

from __future__ import annotations

import json

import msgspec
import pytest

from aurora_orchestration.llm.completion import Ask, Rejected
from tests.orchestration.llm.conftest import Opened
from tests.orchestration.llm.loopback import LoopbackProvider, Request, Scripted

ASK = Ask(phase="assess", purpose="assess", system="You judge questions.", prompt='{"query":"why"}', max_tokens=100)


async def test_rules_go_before_the_script_and_the_script_before_the_rest(
    provider: LoopbackProvider, reasoning: Opened
) -> None:
    provider.on("JUDGE questions", "first", "then always")
    provider.script("scripted")
    provider.otherwise = lambda request: {"echo": request.json["query"]}
    llm, other = reasoning(), msgspec.structs.replace(ASK, system="You plan.")
    said = [(await llm.ask(each)).text for each in (ASK, other, ASK, ASK, other)]
    assert said[:4] == ["first", "scripted", "then always", "then always"]
    assert json.loads(said[4]) == {"echo": "why"}


async def test_what_is_not_scripted_fails_at_once(provider: LoopbackProvider, reasoning: Opened) -> None:
    for kind in ("anthropic", "openai"):
        with pytest.raises(Rejected, match="nothing is scripted for: You judge questions"):
            await reasoning(kind).ask(ASK)
    assert len(provider.requests) == 2


async def test_a_function_sees_the_whole_request_and_may_answer_with_anything(
    provider: LoopbackProvider, reasoning: Opened
) -> None:
    def answer(request: Request) -> object:
        return Scripted(status=401) if request.model == "gpt-4o" else [request.kind, request.max_tokens]

    provider.otherwise = answer
    assert json.loads((await reasoning("anthropic").ask(ASK)).text) == ["anthropic", 100]
    with pytest.raises(Rejected):
        await reasoning("openai").ask(ASK)
