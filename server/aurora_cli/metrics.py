"""`aurora metrics`: the five metrics of AURA-M §2, their tiers, and how they move (trend, sparkline); for CI also a
gate that fails on a worse tier.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from aurora_cli.command_types import Finite
from aurora_cli.deliverable_record import with_zone
from aurora_cli.global_options import GlobalOptions
from aurora_cli.metrics_csv import metrics_csv
from aurora_cli.output import TerminalStyle, print_json, style_of_output
from aurora_cli.session import open_session
from aurora_cli.table import table_lines
from aurora_deliverables.metric_text import METRIC_NAMES, value_words
from aurora_protocol import NO
from aurora_protocol.human_text import count, lasting, plain

METRICS = "aurora/metrics"
TIERS = ("elite", "high", "medium", "low")
"""The best first."""

_COLORS = {"elite": "green", "high": "green", "medium": "yellow", "low": "red"}
_BARS = "▁▂▃▄▅▆▇█"


@click.command()
@click.option(
    "--window-days",
    type=Finite(0, 36500, min_open=True),
    help="Days back. [default: as configured, 7]",
)
@click.option(
    "--window-count",
    type=click.IntRange(1, 1_000_000),
    help="Deliverables back, if these are sooner reached. [default: as configured, 20]",
)
@click.option(
    "--by",
    type=click.Choice(["agent", "model", "author", "type", "complexity", "workspace", "repository"]),
    help="Per one of these as well; repository goes with --team, workspace without.",
)
@click.option("--as-of", callback=with_zone, metavar="TIME", help="Measure as of this time, not of now.")
@click.option(
    "--worse-than",
    multiple=True,
    metavar="[METRIC=]TIER",
    help="Exit with 1 where a metric is in a worse tier: elite, high or medium, of one (`conformance=high`, or by its "
    "name in --json) or of all. May be repeated.",
)
@click.option(
    "--team",
    is_flag=True,
    help="Of all repositories that this machine has a record of, colleagues' deliverables too.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: a row per metric, of all, each group and each week.")
@click.pass_obj
def metrics(
    settings: GlobalOptions,
    window_days: float | None,
    window_count: int | None,
    by: str | None,
    as_of: str | None,
    worse_than: tuple[str, ...],
    team: bool,
    as_csv: bool,
) -> None:
    """Say how deliverables went: throughput, latency, failures, recovery, conformance, with tiers and trends."""
    limits = [_limit(each) for each in worse_than]
    if as_csv and settings.json:
        raise click.UsageError("give --csv or --json, not both")
    asked = {"window_days": window_days, "window_count": window_count, "by": by, "as_of": as_of}
    params: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if team:
        params["team"] = True
    with open_session(settings, settings.workspace) as client:
        reply = client.request(METRICS, params)
    if as_csv:
        sys.stdout.flush()
        sys.stdout.buffer.write(metrics_csv(reply).encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    elif settings.json:
        print_json(reply)
    else:
        print("\n".join(metrics_lines(reply, style_of_output(settings), by)))
    for problem in reply.get("problems") or ():
        click.echo(plain(problem), err=True)
    worse = sorted({each for limit in limits for each in worse_than_limit(reply["metrics"], *limit)})
    if worse:
        click.echo(f"worse than asked for: {', '.join(METRIC_NAMES[each] for each in worse)}", err=True)
        raise SystemExit(NO)


def worse_than_limit(metrics: Mapping[str, Mapping[str, Any]], name: str | None, tier: str) -> list[str]:
    """Quality gate: metrics, or the one of this name, in a worse tier; one without data is in none."""
    return [
        each
        for each, metric in metrics.items()
        if name in (None, each) and metric.get("tier") and TIERS.index(metric["tier"]) > TIERS.index(tier)
    ]


def _limit(given: str) -> tuple[str | None, str]:
    """`high`, or `resolution_latency=high`. Raises BadParameter."""
    name, is_, tier = given.rpartition("=")
    if tier not in TIERS[:-1] or (is_ and not _metric_called(name)):
        names = ", ".join(METRIC_NAMES)
        raise click.BadParameter(f"{given[:100]!r}: write {', '.join(TIERS[:-1])}, or one of {names}, `=` and a tier")
    return _metric_called(name) if is_ else None, tier


def _metric_called(given: str) -> str | None:
    """The metric of that name, of the one that tables show, or of one that all of its words belong to.

    `failure-rate`, `conformance` and `Latency` each are the words of one metric only.
    """
    words = frozenset(re.split(r"[\s_-]+", given.strip().lower()))
    found = [name for name, shown in METRIC_NAMES.items() if words <= {*name.split("_"), *shown.split()}]
    return found[0] if len(found) == 1 else None


def metrics_lines(reply: Mapping[str, Any], style: TerminalStyle, by: str | None = None) -> list[str]:
    """An `aurora/metrics` result as a table, then the groups that are asked for, then what else is known."""
    window = reply["window"]
    lines = [f"{style.bold(count(window['deliverables'], 'deliverable'))} ended {_span(window)}"]
    if not window["deliverables"]:
        lines.append("none has ended in this window; see: aurora deliverable list")
    lines += _table(reply["metrics"], style)
    for group in (reply["groups"].get(by) or ()) if by is not None else ():
        lines += ["", style.bold(plain(group["name"])), *_table(group["metrics"], style)]
        if (group.get("cost") or {}).get("cost_usd") is not None:
            lines.append(f"cost {cost_words(group['cost'])}")
    supporting = [*_supporting(reply.get("supporting") or {}, style), *_costs(reply, style)]
    missing = [(name, metric) for name, metric in reply["metrics"].items() if metric.get("missing")]
    if reply["window"]["deliverables"] and missing:
        said = (style.dim(f"{METRIC_NAMES.get(name, name)}: {metric['missing']}") for name, metric in missing)
        supporting += ["", *said] if supporting else said
    return [*lines, "", *supporting] if supporting else lines


def sparkline(values: Sequence[float | None]) -> str:
    """A sparkline, `▁▃█`: each value between the least and the most; a gap where nothing is known."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return ""
    least, most = min(known), max(known)
    step = (most - least) or 1.0
    return "".join(
        " " if value is None else _BARS[round((value - least) / step * (len(_BARS) - 1))] for value in values
    )


def _table(metrics: Mapping[str, Mapping[str, Any]], style: TerminalStyle) -> list[str]:
    """Table of the metrics: value, tier, trend, sparkline."""
    rows = []
    for name, metric in metrics.items():
        tier = metric.get("tier")
        shown = style.colored(tier, _COLORS.get(tier, "yellow")) if tier else style.dim("–")
        history = sparkline(metric.get("history") or ())
        rows.append([METRIC_NAMES.get(name, name), value_words(name, metric), shown, _trend(metric, style), history])
    return table_lines(rows, style, right={1}, least={0: 19, 1: 11, 2: 6, 3: 1})


def _trend(metric: Mapping[str, Any], style: TerminalStyle) -> str:
    """An arrow for how it moved since the window before, green where that is better."""
    change = metric.get("change")
    if change is None:
        return " "
    if change == 0:
        return style.dim("→")
    return style.colored("↑" if change > 0 else "↓", "green" if metric.get("better") else "red")


def _span(window: Mapping[str, Any]) -> str:
    begun, over = datetime.fromisoformat(window["from"]), datetime.fromisoformat(window["to"])
    return f"from {begun:%Y-%m-%d %H:%M} to {over:%Y-%m-%d %H:%M} UTC"


def _supporting(told: Mapping[str, Any], style: TerminalStyle) -> list[str]:
    rows = []
    for key, title in (("phase_seconds", "phases"), ("phase_durations", "phases")):
        if told.get(key):
            rows.append([title, ", ".join(f"{name} {lasting(each)}" for name, each in told[key].items())])
    for key, title in (("tool_calls", "tools"), ("tool_mix", "tools"), ("failure_types", "failures")):
        if told.get(key):
            ranked = sorted(told[key].items(), key=lambda item: -item[1])[:6]
            rows.append([title, ", ".join(f"{plain(name)} {_number(each)}" for name, each in ranked)])
    return table_lines(rows, style, least={0: 10}, gap=1) if rows else []


def _costs(reply: Mapping[str, Any], style: TerminalStyle) -> list[str]:
    """What was spent, and by agent and model where that is more than one line."""
    whole, parts = reply.get("cost") or {}, reply.get("costs") or ()
    if whole.get("cost_usd") is None:
        return []
    rows = [["cost", cost_words(whole)]]
    rows += [
        ["", f"{plain(each['agent'])} / {plain(each['model'])} {cost_words(each)}"]
        for each in parts
        if len(parts) > 1 and each["cost_usd"] is not None
    ]
    return table_lines(rows, style, least={0: 10}, gap=1)


def cost_words(cost: Mapping[str, Any]) -> str:
    """`$2.00 · $0.67 per accepted deliverable (known of 4 of 5)`."""
    words = [f"${cost['cost_usd']:,.2f}"]
    if cost["cost_per_accepted_usd"] is not None:
        words.append(f"${cost['cost_per_accepted_usd']:,.2f} per accepted deliverable")
    known = f" (known of {cost['costed']} of {cost['deliverables']})" if cost["costed"] < cost["deliverables"] else ""
    return " · ".join(words) + known


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.0%}"
