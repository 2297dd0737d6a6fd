"""From a question to ranked chunks: words find candidates, relations and history prime them, ranking orders them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec import Struct

from aurora_memory.activation import Activation, context_boost, decay_penalty
from aurora_memory.chunks import CHUNK_TYPES, type_of
from aurora_memory.recall.folding import content_terms, fold
from aurora_memory.recall.histories import histories_of, levels_of, modified_at
from aurora_memory.recall.places import meant
from aurora_memory.recall.question import Question, understand
from aurora_memory.recall.ranking import WEIGHTS, Hit, Signals, kind_signals, name_bonus, score, strength
from aurora_memory.recall.spreading import HUB, Spread
from aurora_memory.store.reading import ChunkView, Commits, PartView, Reader
from aurora_memory.word_matching import Matches, match

STORED = frozenset({"code", "know"})
"""The types of chunks that files become."""

CANDIDATES = 300
"""Parts looked at closely."""

FOLDED = 20
"""How far below the asked number near-duplicates are looked for."""

SOURCES = 20
"""The question's best matches, which prime what they are related to."""

PLACED_FILES = 5
PLACED_CHUNKS = 100
"""Files of the same name, and chunks of each, that a place in a query stands for."""

_LARGE = 60_000
"""Parts from which on words are weighed off the event loop."""

_NO_QUESTION = Question("", (), {}, (), by_name=False, about_tests=True)


class Focus(Struct, frozen=True):
    """What the editor shows, as shares of attention: chunks at the cursor, in its file, and of files saved lately."""

    shares: Mapping[int, float]


class _Found(Struct, frozen=True):
    """What the words say of one chunk, by its best part."""

    part: int
    words: float
    cover: float
    name_cover: float
    name_share: float
    file_cover: float
    file_best: float


async def recall(
    reader: Reader,
    query: str,
    limit: int,
    now: float,
    focus: Focus | None = None,
    types: Collection[str] | None = None,
    weights: Signals = WEIGHTS,
) -> list[Hit]:
    """The `limit` most useful chunks of files for a query, best first, none repeated. `now` is Unix seconds.

    `types` are those asked for, `code` and `know`; both where it is None. Reasoning has a recall of its own.
    """
    question = understand(query)
    if not question.terms and not question.identifiers:
        return []
    parts = await reader.words.parts()
    entries = await reader.words.entries(list(question.weights))
    found: dict[int, _Found] = {}
    places = None if types is None else [place for place, name in enumerate(CHUNK_TYPES) if name in types]
    if entries:
        if len(parts.chunks) > _LARGE:
            matches = await asyncio.to_thread(match, parts, entries, question.weights, CANDIDATES, places)
        else:
            matches = match(parts, entries, question.weights, CANDIDATES, places)
        found = _by_chunk(matches)
    exact = await reader.named(question.identifiers) if question.identifiers else []
    placed = await _placed(reader, question, exact)
    if placed and question.is_id:
        found, exact = {}, []
    exact = [*placed, *exact]
    spread, primed = await _spread(reader, _sources(found, exact, focus))
    if placed and question.is_id:
        primed = []
    ids = list(dict.fromkeys([*found, *(chunk.id for chunk in exact), *primed]))
    if not ids:
        return []
    wanted = STORED if types is None else STORED & frozenset(types)
    chunks = [chunk for chunk in (await reader.chunks(ids)).values() if type_of(chunk.kind) in wanted]
    hits = await _weighed(reader, question, chunks, found, spread, now, weights)
    hits.sort(key=lambda hit: (-hit.strength, hit.chunk.path, hit.chunk.line_start))
    return await _told(reader, hits, limit, question, found)


async def weigh(reader: Reader, chunks: Sequence[ChunkView], now: float) -> list[Hit]:
    """Chunks known by other means (a cursor, a name) with their activation, in the order given."""
    if not chunks:
        return []
    return await _weighed(reader, _NO_QUESTION, chunks, {}, Spread({}), now)


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


def _by_chunk(matches: Matches) -> dict[int, _Found]:
    found: dict[int, _Found] = {}
    best_of_file: dict[int, float] = {}
    columns = [column.tolist() for column in matches]
    for part, chunk, file, words, cover, name_cover, name_share, file_cover in zip(*columns, strict=True):
        best_of_file[file] = max(words, best_of_file.get(file, 0.0))
        known = found.get(chunk)
        if known is None or words > known.words:
            found[chunk] = _Found(part, words, cover, name_cover, name_share, file_cover, float(file))
    return {
        chunk: _Found(
            f.part, f.words, f.cover, f.name_cover, f.name_share, f.file_cover, best_of_file[int(f.file_best)]
        )
        for chunk, f in found.items()
    }


def _sources(found: Mapping[int, _Found], exact: Sequence[ChunkView], focus: Focus | None) -> dict[int, float]:
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


async def _spread(reader: Reader, sources: Mapping[int, float]) -> tuple[Spread, list[int]]:
    spread = Spread(sources)
    while frontier := spread.frontier():
        spread.follow(await reader.links(frontier, HUB))
    strongest = sorted(spread.amounts.items(), key=lambda entry: -entry[1])[:SOURCES]
    return spread, [chunk for chunk, _ in strongest]


async def _weighed(
    reader: Reader,
    question: Question,
    chunks: Sequence[ChunkView],
    found: Mapping[int, _Found],
    spread: Spread,
    now: float,
    weights: Signals = WEIGHTS,
) -> list[Hit]:
    accesses = await reader.accesses([chunk.id for chunk in chunks])
    boosts = await reader.boosts([chunk.id for chunk in chunks])
    paths = sorted({chunk.path for chunk in chunks})
    commits = await reader.commits(paths)
    mtimes = await _uncommitted(reader, paths, commits)
    histories = histories_of(chunks, accesses, commits, mtimes)
    levels = levels_of(histories, now)
    hits: list[Hit] = []
    for chunk, history, level in zip(chunks, histories, levels, strict=True):
        match = found.get(chunk.id)
        activation = Activation(
            base_level=level,
            spreading=spread.amounts.get(chunk.id, 0.0),
            context_boost=context_boost(match.name_cover if match else 0.0),
            decay=decay_penalty((now - history[-1]) / 86_400) if history else 0.0,
            learned=boosts.get(chunk.id, 0.0),
        )
        type_like, remainder, test = kind_signals(chunk, question)
        signals = Signals(
            words=match.words if match else 0.0,
            cover=match.cover if match else 0.0,
            name_cover=match.name_cover if match else 0.0,
            name_share=match.name_share if match else 0.0,
            file_cover=match.file_cover if match else 0.0,
            file_best=match.file_best if match else 0.0,
            spreading=math.sqrt(activation.spreading),
            context_boost=activation.context_boost,
            recency=activation.base_level - activation.decay,
            learned=activation.learned,
            type_like=type_like,
            remainder=remainder,
            test=test,
        )
        used = accesses.get(chunk.id)
        total = strength(signals, name_bonus(chunk, question), weights)
        hits.append(
            Hit(
                chunk=chunk,
                score=round(score(total), 6),
                strength=total,
                activation=activation,
                last_used=used[-1] if used else None,
                last_modified=modified_at(chunk, commits, mtimes),
                focus=(chunk.line_start, chunk.line_end),
                matched=(),
                history=history,
                signals=signals,
                path=tuple(spread.path_to(chunk.id)),
            )
        )
    return hits


async def _told(
    reader: Reader, hits: Sequence[Hit], limit: int, question: Question, found: Mapping[int, _Found]
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
                similar=tuple(few[other].chunk for other in kept.similar.get(place, ())),
            )
        )
    return told


def _content(part: PartView) -> frozenset[str]:
    return content_terms(part.occurrences)


async def _uncommitted(reader: Reader, paths: Sequence[str], commits: Mapping[str, Commits]) -> dict[str, float]:
    """Modification times of the files that git knows nothing of."""
    unknown = [path for path in paths if path not in commits]
    return await reader.mtimes(unknown) if unknown else {}
