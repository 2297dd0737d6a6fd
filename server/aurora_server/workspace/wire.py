"""Wire spelling (serialization): how times and chunks are spelled on the wire."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import overload

from aurora_memory.chunks import MODULE_NAME, chunk_id
from aurora_memory.views import ChunkView


@overload
def iso(seconds: float) -> str: ...
@overload
def iso(seconds: None) -> None: ...
@overload
def iso(seconds: float | None) -> str | None: ...
def iso(seconds: float | None) -> str | None:
    """Unix seconds as ISO 8601 in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def shown_id(chunk: ChunkView) -> str:
    """The id people see."""
    return chunk_id(chunk.path, chunk.name, chunk.line_start, chunk.line_end, chunk.kind)


def place_name(chunk: ChunkView) -> str:
    """Name of a chunk in a list of names: what is left of a file goes by the file's name."""
    return named_in(chunk.path, chunk.name)


def named_in(path: str, name: str) -> str:
    """The same by path and qualified name."""
    return path.rsplit("/", 1)[-1] if name == MODULE_NAME else name
