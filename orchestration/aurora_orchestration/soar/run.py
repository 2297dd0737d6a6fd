"""Run of a question: its state, and the nine phases in their order (AURORA §3.2, §7.1)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from aurora_memory.documents import CitedSpan
from aurora_orchestration.conversations.log_writer import ConversationLog
from aurora_orchestration.guardrails.audit import guard_noted
from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.llm.completion import CapReached, Llm, LlmError, Models
from aurora_orchestration.llm.journal import Journal
from aurora_orchestration.llm.metered_model import RunSpending
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.llm.providers.editor import EditorModel
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.soar import phase_log as logged
from aurora_orchestration.soar.answer_cache import CachedAnswer
from aurora_orchestration.soar.assess import as_asked, assess, at_least
from aurora_orchestration.soar.calibration import examples_told
from aurora_orchestration.soar.checkpoint import Checkpoint
from aurora_orchestration.soar.claims import takeovers, usable
from aurora_orchestration.soar.collect import collect
from aurora_orchestration.soar.direct import answer_directly
from aurora_orchestration.soar.drift import cited_of, told_of_drift
from aurora_orchestration.soar.follow_up import follow_up, with_givens
from aurora_orchestration.soar.plan import option_for, plan
from aurora_orchestration.soar.respond import MAX_LISTED, from_context, from_results, respond
from aurora_orchestration.soar.retrieve import retrieve
from aurora_orchestration.soar.route import route
from aurora_orchestration.soar.run_budget import RunBudget
from aurora_orchestration.soar.run_deliverable import RunDeliverable
from aurora_orchestration.soar.run_executors import executors_of
from aurora_orchestration.soar.run_trace import RunTrace
from aurora_orchestration.soar.scores import notices as odd_weights
from aurora_orchestration.soar.services import Services
from aurora_orchestration.soar.sessions import Continuation
from aurora_orchestration.soar.stages import Stage
from aurora_orchestration.soar.synthesize import synthesize
from aurora_orchestration.soar.verify_synthesis import references_of
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import (
    Agent,
    AskUser,
    Assessment,
    Complexity,
    ContextBundle,
    Plan,
    Rate,
    Role,
    RoutingPlan,
    VerificationOption,
)
from aurora_protocol.address import in_home


class Run:
    """Run of one question. `record` is its state: what was asked, and what the phases gave so far; `trace` hears of it.

    `checkpoint` is what it begins with; a resumed run has an assessment and a context in it. `file_digests` are those
    of the files the context shows, taken when it was; `resumable` says that there is a checkpoint on disk.
    """

    def __init__(
        self,
        services: Services,
        checkpoint: Checkpoint,
        *,
        tell: Callable[[Stage], None],
        ask_user: AskUser,
        editor: EditorModel | None,
    ) -> None:
        self.services = services
        self.store = services.store
        self.request = checkpoint.request
        self.settings = services.settings(self.request.flags)
        self.journal: Journal | None = None
        self.file_digests: dict[str, str] | None = None
        self.resumable = False
        self._begun = checkpoint
        self._ask_user = ask_user
        self._editor = editor
        self._continuation: Continuation | None = None
        self._began = time.monotonic()
        assessment = checkpoint.assessment
        self.record = RunRecord(
            id=checkpoint.id,
            query=redact(self.request.query).text,
            workspace=checkpoint.workspace,
            started_at=checkpoint.started_at,
            ended_at=checkpoint.started_at,
            state="failed",
            mode=self.request.mode,
            session=self.request.session,
            resumed=checkpoint.resumed,
            assessment=assessment,
            context=checkpoint.context,
            complexity=assessment.complexity if assessment is not None else None,
        )
        settings = self.settings.conversations
        self.trace = RunTrace(
            self.record,
            ConversationLog(Path(in_home(settings.path, services.home)), settings),
            RunDeliverable(
                services.tracking,
                checkpoint.id,
                self.request.session,
                change=checkpoint.deliverable,
                resumed=checkpoint.resumed,
            ),
            client=tell,
            now=services.now,
            log_file=checkpoint.log,
        )
        self.budget = RunBudget(
            services, self.request, self.settings.complexity, ask_user=ask_user, notice=self.trace.notice
        )
        if checkpoint.resumed:
            self.trace.notice(f"goes on with run {checkpoint.id}, begun {checkpoint.resumed + 1} times")

    def set(self, **changes: Any) -> None:
        """Change the state; fields of RunRecord."""
        self.record = replace(self.record, **changes)

    def checkpoint(self) -> Checkpoint:
        """Checkpoint to resume this run from here."""
        run = self.record
        return replace(
            self._begun,
            request=replace(self.request, query=run.query, resume=None),
            state="cancelled" if run.state == "cancelled" else "running",
            log=self.trace.log.file,
            assessment=run.assessment,
            context=run.context,
        )

    async def phases(self, cancel_earlier: Callable[[], bool]) -> None:
        """From the guardrails to the answer. Raises what stops it; `record` then has what was found until then."""
        if self.settings.llm.reasoning_llm is not None:
            self.journal = await asyncio.to_thread(self.store.journal, self.record.id)
        spending = RunSpending(self.settings.llm.caps, self.journal)
        assessor = self._models(None, spending)
        asks, cached = await self._guard(cancel_earlier, assessor.reasoning, assessor.rates)
        if not asks:
            return
        await self._save()
        assessment = await self._assess(assessor.reasoning)
        context = await self._retrieve(assessment)
        if cached is not None and await self._from_memory(cached):
            return
        models = self._models(assessment.complexity, spending)
        if self.request.dry_run:
            await self._dry_run(assessment, context, models)
            return
        if models.reasoning is None or models.solving is None:
            await self._without_models(context, models.why)
            return
        self.set(estimated_usd=await self.budget.expect(self.record.query, assessment, context, models))
        await self.budget.check(self.record.estimated_usd)
        await self._save()
        self.file_digests = await asyncio.to_thread(self.store.answers.digests, context)
        await self.trace.begin_deliverable(self.record.query, assessment.complexity, models.reasoning.model)
        if assessment.verification == "none":
            await self._direct(context, models.reasoning)
            return
        agents = await self._agents()
        planned = await self._plan(assessment, assessment.verification, context, agents, models.reasoning)
        if planned.verification.verdict != "pass":
            self._without_plan(planned, context)
            return
        routing = await self._route(planned, agents)
        await self._collect(planned, routing, context, models.solving, models.reasoning)
        await self._synthesize(planned, context, models.reasoning)

    def _models(self, complexity: Complexity | None, spending: RunSpending) -> Models:
        """The models for a complexity; None for assessing it."""
        services = self.services
        models = open_models(
            self.settings.llm,
            services.environ,
            complexity,
            run=self.record.id,
            budget=services.budget,
            journal=self.journal,
            heard=self.trace.heard,
            editor=self._editor,
            spending=spending,
            force=self.request.force,
            now=services.now,
        )
        self.trace.notice(*models.notices)
        return models

    async def _save(self) -> None:
        """Save a checkpoint."""
        self.resumable = True
        await self.trace.written()  # the log has its name from its first phase on
        await asyncio.to_thread(self.store.save, self.checkpoint())

    async def _guard(
        self, cancel_earlier: Callable[[], bool], assessor: Llm | None, rates: Mapping[Role, Rate]
    ) -> tuple[bool, CachedAnswer | None]:
        """Phase 0; whether there is a question left to work on, and its answer from the cache.

        What asks nothing, what the cache answers and what no model works on costs nothing, and needs no budget.
        """
        services, settings, request = self.services, self.settings, self.request
        async with self.trace.phase("guard", length=len(request.query), mode=request.mode) as found:
            self.trace.tell("guard", "in_progress")
            guarded, notices = await asyncio.to_thread(
                guard_noted, request.query, settings.guardrails, services.home, self.record.id, services.now
            )
            self.set(query=guarded.query)
            self.trace.notice(*notices)
            found["query"] = guarded.query
            found["redactions"] = [{"kind": each.kind, "count": each.count} for each in guarded.redactions]
            cached, said = None, ""
            # An unattended run is there to do something: what another one did is no work.
            again = request.mode != "headless" and not request.dry_run
            if again and request.verification is None and not request.flags:
                cached, said = await asyncio.to_thread(self.store.answers.find, guarded.query, services.now())
            self.trace.notice(*([said] if said else []))
            asks = not await self._follow_up(cancel_earlier)
            if asks and cached is None and assessor is not None and not request.dry_run:
                found["estimated_cost_usd"] = await self.budget.precheck(self.record.query, rates)
            self.trace.tell("guard", "complete")
        return asks, cached

    async def _follow_up(self, cancel_earlier: Callable[[], bool]) -> bool:
        """Follow-up of the session's last answer (App. E); True where that is all there was to it."""
        found = self._continuation = await follow_up(
            self.record.query,
            self.request,
            self.services,
            self.settings.signals,
            self.settings.aurora.exclude_patterns,
            self.trace,
            ask_user=self._ask_user,
            cancel_earlier=cancel_earlier,
        )
        if found is None:
            return False
        if not found.query:
            self.set(state="complete", answer=found.say)
            return True
        self.set(query=found.query)
        return False

    async def _assess(self, llm: Llm | None) -> Assessment:
        """Phase 1, unless the session or the checkpoint tells."""
        settings, found_before = self.settings.complexity, self.record.assessment
        if found_before is None and self._continuation is not None:
            found_before = self._continuation.assessment
        async with self.trace.phase("assess", query=self.record.query, mode=self.request.mode) as found:
            asked = None if self.request.dry_run else llm
            judged = found_before or await assess(self.record.query, settings, asked, tell=self.trace.tell)
            assessment = await self._verification_of(judged)
            self.set(assessment=assessment, complexity=assessment.complexity)
            found.update(logged.assessed(assessment))
            if found_before is not None or assessment is not judged:  # else `assess` has told it
                self.trace.tell(
                    "assess",
                    "complete",
                    f"{assessment.complexity} ({assessment.confidence:.2f}, by {assessment.method})",
                    complexity=assessment.complexity,
                    confidence=assessment.confidence,
                    method=assessment.method,
                    verification=assessment.verification,
                )
        return assessment

    async def _verification_of(self, assessment: Assessment) -> Assessment:
        """The verification that was asked for, that the session needs, or that failures of its kind call for."""
        if self.request.verification is not None:
            return as_asked(assessment, self.request.verification)
        session = self._continuation
        wanted = [session.option] if session is not None and session.option is not None else []
        if self.request.mode == "headless":
            # What it is to do takes agents, whatever its words are like. An iteration that failed is no kind of
            # question: it would make all that follow, which name the same goal, as expensive as can be.
            level = at_least(assessment, [*wanted, "option_a"])
            return level if level.verification != "none" else replace(level, verification="option_a")
        if assessment.verification != "none" and await self.services.memory.difficult(self.record.query):
            self.trace.notice("questions like this one failed before: it is verified at the highest level")
            wanted.append("option_c")
        if not wanted and self.request.auto and assessment.complexity in ("simple", "medium"):
            return replace(assessment, verification="none")
        return at_least(assessment, wanted)

    async def _retrieve(self, assessment: Assessment) -> ContextBundle:
        """Phase 2, unless the checkpoint tells."""
        query, context = self.record.query, self.record.context
        async with self.trace.phase("retrieve", query=query, complexity=assessment.complexity) as found:
            if context is not None:
                self.trace.tell("retrieve", "complete", "as found before", tokens=context.tokens)
            else:
                memory, settings = self.services.memory, self.settings.retrieval
                context = await retrieve(query, memory, assessment, settings, tell=self.trace.tell)
                workspace = WorkspaceText(self.services.workspace)
                context = await told_of_drift(context, memory, workspace, self.trace.notice)
                if self._continuation is not None:
                    context = with_givens(context, self._continuation.given)
            self.set(context=context)
            found.update(logged.retrieved(context))
            found["context_budget"] = context.budget
        return context

    async def cited_spans(self) -> tuple[CitedSpan, ...]:
        """The lines that the answer rests on, as they were when it was worked out; none where that is not known."""
        answer, context, files = self.record.answer, self.record.context, self.file_digests
        if context is None or files is None or not answer:
            return ()
        return await cited_of(answer, context, files, self.store.answers, WorkspaceText(self.services.workspace))

    async def _from_memory(self, cached: CachedAnswer) -> bool:
        """Give a cached answer, if the session does not ask for another and memory still has its pattern."""
        session = self._continuation
        if session is not None and (session.fresh or session.given):
            return False
        found = await self.services.memory.recall(cached.reasoning_id, budget=4000, limit=1, types=("reas",))
        if not any(chunk.id == cached.reasoning_id for chunk in found):
            return False
        self.set(
            state="complete",
            answer=cached.answer,
            score=cached.score,
            confidence=cached.confidence,
            complexity=cached.complexity,
            from_memory=cached.reasoning_id,
            because=f"from memory: run {cached.run} answered this question, and no file it was made from has changed",
        )
        self.trace.notice(
            f"from memory, at no cost ({cached.reasoning_id}; it cost ${cached.cost_usd:.4f} in {cached.run})"
        )
        return True

    async def _dry_run(self, assessment: Assessment, context: ContextBundle, models: Models) -> None:
        """The answer of a dry run: the way, the models, the estimate."""
        both = models.reasoning is not None and models.solving is not None
        usd = await self.budget.expect(self.record.query, assessment, context, models) if both else 0.0
        past = len(await asyncio.to_thread(self.services.budget.past, self.budget.way))
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
        self.set(state="dry_run", answer=answer, estimated_usd=usd)

    async def _without_models(self, context: ContextBundle, why: str) -> None:
        """The answer without a provider: what memory knows, and who would be asked."""
        known = await self.services.registry().current(None)
        others = [agent.id for agent in known.agents if agent.id != "llm-executor" and agent.trusted]
        if others:
            self.trace.notice(f"agents that could work on it: {', '.join(others[:10])}")
        self.set(state="no_provider", answer=from_context(context), error=why)

    def _without_plan(self, planned: Plan, context: ContextBundle) -> None:
        """The end where no plan passed: nothing is executed."""
        verification = planned.verification
        issues = "; ".join(verification.critical_issues[:5]) or "its checks scored too low"
        error = f"no sound plan was found (score {verification.overall_score:.2f}): {issues}"
        self.set(state="failed", answer=from_context(context), error=error)

    async def _direct(self, context: ContextBundle, llm: Llm) -> None:
        """A simple question: one call with what memory gave, no verification (§3.2)."""
        async with self.trace.phase("synthesize", route="direct") as found:
            synthesis = await answer_directly(self.record.query, context, llm, tell=self.trace.tell)
            looked_up = await asyncio.to_thread(
                references_of, self.record.query, synthesis.answer, (), context, WorkspaceText(self.services.workspace)
            )
            self.set(
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

    async def _agents(self) -> tuple[Agent, ...]:
        known = await self.services.registry().current(self._ask_user)
        self.trace.notice(*known.notices)
        return known.agents

    async def _plan(
        self,
        assessment: Assessment,
        option: VerificationOption,
        context: ContextBundle,
        agents: tuple[Agent, ...],
        llm: Llm,
    ) -> Plan:
        """Phases 3 and 4: they take turns, so their times are told apart by what they tell."""
        trace, scoring = self.trace, self.settings.scoring
        if self.request.verification is None:  # who asked for an option gets that one
            overruled = assessment.method != "keyword"  # then the keywords' score says nothing any more
            option = option_for(option, assessment.complexity, 0.0 if overruled else assessment.score)
        trace.notice(*odd_weights(scoring))
        trace.notice(*await asyncio.to_thread(examples_told, scoring.calibration_examples, assessment.complexity))
        async with trace.phase("decompose", "verify", query=self.record.query, agents=len(agents)) as found:
            planned = await plan(
                self.record.query,
                context,
                agents,
                llm,
                scoring,
                complexity=assessment.complexity,
                option=option,
                tell=trace.tell,
            )
            self.set(plan=planned, complexity=planned.complexity)
            found.update(logged.decomposed(planned))
        at, took = trace.spent("verify")
        await trace.record(
            "verify", at or self.services.now(), took, {"verification_option": option}, logged.planned(planned)
        )
        trace.notice(*planned.escalations)
        return planned

    async def _route(self, planned: Plan, agents: tuple[Agent, ...]) -> RoutingPlan:
        """Phase 5."""
        trace, steps = self.trace, len(planned.decomposition.subgoals)
        async with trace.phase("route", subgoals=steps) as found:
            trace.tell("route", "in_progress")
            routing = route(planned.decomposition, agents, self.settings.agents)
            self.set(routing=routing)
            trace.notice(*routing.notices)
            found.update(logged.routed(routing))
            given = [
                {"subgoal_id": each.subgoal.id, "agent_id": each.agent.id, "why": each.why, "wave": each.wave}
                for each in routing.assignments
            ]
            trace.tell("route", "complete", f"{steps} subgoals", subgoals=steps, routing=given)
        trace.deliverable.steps(steps, self.services.now())
        return routing

    async def _collect(
        self, planned: Plan, routing: RoutingPlan, context: ContextBundle, solving: Llm, judge: Llm
    ) -> None:
        """Phase 6. Raises `CapReached` where no step could be done, and one for want of money."""
        services, trace = self.services, self.trace
        capped: list[CapReached] = []
        guarded = self.request.mode == "headless"
        answers = self.store.agent_answers(self.record.id)
        async with (
            executors_of(services, self.settings, self.record.id, answers, guarded=guarded) as executors,
            trace.phase("collect", agents=[each.agent.id for each in routing.assignments]) as found,
        ):
            trace.tell("collect", "in_progress", total=len(routing.assignments))
            results = await collect(
                planned,
                routing,
                context,
                solving,
                executors,
                self.settings,
                ask_user=self._ask_user,
                tell=trace.tell,
                judge=judge,
                capped=capped.append,
                now=services.now,
                seconds=self.settings.llm.caps.run_seconds - (time.monotonic() - self._began),
            )
            self.set(results=results)
            trace.results = results
            trace.notice(*takeovers(results))
            found.update(logged.collected(results))
        trace.deliverable.collected(results)
        if capped and not any(usable(each) for each in results):
            raise capped[0]

    async def _synthesize(self, planned: Plan, context: ContextBundle, llm: Llm) -> None:
        """Phase 7 and the verification of the answer. Where no answer can be had, what the steps found is given."""
        trace, results, scoring = self.trace, self.record.results, self.settings.scoring
        try:
            async with trace.phase("synthesize", "verify", agent_summaries=logged.summaries(results)) as found:
                synthesis = await synthesize(
                    self.record.query,
                    results,
                    context,
                    llm,
                    scoring,
                    complexity=planned.complexity,
                    tell=trace.tell,
                    workspace=WorkspaceText(self.services.workspace),
                )
                found.update(logged.synthesized(synthesis, results))
        except LlmError as error:
            answer = from_results(results)
            self.set(state="partial" if answer else "failed", answer=answer, error=str(error))
            raise
        at, took = trace.spent("verify")
        if synthesis.verification is not None:
            judged = logged.verified(synthesis.verification)
            await trace.record("verify_synthesis", at or self.services.now(), took, {}, judged)
        response = respond(synthesis, results, scoring)
        self.set(
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
