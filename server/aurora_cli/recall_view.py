"""Recall view: how an answer of `aur mem` looks (AURORA §9.9)."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from aurora_cli.explain_view import explanation
from aurora_cli.output import Style
from aurora_protocol.human_text import ago, count, month, plain, plain_lines, shorten, took, used

_CALLABLE = ("function", "method", "macro")
_WIDEST_LOCATION = 44
_NARROWEST_TITLE = 24
_WIDEST_PIPED = 120


def recall_lines(reply: dict[str, Any], *, style: Style, here: Path, now: datetime, explain: bool = False) -> list[str]:
    """An `aurora/recall` result as lines for people. `here` is the working folder that locations are spelled from."""
    results = reply["results"]
    lines: list[str] = []
    if not results:
        lines.append(plain(reply.get("hint") or f"nothing in memory answers {reply['query']!r}"))
    else:
        locations = [location(item, here) for item in results]
        room = min(max(len(text) for text in locations), _WIDEST_LOCATION)
        titles = _titles(results, locations, room, style)
        for rank, (item, where, title) in enumerate(zip(results, locations, titles, strict=True), start=1):
            lines += _item_lines(rank, item, where, room, title, style, now)
            if explain:
                lines += [f"    {line}" for line in explanation(item, now)]
            if isinstance(item.get("content"), str):
                lines += [*content_lines(item, style), ""]
        if reply.get("hint"):
            lines.append(plain(reply["hint"]))
    lines += [plain(_log(each)) for each in reply.get("logs") or ()]
    lines.append(style.dim(footer(reply)))
    return lines


def location(item: dict[str, Any], here: Path) -> str:
    """`path:line` as a terminal in `here` can open it: relative below `here`'s workspace, else absolute.

    What stands in no file (`reas:…`) goes by its id.
    """
    if not item["file"]:
        return plain(str(item["id"]))
    file, workspace = str(item["file"]), str(item.get("workspace") or "")
    if workspace:
        root = Path(workspace)
        if here == root or here.is_relative_to(root):
            file = os.path.relpath(root / file, here)
        else:
            file = os.fspath(root / file)
    return f"{plain(file)}:{item['line_start']}"


def title(item: dict[str, Any]) -> str:
    """What a chunk is, by its qualified name: `Action.request(args) -> Request`, `class Request(Message)`."""
    name, kind = str(item["name"]), str(item["kind"])
    signature = plain(str(item.get("signature") or "")).rstrip(" {:")
    if kind == "reasoning":
        return signature
    if kind == "module":
        return f"module {plain(str(item['file']))}"
    if name == "<module>":
        return f"{kind} {plain(str(item['file']))}"
    if kind == "section":
        return plain(f"{kind} {name.replace('.', ' › ')}")
    if kind == "operation" and signature:
        return f"{kind} {signature}"
    short = name.rpartition(".")[2]
    place = re.search(rf"(?<!\w){re.escape(short)}(?!\w)", signature) if short else None
    rest = signature[place.end() :] if place else ""
    shown = f"{name}{rest}"
    return plain(shown if kind in _CALLABLE else f"{kind} {shown}")


def content_lines(item: dict[str, Any], style: Style) -> list[str]:
    """The code of a result with the numbers of its lines; what stands in no file has none."""
    texts = plain_lines(item["content"])
    numbers = item.get("content_lines") or range(item["line_start"], item["line_start"] + len(texts))
    if not item["file"]:
        return [f"    {text}".rstrip() for text in texts]
    width = len(str(max(numbers, default=0)))
    return [
        f"    {style.dim(str(number or '').rjust(width))}  {text}".rstrip()
        for number, text in zip(numbers, texts, strict=False)
    ]


def footer(reply: dict[str, Any]) -> str:
    """How far to trust the answer, and what it cost: `index up to date · 2 files skipped (aurora doctor) · 4 ms`."""
    freshness = reply["freshness"]
    pending, skipped = freshness["pending_files"], freshness["skipped_files"]
    if freshness.get("state") == "error":
        parts = ["indexing failed (aurora doctor)"]
    elif pending:
        parts = [f"{count(pending, 'file')} still being indexed"]
    elif freshness["indexed_at"] is None or freshness.get("state") in ("scanning", "indexing"):
        parts = ["still being indexed"]
    else:
        parts = ["index up to date"]
    if freshness.get("history_percent") is not None:
        parts.append(f"reading history {freshness['history_percent']} %")
    if skipped:
        parts.append(f"{count(skipped, 'file')} skipped (aurora doctor)")
    return " · ".join([*parts, took(reply["took_ms"])])


def _item_lines(
    rank: int, item: dict[str, Any], where: str, room: int, shown: str, style: Style, now: datetime
) -> list[str]:
    path = Path(str(item.get("workspace") or "/"), str(item["file"]))
    place = style.link(style.bold(where), path, item["line_start"]) if item["file"] else style.bold(where)
    linked = place + " " * max(room - len(where), 0)
    lines = [f"{rank:>2}  {linked}  {shown}  {item['score']:.2f}"]
    facts = _facts(item, now)
    summary = plain(str(item.get("summary") or ""))
    if style.width is not None:
        summary = shorten(summary, max(style.width - 7 - len(facts), _NARROWEST_TITLE))
    below = " · ".join(part for part in (summary, style.dim(facts) if facts else "") if part)
    return [*lines, f"    {below}"] if below else lines


def _facts(item: dict[str, Any], now: datetime) -> str:
    facts = []
    if item.get("last_modified"):
        facts.append(f"changed {ago(item['last_modified'], now)}")
    elif item.get("modified_before"):
        facts.append(f"changed before {month(item['modified_before'])}")
    for many, noun in (("callers", "caller"), ("subclasses", "subclass")):
        if said := used(item.get(many, 0), item.get(f"likely_{many}", 0), noun):
            facts.append(said)
    if item.get("similar"):
        facts.append(f"+{len(item['similar'])} alike")
    if item.get("excerpt"):
        facts.append("excerpt")
    return " · ".join(facts)


def _titles(results: list[dict[str, Any]], locations: list[str], room: int, style: Style) -> list[str]:
    """The titles, cut to what a terminal's line has left beside each location, and of one width but for those."""
    titles = [title(item) for item in results]
    if style.width is None:
        return [shorten(text, _WIDEST_PIPED) for text in titles]
    fits = max(style.width - room - 12, _NARROWEST_TITLE)
    common = min(max(len(text) for text in titles), fits)
    left = [max(common - max(len(where) - room, 0), _NARROWEST_TITLE) for where in locations]
    return [shorten(text, width).ljust(width) for text, width in zip(titles, left, strict=True)]


def _log(log: dict[str, Any]) -> str:
    return f"see also {log['file']}:{log['line_start']} {log['section']}"
