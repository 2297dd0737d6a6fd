"""Chunks as documents: the JSON that AURORA §6.3.5 and §6.3.6 fix for code, reasoning and knowledge.

The structs here and the schemas `code-chunk`, `reasoning-chunk` and `knowledge-chunk` give one verdict. What a schema
cannot say (a first line not after the last, a number that is none) both leave to the structs.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

_TIME = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$"
)

Text = Annotated[str, Meta(min_length=1)]
Time = Annotated[str, Meta(pattern=_TIME)]
Line = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0)]
Short = Annotated[str, Meta(min_length=1, max_length=100)]
Named = Annotated[str, Meta(min_length=1, max_length=200)]

CodeId = Annotated[str, Meta(pattern=r"^code:[\s\S]+:[\s\S]+")]
ReasoningId = Annotated[str, Meta(pattern=r"^reas:[^\s:]+(:v[1-9][0-9]{0,5})?$")]
KnowledgeId = Annotated[str, Meta(pattern=r"^know:[^\s:]")]

Keywords = Annotated[tuple[Text, ...], Meta(max_length=7)]
Domain = Annotated[str, Meta(pattern="^[a-z][a-z0-9-]{0,63}$")]
Complexity = Literal["simple", "medium", "complex", "critical"]
VerificationOption = Literal["option_a", "option_b", "option_c"]


class DocumentPart(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Part of a chunk document: frozen, and without members that nobody knows."""


class RetentionRule(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Retention rule: a condition on a chunk and what then happens: `access_count > 10`, `escalation_candidate`."""

    when: Annotated[str, Meta(min_length=1, max_length=500)] = field(name="if")
    then: Annotated[
        str,
        Meta(
            pattern="^(retain_indefinitely|retain_while_active|retain_for_[1-9][0-9]{0,4}_days|decay_to_inactive"
            "|escalation_candidate)$"
        ),
    ]


class Governance(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Governance of a chunk: how long it is kept, and what it must comply with (AURORA §6.3.6)."""

    compliance_tags: Annotated[tuple[Text, ...], Meta(max_length=50)]
    lifespan_policy: Literal["conditional", "time-based", "indefinite"]
    retention_rules: Annotated[tuple[RetentionRule, ...], Meta(max_length=50)]


class ConversationLogReference(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Place in the conversation logs that a chunk comes from. Lines are 1-based, inclusive."""

    date: Annotated[str, Meta(pattern="^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$")]
    file: Annotated[str, Meta(min_length=1, max_length=1000)]
    section: Annotated[str, Meta(min_length=1, max_length=500)]
    line_range: tuple[Line, Line]

    def __post_init__(self) -> None:
        _in_order(*self.line_range)


class AstSummary(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Complexity of a definition, as its document says it."""

    complexity: Literal["low", "medium", "high"]
    branches: Count
    loops: Count


class CodeContent(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of a code chunk. `dependencies` are ids of chunks, `calls` names as written."""

    file: Text
    function: Text
    line_start: Line
    line_end: Line
    signature: str
    dependencies: tuple[CodeId, ...]
    imports: tuple[Text, ...]
    calls: tuple[Text, ...]
    ast_summary: AstSummary

    def __post_init__(self) -> None:
        _in_order(self.line_start, self.line_end)


class CodeMetadata(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Metadata of a code chunk: how it is found, and when it last changed (None where nobody knows)."""

    language: Text
    last_modified: Time | None
    git_hash: Annotated[str, Meta(pattern="^[0-9a-f]{4,64}$")] | None
    semantic_role: Named
    keywords: Keywords
    domain: Domain


class PatternSubgoal(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Subgoal of a reasoning pattern: one step of a decomposition."""

    id: Short
    description: Annotated[str, Meta(min_length=1, max_length=4000)]
    agent: Named


class ToolUse(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tools that one step used, in the order of their first use."""

    subgoal: Short
    agent: Named
    tools: Annotated[tuple[Named, ...], Meta(max_length=100)]


class CitedSpan(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Cited span (citation, evidence): lines that an answer rests on, by hashes (hexadecimal), so that it is seen when
    they change.

    `hash` is of its `lines` lines that are not blank, without what all of them are indented by; `headings` of the lines
    it stands under; `squeezed` of its `length` characters that are no white space. `copies` of it stood in the file.
    """

    file: Annotated[str, Meta(min_length=1, max_length=1000)]
    line_start: Line
    line_end: Line
    lines: Count
    hash: Annotated[str, Meta(pattern="^[0-9a-f]{16,64}$")]
    headings: Annotated[str, Meta(pattern="^[0-9a-f]{16,64}$")]
    squeezed: Annotated[str, Meta(pattern="^[0-9a-f]{16,64}$")]
    length: Count
    copies: Count = 1

    def __post_init__(self) -> None:
        _in_order(self.line_start, self.line_end)


class ReasoningContent(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Content of a reasoning chunk: question and decomposition; `success_score` is the answer's verification score.

    `cites` are the lines its answer rests on; documents from before there were any have none.
    """

    pattern: Named
    original_query: Annotated[str, Meta(min_length=1, max_length=20_000)]
    complexity: Complexity
    subgoals: Annotated[tuple[PatternSubgoal, ...], Meta(min_length=1, max_length=100)]
    tools_used: Annotated[tuple[ToolUse, ...], Meta(max_length=200)]
    tool_sequence: Annotated[tuple[Named, ...], Meta(max_length=1000)]
    success_score: Share
    verification_option: VerificationOption | None
    cites: Annotated[tuple[CitedSpan, ...], Meta(max_length=200)] = ()

    def __post_init__(self) -> None:
        _finite(self.success_score)


class ReasoningMetadata(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Metadata of a reasoning chunk: what its run took, and how it is found."""

    timestamp: Time
    execution_time_ms: Amount
    total_cost_usd: Amount
    semantic_role: Named
    keywords: Keywords
    domain: Domain

    def __post_init__(self) -> None:
        _finite(self.execution_time_ms, self.total_cost_usd)


class Fact(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fact: one statement; `id` is `F1`, `F2`, … in the order of the text."""

    id: Short
    statement: Annotated[str, Meta(min_length=1, max_length=10_000)]


class KnowledgeContent(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Content of a knowledge chunk: what is known of a topic, where from, and how surely."""

    topic: Annotated[str, Meta(min_length=1, max_length=1000)]
    summary: Annotated[str, Meta(min_length=1, max_length=10_000)]
    facts: Annotated[tuple[Fact, ...], Meta(max_length=500)]
    sources: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=4000)], ...], Meta(max_length=200)]
    confidence: Share

    def __post_init__(self) -> None:
        _finite(self.confidence)


class KnowledgeMetadata(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Metadata of a knowledge chunk: when its facts were taken in, and how they are found."""

    acquired: Time
    validated: bool
    semantic_role: Named
    keywords: Keywords
    domain: Domain


class _Chunk(DocumentPart, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="type"):
    """Members of every document beside its content. Times are ISO 8601; `access_count` counts runs it was of use to."""

    governance: Governance
    conversation_log_reference: ConversationLogReference | None = None
    created_at: Time | None = None
    last_accessed: Time | None = None
    access_count: Count = 0


class CodeDocument(_Chunk, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag="code"):
    """A code chunk (AURORA §6.3.5)."""

    id: CodeId
    content: CodeContent
    metadata: CodeMetadata


class ReasoningDocument(
    _Chunk, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=False, tag="reasoning"
):
    """A reasoning chunk (AURORA §6.3.5, §6.8.1). `confidence` is `partial` for what went only partly well,
    and absent where it is not to be kept.
    """

    id: ReasoningId
    content: ReasoningContent
    metadata: ReasoningMetadata
    is_pattern: bool = False
    confidence: Literal["high", "partial"] | UnsetType = UNSET


class KnowledgeDocument(
    _Chunk, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True, tag="knowledge"
):
    """A knowledge chunk (AURORA §6.3.5)."""

    id: KnowledgeId
    content: KnowledgeContent
    metadata: KnowledgeMetadata


Document = CodeDocument | ReasoningDocument | KnowledgeDocument


def _in_order(first: int, last: int) -> None:
    """Validation of a range of lines. Raises ValueError."""
    if first > last:
        raise ValueError(f"the first line, {first}, comes after the last, {last}")


def _finite(*numbers: float) -> None:
    """Validation of numbers: no NaN, no infinity. Raises ValueError."""
    for number in numbers:
        if not math.isfinite(number):
            raise ValueError(f"{number} is not a number a document can hold")
