"""Relation reader (call graph): callers and callees, what contains or mentions what, and the names that relations are
made of. Never writes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import chain
from sys import intern

from msgspec.structs import replace

from aurora_memory.chunks import Import, ReferenceKind
from aurora_memory.module_paths import ModuleAlias
from aurora_memory.scope import LIKELY, SURE
from aurora_memory.store.dispatch_reader import called_as, may_call
from aurora_memory.store.implementation_reader import implementers
from aurora_memory.store.reader import Reader
from aurora_memory.store.rows import MODULE_ALIASES, NO_IMPORTS, decode_imports
from aurora_memory.store.statements import as_list
from aurora_memory.views import Arc, ChunkView, Edge, ReferenceTarget, UsageCounts
from aurora_protocol import typed

_COUNTED = 100_000

_WORDS = 40
"""Words that imports are searched for, at most: each takes a fifteenth of what reading all takes, which are then looked
through, too."""

_DOTS = re.compile(rb"(?:[\xa1-\xbf]|\xd9[\x20-\xff])[./]+(?:[\x80-\xff]|\Z)")
"""A text of dots and slashes alone, as MessagePack has it: its length, then that, then what the next thing is."""


def arcs(reader: Reader, ids: Sequence[int], hub: int) -> list[Arc]:
    """Neighbours (adjacency) of some chunks: their relations, both ways; where a chunk has more than `hub` one way,
    none of those.

    What is handed on is no way: nothing was fitted with it. It is left out here, since SQLite makes a filter of all
    relations where the statement asks for it (50 ms of 180,000).
    """
    found = reader.arcs[hub].of(ids, lambda missing: _arcs(reader, missing, hub)).values()
    return [*chain.from_iterable([ahead for ahead, _ in found]), *chain.from_iterable([behind for _, behind in found])]


def _arcs(reader: Reader, ids: Sequence[int], hub: int) -> dict[int, tuple[list[Arc], list[Arc]]]:
    """Each chunk's relations in their own direction, and those against it."""
    rows = reader.rows(
        """WITH wanted AS (
             SELECT value AS id,
               (SELECT count(*) FROM (SELECT 1 FROM relations WHERE from_id = value LIMIT ?2)) AS ahead,
               (SELECT count(*) FROM (SELECT 1 FROM relations WHERE to_id = value LIMIT ?2)) AS behind
             FROM json_each(?1))
           SELECT from_id, to_id, kind, weight, 1 FROM wanted CROSS JOIN relations ON from_id = id WHERE ahead < ?2
           UNION ALL
           SELECT to_id, from_id, kind, weight, 0 FROM wanted CROSS JOIN relations ON to_id = id
           WHERE behind < ?2""",
        (as_list(ids), hub + 1),
    )
    found: dict[int, tuple[list[Arc], list[Arc]]] = {each: ([], []) for each in ids}
    for source, target, kind, weight, forward in rows:
        if kind != "hands on":
            ahead, behind = found[source]
            (ahead if forward else behind).append((source, target, intern(kind), weight, bool(forward)))
    return found


def callees(reader: Reader, ids: Sequence[int]) -> dict[int, set[int]]:
    """The chunks that each of some chunks calls, itself left out."""
    rows = reader.rows(
        """SELECT from_id, to_id FROM json_each(?) CROSS JOIN relations ON from_id = value AND kind = 'calls'
           WHERE to_id <> from_id""",
        (as_list(ids),),
    )
    found: dict[int, set[int]] = {}
    for caller, callee in rows:
        found.setdefault(caller, set()).add(callee)
    return found


def edges(reader: Reader, chunk_id: int, limit: int = 50) -> list[Edge]:
    """A chunk's relations both ways, surest first, at most `limit` each way."""
    found: list[Edge] = []
    columns = ", ".join(f"chunks.{column}" for column in ChunkView.__struct_fields__)
    for mine, other, outgoing in (("from_id", "to_id", True), ("to_id", "from_id", False)):
        rows = reader.rows(
            f"""SELECT relations.kind, relations.weight, {columns}
                FROM relations JOIN chunks ON chunks.id = relations.{other}
                WHERE relations.{mine} = ? AND chunks.gone_at IS NULL
                ORDER BY relations.weight DESC, chunks.path, chunks.line_start LIMIT ?""",
            (chunk_id, limit),
        )
        found.extend(Edge(kind, outgoing, weight, ChunkView(*rest)) for kind, weight, *rest in rows)
    known = {edge.other.id for edge in found if edge.kind == "inherits" and not edge.outgoing}
    more = {each.id: each for each in implementers(reader, [chunk_id]).get(chunk_id, ()) if each.id not in known}
    rows = reader.rows(
        f"SELECT {columns} FROM chunks WHERE id IN (SELECT value FROM json_each(?)) ORDER BY path, line_start LIMIT ?",
        (as_list(list(more)), max(0, limit - len(known))),
    )
    views = [ChunkView(*row) for row in rows]
    found += [Edge("inherits", False, 1.0 if more[each.id].is_sure else LIKELY, each) for each in views]
    for outgoing in (False, True):
        known = {edge.other.id for edge in found if edge.kind == "calls" and edge.outgoing == outgoing}
        others = [each for each, *_ in _dispatched(reader, [chunk_id], forward=outgoing) if each not in known]
        rows = reader.rows(
            f"""SELECT {columns} FROM chunks WHERE id IN (SELECT value FROM json_each(?))
                ORDER BY path, line_start LIMIT ?""",
            (as_list(others), max(0, limit - len(known))),
        )
        found += [Edge("calls", outgoing, LIKELY, ChunkView(*row)) for row in rows]
    return found


def usages(reader: Reader, ids: Sequence[int]) -> dict[int, UsageCounts]:
    """How often each of those chunks is called, inherited from or implemented, and handed on: the one count that every
    client tells.
    """
    rows = reader.rows(
        """SELECT to_id,
             sum(relations.kind = 'calls' AND weight >= ?2), sum(relations.kind = 'calls' AND weight < ?2),
             sum(relations.kind = 'inherits' AND weight >= ?2), sum(relations.kind = 'inherits' AND weight < ?2),
             sum(relations.kind = 'hands on' AND NOT EXISTS (
               SELECT 1 FROM relations AS called
               WHERE called.from_id = relations.from_id AND called.kind = 'calls' AND called.to_id = relations.to_id))
           FROM relations WHERE relations.kind IN ('calls', 'inherits', 'hands on') AND from_id != to_id
             AND to_id IN (SELECT value FROM json_each(?1))
           GROUP BY to_id""",
        (as_list(ids), SURE),
    )
    found = {to_id: UsageCounts(*counts) for to_id, *counts in rows}
    for each in implementers(reader, ids):
        heirs = [is_sure for _, is_sure in related(reader, [each], "inherits", _COUNTED)]
        sure = sum(heirs)
        found[each] = replace(found.get(each, UsageCounts()), subclasses=sure, likely_subclasses=len(heirs) - sure)
    if through := called_as(reader, ids):
        called = [*through, *{each for some in through.values() for each in some}]
        callers: dict[int, set[int]] = {}
        for to_id, from_id in reader.rows(
            """SELECT to_id, from_id FROM relations
               WHERE kind = 'calls' AND from_id != to_id AND to_id IN (SELECT value FROM json_each(?))""",
            (as_list(called),),
        ):
            callers.setdefault(to_id, set()).add(from_id)
        for each, some in through.items():
            others = set().union(*[callers[one] for one in some]) - callers.get(each, set()) - {each}
            known = found.get(each, UsageCounts())
            found[each] = replace(known, likely_callers=known.likely_callers + len(others))
    return found


def related(
    reader: Reader, ids: Sequence[int], kind: str, limit: int, *, forward: bool = False
) -> list[tuple[int, bool]]:
    """What has that relation to one of some chunks, or (`forward`) they to it: row id, if surely; surest first."""
    mine, other = ("from_id", "to_id") if forward else ("to_id", "from_id")
    rows = reader.rows(
        f"""SELECT {other}, max(weight) >= ?3 AS sure, path, line_start FROM relations
            JOIN chunks ON chunks.id = {other} AND gone_at IS NULL
            WHERE relations.kind = ?2 AND {mine} IN (SELECT value FROM json_each(?1)) AND from_id != to_id
            GROUP BY {other} ORDER BY sure DESC, path, line_start LIMIT ?4""",
        (as_list(ids), kind, SURE, limit),
    )
    found = {chunk_id: (not sure, False, path, line) for chunk_id, sure, path, line in rows}
    if kind == "inherits" and not forward:
        for each in chain.from_iterable(implementers(reader, ids).values()):
            is_likely = not each.is_sure and found.get(each.id, (True,))[0]
            found[each.id] = (is_likely, each.is_lent, each.path, each.line)
    if kind == "calls":
        for chunk_id, path, line in _dispatched(reader, ids, forward=forward):
            found.setdefault(chunk_id, (True, False, path, line))
    ordered = sorted(found.items(), key=lambda item: (item[1], item[0]))
    return [(chunk_id, not is_likely) for chunk_id, (is_likely, *_) in ordered[:limit]]


def _dispatched(reader: Reader, ids: Sequence[int], *, forward: bool) -> list[tuple[int, str, int]]:
    """Who may call some methods by calling those of interfaces that these implement, or (`forward`) what may be called
    so by some chunks: row id, path and line.
    """
    if forward:
        called = reader.rows(
            "SELECT to_id FROM relations WHERE kind = 'calls' AND from_id IN (SELECT value FROM json_each(?))",
            (as_list(ids),),
        )
        others = list(may_call(reader, [row[0] for row in called]))
    else:
        others = list({each for some in called_as(reader, ids).values() for each in some})
        callers = reader.rows(
            "SELECT from_id FROM relations WHERE kind = 'calls' AND to_id IN (SELECT value FROM json_each(?))",
            (as_list(others),),
        )
        others = list({row[0] for row in callers})
    rows = reader.rows(
        """SELECT id, path, line_start FROM chunks WHERE id IN (SELECT value FROM json_each(?1)) AND gone_at IS NULL
           AND id NOT IN (SELECT value FROM json_each(?2))""",
        (as_list(others), as_list(ids)),
    )
    return [(chunk_id, path, line) for chunk_id, path, line in rows]


def references(reader: Reader, chunk_id: int) -> list[tuple[str, str, str]]:
    """(kind, name, qualifier) of everything a chunk mentions."""
    sql = "SELECT kind, name, qualifier FROM refs WHERE chunk_id = ? AND kind NOT LIKE 'may %' ORDER BY name"
    return [tuple(row) for row in reader.rows(sql, (chunk_id,))]


def unclear(reader: Reader, name: str, kind: ReferenceKind) -> list[tuple[int, str]]:
    """Row id and language of the chunks that use something of that simple name (`may call`, `may inherit`) of which it
    is not known what it is, since too many definitions have it.
    """
    rows = reader.rows(
        """SELECT chunk_id, language FROM refs JOIN chunks ON id = chunk_id AND gone_at IS NULL
           WHERE refs.name = ? AND refs.kind = ? ORDER BY path, line_start, chunk_id""",
        (name, kind),
    )
    return [(chunk_id, language) for chunk_id, language in rows]


def unclear_names(reader: Reader, ids: Sequence[int]) -> list[str]:
    """The names that some chunks call and that too many definitions have."""
    rows = reader.rows(
        """SELECT DISTINCT name FROM refs
           WHERE chunk_id IN (SELECT value FROM json_each(?)) AND kind = 'may call' ORDER BY name""",
        (as_list(ids),),
    )
    return [name for (name,) in rows]


def imports(reader: Reader, path: str) -> tuple[Import, ...]:
    """Imports of a file, in order."""
    rows = reader.rows("SELECT imports FROM files WHERE path = ?", (path,))
    return decode_imports(rows[0][0]) if rows else ()


def imports_by_file(reader: Reader, paths: Sequence[str]) -> dict[str, tuple[Import, ...]]:
    """Imports of those of some paths that are indexed files."""
    rows = reader.rows(
        "SELECT path, imports FROM files WHERE path IN (SELECT value FROM json_each(?))", (as_list(paths),)
    )
    return {path: decode_imports(blob) for path, blob in rows}


def all_imports(reader: Reader) -> list[tuple[str, tuple[Import, ...]]]:
    """Path and imports of every file that has some, in the order of paths."""
    rows = reader.rows("SELECT path, imports FROM files WHERE imports <> ? ORDER BY path", (NO_IMPORTS,))
    return [(path, decode_imports(blob)) for path, blob in rows]


def imports_written(
    reader: Reader, words: Collection[str], folders: Collection[str] = ()
) -> list[tuple[str, tuple[Import, ...]]]:
    """Path and imports, in the order of paths, of the files whose imports have one of these words in them, or that lie
    below one of these folders and import one around them by dots alone (`from . import x`).

    For many words it is every file that imports something: to look for them takes longer than to read all.
    """
    if "" in words or len(words) + len(folders) > _WORDS:
        return all_imports(reader)
    below = "(path >= ? AND path < ? AND (instr(imports, ?) OR instr(imports, ?) OR instr(imports, ?)))"
    found = dict(
        reader.rows(
            f"SELECT path, imports FROM files WHERE {' OR '.join(['instr(imports, ?)'] * len(words)) or '0'}",
            [word.encode() for word in words],
        )
    )
    for folder in folders:
        first, end = (f"{folder}/", f"{folder}0") if folder else ("", "\U0010ffff")  # "0" comes after "/"
        rows = reader.rows(f"SELECT path, imports FROM files WHERE {below}", (first, end, b"\xa1.", b"./", b".."))
        found.update((path, blob) for path, blob in rows if _DOTS.search(blob))
    return [(path, decode_imports(found[path])) for path in sorted(found)]


def importing_languages(reader: Reader) -> list[str]:
    """Languages of the files that import something."""
    nothing = NO_IMPORTS.hex()
    return [row[0] for row in reader.lasting(f"SELECT DISTINCT language FROM files WHERE imports <> x'{nothing}'")]


def module_aliases(reader: Reader) -> tuple[ModuleAlias, ...]:
    """The workspace's aliases of modules."""
    rows = reader.rows("SELECT value FROM facts WHERE key = ?", (MODULE_ALIASES,))
    return typed.decode(rows[0][0], tuple[ModuleAlias, ...]) if rows else ()


def definitions(reader: Reader, name: str, limit: int = 500) -> list[ReferenceTarget]:
    """The live chunks of that simple name, as something to refer to."""
    rows = reader.rows(
        """SELECT id, path, name, leaf, parent, kind, language FROM chunks
           WHERE gone_at IS NULL AND leaf COLLATE NOCASE = ? AND leaf = ? LIMIT ?""",
        (name, name, limit),
    )
    return [ReferenceTarget(*row) for row in rows]
