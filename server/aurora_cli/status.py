"""`aurora status`: one screen of what AURORA does for this workspace and this user. Starts no daemon, opens nothing."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from aurora_cli.daemon import STATUS
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import TerminalStyle, print_json, style_of_output
from aurora_cli.session import CLIENT_NAME
from aurora_protocol.client import Client
from aurora_protocol.connection import NobodyThere
from aurora_protocol.human_text import count, plain, size, took

_ANSWER_WITHIN = 10.0
_SHOWN = 5
"""Deliverables under way that one screen names; the others are counted."""


@click.command()
@click.pass_obj
def status(settings: GlobalOptions) -> None:
    """Say on one screen how memory, daemon, trust, changes under way, money and team stand."""
    told = _told(settings)
    if settings.json:
        print_json(told)
    else:
        print("\n".join(status_lines(told, style_of_output(settings), datetime.now(UTC))))


def status_lines(told: dict[str, Any], style: TerminalStyle, now: datetime) -> list[str]:
    """One screen: a line for each matter, its name first."""
    from aurora_cli.table import table_lines

    rows = [["workspace", _workspace_words(told["workspace"])], ["daemon", _daemon_words(told)]]
    if told["other_workspaces"]:
        others = [each["root"] for each in told["other_workspaces"]]
        rows.append(["also open", plain(", ".join(others))])
    rows.append(["trust", _trust_words(told["workspace"])])
    rows += [["under way" if not at else "", line] for at, line in enumerate(_deliverables(told, style, now))]
    rows.append(["budget", _budget_words(told["budget"])])
    rows.append(["team", _team_words(told["teams"])])
    return table_lines([[style.bold(name), words] for name, words in rows], style, cut=1, indent=0)


def _told(settings: GlobalOptions) -> dict[str, Any]:
    """State of everything: daemon, workspace, trust, deliverables, budget, teams."""
    import msgspec

    from aurora_server.configuration.budget import open_budget
    from aurora_server.configuration.trust import Trust
    from aurora_team.membership import Memberships

    root = settings.workspace.resolve()
    daemon = _daemon(settings)
    workspaces = daemon.pop("workspaces") if daemon else []
    mine = next((each for each in workspaces if Path(each["root"]) == root), None)
    return {
        "running": daemon is not None,
        "daemon": daemon,
        "workspace": {
            "root": str(root),
            "trusted": Trust(settings.address.home).is_trusted(root),
            "open": mine is not None,
            **(mine or {}),
        },
        "other_workspaces": [each for each in workspaces if each is not mine],
        "deliverables": _under_way(settings, root) if mine else {"deliverables": [], "total": 0, "names": {}},
        "budget": msgspec.to_builtins(open_budget(os.environ, settings.config).status()),
        "teams": [
            {"team": each.team, "reached_at": each.reached_at, "problem": each.problem}
            for each in Memberships(settings.address.home).read()
        ],
    }


def _daemon(settings: GlobalOptions) -> dict[str, Any] | None:
    """What the daemon says of itself; None where none runs."""
    try:
        client = Client.connect(settings.address)
    except NobodyThere:
        return None
    with client:
        client.initialize(None, CLIENT_NAME, os.getpid(), timeout=_ANSWER_WITHIN)
        reply: dict[str, Any] = client.request(STATUS, timeout=_ANSWER_WITHIN)
        return reply


def _under_way(settings: GlobalOptions, root: Path) -> dict[str, Any]:
    """The deliverables that are open, of a workspace that is open anyway."""
    from aurora_cli.deliverable_record import DELIVERABLE

    with Client.connect(settings.address) as client:
        client.initialize(root, CLIENT_NAME, os.getpid(), timeout=_ANSWER_WITHIN)
        asked = {"action": "list", "status": "open", "limit": _SHOWN}
        found = client.request(DELIVERABLE, asked, timeout=_ANSWER_WITHIN)
        return {name: found.get(name) or empty for name, empty in (("deliverables", []), ("total", 0), ("names", {}))}


def _workspace_words(workspace: dict[str, Any]) -> str:
    if not workspace["open"]:
        return plain(f"{workspace['root']}: not open now; the next command or editor in it opens it")
    facts = [workspace["state"], count(workspace["files"], "file"), count(workspace["chunks"], "chunk")]
    facts += [f"{workspace[kind]:,} {name}" for kind, name in _FILES if workspace[kind]]
    facts.append(size(workspace["database_bytes"]))
    if workspace.get("last_error"):
        facts.append(f"last error: {workspace['last_error']} (aurora doctor)")
    return plain(f"{workspace['root']}: {' · '.join(facts)}")


_FILES = (("pending_files", "pending"), ("skipped_files", "skipped (aurora doctor)"))


def _daemon_words(told: dict[str, Any]) -> str:
    """Line of the daemon: version, process id (PID), uptime, memory (RSS), connections."""
    daemon = told["daemon"]
    if daemon is None:
        return "none is running; the next command that needs one starts it"
    connections = max(0, daemon["connections"] - 1)  # this one is not worth telling
    return (
        f"aurora {daemon['version']}, process {daemon['pid']}, up {took(1000 * daemon['uptime_s'])}, "
        f"{size(daemon['rss_bytes'])}, {count(connections, 'other connection')}"
    )


def _trust_words(workspace: dict[str, Any]) -> str:
    """Line of the workspace's trust."""
    if workspace["trusted"]:
        return "trusted: its .aurora/ may name models, addresses and agents; aurora trust --revoke takes that back"
    return "not trusted: what its .aurora/ would run or redirect is ignored (aurora trust)"


def _deliverables(told: dict[str, Any], style: TerminalStyle, now: datetime) -> list[str]:
    found = told["deliverables"]
    if not found["deliverables"]:
        return ["no change" if told["workspace"]["open"] else "not known while the workspace is not open"]
    from aurora_cli.deliverable_view import list_lines

    more = found["total"] - len(found["deliverables"])
    lines = list_lines(found["deliverables"], style, now, filtered=True, names=found["names"])
    return [*lines, f"and {more:,} more (aurora deliverable list --status open)"] if more > 0 else lines


def _team_words(teams: list[dict[str, Any]]) -> str:
    if not teams:
        return "none was joined; nothing leaves this machine"
    return plain("; ".join(f"{each['team']}: {each['problem'] or 'fine'}" for each in teams)) + " (aurora team status)"


def _budget_words(budget: dict[str, Any]) -> str:
    """Line of the budget: spent, limit, blocked."""
    from aurora_orchestration.guardrails.budget_status import money

    if budget["state"] == "off":
        return "not enforced: cost_budgets.enabled is off"
    spent, limit = money(budget["consumed_usd"]), money(budget["limit_usd"])
    asked = count(budget["query_count"], "question")
    blocked = "; questions that cost are blocked (aurora budget status)" if budget["state"] == "blocked" else ""
    return f"{spent} of {limit} until {budget['period_end'][:10]}, {asked}{blocked}"
