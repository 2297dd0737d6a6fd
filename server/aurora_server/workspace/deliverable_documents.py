"""Documents (JSON replies) that answer `aurora/metrics` and `aurora/report`, plain and in snake_case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from aurora_deliverables.delivery_costs import Cost, cost_of
from aurora_deliverables.metrics import Five, Group, Metrics, Series, Window, history, measure, series
from aurora_deliverables.secondary_metrics import latency
from aurora_server.workspace.wire import iso

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable, TokenUsage
    from aurora_deliverables.report import DeliverableReport

HISTORY = 8
"""Windows that a sparkline shows."""

WEEKS = 12
"""Weeks of the series, up to now."""


def metrics_reply(
    known: Mapping[str, Sequence[Deliverable]],
    now: float,
    days: float,
    count: int,
    by: str | None,
    of: str = "workspace",
) -> dict[str, Any]:
    """The metrics of some workspaces (or of what else `known` is by: `of`) together; `groups` per each of the things
    they are grouped by, or `by` alone.
    """
    together = [each for deliverables in known.values() for each in deliverables]
    found = measure(together, now, days, count)
    past = [five for _, five in history(together, now, HISTORY, days, count)]
    groups = {
        name: [_group(each, some, found.group_costs[name].get(each)) for each, some in group.items()]
        for name, group in found.groups.items()
    }
    alone = {root: measure(deliverables, now, days, count) for root, deliverables in known.items()}
    groups[of] = [_group(root, _whole(each), each.cost) for root, each in alone.items()]
    return {
        "window": {**_window(found.window), "days": days, "count": count},
        "metrics": _with_trends(found, past),
        "previous": _window(found.previous),
        "supporting": msgspec.to_builtins(found.supporting),
        "cost": msgspec.to_builtins(found.cost),
        "costs": [{"agent": each.agent, "model": each.model, **msgspec.to_builtins(each.cost)} for each in found.costs],
        "weekly": [_series(each) for each in series(together, now, WEEKS)],
        "runs": msgspec.to_builtins(found.runs),
        "groups": groups if by is None else {by: groups[by]},
        "in_progress": found.in_progress,
    }


def report_reply(
    period: str, report: DeliverableReport, repositories: Mapping[str, Sequence[Deliverable]] | None = None
) -> dict[str, Any]:
    """A report; what nothing is known of is null or empty. `repositories`: of a team, whose shares are told."""
    return {
        **({} if repositories is None else {"groups": _shares(report, repositories)}),
        "period": period,
        "from": iso(report.start),
        "to": iso(report.end),
        "deliverables": {
            "began": report.began,
            "completed": report.completed,
            "failed": report.failed,
            "open": len(report.working),
        },
        "metrics": msgspec.to_builtins(report.metrics.metrics) if report.metrics is not None else None,
        "supporting": msgspec.to_builtins(report.metrics.supporting) if report.metrics is not None else None,
        "tokens": _tokens(report.tokens),
        "ended": [_ended(each) for each in report.ended],
        "open": [_open(each) for each in report.working],
        "failure_types": report.failure_types,
        "trend": [
            {
                "from": iso(part.start),
                "to": iso(part.end),
                "completed": part.completed,
                "failed": part.failed,
                "tokens": _tokens(part.tokens),
            }
            for part in report.parts
        ],
    }


def _shares(
    report: DeliverableReport, repositories: Mapping[str, Sequence[Deliverable]]
) -> dict[str, list[dict[str, Any]]]:
    """Breakdown (share) of what each repository, person, agent and model did and cost, of what ended."""
    ended = {id(each) for each in report.ended}
    costs = {
        name: cost_of(some)
        for name, every in sorted(repositories.items())
        if (some := [each for each in every if id(each) in ended])
    }
    of = {"repository": costs}
    for group in ("author", "agent", "model"):
        of[group] = dict(report.metrics.group_costs[group]) if report.metrics is not None else {}
    return {
        group: [{"name": name, **msgspec.to_builtins(cost)} for name, cost in members.items()]
        for group, members in of.items()
    }


def _with_trends(found: Metrics, past: Sequence[Five]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, metric in msgspec.to_builtins(found.metrics).items():
        trend = msgspec.to_builtins(found.trends[name]) if name in found.trends else {}
        measured = msgspec.to_builtins(found.measured[name])
        told[name] = {**metric, **trend, **measured, "history": [getattr(five, name).value for five in past]}
    return told


def _group(name: str, group: Group, cost: Cost | None) -> dict[str, Any]:
    return {
        "name": name,
        "deliverables": group.deliverables,
        "metrics": msgspec.to_builtins(group.metrics),
        "cost": msgspec.to_builtins(cost),
    }


def _whole(found: Metrics) -> Group:
    return Group(found.window.deliverables, found.metrics)


def _series(each: Series) -> dict[str, Any]:
    latency = {"median": each.latency_median, "p90": each.latency_p90}
    return {**_window(each.window), "metrics": msgspec.to_builtins(each.metrics), "latency": latency}


def _window(window: Window) -> dict[str, Any]:
    return {
        "from": iso(window.start),
        "to": iso(window.end),
        "deliverables": window.deliverables,
        "limited_by": window.limited_by,
    }


def _ended(each: Deliverable) -> dict[str, Any]:
    return {
        "change_id": each.change_id,
        "status": each.status,
        "deliverable_failed": each.deliverable_failed,
        "failure_type": each.failure_type,
        "description": each.description,
        "agent": each.agent.name if each.agent is not None else None,
        "started_at": iso(each.started_at),
        "completed_at": iso(each.completed_at),
        "latency_seconds": latency(each),
        "conformance": each.conformance.overall if each.conformance is not None else None,
        "recovery_attempts": each.recovery_attempts,
        "tokens": each.tokens.total_tokens if each.tokens is not None else None,
        "cost_usd": each.tokens.cost_usd if each.tokens is not None else None,
    }


def _open(each: Deliverable) -> dict[str, Any]:
    return {
        "change_id": each.change_id,
        "status": each.status,
        "phase": each.current_phase,
        "tasks_completed": each.tasks_completed,
        "tasks_total": each.tasks_total,
        "updated_at": iso(each.updated_at),
    }


def _tokens(usage: TokenUsage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "total_tokens": usage.total_tokens,
        "cost_usd": usage.cost_usd,
    }
