"""Services of a workspace that a run is given (dependency injection): memory, agents, budget, deliverables, sessions,
settings, clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from aurora_deliverables.tracking import Tracking
from aurora_memory.documents import CitedSpan
from aurora_memory.learning import Feedback, FinishedRun, Learned
from aurora_orchestration.agents.registry import Registry
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.soar.checkpoint import RunStore
from aurora_orchestration.soar.sessions import Sessions
from aurora_orchestration.types import ContextChunk, LogSection


class Memory(Protocol):
    """Port to a workspace's memory. Recall never learns; only `learn` and `judge` write (§9.9)."""

    async def recall(
        self, query: str, *, budget: int, limit: int, types: Sequence[str] | None = None
    ) -> Sequence[ContextChunk]:
        """The best mix that fits `budget` tokens, best first, contents included."""

    async def logs(self, query: str, *, budget: int) -> Sequence[LogSection]:
        """Sections of earlier conversations, where recall alone is weak (§6.8.2.1)."""

    async def learn(self, run: FinishedRun) -> Learned:
        """Have memory learn from a finished run, once (§6.7, App. D)."""

    async def judge(self, judgement: Feedback) -> bool:
        """Take in what the user said of an answer, once (App. E); False where its pattern is gone."""

    async def difficult(self, query: str) -> bool:
        """Whether questions like this one failed and did not succeed since (App. D)."""

    async def cites(self, rows: Sequence[int]) -> Mapping[int, Sequence[CitedSpan]]:
        """The lines that the answers of those patterns rest on, as they were then, by row."""

    async def index_log(self, file: str, text: str, query_id: str, topic: str) -> None:
        """Make a conversation log findable. `file` is its path below the folder of logs."""

    async def forget_logs(self, files: Sequence[str]) -> None:
        """Logs that are deleted are not found any more."""


class Services(Struct, frozen=True, kw_only=True):
    """Services of a run, made by the server for each run, so that a reloaded configuration counts from the next one on.

    `settings` gives what is configured with the flags that a request names laid over it; a resumed run's flags are
    those it began with. `trusted`: agents that the workspace brings may run. `now` in Unix seconds, `random` in [0, 1).
    """

    workspace: Path
    home: Path
    memory: Memory
    registry: Callable[[], Registry]
    budget: Budget
    tracking: Tracking
    sessions: Sessions
    settings: Callable[[Mapping[str, str]], SoarSettings]
    trusted: bool
    environ: Mapping[str, str]
    now: Callable[[], float]
    random: Callable[[], float]

    @property
    def store(self) -> RunStore:
        """The files of this user's runs, and the answers kept for this workspace."""
        return RunStore(self.home, self.workspace)
