"""The options of every command that asks a model, and the words such a command is given."""

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
_FORCE = click.option("--force", is_flag=True, help="Go beyond the budget, where the configuration allows that.")


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
    """The words of a command line as one text; a sole - is standard input. Raises UsageError for what is no text."""
    if words != ("-",):
        return " ".join(words)
    try:
        return sys.stdin.read(MAX_READ)
    except UnicodeDecodeError as error:
        raise click.UsageError(f"standard input is no text in UTF-8: byte {error.start + 1}") from error
