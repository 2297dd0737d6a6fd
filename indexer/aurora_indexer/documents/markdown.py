"""Markdown parser, line by line: headings of both kinds (ATX, setext), blocks, YAML front matter; nothing inside code
or comments counts.

Read by lines and not with the tree-sitter grammar, which is killed by deeply nested quotes and lists: saves are parsed
inside the daemon.
"""

from __future__ import annotations

import re

from aurora_indexer.documents.knowledge_chunk import Builder
from aurora_indexer.documents.sections import Block, DocumentOutline, SectionHeading, add_sections

_FENCE = re.compile(r"[ \t>]{0,40}(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(`{3,}|~{3,})(.*)")
_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|-+)[ \t]*$")
_NOT_A_PARAGRAPH = re.compile(r" {0,3}(?:[-*+>|]|\d{1,9}[.)][ \t])|    |\t")
_FRONT = re.compile(r"(?:title|description|summary)\b", re.IGNORECASE)
_MAX_FRONT = 200
_MAX_HEADING_LINES = 3


def add_markdown(builder: Builder, path: str, text: str) -> None:
    """Make the chunks of a Markdown document."""
    add_sections(builder, path, text, outline(text))


def outline(text: str) -> DocumentOutline:
    """Find the headings and blocks of a document. Linear in its length."""
    lines = text.split("\n")
    title, about, skipped = _front_matter(lines)
    reader = _Reader()
    at = 0
    for number, line in enumerate(lines):
        end = at + len(line) + 1
        if number >= skipped:
            reader.take(line.removesuffix("\r"), at, min(end, len(text)))
        at = end
    reader.close(len(text))
    return DocumentOutline(reader.headings, reader.blocks, title, about)


class _Reader:
    """Takes lines in order. `self._fence` is the mark that ends the code it is in, `self._comment` likewise."""

    def __init__(self) -> None:
        self.headings: list[SectionHeading] = []
        self.blocks: list[Block] = []
        self._fence = ""
        self._comment = False
        self._start = -1
        self._paragraph: list[str] = []

    def take(self, line: str, start: int, end: int) -> None:
        """Take the line at `start`; `end` is behind its line break."""
        if self._fence:
            bare = line.strip(" \t>")
            if bare.startswith(self._fence) and not bare.strip(self._fence[0]):
                self._fence = ""
                self._finish(end, prose=False)
            return
        if self._comment:
            if "-->" in line:
                self._comment = False
                self._finish(end, prose=False)
            return
        if not line.strip():
            self._finish(start, prose=True)
            return
        fence = _FENCE.match(line)
        if fence and not (fence[1][0] == "`" and "`" in fence[2]):
            self._finish(start, prose=True)
            self._fence, self._start = fence[1], start
        elif line.lstrip().startswith("<!--") and "-->" not in line:
            self._finish(start, prose=True)
            self._comment, self._start = True, start
        elif atx := _ATX.match(line):
            self._finish(start, prose=True)
            text = line[atx.end() :].strip()
            bare = text.rstrip("#")
            self._add(SectionHeading(len(atx[1]), bare.rstrip() if not bare or bare[-1] in " \t" else text, start, end))
        elif self._paragraph and len(self._paragraph) <= _MAX_HEADING_LINES and self._underlined(line):
            text = " ".join(part.strip() for part in self._paragraph)
            self._add(SectionHeading(1 if "=" in line else 2, text, self._start, end))
        else:
            if self._start < 0:
                self._start = start
            if len(self._paragraph) <= _MAX_HEADING_LINES:
                self._paragraph.append(line)

    def close(self, end: int) -> None:
        """The text ends: so does what is open, code as well."""
        self._finish(end, prose=not (self._fence or self._comment))

    def _underlined(self, line: str) -> bool:
        return _UNDERLINE.match(line) is not None and not _NOT_A_PARAGRAPH.match(self._paragraph[0])

    def _add(self, heading: SectionHeading) -> None:
        self.headings.append(heading)
        self._start, self._paragraph = -1, []

    def _finish(self, end: int, *, prose: bool) -> None:
        if self._start >= 0:
            self.blocks.append(Block(self._start, end, prose))
        self._start, self._paragraph = -1, []


def _front_matter(lines: list[str]) -> tuple[str, str, int]:
    """Front matter: the document's title, what is said of it, and the number of lines it takes."""
    mark = lines[0].strip()
    if mark not in ("---", "+++"):
        return "", "", 0
    title, about = "", ""
    for number, line in enumerate(lines[1:_MAX_FRONT], 1):
        if line.strip() in (mark, "..." if mark == "---" else mark):
            return title, about, number + 1
        if _FRONT.match(line):
            key, _, value = line.partition(":" if mark == "---" else "=")
            value = value.strip().strip("\"'")
            if value in ("|", ">", "|-", ">-"):
                continue
            if key.strip().lower() == "title":
                title = value
            else:
                about = about or value
    return "", "", 0
