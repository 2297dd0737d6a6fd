"""Judges whose verdicts cannot be used: what they were paid for, and what is said of what nobody judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.llm.wire_formats import Kind, Request
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.shares import one_of_each

MEDIUM = "Explain how expand fills a template and compare it with request"
STEPS = tuple(f"Explain how expand fills template {number}" for number in "one two three four five".split())
SHAPES: list[Any] = [
    {"verification": {"checks": {"foo": 1}}},
    {"score": 0.99, "pass": True},
    {"completeness": 0.9, "consistency": 0.9, "groundedness": 0.9, "routability": 0.9},
]
JUDGES = [("option_a", "verify", 3), ("option_b", "criticise", 3), ("option_c", "rule", 8)]
"""Who judges a plan, of which purpose the question is, and the most questions in all."""


def judged_by(mind: Mind, shape: Any, *purposes: str) -> Mind:
    def wrong(_: Request) -> Any:
        return shape

    mind.instead.update(dict.fromkeys(purposes, wrong))
    return mind


JUDGED = [(*judge, kind, shape) for shape in SHAPES for kind in ("anthropic", "openai") for judge in JUDGES]


@pytest.mark.parametrize(("option", "purpose", "most", "kind", "shape"), one_of_each(JUDGED))
async def test_a_judge_of_plans_is_asked_twice_and_no_plan_is_made_anew(
    tmp_path: Path, option: Any, purpose: str, most: int, kind: Kind, shape: Any
) -> None:
    mind = judged_by(Mind(STEPS[:2]), shape, purpose)
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(kind), provider.environ) as it:
            run = await it.ask(MEDIUM, verification=option)
    assert run.state == "failed" and run.error is not None and "did not answer as asked" in run.error
    assert "\n" not in run.error
    assert len(mind.asked) == most and mind.asked.count(purpose) == 2


@pytest.mark.parametrize("shape", SHAPES)
async def test_a_judge_of_outputs_is_not_paid_for_every_step_and_the_answer_says_that_nobody_judged(
    tmp_path: Path, shape: Any
) -> None:
    mind = judged_by(Mind(STEPS, depends={1: (0,), 2: (1,), 3: (2,), 4: (3,)}), shape, "output")
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            run = await it.ask(MEDIUM)
            patterns = it.memory.learned
    assert mind.asked.count("output") == 2 and mind.asked.count("work") == 5
    assert run.score is not None and run.score == 0.79, "no pattern of what nobody judged"
    assert any("nobody could judge what SG1, SG2, SG3, SG4, SG5 gave" in each for each in run.caveats), run.caveats
    assert [each.score for each in patterns] == [0.79]


async def test_what_rules_find_wanting_stays_so_where_the_judge_is_of_no_use(tmp_path: Path) -> None:
    mind = judged_by(Mind(STEPS[:2], depends={1: (0,)}), SHAPES[0], "output")
    beside = {"status": "partial", "summary": "Bananas are yellow: fruit.py:3", "data": {}, "confidence": 0.9}
    mind.instead["work"] = lambda request: beside if "two" in str(request.json["subgoal"]) else None
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            run = await it.ask(MEDIUM)
    first, second = run.results
    assert first.verification is None, "rules find nothing, which is no verdict"
    assert second.verification is not None and second.verification.by == "deterministic"
    assert any("names" in issue for issue in second.verification.checks["relevance"].issues)
