"""Answers of a known shape, from the real SDKs over loopback."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from aurora_orchestration.llm.completion import Ask, BadReply, Models
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.llm.structured import ask_for
from tests.orchestration.llm.loopback import Kind, LoopbackProvider, Scripted


class Verdict(msgspec.Struct, frozen=True):
    verdict: str
    score: float = 0.0


ASK = Ask(phase="verify", purpose="verify", system="You judge.", prompt='{"task":"judge"}')


def models(provider: LoopbackProvider, kind: Kind = "anthropic", **chosen: Any) -> Models:
    return open_models(
        provider.llm_settings(kind, **chosen),
        provider.environ,
        None,
        run="run",
        budget=None,
        journal=None,
        heard=lambda call: None,
    )


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
@pytest.mark.parametrize("max_tokens", [500, 5000])
async def test_an_answer_arrives_in_its_shape(provider: LoopbackProvider, kind: Kind, max_tokens: int) -> None:
    provider.script({"verdict": "pass", "score": 0.8})
    llm = models(provider, kind).reasoning
    assert llm
    found = await ask_for(llm, msgspec.structs.replace(ASK, max_tokens=max_tokens), Verdict)
    assert found == Verdict("pass", 0.8)
    (request,) = provider.requests
    assert (request.system, request.json, request.max_tokens) == ("You judge.", {"task": "judge"}, max_tokens)
    assert request.streamed == (max_tokens == 5000)
    assert request.schema is not None and request.schema["required"] == ["verdict", "score"]


async def test_a_bad_answer_is_mended_once(provider: LoopbackProvider) -> None:
    provider.script("I think it passes.", {"verdict": "pass"})
    llm = models(provider).reasoning
    assert llm
    assert await ask_for(llm, ASK, Verdict) == Verdict("pass")
    repair = provider.requests[1].json["repair"]
    assert repair["reply"] == "I think it passes." and "JSON" in repair["error"]


async def test_after_one_repair_it_is_given_up(provider: LoopbackProvider) -> None:
    provider.otherwise = Scripted(json={"verdict": 3})
    llm = models(provider).reasoning
    assert llm
    with pytest.raises(BadReply, match=r"\$\.verdict"):
        await ask_for(llm, ASK, Verdict)
    assert len(provider.requests) == 2
