"""A run in the terminal: stages as they happen, then the answer and how sure it is (AURORA §9.5).

Standard output has the answer and what `-v` asks for; standard error the live display, notices and what went wrong.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from aurora_cli import query_text as words
from aurora_cli.errors import BLOCKED, FINE, INTERRUPTED, NO
from aurora_cli.output import style_of
from aurora_cli.settings import Settings
from aurora_protocol.human_text import plain, plain_lines, shorten, took

if TYPE_CHECKING:
    from rich.live import Live

EXIT_CODES = {"blocked": BLOCKED, "cancelled": INTERRUPTED, "interrupted": INTERRUPTED, "failed": NO, "no_provider": NO}
BEFORE_KEPT = ("guard",)
"""Stages before which nothing is kept of a run that is interrupted."""


def exit_code_of(result: Mapping[str, Any]) -> int:
    """How `aurora query` ends for an `aurora/query` result."""
    return EXIT_CODES.get(str(result.get("state")), FINE)


@contextmanager
def run_view(settings: Settings, *, out: TextIO | None = None, err: TextIO | None = None) -> Iterator[RunView]:
    """Yield what shows a run by the global options; a live display is taken away when the block ends."""
    view = RunView(settings, out or sys.stdout, err or sys.stderr)
    try:
        yield view
    finally:
        view.close()


class RunView:
    """Shows the stages of one run, and then its result. Both are as they travel."""

    def __init__(self, settings: Settings, out: TextIO, err: TextIO) -> None:
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
        line = words.stage_line(notice)
        if line is not None and self._level >= 1:
            self._print(line, *(words.stage_details(notice) if self._level >= 2 else ()))
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
            self._print("", self._style.dim("what it rests on:"), *words.claim_lines(result))
        if on_terminal or self._level >= 1:
            self._print("", self._style.dim(words.sure_line(result)))
        if self._level >= 2:
            self._print(*words.detail_lines(result))
        for notice in result.get("notices") or ():
            print(f"aurora: {plain(str(notice))}", file=self._err)
        self._print(words.done_line(result, verbose=self._level >= 1))
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
        text = "\n".join(plain_lines(answer))
        if not self._style.rich:
            self._print(text)
            return
        from rich.console import Console
        from rich.markdown import Markdown

        console = Console(file=self._out, force_terminal=True, width=self._style.width, highlight=False)
        console.print(Markdown(text, hyperlinks=False))

    def _print(self, *lines: str) -> None:
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
        if self._json or not self._err_style.rich:
            return None
        from rich.console import Console
        from rich.live import Live

        console = Console(file=self._err, force_terminal=True, width=self._err_style.width, highlight=False)
        live = Live(self._drawn(), console=console, transient=True, refresh_per_second=8)
        live.start()
        return live

    def _show(self, notice: Mapping[str, Any], *, over: bool) -> None:
        if over:
            mark = {"failed": "✗", "retry": "↻"}.get(str(notice.get("status")), "✓")
            self._passed.append(f"{mark} {words.stage_name(notice)} · {words.outcome(notice)}")
            self._now = ""
        else:
            detail = f" · {plain(str(notice['detail']))}" if notice.get("detail") else ""
            self._now = f"{words.stage_name(notice)}{detail}"
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
