"""Checkboxes of a Markdown text, by heading, with the lines they stand on."""

from __future__ import annotations

import re
from typing import NamedTuple

_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\](?:\s|$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+\S")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")


class Section(NamedTuple):
    """A heading's 0-based line, and the boxes between it and the next heading."""

    line: int
    done: int
    total: int


class Checklist(NamedTuple):
    """How many boxes there are and are checked, in all and by section; `first_open` is the line of the first to do."""

    done: int
    total: int
    first_open: int | None
    boxes: frozenset[int]
    sections: tuple[Section, ...]


def checklist(lines: list[str]) -> Checklist:
    """Count the boxes of a text's lines; what stands in fenced code is none."""
    sections: list[Section] = []
    boxes: set[int] = set()
    done = 0
    first_open: int | None = None
    fence = ""
    for number, line in enumerate(lines):
        marker = _FENCE.match(line)
        if fence:
            if marker and marker[1].startswith(fence):
                fence = ""
            continue
        if marker:
            fence = marker[1]
        elif _HEADING.match(line):
            sections.append(Section(number, 0, 0))
        elif box := _BOX.match(line):
            checked = box[1] != " "
            boxes.add(number)
            done += checked
            if not checked and first_open is None:
                first_open = number
            if sections:
                last = sections[-1]
                sections[-1] = Section(last.line, last.done + checked, last.total + 1)
    return Checklist(done, len(boxes), first_open, frozenset(boxes), tuple(sections))
