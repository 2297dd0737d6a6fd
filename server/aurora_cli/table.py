"""Tables for people, laid out by rich: aligned columns for a terminal or a pipe, and tables of Markdown.

Of a terminal's width at most one column gives way; without a terminal nothing is cut, wrapped or coloured, so that
what other programs take from a pipe does not depend on where it was made.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING

from aurora_cli.output import TerminalStyle

if TYPE_CHECKING:
    from rich.table import Table

LEAST = 20
"""Columns that remain of the one that is cut, however narrow the terminal: it then wraps, but says something."""

_UNLIMITED = 1_000_000


def table_lines(
    rows: Sequence[Sequence[str]],
    style: TerminalStyle,
    *,
    right: Collection[int] = (),
    least: Mapping[int, int] | None = None,
    cut: int | None = None,
    indent: int = 2,
    gap: int = 2,
) -> list[str]:
    """Rows as lines without frames, columns `gap` apart. Cells may be marked up by `style`, in one line each.

    Columns in `right` are aligned to the right, those in `least` are so wide at least (tables below each other then
    stand in line), and `cut` is the column that ends in an ellipsis where the terminal is too narrow for all of it.
    """
    from rich.table import Table
    from rich.text import Text

    cells = [[Text.from_ansi(cell, no_wrap=True) for cell in row] for row in rows]
    table = Table.grid(padding=(0, gap, 0, 0))
    widths = [
        max([(least or {}).get(place, 0), *(cell.cell_len for cell in column)])
        for place, column in enumerate(zip(*cells, strict=True))
    ]
    if cut is not None and style.width is not None:
        others = indent + sum(widths) - widths[cut] + gap * (len(widths) - 1)
        widths[cut] = min(widths[cut], max(style.width - others, LEAST))
    for place, width in enumerate(widths):
        table.add_column(width=width, no_wrap=True, overflow="ellipsis", justify="right" if place in right else "left")
    for row in cells:
        table.add_row(*row)
    return [f"{' ' * indent}{line}".rstrip() for line in _rendered(table, style)]


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown with its columns aligned, so that it reads well as text too. Cells are Markdown already."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.MARKDOWN, header_style="")
    for cell in head:
        table.add_column(Text(cell), no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return "\n".join(line for line in _rendered(table, TerminalStyle()) if line.strip())


def _rendered(table: Table, style: TerminalStyle) -> list[str]:
    """Lines of a table as rich lays it out."""
    from rich.console import Console

    console = Console(
        file=StringIO(),
        width=_UNLIMITED,
        height=1,
        force_terminal=style.rich,
        color_system="standard" if style.rich else None,
        legacy_windows=False,
    )
    with console.capture() as capture:
        console.print(table, crop=False)
    return capture.get().splitlines()
