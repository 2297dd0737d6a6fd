"""Dispatch reader (dynamic dispatch, virtual calls): through which methods of interfaces a type's methods may be
called. Never writes.

Who calls an interface's method may call that of any type that implements the interface. In Go that is looked up when it
is asked (see `implementation_reader`); elsewhere a type says what it implements.
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


_LEVELS = 4
"""Bases above each other that are looked through for an interface."""

_INTERFACES = frozenset({"interface", "trait"})
"""Kinds of types whose methods are called for those of others."""

_ANY_INTERFACE = """SELECT EXISTS (SELECT 1 FROM chunks WHERE kind IN ('interface', 'trait') AND language <> 'go'
   AND gone_at IS NULL)"""


def called_as(reader: Reader, ids: Sequence[int]) -> dict[int, set[int]]:
    """Those of some methods that implement methods of interfaces which something calls, by row id with these."""
    found = _declared(reader, ids, upward=True)
    if found:
        called = _with_callers(reader, {each for some in found.values() for each in some})
        found = {each: some & called for each, some in found.items() if some & called}
    return found | _called_in_go(reader, ids)


def may_call(reader: Reader, ids: Sequence[int]) -> set[int]:
    """The methods that implement those of some methods that are an interface's."""
    declared = {each for some in _declared(reader, ids, upward=False).values() for each in some}
    asked = [each for each in _methods(reader, ids) if each.interface is not None]
    return declared | set(_implemented(reader, _alike(reader, asked), asked)) if asked else declared


def _declared(reader: Reader, ids: Sequence[int], *, upward: bool) -> dict[int, set[int]]:
    """Of some methods those that they implement by what their types say, or (not `upward`) those that implement them.

    Step by step: of a join of all SQLite makes a filter of each whole table, which takes 60 ms of 33,000 chunks.
    """
    if not reader.single(_ANY_INTERFACE):
        return {}
    rows = reader.rows(
        """SELECT own.id, own.leaf, owner.id, owner.kind FROM json_each(?) AS asked
           CROSS JOIN chunks AS own ON own.id = asked.value
           CROSS JOIN chunks AS owner ON owner.path = own.path AND owner.name = own.parent
           WHERE own.language <> 'go' AND own.kind = 'method' AND owner.gone_at IS NULL""",
        (as_list(ids),),
    )
    of_type = {(row, leaf): owner for row, leaf, owner, kind in rows if upward or kind in _INTERFACES}
    if not of_type:
        return {}
    beyond = _beyond(reader, set(of_type.values()), upward=upward)
    types = {
        row: (path, name)
        for row, path, name, kind in reader.rows(
            "SELECT id, path, name, kind FROM chunks WHERE id IN (SELECT value FROM json_each(?)) AND gone_at IS NULL",
            (as_list(list({each for some in beyond.values() for each in some})),),
        )
        if (kind in _INTERFACES) == upward
    }
    wanted: dict[tuple[str, str], set[int]] = {}
    for (row, leaf), owner in of_type.items():
        for each in beyond[owner] & types.keys():
            path, name = types[each]
            wanted.setdefault((path, f"{name}.{leaf}"), set()).add(row)
    found: dict[int, set[int]] = {}
    for row, path, name in reader.rows(
        """SELECT chunks.id, chunks.path, chunks.name FROM json_each(?) AS pair CROSS JOIN chunks
           ON chunks.path = json_extract(pair.value, '$[0]') AND chunks.name = json_extract(pair.value, '$[1]')
           WHERE gone_at IS NULL""",
        (as_list(list(wanted)),),
    ):
        for each in wanted[path, name]:
            found.setdefault(each, set()).add(row)
    return found


def _beyond(reader: Reader, types: set[int], *, upward: bool) -> dict[int, set[int]]:
    """The bases of some types, and theirs, or (not `upward`) the types that inherit from them."""
    mine, other = ("from_id", "to_id") if upward else ("to_id", "from_id")
    next_to: dict[int, set[int]] = {}
    front = types
    for _ in range(_LEVELS):
        rows = reader.rows(
            f"SELECT {mine}, {other}, relations.kind FROM json_each(?) CROSS JOIN relations ON {mine} = value",
            (as_list(list(front)),),
        )
        for one, another, kind in rows:
            if kind == "inherits":
                next_to.setdefault(one, set()).add(another)
        front = {each for one in front for each in next_to.get(one, ())} - next_to.keys() - front
        if not front:
            break
    found: dict[int, set[int]] = {}
    for each in types:
        found[each], waiting = set(), [each]
        while waiting:
            more = next_to.get(waiting.pop(), set()) - found[each] - {each}
            found[each] |= more
            waiting += more
    return found


def _with_callers(reader: Reader, ids: Iterable[int]) -> set[int]:
    """Those of some methods that something calls."""
    rows = reader.rows(
        """SELECT value FROM json_each(?)
           WHERE EXISTS (SELECT 1 FROM relations WHERE to_id = value AND kind = 'calls')""",
        (as_list(list(ids)),),
    )
    return {row for (row,) in rows}


def _called_in_go(reader: Reader, ids: Sequence[int]) -> dict[int, set[int]]:
    own = _methods(reader, ids)
    if not own:
        return {}
    called = [each for each in _alike(reader, own) if each.interface is not None]
    with_callers = _with_callers(reader, [each.id for each in called])
    return _implemented(reader, own, [each for each in called if each.id in with_callers])


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
