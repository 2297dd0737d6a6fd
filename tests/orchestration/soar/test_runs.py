"""Whole runs against a provider on loopback: every phase is the real one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.llm.loopback import Kind, LoopbackProvider
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind

MEDIUM = "Explain how expand fills a template and compare it with request"
COMPLEX = "Design and implement caching for expand, request and login, then test all three"
TWO = ("Explain how expand fills a template", "Compare expand with request")
FIVE = (
    "Design the caching of expand",
    "Design the caching of request",
    "Design the caching of login",
    "Implement caching for expand, request and login",
    "Test the caching of expand, request and login",
)


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        yield running


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_a_simple_question_is_answered_with_one_call_and_teaches_nothing(
    provider: LoopbackProvider, tmp_path: Path, kind: Kind
) -> None:
    mind = Mind(())
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(kind), provider.environ) as it:
        run = await it.ask("what is expand?")
        assert (run.state, run.complexity, run.answer) == ("complete", "simple", "It expands templates.")
        assert mind.asked == ["direct"] and len(run.calls) == 1
        assert run.score is None and it.memory.learned == []
        assert [record.phase for record in run.phases] == ["guard", "assess", "retrieve", "synthesize", "respond"]
        assert run.id in it.log_of(run)


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_a_medium_question_goes_all_nine_phases(provider: LoopbackProvider, tmp_path: Path, kind: Kind) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(kind), provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.error is None
        assert (run.state, run.complexity) == ("complete", "medium")
        assert [record.phase for record in run.phases] == [
            "guard", "assess", "retrieve", "decompose", "verify", "route", "collect", "synthesize", "verify_synthesis",
            "record", "respond",
        ]  # fmt: skip
        assert run.score is not None and run.score >= 0.8
        assert run.learned is not None and run.learned.is_pattern
