"""Conversation log view: how conversations look: a list, hits of a search, one rendered, one as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from aurora_cli.output import Style
from aurora_protocol.human_text import count, plain, plain_lines, shorten, took

if TYPE_CHECKING:
    from aurora_orchestration.conversations.log_reader import Conversation
    from aurora_orchestration.conversations.log_search import FoundSection

_COLORS = {"complete": "green", "partial": "yellow", "failed": "red", "interrupted": "yellow", "unfinished": "yellow"}
_BLOCK = re.compile(r"^```json\n(.*?)^```$", re.M | re.S)
_NARROWEST = 20
_WIDEST_PIPED = 120


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


def list_lines(found: Sequence[Conversation], style: Style) -> list[str]:
    """One line each: when (where you are), its name, score, cost, time, and what was asked."""
    rows = [(_when(each), each.name, _figures(each), each) for each in found]
    widths = [max(len(each[place]) for each in rows) for place in range(2)]  # type: ignore[arg-type]
    figures = max(len(each[2]) for each in rows)
    lines = []
    for when, name, told, each in rows:
        state = "" if each.state == "complete" else f"{each.state.replace('_', ' ')}: "
        used = widths[0] + widths[1] + figures + 6
        room = _WIDEST_PIPED if style.width is None else max(style.width - used, _NARROWEST)
        asked = shorten(f"{state}{plain(each.query or '')}", room)
        if state and asked.startswith(state):
            asked = style.colored(state, _COLORS.get(each.state, "yellow")) + asked[len(state) :]
        head = f"{style.dim(when.ljust(widths[0]))}  {style.bold(name.ljust(widths[1]))}"
        lines.append(f"{head}  {told.ljust(figures)}  {asked}".rstrip())
    known = [each.cost_usd for each in found if each.cost_usd is not None]
    spent = f" · ${sum(known):,.2f}" if known else ""
    return [*lines, style.dim(f"{count(len(found), 'conversation')}{spent}")]


def found_lines(found: Sequence[FoundSection], words: Sequence[str], style: Style) -> list[str]:
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
            text = plain("".join(plain_lines(line.text)))
            if style.width is not None:
                text = shorten(text, max(style.width - width - 6, _NARROWEST))
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


def render(text: str, style: Style) -> None:
    """Lay a log out on the terminal."""
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(force_terminal=True, width=style.width, highlight=False)
    console.print(Markdown(printable(text), code_theme="ansi_dark", hyperlinks=False))


def printable(text: str) -> str:
    """A log that cannot command the terminal, whoever edited it."""
    return "\n".join(plain_lines(text))


def _when(each: Conversation) -> str:
    try:
        return f"{datetime.fromisoformat(each.started_at or '').astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return each.day


def _figures(each: Conversation) -> str:
    score = f"{each.score:.2f}" if each.score is not None else "   –"
    cost = f"${each.cost_usd:.4f}" if each.cost_usd is not None else "–"
    lasted = took(each.duration_ms) if each.duration_ms is not None else "–"
    return f"{score}  {cost:>8}  {lasted:>8}"


def _marked(text: str, words: Sequence[str], style: Style) -> str:
    if not style.rich:
        return text
    pattern = "|".join(re.escape(word) for word in words if word.strip())
    return re.sub(pattern, lambda found: style.colored(found.group(), "yellow"), text, flags=re.IGNORECASE)
