"""What a run asks of memory. The server's workspace answers; tests may stand on a Store directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aurora_memory.learning import FinishedRun, Judgement, Learned
from aurora_orchestration.types import ContextChunk, LogSection


class Memory(Protocol):
    """A workspace's memory, as the orchestrator sees it. Recall never learns; only `learn` and `judge` write (§9.9)."""

    async def recall(
        self, query: str, *, budget: int, limit: int, types: Sequence[str] | None = None
    ) -> Sequence[ContextChunk]:
        """The best mix that fits `budget` tokens, best first, contents included."""

    async def logs(self, query: str, *, budget: int) -> Sequence[LogSection]:
        """Sections of earlier conversations, where recall alone is weak (§6.8.2.1)."""

    async def learn(self, run: FinishedRun) -> Learned:
        """Have memory learn from a finished run, once (§6.7, App. D)."""

    async def judge(self, judgement: Judgement) -> bool:
        """Take in what the user said of an answer, once (App. E); False where its pattern is gone."""

    async def difficult(self, query: str) -> bool:
        """Whether questions like this one failed and did not succeed since (App. D)."""

    async def index_log(self, file: str, text: str, query_id: str, topic: str) -> None:
        """Make a conversation log findable. `file` is its path below the folder of logs."""

    async def forget_logs(self, files: Sequence[str]) -> None:
        """Logs that are deleted are not found any more."""
