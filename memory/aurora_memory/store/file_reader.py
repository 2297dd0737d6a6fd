"""File reader: questions to a memory about its files, what was left out of them, and small facts. Never writes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from aurora_memory.store.reader import Reader
from aurora_memory.store.rows import FileStat
from aurora_memory.store.statements import as_list


def files(reader: Reader) -> dict[str, FileStat]:
    """Every indexed file with the stat and content hash it was indexed at."""
    rows = reader.rows("SELECT path, size, mtime_ns, content_hash, mark FROM files")
    return {path: FileStat(*stat) for path, *stat in rows}


def languages(reader: Reader) -> dict[str, str]:
    """Every indexed file's language."""
    return dict(reader.rows("SELECT path, language FROM files"))


def files_at(reader: Reader, paths: Sequence[str]) -> dict[str, FileStat]:
    """Those of `paths` that are indexed files, and the files below those that are folders."""
    found: dict[str, FileStat] = {}
    for path in paths:
        rows = reader.rows(
            "SELECT path, size, mtime_ns, content_hash, mark FROM files WHERE path = ? OR (path > ? AND path < ?)",
            (path, f"{path}/", f"{path}0"),  # "0" is the character after "/"
        )
        found.update({known: FileStat(*stat) for known, *stat in rows})
    return found


def skips(reader: Reader) -> dict[str, tuple[str, str, FileStat]]:
    """Every file that was looked into and left out: reason, detail, stat."""
    rows = reader.rows("SELECT path, reason, detail, size, mtime_ns, mark FROM skips")
    return {
        path: (reason, detail, FileStat(size, mtime, mark=mark)) for path, reason, detail, size, mtime, mark in rows
    }


def counts(reader: Reader) -> dict[str, Any]:
    """The fields of `Counts`."""
    kinds = reader.lasting(
        "SELECT kind, count(*) FROM chunks WHERE gone_at IS NULL AND kind != 'reasoning' GROUP BY kind"
    )
    languages = reader.lasting("SELECT language, count(*) FROM files GROUP BY language")
    rest = reader.lasting(
        """SELECT (SELECT count(*) FROM skips WHERE reason != 'no-language'), (SELECT count(*) FROM unresolved),
                  (SELECT count(*) FROM accesses)"""
    )
    return {
        "files": sum(count for _, count in languages),
        "chunks": sum(count for _, count in kinds),
        "kinds": dict(kinds),
        "languages": dict(languages),
        "skipped": rest[0][0],
        "unresolved": rest[0][1],
        "accesses": rest[0][2],
    }


def fact(reader: Reader, key: str) -> str | None:
    """A small fact kept with `Store.remember`."""
    rows = reader.rows("SELECT value FROM facts WHERE key = ?", (key,))
    return rows[0][0] if rows else None


def files_like(reader: Reader, ending: str, limit: int = 20) -> list[str]:
    """Indexed files whose path is `ending`, or ends with it after a `/`; shortest paths first."""
    rows = reader.rows(
        """SELECT path FROM files WHERE path = ?1 OR substr(path, -length(?2)) = ?2
           ORDER BY length(path), path LIMIT ?3""",
        (ending, f"/{ending}", limit),
    )
    return [row[0] for row in rows]


def files_called(reader: Reader, name: str, limit: int = 20) -> list[str]:
    """Indexed files that are called so before their first dot, whatever the case; shortest paths first."""
    literally = re.sub("([!%_])", r"!\1", name)
    rows = reader.rows(
        """SELECT path FROM files WHERE '/' || path LIKE ? ESCAPE '!' AND '/' || path NOT LIKE ? ESCAPE '!'
           ORDER BY length(path), path LIMIT ?""",
        (f"%/{literally}.%", f"%/{literally}.%/%", limit),
    )
    return [row[0] for row in rows]


def files_of(reader: Reader, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that are indexed files."""
    rows = reader.rows("SELECT path FROM files WHERE path IN (SELECT value FROM json_each(?))", (as_list(paths),))
    return [row[0] for row in rows]


def spaced_paths(reader: Reader) -> list[str]:
    """Indexed files whose paths have spaces."""
    return [row[0] for row in reader.lasting("SELECT path FROM files WHERE instr(path, ' ')")]


def is_place(reader: Reader, name: str) -> bool:
    """Whether an indexed file, without its suffix, or a folder of one is called so, whatever the case."""
    literally = re.sub("([!%_])", r"!\1", name)
    return bool(
        reader.rows(
            """SELECT 1 FROM files WHERE '/' || path LIKE ? ESCAPE '!' OR '/' || path LIKE ? ESCAPE '!' LIMIT 1""",
            (f"%/{literally}/%", f"%/{literally}.%"),
        )
    )


def has_suffix(reader: Reader, suffix: str) -> bool:
    """Whether an indexed file's name ends with `suffix` (`.py`)."""
    return bool(reader.rows("SELECT 1 FROM files WHERE substr(path, -length(?1)) = ?1 LIMIT 1", (suffix,)))


def mtimes(reader: Reader, paths: Collection[str]) -> dict[str, float]:
    """Modification times (Unix seconds) the files had when they were indexed; of those that git's history knows none: a
    clone has written them anew.
    """

    def read(missing: Sequence[str]) -> dict[str, float]:
        rows = reader.rows(
            """SELECT path, mtime_ns FROM files WHERE path IN (SELECT value FROM json_each(?)) AND NOT EXISTS (
                 SELECT 1 FROM chunks JOIN changes ON changes.chunk_id = chunks.id WHERE chunks.path = files.path)""",
            (as_list(missing),),
        )
        return {path: mtime_ns / 1e9 for path, mtime_ns in rows}

    return reader.mtimes.of(paths, read)
