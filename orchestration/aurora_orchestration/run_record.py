"""Run record of the orchestrator (trace of a whole run): what was asked, what every phase did, and what came of it."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from msgspec import Struct

from aurora_memory.learning import Learned
from aurora_orchestration.types import (
    Assessment,
    Complexity,
    ContextBundle,
    ModelCall,
    Plan,
    RoutingPlan,
    SubgoalResult,
    Synthesis,
    VerificationOption,
)

State = Literal["complete", "partial", "failed", "blocked", "cancelled", "interrupted", "no_provider", "dry_run"]
Mode = Literal["user_invoked", "always_on", "headless"]


class RunRequest(Struct, frozen=True, kw_only=True):
    """A question for the nine phases.

    `session` ties questions together: what the next one says of the last answer (App. E) is looked at within it. With
    `dry_run` the run stops before its first paid call; with `auto` only a complex question takes the whole way, and a
    medium one is answered directly as a simple one is (§9.9 mode 1). `resume` is the id of an interrupted run that is
    to be gone on with.
    `llm_provider` and `llm_model` name another model than the configured one, for this run.
    """

    query: str
    session: str = ""
    mode: Mode = "user_invoked"
    verification: VerificationOption | None = None
    dry_run: bool = False
    force: bool = False
    auto: bool = False
    resume: str | None = None
    llm_provider: str = ""
    llm_model: str = ""

    @property
    def flags(self) -> dict[str, str]:
        """What it names, as configuration takes it."""
        named = {"llm_provider": self.llm_provider, "llm_model": self.llm_model}
        return {flag: value for flag, value in named.items() if value}


class PhaseRecord(Struct, frozen=True, kw_only=True):
    """Record of one phase: input and output as the conversation log shows them (§9.7). Plain JSON, secrets redacted.

    `phase` is `guard`, one of the nine, or `verify_output`, `verify_synthesis`. `at` in Unix seconds.
    """

    phase: str
    at: float
    duration_ms: float
    input: dict[str, Any] = {}
    output: dict[str, Any] = {}


class RunRecord(Struct, frozen=True, kw_only=True):
    """A run from beginning to end: the one thing logs, reports, answers, deliverables and spans are drawn from.

    `id` is `aurora-YYYYMMDD-HHMMSS-xxxxxx`. Times in Unix seconds. `query` is what passed the guardrails, redacted.
    What a phase did not come to is None or empty. `score` is the final verification's, None where nothing was judged.
    `because` says how the confidence came about, `caveats` what of the answer is doubtful and what to check.
    `from_memory` is the id of the pattern whose answer was given again; such a run costs nothing. `estimated_usd` is
    what was expected before the first call that was paid for the answer.
    """

    id: str
    query: str
    workspace: str
    started_at: float
    ended_at: float
    state: State
    mode: Mode = "user_invoked"
    answer: str = ""
    score: float | None = None
    confidence: float | None = None
    assessment: Assessment | None = None
    context: ContextBundle | None = None
    plan: Plan | None = None
    routing: RoutingPlan | None = None
    results: tuple[SubgoalResult, ...] = ()
    synthesis: Synthesis | None = None
    learned: Learned | None = None
    phases: tuple[PhaseRecord, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    notices: tuple[str, ...] = ()
    error: str | None = None
    log: str | None = None
    complexity: Complexity | None = None
    because: str = ""
    caveats: tuple[str, ...] = ()
    from_memory: str | None = None
    session: str = ""
    resumed: int = 0
    estimated_usd: float = 0.0

    @property
    def cost_usd(self) -> float:
        """Dollars paid, replayed calls and unknown prices left out."""
        return sum(call.cost_usd or 0.0 for call in self.calls if not call.replayed)

    @property
    def counted_usd(self) -> float:
        """Dollars that limits count it with: what was paid, and calls of unknown price at an unknown model's."""
        return sum(call.counted_usd for call in self.calls if not call.replayed)

    @property
    def tokens(self) -> int:
        """All tokens of the calls that were made."""
        return sum(call.usage.total for call in self.calls if not call.replayed)


class RunCancelled(asyncio.CancelledError):
    """A run was cancelled; `run` is what there is of it."""

    def __init__(self, run: RunRecord) -> None:
        super().__init__(f"run {run.id} was cancelled")
        self.run = run
