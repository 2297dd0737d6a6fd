"""Options that several commands share, and what they amount to: the model to ask, the words to ask it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

MAX_READ = 1_000_000
"""Characters that are read from standard input; the guardrails allow far less (`guardrails.max_query_length`)."""

Command = TypeVar("Command", bound=Callable[..., Any])

_PROVIDER = click.option("--llm-provider", metavar="NAME", help="Ask this provider, whatever is configured.")
_MODEL = click.option("--llm-model", metavar="NAME", help="Ask this model, whatever is configured.")
_FORCE = click.option(
    "--force",
    is_flag=True,
    help="Go beyond the budget's soft limit unasked, and beyond the hard one where the configuration allows that.",
)


def model_options(command: Command) -> Command:
    """Give a command `--llm-provider`, `--llm-model` and `--force`."""
    for option in (_FORCE, _MODEL, _PROVIDER):
        command = option(command)
    return command


def flags_of(llm_provider: str | None, llm_model: str | None) -> dict[str, str]:
    """Those of the first two that were given, as `configuration.layers.settings_for` takes them."""
    given = {"llm_provider": llm_provider, "llm_model": llm_model}
    return {name: value for name, value in given.items() if value}


def words_given(words: tuple[str, ...]) -> str:
    """The words of a command line as one text; a sole - is standard input. Raises UsageError for what is no text.

    Bytes that are no UTF-8 come as lone surrogates: a question with a hole in it is not the one that was asked, and
    would be paid for as well.
    """
    if words != ("-",):
        return _whole(" ".join(words), "the text")
    try:
        return _whole(sys.stdin.read(MAX_READ), "standard input")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"standard input is no text in UTF-8: byte {error.start + 1}") from error


def _whole(text: str, what: str) -> str:
    """Text, if it is valid UTF-8. Raises UsageError."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        byte = ord(text[error.start]) & 0xFF
        raise click.UsageError(
            f"{what} is no text in UTF-8: byte 0x{byte:02X} at character {error.start + 1}; write it in UTF-8"
        ) from error
    return text
