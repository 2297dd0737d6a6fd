"""Leading comments (doc comments) and attributes (decorators, annotations): what stands directly above a definition
belongs to it: its comments, and its attributes where they are siblings.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from tree_sitter import Node

from aurora_indexer.parse.spans import Span

Captures = dict[str, list[Node]]

_MAX_GAP = 400
"""Bytes of white space that a comment is looked for across, and of a line before it."""

_BLANK = 0x20
_RUN = re.compile(rb"\x01+")

_OF_NO_FILE = re.compile(
    rb"(?i)copyright|licen[sc]e|spdx-|all rights reserved|frozen_string_literal|-\*-"
    rb"|[/*#\s]+(?:eslint|jshint|(?-i:global )|@flow|vim:)"
)
"""In a comment at a file's head that says nothing of the file: whose it is, or how a tool is to read it."""

_BETWEEN = b" \t\r\n;"
"""What may stand between: an overload of a method ends at a semicolon that is not its own."""


def unseen(source: bytes, seen: bytes) -> list[Span]:
    """Spans of a source that are blank in what its grammar sees; both are of one length, and have the same lines."""
    if seen is source:
        return []
    spans: list[Span] = []
    offset = 0
    for line, left in zip(source.split(b"\n"), seen.split(b"\n"), strict=True):
        if line != left:
            gone = bytes(after == _BLANK != before for before, after in zip(line, left, strict=True))
            spans += [(offset + run.start(), offset + run.end()) for run in _RUN.finditer(gone)]
        offset += len(line) + 1
    return spans


class Leads:
    """Leading comments and attributes, to be found from what is below them. `bare` is the source with comments blanked.

    What a grammar does not get to see, macros and annotations, stands like an attribute.
    """

    def __init__(self, source: bytes, bare: bytes, captures: Captures, blanks: Sequence[Span] = ()) -> None:
        self._source = source
        self._bare = bare
        comments = [node.byte_range for node in captures.get("comment", ())]
        attributes = [*blanks, *(node.byte_range for node in captures.get("attribute", ()))]
        self._leads = sorted([(s, e, True) for s, e in comments] + [(s, e, False) for s, e in attributes])
        self._starts = [lead[0] for lead in self._leads]
        self._attribute_ends = dict(attributes)

    def above(self, start: int, floor: int) -> tuple[int, list[Span]]:
        """Start of the comments and attributes directly above `start`, and which of them are comments.

        Nothing before `floor` is taken, nor a comment that ends a line of code, nor one with a blank line below it. One
        that ends an attribute's line goes with it, and documents nothing.
        """
        source = self._source
        docs: list[Span] = []
        at = bisect_left(self._starts, start) - 1
        column = self._column(start)
        while at >= 0:
            lead_start, lead_end, is_comment = self._leads[at]
            at -= 1
            if lead_start < floor or start - lead_end > _MAX_GAP:
                break
            if lead_end > start:
                continue
            while lead_end > lead_start and source[lead_end - 1] in b"\r\n":
                lead_end -= 1
            gap = source[lead_end:start]
            if gap.count(b"\n") > 1 or gap.strip(_BETWEEN):
                break
            if is_comment:
                lead_column = self._column(lead_start)
                if lead_column < 0 and (attribute := self._attribute_before(at, lead_start)) >= floor:
                    start = attribute
                    at -= 1
                    continue
                if lead_column < 0 or (column >= 0 and lead_column != column):
                    break
                docs.append((lead_start, lead_end))
            start = lead_start
        docs.reverse()
        return start, docs

    def at_head(self, code: int) -> list[Span]:
        """The first comment before `code` that says something of the file: what stands together, no licence (license
        header)."""
        block: list[Span] = []
        for start, end, is_comment in self._leads:
            if end > code:
                break
            if not is_comment or self._source.startswith(b"#!", start):
                continue
            if block and self._source.count(b"\n", block[-1][1], start) > 1:
                if not self._is_of_no_file(block):
                    break
                block = []
            block.append((start, end))
        return [] if not block or self._is_of_no_file(block) else block

    def _is_of_no_file(self, block: list[Span]) -> bool:
        return _OF_NO_FILE.search(self._source, block[0][0], block[-1][1]) is not None

    def after_attributes(self, start: int) -> int:
        """Start of what comes after the attributes at `start`, and comments after them."""
        source = self._bare
        while (end := self._attribute_ends.get(start)) is not None:
            start = end
            while start < len(source) and source[start] in b" \t\r\n":
                start += 1
        return start

    def _attribute_before(self, at: int, comment: int) -> int:
        """Start of an index's lead, if it is an attribute with nothing up to a comment on its line, or -1."""
        if at < 0:
            return -1
        start, end, is_comment = self._leads[at]
        return -1 if is_comment or end > comment or self._source[end:comment].strip(b" \t") else start

    def _column(self, start: int) -> int:
        """Bytes of white space before `start` on its line, or -1 where something else comes first."""
        line = self._source.rfind(b"\n", max(0, start - _MAX_GAP), start) + 1
        if line == 0 and start > _MAX_GAP:
            return -1
        return start - line if not self._source[line:start].strip() else -1
