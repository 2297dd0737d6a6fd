"""Places in a record (path mapping): a workspace names files by their path in it, the record by their path in the
repository.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from aurora_memory.documents import CitedSpan
from aurora_memory.store.export_format import ChunkKey, DeliverableLine, ExportLine, ReasoningLine


def in_repository(line: ExportLine, below: str) -> ExportLine:
    """Line of the workspace that stands at `below` ("" for the top) as the repository's record has it."""
    if isinstance(line, DeliverableLine):
        return replace(line, folder=below)
    return _placed(line, lambda path: f"{below}/{path}" if below else path)


def in_workspace(line: ExportLine, below: str) -> ExportLine | None:
    """Line of a record as the workspace at `below` has it; None where it speaks of a file elsewhere."""
    if isinstance(line, DeliverableLine):
        return replace(line, folder="") if line.folder == below else None
    start = f"{below}/" if below else ""
    for field in line.__struct_fields__:
        key = getattr(line, field)
        if isinstance(key, ChunkKey) and key.path and not key.path.startswith(start):
            return None
    if isinstance(line, ReasoningLine):
        line = _citing(line, [each for each in line.document.content.cites if each.file.startswith(start)])
    return _placed(line, lambda path: path.removeprefix(start))


def _citing(line: ReasoningLine, cites: Sequence[CitedSpan]) -> ReasoningLine:
    """A pattern that cites these lines."""
    content = replace(line.document.content, cites=tuple(cites))
    return replace(line, document=replace(line.document, content=content))


def _placed(line: ExportLine, place: Callable[[str], str]) -> ExportLine:
    """Path mapping of one line: every path in it put through `place`."""
    if isinstance(line, ReasoningLine):
        line = _citing(line, [replace(each, file=place(each.file)) for each in line.document.content.cites])
    moved = {
        field: replace(key, path=place(key.path))
        for field in line.__struct_fields__
        if isinstance(key := getattr(line, field), ChunkKey) and key.path
    }
    return replace(line, **moved) if moved else line
