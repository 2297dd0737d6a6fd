"""reStructuredText parser: sections by their underlined titles; levels in the order in which the marks first appear."""

from __future__ import annotations

import re

from aurora_indexer.documents.knowledge_chunk import Builder
from aurora_indexer.documents.sections import Block, DocumentOutline, SectionHeading, add_sections

_MARKS = "=-`:'\"~^_*+#<>.!$%&(),/;?@[]\\{|}"
_COMMENT = re.compile(r"\.\.(?:\s|$)")
_DEEPEST = 6


def add_restructuredtext(builder: Builder, path: str, text: str) -> None:
    """Make the chunks of a reStructuredText document."""
    add_sections(builder, path, text, outline(text))


def outline(text: str) -> DocumentOutline:
    """Find the headings and blocks of a document. Linear in its length."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    starts[-1] = len(text)
    levels: dict[str, int] = {}
    headings: list[SectionHeading] = []
    blocks: list[Block] = []
    open_at = -1
    number = 0
    while number < len(lines):
        over = _mark(lines[number])
        first = number + 1 if over else number
        under = _mark(lines[first + 1]) if first + 1 < len(lines) else ""
        title = lines[first].strip() if first < len(lines) else ""
        fits = under and title and not _mark(title) and len(lines[first + 1].strip()) >= min(len(title), 80)
        if fits and (not over or over == under) and (over or not lines[first][:1].isspace()) and open_at < 0:
            style = over + under
            level = levels.setdefault(style, len(levels) + 1)
            place = starts[number], starts[first + 2], starts[first]
            headings.append(SectionHeading(min(level, _DEEPEST), title, *place))
            number = first + 2
            continue
        if not lines[number].strip():
            if open_at >= 0:
                blocks.append(_block(lines, starts, open_at, number))
            open_at = -1
        elif open_at < 0:
            open_at = number
        number += 1
    if open_at >= 0:
        blocks.append(_block(lines, starts, open_at, len(lines)))
    return DocumentOutline(headings, blocks)


def _mark(line: str) -> str:
    """The character that a line underlines with; empty for other lines."""
    bare = line.rstrip()
    return bare[0] if len(bare) >= 2 and bare[0] in _MARKS and not bare.strip(bare[0]) else ""


def _block(lines: list[str], starts: list[int], first: int, end: int) -> Block:
    prose = not lines[first][:1].isspace() and not _COMMENT.match(lines[first])
    return Block(starts[first], starts[end] if end < len(starts) else starts[-1], prose)
