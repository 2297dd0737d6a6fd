"""Span tree of a deliverable, from what it amounts to and what happened to it (AURA-M §6.2).

```
aura.deliverable
├── aura.deliverable.plan         propose … tasks, while they follow on each other
├── aura.deliverable.execute      one for each apply
│   ├── aura.task                 from one report of finished tasks to the next
│   │   ├── gen_ai.chat
│   │   └── aura.tool.call
│   └── aura.recovery.attempt
├── aura.deliverable.validate     one for each verify; below it the conformance dimensions
└── aura.deliverable.accept       of completed ones only
```

Calls outside of an apply hang on the stage that was under way, or on the root. Where only a moment is known, a span
has no length. Nothing is invented: work that no task report closes is one `aura.task` with a count of 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aurora_deliverables.choices import Phase
from aurora_deliverables.deliverable import Conformance, Deliverable
from aurora_deliverables.events import (
    Conformed,
    Event,
    HumanIntervened,
    RecoveryBegan,
    TasksCounted,
    TestsRan,
    TokensUsed,
    ToolCalled,
)
from aurora_deliverables.telemetry import names
from aurora_deliverables.telemetry.repository import Repository
from aurora_deliverables.telemetry.spans import Growing, Mark, Span, known

# What a model call is called by OpenTelemetry's conventions for generative AI.

CHAT = "gen_ai.chat"
"""The span's name as AURA-M §6.2 has it; OpenTelemetry itself suggests `chat <model>`."""

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CONVERSATION = "gen_ai.conversation.id"
TOOL_NAME = "gen_ai.tool.name"

_PROVIDERS = {
    "claude": "anthropic",
    "google": "gcp.gemini",
    "gemini": "gcp.gemini",
    "vertex": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""What people call a provider, and its well-known value there; others are passed on as they are."""


def chat_attributes(tokens: TokensUsed, session: str | None, model: str | None) -> Mapping[str, str | int]:
    """The `gen_ai.*` attributes of a call, or of some calls told together. `model` is used where none is told."""
    known: dict[str, str | int | None] = {
        OPERATION: "chat",
        PROVIDER: _provider(tokens.provider),
        REQUEST_MODEL: tokens.model or model,
        INPUT_TOKENS: tokens.input_tokens,
        OUTPUT_TOKENS: tokens.output_tokens,
        CACHED_TOKENS: tokens.cached_tokens or None,
        CONVERSATION: session,
    }
    return {name: value for name, value in known.items() if value is not None}


def tool_attributes(tool: str) -> Mapping[str, str | int]:
    """The `gen_ai.*` attributes of a tool call."""
    return {OPERATION: "execute_tool", TOOL_NAME: tool}


def vcs_attributes(repository: Repository) -> Mapping[str, str]:
    """The `vcs.*` attributes of a repository, by OpenTelemetry's conventions at 1.44.0."""
    told = {
        "vcs.repository.name": repository.name,
        "vcs.repository.url.full": repository.url,
        "vcs.owner.name": repository.owner,
        "vcs.provider.name": repository.provider,
        "vcs.ref.head.name": repository.branch,
        "vcs.ref.head.type": "branch" if repository.branch is not None else None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _provider(name: str | None) -> str | None:
    return None if name is None else _PROVIDERS.get(name.lower(), name.lower())


MAX_CALLS = 4000
"""Spans of calls in one tree; the root says how many more there were."""

_STAGES: dict[Phase, str] = {
    "propose": names.PLAN,
    "specs": names.PLAN,
    "design": names.PLAN,
    "tasks": names.PLAN,
    "apply": names.EXECUTE,
    "verify": names.VALIDATE,
    "archive": names.ACCEPT,
}
_DIMENSIONS = (names.FUNCTIONAL, names.CORRECTNESS, names.CONSTRAINTS)


def tree_of(deliverable: Deliverable, events: Sequence[Event], repository: Repository | None = None) -> Span:
    """The span tree of a deliverable that ended, from its `events` in the order in which they count."""
    return _SpanTree(deliverable, events, repository or Repository()).grown()


class _SpanTree:
    def __init__(self, deliverable: Deliverable, events: Sequence[Event], repository: Repository) -> None:
        self._of = deliverable
        self._start = deliverable.started_at
        self._end = max(self._start, deliverable.completed_at or deliverable.updated_at)
        self._events = [(self._within(event.at), event) for event in events]
        about = {**attributes_of(deliverable), **vcs_attributes(repository)}
        self._root = Growing(names.DELIVERABLE, self._start, self._end, about)
        if deliverable.status == "failed" or deliverable.deliverable_failed:
            self._root.failed = deliverable.failure_type or "failed"

    def grown(self) -> Span:
        """Root span with all stages, tasks, recoveries, validations and calls below it."""
        stages = self._stages()
        executes = [stage for stage in stages if stage.name == names.EXECUTE]
        for execute in executes:
            execute.children.extend(self._tasks(execute))
        self._recoveries(executes)
        self._validations(stages)
        self._calls(stages)
        for execute in executes:  # what is left of an apply after its last report is a task only if work was done in it
            execute.children = [
                child for child in execute.children if child.children or child.attributes.get(names.TASK_COUNT) != 0
            ]
        if self._of.status == "completed" and not any(stage.name == names.ACCEPT for stage in stages):
            stages.append(Growing(names.ACCEPT, self._end, self._end, {names.PHASE_NAME: "archive"}))
        self._interventions()
        self._root.children.extend(stages)
        return self._root.grown()

    def _stages(self) -> list[Growing]:
        """Stage spans (plan, execute, validate, accept) of the phases."""
        stages: list[Growing] = []
        for span in self._of.spans:
            name = _STAGES[span.phase]
            start = self._within(span.started_at)
            end = max(start, self._within(span.completed_at if span.completed_at is not None else self._end))
            if name == names.ACCEPT and self._of.status != "completed":
                continue
            if name == names.PLAN and stages and stages[-1].name == name:
                stage = stages[-1]
                stage.ended_at = max(stage.ended_at, end)
            else:
                stage = Growing(name, start, end)
                stages.append(stage)
            stage.attributes.update({names.PHASE_NAME: span.phase, names.PHASE_ITERATION: span.iteration})
            if name == names.PLAN:
                said = {names.PHASE_NAME: span.phase, names.PHASE_ITERATION: span.iteration}
                stage.marks.append(Mark(names.PHASE_STARTED, start, said))
        return stages

    def _tasks(self, execute: Growing) -> list[Growing]:
        """Task spans below an apply, one for each report of finished tasks."""
        tasks: list[Growing] = []
        done, since = 0, execute.started_at
        for at, event in self._events:
            if not isinstance(event.what, TasksCounted) or event.what.completed is None:
                continue
            finished = event.what.completed - done
            done = event.what.completed
            if finished > 0 and execute.started_at <= at <= execute.ended_at:
                tasks.append(Growing(names.TASK, since, at, {names.TASK_INDEX: done, names.TASK_COUNT: finished}))
                since = at
        tasks.append(Growing(names.TASK, since, execute.ended_at, {names.TASK_COUNT: 0}))
        return tasks

    def _recoveries(self, executes: Sequence[Growing]) -> None:
        """Recovery spans (rework) within the applies."""
        began: dict[int, list[tuple[float, RecoveryBegan]]] = {}
        for at, event in self._events:
            if isinstance(event.what, RecoveryBegan):
                # under way or next; -1 where no apply came after it
                place = next((n for n, execute in enumerate(executes) if at <= execute.ended_at), -1)
                began.setdefault(place, []).append((at, event.what))
        attempt = 0
        applies = [span for span in self._of.spans if span.phase == "apply"]
        for n, execute in enumerate(executes):
            told: list[tuple[float, RecoveryBegan | None]] = list(began.get(n, ()))
            if not told and applies[n].recovery:
                told = [(execute.started_at, None)]
            for at, recovery in told:
                attempt += 1
                start = max(at, execute.started_at)
                # One that is only counted takes no time, unless phases show that this is it.
                whole = recovery is not None and recovery.untimed and applies[n].recovery
                end = execute.ended_at if whole else _end_of(recovery, start, execute.ended_at)
                execute.children.append(self._recovery(start, end, attempt, recovery))
        for at, recovery in began.get(-1, ()):
            attempt += 1
            end = _end_of(recovery, at, self._end)
            self._root.children.append(self._recovery(at, end, attempt, recovery))

    def _recovery(self, start: float, end: float, attempt: int, told: RecoveryBegan | None) -> Growing:
        attributes = {
            names.RECOVERY_ATTEMPT: attempt,
            names.RECOVERY_TOTAL: self._of.recovery_attempts,
            names.FAILURE_TYPE: told.failure_type if told else None,
        }
        return Growing(names.RECOVERY, start, end, known(attributes))

    def _validations(self, stages: list[Growing]) -> None:
        """Validation spans, with the scores of conformance."""
        validations = [stage for stage in stages if stage.name == names.VALIDATE]
        told = [(at, event.what) for at, event in self._events if isinstance(event.what, Conformed)]
        scores = _scores(self._of.conformance)
        if not validations:
            if not scores:
                return
            at = told[-1][0] if told else self._end
            validations = [Growing(names.VALIDATE, at, at)]
            stages.extend(validations)
        last = validations[-1]
        for name, score in scores.items():
            last.children.append(Growing(name, last.started_at, last.ended_at, {name: score}))
        for validation in validations[:-1]:
            said: dict[str, float] = {}
            for at, what in told:
                if validation.started_at <= at <= validation.ended_at:
                    said.update(_scores(Conformance(what.functional, what.correctness, what.constraints)))
            for name, score in said.items():
                validation.children.append(Growing(name, validation.started_at, validation.ended_at, {name: score}))
        for at, event in self._events:
            if isinstance(event.what, TestsRan):
                ran = known({names.TESTS_PASSED: event.what.passed, names.TESTS_FAILED: event.what.failed})
                (_under_way(validations, at) or self._root).marks.append(Mark(names.TESTS_RAN, at, ran))

    def _calls(self, stages: Sequence[Growing]) -> None:
        """Spans of model and tool calls, bounded in number, below what was under way."""
        model = self._of.agent.model if self._of.agent else None
        count = 0
        for at, event in self._events:
            if not isinstance(event.what, TokensUsed | ToolCalled):
                continue
            count += 1
            if count > MAX_CALLS:
                continue
            parent = _under_way(stages, at) or self._root
            if parent.name == names.EXECUTE:
                tasks = [child for child in parent.children if child.name == names.TASK]
                parent = next((task for task in tasks if at <= task.ended_at), tasks[-1])
            start = max(self._start, at - max(0.0, event.what.duration_seconds or 0.0))
            if isinstance(event.what, TokensUsed):
                attributes = known(
                    {**chat_attributes(event.what, event.session, model), names.COST: event.what.cost_usd}
                )
                call = Growing(CHAT, start, at, attributes, client=True)
            else:
                tool = event.what
                attributes = known(
                    {**tool_attributes(tool.tool), names.TOOL_NAME: tool.tool, names.TOOL_COUNT: tool.count}
                )
                call = Growing(names.TOOL_CALL, start, at, attributes)
                call.failed = "tool_failure" if tool.succeeded is False else None
            parent.children.append(call)
        if count > MAX_CALLS:
            self._root.attributes[names.LEFT_OUT] = count - MAX_CALLS

    def _interventions(self) -> None:
        """Span events of human interventions."""
        for at, event in self._events:
            if isinstance(event.what, HumanIntervened):
                waited = known({names.WAITED: event.what.waited_seconds})
                self._root.marks.append(Mark(names.HUMAN_INTERVENED, at, waited))

    def _within(self, at: float) -> float:
        return min(max(at, self._start), self._end)


def attributes_of(deliverable: Deliverable) -> dict[str, str | int | float]:
    """What the root span says of the deliverable as a whole (AURA-M §6.3)."""
    spec, agent, scores = deliverable.spec_source, deliverable.agent, deliverable.conformance
    return known(
        {
            names.DELIVERABLE_ID: deliverable.change_id,
            names.DELIVERABLE_TYPE: deliverable.type,
            names.DELIVERABLE_STATUS: deliverable.status,
            names.DELIVERABLE_COMPLEXITY: deliverable.complexity,
            names.SPEC_FRAMEWORK: spec.framework if spec else None,
            names.SPEC_ID: spec.spec_id if spec else None,
            names.SPEC_REQUIREMENTS: spec.requirements_count if spec else None,
            names.AGENT_NAME: agent.name if agent else None,
            names.AGENT_MODEL: agent.model if agent else None,
            names.AGENT_FRAMEWORK: agent.framework if agent else None,
            names.FAILURE_TYPE: deliverable.failure_type,
            names.RECOVERY_TOTAL: deliverable.recovery_attempts,
            **_scores(scores),
            names.ITERATION_PENALTY: scores.iteration_penalty if scores else None,
            names.OVERALL: scores.overall if scores else None,
        }
    )


def _scores(scores: Conformance | None) -> dict[str, float]:
    if scores is None:
        return {}
    found = zip(_DIMENSIONS, (scores.functional, scores.correctness, scores.constraints), strict=True)
    return {name: score for name, score in found if score is not None}


def _under_way(stages: Sequence[Growing], at: float) -> Growing | None:
    """The stage that was under way at a moment; where one ends as the next begins, the next."""
    return next((stage for stage in reversed(stages) if stage.started_at <= at <= stage.ended_at), None)


def _end_of(told: RecoveryBegan | None, start: float, otherwise: float) -> float:
    """Where a recovery ends: with the work that it is within, unless it told how long it took."""
    if told is None:
        return otherwise
    took = 0.0 if told.untimed else told.duration_seconds
    return otherwise if took is None else min(start + took, otherwise)
