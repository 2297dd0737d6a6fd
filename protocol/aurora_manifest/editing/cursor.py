"""Cursor context: what is being written at a cursor: a name or a value, in which object or array, and what a proposal
replaces.

The text may be broken in any way; half a string and a missing comma are the usual state of a text while it is typed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from aurora_manifest.json.document import Array, Broken, JsonDocument, Member, Node, Object, Scalar
from aurora_manifest.json.parser import parse

_TRIVIA = re.compile(r"(?:[\s\ufeff]|//[^\n\r]*(?=[\n\r])|#[^\n\r]*(?=[\n\r])|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"//[^\n\r]*|#[^\n\r]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_WORD_BEFORE = re.compile(r"[\w$.+-]*\Z")
_WORD_AFTER = re.compile(r"[\w$.+-]*")
_BREAK = re.compile(r"[\n\r]")
_REST_OF_LINE = re.compile(r"[^\n\r]*")

_LONGEST_WORD = 200
"""Characters of a bare word, before the cursor, that a proposal replaces: a bound for broken texts."""


class ManifestCursor(Struct, frozen=True):
    """A place to write at.

    `path` leads to `container`, which holds the name or value; `member` is the one whose value is written, or whose
    name. A proposal replaces `start` to `end`, quotes included. `typed` is what stands between `start` and the cursor,
    without its quote. `comma_at` is where a comma must be put before what is written, `comma_after` whether one must
    follow; `colon_after` tells that a name already has its colon.
    """

    document: JsonDocument
    path: tuple[str | int, ...]
    container: Object | Array | None
    role: Literal["name", "value"]
    member: Member | None
    start: int
    end: int
    offset: int
    typed: str
    comma_at: int | None = None
    comma_after: bool = False
    colon_after: bool = False

    @property
    def place(self) -> tuple[str | int, ...]:
        """The way to the value that is written; for names, to the object that gets the member."""
        if self.role == "name" or self.member is None:
            return self.path
        return (*self.path, self.member.name)


def cursor_at(document: JsonDocument, offset: int) -> ManifestCursor | None:
    """Cursor at `offset`: what is being written there; None where nothing can be: behind a value, or in a comment.

    A string that swallowed what follows it on its line, because its closing quote is not typed yet, is closed at the
    cursor and the text read again.
    """
    found = _locate(document, offset)
    if found is None or not _swallows(document, found):
        return found
    closed = _locate(parse(f'{document.text[:offset]}"{document.text[offset:]}'), offset)
    if closed is None or closed.start != found.start:
        return found
    # The closing quote is in the text that was read, not in the buffer.
    return ManifestCursor(
        closed.document, closed.path, closed.container, closed.role, closed.member, closed.start, offset, offset,
        closed.typed, closed.comma_at, closed.comma_after, closed.colon_after,
    )  # fmt: skip


def _locate(document: JsonDocument, offset: int) -> ManifestCursor | None:
    """Descent to the innermost object or array around an offset, by binary search."""
    text, node = document.text, document.root
    if node is None or isinstance(node, Broken):
        if _TRIVIA.fullmatch(text, 0, offset) or text[:offset].isspace():
            return ManifestCursor(document, (), None, "value", None, offset, offset, offset, "")
        return None
    if not isinstance(node, Object | Array):
        return None
    if not _around(text, node, offset):
        return None
    path: list[str | int] = []
    while True:
        index = bisect_left(node.members if isinstance(node, Object) else node.items, offset, key=_begin) - 1
        last: Member | Node | None = None
        if index >= 0:
            last = node.members[index] if isinstance(node, Object) else node.items[index]
        inner = last.value if isinstance(last, Member) else last
        if isinstance(inner, Object | Array) and _around(text, inner, offset):
            path.append(last.name if isinstance(last, Member) else index)
            node = inner
            continue
        return _within(document, tuple(path), node, last, offset)


def _within(
    document: JsonDocument, path: tuple[str | int, ...], node: Object | Array, last: Member | Node | None, offset: int
) -> ManifestCursor | None:
    """The cursor in `node` and in none of its containers; `last` is what begins before it."""
    text = document.text
    value = last.value if isinstance(last, Member) else last
    named = last if isinstance(last, Member) else None
    if named is not None and _touches(text, named.name_start, named.name_end, offset):
        end = named.name_end
        colon = _next_char(text, end) == ":"
        return _cursor(document, path, node, "name", named, named.name_start, end, offset, colon_after=colon)
    if isinstance(value, Scalar) and value.start < offset and _touches(text, value.start, value.end, offset):
        return _cursor(document, path, node, "value", named, value.start, value.end, offset)
    waiting = named is not None and (value is None or isinstance(value, Broken) or offset <= value.start)
    since = named.name_end if named is not None and waiting else (value.end if value is not None else node.start + 1)
    if since > offset:
        return None
    gap = _without_comments(text[since:offset])
    if gap is None:
        return None
    word = _WORD_BEFORE.search(gap[-_LONGEST_WORD:])
    typed = word[0] if word else ""
    start, end = offset - len(typed), _end_of_word(text, offset)
    if waiting:
        if ":" not in gap and "=" not in gap:
            return None
        if value is not None and not isinstance(value, Broken):
            # A value stands here already, unless it is the name of what comes next.
            if not isinstance(value, Scalar) or _BREAK.search(text, offset, value.start):
                return None
            if _next_char(text, value.end) != ":":
                end = value.end
        return _cursor(document, path, node, "value", named, start, end, offset)
    role: Literal["name", "value"] = "name" if isinstance(node, Object) else "value"
    before = gap[: len(gap) - len(typed)]
    if last is None or "," in before or ";" in before:
        return _cursor(document, path, node, role, None, start, end, offset)
    if not before:
        return None
    return _cursor(document, path, node, role, None, start, end, offset, comma_at=since)


def _cursor(
    document: JsonDocument,
    path: tuple[str | int, ...],
    node: Object | Array,
    role: Literal["name", "value"],
    member: Member | None,
    start: int,
    end: int,
    offset: int,
    *,
    comma_at: int | None = None,
    colon_after: bool = False,
) -> ManifestCursor:
    follows = _next_char(document.text, end)
    comma_after = not colon_after and follows not in ("", ",", ";", "}", "]", ":")
    typed = document.text[start:offset].lstrip("\"'")
    return ManifestCursor(
        document, path, node, role, member, start, end, offset, typed, comma_at, comma_after, colon_after
    )  # fmt: skip


def _around(text: str, node: Object | Array, offset: int) -> bool:
    """Whether `offset` is inside the brackets; the end of one that is never closed is still inside."""
    if offset <= node.start or offset > node.end:
        return False
    return offset < node.end or not is_closed(text, node)


def is_closed(text: str, node: Object | Array) -> bool:
    """Whether an object or array has its own closing bracket, and does not end only where the text does."""
    closer = "}" if isinstance(node, Object) else "]"
    children: Sequence[Node] = [each.value for each in node.members] if isinstance(node, Object) else node.items
    inside = children[-1].end if children else node.start + 1
    return text[node.end - 1 : node.end] == closer and node.end > inside


def _touches(text: str, start: int, end: int, offset: int) -> bool:
    """Whether `offset` is in a string, number or word: behind its opening quote and not behind its closing one."""
    if not start < offset <= end:
        return False
    return offset < end or not _is_closed_string(text, start, end)


def _is_closed_string(text: str, start: int, end: int) -> bool:
    """Whether a string is terminated: its last quote is not escaped."""
    quote = text[start]
    if quote not in "\"'" or end - start < 2 or text[end - 1] != quote:
        return False
    escapes = len(text[start + 1 : end - 1]) - len(text[start + 1 : end - 1].rstrip("\\"))
    return escapes % 2 == 0


def _swallows(document: JsonDocument, cursor: ManifestCursor) -> bool:
    """Whether the string at a cursor is unterminated, and so takes in what comes after it."""
    text, end = document.text, cursor.end
    if text[cursor.start : cursor.start + 1] not in ('"', "'") or cursor.end <= cursor.offset:
        return False
    if not _is_closed_string(text, cursor.start, end):
        line = _REST_OF_LINE.match(text, cursor.offset)
        return bool(line and line[0].strip())
    rest = _REST_OF_LINE.match(text, end)
    follows = rest[0].lstrip()[:1] if rest else ""
    return bool(follows) and follows not in ",:}]/#"


def _without_comments(gap: str) -> str | None:
    """The text between two tokens with comments blanked; None when it ends within a comment."""
    if "/" not in gap and "#" not in gap:
        return gap
    for match in _COMMENT.finditer(gap):
        if match.end() == len(gap) and not match[0].endswith("*/"):
            return None
    return _COMMENT.sub(" ", gap)


def _next_char(text: str, offset: int) -> str:
    match = _TRIVIA.match(text, offset)
    end = match.end() if match else offset
    return text[end : end + 1]


def _end_of_word(text: str, offset: int) -> int:
    match = _WORD_AFTER.match(text, offset)
    return match.end() if match else offset


def _begin(each: Member | Node) -> int:
    return each.name_start if isinstance(each, Member) else each.start
