"""Picture of the page (view model): what the page shows, as of one moment. What is not known is None, never 0. Times
are Unix seconds.
"""

from __future__ import annotations

from msgspec import Struct

from aurora_deliverables.deliverable import Deliverable
from aurora_server.dashboard.view import View


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


class WeekView(Struct, frozen=True):
    """A metric's value in one week."""

    start: float
    end: float
    deliverables: int
    value: float | None
    words: str
    tier: str | None


class MetricView(Struct, frozen=True):
    """View of one of the five metrics; `weeks` has the oldest first, `better` is about the window before."""

    key: str
    title: str
    value: float | None
    words: str
    tier: str | None
    previous_words: str | None
    better: bool | None
    changed: bool
    hint: str | None
    weeks: tuple[WeekView, ...]


class GroupView(Struct, frozen=True):
    """View of the deliverables of one agent, model, person or repository, what they amount to: words and tier of each
    metric, and in US dollars what they cost, all and per accepted one.
    """

    name: str
    deliverables: int
    values: tuple[tuple[str, str | None], ...]
    cost_usd: float | None = None
    cost_per_accepted_usd: float | None = None


class ChangeView(Struct, frozen=True):
    """A deliverable in a list: `name` is what it is called now, `change_id` what it was called first."""

    change_id: str
    name: str
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
    cost_per_accepted_usd: float | None = None


class Picture(Struct, frozen=True):
    """Everything on the page: `changes` are one page of the `total` that the `view` asks for.

    `chosen` is the deliverable whose phases are drawn; `agents` and `models` are of the window, the names of all time.
    Of a `team` the metrics, groups and costs are of every repository that this machine has a record of, colleagues'
    deliverables too, with its `people` and `repositories`; `problems` are of records that were not read. `changes` are
    the workspace's.
    """

    taken_at: float
    root: str
    version: str
    uptime_seconds: float
    rss_bytes: int
    connections: int
    workspaces: tuple[WorkspaceView, ...]
    window: str
    days: float
    ended: int
    in_progress: int
    metrics: tuple[MetricView, ...]
    agents: tuple[GroupView, ...]
    models: tuple[GroupView, ...]
    questions: int
    view: View
    changes: tuple[ChangeView, ...]
    total: int
    agent_names: tuple[str, ...]
    model_names: tuple[str, ...]
    chosen: Deliverable | None
    spent: TokensSpent
    failure_types: tuple[tuple[str, int], ...]
    tool_calls: tuple[tuple[str, int], ...]
    team: bool = False
    people: tuple[GroupView, ...] = ()
    repositories: tuple[GroupView, ...] = ()
    problems: tuple[str, ...] = ()
