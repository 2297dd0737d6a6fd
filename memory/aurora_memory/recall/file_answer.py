"""File answer (outline): what a file holds, to a query that is its path alone, or its name.

The file itself comes first, then its definitions: those at its top level before what they hold, of each the most used
first, then as they stand. An answer is cut at its limit, and what others use says most of a file. Where several files
are called so, they are told, each with what it holds that is used most.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from aurora_memory.chunks import MODULE_NAME, type_of
from aurora_memory.recall.line_answer import MEANT_SCORE
from aurora_memory.recall.places import bare_path, is_test
from aurora_memory.recall.question import Question
from aurora_memory.recall.recall import weigh
from aurora_memory.recall.relation_answer import STEP, RelatedHits
from aurora_memory.store import chunk_reader, file_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView, UsageCounts

MAX_FILES = 20
"""Files of one name that are told."""

BESIDE = 5
"""Definitions told beside each of several files."""


def answer_file(
    reader: Reader, question: Question, limit: int, now: float, types: Collection[str] | None = None
) -> RelatedHits | None:
    """The answer to a query that is the path of files, or the name of one (a component's: `CartMenu`) where nothing
    else is called so; None for any other, and where no such file is known.
    """
    path = bare_path(question.text, question.places)
    if path is None:
        path, paths = question.text.strip(), _called(reader, question)
    else:
        paths = file_reader.files_like(reader, path, MAX_FILES)
    if path in paths:
        paths = [path]
    paths.sort(key=is_test)
    held = [chunks for each in paths if (chunks := _in_order(reader, each, types))]
    if not held:
        return None
    if len(held) > 1:
        told = [(chunks[0], tuple(chunks[1 : 1 + BESIDE])) for chunks in held]
        said = f"{len(held)} files are called {path}."
    else:
        told = [(each, ()) for each in held[0]]
        said = _cut(held[0], limit)
    told = told[:limit]
    hits = []
    for n, (hit, (_, also)) in enumerate(zip(weigh(reader, [each for each, _ in told], now), told, strict=True)):
        score = MEANT_SCORE - n * STEP
        hits.append(replace(hit, score=round(score, 6), strength=100 * score, also=also))
    return RelatedHits(hits, said)


def _called(reader: Reader, question: Question) -> list[str]:
    """The files that are called what a query of one name asks for, which no definition is called. A plain word
    (`session`) is rather a topic, whatever file is called so.
    """
    name = question.text.strip()
    is_word = name.isalpha() and name.islower()
    if is_word or question.identifiers != (name,) or not question.by_name or chunk_reader.named(reader, [name]):
        return []
    return file_reader.files_called(reader, name, MAX_FILES)


def _cut(chunks: Sequence[ChunkView], limit: int) -> str:
    """What is said where not all of a file is told; a document has no order but its own."""
    if len(chunks) <= limit:
        return ""
    order = ": what is at its top level first, of that what is used most" if type_of(chunks[-1].kind) == "code" else ""
    return f"{chunks[0].path} has {len(chunks):,} parts{order}."


def _in_order(reader: Reader, path: str, types: Collection[str] | None) -> Sequence[ChunkView]:
    """What a file holds, in the order in which it is told."""
    chunks = [each for each in chunk_reader.of_file(reader, path) if types is None or type_of(each.kind) in types]
    usages = relation_reader.usages(reader, [each.id for each in chunks])
    spaces = {each.name for each in chunks if each.kind == "namespace"}

    def order(chunk: ChunkView) -> tuple[bool, bool, int, int, int]:
        used = usages.get(chunk.id, UsageCounts())
        is_member = chunk.parent is not None and chunk.parent not in spaces
        sure, likely = used.callers + used.subclasses, used.likely_callers + used.likely_subclasses
        return chunk.name != MODULE_NAME, is_member, -sure, -likely, chunk.line_start

    return sorted(chunks, key=order)
