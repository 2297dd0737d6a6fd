"""Spans of a source (byte ranges): a text with blanks in their place or without them, and where it begins and ends."""

from __future__ import annotations

from collections.abc import Iterable

from aurora_indexer.parse.fingerprint import WHITE_SPACE

Span = tuple[int, int]
"""First byte, and the one after the last."""

NO_CODE = WHITE_SPACE + b";,{}()"
"""Characters that may be left between definitions without being code."""


def blanked(text: bytes, spans: Iterable[Span]) -> bytes:
    """A text with spaces in place of the spans, which are sorted and may overlap."""
    pieces: list[bytes] = []
    at = 0
    for start, end in spans:
        if end <= at:
            continue
        start = max(start, at)
        pieces.append(text[at:start])
        pieces.append(b" " * (end - start))
        at = end
    if not pieces:
        return text
    pieces.append(text[at:])
    return b"".join(pieces)


def without(text: bytes, start: int, end: int, spans: list[Span]) -> bytes:
    """What is left of a text from `start` to `end`, a line for each gap between the spans."""
    if not spans:
        return text[start:end]
    return b"\n".join([text[low:high] for low, high in between(sorted(spans), start, end)])


def between(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """Gaps from `start` to `end` between the spans; they are sorted and may overlap."""
    left: list[Span] = []
    for low, high in spans:
        if low > start:
            left.append((start, low))
        start = max(start, high)
    left.append((start, end))
    return left


def code_extent(text: bytes, spans: list[Span]) -> Span:
    """First and last byte (exclusive) of the spans that are more than white space and brackets; else the text's end."""
    start = end = len(text)
    for low, high in spans:
        if piece := text[low:high].lstrip(NO_CODE):
            start = high - len(piece)
            break
    for low, high in reversed(spans):
        if piece := text[low:high].rstrip(NO_CODE):
            end = low + len(piece)
            break
    return start, end


def extent(text: bytes) -> Span:
    """First and last byte (exclusive) that are not white space."""
    start = len(text) - len(text.lstrip(WHITE_SPACE))
    return start, max(len(text.rstrip(WHITE_SPACE)), start)
