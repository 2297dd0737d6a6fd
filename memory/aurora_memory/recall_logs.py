"""When memory answers weakly, conversation logs may tell more: references to read, never whole logs (§6.8.2.1)."""

from __future__ import annotations

from collections.abc import Sequence

from aurora_memory.logs import LogReference
from aurora_memory.recall import Hit, understand
from aurora_memory.store.reading import Reader

WEAK_SCORE = 0.4
"""The least score of a good answer, of 1.0. What covers a question's words stays above it even when long unused;
what shares a lone common word with it stays below."""


def weak(hits: Sequence[Hit]) -> bool:
    """Whether recall found nothing, or nothing good: no hit's score reaches 0.4."""
    return all(hit.score < WEAK_SCORE for hit in hits)


async def recall_logs(reader: Reader, query: str, hits: Sequence[Hit], limit: int = 5) -> list[LogReference]:
    """The log sections that tell most of what was asked, best first; nothing where `hits` are not weak."""
    if not weak(hits):
        return []
    return await reader.find_logs(understand(query).terms, limit)
