"""Nobody: the user of a run that has none."""

from __future__ import annotations

from aurora_orchestration.types import Nobody


async def ask_nobody(question: str) -> str:
    """Raises `Nobody`, whatever is asked."""
    raise Nobody(f"nobody is there to answer: {question[:200]}")
