"""What the orchestrator of one workspace works with: handed in once by the server, used by every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from aurora_deliverables.projection import Tracking
from aurora_orchestration.agents.registry import Registry
from aurora_orchestration.guardrails.budget import Budget
from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.settings import SoarSettings
from aurora_orchestration.soar.memory_port import Memory
from aurora_orchestration.soar.sessions import Sessions


class Workbench(Struct, frozen=True, kw_only=True):
    """One workspace's memory, agents, budget and logs.

    `settings` and `registry` are asked once per run, so that a reloaded configuration counts from the next run on;
    `flagged` gives settings with what a request names laid over them. `trusted` says whether agents may run in the
    workspace. `now` in Unix seconds, `random` in [0, 1).
    """

    workspace: Path
    home: Path
    memory: Memory
    registry: Callable[[], Registry]
    budget: Budget
    tracking: Tracking
    sessions: Sessions
    settings: Callable[[], SoarSettings]
    trusted: Callable[[], bool]
    environ: Mapping[str, str]
    now: Callable[[], float]
    random: Callable[[], float]
    flagged: Callable[[Mapping[str, str]], SoarSettings] | None = None

    def settings_of(self, request: RunRequest) -> SoarSettings:
        """The settings of one run: also of one that goes on, whose answers so far are those of the model it named."""
        return self.flagged(request.flags) if self.flagged is not None and request.flags else self.settings()

    @property
    def runs(self) -> Path:
        """Where unfinished runs and their journals are."""
        return self.home / "runs"

    @property
    def answers(self) -> Path:
        """Where answers are that may be given again."""
        return self.home / "answers"
