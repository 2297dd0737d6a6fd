"""Layout of a JSON text (formatter, pretty-print): line ends, indentation and spaces change, and nothing else (RFC
8259 §2).

Members keep their order, values their spelling, comments their place. What stands on one line in a text of several, and
holds nothing but scalars, stays on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from aurora_manifest.findings import Edit
from aurora_manifest.json.document import JsonDocument

_INDENT = re.compile(r"[\n\r]([ \t]+)[^\s]")
_LOOKED_AT = 10_000


MAX_WIDTH = 100
"""Columns up to which an object or array that stands on one line stays there."""

MAX_EDITS = 2_000
"""With more edits than this, one edit replaces the whole stretch: clients apply that faster."""

_TOKEN = re.compile(r'"(?:[^"\\\n\r]|\\.)*+"|//[^\n\r]*+|#[^\n\r]*+|/\*.*?\*/|[{}\[\],:]|[^\s"{}\[\],:/#]++', re.DOTALL)
_BREAK = re.compile(r"\r\n|\n|\r")
_REFUSED = ("json-syntax", "json-too-deep", "json-too-large", "json-trailing-comma")


class LayoutStyle(Struct, frozen=True):
    """Style of a formatter: how to indent, and whether the text is to end in a line end (None: as it does now)."""

    unit: str = "  "
    final_line_end: bool | None = None


class _LayoutToken(Struct, frozen=True):
    """Token of a formatter, and the line breaks before it."""

    text: str
    start: int
    end: int
    breaks: int

    @property
    def opens(self) -> bool:
        return self.text in ("{", "[")

    @property
    def closes(self) -> bool:
        return self.text in ("}", "]")

    @property
    def is_comment(self) -> bool:
        return self.text[0] in "/#"

    @property
    def ends_line(self) -> bool:
        return self.text.startswith(("//", "#"))


def laid_out(document: JsonDocument, style: LayoutStyle, start: int = 0, end: int | None = None) -> list[Edit]:
    """Formatting: the edits that lay out the text, or those of them that touch what lies between two offsets.

    There are none for a text with syntax errors: what is put right by guessing could go wrong.
    """
    if document.root is None or any(each.rule in _REFUSED for each in document.problems):
        return []
    end = len(document.text) if end is None else end
    last = len(document.text)
    edits = [each for each in _edits(document, style) if each.end >= start and (each.start < end or end == last)]
    if len(edits) <= MAX_EDITS:
        return edits
    return [_as_one(document.text, edits)]


def _as_one(text: str, edits: list[Edit]) -> Edit:
    """Edits coalesced into one, where they are many."""
    pieces: list[str] = []
    at = edits[0].start
    for each in edits:
        pieces += (text[at : each.start], each.text)
        at = each.end
    return Edit(edits[0].start, at, "".join(pieces))


def _edits(document: JsonDocument, style: LayoutStyle) -> Iterator[Edit]:
    """Formatting edits: white space between each two tokens, by depth (indentation)."""
    text, newline = document.text, line_end(document.text)
    tokens = _tokens(text)
    if not tokens:
        return
    flat = _on_one_line(text, tokens, style)
    depth = 0
    within = 0  # how many of the open containers stand on one line
    before = tokens[0]
    if text[before.start - 1 : before.start].isspace():
        bom = 1 if text.startswith("\ufeff") else 0
        yield Edit(bom, before.start, "")
    for index, token in enumerate(tokens):
        if index:
            inner = depth - 1 if token.closes else depth
            wanted = _gap(before, token, newline + style.unit * inner, newline, flat=within > 0)
            if wanted is None:
                wanted = text[before.end : token.start]
            if wanted != text[before.end : token.start]:
                yield Edit(before.end, token.start, wanted)
        if token.opens:
            depth += 1
            within += 1 if within or index in flat else 0
        elif token.closes:
            depth -= 1
            within -= 1 if within else 0
        before = token
    last = text[before.end :]
    ends = bool(_BREAK.search(last)) if style.final_line_end is None else style.final_line_end
    if last != (newline if ends else ""):
        yield Edit(before.end, len(text), newline if ends else "")


def _gap(before: _LayoutToken, token: _LayoutToken, indented: str, newline: str, *, flat: bool) -> str | None:
    """Gap between two tokens; None leaves it as it is."""
    empty_line = newline if token.breaks > 1 and not before.opens and not token.closes else ""
    if before.ends_line:
        return empty_line + indented
    if token.is_comment:
        return empty_line + indented if token.breaks else " "
    if before.is_comment:
        return empty_line + indented if token.breaks else " "
    if token.text in (",", ":"):
        return ""
    if before.text == ":":
        return " "
    if before.opens and token.closes:
        return ""
    if flat:
        return " " if before.text == "," else None
    if before.opens or token.closes or before.text == ",":
        return empty_line + indented
    return " "


def _tokens(text: str) -> list[_LayoutToken]:
    """Tokens of a text (lexer)."""
    tokens: list[_LayoutToken] = []
    at = 1 if text.startswith("\ufeff") else 0
    for match in _TOKEN.finditer(text, at):
        breaks = len(_BREAK.findall(text, at, match.start()))
        tokens.append(_LayoutToken(match[0], match.start(), match.end(), breaks))
        at = match.end()
    return tokens


def _on_one_line(text: str, tokens: list[_LayoutToken], style: LayoutStyle) -> set[int]:
    """The opening tokens of objects and arrays that stay on one line."""
    if not _BREAK.search(text, tokens[0].start, tokens[-1].end):
        return set()
    found: set[int] = set()
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.opens:
            opened.append(index)
        elif token.closes and opened:
            first = opened.pop()
            inside = tokens[first + 1 : index] if index - first <= MAX_WIDTH else []
            one_line = not any(each.breaks for each in (*inside, token))
            plain = not any(each.opens or each.is_comment for each in inside)
            key = tokens[first - 2] if first > 1 and tokens[first - 1].text == ":" else tokens[first]
            width = len(style.unit) * len(opened) + token.end - key.start
            if inside and one_line and plain and width <= MAX_WIDTH:
                found.add(first)
    return found


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
