"""Picture builder: the daemon polled, and its answers made into the dashboard's view model. Everything here blocks, so
it runs in a thread.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.deliverable import Deliverable
from aurora_deliverables.event_lines import events_of
from aurora_deliverables.metric_text import METRIC_NAMES, value_words
from aurora_deliverables.reducer import Reducer
from aurora_protocol import RequestFailed, typed
from aurora_protocol.client import Client
from aurora_protocol.methods import StatusResult
from aurora_server.dashboard.picture import (
    ChangeView,
    GroupView,
    MetricView,
    Picture,
    TokensSpent,
    WeekView,
    WorkspaceView,
)
from aurora_server.dashboard.view import PAGE, View

MOST_EVENTS = 100_000
_ANSWER_WITHIN = 20.0
_SHARED_FOR = 1.0
"""Seconds for which pages that show different deliverables share what else is told,"""

_SHARE = 20
"""or so many times as long as it took: metrics of ten thousand deliverables are not worked out at every look,"""

_SHARED_AT_MOST = 10.0
"""but at least every so many seconds."""


class _Window(Struct):
    deliverables: int
    limited_by: str = "days"
    days: float = 7.0
    count: int = 20


class _Metrics(Struct):
    window: _Window
    metrics: dict[str, dict[str, Any]]
    supporting: dict[str, Any] = {}
    in_progress: int = 0
    weekly: list[dict[str, Any]] = []
    groups: dict[str, list[dict[str, Any]]] = {}
    runs: dict[str, Any] = {}
    cost: dict[str, Any] = {}
    problems: list[str] = []


class _Tokens(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    estimated_cost_usd: float | None = None


class _State(Struct):
    change_id: str
    status: str
    started_at: str
    updated_at: str | None = None
    description: str | None = None
    current_phase: str | None = None
    tasks_completed: int | None = None
    tasks_total: int | None = None
    recovery_attempts: int | None = None
    token_usage: _Tokens | None = None


class _Listed(Struct):
    deliverables: list[_State]
    total: int | None = None
    names: dict[str, str] = {}
    agents: list[str] = []
    models: list[str] = []


class PictureReader:
    """Reader of the daemon, on one session, opened when it is first needed. One thread at a time. With `team`, how
    deliverables went is told of every repository that this machine has a record of.
    """

    def __init__(self, root: str, connect: Callable[[], Client], *, team: bool = False) -> None:
        self._root = root
        self._team = team
        self._connect = connect
        self._client: Client | None = None
        self._folded: tuple[tuple[str, float], Deliverable | None] | None = None
        self._shared: tuple[float, StatusResult, _Metrics] | None = None

    def picture(self, view: View) -> Picture:
        """How things stand now, with the phases of one deliverable: the view's, or else the one that was touched last.

        Raises DaemonUnreachable and RequestFailed; the next call opens a new session then.
        """
        if self._client is None:
            self._client = self._connect()
        try:
            return self._read(self._client, view)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the session; it is opened again when asked."""
        client, self._client = self._client, None
        self._shared = None
        if client is not None:
            client.close()

    def _read(self, client: Client, view: View) -> Picture:
        """Picture asked of the daemon: status, metrics, one page of deliverables, one timeline."""
        status, metrics = self._of_all_views(client)
        listed = self._list(client, view)
        total = len(listed.deliverables) if listed.total is None else listed.total
        last = max(1, -(-total // PAGE))
        if view.page > last:  # what was on it has gone, or an old address was opened
            view = replace(view, page=last)
            listed = self._list(client, view)
        changes = tuple(_change(each, listed.names) for each in listed.deliverables)
        chosen = next((each for each in changes if each.change_id == view.change), None)
        if chosen is None and view.change:
            chosen = self._elsewhere(client, view.change)
        chosen = chosen or next((each for each in changes if each.is_open), None) or next(iter(changes), None)
        told = metrics.supporting
        return Picture(
            taken_at=time.time(),
            root=self._root,
            version=status.version,
            uptime_seconds=status.uptime_s,
            rss_bytes=status.rss_bytes,
            connections=status.connections,
            workspaces=tuple(
                WorkspaceView(
                    root=each.root,
                    name=PurePath(each.root).name or each.root,
                    state=each.state,
                    files=each.files,
                    chunks=each.chunks,
                    pending_files=each.pending_files,
                    skipped_files=each.skipped_files,
                    database_bytes=each.database_bytes,
                    last_error=each.last_error,
                )
                for each in status.workspaces
            ),
            window=_window_words(metrics.window),
            days=metrics.window.days,
            ended=metrics.window.deliverables,
            in_progress=metrics.in_progress,
            metrics=tuple(_metric(name, metric, metrics.weekly) for name, metric in metrics.metrics.items()),
            agents=_groups(metrics, "agent"),
            models=_groups(metrics, "model"),
            questions=metrics.runs.get("count") or 0,
            view=view,
            changes=changes,
            total=total,
            agent_names=tuple(listed.agents),
            model_names=tuple(listed.models),
            chosen=self._fold(client, chosen) if chosen is not None else None,
            spent=TokensSpent(
                told.get("input_tokens"),
                told.get("output_tokens"),
                told.get("total_tokens"),
                told.get("cost_usd"),
                metrics.cost.get("cost_per_accepted_usd"),
            ),
            failure_types=_ranked(told.get("failure_types")),
            tool_calls=_ranked(told.get("tool_calls")),
            team=self._team,
            people=_groups(metrics, "author") if self._team else (),
            repositories=_groups(metrics, "repository"),
            problems=tuple(metrics.problems),
        )

    def _of_all_views(self, client: Client) -> tuple[StatusResult, _Metrics]:
        """What is the same whichever deliverables are shown."""
        begun = time.monotonic()
        if self._shared is None or begun >= self._shared[0]:
            status = typed.convert(client.request("aurora/status", timeout=_ANSWER_WITHIN), StatusResult)
            asked = {"team": True} if self._team else {}
            metrics = typed.convert(client.request("aurora/metrics", asked, timeout=_ANSWER_WITHIN), _Metrics)
            now = time.monotonic()
            self._shared = now + max(_SHARED_FOR, min(_SHARE * (now - begun), _SHARED_AT_MOST)), status, metrics
        return self._shared[1], self._shared[2]

    def _list(self, client: Client, view: View) -> _Listed:
        return typed.convert(client.request("aurora/deliverable", view.request(), timeout=_ANSWER_WITHIN), _Listed)

    def _elsewhere(self, client: Client, change_id: str) -> ChangeView | None:
        """A deliverable that is on another page, or left out by the view; None where there is none."""
        try:
            state = client.request(
                "aurora/deliverable", {"action": "show", "change_id": change_id}, timeout=_ANSWER_WITHIN
            )
        except RequestFailed:  # an old address names one that is gone
            return None
        return _change(typed.convert(state, _State), {})

    def _fold(self, client: Client, chosen: ChangeView) -> Deliverable | None:
        """The chosen deliverable whole, from its events; asked for again only when something happened to it."""
        key = (chosen.change_id, chosen.updated_at)
        if self._folded is None or self._folded[0] != key:
            params = {"action": "events", "change_id": chosen.change_id, "limit": MOST_EVENTS}
            reply = client.request("aurora/deliverable", params, timeout=_ANSWER_WITHIN)
            folding = Reducer()
            events, _ = events_of([json.dumps(each) for each in reply["events"]])
            folding.take(events)
            self._folded = key, folding.deliverable()
        return self._folded[1]


def _change(state: _State, names: Mapping[str, str]) -> ChangeView:
    tokens = state.token_usage or _Tokens()
    started = _seconds(state.started_at)
    return ChangeView(
        change_id=state.change_id,
        name=names.get(state.change_id, state.change_id),
        status=state.status,
        started_at=started,
        updated_at=_seconds(state.updated_at) if state.updated_at else started,
        description=state.description,
        phase=state.current_phase,
        tasks_completed=state.tasks_completed,
        tasks_total=state.tasks_total,
        recovery_attempts=state.recovery_attempts,
        input_tokens=tokens.input_tokens,
        output_tokens=tokens.output_tokens,
        cost_usd=tokens.estimated_cost_usd,
    )


def _metric(name: str, metric: dict[str, Any], weekly: Sequence[dict[str, Any]]) -> MetricView:
    previous = metric.get("previous")
    return MetricView(
        key=name,
        title=METRIC_NAMES.get(name, name),
        value=metric.get("value"),
        words=value_words(name, metric),
        tier=metric.get("tier"),
        previous_words=value_words(name, {**metric, "value": previous}) if previous is not None else None,
        better=metric.get("better"),
        changed=bool(metric.get("change")),
        hint=metric.get("hint"),
        weeks=tuple(_week(name, week) for week in weekly),
    )


def _week(name: str, week: dict[str, Any]) -> WeekView:
    measure = week["metrics"].get(name) or {}
    return WeekView(
        start=_seconds(week["from"]),
        end=_seconds(week["to"]),
        deliverables=week["deliverables"],
        value=measure.get("value"),
        words=value_words(name, measure),
        tier=measure.get("tier"),
    )


def _groups(metrics: _Metrics, by: str) -> tuple[GroupView, ...]:
    """The groups with the most deliverables first."""
    found = [
        GroupView(
            name=str(group["name"]),
            deliverables=group.get("deliverables") or 0,
            values=tuple(
                (value_words(name, group["metrics"].get(name) or {}), (group["metrics"].get(name) or {}).get("tier"))
                for name in metrics.metrics
            ),
            cost_usd=(group.get("cost") or {}).get("cost_usd"),
            cost_per_accepted_usd=(group.get("cost") or {}).get("cost_per_accepted_usd"),
        )
        for group in metrics.groups.get(by) or ()
    ]
    return tuple(sorted(found, key=lambda each: (-each.deliverables, each.name)))


def _window_words(window: _Window) -> str:
    if window.limited_by == "days":
        return f"last {window.days:g} days"
    return f"last {window.count} deliverables"


def _ranked(counts: dict[str, int] | None) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((counts or {}).items(), key=lambda item: (-item[1], item[0])))


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
