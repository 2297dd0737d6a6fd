"""`aurora query`: have AURORA work on a question, phase by phase, its stages shown live as they stream in (AURORA §7,
§9.5).
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import click

from aurora_cli import query_view as view
from aurora_cli.errors import BLOCKED, FINE, INTERRUPTED, NO
from aurora_cli.fast_exit import stay
from aurora_cli.global_options import GlobalOptions
from aurora_cli.mem import index_once
from aurora_cli.output import style_of
from aurora_cli.session import open_session
from aurora_cli.shared_options import flags_of, model_options, words_given
from aurora_protocol import RequestFailed
from aurora_protocol.human_text import plain, plain_lines, shorten, took

if TYPE_CHECKING:
    from rich.live import Live

QUERY, ASK_USER = (
    "aurora/query",
    "aurora/askUser",
)  # spelled here too: aurora_protocol.query_methods costs msgspec's import
MAX_QUESTION = 200_000
"""Characters that travel; the guardrails allow far less (`guardrails.max_query_length`)."""

EXIT_CODES = {"blocked": BLOCKED, "cancelled": INTERRUPTED, "interrupted": INTERRUPTED, "failed": NO, "no_provider": NO}
BEFORE_KEPT = ("guard",)
"""Stages before which nothing is kept of a run that is interrupted."""


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
    settings: GlobalOptions,
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


def ask(settings: GlobalOptions, params: dict[str, Any], view: RunView) -> int:
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


def exit_code_of(result: Mapping[str, Any]) -> int:
    """How `aurora query` ends for an `aurora/query` result."""
    return EXIT_CODES.get(str(result.get("state")), FINE)


@contextmanager
def run_view(settings: GlobalOptions, *, out: TextIO | None = None, err: TextIO | None = None) -> Iterator[RunView]:
    """Yield what shows a run by the global options; a live display is taken away when the block ends."""
    view = RunView(settings, out or sys.stdout, err or sys.stderr)
    try:
        yield view
    finally:
        view.close()


class RunView:
    """View of a run: its stages as they come, and then its result. Both are as they travel."""

    def __init__(self, settings: GlobalOptions, out: TextIO, err: TextIO) -> None:
        self._json, self._level = settings.json, settings.verbosity
        self._out, self._err = out, err
        self._style = style_of(out, os.environ, no_color=settings.no_color)
        self._err_style = style_of(err, os.environ, no_color=settings.no_color)
        self._passed: list[str] = []
        self._now = ""
        self._run = self._stage = ""
        self._spent = 0.0
        self._live = self._opened_live()

    def stage(self, notice: Mapping[str, Any]) -> None:
        """Something happened: a `StageNotice`."""
        self._run, self._stage = str(notice.get("run") or ""), str(notice.get("stage"))
        self._spent = float(notice.get("cost_usd") or 0.0)
        if notice.get("stage") == "done":
            return  # `finish` says it, with all that came of the run
        if self._json:
            self._print_json(
                {
                    "stage": notice.get("stage"),
                    "status": notice.get("status"),
                    **{key: item for key, item in (notice.get("data") or {}).items() if key not in ("stage", "status")},
                    **({"detail": notice["detail"]} if notice.get("detail") else {}),
                    "run": self._run,
                    "cost_usd": notice.get("cost_usd", 0.0),
                    "elapsed_ms": notice.get("elapsed_ms", 0.0),
                }
            )
            return
        line = view.stage_line(notice)
        if line is not None and self._level >= 1:
            self._print(line, *(view.stage_details(notice) if self._level >= 2 else ()))
        self._show(notice, over=line is not None)

    def finish(self, result: Mapping[str, Any]) -> int:
        """The run is over: an `aurora/query` result. Returns the exit code."""
        self.close()
        if self._json:
            self._print_json(done_document(result))
            return exit_code_of(result)
        if str(result.get("answer") or "").strip():
            self._answer(str(result["answer"]))
        on_terminal = self._style.width is not None
        if (on_terminal or self._level >= 1) and result.get("claims"):
            self._print("", self._style.dim("what it rests on:"), *view.claim_lines(result))
        if on_terminal or self._level >= 1:
            self._print("", self._style.dim(view.sure_line(result)))
        if self._level >= 2:
            self._print(*view.detail_lines(result))
        for notice in result.get("notices") or ():
            print(f"aurora: {plain(str(notice))}", file=self._err)
        self._print(view.done_line(result, verbose=self._level >= 1))
        if result.get("error"):
            self._out.flush()
            print(f"aurora: {plain(str(result['error']))}", file=self._err)
        return exit_code_of(result)

    def interrupted(self) -> int:
        """The user has had enough; says how to go on. Returns the exit code."""
        self.close()
        if self._err.isatty():
            print(file=self._err)  # the terminal has just shown ^C there
        kept = bool(self._run) and self._stage not in BEFORE_KEPT
        if kept:
            spent = f" (${self._spent:.4f} spent)" if self._spent else ""
            print(f"aurora: interrupted{spent}; go on with: aurora query --resume {plain(self._run)}", file=self._err)
        else:
            print("aurora: interrupted", file=self._err)
        if self._json:
            self._print_json(
                {
                    "stage": "done",
                    "status": "cancelled",
                    "id": self._run or None,
                    "resumable": kept,
                    "cost_usd": self._spent,
                }
            )
        return INTERRUPTED

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Take the live display away while the user is asked something."""
        showing = self._live is not None
        self.close()
        try:
            yield
        finally:
            if showing:
                self._live = self._opened_live()

    def close(self) -> None:
        """Take the live display away."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _answer(self, answer: str) -> None:
        """Answer rendered as Markdown on a terminal, else as plain text."""
        text = "\n".join(plain_lines(answer))
        if not self._style.rich:
            self._print(text)
            return
        from rich.console import Console
        from rich.markdown import Markdown

        console = Console(file=self._out, force_terminal=True, width=self._style.width, highlight=False)
        console.print(Markdown(text, hyperlinks=False))

    def _print(self, *lines: str) -> None:
        """Lines printed above the live display."""
        text = "\n".join(lines)
        if self._live is not None and self._style.width is not None:
            self._live.stop()
            print(text, file=self._out, flush=True)
            self._live.start()
        else:
            print(text, file=self._out, flush=True)

    def _print_json(self, document: Mapping[str, Any]) -> None:
        encoding = (getattr(self._out, "encoding", None) or "").lower().replace("-", "")
        print(json.dumps(document, ensure_ascii=encoding != "utf8", default=str), file=self._out, flush=True)

    def _opened_live(self) -> Live | None:
        """Live display (spinner with stages) on standard error; None where there is no terminal."""
        if self._json or not self._err_style.rich:
            return None
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self._err, force_terminal=True, width=self._err_style.width, highlight=False)
        live = Live(self._drawn(), console=console, transient=True, refresh_per_second=8)
        live.start()
        return live

    def _show(self, notice: Mapping[str, Any], *, over: bool) -> None:
        """Update of the live display by a stage."""
        if over:
            mark = {"failed": "✗", "retry": "↻"}.get(str(notice.get("status")), "✓")
            self._passed.append(f"{mark} {view.stage_name(notice)} · {view.outcome(notice)}")
            self._now = ""
        else:
            detail = f" · {plain(str(notice['detail']))}" if notice.get("detail") else ""
            self._now = f"{view.stage_name(notice)}{detail}"
        spent = f"${notice.get('cost_usd') or 0.0:.4f} · {took(notice.get('elapsed_ms') or 0.0)}"
        if self._live is not None:
            self._live.update(self._drawn(float(notice.get("progress") or 0.0), spent))

    def _drawn(self, progress: float = 0.0, spent: str = "") -> Any:
        """What the live display shows: the stages that are over (unless `-v` printed them), the one that goes on."""
        from rich.console import Group
        from rich.spinner import Spinner
        from rich.text import Text

        width = max((self._err_style.width or 80) - 4, 20)
        passed = [] if self._level >= 1 else self._passed[-12:]
        now = f"{self._now or 'working'} … {progress:.0%}" + (f" · {spent}" if spent else "")
        lines: list[Any] = [Text(shorten(line, width), style="dim") for line in passed]
        return Group(*lines, Spinner("dots", Text(shorten(now, width))))


def done_document(result: Mapping[str, Any]) -> dict[str, Any]:
    """The last line of `--json`: what came of the run."""
    document: dict[str, Any] = {
        "stage": "done",
        "status": result.get("state"),
        "final_score": result.get("score"),
        "cached": bool(result.get("cached")),
        "answer": result.get("answer", ""),
    }
    return document | {key: item for key, item in result.items() if key not in document}
