"""Whole runs against a provider on loopback: every phase is the real one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_deliverables.detection.prompts import change_of
from aurora_deliverables.events import Event, PhaseStarted, Started, TokensUsed
from aurora_orchestration.model_settings import Caps
from aurora_orchestration.run_record import RunCancelled
from aurora_orchestration.scoring_settings import (
    CalibrationSettings,
    DecompositionWeights,
    ScoringSettings,
    WeightedScoring,
)
from aurora_orchestration.settings import PHASES, BudgetSettings
from aurora_orchestration.soar.checkpoint import CannotResume
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.llm.wire_formats import Kind, Scripted
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.shares import long
from tests.wait_limits import HANG

MEDIUM = "Explain how expand fills a template and compare it with request"
COMPLEX = "Design and implement retries for request, login throttling, template errors, audit logging and documentation"
TWO = ("Explain how expand fills a template", "Compare expand with request")
FIVE = (
    "Design and implement retries in request",
    "Implement throttling of login",
    "Report errors in templates",
    "Add audit logging",
    "Write the documentation",
)


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        yield running


@pytest.mark.parametrize("kind", ["anthropic", long("openai")])
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


@pytest.mark.parametrize("kind", [long("anthropic"), "openai"])
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


async def test_a_complex_question_has_its_subgoals_worked_on_at_once(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    mind = Mind(FIVE)
    mind.waits = 0.1
    mind.instead["assess"] = lambda _: {"complexity": "complex", "confidence": 0.9}
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(COMPLEX)
        assert run.error is None
        assert (run.state, run.complexity) == ("complete", "complex")
        assert run.plan is not None and run.plan.option == "option_b"
        assert len(run.results) == 5 and provider.most_at_once == 5
        assert mind.asked.count("work") == 5 and mind.asked.count("output") == 5
        assert "criticise" in mind.asked


async def test_a_critical_question_takes_three_paths_and_a_judge(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM, verification="option_c")
        assessed = [stage for stage in it.stages if (stage.stage, stage.status) == ("assess", "complete")]
        assert [(each.data["complexity"], each.data["method"]) for each in assessed] == [("critical", "asked")]
        assert assessed[0].detail.startswith("critical (") and assessed[0].data["keywords"], "told once, with the words"
        assert run.error is None and run.state == "complete"
        assert run.complexity == "critical" and run.plan is not None and run.plan.option == "option_c"
        assert mind.asked.count("decompose") == 3 and mind.asked.count("rule") == 1


async def test_progress_never_goes_back_and_cost_only_grows(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
        progress = [stage.progress for stage in it.stages]
        assert progress == sorted(progress) and progress[-1] == 1.0
        costs = [stage.cost_usd for stage in it.stages]
        assert costs == sorted(costs) and costs[-1] == pytest.approx(run.cost_usd, abs=1e-6)
        told = {stage.stage for stage in it.stages}
        assert told == {*PHASES, "guard", "done"}


async def test_without_a_provider_memory_says_what_it_knows(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        run = await it.ask("how does expand fill a template")
        assert run.state == "no_provider" and run.cost_usd == 0
        assert "src/template.py:1-5" in run.answer
        assert run.error is not None and "llm.reasoning_llm" in run.error and "\n" not in run.error
        assert [record.phase for record in run.phases][:3] == ["guard", "assess", "retrieve"]
        assert it.memory.learned == []


async def test_a_dry_run_asks_no_model(provider: LoopbackProvider, tmp_path: Path) -> None:
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(COMPLEX, dry_run=True)
        assert run.state == "dry_run" and provider.requests == []
        assert "COMPLEX" in run.answer and "$" in run.answer


async def test_the_same_question_is_answered_from_memory_at_no_cost(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        first = await it.ask(MEDIUM)
        assert first.learned is not None and first.learned.is_pattern
        asked = len(provider.requests)
        second = await it.ask(f"  {MEDIUM}? ")
        assert (second.state, second.answer, second.cost_usd) == ("complete", first.answer, 0)
        assert second.from_memory == first.learned.reasoning_id and len(provider.requests) == asked
        assert any("from memory" in notice for notice in second.notices)
        assert len(it.memory.learned) == 1
        (it.root / "src/template.py").write_text("def expand(template, values):\n    return ''\n\n\n\n")
        third = await it.ask(MEDIUM)
        assert third.from_memory is None and len(provider.requests) > asked


async def test_what_succeeded_in_part_is_not_given_again_though_it_is_like_a_pattern(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        first = await it.ask(MEDIUM)
        mind.scores["synthesis"] = [0.75]
        alike = MEDIUM.replace("Explain how", "Explain please how")
        second = await it.ask(alike)
        assert second.score is not None and second.score < 0.8 and second.learned is not None
        assert first.learned is not None and second.learned.reasoning_id == first.learned.reasoning_id, "one pattern"
        assert "(score ≥ 0.8" not in it.log_of(second) and "counted to a pattern like it" in it.log_of(second)
        third = await it.ask(alike)
        assert third.from_memory is None and third.cost_usd > 0


async def test_an_unattended_run_is_worked_on_each_time_with_agents_and_never_answered_from_memory(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        for _ in range(2):
            run = await it.ask(MEDIUM, mode="headless")
            assert run.state == "complete" and run.from_memory is None and len(run.results) == 2
        assert mind.asked.count("work") == 4
        await it.ask(MEDIUM)
        assert mind.asked.count("work") == 6, "nor is an unattended run's answer kept for others"
        simple = await it.ask("what is expand?", mode="headless")
        assert "direct" not in mind.asked and len(simple.results) == 2


async def test_an_unattended_run_that_fails_does_not_make_the_next_ones_expensive(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    mind = Mind(TWO)
    mind.scores["synthesis"] = [0.3]
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        failed = await it.ask(MEDIUM, mode="headless")
        assert failed.state == "failed" and failed.complexity == "medium"
        assert not await it.memory.difficult(MEDIUM)
        await it.ask(MEDIUM)
        assert await it.memory.difficult(MEDIUM)
        again = await it.ask(MEDIUM, mode="headless")
        assert again.complexity == "medium" and "plead" not in mind.asked


async def test_what_is_below_the_pass_mark_is_mended_twice_at_most(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.scores["synthesis"] = [0.6]
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert mind.asked.count("synthesize") == 3 == mind.asked.count("judge")
        assert run.state == "partial" and run.score == pytest.approx(0.6)
        assert run.caveats[0].startswith("Low confidence")
        assert run.learned is not None and run.learned.outcome == "partial" and not run.learned.is_pattern


async def test_an_answer_that_fails_is_not_given_and_the_question_is_marked_difficult(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    mind = Mind(TWO)
    mind.scores["synthesis"] = [0.3]
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.state == "failed" and run.answer.startswith("No reliable answer")
        assert run.learned is not None and run.learned.outcome == "failure" and run.learned.reasoning_id is None
        assert await it.memory.difficult(MEDIUM)
        mind.scores["synthesis"] = [0.9]
        again = await it.ask(MEDIUM)
        assert again.complexity == "critical" and any("failed before" in notice for notice in again.notices)


async def test_an_invented_source_is_dropped_and_its_claim_named(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.claims = [
        {"text": "Expand fills the template.", "sources": ["SG1", "src/nowhere.py:3"]},
        {"text": "It is the fastest of all.", "sources": ["src/template.py:900-910", "SG9"]},
    ]
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.synthesis is not None
        assert [claim.sources for claim in run.synthesis.claims] == [("SG1", "src/template.py:1-2")]
        assert run.synthesis.untraced == ("It is the fastest of all.",)
        assert any("fastest" in caveat for caveat in run.caveats)


async def test_a_plan_that_never_passes_is_not_carried_out(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.scores["decomposition"] = [0.2]
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.state == "failed" and "work" not in mind.asked
        assert run.error is not None and "plan" in run.error


async def test_when_the_cap_is_reached_what_was_found_is_given(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    llm = provider.llm_settings(caps=Caps(phase_usd={"synthesize": 0.0}))
    async with bench(tmp_path, llm, provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.state == "partial" and "Found for" in run.answer
        assert run.error is not None and "llm.caps.phase_usd.synthesize" in run.error
        assert "synthesize" not in mind.asked


async def test_a_run_that_takes_too_long_ends(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.instead["verify"] = lambda _: Scripted(json={}, delay=30)
    provider.otherwise = mind
    llm = provider.llm_settings(caps=Caps(run_seconds=1.5))
    async with bench(tmp_path, llm, provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.state == "failed" and run.error is not None and "llm.caps.run_seconds" in run.error


async def test_a_budget_that_is_spent_blocks_before_anything_is_asked(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    budget = BudgetSettings(soft_limit_usd=0.0, hard_limit_usd=0.0)
    async with bench(tmp_path, provider.llm_settings(), provider.environ, cost_budgets=budget) as it:
        run = await it.ask(MEDIUM)
        assert run.state == "blocked" and provider.requests == [] and run.error
        assert run.id in it.log_of(run)


async def test_a_cancelled_run_is_logged_and_can_be_gone_on_with(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    mind.instead["judge"] = lambda _: Scripted(json={}, delay=30)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        task = asyncio.ensure_future(it.ask(MEDIUM))
        async with asyncio.timeout(HANG):
            while "judge" not in mind.asked:
                await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(RunCancelled) as raised:
            await task
        run = raised.value.run
        assert run.state == "cancelled" and len(run.results) == 2 and it.memory.learned == []
        assert "cancelled" in it.log_of(run).lower()
        asked = list(mind.asked)
        del mind.instead["judge"]
        resumed = await it.ask("", resume=run.id)
        assert (resumed.id, resumed.state, resumed.query) == (run.id, "complete", run.query)
        assert mind.asked == [*asked, "judge"]
        assert len(it.memory.learned) == 1
        with pytest.raises(CannotResume):
            await it.ask("", resume=run.id)


async def test_every_run_is_a_deliverable_with_its_calls(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM, session="s-1")
        found = await it.deliverables.get(change_of(run.id))
        assert found is not None and found.status == "completed" and found.deliverable_failed is False
        assert found.spec_source is not None and found.spec_source.framework == "prompt"
        assert [span.phase for span in found.spans] == [
            "propose", "specs", "design", "tasks", "apply", "verify", "archive"
        ]  # fmt: skip
        assert (found.tasks_total, found.tasks_completed) == (2, 2)
        assert found.tokens is not None and found.tokens.cost_usd == pytest.approx(run.cost_usd)
        assert found.tool_calls == {"agent:llm-executor": 2}
        assert found.conformance is not None and found.conformance.overall is not None
        events = await it.deliverables.events(found.change_id)
        assert sum(isinstance(event.what, TokensUsed) for event in events) == len(run.calls)


async def test_a_step_that_is_tried_again_is_told_of_everywhere(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO, depends={1: (0,)})
    mind.scores["output"] = [0.6, 0.6, 0.65, 0.9]
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.state == "complete" and run.score is not None and run.score >= 0.8
        assert run.caveats == (f"Doubtful: {TWO[0]}",), "it was used although it never passed (App. D)"
        found = await it.deliverables.get(change_of(run.id))
        assert found is not None and found.tool_calls == {"agent:llm-executor": 4}
        assert (found.recovery_attempts, found.recovery_tool_calls) == (2, 2)
        told = it.log_of(run)
        assert told.count('"agent_id": "llm-executor"') >= 5, "every try is in the log"
        assert '"attempts": 3' in told and '"agent_output": 2' in told


async def test_two_runs_at_once_do_not_mix(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        one, other = await asyncio.gather(it.ask(MEDIUM), it.ask("Explain how login checks a password, and compare it"))
        assert one.id != other.id and one.log != other.log
        assert one.state == other.state == "complete"
        assert len(it.memory.learned) == 2


async def test_odd_weights_and_examples_that_cannot_be_used_are_told_once(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    provider.otherwise = Mind(TWO)
    scoring = ScoringSettings(
        weighted_scoring=WeightedScoring(decomposition=DecompositionWeights(completeness=2.0)),
        calibration_examples=CalibrationSettings(external_path=str(tmp_path / "missing.json")),
    )
    async with bench(tmp_path, provider.llm_settings("anthropic"), provider.environ, scoring=scoring) as it:
        run = await it.ask(MEDIUM)
        assert run.state == "complete"
        assert sum("weights sum to" in notice for notice in run.notices) == 1
        assert sum("missing.json cannot be read" in notice for notice in run.notices) == 1


async def test_a_run_within_an_open_deliverable_counts_towards_that_one(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        at = it.now()
        opened = [
            Event("e-1", "add-search", at, Started("Add search"), session="s-1"),
            Event("e-2", "add-search", at, PhaseStarted("apply"), session="s-1"),
        ]
        assert (await it.deliverables.record(opened)).accepted == 2
        run = await it.ask(MEDIUM, session="s-1")
        assert await it.deliverables.get(change_of(run.id)) is None
        found = await it.deliverables.get("add-search")
        assert found is not None and found.status == "executing" and found.current_phase == "apply"
        assert found.tokens is not None and found.tokens.cost_usd == pytest.approx(run.cost_usd)
