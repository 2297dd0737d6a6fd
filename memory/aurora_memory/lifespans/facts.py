"""Facts of a chunk for lifespan conditions: what conditions can ask of a chunk: its facts, and the names they go by
(AURORA §6.3.5, §6.3.6).
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from aurora_memory.lifespans.lifespan import LifespanRule
from aurora_protocol.spelling import OF_FEW, closest

ChunkType = Literal["code", "reasoning", "knowledge"]


class ChunkFacts(Struct, frozen=True):
    """Facts of one chunk, as lifespans see it. `id` is its row; times are Unix seconds; None is "unknown for this
    chunk".

    `made_at` is when it was learned or, for code, last changed. `last_used` is its last access; for a chunk without
    accesses of its own the caller may give its last commit (ruling: commits stand in for accesses). `mirrors_file` says
    of knowledge that it was cut from a file which is still there. `tags` are compliance tags, `keywords` are separated
    by spaces as they are stored, `rules` are the chunk's own.
    """

    id: int
    type: ChunkType
    access_count: int = 0
    last_used: float | None = None
    made_at: float | None = None
    mirrors_file: bool = False
    is_pattern: bool | None = None
    success_score: float | None = None
    confidence: float | None = None
    commits: int | None = None
    domain: str | None = None
    semantic_role: str | None = None
    complexity: str | None = None
    language: str | None = None
    path: str | None = None
    tags: tuple[str, ...] = ()
    keywords: str = ""
    rules: tuple[LifespanRule, ...] = ()

    @property
    def last_active(self) -> float | None:
        """The last access or, before the first one, when it was made: to learn is to see for the first time."""
        return self.made_at if self.last_used is None else self.last_used

    @property
    def stays(self) -> bool:
        """Whether age alone must not take it out of memory, because its file still says it."""
        return self.type == "code" or self.mirrors_file


class Property(Struct, frozen=True):
    """A name that conditions may compare: what it holds, the field of ChunkFacts, and the only texts it can have.

    `days` properties are times in ChunkFacts and days until now in conditions; `otherwise` is the field to take where
    the first one is not known.
    """

    name: str
    kind: Literal["flag", "number", "days", "text"]
    field: str
    values: tuple[str, ...] = ()
    otherwise: str | None = None


PROPERTIES: dict[str, Property] = {
    each.name: each
    for each in (
        Property("is_pattern", "flag", "is_pattern"),
        Property("success_score", "number", "success_score"),
        Property("confidence", "number", "confidence"),
        Property("access_count", "number", "access_count"),
        Property("commits", "number", "commits"),
        Property("last_accessed_days", "days", "last_used", otherwise="made_at"),
        Property("age_days", "days", "made_at"),
        Property("type", "text", "type", ("code", "reasoning", "knowledge")),
        # Code says low to high (§6.3.5), reasoning simple to critical (§5): one word means two scales.
        Property("complexity", "text", "complexity", ("low", "medium", "high", "simple", "complex", "critical")),
        Property("domain", "text", "domain"),
        Property("semantic_role", "text", "semantic_role"),
        Property("language", "text", "language"),
        Property("path", "text", "path"),
    )
}

ALIASES = {"score": "success_score"}
"""Second names; App. C.2 says `score`."""


def did_you_mean(name: str, known: list[str]) -> str:
    """Suggestion for a typo: `; did you mean 'x'?` where one of `known` is spelt much like `name`, else nothing."""
    near = closest(name, known, OF_FEW)
    return f"; did you mean '{near}'?" if near else ""
