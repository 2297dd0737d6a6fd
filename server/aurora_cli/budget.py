"""`aurora budget`: what questions cost, and what they may still cost (AURORA §9.4.2). Needs no daemon."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from aurora_cli.output import print_json, style_of_output
from aurora_cli.settings import Settings
from aurora_protocol import Blocked
from aurora_protocol.human_text import plain

if TYPE_CHECKING:
    from aurora_orchestration.guardrails.budget import Budget
    from aurora_orchestration.guardrails.budget_status import BudgetStatus


@click.group(no_args_is_help=False)
def budget() -> None:
    """Say what questions cost in this period, and what they may still cost. Periods are those of UTC."""


@budget.command()
@click.pass_obj
def status(settings: Settings) -> None:
    """Say what is spent, reserved and left."""
    with _opened(settings) as opened:
        _tell(settings, opened.status())


@budget.command()
@click.option("--yes", "-y", is_flag=True, help="Do not ask.")
@click.pass_obj
def reset(settings: Settings, yes: bool) -> None:
    """Count anew from now. What was spent stays in the history."""
    with _opened(settings) as opened:
        if not yes and sys.stdin.isatty() and not settings.json:
            from aurora_cli.budget_view import status_lines

            print("\n".join(status_lines(opened.status(), style_of_output(settings))))
            click.confirm("Count anew from $0.00?", abort=True, err=True)
        _tell(settings, opened.reset())


@budget.command()
@click.option("--month", metavar="YYYY-MM", help="One month. [default: all there is]")
@click.option("--calls", is_flag=True, help="Every call that was paid for, not only the days.")
@click.pass_obj
def history(settings: Settings, month: str | None, calls: bool) -> None:
    """Say what was spent, day by day or call by call, and which periods ended."""
    with _opened(settings) as opened:
        try:
            told = opened.history(month)
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--month") from error
    if settings.json:
        import msgspec

        print_json(msgspec.to_builtins(told))
    else:
        from aurora_cli.budget_view import history_lines

        print("\n".join(history_lines(told, style_of_output(settings), calls=calls)))


@contextmanager
def _opened(settings: Settings) -> Iterator[Budget]:
    """The budget of this user's settings; what it raises as errors of the command line."""
    from aurora_orchestration.guardrails.blocked import Unrecorded
    from aurora_server.configuration.budget import open_budget
    from aurora_server.configuration.settings import SettingsError

    try:
        yield open_budget(os.environ, settings.config)
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    except Unrecorded as error:
        raise Blocked(str(error)) from error


def _tell(settings: Settings, status: BudgetStatus) -> None:
    for notice in status.notices:
        print(f"aurora: {plain(notice)}", file=sys.stderr)
    if settings.json:
        import msgspec

        print_json(msgspec.to_builtins(status))
    else:
        from aurora_cli.budget_view import status_lines

        print("\n".join(status_lines(status, style_of_output(settings))))
