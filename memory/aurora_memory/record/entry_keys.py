"""Keys of an entry (secondary index): the rows of memories and the patterns that it speaks of, which a record keeps
beside it."""

from __future__ import annotations

from aurora_memory.record.entry import Entry, InvalidEntry
from aurora_memory.record.line_key import KINDS, line_key, line_of, loose_key, patterns_of


def entry_keys(entry: Entry) -> tuple[set[str], str, str]:
    """Patterns that an entry speaks of, and both keys of its row. A newer AURORA's kind is kept as it came.

    Raises InvalidEntry or InvalidExport.
    """
    if entry.kind not in KINDS:
        return set(), entry.id, ""
    line = line_of(entry.body)
    if line.__struct_config__.tag != entry.kind:
        raise InvalidEntry(f"entry {entry.id} is of the kind {entry.kind!r}, and its body is not")
    return patterns_of(line), line_key(line), loose_key(line)


def row_key(id_: str, kind: str, body: str) -> str:
    """Key of the row that an entry of this kind and body speaks of."""
    return entry_keys(Entry(id_, "", "", "", 1, 0.0, kind, body))[1]
