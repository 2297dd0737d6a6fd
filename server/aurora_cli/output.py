"""Standard output (colours, JSON): JSON with the keys that contracts fix, or text in the style that the terminal can
show.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from aurora_cli.global_options import GlobalOptions

PIPED_WIDTH = None


@dataclass(frozen=True)
class TerminalStyle:
    """Style in which text may be marked up. Plain leaves it as it is."""

    rich: bool = False
    width: int | None = PIPED_WIDTH
    """Columns of the terminal; None when there is none, and nothing need be cut."""

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[22m" if self.rich else text

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[22m" if self.rich else text

    def colored(self, text: str, color: str) -> str:
        """`color` is `red`, `green`, `yellow` or `cyan`."""
        code = {"red": 31, "green": 32, "yellow": 33, "cyan": 36}[color]
        return f"\x1b[{code}m{text}\x1b[39m" if self.rich else text

    def link(self, text: str, path: Path, line: int) -> str:
        """Make `text` open `path` at `line` (OSC 8)."""
        return f"\x1b]8;;{path.as_uri()}#{line}\x1b\\{text}\x1b]8;;\x1b\\" if self.rich else text


def style_of(stream: TextIO, environ: Mapping[str, str], *, no_color: bool) -> TerminalStyle:
    """Terminal detection (TTY): `stream` is marked up unless NO_COLOR, `--no-color` or a dumb terminal forbids it."""
    if not stream.isatty():
        return TerminalStyle()
    try:
        width = int(environ.get("COLUMNS", "")) or os.get_terminal_size(stream.fileno()).columns
    except ValueError:
        width = os.get_terminal_size(stream.fileno()).columns
    forbidden = no_color or bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
    return TerminalStyle(rich=not forbidden, width=width or 80)


def style_of_output(settings: GlobalOptions) -> TerminalStyle:
    """The style for standard output, by the environment and the global options."""
    return style_of(sys.stdout, os.environ, no_color=settings.no_color)


def print_json(value: Any) -> None:
    """Print plain data as one JSON document; a reply of the daemon's has the keys that the command line has."""
    print(json_text(value, indent=2 if sys.stdout.isatty() else None))


def json_text(value: Any, *, indent: int | None = None) -> str:
    """JSON that standard output can take: in ASCII where its encoding has not every character."""
    encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
    return json.dumps(value, ensure_ascii=encoding != "utf8", indent=indent)
