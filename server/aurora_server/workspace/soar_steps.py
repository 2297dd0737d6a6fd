"""Single steps of the nine phases, for agents that work on their own (AURORA §9.6)."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any

import msgspec
from msgspec import to_builtins

from aurora_memory import documents
from aurora_memory.learning import FinishedRun, Retrieved
from aurora_orchestration import OrchestrationError
from aurora_orchestration.guardrails.guard import guard
from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.llm.completion import Models
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.llm.providers.editor import EditorModel
from aurora_orchestration.soar.decomposition_checks import check
from aurora_orchestration.soar.keywords import classify
from aurora_orchestration.soar.plan import plan
from aurora_orchestration.soar.retrieve import retrieve
from aurora_orchestration.soar.services import Services
from aurora_orchestration.soar.stages import Tell, silence
from aurora_orchestration.soar.verify import verify
from aurora_orchestration.soar.verify_synthesis import verify_synthesis
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import (
    AgentMetadata,
    AgentResponse,
    Assessment,
    Complexity,
    ContextBundle,
    ContextChunk,
    Decomposition,
    ModelCall,
    Output,
    Subgoal,
    SubgoalResult,
    VerificationOption,
)
from aurora_protocol import typed
from aurora_protocol.query_methods import (
    AssessResult,
    DecomposeParams,
    LearnParams,
    LearnResult,
    StepResult,
    VerifyParams,
)

GIVEN = "given"
"""The name of what a caller knows besides memory."""
TOLD = "told"
"""The agent that did what was done elsewhere."""


class BadStep(OrchestrationError):
    """A step cannot be taken with what was given."""


class Steps:
    """Single steps with the services of a workspace."""

    def __init__(self, services: Services, editor: EditorModel | None) -> None:
        self._services = services
        self._settings = services.settings({})
        self._editor = editor
        self._calls: list[ModelCall] = []

    def assess(self, query: str) -> AssessResult:
        """How hard a question is, told from its words; asks nobody."""
        query = guard(query, self._settings.guardrails).query
        found = classify(query, self._settings.complexity.keyword_classifier)
        route = getattr(self._settings.complexity.routing, found.complexity)
        return AssessResult(
            complexity=found.complexity,
            confidence=found.confidence,
            score=found.score,
            route="direct" if route.verification == "none" else "decompose",
            verification=route.verification,
            sure=found.decided,
            indicators=found.indicators,
        )

    async def decompose(self, params: DecomposeParams, tell: Tell) -> StepResult:
        """A verified decomposition. Raises BadStep without a model."""
        guarded = guard(params.query, self._settings.guardrails)
        level, option = self._level(guarded.query)
        models = await self._models(level)
        if models.reasoning is None:
            raise BadStep(models.why)
        context = await self._context(guarded.query, level, params.context)
        known = await self._services.registry().current(None)
        planned = await plan(
            guarded.query,
            context,
            known.agents,
            models.reasoning,
            self._settings.scoring,
            complexity=level,
            option=option,
            tell=tell,
        )
        return self._result(
            [*guarded.notices, *models.notices, *known.notices, *planned.escalations],
            decomposition=to_builtins(planned.decomposition),
            verification=to_builtins(planned.verification),
        )

    async def verify(self, params: VerifyParams) -> StepResult:
        """A verdict on a decomposition or an output; by rules alone where no model is configured."""
        if (params.decomposition is None) == (params.output is None):
            raise BadStep("give either `decomposition` or `output`")
        guarded = guard(params.query, self._settings.guardrails)
        level, option = self._level(guarded.query)
        models = await self._models(level)
        notices = [*guarded.notices, *models.notices, *([models.why] if models.reasoning is None else [])]
        context = await self._context(guarded.query, level, "")
        if params.output is not None:
            output = clean(params.output)
            found = await verify_synthesis(
                guarded.query,
                (_given_output(output),),
                output,
                (),
                models.reasoning,
                self._settings.scoring,
                complexity=level,
                context=context,
                workspace=WorkspaceText(self._services.workspace),
            )
            return self._result(notices, verification=to_builtins(found))
        try:
            decomposition = typed.convert(params.decomposition, Decomposition)
        except msgspec.ValidationError as error:
            raise BadStep(f"`decomposition` is none: {error}") from error
        known = await self._services.registry().current(None)
        if models.reasoning is None:
            found = check(decomposition, guarded.query, context, known.agents, self._settings.scoring)
        else:
            found = await verify(
                decomposition,
                guarded.query,
                context,
                known.agents,
                models.reasoning,
                self._settings.scoring,
                option=option,
                complexity=level,
            )
        return self._result(notices, verification=to_builtins(found))

    async def learn(self, params: LearnParams) -> LearnResult:
        """Learning from what was done elsewhere, as from a run of one step."""
        guarded = guard(params.query, self._settings.guardrails)
        level, _ = self._level(guarded.query)
        retrieved: list[Retrieved] = []
        unknown: list[str] = []
        for each in params.used:
            found = await self._services.memory.recall(each, budget=500, limit=1)
            if found and _names(found[0], each):
                retrieved.append(Retrieved(found[0].row, helpful=True))
            else:
                unknown.append(each)
        sequence = tuple(clean(each) for each in params.tools)
        tools = tuple(dict.fromkeys(sequence))[:100]
        learned = await self._services.memory.learn(
            FinishedRun(
                id=f"told-{secrets.token_hex(8)}",
                query=guarded.query,
                score=params.score,
                at=self._services.now(),
                complexity=level,
                subgoals=(documents.PatternSubgoal(id="SG1", description=clean(params.result)[:4000], agent=TOLD),),
                tools_used=(documents.ToolUse(subgoal="SG1", agent=TOLD, tools=tools),) if tools else (),
                tool_sequence=sequence,
                retrieved=tuple(retrieved),
            )
        )
        return LearnResult(
            outcome=learned.outcome,
            cached=learned.reasoning_id is not None,
            reasoning_id=learned.reasoning_id,
            is_pattern=learned.is_pattern,
            unknown=tuple(unknown),
        )

    def _level(self, query: str) -> tuple[Complexity, VerificationOption]:
        """How hard the words say it is, as a question that is decomposed at all."""
        found = classify(query, self._settings.complexity.keyword_classifier).complexity
        level: Complexity = "medium" if found == "simple" else found
        option = getattr(self._settings.complexity.routing, level).verification
        return level, "option_a" if option == "none" else option

    async def _models(self, level: Complexity) -> Models:
        services = self._services
        return await asyncio.to_thread(
            open_models,
            self._settings.llm,
            services.environ,
            level,
            run=f"step-{secrets.token_hex(6)}",
            budget=services.budget,
            journal=None,
            heard=self._calls.append,
            editor=self._editor,
            now=services.now,
        )

    async def _context(self, query: str, level: Complexity, given: str) -> ContextBundle:
        assessment = Assessment(complexity=level, confidence=1.0, score=0.0, method="asked")
        found = await retrieve(query, self._services.memory, assessment, self._settings.retrieval, tell=silence)
        if not given.strip():
            return found
        told = ContextChunk(
            row=0, id="know:given", type="know", name=GIVEN, file="", line_start=1, line_end=1, score=1.0, tokens=0,
            content=clean(given),
        )  # fmt: skip
        return msgspec.structs.replace(found, chunks=(told, *found.chunks))

    def _result(self, notices: list[str], **found: dict[str, Any]) -> StepResult:
        return StepResult(
            notices=tuple(dict.fromkeys(notices)), cost_usd=sum(call.cost_usd or 0.0 for call in self._calls), **found
        )


def clean(text: str) -> str:
    """Redaction of a text: what may be sent and kept of it."""
    return redact(text, pii=False).text


def _given_output(output: str) -> SubgoalResult:
    """An answer from elsewhere is its own only source."""
    return SubgoalResult(
        subgoal=Subgoal(id="SG1", description="the answer as it was given", agent=TOLD),
        response=AgentResponse(
            subgoal_id="SG1",
            agent_id=TOLD,
            status="success",
            output=Output(summary=output[:200_000], confidence=0.8),
            metadata=AgentMetadata(),
        ),
    )


def _names(chunk: ContextChunk, asked: str) -> bool:
    """Whether a recalled chunk is the one that was named, with or without its lines."""
    return chunk.id == asked or chunk.id.rpartition(":")[0] == asked
