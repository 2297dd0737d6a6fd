"""Key of a line (primary key, for deduplication): which row of a memory it speaks of, so that two lines of one row are
known as such.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import msgspec

from aurora_memory.chunks import REASONING
from aurora_memory.learning import fingerprint
from aurora_memory.store.export_format import ChunkKey, DeliverableLine, ExportLine, ReasoningLine, line_reader
from aurora_memory.store.tables import carried

_TOLD_BY: Mapping[type[ExportLine], tuple[str, ...]] = {
    form.line: form.told_by for _, form in carried() if form.told_by is not None
}

KINDS = frozenset(str(line.__struct_config__.tag) for line in _TOLD_BY)
"""Types of line that a record holds, as the registry of tables says."""

_VERSION_MARK = re.compile(r":v[1-9][0-9]{0,5}\Z")
_read = line_reader(_TOLD_BY)


def line_of(body: str) -> ExportLine:
    """Line that an entry's body is. Raises InvalidExport."""
    return _read(1, body.encode())


def line_key(line: ExportLine) -> str:
    """Key of a line, 32 hexadecimal digits: equal for two lines that speak of the same row."""
    told: list[object] = [line.__struct_config__.tag]
    if isinstance(line, ReasoningLine):
        told += [pattern_of(line.document.id), fingerprint(line.document.content.subgoals).hex()]
    elif isinstance(line, DeliverableLine) and line.folder:
        told.append(line.folder)
    for field in _TOLD_BY[type(line)]:
        value = getattr(line, field)
        told.append(_told(value) if isinstance(value, ChunkKey) else value)
    return hashlib.blake2b(msgspec.json.encode(told), digest_size=16).hexdigest()


def loose_key(line: ExportLine) -> str:
    """Key of a line that speaks of code, wherever that stands by now; "" for others."""
    told: list[object] = [line.__struct_config__.tag]
    code = False
    for field in _TOLD_BY[type(line)]:
        value = getattr(line, field)
        is_code = isinstance(value, ChunkKey) and value.kind != REASONING
        code = code or is_code
        told.append(None if is_code else _told(value) if isinstance(value, ChunkKey) else value)
    return hashlib.blake2b(msgspec.json.encode(told), digest_size=16).hexdigest() if code else ""


def patterns_of(line: ExportLine) -> set[str]:
    """Patterns that a line is of or speaks of, by their ids without version."""
    if isinstance(line, ReasoningLine):
        return {pattern_of(line.document.id)}
    keys = (getattr(line, field) for field in line.__struct_fields__)
    return {pattern_of(key.name) for key in keys if isinstance(key, ChunkKey) and key.kind == REASONING}


def pattern_of(name: str) -> str:
    """Id of a pattern without its version and without `reas:`."""
    return _VERSION_MARK.sub("", name.removeprefix("reas:"))


def _told(key: ChunkKey) -> tuple[object, ...]:
    """A chunk of code is told by its place: its shape changes while it is worked on."""
    if key.kind == REASONING:
        return pattern_of(key.name), key.shape
    return key.path, key.name, key.ordinal
