"""Memory's findings as the wire carries them: hits, explanations, links."""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from aurora_indexer.knowledge.content import KnowledgeContent, knowledge_content
from aurora_memory import checking, document_making, tagging
from aurora_memory.chunks import MODULE_NAME, chunk_id, type_of
from aurora_memory.documents import Document
from aurora_memory.recall import Hit, Question
from aurora_memory.store.history import Commits
from aurora_memory.store.reading import ChunkView, Edge, Reader
from aurora_memory.tokens import words
from aurora_protocol.methods import Activation, ExplainResult, Link, Recalled

MAX_CONTENT_FILE = 8 << 20
_BACKWARDS = {
    "calls": "called by",
    "inherits": "inherited by",
    "contains": "contained in",
    "imports": "imported by",
    "used": "used by",
    "mentions": "mentioned in",
}


def iso(seconds: float | None) -> str | None:
    """Unix seconds as ISO 8601 in UTC."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def shown_id(chunk: ChunkView) -> str:
    """The id people see."""
    return chunk_id(chunk.path, chunk.name, chunk.line_start, chunk.line_end, chunk.kind)


def recalled(
    hit: Hit,
    root: Path,
    callers: int,
    content: str | UnsetType = UNSET,
    evidence: dict[str, Any] | UnsetType = UNSET,
) -> Recalled:
    """One hit for the wire."""
    chunk, activation = hit.chunk, hit.activation
    return Recalled(
        id=shown_id(chunk),
        type=type_of(chunk.kind),
        kind=chunk.kind,
        name=chunk.name,
        file=chunk.path,
        line_start=chunk.line_start,
        line_end=chunk.line_end,
        language=chunk.language,
        signature=chunk.signature,
        score=hit.score,
        activation=Activation(
            total=round(activation.total, 6),
            base_level=round(activation.base_level, 6),
            spreading=round(activation.spreading, 6),
            context_boost=round(activation.context_boost, 6),
            decay=round(activation.decay, 6),
            learned=round(activation.learned, 6),
        ),
        last_used=iso(hit.last_used),
        last_modified=iso(hit.last_modified),
        tokens=chunk.tokens,
        summary=summary(chunk),
        callers=callers,
        workspace=str(root),
        content=content,
        evidence=evidence,
    )


def explained(
    found: Recalled,
    chunk: ChunkView,
    document: Document,
    accesses: Sequence[float],
    commits: Commits | None,
    relations: Sequence[Link],
) -> ExplainResult:
    """Everything on one chunk for the wire."""
    plain = checking.plain(document)
    return ExplainResult(
        chunk=found,
        docstring=chunk.docstring,
        content=plain["content"],
        metadata=plain["metadata"],
        accesses=[document_making.iso_time(at) for at in accesses],
        commits=[document_making.iso_time(at) for at in commits.times] if commits and commits.last_hash else [],
        relations=list(relations),
        document=plain,
    )


def summary(chunk: ChunkView) -> str:
    """One line on what a chunk is for: the first sentence of its documentation, else its keywords."""
    for line in chunk.docstring.splitlines():
        if line.strip():
            return line.strip()[:160]
    return ", ".join(chunk.keywords.split()[:6])


def evidence_of(hit: Hit, commits: Mapping[int, Commits], own: bool) -> dict[str, Any]:
    """Why a hit scored as it did: the terms that matched, where an embedding ranks it, whence its base level comes."""
    known = commits.get(hit.chunk.id)
    near = hit.nearness
    return {
        "matchedTerms": list(hit.matched),
        "accesses": [iso(time) for time in hit.history[-10:]],
        "accessesFrom": "answers" if own else "git" if known else "file",
        "focus": {"lineStart": hit.focus[0], "lineEnd": hit.focus[1]},
        **({"semantic": {"rank": near.rank, "similarity": round(near.similarity, 4)}} if near is not None else {}),
    }


async def contents(root: Path, chunks: Sequence[ChunkView]) -> list[str]:
    """The chunks' text as it stands in their files now, the steps of reasoning; empty where a file cannot be read."""
    return await asyncio.to_thread(lambda: [_content(root, chunk) for chunk in chunks])


def _content(root: Path, chunk: ChunkView) -> str:
    if chunk.kind == "reasoning":
        return chunk.docstring
    try:
        with (root / chunk.path).open("rb") as file:
            source = file.read(MAX_CONTENT_FILE)
    except OSError:
        return ""
    lines = source.split(b"\n")[chunk.line_start - 1 : chunk.line_end]
    return b"\n".join(lines).decode("utf-8", "replace")


async def knowledge_of(root: Path, chunk: ChunkView, acquired: float) -> Document:
    """The document of a knowledge chunk (AURORA §6.3.5), read from its file as it stands now."""
    (text,) = await contents(root, [chunk])
    content = await asyncio.to_thread(_knowledge, chunk, text)
    tags = tagging.knowledge_tags(content.topic, (content.summary, *(fact.statement for fact in content.facts)))
    return document_making.knowledge_document(
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
    return knowledge_content(
        path=chunk.path,
        name=chunk.name,
        language=chunk.language,
        signature=chunk.signature,
        docstring=chunk.docstring,
        keywords=tuple(chunk.keywords.split()),
        text=text,
    )


def link(relation: str, chunk: ChunkView) -> Link:
    """A related chunk."""
    return Link(relation=relation, id=shown_id(chunk), name=chunk.name, file=chunk.path, line=chunk.line_start)


def links(edges: Sequence[Edge]) -> list[Link]:
    """A chunk's relations, named from its side; a file's module remainder goes by its file name."""
    return [link(edge.kind if edge.outgoing else _BACKWARDS[edge.kind], edge.other) for edge in edges]


def within_budget(hits: Sequence[Hit], budget: int | None) -> list[Hit]:
    """The best hits whose tokens fit the budget together."""
    if budget is None:
        return list(hits)
    kept: list[Hit] = []
    for hit in hits:
        if hit.chunk.tokens <= budget:
            kept.append(hit)
            budget -= hit.chunk.tokens
    return kept


async def hint(reader: Reader, question: Question, pending: int) -> str:
    """A sentence that helps when nothing was found: which word is unknown, what was meant, what is still to come."""
    asked = [word for word in dict.fromkeys(words(question.text)) if len(word) > 2]
    parts: list[str] = []
    for word in asked:
        names = await reader.names_with(word[:2])
        known = {piece for name in names for piece in words(name)} | {name.lower() for name in names}
        if word in known:
            continue
        near = difflib.get_close_matches(word, known, n=1, cutoff=0.75)
        suggestion = f"; did you mean '{near[0]}'?" if near else "."
        parts.append(f"No function mentions '{word}'{suggestion}")
        break
    if not parts:
        parts.append("Nothing in this workspace answers that; try other words, or the name of a function.")
    if pending:
        parts.append(f"{pending} file{'s are' if pending > 1 else ' is'} still being indexed.")
    return " ".join(parts)


def file_name(chunk: ChunkView) -> str:
    """What to call a chunk in a list of names."""
    return chunk.path.rsplit("/", 1)[-1] if chunk.name == MODULE_NAME else chunk.name
