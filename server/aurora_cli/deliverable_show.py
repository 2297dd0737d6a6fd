"""`aurora deliverable show | list | events | export`: what is known of deliverables."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import click

from aurora_cli.deliverable_record import DELIVERABLE, called, named_change, with_zone
from aurora_cli.deliverable_view import criteria_lines, event_line, list_lines, show_lines
from aurora_cli.global_options import GlobalOptions
from aurora_cli.output import json_text, print_json, style_of_output
from aurora_cli.session import open_session
from aurora_deliverables.choices import KINDS, STATUSES

SHOWN = ("open", *STATUSES)
MOST = 100_000


@click.command()
@click.argument("change", required=False)
@click.pass_obj
def show(settings: GlobalOptions, change: str | None) -> None:
    """Show a deliverable's state; with --json the document of AURA-M §5.1."""
    asked = _about("show", change)
    with open_session(settings, settings.workspace) as client:
        state = client.request(DELIVERABLE, asked)
        final = None
        if state["status"] in ("completed", "failed"):
            final = client.request(DELIVERABLE, {"action": "export", "change_id": state["change_id"]})
        name = None if settings.json else called(client, state["change_id"])
    _said(state["change_id"], change)
    if settings.json:
        print_json(state)
        return
    style = style_of_output(settings)
    print("\n".join(show_lines(state, style, datetime.now(UTC), name, final)))


@click.command("list")
@click.option("--status", type=click.Choice(SHOWN), help="Only these; open is what has not ended.")
@click.option("--kind", type=click.Choice(KINDS), help="Changes, or with run questions, which are no deliverables.")
@click.option("--search", metavar="WORDS", help="Only those whose name, description or author, agent, model say so.")
@click.option("--agent", help="Only this agent's.")
@click.option("--model", help="Only this model's.")
@click.option("--since", callback=with_zone, metavar="TIME", help="Only what was under way then or later.")
@click.option("--until", callback=with_zone, metavar="TIME", help="Only what was under way then or before.")
@click.option("--limit", type=click.IntRange(1, MOST), default=50, show_default=True, help="At most so many.")
@click.pass_obj
def list_(settings: GlobalOptions, /, limit: int, **asked: str | None) -> None:
    """List deliverables, the latest first."""
    params: dict[str, Any] = {"action": "list", "limit": limit}
    params |= {name: value for name, value in asked.items() if value is not None}
    with open_session(settings, settings.workspace) as client:
        reply = client.request(DELIVERABLE, params)
    if settings.json:
        print_json(reply)
        return
    filtered = len(params) > 2
    style, names = style_of_output(settings), reply.get("names") or {}
    print("\n".join(list_lines(reply["deliverables"], style, datetime.now(UTC), filtered, names)))
    left_out = reply.get("total", 0) - len(reply["deliverables"])
    if left_out > 0:
        print(f"aurora: {left_out:,} earlier ones are left out; see --limit", file=sys.stderr)


@click.command()
@click.argument("change", required=False)
@click.pass_obj
def criteria(settings: GlobalOptions, change: str | None) -> None:
    """Show what a deliverable's spec asks for, what shows whether it is met, and what nothing tells."""
    asked = _about("criteria", change)
    with open_session(settings, settings.workspace) as client:
        reply = client.request(DELIVERABLE, asked)
    _said(reply["change_id"], change)
    if settings.json:
        print_json(reply)
    else:
        print("\n".join(criteria_lines(reply, style_of_output(settings))))


@click.command()
@click.argument("change", required=False)
@click.option("--limit", type=click.IntRange(1, MOST), default=1000, show_default=True, help="The latest so many.")
@click.pass_obj
def events(settings: GlobalOptions, change: str | None, limit: int) -> None:
    """Print a deliverable's events, oldest first; with --json one line each, as `ingest` reads them."""
    asked = {**_about("events", change), "limit": limit}
    with open_session(settings, settings.workspace) as client:
        reply = client.request(DELIVERABLE, asked)
    _said(reply["change_id"], change)
    style = style_of_output(settings)
    for event in reply["events"]:
        if settings.json:
            print(json_text(event))
        else:
            print(event_line(event, style))
    left_out = reply["total"] - len(reply["events"])
    if left_out > 0:
        print(f"aurora: {left_out:,} earlier events are left out; see --limit", file=sys.stderr)


@click.command()
@click.argument("change", required=False)
@click.pass_obj
def export(settings: GlobalOptions, change: str | None) -> None:
    """Print the final record of a deliverable that has ended (AURA-M §5.2), else its state, as JSON."""
    asked = _about("export", change)
    with open_session(settings, settings.workspace) as client:
        document = client.request(DELIVERABLE, asked)
    _said(document["change_id"], change)
    print_json(document)


def _about(action: str, change: str | None) -> dict[str, Any]:
    return {"action": action} if named_change(change) is None else {"action": action, "change_id": change}


def _said(meant: str, change: str | None) -> None:
    if change is None:
        print(f"aurora: {meant} is meant, the only one that is open", file=sys.stderr)
