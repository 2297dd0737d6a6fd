"""Focus of the user (editor context for ranking): what the cursor stands in, the file around it, what was edited
recently. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from aurora_memory.recall import Focus
from aurora_memory.views import ChunkView

AT_CURSOR = 0.5
IN_FILE = 0.2
EDITED = 0.3
"""Shares of attention (AURORA §6.3): of the definition at the cursor, of the rest of its file, of what was edited."""

LATELY = 30 * 60.0
"""Seconds that an edit is on one's mind."""

MAX_LATELY = 50
MAX_IN_FILE = 50
"""Chunks of a file that share its part: those nearest to the cursor."""


class EditorCursor(Struct, frozen=True):
    """The file someone looks at, the 0-based line if it is known, and the buffer if it is open."""

    path: Path
    line: int | None = None
    text: str | None = None


def focus_of(cursor: ChunkView | None, own: Sequence[ChunkView], lately: Sequence[ChunkView]) -> Focus | None:
    """Editor context as recall wants it: `own` are the open file's chunks, `lately` those edited last; None without."""
    shares: dict[int, float] = {}
    if cursor is not None:
        shares[cursor.id] = AT_CURSOR
    others = [each for each in own if cursor is None or each.id != cursor.id]
    if cursor is not None and len(others) > MAX_IN_FILE:
        middle = cursor.line_start
        others.sort(key=lambda each: abs(each.line_start - middle))
    for share, chunks in ((IN_FILE, others[:MAX_IN_FILE]), (EDITED, lately)):
        for chunk in chunks:
            shares[chunk.id] = shares.get(chunk.id, 0.0) + share / len(chunks)
    return Focus(shares) if shares else None
