"""Serialization of chunks: documents built of what memory holds (AURORA §6.3.5), for explanations and for runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import UNSET

from aurora_memory.chunk_validation import checked
from aurora_memory.chunks import chunk_id
from aurora_memory.documents import (
    AstSummary,
    CodeContent,
    CodeDocument,
    CodeMetadata,
    ConversationLogReference,
    Fact,
    Governance,
    KnowledgeContent,
    KnowledgeDocument,
    KnowledgeMetadata,
    ReasoningContent,
    ReasoningDocument,
    ReasoningMetadata,
    RetentionRule,
)
from aurora_memory.semantic_tags import Tags, code_tags, compliance_of, knowledge_tags

if TYPE_CHECKING:
    from aurora_memory.views import ChunkView, Commits, Edge

_DEPENDENCIES = frozenset({"calls", "inherits"})


def code_document(
    chunk: ChunkView,
    edges: Sequence[Edge] = (),
    references: Iterable[tuple[str, str, str]] = (),
    imports: Iterable[str] = (),
    commits: Commits | None = None,
    last_modified: float | None = None,
    accesses: Sequence[float] = (),
) -> CodeDocument:
    """The document of a code chunk, as the store's reader tells of it.

    `references` are (kind, name, qualifier), `imports` module names, `last_modified` and `accesses` (oldest first)
    Unix seconds. Raises InvalidChunkDocument where the store holds what no document can.
    """
    calls = [f"{qualifier}.{name}" if qualifier else name for kind, name, qualifier in references if kind == "calls"]
    tags = code_tags(chunk.name, chunk.kind, chunk.path, chunk.docstring, chunk.keywords.split(), calls)
    return checked(
        CodeDocument(
            id=chunk_id(chunk.path, chunk.name, chunk.line_start, chunk.line_end, chunk.kind),
            content=CodeContent(
                file=chunk.path,
                function=chunk.name,
                line_start=chunk.line_start,
                line_end=chunk.line_end,
                signature=chunk.signature,
                dependencies=tuple(
                    chunk_id(each.path, each.name, each.line_start, each.line_end, each.kind)
                    for edge, each in ((edge, edge.other) for edge in edges)
                    if edge.outgoing and edge.kind in _DEPENDENCIES
                ),
                imports=tuple(dict.fromkeys(module for module in imports if module)),
                calls=tuple(call for call in calls if call),
                ast_summary=AstSummary(
                    complexity=chunk.complexity,  # type: ignore[arg-type]  # held to be one of three by `checked`
                    branches=chunk.branches,
                    loops=chunk.loops,
                ),
            ),
            metadata=CodeMetadata(
                language=chunk.language,
                last_modified=None if last_modified is None else iso_time(last_modified),
                git_hash=(commits.last_hash or None) if commits else None,
                semantic_role=tags.semantic_role,
                keywords=tags.keywords,
                domain=tags.domain,
            ),
            governance=_governance((), (_rule("access_count > 0", "retain_while_active"),), tags.domain),
            last_accessed=iso_time(accesses[-1]) if accesses else None,
            access_count=len(accesses),
        )
    )


def reasoning_document(
    name: str,
    content: ReasoningContent,
    tags: Tags,
    at: float,
    *,
    is_pattern: bool,
    flagged: bool = True,
    execution_time_ms: float = 0.0,
    total_cost_usd: float = 0.0,
    log: ConversationLogReference | None = None,
) -> ReasoningDocument:
    """The document of what a run that ended at `at` (Unix seconds) teaches; `flagged`: with its confidence.

    Raises InvalidChunkDocument.
    """
    mark = "high-confidence-pattern" if is_pattern else "partial-success"
    rules = (
        _rule("is_pattern == true", "retain_indefinitely"),
        _rule("success_score >= 0.8", "retain_for_365_days"),
        _rule("access_count > 10", "escalation_candidate"),
    )
    return checked(
        ReasoningDocument(
            id=f"reas:{name}",
            content=content,
            metadata=ReasoningMetadata(
                timestamp=iso_time(at),
                execution_time_ms=execution_time_ms,
                total_cost_usd=total_cost_usd,
                semantic_role=tags.semantic_role,
                keywords=tags.keywords,
                domain=tags.domain,
            ),
            governance=_governance((mark,), rules, tags.domain),
            conversation_log_reference=log,
            created_at=iso_time(at),
            is_pattern=is_pattern,
            confidence=UNSET if not flagged else "high" if is_pattern else "partial",
        )
    )


def knowledge_document(
    name: str,
    topic: str,
    summary: str,
    statements: Sequence[str],
    sources: Sequence[str],
    confidence: float,
    acquired: float,
    *,
    validated: bool = False,
    tags: Tags | None = None,
    log: ConversationLogReference | None = None,
) -> KnowledgeDocument:
    """Knowledge document: facts on a topic. `confidence` in [0, 1], `acquired` in Unix seconds.

    Raises InvalidChunkDocument.
    """
    told = tags or knowledge_tags(topic, (summary, *statements))
    rules = (
        _rule("confidence >= 0.8", "retain_for_180_days"),
        _rule("access_count > 5", "escalation_candidate"),
    )
    return checked(
        KnowledgeDocument(
            id=f"know:{name}",
            content=KnowledgeContent(
                topic=topic,
                summary=summary,
                facts=tuple(Fact(id=f"F{n}", statement=each) for n, each in enumerate(statements, start=1)),
                sources=tuple(sources),
                confidence=confidence,
            ),
            metadata=KnowledgeMetadata(
                acquired=iso_time(acquired),
                validated=validated,
                semantic_role=told.semantic_role,
                keywords=told.keywords,
                domain=told.domain,
            ),
            governance=_governance(("validated",) if validated else (), rules, told.domain),
            conversation_log_reference=log,
        )
    )


def iso_time(seconds: float) -> str:
    """Unix seconds as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _governance(tags: Sequence[str], rules: Sequence[RetentionRule], domain: str) -> Governance:
    """Rules of a chunk's type, and those that security and idleness ask of any."""
    critical = compliance_of(domain)
    return Governance(
        compliance_tags=(*tags, *critical),
        lifespan_policy="conditional",
        retention_rules=(
            *rules,
            *((_rule("contains_tag('security')", "retain_for_365_days"),) if critical else ()),
            _rule("inactive_for_90_days", "decay_to_inactive"),
        ),
    )


def _rule(condition: str, action: str) -> RetentionRule:
    return RetentionRule(when=condition, then=action)
