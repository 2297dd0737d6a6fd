"""Pieces of Markdown that the generated pages share."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, with an empty line behind it."""
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join('---' for _ in head)}|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """A text as one cell of a table."""
    return " ".join(text.replace("|", "\\|").split())


def flowing(docstring: str) -> str:
    """A docstring's paragraphs, each on one line; lists and blocks keep theirs."""
    blocks = inspect.cleandoc(docstring).split("\n\n")
    return "\n\n".join(
        block if re.match(r"\s*(?:[-*|]|\d+\.|```)", block) else " ".join(block.split()) for block in blocks
    )
