"""`aurora budget` (status, reset, history): what questions cost, the spending, and what they may still cost (AURORA
§9.4.2). Needs no daemon.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import TerminalStyle, print_json, style_of_output
from aurora_cli.table import table_lines
from aurora_protocol.human_text import count, plain

if TYPE_CHECKING:
    from aurora_orchestration.guardrails.budget import Budget
    from aurora_orchestration.guardrails.budget_history import History
    from aurora_orchestration.guardrails.budget_status import BudgetStatus


_BAR = 30
_COLORS = {"fine": "green", "warned": "yellow", "blocked": "red", "off": "cyan"}


@click.group(no_args_is_help=False)
def budget() -> None:
    """Say what questions cost in this period, and what they may still cost. Periods are those of UTC."""


@budget.command()
@click.pass_obj
def status(settings: GlobalOptions) -> None:
    """Say what is spent, reserved and left."""
    _tell(settings, _budget(settings).status())


@budget.command()
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def reset(settings: GlobalOptions, yes: bool) -> None:
    """Count anew from now. What was spent stays in the history."""
    opened = _budget(settings)
    if not yes and sys.stdin.isatty() and not settings.json:
        print("\n".join(status_lines(opened.status(), style_of_output(settings))))
        click.confirm("Count anew from $0.00?", abort=True, err=True)
    _tell(settings, opened.reset())


@budget.command()
@click.option("--month", metavar="YYYY-MM", help="One month. [default: all there is]")
@click.option("--calls", is_flag=True, help="Every call that was paid for, not only the days.")
@click.pass_obj
def history(settings: GlobalOptions, month: str | None, calls: bool) -> None:
    """Say what was spent, day by day or call by call, and which periods ended."""
    try:
        told = _budget(settings).history(month)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--month") from error
    if settings.json:
        import msgspec

        print_json(msgspec.to_builtins(told))
    else:
        print("\n".join(history_lines(told, style_of_output(settings), calls=calls)))


def _budget(settings: GlobalOptions) -> Budget:
    """The budget of this user's settings. Raises SettingsError."""
    from aurora_server.configuration.budget import open_budget

    return open_budget(os.environ, settings.config)


def _tell(settings: GlobalOptions, status: BudgetStatus) -> None:
    for notice in status.notices:
        print(f"aurora: {plain(notice)}", file=sys.stderr)
    if settings.json:
        import msgspec

        print_json(msgspec.to_builtins(status))
    else:
        print("\n".join(status_lines(status, style_of_output(settings))))


def status_lines(status: BudgetStatus, style: TerminalStyle) -> list[str]:
    """A budget: a bar, what is spent, reserved and left, until when, and what a used-up one leaves to do."""
    from aurora_orchestration.guardrails.budget_status import money

    used = status.consumed_usd + status.reserved_usd
    filled = min(_BAR, round(_BAR * min(status.percent, 100) / 100))
    bar = style.colored("█" * filled, _COLORS[status.state]) + style.dim("░" * (_BAR - filled))
    lines = [
        f"{style.bold(f'{status.period} budget')}, {status.period_start[:10]} to {status.period_end[:10]} (UTC)",
        f"  {bar} {status.percent:.0f} %  {money(used)} of {money(status.limit_usd)}",
    ]
    rows = [["spent", f"{money(status.consumed_usd)} in {count(status.query_count, 'question')}"]]
    if status.reserved_usd:
        rows.append(["reserved", f"{money(status.reserved_usd)} for calls that are being made"])
    if status.uncertain_usd:
        rows.append(["uncertain", f"{money(status.uncertain_usd)} of it: a process ended during its calls"])
    left = "" if status.questions_left is None else f", about {count(status.questions_left, 'question')}"
    rows.append(["left", f"{money(status.remaining_usd)}{left}"])
    rows.append(["warned of", f"from {money(status.warn_usd)} on, blocked beyond {money(status.limit_usd)}"])
    return [*lines, *table_lines(rows, style), *_advice(status, style)]


def history_lines(history: History, style: TerminalStyle, *, calls: bool) -> list[str]:
    """What was spent: a line for each day, or each call, then the sum and the periods that ended."""
    from aurora_orchestration.guardrails.budget_status import money

    title = history.month or "all time"
    total = f"{money(history.total_usd)} in {count(len(history.entries), 'call')}"
    lines = [f"{style.bold(title)}: {total}, {count(history.query_count, 'question')}"]
    if not history.entries:
        lines.append("nothing was spent")
    elif calls:
        rows = []
        for each in history.entries:
            what = "  ".join(plain(part) for part in (each.run, each.phase, each.model) if part)
            note = style.dim("  (estimated: its process ended)") if each.uncertain else ""
            rows.append([plain(each.at)[:19].replace("T", " "), money(each.usd), f"{what}{note}"])
        lines += table_lines(rows, style, right={1}, least={1: 10})
    else:
        rows = [
            [plain(day.date), money(day.usd), f"{count(day.calls, 'call')}, {count(day.runs, 'question')}"]
            for day in history.days
        ]
        lines += table_lines(rows, style, right={1}, least={1: 10})
    for period in history.ended:
        how = "reset" if period.by_hand else "ended"
        span = f"{plain(period.period_start)[:10]} to {plain(period.period_end)[:10]}"
        asked = count(period.query_count, "question")
        lines.append(f"  {how} {plain(period.at)[:10]}: {span}, {money(period.consumed_usd)}, {asked}")
    return lines


def _advice(status: BudgetStatus, style: TerminalStyle) -> list[str]:
    """Next steps where the budget is blocked."""
    if status.state == "off":
        return [style.dim("  not enforced, nothing is noted: cost_budgets.enabled is off")]
    if status.state != "blocked":
        return []
    more = max(1, round(2 * status.hard_limit_usd))
    return [
        style.colored("  questions that cost something are blocked; to go on:", "red"),
        f"    wait until {status.period_end[:10]} is over",
        f"    aurora config set cost_budgets.hard_limit_usd {more}",
        "    aurora budget reset",
    ]
