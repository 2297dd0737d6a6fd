"""Memory's findings as the wire carries them (JSON replies): hits, explanations, links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from aurora_memory import chunk_validation, document_builder, semantic_tags
from aurora_memory.chunks import type_of
from aurora_memory.conversation_logs import LogReference
from aurora_memory.documents import Document, KnowledgeContent
from aurora_memory.lifespans.evaluate import Verdict
from aurora_memory.recall import Hit, Question
from aurora_memory.recall.places import bare_path, meant
from aurora_memory.recall.quotations import SAYS_IT
from aurora_memory.recall.spaced_paths import with_whole_paths
from aurora_memory.scope import SURE
from aurora_memory.store import chunk_reader, file_reader, learned_reader
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView, Commits, Edge, UsageCounts
from aurora_protocol.human_text import count, shorten, whole_clause
from aurora_protocol.methods import (
    ActivationTerms,
    Evidence,
    ExplainResult,
    FileMember,
    PatternUse,
    Recalled,
    RelatedChunk,
    SeenLog,
)
from aurora_protocol.spelling import OF_FEW, closest
from aurora_server.workspace.colleagues import Colleagues, PatternState
from aurora_server.workspace.recalled_text import Text, raw_text
from aurora_server.workspace.wire import iso, shown_id

_LONGEST_SUMMARY = 240
_SAYS_NOTHING = re.compile(
    r"\s*(?:(?:TODO|FIXME|XXX)\b.*|(?:\{%[^%]*%\}\s*)+|\{\{[^{}]*\}\}|\w[\w ]*\(https?://[^\s()]*\)|\w+:)\s*"
)
"""Line of documentation that does not say what something is: a note of work to be done, a template's tag, a badge
(`npm version(https://…)`), or a label alone (`Default:`)."""
_SENTENCE_END = re.compile(r"(?<!\b[eEi]\.[gG])(?<!\b[iI]\.e)(?<!\bcf)(?<!\betc)[.!?。！？](?=\s|$)|(?<=[。！？])")
_BACKWARDS = {
    "calls": "called by",
    "hands on": "passed on by",
    "inherits": "inherited by",
    "contains": "contained in",
    "imports": "imported by",
    "used": "used by",
    "mentions": "mentioned in",
}

_FORWARDS = {"hands on": "passes on"}

_GUESSED = frozenset({"calls", "inherits"})


def recalled(
    hit: Hit,
    root: Path,
    usage: UsageCounts,
    text: Text | None = None,
    evidence: Evidence | UnsetType = UNSET,
    state: PatternState | None = None,
) -> Recalled:
    """One hit for the wire; `text` is what is delivered of it, `state` that of a pattern."""
    chunk, activation = hit.chunk, hit.activation
    return Recalled(
        id=shown_id(chunk),
        type=type_of(chunk.kind),
        kind=chunk.kind,
        name=chunk.name,
        file=chunk.path,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
        line=_line(hit),
        language=chunk.language,
        signature=chunk.signature,
        score=hit.score,
        activation=ActivationTerms(
            total=round(activation.total, 6),
            base_level=round(activation.base_level, 6),
            spreading=round(activation.spreading, 6),
            context_boost=round(activation.context_boost, 6),
            decay=round(activation.decay, 6),
            learned=round(activation.learned, 6),
        ),
        last_used=iso(hit.last_used),
        last_modified=iso(hit.last_modified),
        modified_before=iso(hit.modified_before),
        tokens=chunk.tokens if text is None else text.tokens,
        summary=summary(chunk),
        callers=usage.callers,
        likely_callers=usage.likely_callers,
        subclasses=usage.subclasses,
        likely_subclasses=usage.likely_subclasses,
        handed_on=usage.handed_on,
        workspace=str(root),
        provenance=state.provenance if state is not None else None,
        drifted=list(state.drifted) if state is not None else [],
        similar=[shown_id(each) for each in hit.similar],
        also=[
            FileMember(
                id=shown_id(each),
                name=each.name,
                kind=each.kind,
                line_start=each.line_start,
                line_end=each.line_end,
                line=each.line,
            )
            for each in hit.also
        ],
        likely=hit.is_likely,
        relation=hit.relation,
        excerpt=text is not None and text.excerpt,
        content=UNSET if text is None else text.content,
        content_lines=UNSET if text is None or text.lines is None else text.lines,
        evidence=evidence,
    )


def _line(hit: Hit) -> int:
    """Line that a hit leads to: of a file's remainder, and of a message, the one that answers, where one alone does."""
    first, last = hit.focus
    is_told = hit.chunk.kind == "module" or hit.relation == SAYS_IT
    return first if is_told and first == last else hit.chunk.line


def explained(
    found: Recalled,
    chunk: ChunkView,
    document: Document,
    accesses: Sequence[float],
    commits: Commits | None,
    relations: Sequence[RelatedChunk],
    patterns: Sequence[PatternUse] = (),
    verdict: Verdict | None = None,
) -> ExplainResult:
    """Everything on one chunk for the wire."""
    plain = chunk_validation.plain(document)
    return ExplainResult(
        chunk=found,
        docstring=chunk.docstring,
        content=plain["content"],
        metadata=plain["metadata"],
        accesses=[document_builder.iso_time(at) for at in accesses],
        commits=[document_builder.iso_time(at) for at in commits.times] if commits and commits.last_hash else [],
        relations=list(relations),
        document=plain,
        governance=plain["governance"] | _told(verdict),
        patterns=list(patterns),
    )


def _told(verdict: Verdict | None) -> dict[str, Any]:
    """What a chunk's policies come to now, for the wire."""
    if verdict is None:
        return {}
    ends = verdict.expires_at
    return {
        "policy": verdict.policy,
        "state": verdict.state,
        "expires_at": None if ends is None else document_builder.iso_time(ends),
        "reason": verdict.reason,
    }


def summary(chunk: ChunkView) -> str:
    """The first sentence of a chunk's documentation; empty where it has none, or its first paragraph tells nothing."""
    paragraph = chunk.docstring.strip().split("\n\n", 1)[0]
    text = " ".join(" ".join(line for line in paragraph.splitlines() if not _SAYS_NOTHING.fullmatch(line)).split())
    end = _SENTENCE_END.search(text)
    return whole_clause(text[: end.end()].rstrip() if end else text, _LONGEST_SUMMARY)


def knowledge_of(root: Path, chunk: ChunkView, acquired: float) -> Document:
    """The document of a knowledge chunk (AURORA §6.3.5), read from its file as it stands now. Blocks."""
    content = _knowledge(chunk, raw_text(root, chunk))
    tags = semantic_tags.knowledge_tags(content.topic, (content.summary, *(fact.statement for fact in content.facts)))
    return document_builder.knowledge_document(
        shown_id(chunk).removeprefix("know:"),
        content.topic,
        content.summary,
        [fact.statement for fact in content.facts],
        content.sources,
        content.confidence,
        acquired,
        tags=msgspec.structs.replace(tags, keywords=tuple(chunk.keywords.split())),
    )


def _knowledge(chunk: ChunkView, text: str) -> KnowledgeContent:
    from aurora_indexer.documents.content import knowledge_content

    return knowledge_content(
        path=chunk.path,
        name=chunk.name,
        language=chunk.language,
        signature=chunk.signature,
        docstring=chunk.docstring,
        keywords=tuple(chunk.keywords.split()),
        text=text,
    )


def link(relation: str, chunk: ChunkView, *, likely: bool = False) -> RelatedChunk:
    """Related chunk for the wire."""
    return RelatedChunk(
        relation=relation,
        id=shown_id(chunk),
        name=chunk.name,
        file=chunk.path,
        line=chunk.line,
        likely=likely,
    )


def links(edges: Sequence[Edge]) -> list[RelatedChunk]:
    """A chunk's relations, named from its side; a file's module remainder goes by its file name."""
    return [
        link(
            _FORWARDS.get(edge.kind, edge.kind) if edge.outgoing else _BACKWARDS[edge.kind],
            edge.other,
            likely=edge.kind in _GUESSED and edge.weight < SURE,
        )
        for edge in edges
    ]


def patterns_of(reader: Reader, edges: Sequence[Edge], colleagues: Colleagues) -> list[PatternUse]:
    """The patterns among the reasoning that used a chunk, best first."""
    ids = [edge.other.id for edge in edges if edge.kind == "used" and not edge.outgoing]
    known = learned_reader.reasoning(reader, ids) if ids else {}
    states = colleagues.patterns(reader, ids)
    found = [
        PatternUse(
            id=document.id,
            query=document.content.original_query,
            score=document.content.success_score,
            uses=document.access_count,
            provenance=states[row].provenance,
            drifted=list(states[row].drifted),
        )
        for row, document in known.items()
        if document.is_pattern
    ]
    return sorted(found, key=lambda each: (-each.score, -each.uses, each.id))


def seen_log(reference: LogReference) -> SeenLog:
    """A section of a log for the wire."""
    return SeenLog(**{**msgspec.structs.asdict(reference), "keywords": list(reference.keywords)})


def nothing_fits(best: Hit, budget: int | None) -> str:
    """Hint where a token budget is too small for even the best answer."""
    return f"Nothing fits {budget} tokens; the best answer is {shown_id(best.chunk)}: ask with a larger budget."


def missing_file(reader: Reader, question: Question, pending: int) -> str | None:
    """Why nothing answers a query that is the bare name of a file (`b.py`), as files here are called, and no file's.

    Asked where nothing was found: `session.get` may be spelled the same way.
    """
    path = bare_path(question.text, question.places)
    if path is None or not file_reader.has_suffix(reader, f".{path.rpartition('.')[2]}"):
        return None
    return None if file_reader.files_like(reader, path, 1) else _no_file(path, pending)


def _no_file(path: str, pending: int) -> str:
    said = f"memory knows no file {shorten(path, 200)}"
    return still_indexed(said, pending) if pending else f"{said}; 'aurora doctor' says what is left out"


def still_indexed(said: str, pending: int) -> str:
    """What is said of something that is not there, and that it may come, where files are still being indexed."""
    return f"{said.rstrip('.')}; {count(pending, 'file')} still being indexed" if pending else said


def missing_place(reader: Reader, question: Question, pending: int) -> str | None:
    """Why the file, or what is asked for in it, is not there, where a query is one place or id and nothing else.

    Other functions are no answer to it. None where the place exists, and for every other query.
    """
    if question.reasoning_id is not None:
        known = learned_reader.reasoning_named(reader, question.reasoning_id) is not None
        return None if known else f"memory has no {shorten(question.text.strip(), 200)}; 'aur mem WORDS' looks for one"
    if len(question.places) != 1 or not (question.is_id or len(with_whole_paths(reader, question.text).split()) == 1):
        return None
    (place,) = question.places
    if not place.is_certain or not (place.is_id or "/" in place.path or "." in place.path):
        return None
    paths = file_reader.files_like(reader, place.path, 1)
    if not paths:
        return _no_file(place.path, pending)
    chunks = chunk_reader.of_file(reader, paths[0])
    if meant([place], chunks):
        return None
    if place.name is None:
        return still_indexed(f"{paths[0]} has nothing at line {place.line}", pending)
    near = closest(place.name, [chunk.name for chunk in chunks], OF_FEW)
    said = f"{paths[0]} defines no {shorten(place.name, 200)}" + (f"; did you mean {near}?" if near else "")
    return still_indexed(said, pending)
