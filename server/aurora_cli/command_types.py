"""Command types (click groups and parameters): a group whose commands, plug-ins among them, are imported when they are
called, the options that every command takes, and a number that is finite.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import click

from aurora_cli.global_options import GlobalOptions
from aurora_protocol.spelling import closest
from aurora_protocol.version import __version__

PLUGGED = "aurora.commands"
"""The group of entry points under which plug-ins offer commands."""

_QUICK = "aur"
"""The program that takes even a single word for what is to be recalled."""


class Finite(click.FloatRange):
    """A number within bounds, and none of `nan`, which every bound lets pass, and `inf`, which is no amount."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Number parsed; NaN and infinity are refused."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is no number to count with.", param, ctx)
        return number


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own, imported on first use."""

    def __init__(
        self,
        *args: Any,
        places: Mapping[str, tuple[str, str]],
        aliases: Mapping[str, str] | None = None,
        plugged: Callable[[Collection[str]], Mapping[str, click.Command]] | None = None,
        otherwise: str | None = None,
        **more: Any,
    ) -> None:
        """`places` has each command's module and its name there, `aliases` further names of commands.

        `otherwise` is the command that words are for which are none, nor nearly one. `plugged` gives the commands of
        plug-ins, without those of the names it is told: asked for a name that is none of ours, and for the list.
        """
        super().__init__(*args, **more)
        self._places = places
        self._aliases = aliases or {}
        self._plugged = plugged
        self._otherwise = otherwise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command these arguments name; a misspelled one fails with a suggestion ("did you mean")."""
        if (
            self._otherwise is not None
            and not ctx.resilient_parsing
            and args
            and self.get_command(ctx, args[0]) is None
        ):
            near = closest(args[0], [*self._places, *self._aliases])
            if near:
                ctx.fail(f"No such command {args[0]!r}; did you mean {near!r}?")
            if ctx.info_name != _QUICK and args[0].isascii() and args[0].replace("-", "").isalpha():
                word = f"-- {args[0]}" if args[0].startswith("-") else args[0]
                ctx.fail(f"No such command {args[0]!r}; to recall it: aur mem {word}")  # as a script would mean it
            if args[0] not in _left_out():
                return self._otherwise, self.get_command(ctx, self._otherwise), args
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*self._places, *self._of_plugins()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Command of that name, its module imported now (lazy import); plug-ins' commands last."""
        place = self._places.get(self._aliases.get(cmd_name, cmd_name))
        if place is None:
            plugged = self._of_plugins().get(cmd_name)
            return with_global_options(plugged) if plugged is not None else None
        command: click.Command = getattr(importlib.import_module(place[0]), place[1])
        return with_global_options(command)

    def _of_plugins(self) -> Mapping[str, click.Command]:
        return self._plugged({*self._places, *self._aliases}) if self._plugged is not None else {}


def plugged_commands(taken: Collection[str]) -> dict[str, click.Command]:
    """Plug-in commands (`aurora.commands`) by the names of their entry points, without those whose name is taken.

    A broken one costs a line on standard error. Imports their modules.
    """
    from aurora_protocol import plugins  # only who asks for what is not ours has to wait for it

    found: dict[str, click.Command] = {}
    for plugin in plugins.load(PLUGGED, click.Command):
        if plugin.name in taken:
            plugins.leave_out(PLUGGED, plugin, f"AURORA has a command {plugin.name} already")
        else:
            found[plugin.name] = plugin.value
    return found


def _left_out() -> set[str]:
    """Names of commands that plug-ins bring and that cannot be used: asked for, they are told of and not recalled."""
    from aurora_protocol import plugins

    return {each.name for each in plugins.left_out(PLUGGED)}


def with_global_options(command: click.Command) -> click.Command:
    """Let `command`, and its subcommands, take the global options as well: `aurora mem … --json`. Returns `command`."""
    taken = {name for parameter in command.params for name in parameter.opts}
    command.params.extend(option for option in global_options() if taken.isdisjoint(option.opts))
    if isinstance(command, click.Group):
        for child in command.commands.values():
            with_global_options(child)
    return command


def global_options() -> list[click.Option]:
    """The options that may stand before or after a command's name."""

    def option(*names: str, keep: Callable[[GlobalOptions, Any], None], **more: Any) -> click.Option:
        def callback(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
            if value not in (None, False, 0) and not ctx.resilient_parsing:  # a shell that completes
                keep(ctx.ensure_object(GlobalOptions), value)

        return click.Option(list(names), callback=callback, expose_value=False, **more)

    return [
        option(
            "--workspace",
            type=click.Path(exists=True, file_okay=False),
            help="The workspace's folder. [default: nearest upward with .git or .aurora, else here]",
            keep=GlobalOptions.set_workspace,
        ),
        option("--json", is_flag=True, help="Print JSON.", keep=GlobalOptions.set_json),
        option(
            "--config",
            type=click.Path(exists=True, dir_okay=False, readable=True),
            help="Use this configuration file.",
            keep=GlobalOptions.set_config,
        ),
        option(
            "--lifespan-policies",
            type=click.Path(exists=True, dir_okay=False, readable=True),
            help="Use this file of lifespan policies.",
            keep=GlobalOptions.set_lifespan_policies,
        ),
        option("-v", "--verbose", count=True, help="Say more; -vv shows tracebacks.", keep=GlobalOptions.add_verbosity),
        option("--no-color", is_flag=True, help="Print no colours and links.", keep=GlobalOptions.set_no_color),
        option("--version", is_flag=True, is_eager=True, help="Print the version.", keep=_print_version),
    ]


def _print_version(settings: GlobalOptions, _: bool) -> None:
    click.echo(f"aurora {__version__}")
    raise click.exceptions.Exit(0)
