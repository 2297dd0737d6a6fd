"""The nine phases in their order, for one run (AURORA §3.2, §7.1). What they give is in `so_far` as they give it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from aurora_orchestration.agents.executors.dispatch import Executors
from aurora_orchestration.guardrails.audit import guard_noted
from aurora_orchestration.guardrails.cost_estimate import estimate, tokens_of
from aurora_orchestration.llm.completion import Llm, LlmError, Models
from aurora_orchestration.run_record import RunRecord, RunRequest
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.soar import phase_log as shown
from aurora_orchestration.soar.answer_cache import KeptAnswer, KeptAnswers
from aurora_orchestration.soar.assess import assess
from aurora_orchestration.soar.calibration import examples_told
from aurora_orchestration.soar.collect import collect
from aurora_orchestration.soar.context import Workbench
from aurora_orchestration.soar.direct import answer_directly
from aurora_orchestration.soar.follow_up import FollowUp, with_givens
from aurora_orchestration.soar.keywords import classify
from aurora_orchestration.soar.plan import option_for, plan
from aurora_orchestration.soar.respond import from_context, from_results, respond
from aurora_orchestration.soar.retrieve import retrieve
from aurora_orchestration.soar.route import route
from aurora_orchestration.soar.run_trace import Course
from aurora_orchestration.soar.scores import notices as oddities
from aurora_orchestration.soar.strictness import as_asked, at_least
from aurora_orchestration.soar.synthesize import synthesize
from aurora_orchestration.types import Agent, AskUser, Assessment, Complexity, ContextBundle, Plan, VerificationOption


class Running:
    """One run. `go` raises what stops it; `so_far` then has what was found until then.

    `models` opens the models for a complexity (None: for assessing); `checkpoint` keeps what a resumed run needs.
    """

    def __init__(
        self,
        bench: Workbench,
        settings: SoarSettings,
        request: RunRequest,
        so_far: RunRecord,
        course: Course,
        follow_up: FollowUp,
        executors: Executors,
        *,
        models: Callable[[Complexity | None], Models],
        checkpoint: Callable[[RunRecord, RunRequest], Awaitable[None]],
        ask_user: AskUser,
    ) -> None:
        self._bench = bench
        self._settings = settings
        self._request = request
        self._course = course
        self._follow_up = follow_up
        self._executors = executors
        self._open = models
        self._checkpoint = checkpoint
        self._ask_user = ask_user
        self._kept = KeptAnswers(bench.answers, bench.workspace)
        self._option: VerificationOption | None = request.verification
        self._agents: tuple[Agent, ...] = ()
        self.so_far = so_far
        self.files: dict[str, str] | None = None

    async def go(self) -> None:
        """Everything from the guardrails to the answer."""
        assessor = self._open(None)
        self._course.notice(*assessor.notices)
        kept = await self._guard(free=assessor.reasoning is None)
        if await self._said_in_session():
            return
        await self._checkpoint(self.so_far, self._request)
        assessment = await self._assess(assessor.reasoning)
        context = await self._retrieve(assessment)
        if kept is not None and await self._from_memory(kept):
            return
        models = self._open(assessment.complexity)
        self._course.notice(*models.notices)
        if self._request.dry_run:
            self._would_do(assessment, models)
            return
        if models.reasoning is None or models.solving is None:
            await self._without_models(context, models.why)
            return
        if kept is not None:  # it was to be free, and is not
            await self._afford(assessment.complexity)
        await self._checkpoint(self.so_far, self._request)
        self.files = await asyncio.to_thread(self._kept.digests, context)
        await self._deliver(assessment.complexity, models.reasoning)
        if assessment.verification == "none":
            await self._directly(context, models.reasoning)
        else:
            await self._wholly(assessment, context, models.reasoning, models.solving)

    async def _guard(self, *, free: bool) -> KeptAnswer | None:
        """Phase 0. An answer that is kept, and a run without a model, cost nothing and need no budget."""
        settings, course = self._settings, self._course
        async with course.phase("guard", length=len(self._request.query), mode=self._request.mode) as found:
            course.tell("guard", "in_progress")
            guarded, notices = await asyncio.to_thread(
                guard_noted,
                self._request.query,
                settings.guardrails,
                self._bench.home,
                self.so_far.id,
                self._bench.now,
            )
            self._request = replace(self._request, query=guarded.query)
            self.so_far = replace(self.so_far, query=guarded.query)
            course.notice(*notices)
            found["query"] = guarded.query
            found["redactions"] = [{"kind": each.kind, "count": each.count} for each in guarded.redactions]
            kept = None
            if self._request.verification is None and not self._request.dry_run and not self._request.flags:
                kept = await asyncio.to_thread(self._kept.find, guarded.query, self._bench.now())
            if kept is None and not free:
                level = classify(guarded.query, settings.complexity.keyword_classifier).complexity
                found["estimated_cost_usd"] = await self._afford(level)
            course.tell("guard", "complete")
        return kept

    async def _afford(self, level: Complexity) -> float:
        """Whether the budget allows a question of this complexity; raises OverBudget."""
        usd = estimate(tokens_of(self.so_far.query), level, self._settings.complexity)
        warning = await asyncio.to_thread(self._bench.budget.check, usd, force=self._request.force)
        if warning:
            self._course.notice(warning)
        return usd

    async def _said_in_session(self) -> bool:
        """What the message says of the last answer (App. E); True where that is all there was to it."""
        answer = await self._follow_up.hear(self._request, self._course, self._ask_user, self._kept)
        if answer is not None:
            self.so_far = replace(self.so_far, state="complete", answer=answer)
            return True
        if self._follow_up.query and self._follow_up.query != self._request.query:
            self._request = replace(self._request, query=self._follow_up.query)
            self.so_far = replace(self.so_far, query=self._follow_up.query)
        return False

    async def _assess(self, llm: Llm | None) -> Assessment:
        """Phase 1, unless the session or an interrupted run tells."""
        course, settings = self._course, self._settings.complexity
        async with course.phase("assess", query=self.so_far.query, mode=self._request.mode) as found:
            found_before = self.so_far.assessment or self._follow_up.assessment
            asked = None if self._request.dry_run else llm
            judged = found_before or await assess(self.so_far.query, settings, asked, tell=course.tell)
            assessment = await self._at_least(judged)
            self.so_far = replace(self.so_far, assessment=assessment, complexity=assessment.complexity)
            found.update(shown.assessed(assessment))
            if found_before is not None or assessment is not judged:  # else `assess` has told it
                course.tell(
                    "assess",
                    "complete",
                    f"{assessment.complexity} ({assessment.confidence:.2f}, by {assessment.method})",
                    complexity=assessment.complexity,
                    confidence=assessment.confidence,
                    method=assessment.method,
                    verification=assessment.verification,
                )
        return assessment

    async def _at_least(self, assessment: Assessment) -> Assessment:
        """The verification that was asked for, that the session needs, or that failures of its kind call for."""
        if self._request.verification is not None:
            return as_asked(assessment, self._request.verification)
        wanted = [self._follow_up.option] if self._follow_up.option is not None else []
        if assessment.verification != "none" and await self._bench.memory.difficult(self.so_far.query):
            self._course.notice("questions like this one failed before: it is verified at the highest level")
            wanted.append("option_c")
        if not wanted and self._request.auto and assessment.complexity in ("simple", "medium"):
            return replace(assessment, verification="none")
        return at_least(assessment, wanted)

    async def _retrieve(self, assessment: Assessment) -> ContextBundle:
        """Phase 2."""
        course = self._course
        async with course.phase("retrieve", query=self.so_far.query, complexity=assessment.complexity) as found:
            context = self.so_far.context
            if context is not None:
                course.tell("retrieve", "complete", "as found before", tokens=context.tokens)
            if context is None:
                recalled = await retrieve(
                    self.so_far.query, self._bench.memory, assessment, self._settings.retrieval, tell=course.tell
                )
                context = with_givens(recalled, self._follow_up.given)
            self.so_far = replace(self.so_far, context=context)
            found.update(shown.retrieved(context))
            found["context_budget"] = context.budget
        return context

    async def _from_memory(self, kept: KeptAnswer) -> bool:
        """Give a kept answer again, if the session does not ask for another and memory still has its pattern."""
        if self._follow_up.fresh or self._follow_up.given:
            return False
        found = await self._bench.memory.recall(kept.reasoning_id, budget=4000, limit=1, types=("reas",))
        if not any(chunk.id == kept.reasoning_id for chunk in found):
            return False
        self.so_far = replace(
            self.so_far,
            state="complete",
            answer=kept.answer,
            score=kept.score,
            confidence=kept.confidence,
            complexity=kept.complexity,
            from_memory=kept.reasoning_id,
            because=f"from memory: run {kept.run} answered this question, and no file it was made from has changed",
        )
        self._course.notice(
            f"from memory, at no cost ({kept.reasoning_id}; it cost ${kept.cost_usd:.4f} in {kept.run})"
        )
        return True

    def _would_do(self, assessment: Assessment, models: Models) -> None:
        """What a dry run says: the way, the models, the estimate."""
        usd = estimate(tokens_of(self.so_far.query), assessment.complexity, self._settings.complexity)
        way = (
            "one direct answer, not verified"
            if assessment.verification == "none"
            else f"decompose, verify ({assessment.verification}), agents, synthesis, final verification"
        )
        asked = models.reasoning.model if models.reasoning is not None else f"no model ({models.why})"
        context = self.so_far.context or ContextBundle()
        answer = (
            f"{assessment.complexity.upper()}: {way}.\nReasoning model: {asked}.\n"
            f"Context: {len(context.chunks)} chunks, {context.tokens} tokens.\nEstimated cost: ${usd:.4f}."
        )
        self.so_far = replace(self.so_far, state="dry_run", answer=answer)

    async def _without_models(self, context: ContextBundle, why: str) -> None:
        """What is left without a provider: what memory knows, and who would be asked."""
        known = await self._bench.registry().current(None)
        others = [agent.id for agent in known.agents if agent.id != "llm-executor" and agent.trusted]
        if others:
            self._course.notice(f"agents that could work on it: {', '.join(others[:10])}")
        self.so_far = replace(self.so_far, state="no_provider", answer=from_context(context), error=why)

    async def _deliver(self, level: Complexity, llm: Llm) -> None:
        """Begin the deliverable, now that there is work to do: phases before this took place earlier."""
        delivering, course = self._course.delivering, self._course
        if delivering is None:
            return
        now = self._bench.now()
        await delivering.begin(self.so_far.query, level, llm.model, course.started_at, now)
        for record in course.phases:
            delivering.phase(record.phase, record.at)
        for call in course.calls:
            delivering.called(call)

    async def _directly(self, context: ContextBundle, llm: Llm) -> None:
        """A simple question: one call with what memory gave, no verification (§3.2)."""
        course = self._course
        async with course.phase("synthesize", route="direct") as found:
            synthesis = await answer_directly(self.so_far.query, context, llm, tell=course.tell)
            self.so_far = replace(
                self.so_far,
                state="complete",
                answer=synthesis.answer,
                synthesis=synthesis,
                because="answered directly: simple questions are not verified",
            )
            found.update(shown.synthesized(synthesis, ()))

    async def _wholly(self, assessment: Assessment, context: ContextBundle, reasoning: Llm, solving: Llm) -> None:
        """Phases 3 to 7, and what the answer amounts to."""
        planned = await self._plan(assessment, context, reasoning)
        if planned.verification.verdict != "pass":
            issues = "; ".join(planned.verification.critical_issues[:5]) or "its checks scored too low"
            score = planned.verification.overall_score
            self.so_far = replace(
                self.so_far,
                state="failed",
                answer=from_context(context),
                error=f"no sound plan was found (score {score:.2f}): {issues}",
            )
            return
        course, settings = self._course, self._settings
        known = self._agents
        async with course.phase("route", subgoals=len(planned.decomposition.subgoals)) as found:
            course.tell("route", "in_progress")
            routing = route(planned.decomposition, known, settings.agents)
            self.so_far = replace(self.so_far, routing=routing)
            course.notice(*routing.notices)
            found.update(shown.routed(routing))
            course.tell("route", "complete", f"{len(routing.assignments)} subgoals", subgoals=len(routing.assignments))
        if course.delivering is not None:
            course.delivering.steps(len(routing.assignments), self._bench.now())
        async with course.phase("collect", agents=[each.agent.id for each in routing.assignments]) as found:
            course.tell("collect", "in_progress", total=len(routing.assignments))
            results = await collect(
                planned,
                routing,
                context,
                solving,
                self._executors,
                settings,
                ask_user=self._ask_user,
                tell=course.tell,
                judge=reasoning,
                now=self._bench.now,
            )
            self.so_far = replace(self.so_far, results=tuple(results))
            found.update(shown.collected(results))
        if course.delivering is not None:
            course.delivering.collected(results)
        await self._synthesize(planned, context, reasoning)

    async def _plan(self, assessment: Assessment, context: ContextBundle, llm: Llm) -> Plan:
        """Phases 3 and 4: they take turns, so their times are told apart by what they tell."""
        course, settings = self._course, self._settings
        known = await self._bench.registry().current(self._ask_user)
        course.notice(*known.notices)
        self._agents = known.agents
        assert assessment.verification != "none", "simple questions are answered directly"
        option = assessment.verification
        if self._request.verification is None:  # who asked for an option gets that one
            overruled = assessment.method != "keyword"  # then the keywords' score says nothing any more
            option = option_for(option, assessment.complexity, 0.0 if overruled else assessment.score)
        course.notice(*await asyncio.to_thread(self._oddities, assessment.complexity))
        async with course.phase("decompose", "verify", query=self.so_far.query, agents=len(known.agents)) as found:
            planned = await plan(
                self.so_far.query,
                context,
                known.agents,
                llm,
                settings.scoring,
                complexity=assessment.complexity,
                option=option,
                tell=course.tell,
            )
            self.so_far = replace(self.so_far, plan=planned, complexity=planned.complexity)
            found.update(shown.decomposed(planned))
        at, took = course.spent("verify")
        await course.record(
            "verify", at or self._bench.now(), took, {"verification_option": option}, shown.planned(planned)
        )
        course.notice(*planned.escalations)
        return planned

    def _oddities(self, complexity: Complexity) -> tuple[str, ...]:
        """What is odd about the weights and the user's own examples, yet can be worked with."""
        scoring = self._settings.scoring
        return (*oddities(scoring), *examples_told(scoring.calibration_examples, complexity))

    async def _synthesize(self, planned: Plan, context: ContextBundle, llm: Llm) -> None:
        """Phase 7 and the verification of the answer. Where no answer can be had, what the steps found is given."""
        course, results = self._course, self.so_far.results
        try:
            async with course.phase("synthesize", "verify", agent_summaries=shown.summaries(results)) as found:
                synthesis = await synthesize(
                    self.so_far.query,
                    results,
                    context,
                    llm,
                    self._settings.scoring,
                    complexity=planned.complexity,
                    tell=course.tell,
                )
                found.update(shown.synthesized(synthesis, results))
        except LlmError as error:
            answer = from_results(results)
            self.so_far = replace(
                self.so_far, state="partial" if answer else "failed", answer=answer or "", error=str(error)
            )
            raise
        at, took = course.spent("verify")
        if synthesis.verification is not None:
            judged = shown.verified(synthesis.verification)
            await course.record("verify_synthesis", at or self._bench.now(), took, {}, judged)
        response = respond(synthesis, results, self._settings.scoring)
        self.so_far = replace(
            self.so_far,
            synthesis=synthesis,
            state=response.state,
            answer=response.answer,
            score=response.score,
            confidence=response.confidence,
            because=response.because,
            caveats=response.caveats,
        )
        course.tell("synthesize", "complete", score=response.score, claims=len(synthesis.claims))
