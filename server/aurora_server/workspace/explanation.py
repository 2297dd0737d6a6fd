"""All that memory knows of one chunk, for `aurora/explain` and hovers."""

from __future__ import annotations

import time
from pathlib import Path

from aurora_memory import UnknownChunk
from aurora_memory.chunks import type_of
from aurora_memory.document_builder import code_document
from aurora_memory.documents import Document
from aurora_memory.lifespans.policies import Policies
from aurora_memory.recall import weigh
from aurora_memory.recall.patterns import weigh_reasoning
from aurora_memory.recall.recall import STORED
from aurora_memory.store.reader import ChunkView, Reader
from aurora_protocol.methods import ExplainResult, Link
from aurora_server.workspace import recall_documents
from aurora_server.workspace.evidence import evidence_of

EDITED_WITH = 5
"""Chunks named as usually edited with another."""


async def explain_id(root: Path, reader: Reader, chunk_id: str, policies: Policies) -> ExplainResult:
    """Explain the chunk of that id, with or without its lines. Raises UnknownChunk."""
    if chunk_id.startswith("reas:"):
        return await _explain_reasoning(root, reader, chunk_id, policies)
    kind, path, name, lines = _taken_apart(chunk_id)
    found = [chunk for chunk in await reader.by_name(path, name) if type_of(chunk.kind) == kind]
    exact = [chunk for chunk in found if f"{chunk.line_start}-{chunk.line_end}" == lines]
    if not found:
        raise UnknownChunk(f"no chunk {chunk_id} in {root}; 'aur mem {name}' finds what there is")
    return await explain_chunk(root, reader, (exact or found)[0])


async def explain_chunk(root: Path, reader: Reader, chunk: ChunkView) -> ExplainResult:
    """Explain a stored chunk of a file."""
    now = time.time()
    (hit,) = await weigh(reader, [chunk], now)
    edges = await reader.edges(chunk.id)
    commits = (await reader.history.chunk_commits([chunk.id])).get(chunk.id)
    accesses = (await reader.accesses([chunk.id])).get(chunk.id, [])
    document: Document
    if type_of(chunk.kind) == "know":
        document = await recall_documents.knowledge_of(root, chunk, hit.last_modified or hit.history[-1])
    else:
        document = code_document(
            chunk,
            edges,
            await reader.references(chunk.id),
            [entry.module for entry in await reader.imports(chunk.path)],
            commits,
            hit.last_modified,
            accesses,
        )
    callers = await reader.caller_counts([chunk.id])
    (evidence,) = await evidence_of(reader, [hit], None, now)
    found = recall_documents.recalled(hit, root, callers.get(chunk.id, 0), evidence=evidence)
    related = [*recall_documents.links(edges), *await _edited_with(reader, chunk)]
    patterns = await recall_documents.patterns_of(reader, edges)
    return recall_documents.explained(found, chunk, document, accesses, commits, related, patterns)


async def _explain_reasoning(root: Path, reader: Reader, chunk_id: str, policies: Policies) -> ExplainResult:
    row = await reader.reasoning_named(chunk_id)
    if row is None:
        raise UnknownChunk(f"no chunk {chunk_id} in {root}; 'aur mem' with its words finds what there is")
    now = time.time()
    (hit,) = await weigh_reasoning(reader, [row], now, policies=policies)
    document = (await reader.reasoning([row]))[row]
    (evidence,) = await evidence_of(reader, [hit], None, now)
    recalled = recall_documents.recalled(hit, root, 0, evidence=evidence)
    edges = await reader.edges(row)
    return recall_documents.explained(recalled, hit.chunk, document, hit.history, None, recall_documents.links(edges))


async def _edited_with(reader: Reader, chunk: ChunkView) -> list[Link]:
    """What git says is usually changed together with a chunk."""
    shared = await reader.history.edited_with(chunk.id, EDITED_WITH)
    others = await reader.chunks([other for other, _ in shared])
    return [recall_documents.link("edited with", others[other]) for other, _ in shared if other in others]


def _taken_apart(chunk_id: str) -> tuple[str, str, str, str]:
    """`code:<path>:<name>[:<lines>]`, or `know:…` → type, path, name, lines. Raises UnknownChunk."""
    kind, _, rest = chunk_id.partition(":")
    parts = rest.rsplit(":", 2)
    if kind not in STORED or len(parts) < 2:
        raise UnknownChunk(f"{chunk_id!r} is not a chunk id; they look like code:src/auth.py:login:45-78")
    last = parts[-1]
    if len(parts) == 3 and last.replace("-", "", 1).isdigit():
        return kind, parts[0], parts[1], last
    path, _, name = rest.rpartition(":")
    return kind, path, name, ""
