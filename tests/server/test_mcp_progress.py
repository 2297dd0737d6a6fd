"""Choices of what an MCP client hears of a call under way, a rule each: how much, in which order, up to where."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_server.mcp.progress import ProgressReporter


async def heard(verbosity: Any, *stages: tuple[str, str, float | None], away: bool = False) -> list[tuple[float, str]]:
    told: list[tuple[float, str]] = []

    async def report(progress: float, total: float, message: str) -> None:
        told.append((progress, message))

    ctx: Any = SimpleNamespace(session=SimpleNamespace(report_progress=report))
    reporter = ProgressReporter(ctx, verbosity)
    if away:
        reporter.pause()
    for name, status, progress in stages:
        reporter.heard({"stage": name, "status": status, "progress": progress})
    if away:
        assert not told
        reporter.resume(ctx)
    await reporter.told()
    return told


STAGES = (("assess", "in_progress", 0.1), ("assess", "complete", 0.2), ("plan", "failed", 0.3))


@pytest.mark.parametrize(("verbosity", "many"), [("quiet", 2), ("normal", 3), ("verbose", 3)])
async def test_who_wants_it_quiet_hears_only_that_a_stage_has_ended(verbosity: str, many: int) -> None:
    assert len(await heard(verbosity, *STAGES)) == many


async def test_progress_goes_up_with_every_word_and_nothing_follows_the_end() -> None:
    stages = [("a", "complete", each) for each in (0.5, 0.5, 0.2, None, 0.9, 1.0, 1.0)]
    steps = [progress for progress, _ in await heard("normal", *stages)]
    assert steps == sorted(set(steps)) and len(steps) == 6
    assert (steps[0], steps[4], steps[-1]) == (0.5, 0.9, 1.0)


async def test_what_is_heard_while_the_client_is_away_is_told_in_its_order_when_it_is_back() -> None:
    assert await heard("normal", *STAGES, away=True) == await heard("normal", *STAGES)
