"""Index of conversation logs: which section of which log tells of what (AURORA §6.8.2.1).

Logs are files of their own; the workspace's memory only knows where to look, as a run belongs to a workspace.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import aiosqlite

from aurora_memory.conversation_logs import IndexedLogSection, LogReference
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import marks

MAX_TERMS = 64


def find(reader: Reader, terms: Sequence[str], limit: int) -> list[LogReference]:
    """Sections with any of the stemmed terms as a keyword, best first: a term counts more the rarer it is."""
    asked = list(dict.fromkeys(terms))[:MAX_TERMS]
    if not asked:
        return []
    total = (reader.rows("SELECT count(*) FROM (SELECT DISTINCT file, line_start FROM log_index)"))[0][0]
    frequencies = dict(
        reader.rows(f"SELECT term, count(*) FROM log_index WHERE term IN ({marks(asked)}) GROUP BY term", asked)
    )
    rarity = {term: math.log(1 + total / count) for term, count in frequencies.items()}
    rows = reader.rows(
        f"""SELECT file, line_start, line_end, section, phase, query_id, topic, term, keyword
            FROM log_index WHERE term IN ({marks(asked)})""",
        asked,
    )
    scores: dict[tuple[str, int], float] = {}
    matched: dict[tuple[str, int], list[str]] = {}
    places: dict[tuple[str, int], tuple[str, int, int, str, int | None, str, str]] = {}
    for file, start, end, section, phase, query_id, topic, term, keyword in rows:
        key = (file, start)
        scores[key] = scores.get(key, 0.0) + rarity[term]
        matched.setdefault(key, []).append(keyword)
        places[key] = (section, start, end, file, phase, query_id, topic)
    best = sorted(sorted(scores, key=lambda key: key[1]), key=lambda key: key[0], reverse=True)  # newest name first
    best.sort(key=lambda key: -scores[key])
    return [
        LogReference(
            file=file,
            section=section,
            line_start=start,
            line_end=end,
            phase=phase,
            query_id=query_id,
            topic=topic,
            keywords=tuple(dict.fromkeys(matched[file, start])),
            score=round(scores[file, start], 6),
        )
        for section, start, end, file, phase, query_id, topic in (places[key] for key in best[:limit])
    ]


def logs(reader: Reader) -> list[str]:
    """Every indexed log, by its path below the folder of logs."""
    return [row[0] for row in reader.rows("SELECT DISTINCT file FROM log_index ORDER BY file")]


async def replace(db: aiosqlite.Connection, file: str, sections: Sequence[IndexedLogSection]) -> None:
    """Index a log inside the caller's transaction, in place of what was known of it."""
    await remove(db, [file])
    await db.executemany(
        """INSERT INTO log_index (term, file, line_start, line_end, section, phase, keyword, topic, query_id)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (term, file, each.line_start, each.line_end, each.title, each.phase, word, each.topic, each.query_id)
            for each in sections
            for term, word in each.keywords
        ],
    )


async def remove(db: aiosqlite.Connection, files: Sequence[str]) -> None:
    """Forget logs inside the caller's transaction."""
    await db.executemany("DELETE FROM log_index WHERE file = ?", [(file,) for file in files])
