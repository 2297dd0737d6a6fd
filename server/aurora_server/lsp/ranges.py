"""Ranges (position encoding): offsets in a text to LSP ranges in UTF-16 units, and back."""

from __future__ import annotations

from lsprotocol import types

from aurora_protocol.positions import Encoding, LineIndex, Pos


def range_of(index: LineIndex, start: int, end: int, encoding: Encoding) -> types.Range:
    """The range between two offsets."""
    found = index.range(start, end, encoding)
    return types.Range(
        types.Position(found.start.line, found.start.character), types.Position(found.end.line, found.end.character)
    )


def offset_of(index: LineIndex, position: types.Position, encoding: Encoding) -> int:
    """The offset of a client's position."""
    return index.offset(Pos(position.line, position.character), encoding)
