"""Drift of what was learned (stale knowledge): patterns whose cited lines have changed since, and the lines an answer
of now cites.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from aurora_memory.documents import CitedSpan
from aurora_orchestration.soar.answer_cache import AnswerCache
from aurora_orchestration.soar.cited_spans import drifted_of, spans_of
from aurora_orchestration.soar.services import Memory
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import ContextBundle


async def told_of_drift(
    context: ContextBundle, memory: Memory, workspace: WorkspaceText, notice: Callable[[str], None]
) -> ContextBundle:
    """Stale patterns marked in the context: those whose cited lines have changed since."""
    rows = [chunk.row for chunk in context.chunks if chunk.type == "reas"]
    cites = await memory.cites(rows) if rows else {}
    chunks = list(context.chunks)
    for number, chunk in enumerate(chunks):
        places = await asyncio.to_thread(drifted_of, cites.get(chunk.row, ()), workspace)
        if places:
            told = f"drifted: {', '.join(places[:3])} changed since this was learned"
            chunks[number] = replace(chunk, content=f"({told})\n{chunk.content}")
            notice(f"{chunk.id} has {told}")
    return replace(context, chunks=tuple(chunks))


async def cited_of(
    answer: str, context: ContextBundle, files: dict[str, str], answers: AnswerCache, workspace: WorkspaceText
) -> tuple[CitedSpan, ...]:
    """The lines that an answer rests on, as they were when it was worked out: `files` are the digests of then.

    None where that is not known.
    """
    found = await asyncio.to_thread(spans_of, [answer], context, workspace)
    # What was saved while agents were at work is not what they saw.
    return (found or ()) if await asyncio.to_thread(answers.digests, context) == files else ()
