"""Command `aurora` (entry point): its global options, its subcommands, imported lazily, when they are called, and the
exit code of what failed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from aurora_cli.command_types import LazyGroup, global_options, plugged_commands
from aurora_cli.errors import report
from aurora_cli.fast_exit import stay
from aurora_cli.global_options import GlobalOptions
from aurora_cli.headless_options import headless_options, options_of

COMMANDS = {
    "agents": ("aurora_cli.agents", "agents"),
    "budget": ("aurora_cli.budget", "budget"),
    "completion": ("aurora_cli.completion", "completion"),
    "config": ("aurora_cli.config", "config"),
    "daemon": ("aurora_cli.daemon", "daemon"),
    "dashboard": ("aurora_cli.dashboard", "dashboard"),
    "deliverable": ("aurora_cli.deliverable", "deliverable"),
    "demo": ("aurora_cli.demo", "demo"),
    "doctor": ("aurora_cli.doctor", "doctor"),
    "explain": ("aurora_cli.explain", "explain"),
    "index": ("aurora_cli.index", "index"),
    "logs": ("aurora_cli.logs", "logs"),
    "lsp": ("aurora_cli.lsp", "lsp"),
    "manifest": ("aurora_cli.manifest", "manifest"),
    "mcp": ("aurora_cli.mcp", "mcp"),
    "mem": ("aurora_cli.mem", "mem"),
    "memory": ("aurora_cli.memory", "memory"),
    "metrics": ("aurora_cli.metrics", "metrics"),
    "query": ("aurora_cli.query", "query"),
    "report": ("aurora_cli.report", "report"),
    "status": ("aurora_cli.status", "status"),
    "team": ("aurora_cli.team", "team"),
    "trust": ("aurora_cli.trust", "trust"),
    "uninstall": ("aurora_cli.uninstall", "uninstall"),
    "who": ("aurora_cli.who", "who"),
}
"""Each command's module and its name there."""

ALIASES = {"m": "mem"}


def run(arguments: Sequence[str]) -> int:
    """Entry point: runs `aurora` with these arguments; the exit code, after one line on standard error if it failed."""
    settings = GlobalOptions()
    program = "aur" if sys.argv and Path(sys.argv[0]).name == "aur" else "aurora"
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        if instruction := os.environ.get("_AURORA_COMPLETE"):
            from aurora_cli.completion import answer

            return answer(aurora, program, instruction)
        # Not click's own `main`, which ends the process by itself on Ctrl-C and on a closed pipe.
        with aurora.make_context(program, list(arguments), obj=settings) as ctx:
            result = aurora.invoke(ctx)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough (`aur mem … | head`); the interpreter is not to complain of it on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the one place where errors become exit codes
        return report(error, verbosity=settings.verbosity)
    return result if isinstance(result, int) else 0


@click.group(
    cls=LazyGroup,
    places=COMMANDS,
    aliases=ALIASES,
    plugged=plugged_commands,
    otherwise="mem",
    invoke_without_command=True,
    params=[*global_options(), *headless_options()],
)
@click.pass_context
def aurora(ctx: click.Context, /, **given: Any) -> int:
    """The memory beside every code editor.

    Words that are no command are recalled: aur "retry with backoff".
    """
    options = options_of(given)
    if options is not None and ctx.invoked_subcommand is not None:
        raise click.UsageError("--headless takes no command", ctx)
    if options is not None:
        from aurora_cli.headless import opening, pursue_goal

        stay()
        return pursue_goal(ctx.obj, options, opening)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return 0
