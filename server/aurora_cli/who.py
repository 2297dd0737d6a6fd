"""`aurora who` (experts, owners, authors): who knows a place in the code."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from typing import Any

import click

from aurora_cli.errors import FINE
from aurora_cli.global_options import GlobalOptions
from aurora_cli.mem import answer_about, mem
from aurora_cli.output import TerminalStyle, print_json, style_of
from aurora_cli.recall_view import location
from aurora_cli.table import table_lines
from aurora_protocol.human_text import ago, count, plain

WHO = "aurora/who"


@click.command()
@click.argument("place", nargs=-1, required=True)
@click.pass_context
def who(ctx: click.Context, /, place: tuple[str, ...]) -> int:
    """Say who knows PLACE: who changed it, by git, and who used it, who knows it best first.

    PLACE is a file (src/auth.py), a place in one (src/auth.py:login, src/auth.py:45), a name (AuthService.login) or the
    id of a result. What colleagues used is told only of those who share it ("people" in team.share). Several words
    are a question: aur who calls login.
    """
    if len(place) > 1:
        return int(ctx.invoke(mem, query=("who", *place)))
    settings: GlobalOptions = ctx.obj
    found = answer_about(settings, WHO, "place", place[0])
    if settings.json:
        print_json(found)
        return FINE
    style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
    print("\n".join(who_lines(found, location(found["place"], settings.here), style, datetime.now(UTC))))
    return FINE


def who_lines(found: dict[str, Any], where: str, style: TerminalStyle, now: datetime) -> list[str]:
    """An `aurora/who` result as lines for people; `where` is the place as a terminal can open it."""
    lines = [f"{style.bold(plain(found['place']['name']))}  {where}"]
    rows = [
        [str(rank), name(each), f"{each['activation']:.2f}", facts(each), ago(each["last_touch"], now)]
        for rank, each in enumerate(found["people"], start=1)
    ]
    lines += table_lines(rows, style, right={0, 2}, least={0: 2}) if rows else ["nobody is known to have touched it"]
    if found["others"]:
        lines.append(style.dim("others used it and do not share who they are"))
    return [*lines, *(style.dim(plain(each)) for each in found["unknown"])]


def name(person: dict[str, Any]) -> str:
    """A person by name, and by the beginning of his id where none is known."""
    shown = plain(person["name"]) or f"somebody ({person['author'][:8]})"
    if person["you"]:
        return f"{shown} (you)" if person["name"] else "you"
    return shown


def facts(person: dict[str, Any]) -> str:
    """`12 lines, 3 commits, used 5 times`."""
    parts = [count(person[many], one) for many, one in (("lines", "line"), ("commits", "commit")) if person[many]]
    if person["uncommitted"]:
        parts.append(f"{count(person['uncommitted'], 'line')} not committed")
    if person["uses"]:
        parts.append("used once" if person["uses"] == 1 else f"used {person['uses']:,} times")
    return ", ".join(parts)
