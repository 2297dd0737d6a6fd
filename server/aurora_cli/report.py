"""`aurora report`: what was delivered and asked in a day, in a month, ever, and what it cost (AURORA §9.4).

Deliverables are those of the workspace, by the daemon; questions are the user's in all workspaces, by their logs.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any

import click

from aurora_cli.output import print_json
from aurora_cli.report_markdown import markdown
from aurora_cli.session import open_session
from aurora_cli.settings import Settings

REPORT = "aurora/report"
_FIRST, _END = date(2, 1, 1), date(9999, 1, 1)
"""Beyond, the end of a period, or its hour elsewhere, is in no calendar of Python's."""


@click.group(no_args_is_help=False)
def report() -> None:
    """Report on deliverables and questions, as Markdown, or as JSON with --json.

    Days and months are those of your time zone. Reports are kept as `reporting.*` configures.
    """


@report.command()
@click.option("--date", "day", metavar="YYYY-MM-DD", help="Another day. [default: today]")
@click.pass_obj
def daily(settings: Settings, day: str | None) -> None:
    """Report on one day."""
    begin = _day(day) if day is not None else date.today()
    after = begin + timedelta(days=1)
    _report(settings, {"period": "daily", **_span(begin, after)}, f"{begin:%A, %d %B %Y}", f"{begin}")


@report.command()
@click.pass_obj
def cumulative(settings: Settings) -> None:
    """Report on everything there ever was."""
    _report(settings, {"period": "cumulative"}, "all time", "cumulative")


@report.command()
@click.option("--month", metavar="YYYY-MM", help="Another month. [default: this month]")
@click.pass_obj
def monthly(settings: Settings, month: str | None) -> None:
    """Report on one month, week by week."""
    begin = (_day(f"{month}-01", "month") if month is not None else date.today()).replace(day=1)
    after = (begin + timedelta(days=32)).replace(day=1)
    _report(settings, {"period": "monthly", **_span(begin, after)}, f"{begin:%B %Y}", f"{begin:%Y-%m}")


def _report(settings: Settings, params: dict[str, Any], title: str, name: str) -> None:
    from aurora_cli.report_runs import keep_report, runs_of, soar_settings

    soar = soar_settings(settings)
    with open_session(settings, settings.workspace) as client:
        reply = client.request(REPORT, params)
    runs = runs_of(soar.conversations, params["period"], params.get("start"), params.get("end"))
    text = markdown({**reply, "runs": runs}, title, settings.workspace.name)
    if settings.json:
        print_json({**reply, "runs": runs})
    else:
        print(text)
    keep_report(getattr(soar.reporting, params["period"]), f"{settings.workspace.name}-{name}", text)


def _day(given: str, what: str = "date") -> date:
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
