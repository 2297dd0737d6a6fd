"""Rows that travel (serialization for replication): how a learned row of a memory file becomes the line that says the
same on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from aurora_memory.store.export_format import ChunkKey, ExportLine
from aurora_memory.store.tables import Carried, Table
from aurora_protocol import typed


class RowSource(Struct, frozen=True):
    """Rows of one table that travel, in the order of an export, and what makes a line of a row's `columns`.

    `new` are the same columns of the row `NEW` of a trigger, `of_new` what stands after them, `new_travels` whether
    that row travels. `changes` are the columns of the table that a line tells, but for which chunk.
    """

    type: str
    columns: tuple[str, ...]
    select: str
    make: Callable[[Sequence[Any]], ExportLine]
    new: tuple[str, ...]
    of_new: str
    new_travels: str
    changes: tuple[str, ...]


def row_source(table: Table, form: Carried) -> RowSource:
    """A table's queries and its reader, made from what the line's fields are."""
    columns: list[str] = []
    joins: list[str] = []
    changes: list[str] = []
    takes: list[tuple[int, Callable[[Sequence[Any]], Any]]] = []
    for field in form.fields:
        column = form.columns.get(field.name, field.name)
        if field.type in (ChunkKey, ChunkKey | None):
            # Only where the field may be left out do rows stay whose chunk is not there.
            kind = "JOIN" if field.type is ChunkKey else "LEFT JOIN"
            joins.append(f"{kind} chunks AS {column}_chunk ON {column}_chunk.id = {table.name}.{column}")
            columns += _key(f"{column}_chunk")
            takes.append((5, _chunk_key))
        else:
            columns.append(f"{table.name}.{column}")
            takes.append((1, _reader(field.type)))
            if column in table.columns:
                changes.append(column)
    columns = list(form.select) or columns
    where = " AND ".join(f"({each})" for each in (table.rows, form.where) if each) or "TRUE"
    of_new = f"FROM (SELECT 1) {' '.join(joins)}".replace(f"{table.name}.", "NEW.")
    new = tuple(each.replace(f"{table.name}.", "NEW.") for each in columns)
    if form.source:
        new, of_new = tuple(columns), f"FROM {form.source} WHERE {table.name}.{table.key} = NEW.{table.key}"
    order = ", ".join(f"{table.name}.{column}" for column in form.order)
    source = form.source or f"{table.name} {' '.join(joins)}"
    select = f"SELECT {', '.join(columns)} FROM {source} WHERE {where} ORDER BY {order}"

    def make(row: Sequence[Any]) -> ExportLine:
        values: list[Any] = []
        at = 0
        for width, take in takes:
            values.append(take(row[at : at + width]))
            at += width
        return form.line(*values)

    travels = where.replace(f"{table.name}.", "NEW.")
    return RowSource(form.tag, tuple(columns), select, make, new, of_new, travels, tuple(changes))


def _key(alias: str) -> tuple[str, ...]:
    shape = f"CASE {alias}.kind WHEN 'reasoning' THEN {alias}.body_hash ELSE {alias}.shape_hash END"
    return f"{alias}.path", f"{alias}.name", f"{alias}.kind", f"lower(hex({shape}))", f"{alias}.ordinal"


def _chunk_key(values: Sequence[Any]) -> ChunkKey | None:
    return None if values[0] is None else ChunkKey(*values)


def _reader(kind: Any) -> Callable[[Sequence[Any]], Any]:
    """From a column's value to a field's: JSON is kept as text."""
    if kind is msgspec.Raw:
        return lambda values: msgspec.Raw(values[0].encode())
    if isinstance(kind, type) and issubclass(kind, Struct):
        return lambda values: typed.decode(values[0], kind)
    return lambda values: values[0]
