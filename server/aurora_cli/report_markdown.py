"""A report on deliverables as Markdown: sums, metrics, what ended, what is under way, how it moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aurora_cli.report_runs import runs_blocks
from aurora_deliverables.metric_text import METRIC_NAMES, value_words
from aurora_protocol.human_text import count, lasting, plain

_ROWS = 100


def markdown(report: Mapping[str, Any], title: str, workspace: str) -> str:
    """An `aurora/report` result; parts that nothing is known of are left out."""
    sums = report["deliverables"]
    said = [f"{sums[name]} {name}" for name in ("began", "completed", "failed", "open")]
    blocks = [f"# Deliverables of {_text(workspace)}: {title}", " · ".join(said)]
    if report.get("metrics"):
        rows = [
            [METRIC_NAMES.get(name, name), value_words(name, metric), metric.get("tier") or "–"]
            for name, metric in report["metrics"].items()
        ]
        blocks += ["## Metrics", table(["metric", "value", "tier"], rows)]
    if report.get("tokens"):
        blocks += ["## Cost", _cost(report["tokens"])]
    if report["ended"]:
        blocks += ["## Ended", table(["deliverable", "", "took", "conformance", "rework", "tokens"], _ended(report))]
    if report["open"]:
        rows = [
            [_text(each["change_id"]), each.get("phase") or each["status"], _tasks(each)] for each in report["open"]
        ]
        blocks += ["## Under way", table(["deliverable", "in", "tasks"], rows[:_ROWS])]
    if report.get("failure_types"):
        rows = [[name.replace("_", " "), str(number)] for name, number in report["failure_types"].items()]
        blocks += ["## Failures", table(["kind", "deliverables"], rows)]
    if len(report.get("trend") or ()) > 1:
        blocks += ["## Trend", table(["from", "completed", "failed", "tokens", "cost"], _trend(report["trend"]))]
    if report.get("runs"):
        blocks += runs_blocks(report["runs"])
    return "\n\n".join(blocks)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with its columns aligned, so that it reads well as text too."""
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))} |"

    return "\n".join([line(head), f"|{'|'.join('-' * (width + 2) for width in widths)}|", *map(line, rows)])


def _ended(report: Mapping[str, Any]) -> list[list[str]]:
    rows = []
    for each in report["ended"][:_ROWS]:
        why = f": {each['failure_type'].replace('_', ' ')}" if each.get("failure_type") else ""
        below = ", failed" if each.get("deliverable_failed") and each["status"] != "failed" else ""
        score = each.get("conformance")
        tokens = each.get("tokens")
        rework = each.get("recovery_attempts")
        rows.append(
            [
                _text(each["change_id"]),
                f"{each['status']}{below}{why}",
                lasting(each["latency_seconds"]) if each.get("latency_seconds") is not None else "–",
                f"{score:.2f}" if score is not None else "–",
                str(rework) if rework is not None else "–",
                f"{tokens:,}" if tokens is not None else "–",
            ]
        )
    if len(report["ended"]) > _ROWS:
        rows.append([f"… and {len(report['ended']) - _ROWS} more", "", "", "", "", ""])
    return rows


def _trend(parts: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    rows = []
    for part in parts:
        tokens = part.get("tokens") or {}
        cost = tokens.get("cost_usd")
        total = f"{tokens['total_tokens']:,}" if tokens.get("total_tokens") is not None else "–"
        shown = f"${cost:,.2f}" if cost is not None else "–"
        rows.append([part["from"][:10], str(part["completed"]), str(part["failed"]), total, shown])
    return rows


def _cost(tokens: Mapping[str, Any]) -> str:
    words = []
    if tokens.get("total_tokens") is not None:
        ways = (("input_tokens", "in"), ("output_tokens", "out"), ("cached_tokens", "cached"))
        parts = [
            f"{tokens[name]:,} {way}"
            for name, way in ways
            if (tokens.get(name) if way == "cached" else tokens.get(name) is not None)
        ]
        words.append(count(tokens["total_tokens"], "token") + (f" ({', '.join(parts)})" if parts else ""))
    if tokens.get("cost_usd") is not None:
        words.append(f"${tokens['cost_usd']:,.2f}")
    return ", ".join(words)


def _tasks(each: Mapping[str, Any]) -> str:
    return f"{each.get('tasks_completed') or 0}/{each['tasks_total']}" if each.get("tasks_total") else "–"


def _text(text: str) -> str:
    """A name that cannot break the table it stands in."""
    return plain(text).replace("\\", "\\\\").replace("|", "\\|")
