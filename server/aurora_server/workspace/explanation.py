"""Explanation of one chunk: all that memory knows of it, for `aurora/explain` and hovers, asked in one call."""

from __future__ import annotations

import re
import time
from pathlib import Path

from aurora_memory import UnknownChunk
from aurora_memory.chunks import MODULE_NAME, type_of
from aurora_memory.document_builder import code_document
from aurora_memory.documents import Document
from aurora_memory.lifespans.evaluate import judge
from aurora_memory.lifespans.policies import BUILT_IN, Policies
from aurora_memory.module_paths import stem
from aurora_memory.recall import parse_question, relation_answer, weigh, with_uses_of_others
from aurora_memory.recall.mentions import without_unknown_fronts
from aurora_memory.recall.overloads import without_declarations
from aurora_memory.recall.patterns import weigh_reasoning
from aurora_memory.recall.places import below, is_test, meant
from aurora_memory.recall.recall import STORED
from aurora_memory.recall.spaced_paths import with_whole_places
from aurora_memory.store import chunk_reader, commit_reader, file_reader, learned_reader, relation_reader
from aurora_memory.store.lifespans import lifespan_facts
from aurora_memory.store.reader import Reader
from aurora_memory.views import ChunkView, UsageCounts
from aurora_protocol.human_text import shorten
from aurora_protocol.methods import ExplainResult, RelatedChunk
from aurora_server.workspace import recall_documents
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.evidence import evidence_of
from aurora_server.workspace.symbol_at import innermost

_ID_STARTS = tuple(f"{each}:" for each in STORED)

_KIND = re.compile(r"(?:class|enum|interface|macro|module|namespace|object|record|struct|trait|type)\s+(?=\S+$)")
"""What answers print before a name."""

EDITED_WITH = 5
"""Chunks named as usually edited with another."""


def explain_id(reader: Reader, root: Path, chunk_id: str, colleagues: Colleagues, policies: Policies) -> ExplainResult:
    """Explain the chunk of that id, with or without its lines, of that name or at that place. Raises UnknownChunk."""
    if chunk_id.startswith("reas:"):
        return _explain_reasoning(reader, root, chunk_id, colleagues, policies)
    return explain_chunk(reader, root, chunk_named(reader, root, chunk_id), colleagues, policies)


def chunk_named(reader: Reader, root: Path, named: str) -> ChunkView:
    """The stored chunk of that id, with or without its lines, of that name or at that place. Raises UnknownChunk."""
    if not named.startswith(_ID_STARTS):
        return _meant(reader, root, named)
    kind, path, name, lines = _taken_apart(named)
    found = [chunk for chunk in chunk_reader.by_name(reader, path, name) if type_of(chunk.kind) == kind]
    exact = [chunk for chunk in found if f"{chunk.line_start}-{chunk.line_end}" == lines]
    if not found:
        raise UnknownChunk(f"no chunk {named} in {root}; 'aur mem {name}' finds what there is")
    return (exact or without_declarations(found))[0]


def _meant(reader: Reader, root: Path, text: str) -> ChunkView:
    """The chunk that a name or place (`src/auth.py:45`) means, of several the most used. Raises UnknownChunk."""
    question = with_whole_places(reader, parse_question(below(str(root), text)))
    if (missing := recall_documents.missing_place(reader, question, 0)) is not None:
        raise UnknownChunk(missing)
    for place in question.places:
        for path in file_reader.files_like(reader, place.path, 1):
            chunks = chunk_reader.of_file(reader, path)
            if (at := place.line) is not None and place.name is None and (found := innermost(chunks, at - 1)):
                return found
            standing = without_declarations(meant([place], chunks))
            if place.name is None and place.line is None:  # a file, by its remainder or what is called so
                standing.sort(key=lambda each: (each.name != MODULE_NAME, each.name != stem(each.path)))
            if standing:
                return standing[0]
    name = re.sub(r"::|->|#", ".", _KIND.sub("", text.strip()).removesuffix("()"))
    leaf = name.rpartition(".")[2]
    named = _called(reader, name) or [
        each
        for each in _called(reader, leaf)
        if relation_answer.is_of_module(each, name)  # as Go spells it
    ]
    if not named:
        named = next((some for end in without_unknown_fronts(reader, name) if (some := _called(reader, end))), [])
    if not named:
        near = relation_answer.near_name(reader, leaf)
        said = f"; did you mean {near!r}?" if near else f"; 'aur mem {name}' finds what there is"
        raise UnknownChunk(f"nothing here is called {shorten(text, 200)!r}{said}")
    usages = relation_reader.usages(reader, [each.id for each in named])
    return min(named, key=lambda each: (-usages.get(each.id, UsageCounts()).callers, is_test(each.path), each.path))


def _called(reader: Reader, name: str) -> list[ChunkView]:
    named = [each for each in chunk_reader.named(reader, [name]) if f".{each.name}".endswith(f".{name}")]
    return without_declarations(named)


def explain_chunk(
    reader: Reader, root: Path, chunk: ChunkView, colleagues: Colleagues, policies: Policies = BUILT_IN
) -> ExplainResult:
    """Explain a stored chunk of a file."""
    now = time.time()
    (hit,) = with_uses_of_others(reader, weigh(reader, [chunk], now), now)
    edges = relation_reader.edges(reader, chunk.id)
    commits = commit_reader.chunk_commits(reader, [chunk.id]).get(chunk.id)
    accesses = chunk_reader.accesses(reader, [chunk.id]).get(chunk.id, [])
    document: Document
    if type_of(chunk.kind) == "know":
        document = recall_documents.knowledge_of(root, chunk, hit.last_modified or max(hit.history, default=now))
    else:
        document = code_document(
            chunk,
            edges,
            relation_reader.references(reader, chunk.id),
            [entry.module for entry in relation_reader.imports(reader, chunk.path)],
            commits,
            hit.last_modified,
            accesses,
        )
    usage = relation_reader.usages(reader, [chunk.id]).get(chunk.id, UsageCounts())
    (evidence,) = evidence_of(reader, [hit], None, now, colleagues)
    found = recall_documents.recalled(hit, root, usage, evidence=evidence)
    related = [*recall_documents.links(edges), *_edited_with(reader, chunk)]
    patterns = recall_documents.patterns_of(reader, edges, colleagues)
    verdict = judge(lifespan_facts(reader, [chunk.id])[chunk.id], policies, now)
    return recall_documents.explained(found, chunk, document, accesses, commits, related, patterns, verdict)


def _explain_reasoning(
    reader: Reader, root: Path, chunk_id: str, colleagues: Colleagues, policies: Policies
) -> ExplainResult:
    row = learned_reader.reasoning_named(reader, chunk_id)
    if row is None:
        raise UnknownChunk(f"no chunk {chunk_id} in {root}; 'aur mem' with its words finds what there is")
    now = time.time()
    (hit,) = weigh_reasoning(reader, [row], now, policies=policies)
    document = learned_reader.reasoning(reader, [row])[row]
    (evidence,) = evidence_of(reader, [hit], None, now, colleagues)
    state = colleagues.patterns(reader, [row])[row]
    recalled = recall_documents.recalled(hit, root, UsageCounts(), evidence=evidence, state=state)
    edges = relation_reader.edges(reader, row)
    verdict = judge(lifespan_facts(reader, [row])[row], policies, now)
    related = recall_documents.links(edges)
    return recall_documents.explained(recalled, hit.chunk, document, hit.history, None, related, verdict=verdict)


def _edited_with(reader: Reader, chunk: ChunkView) -> list[RelatedChunk]:
    """Co-changes of a chunk: what git says is usually changed together with it."""
    shared = commit_reader.edited_with(reader, chunk.id, EDITED_WITH)
    others = chunk_reader.by_id(reader, [other for other, _ in shared])
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
