"""Commit reader: which commits changed which chunks, and which resemble a question (AURORA §9.2). Never writes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from aurora_memory.chunks import type_of
from aurora_memory.co_change import FEW_FILES, LEAST_WEIGHT, is_beyond_chance, nearness
from aurora_memory.store.reader import Reader
from aurora_memory.store.statements import as_list, marks
from aurora_memory.views import ChunkPlace, Commits, Companion, SimilarCommit

MAX_TIMES = 64
"""Commit times given of one chunk: older ones add next to nothing to its activation."""

_COMPANIONS_WEIGHED = 500
"""Of what changed with a chunk so many are weighed, what did so most often."""

_WEIGHT = f"min(1.0, {float(FEW_FILES)} / max(files, 1))"
"""What a commit counts, as an expression of SQL: less the more files it changed."""

_SHOWN_HASH = 10
_COMMON = 8
_POSTINGS = 500
"""Messages looked at for one question, the rarest words' first: BM25 costs a microsecond for each."""

_BM25_MOST = 2.2
"""Highest score that BM25 gives a term, by its rarity."""


def chunk_commits(reader: Reader, ids: Sequence[int]) -> dict[int, Commits]:
    """Git history of those chunks; chunks it knows nothing of are left out."""
    rows = reader.rows(
        f"""SELECT changes.chunk_id, at, hash, subject, sweeping, changed
            FROM changes JOIN git_commits ON git_commits.id = changes.commit_id
            WHERE changes.chunk_id IN ({marks(ids)})
            ORDER BY changes.chunk_id, changed DESC, at DESC, git_commits.id""",
        ids,
    )
    by_chunk: dict[int, list[Any]] = {}
    for chunk_id, *row in rows:
        by_chunk.setdefault(chunk_id, []).append(row)
    return {chunk_id: _commits(found) for chunk_id, found in by_chunk.items()}


def changing_commits(reader: Reader, ids: Sequence[int]) -> list[str]:
    """Hashes of the commits that changed those chunks, latest first; of sweeping ones only what wrote a chunk first."""
    rows = reader.rows(
        """SELECT DISTINCT hash FROM (
             SELECT git_commits.id, hash, at, sweeping,
               row_number() OVER (PARTITION BY changes.chunk_id ORDER BY at, git_commits.id DESC) AS place
             FROM changes JOIN git_commits ON git_commits.id = changes.commit_id
             WHERE changed AND changes.chunk_id IN (SELECT value FROM json_each(?)))
           WHERE NOT sweeping OR place = 1 ORDER BY at DESC, id""",
        (as_list(ids),),
    )
    return [row[0] for row in rows]


def commit_times(reader: Reader, ids: Sequence[int]) -> dict[int, Commits]:
    """As `chunk_commits`, the times only: what ranking many chunks needs, for a third of its cost."""
    return reader.commit_times.of(ids, lambda missing: _commit_times(reader, missing))


def _commit_times(reader: Reader, ids: Sequence[int]) -> dict[int, Commits]:
    rows = reader.rows(
        """SELECT changes.chunk_id, group_concat(CASE WHEN changed AND NOT sweeping THEN at END),
              min(CASE WHEN changed THEN at END), min(at), max(CASE WHEN changed THEN at END)
            FROM changes JOIN git_commits ON git_commits.id = changes.commit_id
            WHERE changes.chunk_id IN (SELECT value FROM json_each(?)) GROUP BY changes.chunk_id""",
        (as_list(ids),),
    )
    found: dict[int, Commits] = {}
    for chunk_id, telling, first_change, first, latest in rows:
        times = sorted(map(int, telling.split(",")), reverse=True)[:MAX_TIMES] if telling else []
        if first_change is not None and first_change not in times[-1:]:
            times.append(first_change)
        found[chunk_id] = Commits(times or [first], "", "", changed=bool(times), latest=latest)
    return found


def similar_commits(reader: Reader, words: Sequence[str], limit: int) -> list[SimilarCommit]:
    """Commits whose messages resemble these terms (`tokens.terms`), most alike first.

    Likeness is BM25's score as a share of what a message of nothing but these terms would score, in [0, 1]. Words
    that stand in every eighth message or more find nothing.
    """
    total = reader.single("SELECT count(*) FROM git_messages")
    if not total:
        return []
    counts = reader.rows(
        """SELECT value,
             (SELECT count(*) FROM git_messages WHERE git_messages MATCH '"' || replace(value, '"', '""') || '"')
           FROM json_each(?)""",
        (as_list(words),),
    )
    rarity = {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts if _COMMON * n < total + _COMMON}
    known: list[str] = []
    spent = 0
    for word, n in sorted(counts, key=lambda count: (count[1], count[0])):
        if n and word in rarity and (not known or spent + n <= _POSTINGS):
            known.append(word)
            spent += n
    if not known:
        return []
    query = " OR ".join('"' + word.replace('"', '""') + '"' for word in known)
    rows = reader.rows(
        """SELECT git_commits.id, -score, hash, subject FROM (
             SELECT rowid AS id, bm25(git_messages) AS score FROM git_messages WHERE git_messages MATCH ?
             ORDER BY score LIMIT ?) AS found
           JOIN git_commits ON git_commits.id = found.id ORDER BY score""",
        (query, limit),
    )
    most = _BM25_MOST * sum(rarity.values())
    return [
        SimilarCommit(commit_id, min(1.0, score / most), commit[:_SHOWN_HASH], subject)
        for commit_id, score, commit, subject in rows
    ]


def changed_by(reader: Reader, commit_ids: Sequence[int], *, sweeping: bool = False) -> dict[int, list[int]]:
    """The live chunks each commit changed; of `sweeping` commits only if wanted.

    Few chunks are gone and many were changed: these are not looked up.
    """
    rows = reader.rows(
        f"""SELECT commit_id, chunk_id FROM git_commits JOIN changes ON commit_id = git_commits.id AND changed
            WHERE git_commits.id IN ({marks(commit_ids)}) AND (sweeping = 0 OR ?)""",
        (*commit_ids, sweeping),
    )
    gone = {chunk_id for (chunk_id,) in reader.lasting("SELECT id FROM chunks WHERE gone_at IS NOT NULL")}
    found: dict[int, list[int]] = {}
    for commit_id, chunk_id in rows:
        if chunk_id not in gone:
            found.setdefault(commit_id, []).append(chunk_id)
    return found


def edited_with(reader: Reader, chunk_id: int, limit: int, least: int = 2) -> list[tuple[int, int]]:
    """Co-change (change coupling): live chunks changed by the same commits, at least `least` of them and more often
    than by chance: (id, commits in common), likeliest to change with it again first.
    """
    return [(each.id, each.commits) for each in companions(reader, [chunk_id], least).get(chunk_id, ())[:limit]]


def companions(reader: Reader, ids: Sequence[int], least: int = 2) -> dict[int, list[Companion]]:
    """Co-changes of each of some chunks, as `edited_with` has them."""
    shared = {each: rows for each in ids if (rows := _shared(reader, each, least))}
    if not shared:
        return {}
    others = {row[0] for rows in shared.values() for row in rows}
    weights = _change_weights(reader, [*shared.keys() | others])
    own = dict(
        reader.rows("SELECT id, path FROM chunks WHERE id IN (SELECT value FROM json_each(?))", (as_list([*shared]),))
    )
    # Each version of a changelog has a section of its own, and one of them is always what changed.
    paths = sorted({path for rows in shared.values() for *_, path, kind in rows if type_of(kind) == "know"})
    of_files = dict(
        reader.rows(
            f"""SELECT path, sum({_WEIGHT}) FROM (
                  SELECT DISTINCT path, commit_id FROM chunks JOIN changes ON chunk_id = chunks.id AND changed
                  WHERE path IN (SELECT value FROM json_each(?)))
                JOIN git_commits ON git_commits.id = commit_id WHERE NOT sweeping GROUP BY path""",
            (as_list(paths),),
        )
    )
    total = reader.single(f"SELECT total({_WEIGHT}) FROM git_commits WHERE NOT sweeping")
    found: dict[int, list[Companion]] = {}
    for each, rows in shared.items():
        told = []
        for other, commits, weight, path, kind in rows:
            often = of_files[path] if type_of(kind) == "know" else weights[other]
            if weight >= LEAST_WEIGHT and is_beyond_chance(weight, weights[each], often, total):
                told.append(Companion(other, commits, (weight, nearness(own[each], path), often)))
        found[each] = sorted(told, key=lambda one: (*(-by for by in one.rank), one.id))
    return found


def _shared(reader: Reader, chunk_id: int, least: int) -> list[Any]:
    """What commits changed that changed a chunk: row id, how many of them and their weight, path and kind.

    All of them, however many: what is held against them, how often the other changes, is of all commits, too.
    """
    return reader.rows(
        f"""SELECT id, shared, weight, path, kind FROM (
              SELECT other.chunk_id AS other_id, count(*) AS shared, sum({_WEIGHT}) AS weight
              FROM changes AS mine JOIN git_commits ON git_commits.id = mine.commit_id AND NOT sweeping
              JOIN changes AS other ON other.commit_id = mine.commit_id AND other.changed AND other.chunk_id != ?1
              WHERE mine.chunk_id = ?1 AND mine.changed GROUP BY other.chunk_id HAVING shared >= ?2)
            JOIN chunks ON chunks.id = other_id AND gone_at IS NULL ORDER BY weight DESC, id LIMIT ?3""",
        (chunk_id, least, _COMPANIONS_WEIGHED),
    )


def _change_weights(reader: Reader, ids: Sequence[int]) -> dict[int, float]:
    """What the commits weigh together that changed each of those chunks."""
    return dict(
        reader.rows(
            f"""SELECT chunk_id, sum({_WEIGHT}) FROM changes JOIN git_commits ON git_commits.id = changes.commit_id
                WHERE chunk_id IN (SELECT value FROM json_each(?)) AND changed AND NOT sweeping GROUP BY chunk_id""",
            (as_list(ids),),
        )
    )


def change_counts(reader: Reader, ids: Sequence[int]) -> dict[int, int]:
    """In how many commits each of those chunks was changed, of those that `edited_with` compares."""
    rows = reader.rows(
        """SELECT changes.chunk_id, count(*) FROM changes JOIN git_commits ON git_commits.id = changes.commit_id
           WHERE changes.chunk_id IN (SELECT value FROM json_each(?)) AND changed AND NOT sweeping
           GROUP BY changes.chunk_id""",
        (as_list(ids),),
    )
    return dict(rows)


def places(reader: Reader, paths: Sequence[str] | None = None) -> list[ChunkPlace]:
    """Every live chunk of every file, or of some."""
    sql = "SELECT path, id, name, line_start, line_end FROM chunks WHERE gone_at IS NULL"
    rows = reader.rows(sql) if paths is None else reader.rows(f"{sql} AND path IN ({marks(paths)})", paths)
    return [ChunkPlace(*row) for row in rows]


def seen_changing(reader: Reader, now: float) -> dict[int, str]:
    """The paths of the live chunks that memory saw change, and that no commit has changed since (nor after `now`)."""
    rows = reader.rows(
        """SELECT id, path FROM chunks
           WHERE changed_at IS NOT NULL AND gone_at IS NULL AND kind != 'reasoning' AND NOT EXISTS (
             SELECT 1 FROM changes JOIN git_commits ON git_commits.id = commit_id
             WHERE chunk_id = chunks.id AND at BETWEEN changed_at AND ?)""",
        (now,),
    )
    return dict(rows)


def dated_after(reader: Reader, moment: float) -> list[tuple[str, int]]:
    """The known commits that are dated later than a moment (Unix seconds), with their times, latest first."""
    return reader.rows("SELECT hash, at FROM git_commits WHERE at > ? ORDER BY at DESC, id", (moment,))


def hashes(reader: Reader) -> dict[str, bool]:
    """The commits known, and whether each is settled."""
    return {known: bool(settled) for known, settled in reader.rows("SELECT hash, settled FROM git_commits", ())}


def followed(reader: Reader) -> set[int]:
    """The chunks whose history behind the settled commits is known."""
    rows = reader.rows(
        """SELECT DISTINCT chunk_id FROM changes JOIN git_commits ON git_commits.id = commit_id
           WHERE settled OR NOT changed""",
        (),
    )
    return {chunk_id for (chunk_id,) in rows}


def _commits(rows: Sequence[Any]) -> Commits:
    """Rows are (at, hash, subject, sweeping, changed), changes before mere presence, newest first."""
    changes = [row for row in rows if row[4]]
    if not changes:
        return Commits([rows[0][0]], "", "", changed=False)
    telling = [row for n, row in enumerate(changes) if not row[3] or n == len(changes) - 1]
    times, (_, last_hash, subject, *_) = [row[0] for row in telling[:MAX_TIMES]], telling[0]
    return Commits(times, last_hash[:_SHOWN_HASH], subject, latest=changes[0][0])
