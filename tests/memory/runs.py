"""Finished runs for tests, made from what matters in each."""

from __future__ import annotations

from typing import Any

from aurora_memory.documents import PatternSubgoal, ToolUse
from aurora_memory.learning import FinishedRun, Retrieved

NOON = 1_765_540_800.0
"""2025-12-12T12:00:00Z."""

DAY = 86_400.0

STEPS = (
    PatternSubgoal(id="SG1", description="Research OAuth2 providers", agent="researcher"),
    PatternSubgoal(id="SG2", description="Implement token validation", agent="coder"),
)


def run(number: int = 1, score: float = 0.92, **changes: Any) -> FinishedRun:
    """A run on OAuth2 that took two steps."""
    settings: dict[str, Any] = {
        "id": f"aurora-{number}",
        "query": "Implement OAuth2 authentication for our API",
        "score": score,
        "at": NOON + number,
        "verification_option": "option_b",
        "subgoals": STEPS,
        "tools_used": (ToolUse(subgoal="SG2", agent="coder", tools=("grep", "edit")),),
        "execution_time_ms": 15420.0,
        "total_cost_usd": 0.0234,
    }
    return FinishedRun(**(settings | changes))


def retrieved(*ids: int, helpful: bool | None = True) -> tuple[Retrieved, ...]:
    return tuple(Retrieved(each, helpful) for each in ids)
