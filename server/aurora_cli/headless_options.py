"""Flags of `aurora --headless`, apart from what they begin: every command's start reads them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from aurora_cli.command_types import Finite


@dataclass
class HeadlessOptions:
    """Flags of headless mode as they were given; None where they said nothing."""

    prompt: Path | None = None
    scratchpad: Path | None = None
    max_iterations: int | None = None
    budget_limit: float | None = None


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


def options_of(given: dict[str, Any]) -> HeadlessOptions | None:
    """The flags as one, None without `--headless`. Raises UsageError where one of the others stands alone."""
    options = HeadlessOptions(given["prompt"], given["scratchpad"], given["max_iterations"], given["budget_limit"])
    if given["headless"]:
        return options
    for name, value in vars(options).items():
        if value is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} is for headless mode; add --headless")
    return None
