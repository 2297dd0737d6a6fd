"""SOAR memory (adapter): a workspace's memory as a run sees it: what is recalled comes with its text, within a token
budget.
"""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path

from msgspec import UNSET

from aurora_memory.chunk_text import cost
from aurora_memory.chunks import type_of
from aurora_memory.conversation_logs import LogReference
from aurora_memory.documents import CitedSpan
from aurora_memory.learning import Feedback, FinishedRun, Learned
from aurora_memory.recall import parse_question
from aurora_memory.recall.conversation_logs import recall_logs
from aurora_memory.record.transfer import PatternMatch
from aurora_memory.store import Store, learned_reader
from aurora_orchestration.types import ContextChunk, LogSection
from aurora_protocol.methods import RecallParams
from aurora_server.workspace import recall_documents
from aurora_server.workspace.colleagues import PatternState
from aurora_server.workspace.recall import MemoryRecall
from aurora_server.workspace.transferred_patterns import recalled
from aurora_server.workspace.wire import shown_id

MAX_LOG_BYTES = 8 << 20
MAX_SECTION_LINES = 200


class SoarMemory:
    """A workspace's memory, as a run asks it (`soar.services.Memory`). `logs_folder` holds the conversation logs.

    `ready` waits until the workspace was indexed once: a run that costs something should know what it asks about.
    `transferred` has the patterns of other repositories that fit a question: they are told where patterns alone are
    asked for, with where they are from.
    """

    def __init__(
        self,
        recall: MemoryRecall,
        store: Store,
        logs_folder: Callable[[], Path],
        ready: Callable[[], Awaitable[object]],
        transferred: Callable[[str], Awaitable[Sequence[PatternMatch]]],
    ) -> None:
        self._recall = recall
        self._store = store
        self._logs_folder = logs_folder
        self._ready = ready
        self._transferred = transferred

    async def recall(
        self, query: str, *, budget: int, limit: int, types: Sequence[str] | None = None
    ) -> Sequence[ContextChunk]:
        """The best mix that fits `budget` tokens, best first, contents included."""
        await self._ready()
        params = RecallParams(
            query=query, limit=limit, types=None if types is None else list(types), budget_tokens=budget
        )
        own = [
            ContextChunk(
                row=hit.chunk.id,
                id=shown_id(hit.chunk),
                type=type_of(hit.chunk.kind),
                name=hit.chunk.name,
                file=hit.chunk.path,
                line_start=hit.chunk.line_start,
                line_end=hit.chunk.line_end,
                score=hit.score,
                tokens=text.tokens,
                content=_told(state, text.content),
                summary=recall_documents.summary(hit.chunk),
                activation=hit.activation.total,
            )
            for hit, text, state in await self._recall.with_texts(params)
        ]
        if types is None or tuple(types) != ("reas",):
            return own
        left = budget - sum(chunk.tokens for chunk in own)
        return [*own, *_fitting(await self._transferred(query), {chunk.id for chunk in own}, left)][:limit]

    async def logs(self, query: str, *, budget: int) -> Sequence[LogSection]:
        """Sections of earlier conversations that tell of `query`, best first, within `budget` tokens."""
        found = await self._store.read(recall_logs, parse_question(query), ())
        return await asyncio.to_thread(self._sections, found, budget)

    async def learn(self, run: FinishedRun) -> Learned:
        """Have memory learn from a finished run, once."""
        return await self._store.learn(run)

    async def judge(self, judgement: Feedback) -> bool:
        """Take in what the user said of an answer, once; False where its pattern is gone."""
        return await self._store.judge(judgement)

    async def difficult(self, query: str) -> bool:
        """Whether questions like this one failed and did not succeed since."""
        return await self._store.read(learned_reader.difficult, query, time.time())

    async def cites(self, rows: Sequence[int]) -> Mapping[int, Sequence[CitedSpan]]:
        """The lines that the answers of those patterns rest on, as they were then, by row."""
        documents = await self._store.read(learned_reader.reasoning, rows)
        return {row: document.content.cites for row, document in documents.items()}

    async def index_log(self, file: str, text: str, query_id: str, topic: str) -> None:
        """Make a conversation log findable."""
        await self._store.index_log(file, text, query_id, topic)

    async def forget_logs(self, files: Sequence[str]) -> None:
        """Logs that are deleted are not found any more."""
        await self._store.forget_logs(files)

    def _sections(self, found: Sequence[LogReference], budget: int) -> list[LogSection]:
        """Sections of logs, as many as fit the token budget."""
        folder = self._logs_folder()
        sections: list[LogSection] = []
        left = budget
        for one in found:
            content = "\n".join(_lines(folder, one.file)[one.line_start - 1 : one.line_end][:MAX_SECTION_LINES])
            tokens = cost(content)
            if not content or tokens > left:
                continue
            left -= tokens
            sections.append(
                LogSection(
                    file=one.file,
                    section=one.section,
                    line_start=one.line_start,
                    line_end=one.line_end,
                    content=content,
                    tokens=tokens,
                    score=one.score,
                )
            )
        return sections


def _told(state: PatternState | None, content: str) -> str:
    """What is told of a pattern: whose it is stands before it, where a colleague learned it."""
    if state is None or state.provenance is None:
        return content
    who = state.provenance.name or "a colleague"
    return f"({who} learned this on {state.provenance.at[:10]}; weigh it as a colleague's word)\n{content}"


def _fitting(matches: Sequence[PatternMatch], known: Collection[str], budget: int) -> list[ContextChunk]:
    """Patterns of other repositories that are not known here, as many as fit a budget of tokens."""
    found: list[ContextChunk] = []
    for number, match in enumerate(matches, 1):
        one = recalled(match, time.time(), content=True)
        if one.id in known or one.tokens > budget or one.content is UNSET:
            continue
        budget -= one.tokens
        found.append(
            ContextChunk(
                row=-number,  # no chunk of this memory: nothing is learned of it here
                id=one.id,
                type="reas",
                name=one.name,
                file="",
                line_start=0,
                line_end=0,
                score=one.score,
                tokens=one.tokens,
                content=one.content,
                summary=one.summary,
                activation=one.activation.total,
            )
        )
    return found


def _lines(folder: Path, file: str) -> list[str]:
    """A log's lines, compressed since or not; none where it is gone or is not below the folder."""
    path = folder / file
    try:
        if not path.resolve().is_relative_to(folder.resolve()):
            return []
        if path.is_file():
            with path.open("rb") as plain:
                data = plain.read(MAX_LOG_BYTES)
        else:
            with gzip.open(path.with_name(path.name + ".gz"), "rb") as packed:
                data = packed.read(MAX_LOG_BYTES)
    except (OSError, EOFError, zlib.error, ValueError, RuntimeError):  # deleted, no archive any more, no path at all
        return []
    return data.decode("utf-8", "replace").splitlines()
