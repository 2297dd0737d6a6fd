"""Text of a report without what its form made: a template's comments, addresses, and tables of installed versions.

Such lines name packages and tools, and a recall of their words finds the module that prints them. Pure.
"""

from __future__ import annotations

import re

LISTED = 4
"""Lines in a row that make a table of versions, where half of them tell one."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"')]{1,2000}")
_ENTRY = re.compile(r"\W{0,12}[\w.() /+-]{1,40}[\"'`]?\s{0,20}(?:==?|:|-)\s{0,20}(?P<value>\S{0,60})(?P<rest>.{0,120})")
_VERSION = re.compile(r"[\"'`v]{0,2}\d+(?:\.\w+)+|None\b|null\b")


def report_text(text: str) -> str:
    """The lines of a report that somebody wrote for it."""
    kept: list[str] = []
    table: list[str] = []
    for line in _ADDRESS.sub(" ", _COMMENT.sub(" ", text)).split("\n"):
        if not line.strip() or _is_entry(line):
            table.append(line)
        else:
            kept += [*_unless_versions(table), line]
            table = []
    return "\n".join([*kept, *_unless_versions(table)])


def _is_entry(line: str) -> bool:
    """Whether a line says what something is: `numpy: 1.16.4`, `"version": "2.22"`, `OS = Linux`."""
    entry = _ENTRY.fullmatch(line.strip())
    return entry is not None and (not entry["rest"].strip(" ,}]\"'`") or _VERSION.match(entry["value"]) is not None)


def _unless_versions(lines: list[str]) -> list[str]:
    told = [line for line in lines if line.strip()]
    versions = sum(_VERSION.search(line) is not None for line in told)
    return [] if len(told) >= LISTED and 2 * versions >= len(told) else lines
