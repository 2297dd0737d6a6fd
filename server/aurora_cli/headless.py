"""`aurora --headless`: a goal pursued without a human, iteration by iteration (AURORA §9.8)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aurora_cli.numbers import Finite
from aurora_cli.output import Style, style_of_output
from aurora_cli.settings import Settings
from aurora_protocol.address import home

if TYPE_CHECKING:
    # Imported only when headless mode begins: every other command starts without the orchestrator.
    from aurora_orchestration.headless.loop import Iteration, Outcome, Run
    from aurora_orchestration.llm.completion import Llm
    from aurora_orchestration.settings import HeadlessSettings


@dataclass
class Options:
    """What the flags of headless mode said; None where they said nothing."""

    prompt: Path | None = None
    scratchpad: Path | None = None
    max_iterations: int | None = None
    budget_limit: float | None = None


@dataclass(frozen=True)
class Wired:
    """What the loop needs of the rest: its configuration, how one query is run, and who judges what runs claim."""

    settings: HeadlessSettings
    run: Run
    llm: Llm | None


Opening = Callable[[Settings], AbstractAsyncContextManager[Wired]]


def headless_options() -> list[click.Option]:
    """The flags of `aurora --headless`; the command gets them as keyword arguments of these names."""
    file = click.Path(dir_okay=False, path_type=Path)
    return [
        click.Option(["--headless"], is_flag=True, help="Pursue the goal of a prompt file without a human."),
        click.Option(["--prompt"], type=file, help="With --headless: the goal. [default: ./headless/prompt.md]"),
        click.Option(
            ["--scratchpad"], type=file, help="With --headless: the notes. [default: ./headless/scratchpad.md]"
        ),
        click.Option(
            ["--max-iterations"], type=click.IntRange(min=1, max=100_000), help="With --headless: so many at most."
        ),
        click.Option(
            ["--budget-limit"],
            type=Finite(min=0, max=1e6),
            metavar="USD",
            help="With --headless: stop when the experiment has cost so much.",
        ),
    ]


def options_of(given: dict[str, Any]) -> Options | None:
    """The flags as one, None without `--headless`. Raises UsageError where one of the others stands alone."""
    options = Options(given["prompt"], given["scratchpad"], given["max_iterations"], given["budget_limit"])
    if given["headless"]:
        return options
    for name, value in vars(options).items():
        if value is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} is for headless mode; add --headless")
    return None


def pursue_goal(settings: Settings, options: Options, opening: Opening) -> int:
    """Pursue the goal, telling each iteration; returns the exit code: 0 met, 1 not met, 4 blocked."""
    import asyncio

    from aurora_orchestration import OrchestrationError
    from aurora_server.configuration.config_file import SettingsError

    try:
        return asyncio.run(_pursue(settings, options, opening))
    except (OrchestrationError, SettingsError) as error:
        raise click.ClickException(str(error)) from error


async def _pursue(settings: Settings, options: Options, opening: Opening) -> int:
    from datetime import datetime

    from aurora_orchestration.headless.loop import Headless, pursue

    root = settings.workspace
    style = style_of_output(settings)
    async with opening(settings) as wired:
        scratchpad = (options.scratchpad or root / wired.settings.scratchpad_file).absolute()
        outcome = await pursue(
            Headless(
                root=root,
                settings=wired.settings,
                prompt=(options.prompt or root / wired.settings.prompt_file).absolute(),
                scratchpad=scratchpad,
                lock=_lock_of(scratchpad),
                now=datetime.now,
                max_iterations=options.max_iterations,
                budget_usd=options.budget_limit,
            ),
            wired.run,
            wired.llm,
            watch=lambda iteration: _tell(iteration, settings, style),
        )
    if settings.json:
        print(json.dumps(outcome_document(outcome)), flush=True)
    elif outcome.exit_code == 0:
        print(outcome_line(outcome, style), flush=True)
    else:
        print(f"aurora: {outcome_line(outcome, Style())}", file=sys.stderr)
    return outcome.exit_code


def _lock_of(scratchpad: Path) -> Path:
    """The lock of a scratchpad, outside of the user's tree: by the file it is, whichever way it is named."""
    import hashlib

    name = hashlib.sha256(os.fsencode(scratchpad.resolve())).hexdigest()[:16]
    return home(os.environ) / "locks" / f"headless-{name}.lock"


def _tell(iteration: Iteration, settings: Settings, style: Style) -> None:
    shown = json.dumps(iteration_document(iteration)) if settings.json else iteration_line(iteration, style)
    print(shown, flush=True)


def iteration_document(iteration: Iteration) -> dict[str, Any]:
    """One iteration, as a line of `--json`."""
    record = iteration.record
    return {
        "event": "iteration",
        "iteration": iteration.number,
        "max_iterations": iteration.limit,
        "query_id": record.id,
        "state": record.state,
        "score": record.score,
        "answer": record.answer,
        "next_step": iteration.next_step,
        "cost_usd": round(iteration.cost_usd, 6),
    }


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """How it ended, as the last line of `--json`."""
    return {
        "event": "end",
        "status": outcome.ending,
        "reason": outcome.reason,
        "iterations": outcome.iterations,
        "cost_usd": round(outcome.cost_usd, 6),
        "exit_code": outcome.exit_code,
    }


def iteration_line(iteration: Iteration, style: Style) -> str:
    """One iteration in a line: which, what it came to, what the experiment has cost, what comes next."""
    record = iteration.record
    scored = f" {record.score:.2f}" if record.score is not None else ""
    said = " ".join((record.answer or record.error or "").split())
    parts = [f"{record.state}{scored}", f"${iteration.cost_usd:.2f}", iteration.next_step or said]
    line = f"iteration {iteration.number}/{iteration.limit} · " + " · ".join(part for part in parts if part)
    room = style.width or 200
    return line if len(line) <= room else f"{line[: room - 1]}…"


def outcome_line(outcome: Outcome, style: Style) -> str:
    """How it ended in a line."""
    spent = f"{outcome.iterations} iterations, ${outcome.cost_usd:.2f}"
    if outcome.ending == "goal":
        return f"{style.colored('goal met', 'green')}: {outcome.reason} ({spent})"
    return f"{outcome.reason} ({spent})" if outcome.iterations else outcome.reason
