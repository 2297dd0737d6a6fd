"""Errors and exit codes of the command line: what went wrong, as one line, and what the process exits with."""

from __future__ import annotations

import sys
from typing import TextIO

import click

from aurora_protocol import BAD_INPUT, BLOCKED, FINE, INTERRUPTED, NO, NO_DAEMON, AuroraError

__all__ = [
    "BAD_INPUT",
    "BLOCKED",
    "FINE",
    "INTERRUPTED",
    "NO",
    "NO_DAEMON",
    "CommandError",
    "exit_code",
    "one_line",
    "report",
]

_WORDS = frozenset({"query", "text", "words", "target", "request"})
"""Arguments that are words of people, any of which may begin with dashes."""


class CommandError(AuroraError):
    """Error of a command: what it was given cannot be used."""

    exit_code = BAD_INPUT


def exit_code(error: BaseException) -> int:
    """The exit code that stands for `error`."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return INTERRUPTED
    if isinstance(error, AuroraError):
        return error.exit_code
    if isinstance(error, click.ClickException | OSError):
        return BAD_INPUT
    return NO_DAEMON


def one_line(error: BaseException) -> str:
    """Say `error` in one line: what, where and the next step."""
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "interrupted"
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx is not None else "aurora"
        said = _numbers(_flat(error.format_message())).rstrip(".")
        return f"{said}; {_as_a_word(error)}see: {command} --help"
    if isinstance(error, click.ClickException):
        return _flat(error.format_message())
    if isinstance(error, OSError) and error.filename is not None:
        check = "; check the path" if isinstance(error, FileNotFoundError | NotADirectoryError) else ""
        return _flat(f"{error.filename}: {error.strerror}{check}")
    if isinstance(error, AuroraError | OSError):
        return _flat(str(error))
    return f"internal error, {type(error).__name__}: {_flat(str(error))}; -vv shows where it happened"


def report(error: BaseException, *, verbosity: int, stream: TextIO | None = None) -> int:
    """Error output: write `error` to standard error, with its traceback from `-vv` on; return the exit code."""
    stream = stream or sys.stderr
    if verbosity >= 2:
        import traceback  # a few milliseconds that a command without errors need not pay

        traceback.print_exception(error, file=stream)
    if isinstance(error, KeyboardInterrupt) and stream.isatty():
        print(file=stream)  # the terminal has just shown ^C there
    print(f"aurora: {one_line(error)}", file=stream)
    return exit_code(error)


def _as_a_word(error: click.UsageError) -> str:
    """How to give what was taken for an option to a command that takes words: `aur mem -- --no-cache`."""
    ctx = error.ctx
    if not isinstance(error, click.NoSuchOption) or ctx is None:
        return ""
    is_top = ctx.parent is None and isinstance(ctx.command, click.Group)
    if not is_top and not any(each.name in _WORDS for each in ctx.command.params):
        return ""
    # Of what has one dash, click tells the first letter only.
    word = _flat(error.option_name) if error.option_name.startswith("--") else "…"
    return f"for a word write: {ctx.command_path}{' mem' if is_top else ''} -- {word}; "


def _numbers(text: str) -> str:
    """Click's messages, with numbers called what people call them."""
    for kind, name in (("integer", "whole number"), ("float", "number")):
        for said in (f"is not a valid {kind} range", f"is not a valid {kind}"):
            text = text.replace(said, f"is no {name}")
    return text


def _flat(text: str) -> str:
    """One line that commands no terminal: what went wrong may name what strangers wrote."""
    from aurora_protocol.human_text import plain  # an error can wait for its imports

    return plain(text)
