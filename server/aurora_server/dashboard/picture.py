"""Picture of the page: what the page shows, as of one moment. What is not known is None, never 0. Times are Unix
seconds.
"""

from __future__ import annotations

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable


class WorkspaceView(Struct, frozen=True):
    """A workspace that the daemon has open."""

    root: str
    name: str
    state: str
    files: int
    chunks: int
    pending_files: int
    skipped_files: int
    database_bytes: int
    last_error: str | None


class MetricView(Struct, frozen=True):
    """One of the five metrics. `history` has windows, the oldest first; `better` is about the window before."""

    key: str
    title: str
    value: float | None
    words: str
    tier: str | None
    previous_words: str | None
    better: bool | None
    changed: bool
    history: tuple[float | None, ...]
    history_words: tuple[str, ...]


class ChangeView(Struct, frozen=True):
    """A deliverable in a list."""

    change_id: str
    status: str
    started_at: float
    updated_at: float
    description: str | None = None
    phase: str | None = None
    tasks_completed: int | None = None
    tasks_total: int | None = None
    recovery_attempts: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether work on it goes on."""
        return self.status not in ("completed", "failed")


class TokensSpent(Struct, frozen=True):
    """Tokens and cost of the window's deliverables."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None


class Picture(Struct, frozen=True):
    """Everything on the page. `chosen` is the deliverable whose phases are drawn."""

    taken_at: float
    root: str
    version: str
    uptime_seconds: float
    rss_bytes: int
    connections: int
    workspaces: tuple[WorkspaceView, ...]
    window: str
    ended: int
    in_progress: int
    metrics: tuple[MetricView, ...]
    changes: tuple[ChangeView, ...]
    chosen: Deliverable | None
    spent: TokensSpent
    failure_types: tuple[tuple[str, int], ...]
    tool_calls: tuple[tuple[str, int], ...]
