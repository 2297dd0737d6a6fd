"""Requests `aurora/metrics` and `aurora/report`: how deliverables went, over all folders of the session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

from aurora_deliverables import InvalidRequest
from aurora_deliverables.event_request import moment
from aurora_protocol import deliverable_methods as methods
from aurora_protocol.deliverable_methods import MetricsParams, ReportParams
from aurora_server.lsp.server import params_as
from aurora_server.workspace.repository_changes import by_repository, each_once

if TYPE_CHECKING:
    from aurora_deliverables.deliverable import Deliverable
    from aurora_deliverables.events import Event
    from aurora_server.lsp.server import AuroraServer
    from aurora_server.workspace.team_deliverables import TeamDeliverables

PERIODS_WITH_BOUNDS = frozenset({"daily", "monthly"})


def register(server: AuroraServer) -> None:
    """Answer `aurora/metrics` and `aurora/report`."""
    server.feature(methods.METRICS)(metrics)
    server.feature(methods.REPORT)(report)


async def metrics(ls: AuroraServer, value: object) -> Any:
    """The five metrics, their tiers and trends; per agent, model, type, complexity and workspace as well; of a team by
    person and repository.
    """
    from aurora_server.workspace.deliverable_documents import metrics_reply

    params = params_as(MetricsParams, value)
    of = "repository" if params.team else "workspace"
    if params.by in {"repository", "workspace"} - {of}:
        raise InvalidRequest(f"`by` {params.by} goes {'without' if params.team else 'with'} `team`; use {of}")
    usual = ls.core.settings.deliverables
    problems: Sequence[str] = ()
    as_of = None if params.as_of is None else moment(params.as_of, "as_of")
    if params.team:
        team = await _of_team(ls, as_of)
        known, problems = team.by_repository(), team.problems
    else:
        known = await by_repository(await ls.folders.opened(), as_of)
    days, count = params.window_days or usual.window_days, params.window_count or usual.window_count
    now = time.time() if as_of is None else as_of
    reply = await asyncio.to_thread(metrics_reply, known, now, days, count, params.by, of)
    return {**reply, "problems": list(problems)} if params.team else reply


async def report(ls: AuroraServer, value: object) -> Any:
    """Report of a day, a month or all time: what it brought, and what it cost."""
    from aurora_deliverables.report import months, weeks
    from aurora_deliverables.report import report as reported
    from aurora_server.workspace.deliverable_documents import report_reply

    params = params_as(ReportParams, value)
    bounded = params.period in PERIODS_WITH_BOUNDS
    if bounded and (params.start is None or params.end is None):
        raise InvalidRequest(f"a {params.period} report needs `start` and `end`")
    start = moment(params.start, "start") if params.start is not None else None
    end = moment(params.end, "end") if params.end is not None else time.time()
    if start is not None and start >= end:
        raise InvalidRequest("`start` must be before `end`")
    team = await _of_team(ls) if params.team else None
    deliverables, events_of = await _changes(ls) if team is None else _team_changes(team)
    begin = min((each.started_at for each in deliverables), default=end) if start is None else start
    parts = {"daily": [], "monthly": weeks(begin, end), "cumulative": months(begin, end)}[params.period]
    done = await reported(deliverables, events_of, begin, end, time.time(), parts)
    if team is None:
        return await asyncio.to_thread(report_reply, params.period, done)
    reply = await asyncio.to_thread(report_reply, params.period, done, team.by_repository())
    return {**reply, "problems": list(team.problems)}


_Changes = tuple[list["Deliverable"], Callable[["Deliverable"], Awaitable[Sequence["Event"]]]]
"""Deliverables that are changes, and how the events of one are asked for."""


async def _changes(ls: AuroraServer) -> _Changes:
    homes = {
        id(each): (each, workspace)
        for workspace, each in await each_once(await ls.folders.opened())
        if each.kind == "change"
    }

    async def events_of(deliverable: Deliverable) -> Sequence[Event]:
        return await homes[id(deliverable)][1].deliverables.events(deliverable.change_id)

    return [each for each, _ in homes.values()], events_of


def _team_changes(team: TeamDeliverables) -> _Changes:
    homes = {id(each.deliverable): each for each in team.all() if each.deliverable.kind == "change"}

    async def events_of(deliverable: Deliverable) -> Sequence[Event]:
        return homes[id(deliverable)].events

    return [each.deliverable for each in homes.values()], events_of


async def _of_team(ls: AuroraServer, as_of: float | None = None) -> TeamDeliverables:
    from aurora_server.workspace.team_deliverables import team_deliverables

    return await asyncio.to_thread(
        team_deliverables,
        ls.core.source.started.home,
        ls.core.settings.deliverables.conformance_threshold,
        inf if as_of is None else as_of,
    )
