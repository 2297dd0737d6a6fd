"""`aurora metrics`: the five metrics of AURA-M §2, their tiers, and how they move."""

from __future__ import annotations

from typing import Any

import click

from aurora_cli.metrics_view import metrics_lines
from aurora_cli.numbers import Finite
from aurora_cli.output import print_json, style_of_output
from aurora_cli.session import open_session
from aurora_cli.settings import Settings

METRICS = "aurora/metrics"


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
    "--by", type=click.Choice(["agent", "model", "type", "complexity", "workspace"]), help="Per one of these as well."
)
@click.pass_obj
def metrics(settings: Settings, window_days: float | None, window_count: int | None, by: str | None) -> None:
    """Say how deliverables went: throughput, latency, failures, recovery, conformance, with tiers and trends."""
    asked = {"window_days": window_days, "window_count": window_count, "by": by}
    params: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    with open_session(settings, settings.workspace) as client:
        reply = client.request(METRICS, params)
    if settings.json:
        print_json(reply)
    else:
        print("\n".join(metrics_lines(reply, style_of_output(settings), by)))
