"""Manual page (man, troff), made of the commands themselves: `python -m aurora_cli.manual_page > docs/aurora.1`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

_EXITS = (
    (0, "Fine."),
    (1, 'The answer is "no": an invalid manifest, a failed run, a goal missed.'),
    (2, "Wrong usage or bad input."),
    (3, "The daemon cannot be reached or started."),
    (4, "Blocked: by a budget, a guard, missing trust or the branch."),
)
_VARIABLES = (
    ("AURORA_HOME", "The folder of everything AURORA keeps for you; ~/.aurora if it is not set."),
    ("AURORA_CONFIG", "A configuration file for the daemon that is started."),
    ("NO_COLOR", "Print no colours, as on anything but a terminal."),
)


def manual_page(command: click.Group) -> str:
    """The whole page in man(7) macros. The same commands give the same text."""
    return "\n".join(_page(command)) + "\n"


def _page(command: click.Group) -> Iterator[str]:
    yield '.TH AURORA 1 "" "aurora" "User Commands"'
    yield ".SH NAME"
    yield r"aurora, aur \- the memory beside every code editor"
    yield ".SH SYNOPSIS"
    yield r"\fBaurora\fR [\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGS\fR]"
    yield ".br"
    yield r"\fBaur mem\fR \fIQUERY\fR"
    yield ".SH DESCRIPTION"
    yield _text(
        "A daemon of yours chunks the code of your workspaces into memory. These commands ask it; it is started"
    )
    yield _text("when one needs it. The workspace is the nearest folder upward that has .git or .aurora in it.")
    yield ".SH OPTIONS"
    yield _text("They may stand before or after the command.")
    with click.Context(command, info_name="aurora") as ctx:
        yield from _options(command, ctx, shared=frozenset())
        shared = frozenset(option.opts[0] for option in command.params if isinstance(option, click.Option))
        yield ".SH COMMANDS"
        yield from _commands(command, ctx, shared)
    yield ".SH EXIT STATUS"
    for code, meaning in _EXITS:
        yield from (".TP", rf"\fB{code}\fR", _text(meaning))
    yield ".SH ENVIRONMENT"
    for name, meaning in _VARIABLES:
        yield from (".TP", rf"\fB{name}\fR", _text(meaning))
    yield ".SH EXAMPLES"
    yield from (".nf", "aur mem 'where do we expand url templates'", "aur mem expand --json | jq '.results[0]'", ".fi")


def _commands(group: click.Group, ctx: click.Context, shared: frozenset[str]) -> Iterator[str]:
    """Sections of the commands and their subcommands, recursively."""
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        if command is None or command.hidden:
            continue
        with click.Context(command, info_name=name, parent=ctx) as below:
            if isinstance(command, click.Group):
                yield from _command(command, below, shared)
                yield from _commands(command, below, shared)
            else:
                yield from _command(command, below, shared)


def _command(command: click.Command, ctx: click.Context, shared: frozenset[str]) -> Iterator[str]:
    """Section of one command: usage, help text, options."""
    pieces = " ".join(command.collect_usage_pieces(ctx))
    yield f".SS {_quoted(ctx.command_path)}"
    yield rf"\fB{_text(ctx.command_path)}\fR {_text(pieces)}"
    for paragraph in inspect.cleandoc((command.help or "").split("\f")[0]).split("\n\n"):
        yield ".PP"
        if paragraph.startswith("\b"):
            yield from (".nf", *(_text(line) for line in paragraph.splitlines()[1:]), ".fi")
        else:
            yield _text(" ".join(paragraph.split()))
    yield from _options(command, ctx, shared)


def _options(command: click.Command, ctx: click.Context, shared: frozenset[str]) -> Iterator[str]:
    """Options of a command, those of every command left out."""
    for option in command.params:
        if not isinstance(option, click.Option) or option.hidden or option.opts[0] in shared:
            continue
        record = option.get_help_record(ctx)
        if record is not None:
            yield from (".TP", rf"\fB{_text(record[0])}\fR", _text(record[1]))


def _text(words: str) -> str:
    """Words that troff prints as they are."""
    plain = words.replace("\\", r"\e").replace("-", r"\-").replace("…", "...")
    return rf"\&{plain}" if plain.startswith((".", "'")) else plain


def _quoted(words: str) -> str:
    return '"' + _text(words).replace('"', '""') + '"'


if __name__ == "__main__":
    from aurora_cli.app import aurora

    print(manual_page(aurora), end="")
