"""`aurora/metrics` and `aurora/report`: how deliverables went, over all folders of the session."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
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

PERIODS_WITH_BOUNDS = frozenset({"daily", "monthly"})


def register(server: AuroraServer) -> None:
    """Answer `aurora/metrics` and `aurora/report`."""
    server.feature(methods.METRICS)(metrics)
    server.feature(methods.REPORT)(report)


async def metrics(ls: AuroraServer, value: object) -> Any:
    """The five metrics, their tiers and trends; per agent, model, type, complexity and workspace as well."""
    from aurora_server.workspace.deliverable_documents import metrics_reply

    params = params_as(MetricsParams, value)
    known = await by_repository(await ls.folders.opened())
    usual = ls.core.settings.deliverables
    days, count = params.window_days or usual.window_days, params.window_count or usual.window_count
    now = time.time() if params.as_of is None else moment(params.as_of, "as_of")
    return await asyncio.to_thread(metrics_reply, known, now, days, count, params.by)


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
    homes = {
        id(each): (each, workspace)
        for workspace, each in await each_once(await ls.folders.opened())
        if each.kind == "change"
    }
    deliverables = [each for each, _ in homes.values()]

    async def events_of(deliverable: Deliverable) -> Sequence[Event]:
        return await homes[id(deliverable)][1].deliverables.events(deliverable.change_id)

    begin = min((each.started_at for each in deliverables), default=end) if start is None else start
    parts = {"daily": [], "monthly": weeks(begin, end), "cumulative": months(begin, end)}[params.period]
    done = await reported(deliverables, events_of, begin, end, time.time(), parts)
    return await asyncio.to_thread(report_reply, params.period, done)
