"""An iteration that is cancelled has cost what it has cost: the sum goes on from there."""

import asyncio
from pathlib import Path

import pytest

from aurora_orchestration.headless.loop import pursue
from aurora_orchestration.run_record import Mode, RunCancelled, RunRecord
from tests.orchestration.headless.test_loop import Runs, answered, headless, repository, root, text_of
from tests.wait_limits import HANG

__all__ = ["repository", "root"]


async def test_what_a_cancelled_iteration_cost_is_in_the_sum(root: Path) -> None:
    begun = asyncio.Event()

    async def run(query: str, mode: Mode) -> RunRecord:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError as error:
            raise RunCancelled(answered("", 0.4, state="cancelled")) from error
        raise AssertionError("nobody sets it")

    pursuing = asyncio.ensure_future(pursue(headless(root), run, None))
    await asyncio.wait_for(begun.wait(), HANG)
    pursuing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pursuing
    noted = text_of(root)
    assert "**Cost So Far:** $0.40" in noted and "**STATUS:** CANCELLED" in noted
    assert "Cancelled before it ended; what it cost is in the sum above" in noted

    outcome = await pursue(headless(root, budget_usd=0.45), Runs(answered("not yet", 0.1)), None)
    assert (outcome.ending, outcome.iterations) == ("budget", 2)
    assert outcome.cost_usd == pytest.approx(0.5)
