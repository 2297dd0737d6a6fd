"""Budgets for people: what is spent of what, what to do when it is used up, and what was spent on which day."""

from __future__ import annotations

from aurora_cli.output import Style
from aurora_orchestration.guardrails.budget_history import History
from aurora_orchestration.guardrails.budget_status import BudgetStatus, money
from aurora_protocol.human_text import count, plain

_BAR = 30
_COLORS = {"fine": "green", "warned": "yellow", "blocked": "red", "off": "cyan"}


def status_lines(status: BudgetStatus, style: Style) -> list[str]:
    """A budget: a bar, what is spent, reserved and left, until when, and what a used-up one leaves to do."""
    used = status.consumed_usd + status.reserved_usd
    filled = min(_BAR, round(_BAR * min(status.percent, 100) / 100))
    bar = style.colored("█" * filled, _COLORS[status.state]) + style.dim("░" * (_BAR - filled))
    lines = [
        f"{style.bold(f'{status.period} budget')}, {status.period_start[:10]} to {status.period_end[:10]} (UTC)",
        f"  {bar} {status.percent:.0f} %  {money(used)} of {money(status.limit_usd)}",
        f"  spent      {money(status.consumed_usd)} in {count(status.query_count, 'question')}",
    ]
    if status.reserved_usd:
        lines.append(f"  reserved   {money(status.reserved_usd)} for calls that are being made")
    if status.uncertain_usd:
        lines.append(f"  uncertain  {money(status.uncertain_usd)} of it: a process ended during its calls")
    left = "" if status.questions_left is None else f", about {count(status.questions_left, 'question')}"
    lines.append(f"  left       {money(status.remaining_usd)}{left}")
    lines.append(f"  warned of  from {money(status.warn_usd)} on, blocked beyond {money(status.limit_usd)}")
    return [*lines, *_advice(status, style)]


def history_lines(history: History, style: Style, *, calls: bool) -> list[str]:
    """What was spent: a line for each day, or each call, then the sum and the periods that ended."""
    title = history.month or "all time"
    total = f"{money(history.total_usd)} in {count(len(history.entries), 'call')}"
    lines = [f"{style.bold(title)}: {total}, {count(history.query_count, 'question')}"]
    if not history.entries:
        lines.append("nothing was spent")
    elif calls:
        for each in history.entries:
            what = "  ".join(plain(part) for part in (each.run, each.phase, each.model) if part)
            note = style.dim("  (estimated: its process ended)") if each.uncertain else ""
            lines.append(f"  {plain(each.at)[:19].replace('T', ' ')}  {money(each.usd):>10}  {what}{note}")
    else:
        lines += [
            f"  {plain(day.date)}  {money(day.usd):>10}  {count(day.calls, 'call')}, {count(day.runs, 'run')}"
            for day in history.days
        ]
    for period in history.ended:
        how = "reset" if period.by_hand else "ended"
        span = f"{plain(period.period_start)[:10]} to {plain(period.period_end)[:10]}"
        asked = count(period.query_count, "question")
        lines.append(f"  {how} {plain(period.at)[:10]}: {span}, {money(period.consumed_usd)}, {asked}")
    return lines


def _advice(status: BudgetStatus, style: Style) -> list[str]:
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
