"""Agent task (the request, prompt or payload of an agent): its subgoal, what is known for it, and what the last try
lacked. Bounded, without secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from msgspec import Struct

from aurora_memory.semantic_tags import stems_of
from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.types import (
    Complexity,
    ContextBundle,
    ContextChunk,
    Interaction,
    Plan,
    RetryFeedback,
    Subgoal,
    SubgoalResult,
)

PROTOCOL = "aurora-agent/1"
CONTEXT_TOKENS = 6_000
MAX_UPSTREAM = 8_000
"""Characters of one earlier subgoal's summary that are passed on."""

_PATH = re.compile(r"[\w./-]+")


class Upstream(Struct, frozen=True, kw_only=True):
    """Upstream result, what came of a subgoal that this one depends on. `degraded`: it did not pass, but can be gone on
    with.
    """

    subgoal_id: str
    description: str
    summary: str
    confidence: float
    degraded: bool = False


class Task(Struct, frozen=True, kw_only=True):
    """Task of an agent: one try at a subgoal. `attempt` counts from 1; `feedback` is on the attempt before."""

    subgoal: Subgoal
    query: str
    goal: str
    complexity: Complexity = "medium"
    givens: tuple[str, ...] = ()
    context: tuple[ContextChunk, ...] = ()
    upstream: tuple[Upstream, ...] = ()
    attempt: int = 1
    feedback: RetryFeedback | None = None


def task_for(subgoal: Subgoal, plan: Plan, context: ContextBundle, done: Iterable[SubgoalResult]) -> Task:
    """The first try at `subgoal`; `done` are the results of those it depends on."""
    decomposition = plan.decomposition
    required = [given for given in decomposition.given if given.id in subgoal.requires]
    upstream = [
        Upstream(
            subgoal_id=result.subgoal.id,
            description=result.subgoal.description,
            summary=result.response.output.summary[:MAX_UPSTREAM],
            confidence=result.response.output.confidence,
            degraded=result.verification is not None and result.verification.verdict != "pass",
        )
        for result in done
        if result.response.output is not None
    ]
    return Task(
        subgoal=subgoal,
        query=decomposition.original_query,
        goal=decomposition.goal.description,
        complexity=plan.complexity,
        givens=tuple(f"{given.fact} ({given.source})" for given in required),
        context=relevant(context.chunks, subgoal, [given.source for given in required]),
        upstream=tuple(upstream),
    )


def relevant(
    chunks: Iterable[ContextChunk], subgoal: Subgoal, sources: Iterable[str], budget: int = CONTEXT_TOKENS
) -> tuple[ContextChunk, ...]:
    """The chunks a subgoal needs most, within `budget` tokens, in memory's order: those its givens name come first,
    then those that share words with it."""
    sources = {source.strip() for source in sources}
    named = {word for source in sources for word in _PATH.findall(source)}
    words = stems_of(f"{subgoal.description} {subgoal.expected_output}")
    chunks = list(chunks)

    def worth(chunk: ContextChunk) -> tuple[bool, bool, float]:
        shared = len(words & stems_of(f"{chunk.name} {chunk.file} {chunk.summary} {chunk.content[:2_000]}"))
        return chunk.id in sources, chunk.file in named, chunk.score + shared / (len(words) or 1)

    kept: set[int] = set()
    for place in sorted(range(len(chunks)), key=lambda each: worth(chunks[each]), reverse=True):
        if chunks[place].tokens <= budget:
            budget -= chunks[place].tokens
            kept.add(place)
    return tuple(chunk for place, chunk in enumerate(chunks) if place in kept)


def document(task: Task, interactions: Iterable[Interaction] = ()) -> dict[str, Any]:
    """Payload of a task as plain JSON, in a fixed order, without secrets: what programs, sites and models see."""
    feedback = task.feedback
    told: dict[str, Any] = {
        "query": _clean(task.query),
        "goal": _clean(task.goal),
        "subgoal": {
            "id": task.subgoal.id,
            "description": _clean(task.subgoal.description),
            "expected_output": _clean(task.subgoal.expected_output),
        },
        "givens": [_clean(given) for given in task.givens],
        "context": [
            {
                "id": chunk.id,
                "file": chunk.file,
                "line_start": chunk.line_start,
                "line_end": chunk.line_end,
                "content": _clean(chunk.content),
            }
            for chunk in task.context
        ],
        "upstream": [
            {
                "subgoal_id": each.subgoal_id,
                "description": _clean(each.description),
                "summary": _clean(each.summary),
                "confidence": each.confidence,
                "degraded": each.degraded,
            }
            for each in task.upstream
        ],
        "interactions": [
            {"question": _clean(each.agent_question), "answer": _clean(each.user_response)} for each in interactions
        ],
        "attempt": task.attempt,
    }
    if feedback is not None:
        told["feedback"] = {
            "previous_score": feedback.previous_score,
            "issues": [
                {"check": issue.check, "issue": _clean(issue.issue), "suggestion": _clean(issue.suggestion)}
                for issue in feedback.issues
            ],
            "instruction": _clean(feedback.instruction),
        }
    return told


def request(task: Task, agent_id: str, workspace: str, interactions: Iterable[Interaction] = ()) -> dict[str, Any]:
    """What a program or a site is sent: the task, and by which rules to answer."""
    answer: dict[Literal["summary", "data", "confidence"], str] = {
        "summary": "text, required",
        "data": "any JSON",
        "confidence": "0.0-1.0",
    }
    return {
        "protocol": PROTOCOL,
        "agent_id": agent_id,
        "workspace": workspace,
        **document(task, interactions),
        "answer": {"subgoal_id": task.subgoal.id, "status": "success | partial | error", "output": answer},
    }


def _clean(text: str) -> str:
    return redact(text, pii=False).text
