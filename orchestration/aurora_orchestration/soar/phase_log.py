"""Phase log: what each phase was given and gave, as small plain JSON for the conversation log (AURORA §9.7). Secrets
redacted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from aurora_orchestration.guardrails.redaction import redact
from aurora_orchestration.soar.claims import usable
from aurora_orchestration.types import (
    Assessment,
    ContextBundle,
    Plan,
    RoutingPlan,
    SubgoalResult,
    Synthesis,
    Verification,
)

MAX_TEXT = 20_000
MAX_ITEMS = 200
MAX_DEPTH = 12
_CHUNK_TEXT = 500


def plain(value: Any, depth: int = 0) -> Any:
    """Any value as bounded JSON, every text in it without secrets."""
    if isinstance(value, str):
        clean = redact(value, pii=False).text
        return clean if len(clean) <= MAX_TEXT else f"{clean[:MAX_TEXT]}… ({len(clean)} characters)"
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth >= MAX_DEPTH:
        return "… (nested deeper)"
    if isinstance(value, dict):
        return {plain(str(key), depth + 1): plain(each, depth + 1) for key, each in list(value.items())[:MAX_ITEMS]}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(each, depth + 1) for each in list(value)[:MAX_ITEMS]]
    return plain(msgspec.to_builtins(value), depth)


def assessed(assessment: Assessment) -> dict[str, Any]:
    """Phase 1's output."""
    return {
        "complexity": assessment.complexity,
        "confidence": assessment.confidence,
        "score": assessment.score,
        "method": assessment.method,
        "reasoning": assessment.reasoning,
        "indicators": list(assessment.indicators),
        "verification": assessment.verification,
        "route": "direct" if assessment.verification == "none" else "full_decomposition",
    }


def retrieved(context: ContextBundle) -> dict[str, Any]:
    """Phase 2's output: by type, each chunk with its activation and how it begins."""
    by_type: dict[str, list[dict[str, Any]]] = {"code": [], "reasoning": [], "knowledge": []}
    names = {"code": "code", "reas": "reasoning", "know": "knowledge"}
    for chunk in context.chunks:
        by_type[names[chunk.type]].append(
            {
                "id": chunk.id,
                "activation": round(chunk.activation, 4),
                "score": round(chunk.score, 4),
                "content": chunk.content[:_CHUNK_TEXT],
            }
        )
    return {
        "chunks_retrieved": {name: found for name, found in by_type.items() if found},
        "logs": [f"{log.file}:{log.line_start}-{log.line_end}" for log in context.logs],
        "total_chunks": len(context.chunks),
        "tokens": context.tokens,
    }


def decomposed(plan: Plan) -> dict[str, Any]:
    """Phase 3's output: the decomposition that was gone on with."""
    decomposition = plan.decomposition
    return {
        "goal": decomposition.goal.description,
        "success_criteria": list(decomposition.goal.success_criteria),
        "given": [{"id": each.id, "fact": each.fact, "source": each.source} for each in decomposition.given],
        "subgoals": [
            {
                "id": each.id,
                "description": each.description,
                "agent": each.agent,
                "expected_output": each.expected_output,
                "requires": list(each.requires),
                "depends_on": list(each.depends_on),
            }
            for each in decomposition.subgoals
        ],
        "execution_order": list(decomposition.execution_order),
        "parallelizable": [list(group) for group in decomposition.parallelizable],
        "attempts": max(1, len(plan.attempts)),
    }


def verified(verification: Verification) -> dict[str, Any]:
    """Verification, as the log shows it."""
    return {
        "by": verification.by,
        "scores": {name: check.score for name, check in sorted(verification.checks.items())},
        "overall_score": verification.overall_score,
        "verdict": verification.verdict,
        "issues": [
            *verification.critical_issues,
            *(f"{name}: {issue}" for name, check in sorted(verification.checks.items()) for issue in check.issues),
        ],
    }


def planned(plan: Plan) -> dict[str, Any]:
    """Phase 4's output: the last verdict, and every attempt before it."""
    return {
        **verified(plan.verification),
        "attempts": [
            {"overall_score": each.verification.overall_score, "verdict": each.verification.verdict}
            for each in plan.attempts
        ],
        "escalations": list(plan.escalations),
        "complexity": plan.complexity,
    }


def routed(routing: RoutingPlan) -> dict[str, Any]:
    """Phase 5's output."""
    return {
        "routing": [
            {
                "subgoal_id": each.subgoal.id,
                "agent_id": each.agent.id,
                "agent_type": each.agent.type,
                "why": each.why,
                "wave": each.wave,
            }
            for each in routing.assignments
        ],
        "notices": list(routing.notices),
    }


def collected(results: Sequence[SubgoalResult]) -> dict[str, Any]:
    """Phase 6's output: every agent's envelope, and its verification."""
    return {
        "subgoals": len(results),
        "done": sum(map(usable, results)),
        "agents": [
            {
                **msgspec.to_builtins(result.response),
                "skipped": result.skipped,
                "verification": None if result.verification is None else verified(result.verification),
                "attempts": max(1, len(result.tries)),
            }
            for result in results
        ],
    }


def summaries(results: Sequence[SubgoalResult]) -> list[dict[str, Any]]:
    """Phase 7's input."""
    return [
        {
            "subgoal_id": result.subgoal.id,
            "summary": result.response.output.summary,
            "confidence": result.response.output.confidence,
        }
        for result in results
        if usable(result) and result.response.output is not None
    ]


def synthesized(synthesis: Synthesis, results: Sequence[SubgoalResult]) -> dict[str, Any]:
    """Phase 7's output."""
    return {
        "final_answer": synthesis.answer,
        "claims": [{"text": claim.text, "sources": list(claim.sources)} for claim in synthesis.claims],
        "untraced": list(synthesis.untraced),
        "synthesis_metadata": {
            "subgoals_completed": sum(map(usable, results)),
            "user_interactions_count": sum(len(each.response.user_interactions) for each in results),
            "attempts": max(1, len(synthesis.attempts)),
        },
    }
