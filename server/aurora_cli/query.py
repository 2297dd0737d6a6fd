"""`aurora query`: have AURORA work on a question, phase by phase (AURORA §7, §9.5)."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from aurora_cli.errors import FINE
from aurora_cli.fast_exit import stay
from aurora_cli.mem import index_once
from aurora_cli.model_options import flags_of, model_options, words_given
from aurora_cli.query_view import RunView, run_view
from aurora_cli.session import open_session
from aurora_cli.settings import Settings
from aurora_protocol import RequestFailed

QUERY, ASK_USER = (
    "aurora/query",
    "aurora/askUser",
)  # spelled here too: aurora_protocol.query_methods costs msgspec's import
MAX_QUESTION = 200_000
"""Characters that travel; the guardrails allow far less (`guardrails.max_query_length`)."""


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
    help="For hooks: leave alone, without a word, what does not call AURORA (aurora.prefix, aurora.always_on); "
    "a hook's payload is read for its prompt.",
)
@click.option("--session", default="", help="Ties questions together: what this one says of the last answer counts.")
@click.option("--resume", metavar="ID", help="Go on with a run that was interrupted; nothing is paid twice.")
@model_options
@click.pass_obj
def query(
    settings: Settings,
    text: tuple[str, ...],
    verification: str | None,
    dry_run: bool,
    auto: bool,
    if_called: bool,
    session: str,
    resume: str | None,
    llm_provider: str | None,
    llm_model: str | None,
    force: bool,
) -> int:
    """Have AURORA work on the question TEXT, phase by phase; - reads it from standard input.

    -v shows the phases with their scores, -vv every check, --json one object per phase. Exits 0 with an answer, 1
    without, 4 when a guardrail or the budget blocked it.
    """
    question, ctx = words_given(text), click.get_current_context()
    if if_called and text == ("-",):
        question = prompt_of(question)
        if not question.strip():
            return FINE
    if not question.strip() and resume is None:
        raise click.UsageError("the question is empty", ctx)
    if question.strip() and resume is not None:
        raise click.UsageError("--resume goes on with its own question; ask another one without it", ctx)
    if len(question) > MAX_QUESTION:
        raise click.UsageError(
            f"the question has more than {MAX_QUESTION:,} characters; ask about a file by its path instead", ctx
        )
    params: dict[str, Any] = {"query": question, "dry_run": dry_run, "auto": auto, "force": force, "session": session}
    params |= {"if_called": if_called}
    params |= {"verification": verification} if verification else {}
    params |= {"resume": resume} if resume else {}
    params |= flags_of(llm_provider, llm_model)
    stay()
    with run_view(settings) as view:
        try:
            return ask(settings, params, view)
        except (KeyboardInterrupt, click.Abort):
            return view.interrupted()


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
    if not result.get("id") and params.get("if_called") and not settings.json:
        return FINE  # a hook's output would join every prompt
    return view.finish(result)


def prompt_of(text: str) -> str:
    """The prompt in a hook's payload (`UserPromptSubmit` of Claude Code: a JSON object); other text is the prompt."""
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return text
    prompt = payload.get("prompt") if isinstance(payload, dict) and "hook_event_name" in payload else None
    return prompt if isinstance(prompt, str) else text
