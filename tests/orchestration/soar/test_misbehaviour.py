"""A model that misbehaves in thirty ways: no crash, no false claim of success, no run over its limit, one line each.

A hundred runs and more: every way at every kind of question, in both wire formats where the wire is what goes wrong. A
good answer from one of the ways of being merely odd may well be a success; it must be true then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aurora_orchestration.model_settings import Caps
from tests.orchestration.llm.loopback import Kind, LoopbackProvider, Request, Scripted
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.shares import long, one_of_each
from tests.wait_limits import HANG

QUESTIONS = {
    "simple": ("what is expand?", {}),
    "medium": ("Explain how expand fills a template and compare it with request", {}),
    "complex": ("Design and implement retries for request", {"verification": "option_b"}),
}
TWO = ("Explain how expand fills a template", "Compare expand with request")
PAGE = b"<html><body>Sign in to the network</body></html>"
LIMIT_USD = 0.5

Way = Callable[[Mind, Request], Any]


def broken(text: str, **more: Any) -> Way:
    """Always the same text."""
    return lambda mind, request: Scripted(text=text, **more)


def failing(**more: Any) -> Way:
    """Always the same fault of the wire."""
    return lambda mind, request: Scripted(**more)


def changed(change: Callable[[Any], Any], **more: Any) -> Way:
    """What a model of good will says, changed."""
    return lambda mind, request: Scripted(json=change(mind(request).json), **more)


def every(number: int, way: Way) -> Way:
    """One in so many answers goes wrong."""
    count = 0

    def answer(mind: Mind, request: Request) -> Any:
        nonlocal count
        count += 1
        return way(mind, request) if count % number == 0 else mind(request)

    return answer


def deep(_: Any) -> Any:
    found: Any = {}
    for _ in range(60):
        found = {"a": found}
    return found


def without(key: str) -> Callable[[Any], Any]:
    return lambda told: {name: each for name, each in told.items() if name != key}


FATAL: dict[str, Way] = {
    "an empty answer": broken(""),
    "words alone, of a model that plans in words": broken("I would begin by reading the code, then the tests."),
    "a refusal in words": broken("I'm sorry, but I can't help with that."),
    "a refusal by the wire": failing(text="No.", stop="refusal"),
    "JSON cut off": broken('{"decomposition": {"given": [', stop="length"),
    "half an object": broken('{"answer": "It is'),
    "an array": broken("[1, 2, 3]"),
    "junk": broken('{"foo": 1}'),
    "two objects": broken('{"foo": 1} {"foo": 2}'),
    "a bare number": broken("42"),
    "deep nesting": changed(deep),
    "a million letters": broken("x" * 1_100_000),
    "control characters": broken("\x00\x01\x02"),
    "a web page": failing(garbage=PAGE),
    "a web page with 404": failing(status=404, garbage=PAGE),
    "a redirect": failing(status=302, garbage=PAGE),
    "nothing but an empty body": failing(garbage=b""),
    "bytes that are no text": failing(garbage=b"\xff\xfe\x00{"),
    "a wrong key": failing(status=401),
    "an unknown model": failing(status=404),
    "a bad request": failing(status=400, error="no such thing"),
    "an overloaded provider": failing(status=529),
    "a rate limit": failing(status=429, retry_after=0.05),
    "a hang-up": failing(drop=True),
    "a hang-up in the middle": changed(lambda told: told, cut=20),
    "an error in the middle of a stream": changed(lambda told: told, breaks="overloaded_error"),
}
"""Ways in which no answer comes that could be used; a simple question may be answered in words."""

ODD: dict[str, Way] = {
    "every third answer is rubbish": every(3, broken("{{{")),
    "every second answer is words": every(2, broken("Let me think about that for a moment.")),
    "every fourth call fails": every(4, failing(status=529)),
    "usage of billions": changed(lambda told: told, usage={"input_tokens": 10**12, "output_tokens": 10**12}),
    "negative usage": changed(lambda told: told, usage={"input_tokens": -5, "output_tokens": -5}),
    "usage that is no number": changed(lambda told: told, usage={"input_tokens": "many", "output_tokens": None}),
    "a whole answer instead of a stream": changed(lambda told: told, unstreamed=True),
    "no confidence": changed(without("confidence")),
    "a confidence of seven": changed(lambda told: {**told, "confidence": 7}),
    "no claims": changed(without("claims")),
}
"""Ways of being odd that a run may still come through."""

DECODED = (
    "half an object", "an array", "two objects", "a bare number", "deep nesting", "a million letters",
    "control characters", "a web page with 404", "a redirect",
)  # fmt: skip
"""Ways that `llm/test_structured.py` and `llm/test_answers_of_others.py` hold for themselves."""

RUNS = [
    *((name, level, "openai") for name in (*FATAL, *ODD) for level in QUESTIONS),
    *((name, "medium", "anthropic") for name in FATAL),
]


def test_they_are_thirty_ways_and_a_hundred_runs() -> None:
    assert len(FATAL) + len(ODD) >= 30 and len(RUNS) >= 100


@pytest.mark.parametrize(
    ("name", "level", "kind"),
    one_of_each([run for run in RUNS if run[0] not in DECODED]) + [long(run) for run in RUNS if run[0] in DECODED],
)
async def test_a_misbehaving_model_never_crashes_lies_or_overspends(
    tmp_path: Path, name: str, level: str, kind: Kind
) -> None:
    question, more = QUESTIONS[level]
    way = FATAL.get(name) or ODD[name]
    mind = Mind(TWO)
    with LoopbackProvider() as provider:
        provider.otherwise = lambda request: way(mind, request)
        llm = provider.llm_settings(kind, retry_seconds=0.1, max_retries=1, caps=Caps(run_usd=LIMIT_USD))
        async with bench(tmp_path, llm, provider.environ) as it:
            run = await asyncio.wait_for(it.ask(question, **more), HANG)
            assert "internal error" not in (run.error or ""), run.error
            assert all("internal error" not in notice and "Traceback" not in notice for notice in run.notices)
            assert run.counted_usd <= LIMIT_USD and it.budget.status().consumed_usd <= LIMIT_USD
            assert it.budget.status().reserved_usd == 0
            assert it.stages[-1].stage == "done" and run.id in it.log_of(run)
            for line in (run.error, *run.notices):
                assert line is None or "\n" not in line
            if name in FATAL:
                in_words = level == "simple" and name.startswith("words alone")
                assert run.state == ("complete" if in_words else "failed"), (run.state, run.answer, run.error)
                assert in_words or run.error
                assert len(provider.requests) <= 8, "no escalation pays for more of the same"
                assert not it.memory.learned or it.memory.learned[0].score < 0.5
            elif run.state == "complete" and level != "simple":
                assert run.score is not None and run.score >= 0.7 and all(each.response.output for each in run.results)
