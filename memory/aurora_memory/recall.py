"""Recall: from a question to the chunks most useful now.

Words find candidates (BM25 over weighted fields); coverage of the question, exact names and activation order them.
Reading only: nothing here changes what memory knows (AURORA §9.9).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from aurora_memory.activation import (
    Activation,
    context_boost,
    decay_penalty,
    levels_of_histories,
    retrieval_probability,
)
from aurora_memory.chunks import MODULE_NAME
from aurora_memory.store.history import Commits
from aurora_memory.store.reading import ChunkView, IndexedTerms, Reader, WordMatch
from aurora_memory.tokens import stem_word, terms

POSTINGS_BUDGET = 2000
"""How many index entries one question may cost; the rarest terms are served first, so common words drop out."""

CANDIDATES = 50
RETRIEVAL_THRESHOLD = -2.0
"""Activation at which recall is a coin's toss: a file touched a handful of times, months ago."""

NOISE = 1.2
MODULE_FACTOR = 0.85
TEST_FACTOR = 0.8

STOP_WORDS = frozenset(
    """
    a about all an and any are as at be by can code could did do does done each every find for from function functions
    get gets give has have how i if in into is it its like look me method methods my of on or our place places please
    show should so some tell that the their them there these this those to us use used uses using was we were what when
    where which who why will with would you your
    """.split()
)

NOWHERE = IndexedTerms("", "", "")

_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)*")
_LOOKS_LIKE_CODE = re.compile(r"_|[a-z0-9][A-Z]|\.|::|#|\d")
_TEST_PATH = re.compile(
    r"(^|/)(tests?|testing|spec|specs|__tests__)(/|$)|(^|/)test_|_test\.|\.(test|spec)\.|conftest\."
)


class Hit(Struct, frozen=True):
    """One recalled chunk. Times are Unix seconds; `focus` are the lines of its best-matching part."""

    chunk: ChunkView
    score: float
    activation: Activation
    last_used: float | None
    last_modified: float | None
    focus: tuple[int, int]
    matched: tuple[str, ...]
    history: tuple[float, ...]


class Question(Struct, frozen=True):
    """A query taken apart: its telling terms, and the words that may be names in the code."""

    text: str
    terms: tuple[str, ...]
    identifiers: tuple[str, ...]
    about_tests: bool


def understand(query: str) -> Question:
    """Split a query into terms and possible identifiers; stop words go unless nothing else is left."""
    words = _IDENTIFIER.findall(query)
    telling = [word for word in re.findall(r"[^\W_]\w*", query) if word.lower() not in STOP_WORDS]
    found = dict.fromkeys(term for word in telling for term in stem_word(word))
    if not found:
        found = dict.fromkeys(terms(query))
    lone = len(words) == 1
    identifiers = [word for word in words if lone or _LOOKS_LIKE_CODE.search(word)]
    spelled = [word.replace("::", ".").replace("#", ".") for word in identifiers]
    return Question(query, tuple(found)[:40], tuple(dict.fromkeys(spelled)), "test" in found or "spec" in found)


async def recall(reader: Reader, query: str, limit: int, now: float) -> list[Hit]:
    """The `limit` most useful chunks for a query, best first, none repeated. `now` is Unix seconds."""
    question = understand(query)
    if not question.terms and not question.identifiers:
        return []
    total = await reader.part_total()
    frequencies = await reader.document_frequencies(question.terms)
    kept = affordable(frequencies)
    matches = {match.chunk_id: match for match in await reader.match_words(kept, CANDIDATES)} if kept else {}
    exact = await reader.named(question.identifiers) if question.identifiers else []
    ids = list(dict.fromkeys([*matches, *(chunk.id for chunk in exact)]))
    if not ids:
        return []
    found = await reader.candidates(ids)
    chunks = [chunk for chunk, _ in found]
    fields = {chunk.id: indexed for chunk, indexed in found}
    accesses = await reader.accesses(ids)
    commits = await reader.history.chunk_commits([chunk.id for chunk in chunks])
    mtimes = await _uncommitted(reader, chunks, commits)
    rarity = {
        term: math.log(1 + (total - frequency + 0.5) / (frequency + 0.5)) for term, frequency in frequencies.items()
    }
    hits = rank(question, rarity, chunks, matches, fields, accesses, commits, mtimes, now)
    return hits[:limit]


async def _uncommitted(reader: Reader, chunks: Sequence[ChunkView], commits: Mapping[int, Commits]) -> dict[str, float]:
    """Modification times of the files with chunks that git knows nothing of."""
    unknown = sorted({chunk.path for chunk in chunks if chunk.id not in commits})
    return await reader.mtimes(unknown) if unknown else {}


async def weigh(reader: Reader, chunks: Sequence[ChunkView], now: float) -> list[Hit]:
    """Chunks known by other means (a cursor, a name) with their activation, in the order given."""
    if not chunks:
        return []
    accesses = await reader.accesses([chunk.id for chunk in chunks])
    commits = await reader.history.chunk_commits([chunk.id for chunk in chunks])
    mtimes = await _uncommitted(reader, chunks, commits)
    question = Question("", (), (), about_tests=True)
    hits = rank(question, {}, chunks, {}, {}, accesses, commits, mtimes, now)
    order = {chunk.id: place for place, chunk in enumerate(chunks)}
    return sorted(hits, key=lambda hit: order[hit.chunk.id])


def affordable(frequencies: Mapping[str, int]) -> list[str]:
    """The rarest terms whose index entries fit the budget; always at least one."""
    kept: list[str] = []
    spent = 0
    for term, frequency in sorted(frequencies.items(), key=lambda entry: entry[1]):
        if kept and spent + frequency > POSTINGS_BUDGET:
            break
        kept.append(term)
        spent += frequency
    return kept


def rank(
    question: Question,
    rarity: Mapping[str, float],
    chunks: Sequence[ChunkView],
    matches: Mapping[int, WordMatch],
    fields: Mapping[int, IndexedTerms],
    accesses: Mapping[int, Sequence[float]],
    commits: Mapping[int, Commits],
    mtimes: Mapping[str, float],
    now: float,
) -> list[Hit]:
    """Order candidates by relevance, then by how retrievable their activation makes them. Pure."""
    best = max((match.score for match in matches.values()), default=0.0) or 1.0
    weight = sum(rarity.values()) or 1.0
    histories = histories_of(chunks, accesses, commits, mtimes)
    levels = levels_of(histories, now)
    wanted = {name.lower() for name in question.identifiers}
    spaced = [(f" {term} ", term, value / weight) for term, value in rarity.items()]
    hits: list[Hit] = []
    for chunk, history, level in zip(chunks, histories, levels, strict=True):
        where = fields.get(chunk.id, NOWHERE)
        in_name = sum(value for word, _, value in spaced if word in where.name)
        in_title = sum(value for word, _, value in spaced if word in where.title)
        present = [entry for entry in spaced if entry[0] in where.title or entry[0] in where.rest]
        covered = sum(value for _, _, value in present)
        match = matches.get(chunk.id)
        lexical = match.score / best if match else 0.0
        activation = Activation(
            base_level=level,
            spreading=0.0,
            context_boost=context_boost(in_title),
            decay=decay_penalty((now - history[-1]) / 86_400) if history else 0.0,
        )
        recallable = retrieval_probability(activation.total, RETRIEVAL_THRESHOLD, NOISE)
        relevance = 0.5 * lexical + 0.25 * covered + 0.25 * in_name
        if _names(chunk, wanted):
            relevance = 1.0 + (0.5 if chunk.name.lower() in wanted else 0.0)
        score = relevance * (0.8 + 0.2 * recallable) / 1.5
        if chunk.name == MODULE_NAME:
            score *= MODULE_FACTOR
        if not question.about_tests and _TEST_PATH.search(chunk.path):
            score *= TEST_FACTOR
        used = accesses.get(chunk.id)
        hits.append(
            Hit(
                chunk=chunk,
                score=round(min(1.0, score), 4),
                activation=activation,
                last_used=used[-1] if used else None,
                last_modified=modified_at(chunk, commits, mtimes),
                focus=(match.line_start, match.line_end) if match else (chunk.line_start, chunk.line_end),
                matched=tuple(term for _, term, _ in present),
                history=history,
            )
        )
    hits.sort(key=lambda hit: (-hit.score, hit.chunk.path, hit.chunk.line_start))
    return hits


def histories_of(
    chunks: Sequence[ChunkView],
    accesses: Mapping[int, Sequence[float]],
    commits: Mapping[int, Commits],
    mtimes: Mapping[str, float],
) -> list[tuple[float, ...]]:
    """Each chunk's access times, oldest first: its own, else its git commits and latest edit, else its file's time."""
    histories: list[tuple[float, ...]] = []
    for chunk in chunks:
        own = accesses.get(chunk.id)
        if own:
            histories.append(tuple(own))
            continue
        known = commits.get(chunk.id)
        committed = tuple(sorted(map(float, known.times))) if known else ()
        if chunk.changed_at is not None:
            histories.append(tuple(sorted((*committed, chunk.changed_at))))
        elif not committed and chunk.path in mtimes:
            histories.append((mtimes[chunk.path],))
        else:
            histories.append(committed)
    return histories


def modified_at(chunk: ChunkView, commits: Mapping[int, Commits], mtimes: Mapping[str, float]) -> float | None:
    """When a chunk last changed: the edit memory saw, else its last commit, else the file's time."""
    known = commits.get(chunk.id)
    committed = float(known.times[0]) if known and known.times else None
    seen = [time for time in (chunk.changed_at, committed) if time is not None]
    return max(seen) if seen else mtimes.get(chunk.path)


def levels_of(histories: Sequence[tuple[float, ...]], now: float) -> list[float]:
    """Base level of each history at once; a chunk without any history gets that of one access a year ago."""
    known = levels_of_histories(histories, now)
    floor = -0.5 * math.log(365.0)
    return [floor if math.isinf(known[history]) else known[history] for history in histories]


def _names(chunk: ChunkView, wanted: set[str]) -> bool:
    """Whether the query spells this chunk's name: `login`, `AuthService.login`, or a dotted tail of it."""
    if not wanted:
        return False
    name = chunk.name.lower()
    return name.rsplit(".", 1)[-1] in wanted or any("." in want and name.endswith("." + want) for want in wanted)
