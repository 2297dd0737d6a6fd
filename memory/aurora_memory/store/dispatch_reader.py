"""Dispatch reader (dynamic dispatch, virtual calls): through which methods of Go's interfaces a type's methods may be
called. Never writes.

Who calls an interface's method may call that of any type that implements the interface, as is looked up when it is
asked: see `implementation_reader`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from msgspec import Struct

from aurora_memory.go_methods import method
from aurora_memory.store.implementation_reader import implementers, types_at
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import as_list


class _Method(Struct, frozen=True):
    """Method of a type, or of an interface (its row id). `shape` are its name and the types that it takes and gives."""

    id: int
    owner: tuple[str, str]
    shape: tuple[str, str]
    interface: int | None


def called_as(reader: Reader, ids: Sequence[int]) -> dict[int, set[int]]:
    """Those of some methods that implement methods of interfaces which something calls, by row id with these."""
    own = _methods(reader, ids)
    if not own:
        return {}
    called = [each for each in _alike(reader, own) if each.interface is not None]
    some = reader.rows(
        """SELECT value FROM json_each(?)
           WHERE EXISTS (SELECT 1 FROM relations WHERE to_id = value AND kind = 'calls')""",
        (as_list([each.id for each in called]),),
    )
    with_callers = {row[0] for row in some}
    return _implemented(reader, own, [each for each in called if each.id in with_callers])


def may_call(reader: Reader, ids: Sequence[int]) -> set[int]:
    """The methods that implement those of some methods that are an interface's."""
    asked = [each for each in _methods(reader, ids) if each.interface is not None]
    return set(_implemented(reader, _alike(reader, asked), asked)) if asked else set()


def _implemented(reader: Reader, own: Iterable[_Method], asked: Sequence[_Method]) -> dict[int, set[int]]:
    """Those of some types' methods that implement one that is asked for by an interface, with these."""
    wanted: dict[tuple[str, str], list[_Method]] = {}
    for each in asked:
        wanted.setdefault(each.shape, []).append(each)
    own = [each for each in own if each.interface is None and each.shape in wanted]
    interfaces = {one.interface for each in own for one in wanted[each.shape]}
    heirs = implementers(reader, [each for each in interfaces if each is not None])
    having = {each: {heir.id for heir in found} for each, found in heirs.items()}
    owners = {
        (posixpath.dirname(path), name): row for row, path, _, name in types_at(reader, [each.owner for each in own])
    }
    found: dict[int, set[int]] = {}
    for each in own:
        for one in wanted[each.shape]:
            if owners.get(each.owner) in having.get(one.interface or 0, ()):
                found.setdefault(each.id, set()).add(one.id)
    return found


_METHODS = """SELECT own.id, own.path, own.parent, own.signature, owner.id FROM chunks AS own
   LEFT JOIN chunks AS owner ON owner.path = own.path AND owner.name = own.parent AND owner.kind = 'interface'
     AND owner.gone_at IS NULL
   WHERE own.language = 'go' AND own.kind = 'method' AND own.parent IS NOT NULL AND own.gone_at IS NULL"""


def _methods(reader: Reader, ids: Sequence[int]) -> list[_Method]:
    """Those of some chunks that are methods of Go."""
    return _read(reader.rows(f"{_METHODS} AND own.id IN (SELECT value FROM json_each(?))", (as_list(ids),)))


def _alike(reader: Reader, methods: Iterable[_Method]) -> list[_Method]:
    """The methods that are called as one of those."""
    names = as_list(sorted({each.shape[0] for each in methods}))
    return _read(
        reader.rows(
            f"""{_METHODS} AND own.leaf COLLATE NOCASE IN (SELECT value FROM json_each(?1))
                AND own.leaf IN (SELECT value FROM json_each(?1))""",
            (names,),
        )
    )


def _read(rows: Iterable[tuple[int, str, str, str, int | None]]) -> list[_Method]:
    return [
        _Method(row, (posixpath.dirname(path), parent), shape, interface)
        for row, path, parent, signature, interface in rows
        if (shape := method(signature)) is not None
    ]
