"""`aurora doctor`: diagnosis (health check): what is wrong here, also where the daemon cannot be reached, and how to
mend it.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from typing import Any

import click

from aurora_cli.command_types import PLUGGED
from aurora_cli.errors import FINE, NO, NO_DAEMON, one_line
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import TerminalStyle, print_json, style_of
from aurora_cli.session import open_session
from aurora_cli.table import table_lines
from aurora_protocol import DaemonUnreachable, plugins
from aurora_protocol.address import Address
from aurora_protocol.human_text import count, plain

DOCTOR, REPAIR = "aurora/doctor", "aurora/repair"
_ANSWER_WITHIN = 300.0
"""Seconds: every page of the memory file is read, and that may lie on a slow disk."""
_SIGNS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "error": ("✗", "red")}
_EXAMPLES = 5
BY_SUFFIX = frozenset({"no-language"})
"""Reasons whose examples are suffixes, each of many files."""

_LOG_LINES = 5


@click.command()
@click.option("--repair", is_flag=True, help="Mend the memory file and index anew; what was learned is kept.")
@click.pass_context
def doctor(ctx: click.Context, repair: bool) -> int:
    """Say what is wrong here, and how to mend it. Exits 1 when something is broken."""
    settings: GlobalOptions = ctx.obj
    code = FINE
    try:
        with open_session(settings, settings.workspace) as client:
            reply = client.request(REPAIR, {}) if repair else client.request(DOCTOR, {}, timeout=_ANSWER_WITHIN)
    except DaemonUnreachable as error:
        reply, code = without_daemon(error, settings.address), NO_DAEMON
    reply["findings"] += plugin_findings(ctx)
    if code == FINE and any(finding["level"] == "error" for finding in reply["findings"]):
        code = NO
    if settings.json:
        print_json(reply)
    else:
        style = style_of(sys.stdout, os.environ, no_color=settings.no_color)
        print("\n".join(doctor_lines(reply, style, verbose=settings.verbosity > 0)))
    return code


def without_daemon(error: DaemonUnreachable, address: Address) -> dict[str, Any]:
    """What can be said when no daemon can be asked: why not, where things are, and its last words."""
    what, _, fix = one_line(error).rpartition("; ")
    findings = [{"level": "error", "what": what or fix, "fix": fix if what else None}]
    findings.append({"level": "ok", "what": f"memory is kept in {address.home}", "fix": None})
    try:
        lines = address.log.read_text("utf-8", "replace").splitlines()[-_LOG_LINES:]
    except OSError:
        lines = []
    findings += [{"level": "warning", "what": f"log: {line}", "fix": None} for line in lines if _tells(line)]
    return {"findings": findings, "skipped": {}, "examples": []}


def _tells(line: str) -> bool:
    """Whether a line of the log says what may be wrong: what is as it should be is none."""
    try:
        entry = json.loads(line)
    except ValueError:
        return bool(line.strip())
    return not (isinstance(entry, dict) and entry.get("level") in ("debug", "info"))


def plugin_findings(ctx: click.Context) -> list[dict[str, Any]]:
    """Plug-ins that commands and `aurora mcp` leave out; the daemon tells of its own."""
    logging.getLogger(plugins.__name__).addHandler(logging.NullHandler())  # findings, not lines on standard error too
    root = ctx.find_root()
    if isinstance(root.command, click.Group):
        root.command.list_commands(root)
    if "aurora.mcp_tools" in plugins.groups():
        from aurora_server.mcp.tools import tools  # a fifth of a second, where there is something to tell

        tools()
    return [
        {"level": "warning", "what": each.line, "fix": each.fix}
        for each in plugins.left_out(PLUGGED, "aurora.mcp_tools")
    ]


def doctor_lines(reply: dict[str, Any], style: TerminalStyle, *, verbose: bool = False) -> list[str]:
    """An `aurora/doctor` result for people; `verbose` lists every example of a skipped file that was sent."""
    lines: list[str] = []
    for finding in reply["findings"]:
        sign, color = _SIGNS.get(finding["level"], ("·", "yellow"))
        lines.append(f"{style.colored(sign, color)} {plain(finding['what'])}")
        if finding.get("fix"):
            lines.append(f"    → {plain(finding['fix'])}")
    skipped = sorted(reply["skipped"].items(), key=lambda item: (-item[1], item[0]))
    if skipped:
        lines += ["", f"not indexed: {count(sum(number for _, number in skipped), 'path')}"]
    rows = []
    for reason, number in skipped:
        rows.append([f"{number:,}", style.bold(plain(reason))])
        examples = [example for example in reply["examples"] if example["reason"] == reason]
        shown = examples if verbose else examples[:_EXAMPLES]
        for example in shown:
            detail = plain(example.get("detail") or "")
            rows.append(["", f"{plain(example['path'])}{style.dim(f'  {detail}') if detail else ''}"])
        if reason in BY_SUFFIX and len(examples) > len(shown):
            rows.append(["", style.dim(f"… and {count(len(examples) - len(shown), 'other ending')} (-v lists them)")])
        elif reason not in BY_SUFFIX and number > len(shown) and shown:
            more = "" if verbose or len(examples) == len(shown) else " (-v lists more)"
            rows.append(["", style.dim(f"… and {number - len(shown):,} more{more}")])
    return [*lines, *table_lines(rows, style, right={0}, least={0: 7})] if rows else lines
