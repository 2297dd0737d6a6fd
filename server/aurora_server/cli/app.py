"""The `aurora` command: global options, and commands that are imported when they are called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from aurora_protocol.version import __version__
from aurora_server.cli.errors import report
from aurora_server.cli.settings import Settings

COMMANDS = {
    "daemon": ("aurora_server.cli.daemon", "daemon"),
    "dashboard": ("aurora_server.cli.dashboard", "dashboard"),
    "deliverable": ("aurora_server.cli.deliverable", "deliverable"),
    "doctor": ("aurora_server.cli.doctor", "doctor"),
    "index": ("aurora_server.cli.index", "index"),
    "lsp": ("aurora_server.cli.lsp", "lsp"),
    "mem": ("aurora_server.cli.mem", "mem"),
    "memory": ("aurora_server.cli.memory", "memory"),
    "metrics": ("aurora_server.cli.metrics", "metrics"),
    "report": ("aurora_server.cli.report", "report"),
}
"""Each command's module and its name there."""

ALIASES = {"m": "mem"}


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own, imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        place = COMMANDS.get(ALIASES.get(cmd_name, cmd_name))
        if place is None:
            return None
        command: click.Command = getattr(importlib.import_module(place[0]), place[1])
        return with_global_options(command)


def run(arguments: Sequence[str]) -> int:
    """Run `aurora` with these arguments; returns the exit code, after one line on standard error if it failed."""
    settings = Settings()
    program = Path(sys.argv[0]).name if sys.argv else ""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        # Not click's own `main`, which ends the process by itself on Ctrl-C and on a closed pipe.
        with aurora.make_context("aur" if program == "aur" else "aurora", list(arguments), obj=settings) as ctx:
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


def with_global_options(command: click.Command) -> click.Command:
    """Let `command`, and its subcommands, take the global options as well: `aurora mem … --json`. Returns `command`."""
    taken = {name for parameter in command.params for name in parameter.opts}
    command.params.extend(option for option in _global_options() if taken.isdisjoint(option.opts))
    if isinstance(command, click.Group):
        for child in command.commands.values():
            with_global_options(child)
    return command


def _global_options() -> list[click.Option]:
    def option(*names: str, keep: Callable[[Settings, Any], None], **more: Any) -> click.Option:
        def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
            if value not in (None, False, 0):
                keep(ctx.ensure_object(Settings), value)

        return click.Option(list(names), callback=callback, expose_value=False, **more)

    return [
        option(
            "--workspace",
            type=click.Path(exists=True, file_okay=False),
            help="The workspace's folder. [default: nearest upward with .git or .aurora, else here]",
            keep=Settings.set_workspace,
        ),
        option("--json", is_flag=True, help="Print JSON.", keep=Settings.set_json),
        option(
            "--config",
            type=click.Path(exists=True, dir_okay=False, readable=True),
            help="Use this configuration file.",
            keep=Settings.set_config,
        ),
        option(
            "--lifespan-policies",
            type=click.Path(exists=True, dir_okay=False, readable=True),
            help="Use this file of lifespan policies.",
            keep=Settings.set_lifespan_policies,
        ),
        option("-v", "--verbose", count=True, help="Say more; -vv shows tracebacks.", keep=Settings.add_verbosity),
        option("--no-color", is_flag=True, help="Print no colours and links.", keep=Settings.set_no_color),
        option("--version", is_flag=True, is_eager=True, help="Print the version.", keep=_print_version),
    ]


def _print_version(settings: Settings, _: bool) -> None:
    click.echo(f"aurora {__version__}")
    raise click.exceptions.Exit(0)


@click.group(cls=LazyGroup, invoke_without_command=True, params=_global_options())
@click.pass_context
def aurora(ctx: click.Context) -> None:
    """The memory beside every code editor."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
