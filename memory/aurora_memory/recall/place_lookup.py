"""Place lookup: the definition that stands at a place of a file, read from memory. Reads only."""

from __future__ import annotations

from aurora_memory.recall.places import QueryPlace, standing_at
from aurora_memory.store import chunk_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView


def standing_in(reader: Reader, place: QueryPlace, path: str) -> ChunkView | None:
    """What a place means in a file: of a line the smallest definition around it; None where nothing stands there."""
    chunks = chunk_reader.of_file(reader, path)
    standing = standing_at([place], chunks)
    return max(chunks, key=lambda each: standing.get(each.id, 0.0)) if standing else None
