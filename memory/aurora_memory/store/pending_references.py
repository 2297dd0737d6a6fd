"""Pending references (queue of unresolved ones): which chunks wait to have theirs resolved by `scope`, and the
edges that come of it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import cast

import aiosqlite
import msgspec
from msgspec.structs import astuple

from aurora_memory.catalogue import Catalogue, stands_for_file
from aurora_memory.chunks import Import, Reference, ReferenceKind
from aurora_memory.language_families import CRATED_FAMILIES, EXACT_FAMILIES, FAMILIES, family
from aurora_memory.module_paths import ModuleAlias, candidates
from aurora_memory.name_lookup import LIST, WHOLE, LinkedFiles, bound_name, is_star, unit
from aurora_memory.scope import Relation, Scope
from aurora_memory.store.rows import MODULE_ALIASES, decode_imports
from aurora_memory.store.statements import as_list, insert_rows
from aurora_memory.views import ReferenceTarget
from aurora_protocol import typed

_DEFINITION = (
    "SELECT id, path, name, leaf, parent, kind, language FROM chunks WHERE gone_at IS NULL AND kind != 'reasoning'"
)


MANY = 2000
"""From so many waiting chunks on, all definitions are loaded once instead of by name."""

BATCH = 2500
"""Chunks resolved in one transaction."""

_ALIASED = FAMILIES["ecmascript"].languages
"""Languages whose modules have the aliases of which no language is told."""

_LINKED = tuple(language for name in sorted(EXACT_FAMILIES) for language in FAMILIES[name].languages)
"""Languages whose imports are followed from file to file."""

_FOLLOWED = (*_LINKED, *(language for name in sorted(CRATED_FAMILIES) for language in FAMILIES[name].languages))
"""Those, and languages whose paths are followed."""

_ROUNDS = 8
_MAX_REACHED = 1000

_NOTED = """SELECT chunks.id, path, chunks.kind, refs.kind, refs.name, qualifier
   FROM chunks CROSS JOIN refs ON chunk_id = chunks.id
   WHERE refs.kind IN ('inherits', 'returns', 'holds') AND gone_at IS NULL"""

_IN_ORDER = " ORDER BY path, line_start, id"


async def waiting_chunks(db: aiosqlite.Connection) -> int:
    """Number of chunks that wait to be resolved."""
    rows = await db.execute_fetchall("SELECT count(*) FROM unresolved")
    return int(next(iter(rows))[0])


async def whole_catalogue(db: aiosqlite.Connection) -> Catalogue:
    """Every live definition."""
    linked = (as_list(_LINKED),)
    rows = list(await db.execute_fetchall(_DEFINITION + _IN_ORDER))
    files = list(
        await db.execute_fetchall(
            "SELECT path, imports FROM files WHERE language IN (SELECT value FROM json_each(?))",
            (as_list(_FOLLOWED),),
        )
    )
    noted = list(await db.execute_fetchall(f"{_NOTED} AND language IN (SELECT value FROM json_each(?))", linked))
    aliases = await _aliases(db)

    def whole() -> Catalogue:
        catalogue = Catalogue(
            (ReferenceTarget(*row) for row in rows),
            _links([(path, decode_imports(blob)) for path, blob in files], noted, aliases),
        )
        catalogue.know_ids()
        for read in (rows, files, noted):
            read.clear()  # here, or the event loop does it
        return catalogue

    return await asyncio.to_thread(whole)


async def resolve_some(db: aiosqlite.Connection, catalogue: Catalogue | None) -> int:
    """Resolver of references: resolve a batch of waiting chunks inside the caller's transaction; returns how many still
    wait.

    `catalogue` is the whole one, as long as no chunk was written since it was loaded.
    """
    waiting = await db.execute_fetchall("SELECT chunk_id FROM unresolved ORDER BY chunk_id LIMIT ?", (BATCH,))
    ids = [int(row[0]) for row in waiting]
    if not ids:
        return 0
    marks = ", ".join("?" * len(ids))
    if catalogue is None:
        sources = [
            ReferenceTarget(*row) for row in await db.execute_fetchall(f"{_DEFINITION} AND id IN ({marks})", ids)
        ]
    else:
        sources = catalogue.with_ids(ids)
    await db.execute(f"DELETE FROM refs WHERE chunk_id IN ({marks}) AND kind IN ('may call', 'may inherit')", ids)
    mentioned = list(
        await db.execute_fetchall(f"SELECT chunk_id, kind, name, qualifier FROM refs WHERE chunk_id IN ({marks})", ids)
    )
    paths = sorted({source.path for source in sources})
    path_marks = ", ".join("?" * len(paths))
    imports = {
        path: decode_imports(blob)
        for path, blob in await db.execute_fetchall(
            f"SELECT path, imports FROM files WHERE path IN ({path_marks})", paths
        )
    }
    known = catalogue
    if known is None:
        wanted = {name for _, _, name, _ in mentioned}
        wanted |= {entry.name for entries in imports.values() for entry in entries if entry.name}
        for _, kind, _, qualifier in mentioned:
            if kind != "links":
                wanted.update(_names_of(qualifier))
        whole: set[str] = set()
        languages = {source.path: source.language for source in sources}
        paths_of = {source.id: source.path for source in sources}
        written: dict[str, set[str]] = {}
        for chunk_id, kind, _, qualifier in mentioned:
            if kind == "calls" and qualifier[:1].islower() and family(languages[paths_of[chunk_id]]) in CRATED_FAMILIES:
                written.setdefault(paths_of[chunk_id], set()).add(qualifier)
        links = await _reached(db, imports, languages, written, wanted, whole)
        here = await db.execute_fetchall(f"{_DEFINITION} AND path IN ({path_marks}){_IN_ORDER}", paths)
        linked = sorted({qualifier for _, kind, _, qualifier in mentioned if kind == "links"})
        linked = sorted({*linked, *whole})
        others = [*await _definitions(db, sorted(wanted)), *await _definitions(db, linked, "path")]
        known = await asyncio.to_thread(_catalogue, [*here, *others], links)
    edges, unclear = await asyncio.to_thread(_edges, sources, mentioned, imports, known)
    await db.execute(f"DELETE FROM relations WHERE from_id IN ({marks}) AND kind NOT IN ('contains', 'used')", ids)
    await db.execute(f"DELETE FROM relations WHERE to_id IN ({marks}) AND kind = 'contains'", ids)
    await insert_rows(db, "relations", edges, conflict="IGNORE")
    await insert_rows(db, "refs", unclear)
    await db.execute(f"DELETE FROM unresolved WHERE chunk_id IN ({marks})", ids)
    return await waiting_chunks(db)


def _links(
    files: Iterable[tuple[str, Sequence[Import]]], noted: Iterable[sqlite3.Row], aliases: Sequence[ModuleAlias]
) -> LinkedFiles:
    """The links among files. Rows are (row id, path, kind of chunk, kind of note, name, qualifier)."""
    imports: dict[str, Sequence[Import]] = {}
    for path, found in files:
        imports[path] = found
        if path.endswith(".go"):
            imports[unit(path, "go")] = ()
    bases: dict[int, list[tuple[str, str]]] = {}
    returns: dict[int, str] = {}
    holds: dict[int, dict[str, str]] = {}
    variables: dict[str, dict[str, tuple[str, str]]] = {}
    for chunk_id, path, chunk_kind, kind, name, qualifier in noted:
        if kind == "inherits":
            bases.setdefault(chunk_id, []).append((name, qualifier))
        elif kind == "returns":
            returns[chunk_id] = qualifier
        elif chunk_kind == "module":
            place = unit(path, "go") if path.endswith(".go") else path
            variables.setdefault(place, {})[name] = (path, qualifier)
        else:
            holds.setdefault(chunk_id, {})[name] = qualifier
    return LinkedFiles(imports, bases, aliases, returns, holds, variables)


async def _aliases(db: aiosqlite.Connection) -> tuple[ModuleAlias, ...]:
    rows = list(await db.execute_fetchall("SELECT value FROM facts WHERE key = ?", (MODULE_ALIASES,)))
    return typed.decode(rows[0][0], tuple[ModuleAlias, ...]) if rows else ()


async def keep_aliases(db: aiosqlite.Connection, aliases: Sequence[ModuleAlias]) -> None:
    """Keep the workspace's aliases of modules; where they are others than before, what uses them waits anew."""
    before = await _aliases(db)
    if tuple(aliases) == before:
        return
    await db.execute(
        "INSERT INTO facts VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (MODULE_ALIASES, msgspec.json.encode(aliases).decode()),
    )
    await db.execute(
        """INSERT OR IGNORE INTO unresolved SELECT id FROM chunks
           WHERE gone_at IS NULL AND language IN (SELECT value FROM json_each(?))""",
        (as_list(_waiting(before, aliases)),),
    )


def _waiting(before: Sequence[ModuleAlias], now: Sequence[ModuleAlias]) -> list[str]:
    """Languages whose modules mean other files than before."""
    known: dict[tuple[str, ...], tuple[list[ModuleAlias], list[ModuleAlias]]] = {}
    for n, some in enumerate((before, now)):
        for alias in some:
            known.setdefault(_whose(alias), ([], []))[n].append(alias)
    return [language for languages, (old, new) in known.items() if old != new for language in languages]


def _whose(alias: ModuleAlias) -> tuple[str, ...]:
    """The languages that an alias of modules is of."""
    return ("python",) if alias.is_python else (alias.language,) if alias.language else _ALIASED


async def _reached(
    db: aiosqlite.Connection,
    imports: Mapping[str, Sequence[Import]],
    languages: Mapping[str, str],
    written: Mapping[str, Iterable[str]],
    names: set[str],
    whole: set[str],
) -> LinkedFiles:
    """What the imports of some files lead to, round by round; the names used on the way are added to `names`, files of
    which all definitions have to be known, as what they are themselves depends on those, to `whole`.

    `languages` are of those files by path, and `written` what may be paths in there (`crate.cart`). Of files on the way
    only what re-exports one of the names is followed.
    """
    aliases = await _aliases(db)
    known = {path: tuple(imports.get(path, ())) for path, language in languages.items() if language in _FOLLOWED}
    families = {path: family(languages[path]) for path in known}
    notes: list[sqlite3.Row] = []
    front = list(known)
    for step in range(_ROUNDS):
        # First what is noted there: what a function returns may be what its file imports.
        noted = list(
            await db.execute_fetchall(f"{_NOTED} AND path IN (SELECT value FROM json_each(?))", (as_list(front),))
        )
        notes += noted
        # Hundreds of files' imports take longer than the event loop may be held.
        wanted = await asyncio.to_thread(
            _wanted, front, known, families, written if not step else {}, noted, names, whole, aliases, not step
        )
        missing = sorted(path for path in wanted if path not in known and not path.endswith("/"))
        rows = [
            *await db.execute_fetchall(
                "SELECT path, imports FROM files WHERE path IN (SELECT value FROM json_each(?))", (as_list(missing),)
            )
        ]
        for folder in sorted(path for path in wanted if path.endswith("/") and path not in families):
            families[folder] = "go"
            rows += [row for row in await db.execute_fetchall(_PACKAGE, _package(folder)) if row[0] not in known]
        front = []
        for path, blob in rows:
            known[path] = decode_imports(blob)
            families[path] = "go" if path.endswith(".go") else wanted[path]
            front.append(path)
        if not front or len(known) > _MAX_REACHED:
            break
    whole &= known.keys()
    return await asyncio.to_thread(_links, known.items(), notes, aliases)


def _wanted(
    front: Sequence[str],
    known: Mapping[str, Sequence[Import]],
    families: Mapping[str, str],
    written: Mapping[str, Iterable[str]],
    noted: Iterable[sqlite3.Row],
    names: set[str],
    whole: set[str],
    aliases: Sequence[ModuleAlias],
    first: bool,
) -> dict[str, str]:
    """Paths that the imports of the files in `front` can mean, with the family of who imports them; parameters as
    `_reached` has them. Of the `first` files every import is followed, of others what re-exports one of the names.
    """
    for *_, name, qualifier in noted:
        names.update((name, *_names_of(qualifier)))
    wanted: dict[str, str] = {}
    asked: set[tuple[str, str, str]] = set()
    for path in front:
        of = families[path]
        folder = path.rpartition("/")[0]
        if of == "go":
            wanted[unit(path, of)] = of
        for qualifier in written.get(path, ()):
            if "(" not in qualifier:
                wanted.update(dict.fromkeys(candidates(qualifier.replace(".", "::"), path, of, aliases), of))
        # What a file gives away of its own first: that may be what it imports.
        for entry in sorted(known[path], key=lambda each: bool(each.module)):
            if not first and not is_star(entry) and bound_name(entry) not in names:
                continue
            if entry.name and entry.name != "*":
                names.add(entry.name)
            if of == "ecmascript" and entry.name in ("", "default"):
                names.add(WHOLE)
                whole.update(candidates(entry.module, path, of, aliases))
            modules = [entry.module]
            if of in CRATED_FAMILIES:
                names.update(entry.module.split("::"))
                modules = ["::".join(filter(None, (entry.module, entry.name)))]
            if of == "python" and entry.name:
                modules.append(f"{entry.module}{'' if entry.module.endswith('.') else '.'}{entry.name}")
            for module in modules:
                # Files of one folder mean the same by a module's name, and most of them import the same ones.
                if (key := (of, folder, module)) not in asked:
                    asked.add(key)
                    wanted.update(dict.fromkeys(candidates(module, path, of, aliases), of))
    return wanted


_PACKAGE = """SELECT path, imports FROM files
   WHERE language = 'go' AND path >= ?1 AND path < ?2 AND instr(substr(path, ?3), '/') = 0"""
"""Files of a Go package, by the first and the last that its folder can have, and where names in it begin."""


def _package(folder: str) -> tuple[str, str, int]:
    below = folder.removeprefix("/")
    return below, f"{below}\U0010ffff", len(below) + 1


def _names_of(qualifier: str) -> Iterable[str]:
    """The names in a qualifier or expression: `open().conn` has two, and so has a list of these, `#open().conn`."""
    return filter(None, (part.rstrip("()") for part in qualifier.lstrip(LIST).split(".")))


async def _definitions(
    db: aiosqlite.Connection, keys: Sequence[str], column: str = "leaf COLLATE NOCASE"
) -> list[sqlite3.Row]:
    """Definitions by name, whatever the case (or by another column), some hundred keys a query."""
    found: list[sqlite3.Row] = []
    for start in range(0, len(keys), 500):
        some = keys[start : start + 500]
        sql = f"{_DEFINITION} AND {column} IN ({', '.join('?' * len(some))}){_IN_ORDER}"
        found.extend(await db.execute_fetchall(sql, some))
    return found


def _catalogue(rows: Iterable[sqlite3.Row], links: LinkedFiles) -> Catalogue:
    """The catalogue of some definitions, each once, in their order."""
    return Catalogue({row[0]: ReferenceTarget(*row) for row in rows}.values(), links)


def _edges(
    sources: Sequence[ReferenceTarget],
    mentioned: Iterable[sqlite3.Row],
    imports: Mapping[str, Sequence[Import]],
    catalogue: Catalogue,
) -> tuple[list[tuple[int, str, int, float]], list[tuple[int, str, str, str]]]:
    """Edges of the call graph that come from some chunks: what they contain, refer to and import; and, as rows of
    references, the names they use that may be any of too many.
    """
    edges: list[Relation] = []
    unclear: list[tuple[int, str, str, str]] = []
    references: dict[int, list[Reference]] = {}
    for chunk_id, kind, name, qualifier in mentioned:
        references.setdefault(chunk_id, []).append(Reference(cast("ReferenceKind", kind), name, qualifier))
    for path, group in groupby(sorted(sources, key=lambda source: source.path), key=lambda source: source.path):
        of_file = list(group)
        mates = catalogue.of_file(path)
        around = {mate.name: mate.id for mate in reversed(mates)}
        speaker = stands_for_file(mates)
        scope = Scope(path, of_file[0].language, imports.get(path, ()), catalogue)
        for source in of_file:
            parent = around.get(source.parent) if source.parent is not None else None
            if parent is not None and parent != source.id:
                edges.append(Relation(parent, "contains", source.id, 1.0))
            edges.extend(scope.resolve(source, references.get(source.id, ())))
            if speaker is not None and source.id == speaker.id:
                edges.extend(scope.resolve_imports(source))
        unclear += [(*each, "") for each in scope.unclear]
    return sorted(map(astuple, edges)), sorted(unclear)
