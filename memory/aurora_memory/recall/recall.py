"""Recall (retrieval, search): from a question to the chunks of files that are most useful now, best first. Reads only.

`search` finds candidates, `gather` looks up what is known of them, `ranked` orders them by their signals, `fuse` by an
embedding as well; of the best, near-duplicates are put under one, and each is told with what matched and where. These
are plain functions over a `Reader`: `await store.read(recall, question, …)` runs all of it as one call on its thread.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Literal

from msgspec.structs import replace

from aurora_memory.chunks import MODULE_NAME, REASONING, type_of
from aurora_memory.recall.access_history import modified_at, modified_before
from aurora_memory.recall.candidates import Candidates, gather
from aurora_memory.recall.dedupe import content_terms, fold_near_duplicates
from aurora_memory.recall.file_evidence import (
    TO_CHANGE,
    TOLD,
    Ordered,
    evidence,
    in_order,
    of_files,
    strongest,
    with_files_pointed_at,
    with_likeliest_files,
    with_members,
    with_other_files,
    with_report,
    with_these_first,
)
from aurora_memory.recall.fusion import fuse, reciprocal_ranks
from aurora_memory.recall.mentions import with_known_names
from aurora_memory.recall.overloads import Name, longest_first, overloaded
from aurora_memory.recall.prefix import completed
from aurora_memory.recall.question import NO_QUESTION, Question
from aurora_memory.recall.ranking import Hit, Rank, ranked, ranked_anew, ranks_of, score
from aurora_memory.recall.search import Findings, Focus, ReadText, search
from aurora_memory.recall.signals import SignalTable, Weights, meaning, named, weights_of
from aurora_memory.store import chunk_reader, relation_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView, PartView

STORED = frozenset({"code", "know"})
"""The types of chunks that files become."""

Level = Literal["file", "class", "function"]
"""Size of an answer."""

OF_LEVEL: Mapping[Level | None, frozenset[str]] = {
    "class": frozenset({"class", "interface", "struct", "trait", "enum", "type", "namespace", "object", "record"}),
    "function": frozenset({"function", "method", "macro"}),
}
"""Kinds of chunks that are of a size. A file is told by what is best in it."""

TOPICS = 5
"""Answers to a question that may be a topic or a report which are a topic's; what follows is a report's."""

UNDAMPED = 0
"""Damping of ranks where two answers to a question each say what comes first: they take turns."""

TURNS, TURNS_OF = 4, 10
"""First answers to a report, or to a change as people type it, which take turns with those to a topic, and how many of
each are looked at: who tells what goes wrong often asks where that is.
"""

BESIDE_A_TOPIC = 0.4
"""What a rank among answers to a report in plain words counts beside one among those to a topic."""

FOLDED = 8
"""Ranks below the asked number among which near-duplicates are looked for."""


def recall(
    reader: Reader,
    question: Question,
    limit: int,
    now: float,
    focus: Focus | None = None,
    types: Collection[str] | None = None,
    weights: Weights | None = None,
    near: Sequence[tuple[int, float]] = (),
    read: ReadText | None = None,
    level: Level | None = None,
    *,
    by_meaning: bool = True,
) -> list[Hit]:
    """The `limit` most useful chunks of files for a question, best first, none repeated. `now` is Unix seconds.

    `types` are those asked for, `code` and `know`; both where it is None. Reasoning has a recall of its own.
    `near` are the chunks (row ids) that an embedding finds nearest to the question, best first, each with its
    similarity; that ranking is fused with the one of words, relations and history. With `read` a constant that
    the query names, and asks nothing else of, is found where it is declared. `level` asks for answers of one size.
    Without `by_meaning` the table of word vectors is not asked: a model of the user's takes its place. With the
    editor's context (`focus`) it finds and does not rank. A report is asked as a topic as well, one with a title as a
    whole and by that title, and they take turns; one in plain words first of all as a topic.
    """
    if weights is None and (question.title or question.as_topic):
        asked = partial(
            recall, reader, limit=max(limit, TURNS_OF), now=now, focus=focus, types=types, read=read, level=level
        )
        told = asked(replace(question, title=None, as_topic=None), near=near, by_meaning=by_meaning)
        if question.title is not None:  # what many words point at is often not at fault, and one line seldom says all
            told = in_turns(told, asked(replace(question.title, as_topic=None), by_meaning=by_meaning))
        as_topic = question.as_topic or (question.title and question.title.as_topic)
        if as_topic is not None:
            of_topic = asked(as_topic, near=near, by_meaning=by_meaning)
            if question.is_in_plain_words:
                told = in_turns(of_topic, told, TURNS, BESIDE_A_TOPIC)
            else:
                told = in_turns(told, of_topic, TURNS)
        return told[:limit]
    if not question.terms and not question.identifiers:
        return []
    question = with_known_names(reader, completed(reader, question))
    used = weights_of(question.kind) if weights is None else weights
    by_meaning = by_meaning and used[meaning.place] != 0
    findings = search(reader, question, focus, types, near, read, by_meaning=by_meaning)
    if not findings.ids:
        return []
    wanted = STORED if types is None else STORED & frozenset(types)
    heads = chunk_reader.heads(reader, findings.ids)
    kinds = {kind for kind in {head.kind for head in heads} if type_of(kind) in wanted}
    heads = [head for head in heads if head.kind in kinds]
    if level in OF_LEVEL:
        heads = [head for head in heads if head.kind in OF_LEVEL[level]]
    candidates = gather(reader, question, heads, findings, now)
    table = SignalTable.of(candidates)
    ranks = ranked(candidates, reader.weighing, used, table)
    if near and not findings.alone:
        pinned = [rank.id for rank in ranks if question.by_name and rank.signals[named] > 0]
        ranks = fuse(ranks, near, findings.by_words, pinned)
    if findings.alone:
        return _best(reader, candidates, findings, ranks[: limit + FOLDED], limit)
    overloads = overloaded(candidates.heads)
    if level == "file":
        files = of_files(candidates, ranks)
        return _as_files(reader, _best(reader, candidates, findings, files.ranks[:limit], limit, files.also, overloads))
    ranks = longest_first(candidates.heads, ranks, overloads)
    callers = strongest(candidates, ranks)
    ordered = in_order(candidates, ranks, relation_reader.callees(reader, callers) if callers else {})
    if weights is None and not near:
        ordered = _hedged(candidates, table, ranks, ordered, limit)
    unmoved = 1 if question.is_in_small_letters and not findings.is_whole else 0
    ordered = with_these_first(ordered, findings.first, unmoved)
    if question.is_phrase:
        ordered = with_these_first(ordered, [rank.id for rank in ranks if candidates.phrased[rank.place] == 1])
    return _best(reader, candidates, findings, ordered.ranks[: limit + FOLDED], limit, ordered.also, overloads)


def in_turns(one: Sequence[Hit], other: Sequence[Hit], most: int | None = None, share: float = 1.0) -> list[Hit]:
    """Fusion of two answers to one question, best first, by the reciprocal of their ranks, so that they take turns and
    what both have comes first; at the same place `one` does. A rank among `other` counts for a `share`. The `most`
    first are taken so, where it is given; behind them `one` goes on alone.

    Each hit takes the strength of the place it comes to; none is told beside another as well.
    """
    sums = reciprocal_ranks([[hit.chunk.id for hit in one], [hit.chunk.id for hit in other]], (1.0, share), UNDAMPED)
    known = {hit.chunk.id: hit for hit in (*other, *one)}
    own = [hit.chunk.id for hit in one]
    order = sorted(dict.fromkeys([*own, *known]), key=lambda chunk: -sums[chunk])
    if most is not None:
        order = list(dict.fromkeys([*order[:most], *own, *order]))
    strengths = sorted((hit.strength for hit in known.values()), reverse=True)
    return [
        replace(
            known[chunk],
            strength=strength,
            score=round(score(strength), 6),
            also=tuple(each for each in known[chunk].also if each.id not in known),
        )
        for chunk, strength in zip(order, strengths, strict=True)
    ]


def _hedged(candidates: Candidates, table: SignalTable, ranks: Sequence[Rank], ordered: Ordered, limit: int) -> Ordered:
    """Answers in order: a report's among those to what may be one, a task's and a report's likeliest files and those
    that a long report points at among the first, and others behind the tenth where something is to be changed and
    more are asked for.
    """
    question = candidates.question
    if question.is_open:
        return with_report(ordered, ranked_anew(ranks, table, weights_of("report")), TOPICS)
    if question.kind == "task":
        as_topic = ranked_anew(ranks, table, weights_of("topic"))
        return with_likeliest_files(candidates, ordered, evidence(candidates, as_topic))
    if question.kind not in TO_CHANGE:
        return ordered
    # What comes behind the tenth is not looked for where nobody asks for it: it takes .6 ms.
    goes_on = limit > TOLD
    in_a_sentence = question.kind in {"change", "report"}
    worth = evidence(candidates, ranks, of_reports=True) if goes_on or in_a_sentence else {}
    if in_a_sentence:
        ordered = with_likeliest_files(candidates, ordered, worth)
    elif candidates.pointed.files:
        ordered = with_files_pointed_at(candidates, ordered)
    if question.kind == "report" and not question.heading and not question.is_title:
        ordered = with_members(candidates, ordered)
    return with_other_files(candidates, ordered, worth) if goes_on else ordered


def _as_files(reader: Reader, hits: Sequence[Hit]) -> list[Hit]:
    """Each hit as its whole file, where memory has a chunk for that, with the hit first of what is told beside it."""
    found = []
    for hit in hits:
        whole = next((each for each in chunk_reader.of_file(reader, hit.chunk.path) if each.name == MODULE_NAME), None)
        if whole is None or whole.id == hit.chunk.id:
            found.append(hit)
        else:
            beside = [each for each in hit.also if each.id != whole.id]
            found.append(replace(hit, chunk=whole, also=(hit.chunk, *beside)))
    return found


def weigh(reader: Reader, chunks: Sequence[ChunkView], now: float) -> list[Hit]:
    """Chunks known by other means (a cursor, a name) with their activation, in the order given."""
    if not chunks:
        return []
    findings = Findings()
    candidates = gather(reader, NO_QUESTION, chunks, findings, now)
    ranks = ranks_of(candidates)
    return [_hit(candidates, findings, rank, chunk) for rank, chunk in zip(ranks, chunks, strict=True)]


def with_uses_of_others(reader: Reader, hits: Sequence[Hit], now: float) -> list[Hit]:
    """Hits with colleagues' uses in their histories, as they count at `now`: told where someone asks why, and not
    looked up for each answer, since ranking takes only their sums.
    """
    others = chunk_reader.counted_accesses(reader, [hit.chunk.id for hit in hits if hit.chunk.kind != REASONING], now)
    return [
        replace(hit, history=tuple(sorted((*hit.history, *others[hit.chunk.id])))) if hit.chunk.id in others else hit
        for hit in hits
    ]


def _best(
    reader: Reader,
    candidates: Candidates,
    findings: Findings,
    ranks: Sequence[Rank],
    limit: int,
    also: Mapping[int, Sequence[int]] = {},
    overloads: Collection[Name] = (),
) -> list[Hit]:
    """The first `limit` that differ, as hits; near-duplicates of each are put under it, and members of its file.

    `overloads` are names that are one answer. What is not told is not read.
    """
    if candidates.question.by_name:
        parts: Mapping[int, Sequence[PartView]] = {}
        contents = [frozenset[str]()] * len(ranks)
    else:
        parts = chunk_reader.parts_of(reader, [rank.id for rank in ranks])
        contents = [_content(parts.get(rank.id, ())) for rank in ranks]
    names = [(head.path, head.name) for head in (candidates.heads[rank.place] for rank in ranks)]
    kept = fold_near_duplicates(contents, limit, [name if name in overloads else None for name in names])
    similar = {place: [ranks[other].id for other in kept.similar.get(place, ())] for place in kept.kept}
    shown = {ranks[place].id for place in kept.kept}
    parts = parts or chunk_reader.parts_of(reader, list(shown))
    beside = {place: [each for each in also.get(ranks[place].id, ()) if each not in shown] for place in kept.kept}
    chunks = chunk_reader.by_id(reader, [*shown, *chain(*similar.values(), *beside.values())])
    return [
        _hit(
            candidates,
            findings,
            ranks[place],
            chunks[ranks[place].id],
            parts.get(ranks[place].id, ()),
            tuple(chunks[other] for other in similar[place] if other in chunks),
            tuple(chunks[other] for other in beside[place] if other in chunks),
        )
        for place in kept.kept
        if ranks[place].id in chunks  # it may be gone since its head was read
    ]


def _hit(
    candidates: Candidates,
    findings: Findings,
    rank: Rank,
    chunk: ChunkView,
    parts: Sequence[PartView] = (),
    similar: tuple[ChunkView, ...] = (),
    also: tuple[ChunkView, ...] = (),
) -> Hit:
    """A ranked candidate with all that is told of it."""
    primed = findings.episodes.get(chunk.id)
    return Hit(
        chunk=chunk,
        score=round(score(rank.strength), 6),
        strength=rank.strength,
        signals=rank.signals,
        activation=candidates.activation(rank.place),
        last_used=candidates.last_used.get(chunk.id),
        last_modified=modified_at(chunk, candidates.commits, candidates.now),
        modified_before=modified_before(chunk, candidates.commits, candidates.now),
        focus=_focus(chunk, findings, parts),
        matched=_matched(candidates.question, parts),
        history=candidates.histories[rank.place],
        path=tuple(findings.spread.path_to(chunk.id)),
        episodes=primed.episodes if primed else (),
        similar=similar,
        also=also,
        nearness=rank.nearness,
        relation=findings.first.get(chunk.id, ""),
    )


def _matched(question: Question, parts: Sequence[PartView]) -> tuple[str, ...]:
    """The terms of a question that stand in a chunk; of one that is a beginning, the words that do."""
    words = [word for term in question.terms for word in question.completions.get(term, (term,))]
    said = set[str]().union(*(part.occurrences for part in parts))
    return tuple([word for word in words if word in said])


def _focus(chunk: ChunkView, findings: Findings, parts: Sequence[PartView]) -> tuple[int, int]:
    """The lines that answer: a declaration, else the part that matches best, else all."""
    line = findings.declared.get(chunk.id)
    if line is not None:
        return line, line
    match = findings.matches.get(chunk.id)
    best = next((part for part in parts if match is not None and part.number == match.part), None)
    return (best.line_start, best.line_end) if best else (chunk.line_start, chunk.line_end)


def _content(parts: Sequence[PartView]) -> frozenset[str]:
    terms = [content_terms(part.occurrences) for part in parts]
    return terms[0] if len(terms) == 1 else frozenset[str]().union(*terms)
