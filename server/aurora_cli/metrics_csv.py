"""Metrics as CSV (RFC 4180): a row for each metric of each scope, so that a spreadsheet or a script can pivot it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

COLUMNS = (
    "scope",
    "name",
    "metric",
    "value",
    "unit",
    "tier",
    "previous",
    "change",
    "measured",
    "of",
    "from",
    "to",
    "missing",
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a spreadsheet may take a text for a formula by, its full-width forms among it."""

_COSTS = {
    "deliverables": "deliverables",
    "accepted": "deliverables",
    "cost_usd": "USD",
    "cost_per_accepted_usd": "USD",
}


def metrics_csv(reply: Mapping[str, Any]) -> str:
    """An `aurora/metrics` result as CSV: of all, of each group, of each agent with each model, and by weeks.

    What nothing tells is an empty cell. A text that a spreadsheet would calculate has an apostrophe before it.
    """
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, restval="", extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    for row in _rows(reply):
        writer.writerow({key: _cell(value) for key, value in row.items()})
    return out.getvalue()


def _rows(reply: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Rows of the CSV: of all, of each group, of each week."""
    window = {key: reply["window"][key] for key in ("from", "to")}
    yield from _measures({"scope": "all", "name": "all", **window}, reply["metrics"], reply.get("cost"))
    for group, members in reply["groups"].items():
        for each in members:
            yield from _measures({"scope": group, "name": each["name"], **window}, each["metrics"], each.get("cost"))
    for each in reply.get("costs", ()):
        name = f"{each['agent']} / {each['model']}"
        yield from _measures({"scope": "agent and model", "name": name, **window}, {}, each)
    for week in reply.get("weekly", ()):
        about = {"scope": "week", "name": week["from"][:10], "from": week["from"], "to": week["to"]}
        yield from _measures(about, week["metrics"], None)
        for name, value in week["latency"].items():
            yield {**about, "metric": f"resolution_latency_{name}", "value": value, "unit": "seconds"}


def _measures(
    about: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]], cost: Mapping[str, Any] | None
) -> Iterator[dict[str, Any]]:
    for name, metric in metrics.items():
        yield {**about, "metric": name, **metric}
    if cost is not None:
        for name, unit in _COSTS.items():
            of = {"measured": cost["costed"], "of": cost["deliverables"]} if unit == "USD" else {}
            yield {**about, "metric": name, "value": cost[name], "unit": unit, **of}


def _cell(value: object) -> object:
    """A value as a cell holds it, never as a formula (CSV injection)."""
    if not isinstance(value, str):
        return "" if value is None else value
    text = value.replace("\0", "")
    return f"'{text}" if text.startswith(_FORMULA) else text
