"""`aurora explain`: all that memory knows of one chunk."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from aurora_cli.errors import FINE
from aurora_cli.global_options import GlobalOptions
from aurora_cli.mem import answer_about, mem
from aurora_cli.output import TerminalStyle, print_json, style_of
from aurora_cli.recall_view import FILE, explanation, location, title
from aurora_protocol.human_text import ago, count, plain
from aurora_protocol.provenance_text import drifted_at, learned_by

EXPLAIN = "aurora/explain"
_ORDER = (
    *("called by", "maybe called by", "passed on by", "inherited by", "maybe inherited by", "calls", "passes on"),
    *("inherits", "edited with"),
)
NAMED = 8
"""Related chunks named of one kind; the rest are counted."""


@click.command()
@click.argument("target", nargs=-1, required=True)
@click.pass_context
def explain(ctx: click.Context, /, target: tuple[str, ...]) -> int:
    """Say all that memory knows of TARGET: who uses it, what changes with it, when it changed, why it ranks so.

    TARGET is a name (AuthService.login), a place (src/auth.py:45, src/auth.py:login) or the id of a result. Of several
    words everything is recalled: aur explain how tokens are renewed.
    """
    if len(target) > 1:
        return int(ctx.invoke(mem, query=("explain", *target)))
    settings: GlobalOptions = ctx.obj
    found = answer_about(settings, EXPLAIN, "id", target[0])
    if settings.json:
        print_json(found)
        return FINE
    style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
    now = datetime.now(UTC)
    chunk = found["chunk"]
    lines = [f"{style.bold(title(chunk))}  {location(chunk, settings.here)}"]
    reasons = explanation(chunk, now, whole=style.width is None)[1:]
    lines += [f"    {line}" for line in (*_told(found, now), *related_lines(found, style, settings.here), *reasons)]
    print("\n".join(lines))
    return FINE


def _told(found: dict[str, Any], now: datetime) -> list[str]:
    """Its first words, and what happened to it."""
    chunk = found["chunk"]
    facts = [learned_by(chunk["provenance"])] if chunk.get("provenance") else []
    if chunk.get("drifted"):
        facts.append(drifted_at(chunk["drifted"]))
    if chunk.get("last_modified"):
        facts.append(f"changed {ago(chunk['last_modified'], now)}")
    if found["commits"]:
        facts.append(count(len(found["commits"]), "commit"))
    if found["accesses"]:
        facts.append(f"used in {count(len(found['accesses']), 'answer')}")
    return [plain(line) for line in (chunk.get("signature"), chunk.get("summary"), " · ".join(facts)) if line]


def related_lines(found: dict[str, Any], style: TerminalStyle, here: Path) -> list[str]:
    """What it has to do with, a line for each kind of relation, sure ones first: `called by load, save and 3 more`.
    Files are spelled from `here`, the working folder.
    """
    chunk = found["chunk"]
    groups: dict[str, list[str]] = {relation: [] for relation in _ORDER}
    for each in sorted(found["relations"], key=lambda each: bool(each.get("likely"))):
        relation = f"{'maybe ' if each.get('likely') else ''}{each['relation']}"
        is_file = each["name"] == "<module>" or each["relation"] == "imported by"  # by whatever chunk stands for it
        file = {"file": each["file"], "workspace": chunk.get("workspace"), "kind": FILE}
        name = location(file, here) if is_file else plain(str(each["name"]))
        if name not in groups.setdefault(relation, []):
            groups[relation].append(name)
    counts = {
        "called by": chunk.get("callers", 0),
        "maybe called by": chunk.get("likely_callers", 0),
        "passed on by": chunk.get("handed_on", 0),
        "inherited by": chunk.get("subclasses", 0),
        "maybe inherited by": chunk.get("likely_subclasses", 0),
    }
    return [
        f"{style.dim(relation)} {', '.join(names[:NAMED])}{_more(max(counts.get(relation, 0), len(names)), names)}"
        for relation, names in groups.items()
        if names
    ]


def _more(total: int, names: list[str]) -> str:
    left = total - len(names[:NAMED])
    return f" and {left} more" if left > 0 else ""
