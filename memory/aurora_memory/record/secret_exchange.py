"""Exchange of entries that hold secrets for the same without (retroactive redaction): a record from before today's
rules of secrets (`aurora_protocol.secret_mask.RULES`) is gone through once.

An entry without its secret has the author, machine and sequence of the one before: every member makes the same of it,
and records stay one union. The id of the one before is kept as forgotten, so that it does not come back, and so that
the hub and other members' memories hear of it. Blocks.
"""

from __future__ import annotations

from msgspec.structs import replace

from aurora_memory.record.entry import Entry, entry_id
from aurora_memory.record.line_key import KINDS, line_of
from aurora_memory.record.record_file import Record
from aurora_memory.store.export_format import InvalidExport, write_line
from aurora_protocol.secret_mask import RULES, masked_struct

FACT = "secrets"
"""Fact of a record: the number of the rules by which it was gone through last."""

_AT_ONCE = 500


def exchange_secrets(record: Record) -> int:
    """Exchange what holds a secret; how many entries that were. Raises a StoreError."""
    if record.fact(FACT) == RULES:
        return 0
    exchanged = number = 0
    last = record.last_number()
    while number < last and (page := record.after(number, _AT_ONCE)):
        number = page[-1][0]
        pairs = [(entry, without) for _, entry in page if (without := _without_secret(entry)) is not None]
        if pairs:
            exchanged += record.exchange(pairs)
    record.remember(FACT, RULES)
    return exchanged


def _without_secret(entry: Entry) -> Entry | None:
    """The entry without its secrets; None where it has none, or where it cannot be told."""
    if entry.kind not in KINDS:
        return None
    try:
        line = line_of(entry.body)
    except InvalidExport:
        return None
    clean = masked_struct(line)
    if clean == line:
        return None
    body = write_line(clean).decode().rstrip("\n")
    return replace(entry, body=body, id=entry_id(entry.author, entry.machine, entry.sequence, entry.kind, body))
