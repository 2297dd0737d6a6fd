"""Layout style: how a text is laid out already: its line ends, and one step of its indentation."""

from __future__ import annotations

import re

_INDENT = re.compile(r"[\n\r]([ \t]+)[^\s]")
_LOOKED_AT = 10_000


def indent_unit(text: str) -> str:
    """One step of indentation: that of the first indented line; two spaces where there is none."""
    match = _INDENT.search(text, 0, _LOOKED_AT)
    return match[1] if match else "  "


def line_end(text: str) -> str:
    """The line end of the first line."""
    first = text.find("\n")
    if first < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[first - 1 : first] == "\r" else "\n"
