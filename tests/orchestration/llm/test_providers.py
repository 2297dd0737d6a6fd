"""The real SDKs against a provider that behaves as providers do on their worse days."""

from __future__ import annotations

import asyncio
import json
import time

import msgspec
import pytest

from aurora_orchestration.llm.completion import Ask, ModelRefused, Rejected, Truncated, Unavailable
from aurora_orchestration.types import ModelCall, Usage
from tests.orchestration.llm.conftest import Opened
from tests.orchestration.llm.loopback import KEY, Kind, LoopbackProvider, Scripted
from tests.wait_limits import HANG

BOTH = pytest.mark.parametrize("kind", ["anthropic", "openai"])
EITHER_WAY = pytest.mark.parametrize("max_tokens", [500, 4096], ids=["whole", "streamed"])
CLOSED = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}
OPEN = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}
ASK = Ask(phase="decompose", purpose="decompose", system="You plan.", prompt='{"task":"plan"}')


def ask(max_tokens: int = 500, **more: object) -> Ask:
    return msgspec.structs.replace(ASK, max_tokens=max_tokens, **more)


async def settled(provider: LoopbackProvider, count: int) -> None:
    """Wait until the provider noticed so many clients that hung up."""
    end = time.monotonic() + HANG
    while len(provider.dropped) < count and time.monotonic() < end:
        await asyncio.sleep(0.02)
    assert len(provider.dropped) == count


@BOTH
@EITHER_WAY
async def test_cached_tokens_are_counted_apart(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], kind: Kind, max_tokens: int
) -> None:
    used = {"input_tokens": 10, "output_tokens": 7, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 0}
    provider.script(Scripted(text="hello", usage=used))
    reply = await reasoning(kind).ask(ask(max_tokens))
    assert reply.text == "hello"
    assert reply.usage == Usage(input_tokens=10, output_tokens=7, cache_read_tokens=5)
    assert calls[0].usage == reply.usage and calls[0].error is None
    price = {"anthropic": (3.0, 15.0, 0.3), "openai": (2.5, 10.0, 1.25)}[kind]
    assert reply.cost_usd == pytest.approx((10 * price[0] + 7 * price[1] + 5 * price[2]) / 1e6)


async def test_the_stable_prefix_is_marked_for_anthropics_cache(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = "x"
    llm = reasoning(model={"temperature": 0.5})
    await llm.ask(ask())
    await llm.ask(ask(prompt='{"task":"other"}'))
    first, second = provider.requests
    assert first.body["system"] == [{"type": "text", "text": "You plan.", "cache_control": {"type": "ephemeral"}}]
    assert first.body["system"] == second.body["system"]
    assert first.body["model"] == "claude-sonnet-4-5", "configured as claude-sonnet-4.5"
    assert first.body["temperature"] == 0.5
    assert first.path == "/v1/messages", "the address of the settings ends in /v1 already"


async def test_the_same_questions_are_the_same_bytes(reasoning: Opened, provider: LoopbackProvider) -> None:
    provider.otherwise = '{"a": "x"}'
    told = []
    for kind in ("anthropic", "openai"):
        for _ in range(2):
            await reasoning(kind).ask(ask(schema=CLOSED))
            told.append(provider.transcript())
            provider.requests.clear()
    assert told[0] == told[1] and told[2] == told[3] and told[0] != told[2]


@BOTH
@EITHER_WAY
async def test_json_is_asked_for_in_simpler_ways_until_one_is_known(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind, max_tokens: int
) -> None:
    ways = {"anthropic": ["output_config", "tool", ""], "openai": ["json_schema", "json_object", ""]}[kind]
    provider.otherwise = {"a": "x"}
    provider.refuses = {"output_config", "json_schema"}
    llm = reasoning(kind)
    assert json.loads((await llm.ask(ask(max_tokens, schema=CLOSED))).text) == {"a": "x"}
    assert [request.how for request in provider.requests] == ways[:2]
    provider.refuses |= {"tool", "json_object"}
    assert json.loads((await llm.ask(ask(max_tokens, schema=CLOSED))).text) == {"a": "x"}
    assert [request.how for request in provider.requests[2:]] == ways[1:], "what is not known is not tried again"
    assert '"additionalProperties":false' in provider.requests[-1].system


async def test_shapes_with_open_ends_are_not_asked_for_strictly(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = {"a": 1}
    await reasoning("anthropic").ask(ask(schema=OPEN))
    await reasoning("openai").ask(ask(schema=OPEN))
    assert [request.how for request in provider.requests] == ["tool", "json_schema"]
    assert provider.requests[1].body["response_format"]["json_schema"]["strict"] is False


async def test_a_way_that_is_not_known_leaves_the_better_ones(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = {"a": "x"}
    provider.refuses = {"tool"}
    llm = reasoning("anthropic")
    for schema in (OPEN, CLOSED, OPEN):
        await llm.ask(ask(schema=schema))
    assert [request.how for request in provider.requests] == ["tool", "", "output_config", ""]


@BOTH
@pytest.mark.parametrize("status", [400, 422])
async def test_a_model_that_takes_no_temperature_is_asked_without(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind, status: int
) -> None:
    provider.script(Scripted(status=status, error="`temperature` is deprecated for this model."), "x", "y")
    llm = reasoning(kind, model={"temperature": 0.0})
    assert (await llm.ask(ask())).text == "x"
    assert (await llm.ask(ask())).text == "y"
    assert [("temperature" in request.body) for request in provider.requests] == [True, False, False]


async def test_an_older_name_of_a_limit_is_tried_once(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.script(Scripted(status=400, error="Unsupported parameter: 'max_completion_tokens'"), "x")
    assert (await reasoning("openai").ask(ask())).text == "x"
    assert "max_tokens" in provider.requests[1].body
    provider.otherwise = Scripted(status=400, error="max_tokens is too large")
    with pytest.raises(Rejected, match="too large"):
        await reasoning("openai").ask(ask())
    assert len(provider.requests) == 4


@BOTH
@EITHER_WAY
async def test_a_refusal_is_told_and_paid(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], kind: Kind, max_tokens: int
) -> None:
    provider.script(Scripted(text="I will not.", stop="refusal"))
    with pytest.raises(ModelRefused, match="I will not"):
        await reasoning(kind).ask(ask(max_tokens, schema=CLOSED))
    assert calls[0].cost_usd and calls[0].error


@BOTH
@EITHER_WAY
async def test_an_answer_that_was_cut(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind, max_tokens: int
) -> None:
    provider.otherwise = Scripted(text='{"a": "unfin', stop="length")
    with pytest.raises(Truncated) as error:
        await reasoning(kind).ask(ask(max_tokens, schema=CLOSED))
    assert error.value.so_far == '{"a": "unfin' and error.value.max_tokens == max_tokens
    reply = await reasoning(kind).ask(ask(max_tokens))
    assert (reply.stop, reply.text) == ("length", '{"a": "unfin'), "text is of use as far as it goes"


@BOTH
@pytest.mark.parametrize("status", [429, 529, 500])
async def test_what_passes_is_tried_again(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], kind: Kind, status: int
) -> None:
    provider.script(Scripted(status=status, retry_after=0.2), Scripted(status=status, retry_after=0), "at last")
    began = time.monotonic()
    assert (await reasoning(kind).ask(ask())).text == "at last"
    assert time.monotonic() - began >= 0.2, "as long as retry-after says"
    assert len(provider.requests) == 3 and len(calls) == 1


@BOTH
async def test_a_wait_longer_than_patience_is_not_waited(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind
) -> None:
    provider.otherwise = Scripted(status=429, retry_after=3600)
    with pytest.raises(Unavailable, match="429"):
        await asyncio.wait_for(reasoning(kind).ask(ask()), HANG)
    assert len(provider.requests) == 1


@BOTH
async def test_a_storm_of_overload_ends_in_time(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], kind: Kind
) -> None:
    provider.otherwise = Scripted(status=529, retry_after=1.0)
    with pytest.raises(Unavailable, match="overloaded"):
        await asyncio.wait_for(reasoning(kind, retry_seconds=3.0, max_retries=50).ask(ask()), HANG)
    assert 1 < len(provider.requests) < 5
    assert calls[0].error and "529" in calls[0].error
    assert calls[0].counted_usd == 0.0, "a request that was answered with a status of failure is not charged for"


@BOTH
async def test_a_request_that_was_begun_on_counts_also_where_the_next_one_is_refused(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], kind: Kind
) -> None:
    provider.script(Scripted(text="half an answer", cut=20), Scripted(status=529))
    with pytest.raises(Unavailable, match="overloaded"):
        await asyncio.wait_for(reasoning(kind, retry_seconds=5.0, max_retries=1).ask(ask()), HANG)
    assert len(provider.requests) == 2
    assert calls[0].counted_usd > 0.0


@BOTH
async def test_a_wrong_key_is_said_and_not_shown(provider: LoopbackProvider, reasoning: Opened, kind: Kind) -> None:
    provider.script(Scripted(status=401, error=f"bad key {KEY}"), Scripted(status=400, error=f"odd {KEY}"))
    llm = reasoning(kind)
    for told in ("api_key_env", "odd …"):
        with pytest.raises(Rejected, match=told) as error:
            await llm.ask(ask())
        assert KEY not in str(error.value)
    assert len(provider.requests) == 2, "neither is tried again"
    assert KEY not in repr(llm) + repr(vars(llm))


@BOTH
async def test_an_unknown_model_is_named(provider: LoopbackProvider, reasoning: Opened, kind: Kind) -> None:
    provider.script(Scripted(status=404))
    with pytest.raises(Rejected, match="no model gone-1"):
        await reasoning(kind, model={"model": "gone-1"}).ask(ask())


@BOTH
@EITHER_WAY
@pytest.mark.parametrize("broken", [Scripted(drop=True), Scripted(text="x" * 400, cut=300)], ids=["dropped", "cut"])
async def test_a_connection_that_breaks_is_made_again(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind, max_tokens: int, broken: Scripted
) -> None:
    provider.script(broken, "whole")
    assert (await reasoning(kind).ask(ask(max_tokens))).text == "whole"
    assert len(provider.requests) == 2


@BOTH
async def test_an_error_in_the_middle_of_a_stream_passes(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind
) -> None:
    provider.script(Scripted(text="x" * 400, breaks="overloaded_error"), "whole")
    assert (await reasoning(kind).ask(ask(4096))).text == "whole"


@BOTH
async def test_nobody_there(provider: LoopbackProvider, reasoning: Opened, kind: Kind) -> None:
    llm = reasoning(kind, model={"base_url": "http://127.0.0.1:9/v1"}, max_retries=1)
    with pytest.raises(Unavailable, match="cannot be reached"):
        await llm.ask(ask())


@BOTH
@pytest.mark.parametrize(
    "body",
    [b"<html>hotel wifi</html>", b"null", b"[]", b"{}", b'{"content": 3, "choices": 4}', b"[" * 100_000, b"\xff\xfe"],
    ids=["html", "null", "list", "empty", "odd", "deep", "bytes"],
)
async def test_garbage_is_no_answer(provider: LoopbackProvider, reasoning: Opened, kind: Kind, body: bytes) -> None:
    provider.otherwise = Scripted(garbage=body)
    with pytest.raises(Rejected if b"html" in body else Unavailable):
        await asyncio.wait_for(reasoning(kind, retry_seconds=0).ask(ask()), HANG)


@BOTH
async def test_an_endless_body_is_not_read(provider: LoopbackProvider, reasoning: Opened, kind: Kind) -> None:
    provider.otherwise = Scripted(garbage=b" " * 20_000_000)
    with pytest.raises(Unavailable, match="longer than"):
        await asyncio.wait_for(reasoning(kind, retry_seconds=0).ask(ask()), HANG)


@BOTH
async def test_a_stream_that_says_more_than_was_asked_for_is_left(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind
) -> None:
    provider.otherwise = Scripted(text="and so on " * 60_000)
    with pytest.raises(Unavailable, match=r"does not come to an end: .* asked for 4096 tokens"):
        await asyncio.wait_for(reasoning(kind, max_retries=3, retry_seconds=5).ask(ask(4096)), HANG)
    assert len(provider.requests) == 1, "it is paid for, and would say the same again"
    provider.otherwise = Scripted(text="x" * 200_000)
    assert len((await reasoning(kind).ask(ask(4096))).text) == 200_000


@BOTH
@pytest.mark.parametrize("given", [-5, 10**12, None, "many", 1.5, True], ids=str)
async def test_lies_about_tokens_stay_within_what_is_possible(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind, given: object
) -> None:
    names = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    provider.script(Scripted(text="hello", usage=dict.fromkeys(names, given)))
    reply = await reasoning(kind).ask(ask())
    used = reply.usage
    assert min(used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens) >= 0
    assert used.output_tokens <= 500 and used.total <= 500 + 2000
    assert used.total > 0, "and never nothing"
    assert reply.cost_usd is not None and 0 < reply.cost_usd < 0.1


@BOTH
@EITHER_WAY
async def test_silence_is_not_waited_out(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind, max_tokens: int
) -> None:
    provider.otherwise = Scripted(text="late", delay=60)
    llm = reasoning(kind, model={"timeout_seconds": 0.3}, max_retries=1, retry_seconds=5)
    with pytest.raises(Unavailable):
        await asyncio.wait_for(llm.ask(ask(max_tokens)), HANG)
    assert len(provider.requests) == 2
    await settled(provider, 2)


@BOTH
async def test_a_stream_may_be_slow_as_long_as_it_goes_on(
    provider: LoopbackProvider, reasoning: Opened, kind: Kind
) -> None:
    provider.script(Scripted(text="word " * 100, pause=0.15))
    llm = reasoning(kind, model={"timeout_seconds": 1.0})
    assert (await llm.ask(ask(4096))).text == "word " * 100
    assert len(provider.requests) == 1


@BOTH
@pytest.mark.parametrize(
    "how", [Scripted(text="x", delay=60), Scripted(text="x" * 4000, pause=30)], ids=["wait", "stream"]
)
async def test_a_cancelled_call_is_dropped(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], kind: Kind, how: Scripted
) -> None:
    provider.otherwise = how
    asked = asyncio.ensure_future(reasoning(kind, model={"timeout_seconds": 60}).ask(ask(4096)))
    while not provider.requests:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    await settled(provider, 1)
    assert calls[0].error == "CancelledError" and calls[0].cost_usd, "its question may have been paid for"


async def test_headers_of_the_settings_are_sent(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = "x"
    for kind in ("anthropic", "openai"):
        await reasoning(kind, model={"headers": {"X-Team": "blue"}}).ask(ask())
    assert [request.headers["x-team"] for request in provider.requests] == ["blue", "blue"]


async def test_a_redirect_takes_the_key_nowhere(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = Scripted(status=307)
    for kind in ("anthropic", "openai"):
        with pytest.raises((Rejected, Unavailable)):
            await reasoning(kind, retry_seconds=0).ask(ask())
    assert len(provider.requests) == 2
