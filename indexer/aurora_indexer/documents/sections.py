"""Sections of a document with headings: a chunk for each, down to the next of any level (AURORA §6.6).

A document that is nothing but headings is data: its sections are merged until there are about as many as a file of code
of its size has chunks. No word of it is left out by that.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

from aurora_indexer.documents.inline_markup import plain, references
from aurora_indexer.documents.knowledge_chunk import MAX_CHUNKS, Builder, DocumentPiece, clean_name
from aurora_memory.chunks import MODULE_NAME, Reference

FEW_SECTIONS = 300
"""Sections of one document that are never merged."""

SECTION_CHARACTERS = 512
"""Characters of a document for each section that it may have beyond those; the rest is merged, the deepest level
first.
"""

_BULLET = re.compile(r"^[ \t]{0,12}(?:[-*+]|\d{1,3}[.)])[ \t]+|^[ \t]{0,3}>[ \t]?")
_ADMONITION = re.compile(r"(?:[ \t>]{0,12}(?:!!!|\?\?\?|:::)|[ \t]{0,3}>[ \t]{0,3}\[!)")
_WORDS = re.compile(r"\w\w")


class SectionHeading(Struct, frozen=True):
    """A heading: its level from 1, its text as written, and where it starts and its own lines end. `named` is where
    the text stands, where not at its start.
    """

    level: int
    text: str
    start: int
    end: int
    named: int | None = None


class Block(Struct, frozen=True):
    """A paragraph, list, table or piece of code. Only `prose` is read for names, links and documentation."""

    start: int
    end: int
    prose: bool


class DocumentOutline(Struct, frozen=True):
    """Sections that a format found in a text, in order. `title` and `about` are what its front matter says of it."""

    headings: Sequence[SectionHeading]
    blocks: Sequence[Block]
    title: str = ""
    about: str = ""


def add_sections(builder: Builder, path: str, text: str, outline: DocumentOutline) -> None:
    """Make a chunk of what stands before the first heading, if that says anything, and of each section."""
    starts = [block.start for block in outline.blocks]
    headings = _merged(outline.headings, min(max(FEW_SECTIONS, len(text) // SECTION_CHARACTERS), MAX_CHUNKS - 1))
    first = headings[0].start if headings else len(text)
    title = clean_name(plain(outline.title)) if outline.title.strip() else ""
    before = _blocks(outline, starts, 0, first)
    alone = bool(before) and not headings
    if alone or outline.about or title or any(_says_something(text, block) for block in before):
        taken = headings and title == clean_name(plain(headings[0].text))
        builder.add(
            _section(
                path,
                text,
                before,
                (0, first),
                name=title if title and not taken else MODULE_NAME,
                heading=outline.title,
                about=outline.about,
            )
        )
    around: list[tuple[int, str]] = []
    for number, heading in enumerate(headings):
        end = headings[number + 1].start if number + 1 < len(headings) else len(text)
        while around and around[-1][0] >= heading.level:
            around.pop()
        parent = around[-1][1] if around else None
        own = clean_name(plain(heading.text))
        name = f"{parent}.{own}" if parent else own
        around.append((heading.level, name))
        blocks = _blocks(outline, starts, heading.end, end)
        builder.add(
            _section(
                path,
                text,
                blocks,
                (heading.start, end),
                name=name,
                parent=parent,
                heading=f"{'#' * heading.level} {heading.text}",
                heading_end=heading.end,
                heading_at=heading.named,
            )
        )


def _merged(headings: Sequence[SectionHeading], most: int) -> Sequence[SectionHeading]:
    """At most so many of the headings: all of the upper levels, as many as fit of the next, evenly. The first stays.

    What stands under one that is not among them belongs to the section before it.
    """
    if len(headings) <= most:
        return headings
    of_level = Counter(heading.level for heading in headings[1:])
    room, cut = most - 1, 0
    for cut in sorted(of_level):
        if of_level[cut] > room:
            break
        room -= of_level[cut]
    every = -(-of_level[cut] // room) if room else len(headings)
    kept, seen = [headings[0]], 0
    for heading in headings[1:]:
        if heading.level == cut:
            seen += 1
        if heading.level < cut or (heading.level == cut and seen % every == 0):
            kept.append(heading)
    return kept


def _section(
    path: str,
    text: str,
    blocks: Sequence[Block],
    span: tuple[int, int],
    *,
    name: str,
    heading: str,
    parent: str | None = None,
    about: str = "",
    heading_end: int = 0,
    heading_at: int | None = None,
) -> DocumentPiece:
    """Section as a piece: its first paragraph is its documentation, its links are its references."""
    said = next((block for block in blocks if _says_something(text, block)), None)
    silent = [(span[0], heading_end)] if heading_end else []
    if said is not None and not about:
        silent.append((said.start, said.end))
    named: list[Reference] = []
    for block in blocks:
        if block.prose:
            named.extend(references(text[block.start : block.end], path))
    doc = about or (_paragraph(text[said.start : said.end]) if said is not None else "")
    return DocumentPiece(
        name=name,
        kind="section",
        start=span[0],
        end=span[1],
        heading=heading,
        doc=doc,
        parent=parent,
        references=named,
        silent=silent,
        borders=[block.start for block in blocks],
        named=heading_at,
    )


def _blocks(outline: DocumentOutline, starts: Sequence[int], low: int, high: int) -> Sequence[Block]:
    return outline.blocks[bisect_left(starts, low) : bisect_left(starts, high)]


def _says_something(text: str, block: Block) -> bool:
    """Whether a block is about its section; an admonition is beside what that says."""
    return (
        block.prose
        and not _ADMONITION.match(text, block.start)
        and _WORDS.search(plain(text[block.start : min(block.end, block.start + 2000)])) is not None
    )


def _paragraph(text: str) -> str:
    lines = [plain(_BULLET.sub("", line)) for line in text[:8000].split("\n")]
    return "\n".join(line for line in lines if line)
