"""Line answer: what stands at `FILE:LINE`, as a stack trace or a compiler prints it, and what it has to do with: the
enclosing definition (the innermost around), then its relations.

A line means one thing. What else resembles its file's name, or stands around it, is not what was asked for. What a
tool says of a line (`src/auth.py:45: error: …`) asks for what stands there first, then for what resembles its words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec.structs import replace

from aurora_memory.chunks import type_of
from aurora_memory.recall.place_lookup import standing_in
from aurora_memory.recall.prefix import begun_in
from aurora_memory.recall.question import Question
from aurora_memory.recall.question_kind import ISSUE_WORDS
from aurora_memory.recall.ranking import Hit
from aurora_memory.recall.recall import weigh
from aurora_memory.recall.relation_answer import HANDS_ON, LIKELY_SCORE, STEP, SURE_SCORE, RelatedHits
from aurora_memory.store import chunk_reader, file_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView

MAX_FILES = 5
"""Files of one name that a place may mean."""

MAX_RELATED = 100
MEANT_SCORE = 0.9999
_RELATIONS = (
    ("calls", False, "calls it"),
    ("calls", True, "called by it"),
    ("hands on", False, HANDS_ON),
    ("inherits", False, "inherits from it"),
    ("inherits", True, "inherited by it"),
)


def answer_at(reader: Reader, question: Question, limit: int, now: float) -> RelatedHits | None:
    """The answer to a query that consists of lines in files; None for any other, and where no such file is known."""
    if question.kind != "place":
        return None
    if any(place.line is None or place.name is not None for place in question.places):
        return None
    found = {each.id: each for each in _innermost(reader, question)}
    if not found:
        return None
    meant = list(found.values())[:limit]
    told: dict[int, tuple[str, bool]] = {}
    if len(meant) == 1:
        told = {each: said for each, said in _related(reader, meant[0].id) if each not in found}
    ordered = sorted(told, key=lambda each: not told[each][1])[: limit - len(meant)]
    chunks = chunk_reader.by_id(reader, ordered)
    hits = [_placed(hit, MEANT_SCORE - n * STEP) for n, hit in enumerate(weigh(reader, meant, now))]
    for n, hit in enumerate(weigh(reader, [chunks[each] for each in ordered if each in chunks], now)):
        relation, surely = told[hit.chunk.id]
        placed = _placed(hit, (SURE_SCORE if surely else LIKELY_SCORE) - n * STEP)
        hits.append(replace(placed, relation=relation, is_likely=not surely))
    return RelatedHits(hits, "")


def answer_begun(reader: Reader, question: Question, limit: int, now: float) -> RelatedHits | None:
    """The answer to a place whose name is still being typed (`src/auth.py:log`): what its file defines that begins so.
    None for any other query, and where its file defines what it names, or nothing of the kind.
    """
    if question.kind != "place" or question.is_id or len(question.places) != 1:
        return None
    (place,) = question.places
    if place.name is None or any(
        standing_in(reader, place, path) for path in file_reader.files_like(reader, place.path, 1)
    ):
        return None
    begun = begun_in(reader, place.path, place.name)[:limit]
    hits = [_placed(hit, MEANT_SCORE - n * STEP) for n, hit in enumerate(weigh(reader, begun, now))]
    return RelatedHits(hits, "") if hits else None


def spelled_first(
    reader: Reader, question: Question, hits: Sequence[Hit], now: float, types: Collection[str] | None = None
) -> list[Hit]:
    """The answers to a question, before them what stands at places that its words name too, in their order.

    A name that several files have tells no place; of a file as a whole its words may mean anything; and a report as
    long as an issue names places of many, of which its words tell the one that is meant.
    """
    if question.kind == "place" or question.is_id or len(question.text.split()) >= ISSUE_WORDS:
        return list(hits)
    found: dict[int, ChunkView] = {}
    for place in question.places:
        if not place.is_certain or (place.line is None and place.name is None):
            continue
        paths = file_reader.files_like(reader, place.path, 2)
        exact = [path for path in paths if path == place.path] or paths
        chunk = standing_in(reader, place, exact[0]) if len(exact) == 1 else None
        if chunk is not None and (types is None or type_of(chunk.kind) in types):
            found[chunk.id] = chunk
    first = [_placed(hit, MEANT_SCORE - n * STEP) for n, hit in enumerate(weigh(reader, list(found.values()), now))]
    rest = [hit for hit in hits if hit.chunk.id not in found]
    most = first[-1].score if first else 1.0
    return first + [replace(hit, score=min(hit.score, most)) for hit in rest]


def _innermost(reader: Reader, question: Question) -> Iterator[ChunkView]:
    """The definition at each place, the smallest that holds its line; where none does, its file's remainder."""
    for place in question.places:
        for path in file_reader.files_like(reader, place.path, MAX_FILES):
            chunk = standing_in(reader, place, path)
            if chunk is not None:
                yield chunk


def _related(reader: Reader, chunk: int) -> Sequence[tuple[int, tuple[str, bool]]]:
    """What has a relation to a chunk: its row id, in words which, and whether surely; the last one of each counts."""
    return [
        (other, (said, surely))
        for kind, forward, said in reversed(_RELATIONS)
        for other, surely in relation_reader.related(reader, [chunk], kind, MAX_RELATED, forward=forward)
    ]


def _placed(hit: Hit, score: float) -> Hit:
    return replace(hit, score=round(score, 6), strength=100.0 * score)
