"""Text of a bug report or issue without what its form made: a template's comments, addresses, and tables of installed
versions.

Such lines name packages and tools, and a recall of their words finds the module that prints them. Pure.
"""

from __future__ import annotations

import re

LISTED = 4
"""Lines in a row that make a table of versions, where a third of them tell one."""

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"')]{1,2000}")
_ENTRY = re.compile(r"\W{0,12}[\w.() /+-]{1,40}[\"'`]?\s{0,20}(?:==?|:|-)\s{0,20}(?P<value>\S{0,60})(?P<rest>.{0,120})")
_HEADING = re.compile(
    r"(?i)(?=.{0,120}$)\W{0,12}(?:\S{1,30}\s{1,4}){0,5}\S{0,30}"
    r"(?:version|environment|system|platform|setup|details|installed)\S{0,30}(?:\s{1,4}\S{1,30}){0,3}"
)
_MARKS = re.compile(r"\W*")
_COMPILER = re.compile(r"\[(?:GCC|Clang|MSC)\b[^\]]{0,80}\].{0,40}")
_VERSION = re.compile(r"[\"'`v]{0,2}\d+(?:\.\w+)+|None\b|null\b")


def report_text(text: str) -> str:
    """The lines of a report that somebody wrote for it."""
    kept: list[str] = []
    table: list[str] = []
    for line in _ADDRESS.sub(" ", _COMMENT.sub(" ", text)).split("\n"):
        if _is_entry(line.strip()):
            table.append(line)
        else:
            _settle(table, kept)
            kept.append(line)
    _settle(table, kept)
    return "\n".join(kept)


def _settle(table: list[str], kept: list[str]) -> None:
    """Keep the lines of `table`, or drop them and their heading."""
    if _tells_versions(table):
        while kept and (not kept[-1].strip() or _HEADING.fullmatch(kept[-1].strip())):
            kept.pop()
        kept.append("")
    else:
        kept += table
    table.clear()


def _is_entry(line: str) -> bool:
    """Whether a line says what something is (`numpy: 1.16.4`, `"version": "2.22"`, `OS = Linux`) or nothing."""
    entry = _ENTRY.fullmatch(line)
    if entry is None:
        return _MARKS.fullmatch(line) is not None or _COMPILER.fullmatch(line) is not None
    return not entry["rest"].strip(" ,}]\"'`") or _VERSION.match(entry["value"]) is not None


def _tells_versions(lines: list[str]) -> bool:
    told = [line for line in lines if _MARKS.fullmatch(line.strip()) is None]
    versions = sum(_VERSION.search(line) is not None for line in told)
    return len(told) >= LISTED and 3 * versions >= len(told)
