"""The Critical Implementation Checklist of AURORA Appendix I, item by item, each from outside of what it is about."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pyactr.utilities import baselevel_learning

from aurora_memory.activation import base_levels
from aurora_orchestration.agents.discovery import Places, discover
from aurora_orchestration.agents.registry import DAY, Registry
from aurora_orchestration.llm.completion import Ask, ModelReply
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.settings import (
    AgentSettings,
    AuroraSettings,
    ComplexitySettings,
    KeywordSettings,
    SignalSettings,
)
from aurora_orchestration.soar.assess import assess
from aurora_orchestration.soar.follow_up_signals import detect
from aurora_orchestration.soar.invocation import called
from aurora_orchestration.soar.keywords import classify
from aurora_orchestration.soar.scores import Judged, judge
from aurora_orchestration.soar.stages import silence
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.llm.wire_formats import Request
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import DECOMPOSITION, OUTPUT, Mind, purpose_of, verdict

MEDIUM = "Explain how expand fills a template and compare it with request"
TWO = ("Explain how expand fills a template", "Compare expand with request")
SIMPLE = "what is expand?"
UNDECIDED = "the totals that expand fills into the invoice are off by one cent"


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        yield running


class Recording:
    """A model that says what complexity it was told to, and keeps what it was asked."""

    model = "recording"

    def __init__(self) -> None:
        self.asked: list[Ask] = []

    async def ask(self, ask: Ask) -> ModelReply:
        self.asked.append(ask)
        told = {
            "complexity": "medium",
            "confidence": 0.9,
            "reasoning": "two things are asked",
            "indicators": [],
            "recommended_verification": "option_a",
            "keyword_assessment_correct": True,
        }
        return ModelReply(text=json.dumps(told), model="recording", provider="test")


async def test_the_keyword_classifier_runs_before_any_model(tmp_path: Path) -> None:
    model = Recording()
    keyed = classify(UNDECIDED, KeywordSettings())
    assert not keyed.decided, "else the case is no longer one"
    found = await assess(UNDECIDED, ComplexitySettings(), model, tell=silence)
    assert found.method == "llm" and len(model.asked) == 1
    assert f"{keyed.complexity} " in model.asked[0].prompt and f"{keyed.confidence}" in model.asked[0].prompt


async def test_a_model_is_asked_only_where_words_do_not_decide() -> None:
    model = Recording()
    assert classify(SIMPLE, KeywordSettings()).decided
    assert (await assess(SIMPLE, ComplexitySettings(), model, tell=silence)).method == "keyword"
    assert model.asked == []


@pytest.mark.parametrize(("option", "shown"), [("option_a", 2), ("option_b", 4), ("option_c", 6)])
async def test_examples_scale_with_complexity(
    provider: LoopbackProvider, tmp_path: Path, option: Any, shown: int
) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        await it.ask(MEDIUM, verification=option)
    judging = [request for request in provider.requests if purpose_of(request) in ("verify", "criticise", "rule")]
    assert judging
    told = [request.json for request in judging]
    counts = {len(each["calibration_examples"]) for each in told if "calibration_examples" in each}
    assert counts == {shown}


async def test_a_simple_question_has_no_examples(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(())
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        await it.ask(SIMPLE)
    assert len(provider.requests) == 1 and "calibration_examples" not in provider.requests[0].prompt


def test_completeness_weighs_forty_percent_whatever_a_model_concludes() -> None:
    scoring = ScoringSettings()
    said = Judged(scores={**dict.fromkeys(DECOMPOSITION, 1.0), "completeness": 0.0}, stated_score=0.95)
    found = judge(said, scoring.weighted_scoring.decomposition, scoring, by="option_a")
    assert found.overall_score == pytest.approx(0.6) and found.verdict == "retry"
    assert found.notices, "what the model concluded otherwise is told"


async def test_a_partial_answer_is_kept_and_flagged_as_such(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.scores["synthesis"] = [0.6]
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.learned is not None and run.learned.reasoning_id is not None and not run.learned.is_pattern
        kept = await it.memory.recall(run.learned.reasoning_id, budget=4000, limit=1, types=("reas",))
        assert [chunk.id for chunk in kept] == [run.learned.reasoning_id]
    assert run.confidence is not None and run.confidence < 0.7 and run.caveats


def test_agents_are_looked_for_where_every_tool_keeps_them(tmp_path: Path) -> None:
    places = Places(tmp_path / "workspace", tmp_path / "home", tmp_path / "user")
    wanted: set[str] = set()
    for number, path in enumerate(AgentSettings().discovery_paths):
        name = f"agent-{number}"
        place = path.replace("./", f"{places.workspace}/").replace("~/.aurora/", f"{places.home}/")
        place = place.replace("~/", f"{places.user}/")
        file = Path(place) if place.endswith(".json") else Path(place, f"{name}.md")
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".json":
            file.write_text(json.dumps({"agents": [{"id": name, "type": "executable", "path": "/bin/true"}]}))
        else:
            file.write_text(f"---\nname: {name}\ndescription: reviews code\n---\nReview.\n")
        wanted.add(name)
    found = discover(places, AgentSettings(), trusted=True)
    assert wanted <= {agent.id for agent in found.agents}


async def test_agents_are_looked_for_again_after_fifteen_days_and_not_after_an_hour(tmp_path: Path) -> None:
    clock = [1e9]
    settings = AgentSettings(check_file_modified=False)
    folder = tmp_path / "workspace/.claude/agents"
    folder.mkdir(parents=True)
    (tmp_path / "home").mkdir()

    async def known() -> set[str]:
        home, workspace = tmp_path / "home", tmp_path / "workspace"
        registry = Registry(home, workspace, settings, lambda: clock[0], trusted=True, environ={}, user=tmp_path)
        return {agent.id for agent in (await registry.current()).agents}

    (folder / "first.md").write_text("---\nname: first\ndescription: reviews code\n---\nReview.\n")
    assert "first" in await known()
    (folder / "second.md").write_text("---\nname: second\ndescription: writes tests\n---\nTest.\n")
    clock[0] += 3600 + 14 * DAY
    assert "second" not in await known()
    clock[0] += DAY
    assert "second" in await known()


async def test_tools_are_kept_with_the_reasoning(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    program = tmp_path / "expert"
    answer = {
        "status": "success",
        "output": {
            "summary": "expand fills the parsed template with its values (src/template.py:1-2)",
            "confidence": 0.9,
        },
        "metadata": {"tools_used": ["grep", "read", "grep"]},
    }
    program.write_text(f"#!/bin/sh\ncat >/dev/null\ncat <<'END'\n{json.dumps(answer)}\nEND\n")
    program.chmod(0o755)
    agents = tmp_path / "workspace/.aurora/agents.json"
    agents.parent.mkdir(parents=True)
    agents.write_text(
        json.dumps({"agents": [{"id": "expert", "type": "executable", "path": str(program), "capabilities": ["all"]}]})
    )
    mind = Mind(TWO)
    body = mind.body

    def routed(query: str) -> dict[str, Any]:
        return {**(told := body(query)), "subgoals": [{**each, "agent": "expert"} for each in told["subgoals"]]}

    mind.body = routed  # type: ignore[method-assign]
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.error is None
        learned = it.memory.learned[0]
    assert {use.agent for use in learned.tools_used} == {"expert"}
    assert all(set(use.tools) == {"grep", "read"} for use in learned.tools_used)
    assert learned.tool_sequence and set(learned.tool_sequence) == {"grep", "read"}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Perfect, thanks!", "positive"),
        ("also show me where it is called", "followup"),
        ("no, that's not right", "negative"),
        ("try again with a different approach", "recourse"),
        ("never mind", "abort"),
    ],
)
async def test_what_a_next_message_says_is_detected_and_acted_upon(
    provider: LoopbackProvider, tmp_path: Path, message: str, kind: str
) -> None:
    provider.otherwise = Mind(TWO)
    signal = detect(message, SignalSettings(), has_previous=True)
    assert signal is not None and signal.kind == kind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        first = await it.ask(MEDIUM if kind in ("positive", "recourse") else SIMPLE, session="s")
        asked = len(provider.requests)
        second = await it.ask(message, session="s")
        if kind in ("positive", "abort"):
            assert len(provider.requests) == asked and second.state == "complete"
        if kind == "positive":
            assert [judged.reasoning_id for judged in it.memory.judged] == [
                first.learned and first.learned.reasoning_id
            ]
        if kind == "recourse":
            assert second.complexity == "complex"
        if kind == "followup":
            assert second.assessment is not None and second.assessment.method == "session"


def test_it_answers_who_calls_it_and_everybody_where_it_is_always_on() -> None:
    off, on = AuroraSettings(), AuroraSettings(always_on=True)
    assert called("explain expand", off) is None
    invoked = called("aurora: explain expand", off)
    assert invoked is not None and (invoked.query, invoked.mode) == ("explain expand", "user_invoked")
    always = called("explain expand", on)
    assert always is not None and always.mode == "always_on"
    assert called("Thanks", on) is None


async def test_every_prompt_asks_for_json_and_nothing_else(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.scores = {"decomposition": [0.6, 0.9], "output": [0.6, 0.9], "synthesis": [0.6, 0.9]}
    mind.instead["output"] = lambda _: {"verification": verdict(OUTPUT, mind._score("output"))}
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        await it.ask(MEDIUM)
    asked = {purpose_of(request) for request in provider.requests}
    assert {"decompose", "verify", "work", "output", "synthesize", "judge"} <= asked
    for request in provider.requests:
        assert isinstance(request.json, dict), "a prompt is one JSON object"
        assert request.how and _closed(request), f"{purpose_of(request)} leaves the form of the answer open"


def test_base_levels_are_those_of_pyactr() -> None:
    ages = np.array([0.5, 3.0, 20.0])
    wanted = float(baselevel_learning(0.0, -ages, True, 0.5))
    ranked = base_levels(ages, np.zeros(3, dtype=np.intp), 1, decay=0.5)
    assert math.isclose(ranked[0], wanted, rel_tol=1e-9)


async def test_with_no_agents_at_all_the_model_does_the_work(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
    assert {result.response.agent_id for result in run.results} == {"llm-executor"}
    assert mind.asked.count("work") == 2


def _closed(request: Request) -> bool:
    schema = request.schema
    return schema is not None and schema.get("type") == "object" and schema.get("additionalProperties") is False
