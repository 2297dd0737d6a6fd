"""Implementation reader: structural typing of Go, the types that have an interface's methods. Never writes.

Methods are told apart by their names and the types they take and give; what a type embeds lends it its own.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from aurora_memory.go_methods import STANDARD, method
from aurora_memory.name_lookup import bound_name
from aurora_memory.scope import SURE
from aurora_memory.store.reader import Reader
from aurora_memory.store.rows import decode_imports
from aurora_memory.store.statements import as_list

_DEPTH = 4
"""Embedded in one another, so many are followed."""

_KINDS = ("struct", "type", "interface")

_Type = tuple[str, str]
"""Folder and name of a type: a package's names are its folder's."""


class Implementer(Struct, frozen=True, order=True):
    """Type that implements an interface; not surely where that embeds one from elsewhere. `is_lent`: some of its
    methods are those of what it embeds.
    """

    is_lent: bool
    path: str
    line: int
    id: int
    is_sure: bool


def implementers(reader: Reader, ids: Sequence[int]) -> dict[int, list[Implementer]]:
    """The types that implement each of those chunks that is a Go interface with methods: those that have them
    all themselves first, in the order of places.
    """
    rows = reader.rows(
        """SELECT id, path FROM chunks WHERE id IN (SELECT value FROM json_each(?))
           AND language = 'go' AND kind = 'interface' AND gone_at IS NULL""",
        (as_list(ids),),
    )
    found = {}
    for chunk_id, path in rows:
        wanted, is_whole = _required(reader, chunk_id, _DEPTH)
        if wanted:
            found[chunk_id] = _with_methods(reader, wanted, posixpath.dirname(path), is_sure=is_whole)
    return found


def standard(reader: Reader, name: str) -> list[Implementer] | None:
    """The types that implement an interface of Go's own library (`io.Reader`); None for another one."""
    wanted = STANDARD.get(name)
    return None if wanted is None else _with_methods(reader, wanted, "", is_sure=True)


def stated(reader: Reader, name: str) -> list[tuple[int, str, str, str]]:
    """Row id, path and language of what says that it inherits from, implements or embeds what has that simple name, and
    what stands before the name there, in the order of places.
    """
    rows = reader.rows(
        """SELECT id, path, language, qualifier FROM refs JOIN chunks ON id = chunk_id AND gone_at IS NULL
           WHERE refs.name = ? AND refs.kind = 'inherits' ORDER BY path, line_start, id""",
        (name,),
    )
    return [(chunk_id, path, language, qualifier) for chunk_id, path, language, qualifier in rows]


def is_package(reader: Reader, name: str) -> bool:
    """Whether a file of Go imports a package under that name."""
    rows = reader.rows("SELECT imports FROM files WHERE language = 'go' AND instr(imports, ?)", (name.encode(),))
    return any(bound_name(entry) == name for (blob,) in rows for entry in decode_imports(blob))


def _required(reader: Reader, interface: int, depth: int) -> tuple[dict[str, str], bool]:
    """The methods that an interface asks for, with those it embeds, and whether that is all of them."""
    asked = reader.rows(
        """SELECT methods.signature FROM chunks AS owner JOIN chunks AS methods
             ON methods.path = owner.path AND methods.name > owner.name || '.' AND methods.name < owner.name || '/'
           WHERE owner.id = ? AND methods.parent = owner.name AND methods.kind = 'method'
             AND methods.gone_at IS NULL""",
        (interface,),
    )
    wanted = dict(filter(None, [method(signature) for (signature,) in asked]))
    bases = reader.rows("SELECT name, qualifier FROM refs WHERE chunk_id = ? AND kind = 'inherits'", (interface,))
    embedded = {f"{qualifier}.{name}".lstrip(".") for name, qualifier in bases}
    for known in embedded & STANDARD.keys():
        wanted.update(STANDARD[known])
    embedded -= STANDARD.keys()
    if not embedded:
        return wanted, True
    others = reader.rows(
        """SELECT id FROM relations JOIN chunks ON id = to_id AND gone_at IS NULL AND chunks.kind = 'interface'
           WHERE from_id = ? AND relations.kind = 'inherits' AND weight >= ? AND to_id != from_id""",
        (interface, SURE),
    )
    is_whole = len(others) >= len(embedded) and depth > 0
    for (other,) in others if depth else ():
        more, is_all = _required(reader, other, depth - 1)
        wanted = more | wanted
        is_whole = is_whole and is_all
    return wanted, is_whole


def _with_methods(reader: Reader, wanted: Mapping[str, str], folder: str, *, is_sure: bool) -> list[Implementer]:
    """Types whose method sets have all that is wanted, own methods or those of embedded types."""
    marks = ", ".join("?" * len(wanted))
    rows = reader.rows(
        f"""SELECT path, parent, leaf, signature FROM chunks
            WHERE leaf COLLATE NOCASE IN ({marks}) AND leaf IN (SELECT value FROM json_each(?)) AND gone_at IS NULL
            AND language = 'go' AND kind = 'method' AND parent IS NOT NULL""",
        (*wanted, as_list(list(wanted))),
    )
    # Those of interfaces as well: one lends its methods to what embeds it.
    written = [(path, parent, *(method(signature) or ("", ""))) for path, parent, _, signature in rows]
    written += [
        (path, owner, name, types)
        for path, owner, other in reader.rows(
            """SELECT path, chunks.name, ltrim(qualifier || '.' || refs.name, '.') AS other
                FROM refs JOIN chunks ON id = chunk_id AND gone_at IS NULL
                WHERE refs.name IN (SELECT value FROM json_each(?1)) AND refs.kind = 'inherits'
                AND other IN (SELECT value FROM json_each(?2))""",
            (as_list([each.rpartition(".")[2] for each in STANDARD]), as_list(list(STANDARD))),
        )
        for name, types in STANDARD[other].items()
    ]
    has: dict[_Type, set[str]] = {}
    hides: dict[_Type, set[str]] = {}
    for path, owner, name, types in written:
        place = posixpath.dirname(path)
        is_it = wanted.get(name) == types and (name[0].isupper() or place == folder)
        (has if is_it else hides).setdefault((place, owner), set()).add(name)
    own = {each for each, names in has.items() if len(names) == len(wanted)}
    front = set(has)
    for _ in range(_DEPTH):
        front = _lend(reader, front, has, hides) if front else front
    whole = [each for each, names in has.items() if len(names) == len(wanted)]
    found = types_at(reader, whole, ("struct", "type"))
    return sorted(
        Implementer((posixpath.dirname(path), name) not in own, path, line, chunk_id, is_sure)
        for chunk_id, path, line, name in found
    )


def _lend(
    reader: Reader, lenders: Iterable[_Type], has: dict[_Type, set[str]], hides: Mapping[_Type, set[str]]
) -> set[_Type]:
    """Give what those types have to the types that embed them, but what these have otherwise themselves (`hides`);
    those that have more by that.
    """
    ids = {chunk_id: (posixpath.dirname(path), name) for chunk_id, path, _, name in types_at(reader, lenders, _KINDS)}
    rows = reader.rows(
        """SELECT to_id, path, name FROM relations JOIN chunks ON id = from_id AND gone_at IS NULL
           AND chunks.kind IN ('struct', 'type', 'interface')
           WHERE to_id IN (SELECT value FROM json_each(?)) AND relations.kind = 'inherits' AND weight >= ?""",
        (as_list(list(ids)), SURE),
    )
    changed: set[_Type] = set()
    for to_id, path, name in rows:
        heir = (posixpath.dirname(path), name)
        more = (has[ids[to_id]] - hides.get(heir, set())) | has.get(heir, set())
        if len(more) > len(has.get(heir, ())):
            has[heir] = more
            changed.add(heir)
    return changed


def types_at(reader: Reader, types: Iterable[_Type], kinds: Sequence[str] = _KINDS) -> list[tuple[int, str, int, str]]:
    """Row id, path, line and name of types, by the folder and name of each."""
    wanted = set(types)
    rows = reader.rows(
        """SELECT id, path, line_start, name FROM chunks
           WHERE leaf COLLATE NOCASE IN (SELECT value FROM json_each(?1)) AND gone_at IS NULL
           AND leaf IN (SELECT value FROM json_each(?1)) AND language = 'go'
           AND kind IN (SELECT value FROM json_each(?2)) AND parent IS NULL""",
        (as_list(sorted({name for _, name in wanted})), as_list(kinds)),
    )
    return [row for row in rows if (posixpath.dirname(row[1]), row[3]) in wanted]
