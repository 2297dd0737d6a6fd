"""Deliverable documents as other tools write them: three of ours, and the reference's where they are at hand."""

from __future__ import annotations

import json
from typing import Any

from tests.manifests import SHARED

METRICS = SHARED / "reference" / "aura-metrics"

EXAMPLES = {"deliverable-state": ["deliverable-state"], "metrics-output": ["metrics-output", "metrics-output-failed"]}
"""The reference's examples of each schema."""

STATE: dict[str, Any] = {
    "change_id": "rename-warehouse-bins",
    "status": "executing",
    "started_at": "2026-03-02T13:00:00Z",
    "updated_at": "2026-03-02T14:20:00Z",
    "complexity": "complex",
    "description": "Bins get names that people can say",
    "spec_source": {"framework": "kiro", "spec_id": "specs/bins", "requirements_count": 4},
    "phases": {
        "propose": {"started_at": "2026-03-02T13:00:00Z", "completed_at": "2026-03-02T13:05:00Z"},
        "specs": {"started_at": "2026-03-02T13:05:00Z", "completed_at": "2026-03-02T13:25:00Z"},
        "tasks": {"started_at": "2026-03-02T13:25:00Z", "completed_at": "2026-03-02T13:30:00Z"},
        "apply": {"started_at": "2026-03-02T13:30:00Z", "completed_at": None},
    },
    "current_phase": "apply",
    "tasks_total": 9,
    "tasks_completed": 2,
    "tool_calls": {"edit": 3, "test": 11},
    "tool_calls_total": 14,
    "recovery_attempts": 2,
    "apply_iterations": 1,
    "sessions": ["morning", "noon"],
}
"""A change under way, with all that its schema names."""

COMPLETED: dict[str, Any] = {
    "schema_version": "0.1.0",
    "change_id": "print-shelf-labels",
    "started_at": "2026-03-03T08:00:00Z",
    "completed_at": "2026-03-03T09:10:00Z",
    "status": "completed",
    "description": "Labels for shelves come out of the printer beside them",
    "metrics": {
        "resolution_latency_seconds": 4200,
        "phase_durations": {"propose": 300, "design": 900, "apply": 2400, "verify": 450, "archive": 150},
        "tool_calls": {"edit": 17, "test": 6, "total": 23},
        "apply_iterations": 3,
        "recovery_attempts": 1,
        "tasks_completed": 7,
        "tasks_total": 7,
        "conformance": {
            "functional": 0.93,
            "correctness": 1.0,
            "constraints": 0.8,
            "iteration_penalty": 0.7,
            "overall": 0.9,
        },
        "deliverable_failed": False,
        "failure_type": None,
        "token_usage": {
            "input_tokens": 5000,
            "output_tokens": 1500,
            "total_tokens": 6500,
            "estimated_cost_usd": 0.04,
        },
        "human_interventions": 1,
    },
    "spec_source": {"framework": "github", "spec_id": "shop#31", "requirements_count": 5},
    "complexity": "simple",
    "agent": {"name": "carpenter", "model": "house-7", "framework": "bench"},
    "sessions": ["labels"],
}
"""A change that came out well; its overall conformance is rounded."""

FAILED: dict[str, Any] = {
    **COMPLETED,
    "change_id": "move-stock-counts",
    "status": "failed",
    "metrics": {
        **COMPLETED["metrics"],
        "apply_iterations": 8,
        "recovery_attempts": 4,
        "tasks_completed": 3,
        "conformance": {
            "functional": 0.3,
            "correctness": 0.5,
            "constraints": 0.4,
            "iteration_penalty": 0.2,
            "overall": 0.37,
        },
        "deliverable_failed": True,
        "failure_type": "regression",
        "human_interventions": 6,
    },
    "spec_source": {"framework": "jira", "spec_id": "SHOP-8", "requirements_count": 12},
}

OURS = {"deliverable-state": [STATE], "metrics-output": [COMPLETED, FAILED]}


def documents(name: str) -> list[dict[str, Any]]:
    """Documents that a schema allows: ours first."""
    files = [METRICS / "examples" / f"{each}.json" for each in EXAMPLES[name]]
    theirs = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.is_file()]
    return [*OURS[name], *({key: each[key] for key in each if key != "_description"} for each in theirs)]
