"""A process that is killed in the middle of a run, and what is left, found and gone on with (issue 6, `kill -9`)."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from aurora_deliverables.detection.prompts import change_of
from aurora_memory.store import Store, learned_reader
from aurora_orchestration.llm.journal import answered
from aurora_orchestration.run_record import RunRequest
from aurora_orchestration.soar.checkpoint import RESUMABLE_SECONDS, Checkpoint
from aurora_orchestration.soar.claims import usable
from aurora_orchestration.soar.interrupted_runs import sweep
from tests.orchestration.llm.loopback import LoopbackProvider, Scripted
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.programs import CODE, start
from tests.wait_limits import HANG

QUERY = "Explain how expand fills a template and compare it with request"
TWO = ("Explain how expand fills a template", "Compare expand with request")

_CHILD = """
import asyncio, sys
from pathlib import Path
from aurora_orchestration.model_settings import LlmSettings, ModelSettings
from tests.orchestration.soar.benches import bench

async def main():
    model = ModelSettings(provider="anthropic", model="claude-sonnet-4.5", base_url=sys.argv[2],
                          api_key_env="LOOPBACK_API_KEY", timeout_seconds=60.0)
    llm = LlmSettings(reasoning_llm=model, retry_seconds=2.0)
    async with bench(Path(sys.argv[1]), llm, {"LOOPBACK_API_KEY": sys.argv[3]}) as it:
        await it.ask(sys.argv[4], session="s-1")

asyncio.run(main())
"""


async def killed_at(provider: LoopbackProvider, place: Path, mind: Mind, purpose: str) -> None:
    """Ask in a process of its own, and kill that when the provider hears `purpose`, which is never answered."""
    mind.instead[purpose] = lambda _: Scripted(json={}, delay=60)
    provider.otherwise = mind
    key = provider.environ["LOOPBACK_API_KEY"]
    process = start(
        [*CODE, _CHILD, str(place), provider.base_url, key, QUERY],
        cwd=Path(__file__).parents[3],
        env={**os.environ, **provider.environ},  # with the kits of the models' makers imported
    )
    end = time.monotonic() + HANG
    while purpose not in mind.asked and time.monotonic() < end:
        await asyncio.sleep(0.02)
    assert purpose in mind.asked
    process.kill()
    await asyncio.to_thread(process.wait, HANG)
    del mind.instead[purpose]


async def test_after_kill_9_nothing_is_paid_or_learned_twice(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        mind = Mind(TWO)
        await killed_at(provider, tmp_path, mind, "judge")
        paid = list(mind.asked)
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            (left,) = await sweep(it.services)
            assert left.state == "interrupted" and left.request.query == QUERY
            assert (await sweep(it.services)) == (left,)
            assert left.log is not None
            log = (it.home / "logs/conversations" / left.log).read_text()
            assert log.lower().count("interrupted") >= 1 and log.count("```") % 2 == 0
            found = await it.deliverables.get(change_of(left.id))
            assert found is not None and found.status in ("executing", "verifying") and found.current_phase is None
            calls = answered(it.home / "runs", left.id)[0]
            assert len(calls) == len(paid) - 1 and found.tokens is not None, "the last was never answered"
            assert found.tokens.cost_usd == pytest.approx(sum(each.usd for each in calls)), "every answer counts, once"
            spent = it.budget.status()
            assert spent.consumed_usd > 0 and it.memory.learned == []

            run = await it.ask("", resume=left.id)
            assert (run.id, run.state, run.session) == (left.id, "complete", "s-1")
            assert mind.asked == [*paid, "judge"]
            assert [call.purpose for call in run.calls if not call.replayed] == ["verify synthesis"]
            assert all(map(usable, run.results))
            assert len(it.memory.learned) == 1
            found = await it.deliverables.get(change_of(left.id))
            assert found is not None and found.status == "completed" and found.recovery_attempts >= 1
            assert found.tokens is not None and found.tokens.cost_usd == pytest.approx(
                sum(each.usd for each in calls) + sum(each.cost_usd or 0 for each in run.calls if not each.replayed)
            )
            assert await sweep(it.services) == ()
            assert list((it.home / "runs").iterdir()) == []
            assert f"{run.id}" in it.log_of(run) and "Resumed" in it.log_of(run)


async def test_a_run_killed_before_anything_was_paid_is_gone_on_with_from_its_beginning(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        mind = Mind(TWO)
        await killed_at(provider, tmp_path, mind, "decompose")
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            (left,) = await sweep(it.services)
            run = await it.ask("", resume=left.id)
            assert run.state == "complete" and run.error is None
            assert not any(call.replayed for call in run.calls)


async def test_of_runs_that_can_be_resumed_the_latest_comes_first_and_the_old_are_dropped(
    tmp_path: Path,
) -> None:
    with LoopbackProvider() as provider:
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            now, here = it.services.now(), str(it.services.workspace)
            for name, age, where in (("a", 50.0, here), ("c", 10.0, here), ("b", 20.0, here), ("else", 1.0, "/else"),
                                     ("old", RESUMABLE_SECONDS + 1.0, here)):  # fmt: skip
                asked = RunRequest(query="what is x")
                it.services.store.save(
                    Checkpoint(id=name, workspace=where, request=asked, started_at=now - age, state="interrupted")
                )
            assert [each.id for each in await sweep(it.services)] == ["c", "b", "a"]
            assert [each.id for each in it.services.store.unfinished()] == ["a", "b", "c", "else"]


async def test_a_run_that_is_under_way_is_not_swept(tmp_path: Path) -> None:
    with LoopbackProvider() as provider:
        mind = Mind(TWO)
        mind.waits = 0.2
        provider.otherwise = mind
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            task = asyncio.ensure_future(it.ask(QUERY))
            async with asyncio.timeout(HANG):
                while "work" not in mind.asked:
                    await asyncio.sleep(0.02)
            assert await sweep(it.services) == ()
            assert (await task).state == "complete"


async def test_what_was_learned_before_the_kill_is_not_learned_again(tmp_path: Path) -> None:
    """The last moment there is: memory has learned, the run is not put away yet."""
    with LoopbackProvider() as provider:
        mind = Mind(TWO)
        await killed_at(provider, tmp_path, mind, "judge")
        async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
            (left,) = await sweep(it.services)
            saved = (it.home / "runs" / f"{left.id}.json").read_bytes()
            first = await it.ask("", resume=left.id)
            (it.home / "runs" / f"{left.id}.json").write_bytes(saved)
            second = await it.ask("", resume=left.id)
            assert first.learned is not None and not first.learned.repeated
            assert second.learned is None or second.learned.repeated
        store = await Store.open(tmp_path / "memory.db")
        try:
            row = await store.read(learned_reader.reasoning_named, str(first.learned.reasoning_id))
            assert row is not None
            assert len((await store.read(learned_reader.lessons, [row])).get(row, [])) <= 1
        finally:
            await store.close()
