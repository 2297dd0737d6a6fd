"""`aurora report` (daily, monthly, all-time): what was delivered and asked, and what it cost (AURORA §9.4).

Deliverables are those of the workspace, by the daemon; questions are the user's in all workspaces, by their logs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import print_json
from aurora_cli.session import open_session
from aurora_cli.table import markdown_table
from aurora_deliverables.metric_text import METRIC_NAMES, value_words
from aurora_protocol.human_text import count, lasting, plain, took

if TYPE_CHECKING:
    from aurora_orchestration.settings import ConversationSettings, ReportSettings, SoarSettings

REPORT = "aurora/report"
_FIRST, _END = date(2, 1, 1), date(9999, 1, 1)
"""Beyond, the end of a period, or its hour elsewhere, is in no calendar of Python's."""

_ROWS = 100
_MOST_WORKSPACES = 10


_GROUPS = {"repository": "repository", "author": "person", "agent": "agent", "model": "model"}
"""Groups of a team's report, and what they are of."""

_team = click.option(
    "--team", is_flag=True, help="Of all repositories that this machine has a record of, colleagues' work too."
)


@click.group(no_args_is_help=False)
def report() -> None:
    """Report on deliverables and questions, as Markdown, or as JSON with --json.

    Days and months are those of your time zone. Reports are kept as `reporting.*` configures.
    """


@report.command()
@click.option("--date", "day", metavar="YYYY-MM-DD", help="Another day. [default: today]")
@_team
@click.pass_obj
def daily(settings: GlobalOptions, day: str | None, team: bool) -> None:
    """Report on one day."""
    begin = _day(day) if day is not None else date.today()
    after = begin + timedelta(days=1)
    _report(settings, {"period": "daily", **_span(begin, after)}, f"{begin:%A, %d %B %Y}", f"{begin}", team=team)


@report.command()
@_team
@click.pass_obj
def cumulative(settings: GlobalOptions, team: bool) -> None:
    """Report on everything there ever was."""
    _report(settings, {"period": "cumulative"}, "all time", "cumulative", team=team)


@report.command()
@click.option("--month", metavar="YYYY-MM", help="Another month. [default: this month]")
@_team
@click.pass_obj
def monthly(settings: GlobalOptions, month: str | None, team: bool) -> None:
    """Report on one month, week by week."""
    begin = (_day(f"{month}-01", "month") if month is not None else date.today()).replace(day=1)
    after = (begin + timedelta(days=32)).replace(day=1)
    _report(settings, {"period": "monthly", **_span(begin, after)}, f"{begin:%B %Y}", f"{begin:%Y-%m}", team=team)


def _report(settings: GlobalOptions, params: dict[str, Any], title: str, name: str, *, team: bool) -> None:
    """Report asked of the daemon and the logs, printed, and kept."""
    of = "the team" if team else settings.workspace.name
    if team:
        params["team"] = True
    soar = soar_settings(settings)
    with open_session(settings, settings.workspace) as client:
        reply = client.request(REPORT, params)
    asked = (soar.conversations, params["period"], params.get("start"), params.get("end"))
    questions = not team and _readable(soar.conversations)  # they are the user's own
    runs = runs_of(*asked) if questions else None
    text = markdown({**reply, "runs": runs}, title, of)
    if settings.json:
        print_json({**reply, "runs": runs})
    else:
        print(text)
    keep_report(
        getattr(soar.reporting, params["period"]), f"{'team' if team else settings.workspace.name}-{name}", text
    )


def _readable(settings: ConversationSettings) -> bool:
    """Whether logs of questions can be read; says on standard error which folder is closed where they cannot."""
    from aurora_orchestration.conversations.log_names import logs_folder
    from aurora_protocol.closed_paths import closed_on_way, opening

    closed = closed_on_way(logs_folder(settings), folder=True)
    if closed is not None:
        left_out = f"questions are left out: {closed} is closed, and their logs are in it"
        print(f"aurora: {left_out}; {opening(closed)}", file=sys.stderr)
    return closed is None


def _day(given: str, what: str = "date") -> date:
    """Date parsed. Raises BadParameter."""
    try:
        if len(given) != len("YYYY-MM-DD"):
            raise ValueError
        found = date.fromisoformat(given)
        if not _FIRST <= found < _END:
            raise ValueError
        return found
    except ValueError as error:
        wanted = "YYYY-MM-DD" if what == "date" else "YYYY-MM"
        shown = given if what == "date" else given.removesuffix("-01")
        raise click.BadParameter(f"{shown!r} is no {what}; write it as {wanted}") from error


def _span(begin: date, after: date) -> dict[str, str]:
    """From midnight to midnight, where the user is: a day may have 23 or 25 hours."""
    return {
        "start": datetime.combine(begin, time()).astimezone().isoformat(),
        "end": datetime.combine(after, time()).astimezone().isoformat(),
    }


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
        blocks += ["## Metrics", markdown_table(["metric", "value", "tier"], rows)]
    if report.get("tokens"):
        blocks += ["## Cost", _cost(report["tokens"])]
    if report["ended"]:
        blocks += [
            "## Ended",
            markdown_table(["deliverable", "", "took", "conformance", "rework", "tokens"], _ended(report)),
        ]
    if report["open"]:
        rows = [
            [_text(each["change_id"]), each.get("phase") or each["status"], _tasks(each)] for each in report["open"]
        ]
        blocks += ["## Under way", markdown_table(["deliverable", "in", "tasks"], rows[:_ROWS])]
    if report.get("failure_types"):
        rows = [[name.replace("_", " "), str(number)] for name, number in report["failure_types"].items()]
        blocks += ["## Failures", markdown_table(["kind", "deliverables"], rows)]
    if len(report.get("trend") or ()) > 1:
        blocks += [
            "## Trend",
            markdown_table(["from", "completed", "failed", "tokens", "cost"], _trend(report["trend"])),
        ]
    for group, title in _GROUPS.items():
        if members := (report.get("groups") or {}).get(group):
            columns = [group, "ended", "accepted", "cost", "per accepted"]
            blocks += [f"## By {title}", markdown_table(columns, [_share(each) for each in members[:_ROWS]])]
    if report.get("runs"):
        blocks += runs_blocks(report["runs"])
    return "\n\n".join(blocks)


def _share(member: Mapping[str, Any]) -> list[str]:
    """What one of a group did and cost; `–` where nobody told a cost."""
    costs = ["–" if member[name] is None else f"${member[name]:,.2f}" for name in ("cost_usd", "cost_per_accepted_usd")]
    return [_text(member["name"]), str(member["deliverables"]), str(member["accepted"]), *costs]


def _ended(report: Mapping[str, Any]) -> list[list[str]]:
    """Table rows of the deliverables that ended."""
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
    """Table rows of the parts (time series)."""
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


def soar_settings(settings: GlobalOptions) -> SoarSettings:
    """What is configured. Raises SettingsError."""
    from aurora_server.configuration.settings import load

    return load(os.environ, settings.config).soar


def runs_of(settings: ConversationSettings, period: str, start: str | None, end: str | None) -> dict[str, Any]:
    """The figures of the runs between two moments (ISO 8601; None: from the first on, up to now)."""
    from aurora_deliverables.report import months, weeks
    from aurora_orchestration.conversations.log_names import logs_folder
    from aurora_orchestration.conversations.run_statistics import first_at, report

    folder = logs_folder(settings)
    now = datetime.now().timestamp()
    before = datetime.fromisoformat(end).timestamp() if end is not None else now + 1
    since = datetime.fromisoformat(start).timestamp() if start is not None else first_at(folder)
    if since is None or since > before:
        since = before
    parts = {"monthly": weeks(since, before), "cumulative": months(since, before)}.get(period, [])
    return report(folder, since, before, parts)


def runs_blocks(runs: Mapping[str, Any]) -> list[str]:
    """The figures as Markdown; nothing where nothing was asked."""
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
    blocks = ["## Questions, in all workspaces", markdown_table(["figure", "value"], rows)]
    if len(runs["workspaces"]) > 1:
        told = [
            [plain(each["workspace"]).replace("|", "\\|"), f"{each['queries']:,}", f"${each['cost_usd']:,.4f}"]
            for each in runs["workspaces"][:_MOST_WORKSPACES]
        ]
        blocks += ["### By workspace", markdown_table(["workspace", "queries", "cost"], told)]
    if len(runs["trend"]) > 1:
        blocks += [
            "### How they went",
            markdown_table(["from", "queries", "accuracy", "errors", "cost", "patterns"], _runs_trend(runs)),
        ]
    return blocks


def keep_report(where: ReportSettings, name: str, text: str) -> None:
    """Write a report into its folder, in place of the last one of that name; a line on standard error if that fails."""
    if not where.enabled or not where.output_path:
        return
    from aurora_orchestration.private_file import write_private

    folder = Path(where.output_path).expanduser()
    safe = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in name)[:150].strip("-")
    path = folder / f"{safe}.md"
    try:
        write_private(path, f"{text}\n".encode(errors="backslashreplace"))
    except OSError as error:
        print(f"aurora: the report is not kept in {folder}: {error.strerror}; see reporting.*", file=sys.stderr)


def _runs_trend(runs: Mapping[str, Any]) -> list[list[str]]:
    """Table rows of the questions by part."""
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
