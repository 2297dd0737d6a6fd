"""The part of a report that is about questions: read from conversation logs, shown, and kept where configured."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aurora_protocol.human_text import count, plain, took

if TYPE_CHECKING:
    from aurora_cli.settings import Settings
    from aurora_orchestration.settings import ConversationSettings, ReportSettings, SoarSettings

_MOST_WORKSPACES = 10


def soar_settings(settings: Settings) -> SoarSettings:
    """What is configured. Raises ClickException where that cannot be used."""
    from aurora_server.configuration.settings import SettingsError, load

    try:
        return load(os.environ, settings.config).soar
    except SettingsError as error:
        raise click.ClickException(str(error)) from error


def runs_of(settings: ConversationSettings, period: str, start: str | None, end: str | None) -> dict[str, Any]:
    """The figures of the runs between two moments (ISO 8601; None: from the first on, up to now)."""
    from aurora_deliverables.report import months, weeks
    from aurora_orchestration.conversations.log_names import logs_folder
    from aurora_orchestration.conversations.run_statistics import first_at, report

    folder = logs_folder(settings)
    now = time.time()
    before = datetime.fromisoformat(end).timestamp() if end is not None else now + 1
    since = datetime.fromisoformat(start).timestamp() if start is not None else first_at(folder)
    if since is None or since > before:
        since = before
    parts = {"monthly": weeks(since, before), "cumulative": months(since, before)}.get(period, [])
    return report(folder, since, before, parts)


def runs_blocks(runs: Mapping[str, Any]) -> list[str]:
    """The figures as Markdown; nothing where nothing was asked."""
    from aurora_cli.report_markdown import table

    if not runs.get("queries"):
        return []
    learning, patterns = runs["learning"], runs["patterns"]
    states = ", ".join(f"{number} {plain(state).replace('_', ' ')}" for state, number in runs["states"].items())
    lasted = runs["duration_ms"]["median"]
    rows = [
        ["queries", f"{runs['queries']:,} ({states})"],
        ["accuracy", f"{runs['accuracy']:.2f} over {runs['scored']:,}" if runs["accuracy"] is not None else "–"],
        ["cache hits", f"{runs['cache_hits']:,} ({runs['cache_hit_rate']:.0%})"],
        ["errors", f"{runs['errors']:,}"],
        ["cost", f"${runs['cost_usd']:,.4f}" if runs["cost_usd"] is not None else "–"],
        ["tokens", f"{runs['tokens']:,} in {count(runs['llm_calls'], 'call')}"],
        ["took", f"{took(lasted)} (median)" if lasted is not None else "–"],
        ["patterns", f"{patterns['stored']:,} kept, {patterns['marked']:,} of them for reuse"],
    ]
    if learning["improvement"] is not None:
        gained = f"{learning['improvement']:+.2f} ({learning['with_patterns']:.2f} with patterns"
        rows.append(["learning", f"{gained}, {learning['without']:.2f} without)"])
    blocks = ["## Questions", table(["figure", "value"], rows)]
    if len(runs["workspaces"]) > 1:
        told = [
            [plain(each["workspace"]).replace("|", "\\|"), f"{each['queries']:,}", f"${each['cost_usd']:,.4f}"]
            for each in runs["workspaces"][:_MOST_WORKSPACES]
        ]
        blocks += ["### By workspace", table(["workspace", "queries", "cost"], told)]
    if len(runs["trend"]) > 1:
        blocks += [
            "### How they went",
            table(["from", "queries", "accuracy", "errors", "cost", "patterns"], _trend(runs)),
        ]
    return blocks


def keep_report(where: ReportSettings, name: str, text: str) -> None:
    """Write a report into its folder, in place of the last one of that name; a line on standard error if that fails."""
    if not where.enabled or not where.output_path:
        return
    folder = Path(where.output_path).expanduser()
    safe = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name)[:150].strip("-")
    path = folder / f"{safe}.md"
    waiting = folder / f".{path.name}.{os.getpid()}.tmp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        waiting.touch(0o600)
        waiting.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace")
        waiting.replace(path)
    except OSError as error:
        print(f"aurora: the report is not kept in {folder}: {error.strerror}; see reporting.*", file=sys.stderr)


def _trend(runs: Mapping[str, Any]) -> list[list[str]]:
    return [
        [
            part["from"][:10],
            f"{part['queries']:,}",
            f"{part['accuracy']:.2f}" if part["accuracy"] is not None else "–",
            f"{part['errors']:,}",
            f"${part['cost_usd']:,.4f}" if part["cost_usd"] is not None else "–",
            f"{part['patterns']:,}",
        ]
        for part in runs["trend"]
    ]
