"""`aurora query`: have AURORA work on a question, phase by phase (AURORA §7, §9.5)."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from aurora_protocol import RequestFailed
from aurora_server.cli.haste import stay
from aurora_server.cli.mem import index_once
from aurora_server.cli.query_view import RunView, run_view
from aurora_server.cli.session import open_session
from aurora_server.cli.settings import Settings

QUERY, ASK_USER = "aurora/query", "aurora/askUser"  # spelled here too: aurora_protocol.queries costs msgspec's import
MAX_QUESTION = 1_000_000


@click.command()
@click.argument("text", nargs=-1)
@click.option(
    "--verification",
    type=click.Choice(["option_a", "option_b", "option_c"]),
    help="How far the work is checked: by the model itself, by a critic, or by three ways and a judge.",
)
@click.option("--dry-run", is_flag=True, help="Stop before the first call that costs anything.")
@click.option("--auto", is_flag=True, help="Take the whole way for complex questions only; answer others directly.")
@click.option(
    "--if-called",
    is_flag=True,
    help="Leave alone what does not call AURORA (aurora.prefix, aurora.always_on): for hooks.",
)
@click.option("--force", is_flag=True, help="Go beyond the budget, where the configuration allows that.")
@click.option("--session", default="", help="Ties questions together: what this one says of the last answer counts.")
@click.option("--resume", metavar="ID", help="Go on with a run that was interrupted; nothing is paid twice.")
@click.pass_obj
def query(
    settings: Settings,
    text: tuple[str, ...],
    verification: str | None,
    dry_run: bool,
    auto: bool,
    if_called: bool,
    force: bool,
    session: str,
    resume: str | None,
) -> int:
    """Have AURORA work on the question TEXT, phase by phase; - reads it from standard input.

    -v shows the phases with their scores, -vv every check, --json one object per phase. Exits 0 with an answer, 1
    without, 4 when a guardrail or the budget blocked it.
    """
    question = sys.stdin.read(MAX_QUESTION) if text == ("-",) else " ".join(text)
    if not question.strip() and resume is None:
        raise click.UsageError("the question is empty", click.get_current_context())
    params: dict[str, Any] = {"query": question, "dryRun": dry_run, "auto": auto, "force": force, "session": session}
    params |= {"ifCalled": if_called}
    params |= {"verification": verification} if verification else {}
    params |= {"resume": resume} if resume else {}
    stay()
    with run_view(settings) as view:
        return ask(settings, params, view)


def ask(settings: Settings, params: dict[str, Any], view: RunView) -> int:
    """Put a question to the daemon and show what comes of it; returns the exit code."""
    on_terminal = sys.stdin.isatty() and sys.stderr.isatty() and not settings.json
    with open_session(settings, settings.workspace, {"askUser": on_terminal}) as client:

        def answer(asked: dict[str, Any]) -> dict[str, Any]:
            with view.paused():
                words = click.prompt(f"\n{asked.get('question', '')}\n", default="", show_default=False, err=True)
            return {"answer": words or None}

        client.answer(ASK_USER, answer)
        with view.paused():
            index_once(client, settings.workspace, settings)
        token = f"query-{os.getpid()}"
        result = client.request(QUERY, {**params, "partialResultToken": token}, on_progress=view.stage)
    if not isinstance(result, dict):
        raise RequestFailed("the daemon gave no result; see: aurora doctor", 0)
    return view.finish(result)
