"""From a question to ranked chunks: words find candidates, relations and history prime them, ranking orders them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec import Struct

from aurora_memory.bm25 import Matches, match
from aurora_memory.chunks import CHUNK_TYPES, type_of
from aurora_memory.recall.declarations import ReadText, declaring
from aurora_memory.recall.dedupe import content_terms, fold
from aurora_memory.recall.fusion import fuse
from aurora_memory.recall.places import meant
from aurora_memory.recall.question import Question, understand
from aurora_memory.recall.ranking import WEIGHTS, Hit, Signals
from aurora_memory.recall.signals import Found, weighed
from aurora_memory.recall.similar_commits import COMMITS, Primed, prime, telling
from aurora_memory.recall.spreading_activation import HUB, Spread
from aurora_memory.store.reader import ChunkView, PartView, Reader

STORED = frozenset({"code", "know"})
"""The types of chunks that files become."""

CANDIDATES = 90
"""Parts looked at closely."""

FOLDED = 8
"""How far below the asked number near-duplicates are looked for."""

REMEMBERED = 30
"""Chunks that similar commits changed and words alone may not have found."""

SOURCES = 12
"""The question's best matches, which prime what they are related to."""

PLACED_FILES = 5
PLACED_CHUNKS = 100
"""Files of the same name, and chunks of each, that a place in a query stands for."""

_NO_QUESTION = Question("", (), {}, (), by_name=False, about_tests=True)


class Focus(Struct, frozen=True):
    """What the editor shows, as shares of attention: chunks at the cursor, in its file, and of files saved lately."""

    shares: Mapping[int, float]


async def recall(
    reader: Reader,
    query: str,
    limit: int,
    now: float,
    focus: Focus | None = None,
    types: Collection[str] | None = None,
    weights: Signals = WEIGHTS,
    near: Sequence[tuple[int, float]] = (),
    read: ReadText | None = None,
) -> list[Hit]:
    """The `limit` most useful chunks of files for a query, best first, none repeated. `now` is Unix seconds.

    `types` are those asked for, `code` and `know`; both where it is None. Reasoning has a recall of its own.
    `near` are the chunks (row ids) that an embedding finds nearest to the question, best first, each with its
    similarity; that ranking is fused with the one of words, relations and history. With `read` a constant that
    the query names, and asks nothing else of, is found where it is declared.
    Awaits nothing but the reader, so that it can run in one go on the reader's thread.
    """
    question = understand(query)
    if not question.terms and not question.identifiers:
        return []
    parts = await reader.words.parts(reader.writes)
    entries = await reader.words.entries(list(question.weights))
    found: dict[int, Found] = {}
    places = None if types is None else [place for place, name in enumerate(CHUNK_TYPES) if name in types]
    asked, said = question.weights, question.terms
    if entries:
        found = _by_chunk(match(parts, entries, asked, said, CANDIDATES, places))
    exact = await reader.named(question.identifiers) if question.identifiers else []
    placed = await _placed(reader, question, exact)
    alone = bool(placed) and question.is_id
    declared: dict[int, tuple[ChunkView, int]] = {}
    if read is not None and question.by_name and not question.is_id:
        declared = await declaring(reader, question, exact, parts, entries, read)
    if alone:
        found, exact = {}, []
    exact = [*placed, *exact, *(chunk for chunk, _ in declared.values())]
    episodes = await _episodes(reader, question)
    spread, primed = await _spread(reader, _sources(found, exact, focus))
    remembered = sorted(episodes, key=lambda chunk: -episodes[chunk].amount)[:REMEMBERED]
    others = () if alone else (*primed, *remembered)
    by_words = dict.fromkeys([*found, *(chunk.id for chunk in exact), *others])
    near = () if alone else near
    ids = list(dict.fromkeys([*by_words, *(chunk for chunk, _ in near)]))
    if not ids:
        return []
    wanted = STORED if types is None else STORED & frozenset(types)
    chunks = [chunk for chunk in await reader.sketches(ids) if type_of(chunk.kind) in wanted]
    enough = len(chunks) if near else limit + FOLDED
    hits = await weighed(reader, question, chunks, found, spread, episodes, now, weights, enough, declared)
    if near:
        named = [hit.chunk.id for hit in hits if question.by_name and hit.named > 0]
        hits = fuse(hits, near, by_words, named)
    told = await _told(reader, hits, limit, question, found, spread)
    return [_at_line(hit, declared[hit.chunk.id][1]) if hit.chunk.id in declared else hit for hit in told]


async def weigh(reader: Reader, chunks: Sequence[ChunkView], now: float) -> list[Hit]:
    """Chunks known by other means (a cursor, a name) with their activation, in the order given."""
    if not chunks:
        return []
    return await weighed(reader, _NO_QUESTION, chunks, {}, Spread({}), {}, now)


async def _placed(reader: Reader, question: Question, exact: Sequence[ChunkView]) -> list[ChunkView]:
    """The chunks at the places a query consists of. What may be a name is one where something is called so."""
    if not question.by_name:
        return []
    found: list[ChunkView] = []
    for place in question.places:
        if exact and not place.is_certain:
            continue
        for path in await reader.files_like(place.path, PLACED_FILES):
            found += meant([place], await reader.chunks_of(path))[:PLACED_CHUNKS]
    return found


def _at_line(hit: Hit, line: int) -> Hit:
    return msgspec.structs.replace(hit, focus=(line, line))


def _by_chunk(matches: Matches) -> dict[int, Found]:
    """Each chunk by its best part."""
    best_of_file: dict[int, float] = {}
    for file, words in zip(matches.files.tolist(), matches.words.tolist(), strict=True):
        best_of_file[file] = max(words, best_of_file.get(file, 0.0))
    found: dict[int, Found] = {}
    columns = [column.tolist() for column in matches]
    for part, chunk, file, words, cover, name_cover, name_share, file_cover in zip(*columns, strict=True):
        known = found.get(chunk)
        if known is None or words > known.words:
            found[chunk] = Found(part, words, cover, name_cover, name_share, file_cover, best_of_file[file])
    return found


def _sources(found: Mapping[int, Found], exact: Sequence[ChunkView], focus: Focus | None) -> dict[int, float]:
    """Shares of attention: the best matches by their words, exact names, and the editor's focus."""
    best = sorted(found.items(), key=lambda entry: -(entry[1].words + entry[1].name_share))[:SOURCES]
    shares = {chunk: match.words**2 for chunk, match in best}
    for chunk in exact[:SOURCES]:
        shares[chunk.id] = max(1.0, shares.get(chunk.id, 0.0))
    if focus is not None:
        whole = sum(shares.values()) or 1.0
        for chunk_id, share in focus.shares.items():
            shares[chunk_id] = shares.get(chunk_id, 0.0) + share * whole
    return shares


async def _episodes(reader: Reader, question: Question) -> dict[int, Primed]:
    if question.by_name:
        return {}
    similar = telling(await reader.history.similar_commits(question.terms, COMMITS))
    if not similar:
        return {}
    changed = await reader.history.changed_by([commit.id for commit in similar])
    return prime(similar, changed, reader.weighing.spread_factor)


async def _spread(reader: Reader, sources: Mapping[int, float]) -> tuple[Spread, list[int]]:
    spread = Spread(sources, reader.weighing)
    while frontier := spread.frontier():
        spread.follow(await reader.links(frontier, HUB))
    strongest = sorted(spread.amounts.items(), key=lambda entry: -entry[1])[:SOURCES]
    return spread, [chunk for chunk, _ in strongest]


async def _told(
    reader: Reader, hits: Sequence[Hit], limit: int, question: Question, found: Mapping[int, Found], spread: Spread
) -> list[Hit]:
    """The best hits with what matched and where, near-duplicates folded."""
    few = hits[: limit + FOLDED]
    parts = await reader.parts_of([hit.chunk.id for hit in few])
    if question.by_name:
        kept = fold([frozenset()] * len(few), limit)
    else:
        kept = fold([frozenset().union(*map(_content, parts.get(hit.chunk.id, ()))) for hit in few], limit)
    told: list[Hit] = []
    for place in kept.kept:
        hit = few[place]
        own = parts.get(hit.chunk.id, [])
        match = found.get(hit.chunk.id)
        best = next((part for part in own if match is not None and part.number == match.part), None)
        told.append(
            msgspec.structs.replace(
                hit,
                focus=(best.line_start, best.line_end) if best else hit.focus,
                matched=tuple(term for term in question.terms if any(term in part.occurrences for part in own)),
                path=tuple(spread.path_to(hit.chunk.id)),
                similar=tuple(few[other].chunk for other in kept.similar.get(place, ())),
            )
        )
    return told


def _content(part: PartView) -> frozenset[str]:
    return content_terms(part.occurrences)
