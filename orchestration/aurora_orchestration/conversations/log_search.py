"""Words in conversation logs (grep, full-text search): which logs have them all, and on which lines they stand, with
context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from aurora_orchestration.conversations.log_reader import Conversation, conversation, files, text_of

MOST_LINES = 5
WIDTH = 240


class Line(Struct, frozen=True):
    """A line of a log, 1-based; `hit` where a word stands on it, else it is there for context."""

    number: int
    text: str
    hit: bool


class FoundSection(Struct, frozen=True):
    """A log that has all the words. `matches` counts its lines with any of them, `lines` has the first of those."""

    conversation: Conversation
    matches: int
    lines: tuple[Line, ...]


def search(
    folder: Path, words: Sequence[str], first: str, last: str, *, context: int = 0, most_lines: int = MOST_LINES
) -> Iterator[FoundSection]:
    """Logs of those days that have every one of `words`, in whatever case, the latest first. Lazy.

    A word with spaces is looked for as it stands. Of each log the first `most_lines` lines, with `context` around each.
    """
    wanted = [word.casefold() for word in words if word.strip()]
    if not wanted:
        return
    for file, day, path in files(folder, first, last):
        try:
            text = text_of(path)
        except OSError:  # deleted since it was listed, or closed to us
            continue
        folded = text.casefold()
        if not all(word in folded for word in wanted):
            continue
        lines = text.splitlines()
        hits = [number for number, line in enumerate(lines) if any(word in line.casefold() for word in wanted)]
        if hits:
            shown = _around(hits[:most_lines], context, len(lines))
            marked = set(hits)
            told = (Line(number + 1, _cut(lines[number], wanted), number in marked) for number in shown)
            yield FoundSection(conversation(file, day, path), len(hits), tuple(told))


def _around(hits: Sequence[int], context: int, count: int) -> list[int]:
    near = {each for hit in hits for each in range(max(hit - context, 0), min(hit + context + 1, count))}
    return sorted(near)


def _cut(line: str, words: Sequence[str]) -> str:
    """A long line's part around the first word."""
    if len(line) <= WIDTH:
        return line
    folded = line.casefold()
    place = min((at for word in words if (at := folded.find(word)) >= 0), default=0)
    start = max(place - WIDTH // 3, 0)
    return f"{'…' if start else ''}{line[start : start + WIDTH]}{'…' if start + WIDTH < len(line) else ''}"
