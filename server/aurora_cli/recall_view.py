"""Recall view: how an answer of `aur mem` looks (AURORA §9.9)."""

from __future__ import annotations

import os
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from aurora_cli.output import TerminalStyle
from aurora_protocol.human_text import ago, count, plain, plain_lines, shorten, took

_CALLABLE = ("function", "method", "macro")
_WIDEST_LOCATION = 44
_NARROWEST_TITLE = 24
_WIDEST_PIPED = 120

MAX_SIGNALS = 6
MAX_MATCHES = 8
MAX_EPISODES = 2
LONGEST_SUBJECT = 50
_FROM = {"answers": "use", "git": "commit", "edits": "edit", "file": "file time"}


def recall_lines(
    reply: dict[str, Any], *, style: TerminalStyle, here: Path, now: datetime, explain: bool = False
) -> list[str]:
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


def content_lines(item: dict[str, Any], style: TerminalStyle) -> list[str]:
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
    if skipped:
        parts.append(f"{count(skipped, 'file')} skipped (aurora doctor)")
    return " · ".join([*parts, took(reply["took_ms"])])


def _item_lines(
    rank: int, item: dict[str, Any], where: str, room: int, shown: str, style: TerminalStyle, now: datetime
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
    lines += [f"    {below}"] if below else []
    also = _also(item, style)
    return [*lines, f"    {style.dim(also)}"] if also else lines


def _also(item: dict[str, Any], style: TerminalStyle) -> str:
    """What else of the same file answers: `also here: Session.close :88, open_session :12`."""
    members = item.get("also") or []
    if not members:
        return ""
    named = plain("also here: " + ", ".join(f"{each['name']} :{each['line_start']}" for each in members))
    return named if style.width is None else shorten(named, max(style.width - 4, _NARROWEST_TITLE))


def _facts(item: dict[str, Any], now: datetime) -> str:
    facts = []
    if item.get("last_modified"):
        facts.append(f"changed {ago(item['last_modified'], now)}")
    if item.get("callers"):
        facts.append(count(item["callers"], "caller"))
    if item.get("similar"):
        facts.append(f"+{len(item['similar'])} alike")
    if item.get("excerpt"):
        facts.append("excerpt")
    return " · ".join(facts)


def _titles(results: list[dict[str, Any]], locations: list[str], room: int, style: TerminalStyle) -> list[str]:
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


def explanation(item: dict[str, Any], now: datetime) -> list[str]:
    """The terms of a chunk's activation (AURORA §6.3) with where each comes from, what matched, what ranked it."""
    evidence = item.get("evidence")
    if not isinstance(evidence, dict):
        return [_activation(item["activation"], {}, now)]
    lines = [
        _asked(evidence),
        _activation(item["activation"], evidence, now),
        _matches(evidence),
        _reached(item, evidence),
        _told_otherwise(evidence),
        _signals(evidence),
    ]
    return [plain(line) for line in lines if line]


def _asked(evidence: dict[str, Any]) -> str:
    """The kind of question that the query was taken for, which decides how answers are ordered."""
    return f"asked for {evidence['question']}" if evidence.get("question") else ""


def _activation(terms: dict[str, Any], evidence: dict[str, Any], now: datetime) -> str:
    learned = evidence.get("learned") or []
    days = evidence.get("days_since_access")
    aged = f" ({days:.0f} d)" if days is not None and days >= 1 else ""
    line = (
        f"activation {terms['total']:.2f} = base level {terms['base_level']:.2f}{_history(evidence, now)} "
        f"+ spreading {terms['spreading']:.2f} + context {terms['context_boost']:.2f} "
        f"− decay {terms['decay']:.2f}{aged}"
    )
    if terms.get("learned") or learned:
        line += f" + learned {terms.get('learned', 0.0):.2f}" + (f" ({count(len(learned), 'run')})" if learned else "")
    return line


def _history(evidence: dict[str, Any], now: datetime) -> str:
    accesses, noun = evidence.get("accesses"), _FROM.get(evidence.get("accesses_from", ""))
    if not accesses or noun is None:
        return ""
    last = ago(accesses[-1], now)
    return f" ({noun} {last})" if noun == "file time" else f" ({count(evidence['access_count'], noun)}, last {last})"


def _matches(evidence: dict[str, Any]) -> str:
    matches = evidence.get("matches") or []
    said = [
        f"{match['term']} ({', '.join(match['fields'])})" if match["fields"] else match["term"] for match in matches
    ]
    more = f" and {len(said) - MAX_MATCHES} more" if len(said) > MAX_MATCHES else ""
    return f"words: {' · '.join(said[:MAX_MATCHES])}{more}" if said else ""


def _reached(item: dict[str, Any], evidence: dict[str, Any]) -> str:
    """`expand ← calls ← Action.request (0.21)`: the arrow points from who calls to what is called."""
    steps = evidence.get("reached") or []
    if not steps:
        return ""
    line = str(item["name"])
    for step in reversed(steps):
        arrow = "←" if step["forward"] else "→"
        line += f" {arrow} {step['relation']} {arrow} {step['name']}"
    return f"reached: {line} ({steps[-1]['amount']:.2f})"


def _told_otherwise(evidence: dict[str, Any]) -> str:
    """Commits like the question, and what an embedding says."""
    said = [f"{each['commit']} {shorten(each['subject'], LONGEST_SUBJECT)}" for each in evidence.get("episodes") or []]
    parts = [f"commits like it: {' · '.join(said[:MAX_EPISODES])}"] if said else []
    if near := evidence.get("semantic"):
        parts.append(f"by meaning: number {near['rank']}, similarity {near['similarity']:.2f}")
    return " · ".join(parts)


def _signals(evidence: dict[str, Any]) -> str:
    told = [each for each in evidence.get("signals") or [] if abs(each["contribution"]) >= 0.05][:MAX_SIGNALS]
    if not told:
        return ""
    return "ranked by: " + " · ".join(
        f"{each['name']} {'+' if each['contribution'] > 0 else '−'}{abs(each['contribution']):.1f}" for each in told
    )
