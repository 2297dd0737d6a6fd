"""Markdown outline: a document's headings and list items, without what stands in code or comments."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MAX_CHARACTERS = 128 << 10
"""Of a document that are read, as long as many books' chapters: parsing takes some ms per KiB."""

NO_LINE = 1 << 60
"""Later than any line."""

_BOX = re.compile(r"\[([ \t\xa0xX])\](?:\s+|$)")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)


class Heading(Struct, frozen=True):
    """Heading of Markdown: `# Title` is level 1; `line` counts from 0."""

    level: int
    text: str
    line: int


class ListItem(Struct, frozen=True):
    """A list item's first line. `checked` is None where it has no box; `depth` is 0 in an outermost list."""

    text: str
    checked: bool | None
    depth: int
    line: int


class Outline(Struct, frozen=True):
    """Headings, items and paragraphs outside of lists, each in their order."""

    headings: tuple[Heading, ...] = ()
    items: tuple[ListItem, ...] = ()
    paragraphs: tuple[tuple[int, str], ...] = ()

    @property
    def title(self) -> str | None:
        """The first heading of level 1."""
        return next((heading.text for heading in self.headings if heading.level == 1), None)

    @property
    def boxes(self) -> tuple[ListItem, ...]:
        """The items of checklists."""
        return tuple(item for item in self.items if item.checked is not None)

    def section(self, wanted: re.Pattern[str]) -> tuple[int, int] | None:
        """The lines, from and to, of the first section whose heading matches: down to the next of its level."""
        for n, heading in enumerate(self.headings):
            if wanted.search(heading.text):
                return heading.line, self.end_of(n)
        return None

    def end_of(self, n: int) -> int:
        """The line at which the section of the n-th heading ends: at the next of its level or above."""
        level = self.headings[n].level
        later = map(self.headings.__getitem__, range(n + 1, len(self.headings)))
        following = (each.line for each in later if each.level <= level)
        return next(following, NO_LINE)


def outline(text: str) -> Outline:
    """Read the blocks of a document's first `MAX_CHARACTERS`. Comments and front matter count as nothing."""
    tokens = _parser().parse(_without_front_matter(text[:MAX_CHARACTERS]))
    headings: list[Heading] = []
    items: list[ListItem] = []
    paragraphs: list[tuple[int, str]] = []
    depth, first = -1, False
    for n, token in enumerate(tokens):
        line = token.map[0] if token.map else 0
        if token.type in ("bullet_list_open", "ordered_list_open"):
            depth += 1
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            depth -= 1
        elif token.type == "list_item_open":
            first = True
        elif token.type == "list_item_close":
            first = False
        elif token.type == "heading_open":
            headings.append(Heading(int(token.tag[1:]), tokens[n + 1].content.strip(), line))
        elif token.type == "paragraph_open" and depth < 0:
            paragraphs.append((line, tokens[n + 1].content.strip()))
        elif token.type == "paragraph_open" and first:
            first = False
            said = tokens[n + 1].content
            box = _BOX.match(said)
            checked = box[1] in "xX" if box else None
            items.append(ListItem(said[box.end() :] if box else said, checked, depth, line))
    return Outline(tuple(headings), tuple(items), tuple(paragraphs))


def _without_front_matter(text: str) -> str:
    """The same lines, those of front matter empty."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _FRONT_MATTER.sub(_blank, text, count=1)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.disable(["inline", "text_join"])  # what lines say is taken as written
    return parser
