"""`aurora logs` (history): conversations that were had, listed, searched, shown and exported, without a daemon (AURORA
§9.7).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import TerminalStyle, print_json, style_of_output
from aurora_cli.table import table_lines
from aurora_protocol.human_text import count, plain, plain_lines, shorten, took

if TYPE_CHECKING:
    from aurora_orchestration.conversations.log_reader import Conversation
    from aurora_orchestration.conversations.log_search import FoundSection

FIRST, LAST = "0000-00-00", "9999-99-99"
_DATES = (
    click.option("--date", "day", metavar="YYYY-MM-DD", help="Of this day."),
    click.option("--month", metavar="YYYY-MM", help="Of this month."),
    click.option("--from", "begin", metavar="YYYY-MM-DD", help="From this day on."),
    click.option("--to", "end", metavar="YYYY-MM-DD", help="Up to this day."),
)

_BLOCK = re.compile(r"^```json\n(.*?)^```$", re.M | re.S)
_NARROWEST = 20
_WIDEST_PIPED = 120


def _dated(command: Any) -> Any:
    for option in reversed(_DATES):
        command = option(command)
    return command


@click.group(invoke_without_command=True)
@_dated
@click.pass_context
def logs(ctx: click.Context, day: str | None, month: str | None, begin: str | None, end: str | None) -> None:
    """List, search and show conversations. Days are UTC's, as in the names of logs; only `today` is yours."""
    if ctx.invoked_subcommand is None:
        _list(ctx.ensure_object(GlobalOptions), *_range(day, month, begin, end))
    elif day or month or begin or end:
        raise click.UsageError(f"put the dates behind `{ctx.invoked_subcommand}`", ctx)


@logs.command()
@click.pass_obj
def today(settings: GlobalOptions) -> None:
    """List the conversations begun since midnight, where you are."""
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0).astimezone(UTC)
    _list(settings, f"{midnight:%Y-%m-%d}", LAST, since=f"{midnight:%Y-%m-%dT%H:%M:%S}", called="today")


@logs.command("list")
@click.argument("year_month", metavar="[YYYY/MM]", required=False)
@_dated
@click.pass_obj
def list_(
    settings: GlobalOptions,
    year_month: str | None,
    day: str | None,
    month: str | None,
    begin: str | None,
    end: str | None,
) -> None:
    """List conversations, the latest first: all, those of a month, or those of some days."""
    if year_month is not None:
        if not re.fullmatch(r"\d{4}(?:/\d{2})?", year_month):
            raise click.BadParameter(f"{year_month!r} is no month; write it as YYYY/MM")
        if day or month or begin or end:
            raise click.UsageError("a month and other dates exclude each other", click.get_current_context())
        if len(year_month) == 4:
            begin, end = f"{year_month}-01-01", f"{year_month}-12-31"
        else:
            month = year_month.replace("/", "-")
    _list(settings, *_range(day, month, begin, end))


@logs.command()
@click.argument("words", nargs=-1, required=True)
@_dated
@click.option("--context", type=click.IntRange(0, 20), default=0, help="Lines to show around each hit.")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many logs.")
@click.pass_obj
def search(
    settings: GlobalOptions,
    words: tuple[str, ...],
    day: str | None,
    month: str | None,
    begin: str | None,
    end: str | None,
    context: int,
    limit: int,
) -> None:
    """Find conversations that have all WORDS, in whatever case. Words in quotes are looked for as they stand."""
    from itertools import islice

    from aurora_orchestration.conversations.log_search import search as searched

    if not any(word.strip() for word in words):
        raise click.UsageError("the words are empty", click.get_current_context())
    first, last = _range(day, month, begin, end)
    found = list(islice(searched(_folder(settings), words, first, last, context=context), limit))
    if settings.json:
        told = [
            {
                **row(each.conversation),
                "matches": each.matches,
                "lines": [{"line": line.number, "text": line.text, "hit": line.hit} for line in each.lines],
            }
            for each in found
        ]
        print_json({"words": list(words), "results": told})
    elif found:
        print("\n".join(found_lines(found, words, style_of_output(settings))))
    else:
        print(f"no conversation{_said_range(first, last)} has {' and '.join(map(repr, words))}; see: aurora logs list")


@logs.command()
@click.argument("name")
@click.pass_obj
def view(settings: GlobalOptions, name: str) -> None:
    """Show one conversation. NAME may leave out its day where there is only one."""
    from aurora_orchestration.conversations.log_reader import by_name

    found = by_name(_folder(settings), name)
    if not found:
        raise click.ClickException(f"no conversation is called {name!r}; see: aurora logs list")
    if len(found) > 1:
        others = ", ".join(each.name for each in found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise click.ClickException(f"{name!r} may be {len(found)} conversations, name one: {others}")
    _show(settings, found[0], rendered=True)


@logs.command()
@click.argument("run", metavar="ID")
@click.pass_obj
def export(settings: GlobalOptions, run: str) -> None:
    """Print the conversation of a run as Markdown, or with --json its phases and figures."""
    from aurora_orchestration.conversations.log_reader import by_id

    found = by_id(_folder(settings), run)
    if found is None:
        raise click.ClickException(f"no conversation has the id {run!r}; see: aurora logs list --json")
    _show(settings, found, rendered=False)


def _show(settings: GlobalOptions, conversation: Conversation, *, rendered: bool) -> None:
    from aurora_orchestration.conversations.log_reader import text_of

    text = text_of(conversation.path)
    style = style_of_output(settings)
    if settings.json:
        print_json(document(conversation, text))
    elif rendered and style.rich:
        render(text, style)
    else:
        print(printable(text) if style.width is not None else text.rstrip("\n"))


def _list(settings: GlobalOptions, first: str, last: str, *, since: str = "", called: str = "") -> None:
    from aurora_orchestration.conversations.log_reader import conversations

    folder = _folder(settings)
    found = [each for each in conversations(folder, first, last) if (each.started_at or f"{each.day}T99") >= since]
    if settings.json:
        print_json({"folder": os.fspath(folder), "logs": [row(each) for each in found]})
    elif found:
        print("\n".join(list_lines(found, style_of_output(settings))))
    else:
        print(f"no conversation{f' {called}' if called else _said_range(first, last)}; logs are kept in {folder}")


def _folder(settings: GlobalOptions) -> Path:
    """The folder of all logs. Raises SettingsError, and ClickException where it is closed to us."""
    from aurora_orchestration.conversations.log_names import logs_folder
    from aurora_protocol.closed_paths import closed_on_way, opening
    from aurora_server.configuration.settings import load

    folder = logs_folder(load(os.environ, settings.config).soar.conversations)
    if (closed := closed_on_way(folder, folder=True)) is not None:
        raise click.ClickException(f"{closed} is closed, and conversation logs are in it; {opening(closed)}")
    return folder


def _range(day: str | None, month: str | None, begin: str | None, end: str | None) -> tuple[str, str]:
    """First and last day. Raises UsageError."""
    if sum((day is not None, month is not None, begin is not None or end is not None)) > 1:
        raise click.UsageError("--date, --month and --from/--to exclude each other", click.get_current_context())
    if day is not None:
        return _day(day, "--date"), day
    if month is not None:
        start = date.fromisoformat(_day(f"{month}-01", "--month"))
        return start.isoformat(), ((start + timedelta(days=32)).replace(day=1) - timedelta(days=1)).isoformat()
    first = _day(begin, "--from") if begin is not None else FIRST
    last = _day(end, "--to") if end is not None else LAST
    if first > last:
        raise click.UsageError(f"--from {first} is after --to {last}", click.get_current_context())
    return first, last


def _day(given: str, option: str) -> str:
    """Date option parsed. Raises BadParameter for no day of the calendar."""
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", given) or given >= "9999":
            raise ValueError
        return date.fromisoformat(given).isoformat()
    except ValueError as error:
        wanted = "YYYY-MM" if option == "--month" else "YYYY-MM-DD"
        shown = given.removesuffix("-01") if option == "--month" else given
        raise click.BadParameter(f"{shown!r} is no day of the calendar; write {option} as {wanted}") from error


def _said_range(first: str, last: str) -> str:
    if first == last:
        return f" of {first}"
    return (f" from {first}" if first != FIRST else "") + (f" up to {last}" if last != LAST else "")


def row(each: Conversation) -> dict[str, Any]:
    """A conversation for `--json`."""
    return {
        "name": each.name,
        "file": each.path.name if not each.file else each.file,
        "path": str(each.path),
        "date": each.day,
        "id": each.id,
        "query": each.query,
        "keywords": list(each.keywords),
        "started_at": each.started_at,
        "state": each.state,
        "complexity": each.complexity,
        "score": each.score,
        "cost_usd": each.cost_usd,
        "tokens": each.tokens,
        "duration_ms": each.duration_ms,
        "compressed": each.path.name.endswith(".gz"),
    }


def list_lines(found: Sequence[Conversation], style: TerminalStyle) -> list[str]:
    """One line each: when (where you are), its name, score, cost, time, and what was asked."""
    rows = []
    for each in found:
        state = "" if each.state == "complete" else f"{each.state.replace('_', ' ')}: "
        asked = plain(each.query or "")
        if style.width is None:  # a question may be pages long
            asked = shorten(asked, max(_WIDEST_PIPED - len(state), 0))
        coloured = style.colored(state, "red" if each.state == "failed" else "yellow")
        rows.append([style.dim(_when(each)), style.bold(each.name), *_figures(each), f"{coloured}{asked}"])
    lines = table_lines(rows, style, right={2, 3, 4}, least={2: 4, 3: 8, 4: 8}, cut=5, indent=0)
    known = [each.cost_usd for each in found if each.cost_usd is not None]
    spent = f" · ${sum(known):,.2f}" if known else ""
    return [*lines, style.dim(f"{count(len(found), 'conversation')}{spent}")]


def found_lines(found: Sequence[FoundSection], words: Sequence[str], style: TerminalStyle) -> list[str]:
    """Each log with its lines, numbered as in the log."""
    lines: list[str] = []
    for each in found:
        told = each.conversation
        lines.append(f"{style.bold(told.name)}  {plain(told.query or '')}")
        width = max(len(str(line.number)) for line in each.lines)
        last = None
        for line in each.lines:
            if last is not None and line.number > last + 1 and any(not other.hit for other in each.lines):
                lines.append(style.dim(f"    {'⋮':>{width}}"))
            last = line.number
            text = plain("".join(plain_lines(line.text))).strip()
            room = (style.width or _WIDEST_PIPED) - width - 6
            text = _around(text, words, max(room, _NARROWEST))
            lines.append(f"    {style.dim(str(line.number).rjust(width))}  {_marked(text, words, style)}")
        hits = sum(line.hit for line in each.lines)
        if each.matches > hits:
            lines.append(style.dim(f"    … {count(each.matches - hits, 'more line')}; aurora logs view {told.name}"))
    return lines


def document(each: Conversation, text: str) -> dict[str, Any]:
    """A conversation with its JSON blocks in their order, its figures, and the Markdown as it is."""
    blocks = []
    for block in _BLOCK.findall(text):
        try:
            blocks.append(json.loads(block))
        except (ValueError, RecursionError):  # edited by hand: it stays in the Markdown
            continue
    trace = [each for each in blocks if not (isinstance(each, dict) and "execution_summary" in each)]
    return {**row(each), "execution_summary": each.facts or None, "trace": trace, "markdown": text}


def render(text: str, style: TerminalStyle) -> None:
    """Lay a log out on the terminal."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(force_terminal=True, width=style.width, highlight=False)
    console.print(Markdown(printable(text), code_theme="ansi_dark", hyperlinks=False))


def printable(text: str) -> str:
    """A log without terminal escape sequences: it cannot command the terminal, whoever edited it."""
    return "\n".join(plain_lines(text))


def _when(each: Conversation) -> str:
    try:
        return f"{datetime.fromisoformat(each.started_at or '').astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return each.day


def _figures(each: Conversation) -> tuple[str, str, str]:
    """Score, cost and time."""
    score = f"{each.score:.2f}" if each.score is not None else "–"
    cost = f"${each.cost_usd:.4f}" if each.cost_usd is not None else "–"
    lasted = took(each.duration_ms) if each.duration_ms is not None else "–"
    return score, cost, lasted


def _around(text: str, words: Sequence[str], width: int) -> str:
    """As much of a line as fits `width`, so that the first of the words it has is in it."""
    if len(text) <= width:
        return text
    folded = text.casefold()
    places = [folded.find(word.casefold()) for word in words if word.strip()]
    at = min((place for place in places if place >= 0), default=0)
    begin = 0 if at < width // 2 else min(at - width // 3, len(text) - width + 1)
    return shorten(text, width) if begin == 0 else shorten(f"…{text[begin:].lstrip()}", width)


def _marked(text: str, words: Sequence[str], style: TerminalStyle) -> str:
    """Line with the words found in it highlighted."""
    if not style.rich:
        return text
    pattern = "|".join(re.escape(word) for word in words if word.strip())
    return re.sub(pattern, lambda found: style.colored(found.group(), "yellow"), text, flags=re.IGNORECASE)
