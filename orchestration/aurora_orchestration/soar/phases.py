"""Phases of a run in their order (the pipeline), from the guardrails to the answer (AURORA §3.2, §7.1); `finalize` has
8 and 9.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from aurora_orchestration.guardrails.audit import guard_noted
from aurora_orchestration.llm.completion import CapReached, Llm, LlmError, Models
from aurora_orchestration.llm.metered_model import RunSpending
from aurora_orchestration.soar import phase_log as logged
from aurora_orchestration.soar.answer_cache import CachedAnswer
from aurora_orchestration.soar.assess import as_asked, assess, at_least, tell_assessed
from aurora_orchestration.soar.calibration import examples_told
from aurora_orchestration.soar.claims import takeovers, usable
from aurora_orchestration.soar.collect import collect
from aurora_orchestration.soar.direct import answer_directly
from aurora_orchestration.soar.drift import told_of_drift
from aurora_orchestration.soar.follow_up import follow_up, with_givens
from aurora_orchestration.soar.plan import option_for, plan
from aurora_orchestration.soar.respond import MAX_LISTED, from_context, from_results, respond
from aurora_orchestration.soar.retrieve import retrieve
from aurora_orchestration.soar.route import route
from aurora_orchestration.soar.run import Run
from aurora_orchestration.soar.run_executors import executors_of
from aurora_orchestration.soar.scores import notices as odd_weights
from aurora_orchestration.soar.synthesize import synthesize
from aurora_orchestration.soar.verify_synthesis import references_of
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import (
    Agent,
    Assessment,
    ContextBundle,
    Plan,
    Rate,
    Role,
    RoutingPlan,
    VerificationOption,
)


async def go_through(run: Run, cancel_earlier: Callable[[], bool]) -> None:
    """From the guardrails to the answer. Raises what stops it; `record` then has what was found until then."""
    if run.settings.llm.reasoning_llm is not None:
        run.journal = await asyncio.to_thread(run.store.journal, run.record.id)
    spending = RunSpending(run.settings.llm.caps, run.journal)
    assessor = run.models(None, spending)
    asks, cached = await _guard(run, cancel_earlier, assessor.reasoning, assessor.rates)
    if not asks:
        return
    await run.save()
    assessment = await _assess(run, assessor.reasoning)
    context = await _retrieve(run, assessment)
    if cached is not None and await _from_memory(run, cached):
        return
    models = run.models(assessment.complexity, spending)
    if run.request.dry_run:
        await _dry_run(run, assessment, context, models)
        return
    if models.reasoning is None or models.solving is None:
        await _without_models(run, context, models.why)
        return
    run.set(estimated_usd=await run.budget.expect(run.record.query, assessment, context, models))
    await run.budget.check(run.record.estimated_usd)
    await run.save()
    run.file_digests = await asyncio.to_thread(run.store.answers.digests, context)
    await run.trace.begin_deliverable(run.record.query, assessment.complexity, models.reasoning.model)
    if assessment.verification == "none":
        await _direct(run, context, models.reasoning)
        return
    agents = await _agents(run)
    planned = await _plan(run, assessment, assessment.verification, context, agents, models.reasoning)
    if planned.verification.verdict != "pass":
        _without_plan(run, planned, context)
        return
    routing = await _route(run, planned, agents)
    await _collect(run, planned, routing, context, models.solving, models.reasoning)
    await _synthesize(run, planned, context, models.reasoning)


async def _guard(
    run: Run, cancel_earlier: Callable[[], bool], assessor: Llm | None, rates: Mapping[Role, Rate]
) -> tuple[bool, CachedAnswer | None]:
    """Phase 0; whether there is a question left to work on, and its answer from the cache.

    What asks nothing, what the cache answers and what no model works on costs nothing, and needs no budget.
    """
    services, settings, request = run.services, run.settings, run.request
    async with run.trace.phase("guard", length=len(request.query), mode=request.mode) as found:
        run.trace.tell("guard", "in_progress")
        guarded, notices = await asyncio.to_thread(
            guard_noted, request.query, settings.guardrails, services.home, run.record.id, services.now
        )
        run.set(query=guarded.query)
        run.trace.notice(*notices)
        found["query"] = guarded.query
        found["redactions"] = [{"kind": each.kind, "count": each.count} for each in guarded.redactions]
        cached, said = None, ""
        # An unattended run is there to do something: what another one did is no work.
        again = request.mode != "headless" and not request.dry_run
        if again and request.verification is None and not request.flags:
            cached, said = await asyncio.to_thread(run.store.answers.find, guarded.query, services.now())
        run.trace.notice(*([said] if said else []))
        asks = not await _follow_up(run, cancel_earlier)
        if asks and cached is None and assessor is not None and not request.dry_run:
            found["estimated_cost_usd"] = await run.budget.precheck(run.record.query, rates)
        run.trace.tell("guard", "complete")
    return asks, cached


async def _follow_up(run: Run, cancel_earlier: Callable[[], bool]) -> bool:
    """Follow-up of the session's last answer (App. E); True where that is all there was to it."""
    found = run.continuation = await follow_up(
        run.record.query,
        run.request,
        run.services,
        run.settings.signals,
        run.settings.aurora.exclude_patterns,
        run.trace,
        ask_user=run.ask_user,
        cancel_earlier=cancel_earlier,
    )
    if found is None:
        return False
    if not found.query:
        run.set(state="complete", answer=found.say)
        return True
    run.set(query=found.query)
    return False


async def _assess(run: Run, llm: Llm | None) -> Assessment:
    """Phase 1, unless the session or the checkpoint tells."""
    settings, found_before = run.settings.complexity, run.record.assessment
    if found_before is None and run.continuation is not None:
        found_before = run.continuation.assessment
    async with run.trace.phase("assess", query=run.record.query, mode=run.request.mode) as found:
        asked = None if run.request.dry_run else llm
        if found_before is None:
            settle = partial(_verification_of, run)
            assessment = await assess(run.record.query, settings, asked, tell=run.trace.tell, settle=settle)
        else:
            assessment = await _verification_of(run, found_before)
            tell_assessed(run.trace.tell, assessment)
        run.set(assessment=assessment, complexity=assessment.complexity)
        found.update(logged.assessed(assessment))
    return assessment


async def _verification_of(run: Run, assessment: Assessment) -> Assessment:
    """The verification that was asked for, that the session needs, or that failures of its kind call for."""
    if run.request.verification is not None:
        return as_asked(assessment, run.request.verification)
    session = run.continuation
    wanted = [session.option] if session is not None and session.option is not None else []
    if run.request.mode == "headless":
        # What it is to do takes agents, whatever its words are like. An iteration that failed is no kind of
        # question: it would make all that follow, which name the same goal, as expensive as can be.
        level = at_least(assessment, [*wanted, "option_a"])
        return level if level.verification != "none" else replace(level, verification="option_a")
    if assessment.verification != "none" and await run.services.memory.difficult(run.record.query):
        run.trace.notice("questions like this one failed before: it is verified at the highest level")
        wanted.append("option_c")
    if not wanted and run.request.auto and assessment.complexity in ("simple", "medium"):
        return replace(assessment, verification="none")
    return at_least(assessment, wanted)


async def _retrieve(run: Run, assessment: Assessment) -> ContextBundle:
    """Phase 2, unless the checkpoint tells."""
    query, context = run.record.query, run.record.context
    async with run.trace.phase("retrieve", query=query, complexity=assessment.complexity) as found:
        if context is not None:
            run.trace.tell("retrieve", "complete", "as found before", tokens=context.tokens)
        else:
            memory, settings = run.services.memory, run.settings.retrieval
            context = await retrieve(query, memory, assessment, settings, tell=run.trace.tell)
            workspace = WorkspaceText(run.services.workspace)
            context = await told_of_drift(context, memory, workspace, run.trace.notice)
            if run.continuation is not None:
                context = with_givens(context, run.continuation.given)
        run.set(context=context)
        found.update(logged.retrieved(context))
        found["context_budget"] = context.budget
    return context


async def _from_memory(run: Run, cached: CachedAnswer) -> bool:
    """Give a cached answer, if the session does not ask for another and memory still has its pattern."""
    session = run.continuation
    if session is not None and (session.fresh or session.given):
        return False
    found = await run.services.memory.recall(cached.reasoning_id, budget=4000, limit=1, types=("reas",))
    if not any(chunk.id == cached.reasoning_id for chunk in found):
        return False
    run.set(
        state="complete",
        answer=cached.answer,
        score=cached.score,
        confidence=cached.confidence,
        complexity=cached.complexity,
        from_memory=cached.reasoning_id,
        because=f"from memory: run {cached.run} answered this question, and no file it was made from has changed",
    )
    run.trace.notice(f"from memory, at no cost ({cached.reasoning_id}; it cost ${cached.cost_usd:.4f} in {cached.run})")
    return True


async def _dry_run(run: Run, assessment: Assessment, context: ContextBundle, models: Models) -> None:
    """The answer of a dry run: the way, the models, the estimate."""
    both = models.reasoning is not None and models.solving is not None
    usd = await run.budget.expect(run.record.query, assessment, context, models) if both else 0.0
    past = len(await asyncio.to_thread(run.services.budget.past, run.budget.way))
    known = f" ({past} past runs of its kind known)" if past else ""
    way = (
        "one direct answer, not verified"
        if assessment.verification == "none"
        else f"decompose, verify ({assessment.verification}), agents, synthesis, final verification"
    )
    asked = models.reasoning.model if models.reasoning is not None else f"no model ({models.why})"
    answer = (
        f"{assessment.complexity.upper()}: {way}.\nReasoning model: {asked}.\n"
        f"Context: {len(context.chunks)} chunks, {context.tokens} tokens.\nEstimated cost: ${usd:.4f}{known}."
    )
    run.set(state="dry_run", answer=answer, estimated_usd=usd)


async def _without_models(run: Run, context: ContextBundle, why: str) -> None:
    """The answer without a provider: what memory knows, and who would be asked."""
    known = await run.services.registry().current(None)
    others = [agent.id for agent in known.agents if agent.id != "llm-executor" and agent.trusted]
    if others:
        run.trace.notice(f"agents that could work on it: {', '.join(others[:10])}")
    run.set(state="no_provider", answer=from_context(context), error=why)


def _without_plan(run: Run, planned: Plan, context: ContextBundle) -> None:
    """The end where no plan passed: nothing is executed."""
    verification = planned.verification
    worst = sorted(verification.checks.items(), key=lambda item: (item[1].score, item[0]))
    told = [
        f"{name}: {issue}"
        for name, check in worst
        for issue in check.issues or ((check.detail,) if check.detail and not check.passed else ())
    ]
    issues = "; ".join((verification.critical_issues or tuple(told))[:5]) or "its checks scored too low"
    error = f"no sound plan was found (score {verification.overall_score:.2f}): {issues}"
    run.set(state="failed", answer=from_context(context), error=error)


async def _direct(run: Run, context: ContextBundle, llm: Llm) -> None:
    """A simple question: one call with what memory gave, no verification (§3.2)."""
    async with run.trace.phase("synthesize", route="direct") as found:
        synthesis = await answer_directly(run.record.query, context, llm, tell=run.trace.tell)
        looked_up = await asyncio.to_thread(
            references_of, run.record.query, synthesis.answer, (), context, WorkspaceText(run.services.workspace)
        )
        run.set(
            state="complete",
            answer=synthesis.answer,
            synthesis=synthesis,
            because="answered directly: simple questions are not verified",
            caveats=(
                *(f"Not so: {fault.issue}" for fault in looked_up.faults[:MAX_LISTED]),
                *((synthesis.unverified[:1].upper() + synthesis.unverified[1:],) if synthesis.unverified else ()),
            ),
        )
        found.update(logged.synthesized(synthesis, ()))


async def _agents(run: Run) -> tuple[Agent, ...]:
    known = await run.services.registry().current(run.ask_user)
    run.trace.notice(*known.notices)
    return known.agents


async def _plan(
    run: Run,
    assessment: Assessment,
    option: VerificationOption,
    context: ContextBundle,
    agents: tuple[Agent, ...],
    llm: Llm,
) -> Plan:
    """Phases 3 and 4: they take turns, so their times are told apart by what they tell."""
    trace, scoring = run.trace, run.settings.scoring
    if run.request.verification is None:  # who asked for an option gets that one
        overruled = assessment.method != "keyword"  # then the keywords' score says nothing any more
        option = option_for(option, assessment.complexity, 0.0 if overruled else assessment.score)
    trace.notice(*odd_weights(scoring))
    trace.notice(*await asyncio.to_thread(examples_told, scoring.calibration_examples, assessment.complexity))
    async with trace.phase("decompose", "verify", query=run.record.query, agents=len(agents)) as found:
        planned = await plan(
            run.record.query,
            context,
            agents,
            llm,
            scoring,
            complexity=assessment.complexity,
            option=option,
            tell=trace.tell,
        )
        run.set(plan=planned, complexity=planned.complexity)
        found.update(logged.decomposed(planned))
    at, took = trace.spent("verify")
    await trace.record(
        "verify", at or run.services.now(), took, {"verification_option": option}, logged.planned(planned)
    )
    trace.notice(*planned.escalations)
    return planned


async def _route(run: Run, planned: Plan, agents: tuple[Agent, ...]) -> RoutingPlan:
    """Phase 5."""
    trace, steps = run.trace, len(planned.decomposition.subgoals)
    async with trace.phase("route", subgoals=steps) as found:
        trace.tell("route", "in_progress")
        routing = route(planned.decomposition, agents, run.settings.agents)
        run.set(routing=routing)
        trace.notice(*routing.notices)
        found.update(logged.routed(routing))
        given = [
            {"subgoal_id": each.subgoal.id, "agent_id": each.agent.id, "why": each.why, "wave": each.wave}
            for each in routing.assignments
        ]
        trace.tell("route", "complete", f"{steps} subgoals", subgoals=steps, routing=given)
    trace.deliverable.steps(steps, run.services.now())
    return routing


async def _collect(
    run: Run, planned: Plan, routing: RoutingPlan, context: ContextBundle, solving: Llm, judge: Llm
) -> None:
    """Phase 6. Raises `CapReached` where no step could be done, and one for want of money."""
    services, trace = run.services, run.trace
    capped: list[CapReached] = []
    guarded = run.request.mode == "headless"
    answers = run.store.agent_answers(run.record.id)
    async with (
        executors_of(services, run.settings, run.record.id, answers, guarded=guarded) as executors,
        trace.phase("collect", agents=[each.agent.id for each in routing.assignments]) as found,
    ):
        trace.tell("collect", "in_progress", total=len(routing.assignments))
        results = await collect(
            planned,
            routing,
            context,
            solving,
            executors,
            run.settings,
            ask_user=run.ask_user,
            tell=trace.tell,
            judge=judge,
            capped=capped.append,
            now=services.now,
            seconds=run.settings.llm.caps.run_seconds - (time.monotonic() - run.began),
        )
        run.set(results=results)
        trace.results = results
        trace.notice(*takeovers(results))
        found.update(logged.collected(results))
    trace.deliverable.collected(results)
    if capped and not any(usable(each) for each in results):
        raise capped[0]


async def _synthesize(run: Run, planned: Plan, context: ContextBundle, llm: Llm) -> None:
    """Phase 7 and the verification of the answer. Where no answer can be had, what the steps found is given."""
    trace, results, scoring = run.trace, run.record.results, run.settings.scoring
    try:
        async with trace.phase("synthesize", "verify", agent_summaries=logged.summaries(results)) as found:
            synthesis = await synthesize(
                run.record.query,
                results,
                context,
                llm,
                scoring,
                complexity=planned.complexity,
                tell=trace.tell,
                workspace=WorkspaceText(run.services.workspace),
            )
            found.update(logged.synthesized(synthesis, results))
    except LlmError as error:
        answer = from_results(results)
        run.set(state="partial" if answer else "failed", answer=answer, error=str(error))
        raise
    at, took = trace.spent("verify")
    if synthesis.verification is not None:
        judged = logged.verified(synthesis.verification)
        await trace.record("verify_synthesis", at or run.services.now(), took, {}, judged)
    response = respond(synthesis, results, scoring)
    run.set(
        synthesis=synthesis,
        state=response.state,
        answer=response.answer,
        score=response.score,
        confidence=response.confidence,
        because=response.because,
        caveats=response.caveats,
    )
    if synthesis.verification is not None:  # else `synthesize` has told how it failed
        trace.tell("synthesize", "complete", score=response.score, claims=len(synthesis.claims))
