"""Spec and task files: the deliverable one belongs to (OpenSpec and SpecKit folders by their place, other specs by what
was said), and the checkboxes in its text.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from aurora_server.lsp.location import DocumentPlace, place_of
from aurora_server.session.errors import RequestError

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable
    from aurora_server.lsp.server import AuroraServer

SUFFIXES = frozenset({".md", ".markdown"})

_BOX = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+\[([ xX])\](?:\s|$)")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+\S")
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)")


class Section(NamedTuple):
    """Section of a checklist: a heading's 0-based line, and the boxes between it and the next heading."""

    line: int
    done: int
    total: int


class Checklist(NamedTuple):
    """Checkboxes of a Markdown text: how many there are and are checked, in all and by section.

    `boxes` are their 0-based lines, `first_open` is the line of the first to do.
    """

    done: int
    total: int
    first_open: int | None
    boxes: frozenset[int]
    sections: tuple[Section, ...]


class SpecFile(NamedTuple):
    """An open or saved spec or task file, its deliverable, and the boxes in its text as the editor shows it."""

    place: DocumentPlace
    deliverable: Deliverable
    boxes: Checklist
    lines: list[str]


async def spec_file(ls: AuroraServer, uri: str) -> SpecFile | None:
    """The deliverable that the file at `uri` belongs to; None where it belongs to none."""
    if not may_be_spec(uri) or (place := await place_of(ls, uri)) is None:
        return None
    found = deliverable_of(place.workspace.relative(place.path), await place.workspace.deliverables.all())
    if found is None:
        return None
    lines = await _lines(ls, uri, place)
    return SpecFile(place, found, checklist(lines), lines)


def may_be_spec(uri: str) -> bool:
    """Whether a document is Markdown: every spec and task file is."""
    return PurePosixPath(uri).suffix.lower() in SUFFIXES


async def _lines(ls: AuroraServer, uri: str, place: DocumentPlace) -> list[str]:
    """The lines of the buffer, or of the file where it is not open; none when that cannot be read."""
    try:
        index = await asyncio.to_thread(ls.documents.line_index, uri, place.path)
    except RequestError:
        return []
    return index.text.split("\n")


def deliverable_of(path: str, deliverables: Iterable[Deliverable]) -> Deliverable | None:
    """The deliverable whose spec is at `path` (relative, with `/`), or whose id the folder around it has."""
    named = change_id_of(path)
    by_name: Deliverable | None = None
    for each in deliverables:
        spec = each.spec_source.spec_id if each.spec_source is not None else None
        if spec and _is_at(path, spec.strip("/")):
            return each
        if by_name is None and named is not None and each.change_id == named:
            by_name = each
    return by_name


def change_id_of(path: str) -> str | None:
    """Change by its path: `openspec/changes/add-search/tasks.md`, `specs/001-search/tasks.md`; other files none."""
    from aurora_deliverables.detection import openspec, speckit

    return openspec.change_of(path) or speckit.feature_of(path)


def _is_at(path: str, spec: str) -> bool:
    return any(path == place or path.startswith(f"{place}/") for place in (spec, f"openspec/{spec}"))


def checklist(lines: list[str]) -> Checklist:
    """Checkbox progress: counts of the boxes of a text's lines; what stands in fenced code is none."""
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
