"""The database side of `relations`: which chunks wait, what they mention, and writing the edges found."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import aiosqlite

from aurora_memory.chunks import Import, Reference
from aurora_memory.relations import Catalogue, Definition, Relation, bindings, resolve, resolve_imports, stands_for_file
from aurora_memory.store.rows import decode_imports

_DEFINITION = "SELECT id, path, name, leaf, parent, kind, language FROM chunks WHERE gone_at IS NULL"


MANY = 2000
"""From so many waiting chunks on, all definitions are loaded once instead of by name."""


async def waiting_chunks(db: aiosqlite.Connection) -> int:
    """How many chunks wait to be resolved."""
    rows = await db.execute_fetchall("SELECT count(*) FROM unresolved")
    return int(next(iter(rows))[0])


async def whole_catalogue(db: aiosqlite.Connection) -> Catalogue:
    """Every live definition."""
    rows = await db.execute_fetchall(_DEFINITION)
    return await asyncio.to_thread(lambda: Catalogue(Definition(*row) for row in rows))


async def resolve_some(db: aiosqlite.Connection, limit: int, catalogue: Catalogue | None) -> int:
    """Resolve up to `limit` waiting chunks inside the caller's transaction; returns how many still wait."""
    waiting = await db.execute_fetchall("SELECT chunk_id FROM unresolved ORDER BY chunk_id LIMIT ?", (limit,))
    ids = [int(row[0]) for row in waiting]
    if not ids:
        return 0
    marks = ", ".join("?" * len(ids))
    sources = [Definition(*row) for row in await db.execute_fetchall(f"{_DEFINITION} AND id IN ({marks})", ids)]
    references: dict[int, list[Reference]] = {}
    for chunk_id, name, kind, qualifier in await db.execute_fetchall(
        f"SELECT chunk_id, name, kind, qualifier FROM refs WHERE chunk_id IN ({marks})", ids
    ):
        references.setdefault(chunk_id, []).append(Reference(kind, name, qualifier))
    paths = sorted({source.path for source in sources})
    path_marks = ", ".join("?" * len(paths))
    imports = {
        path: decode_imports(blob)
        for path, blob in await db.execute_fetchall(
            f"SELECT path, imports FROM files WHERE path IN ({path_marks})", paths
        )
    }
    siblings: dict[str, list[Definition]] = {}
    for row in await db.execute_fetchall(f"{_DEFINITION} AND path IN ({path_marks}) ORDER BY line_start", paths):
        sibling = Definition(*row)
        siblings.setdefault(sibling.path, []).append(sibling)
    wanted = {reference.name for found in references.values() for reference in found}
    wanted |= {entry.name for entries in imports.values() for entry in entries if entry.name}
    known = catalogue or Catalogue(await _definitions(db, sorted(wanted)))
    edges = await asyncio.to_thread(_edges, sources, references, imports, siblings, known)
    await db.executemany("DELETE FROM relations WHERE from_id = ? AND kind != 'contains'", [(i,) for i in ids])
    await db.executemany("DELETE FROM relations WHERE to_id = ? AND kind = 'contains'", [(i,) for i in ids])
    await db.executemany("INSERT OR REPLACE INTO relations VALUES (?, ?, ?, ?)", [tuple(edge) for edge in edges])
    await db.execute(f"DELETE FROM unresolved WHERE chunk_id IN ({marks})", ids)
    return await waiting_chunks(db)


async def _definitions(db: aiosqlite.Connection, names: Sequence[str]) -> list[Definition]:
    found: list[Definition] = []
    for start in range(0, len(names), 500):
        some = names[start : start + 500]
        sql = f"{_DEFINITION} AND leaf COLLATE NOCASE IN ({', '.join('?' * len(some))})"
        found.extend(Definition(*row) for row in await db.execute_fetchall(sql, some))
    return found


def _edges(
    sources: Sequence[Definition],
    references: Mapping[int, Sequence[Reference]],
    imports: Mapping[str, Sequence[Import]],
    siblings: Mapping[str, Sequence[Definition]],
    catalogue: Catalogue,
) -> list[tuple[int, str, int, float]]:
    edges: list[Relation] = []
    bound = {path: bindings(entries) for path, entries in imports.items()}
    around = {(mate.path, mate.name): mate.id for mates in siblings.values() for mate in reversed(mates)}
    speakers = {speaker.id for mates in siblings.values() if (speaker := stands_for_file(mates)) is not None}
    for source in sources:
        parent = around.get((source.path, source.parent)) if source.parent is not None else None
        if parent is not None and parent != source.id:
            edges.append(Relation(parent, "contains", source.id, 1.0))
        edges.extend(resolve(source, references.get(source.id, ()), bound.get(source.path, {}), catalogue))
        if source.id in speakers:
            edges.extend(resolve_imports(source, imports.get(source.path, ()), catalogue))
    return [(edge.from_id, edge.kind, edge.to_id, edge.weight) for edge in edges]
