"""What a session's next message says of the last answer, acted on in whole runs (AURORA Appendix E)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from aurora_memory.store import learned_reader
from aurora_orchestration.run_record import RunCancelled
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.soar.benches import Bench, bench
from tests.orchestration.soar.minds import Mind
from tests.wait_limits import HANG

QUERY = "Explain how expand fills a template and compare it with request"
TWO = ("Explain how expand fills a template", "Compare expand with request")


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        yield running


async def boost_of(it: Bench, reasoning_id: str | None) -> float:
    assert reasoning_id is not None
    row = await it.store.read(learned_reader.reasoning_named, reasoning_id)
    assert row is not None
    return (await it.store.read(learned_reader.boosts, [row])).get(row, 0.0)


async def test_thanks_cost_nothing_and_raise_the_pattern(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        first = await it.ask(QUERY, session="s")
        assert first.learned is not None
        before, asked = await boost_of(it, first.learned.reasoning_id), len(provider.requests)
        thanks = await it.ask("Thanks, perfect!", session="s")
        assert thanks.state == "complete" and len(provider.requests) == asked
        assert await boost_of(it, first.learned.reasoning_id) == pytest.approx(before + 0.1)
        await it.ask("Thanks!", session="s")
        assert await boost_of(it, first.learned.reasoning_id) == pytest.approx(before + 0.1)


async def test_a_denied_answer_is_worked_out_afresh_and_its_pattern_marked(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        first = await it.ask(QUERY, session="s")
        assert first.learned is not None
        asked = len(provider.requests)
        again = await it.ask("No, that's not right. I meant nested templates.", session="s")
        assert again.query == QUERY and again.from_memory is None and len(provider.requests) > asked
        assert [each.verdict for each in it.memory.judged] == ["incorrect"]
        decomposing = next(each for each in provider.requests[asked:] if "available_agents" in each.prompt)
        assert "nested templates" in decomposing.prompt and "rejected" in decomposing.prompt


async def test_try_again_goes_one_level_up(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        await it.ask(QUERY, session="s")
        assert "criticise" not in mind.asked
        again = await it.ask("Try again", session="s")
        assert again.complexity == "complex" and "criticise" in mind.asked


@pytest.mark.parametrize("said", ["thanks", "never mind"])
async def test_what_asks_nothing_is_not_what_is_tried_again(
    provider: LoopbackProvider, tmp_path: Path, said: str
) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        await it.ask(QUERY, session="s")
        asked = len(provider.requests)
        assert (await it.ask(said, session="s")).cost_usd == 0 and len(provider.requests) == asked
        again = await it.ask("Try again", session="s")
        assert (again.query, again.complexity) == (QUERY, "complex")


async def test_never_mind_stops_what_the_session_asked_last(provider: LoopbackProvider, tmp_path: Path) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        await it.ask("what is expand?", session="s")
        mind.waits = 5
        task = asyncio.ensure_future(it.ask(QUERY, session="s"))
        async with asyncio.timeout(HANG):
            while len(mind.asked) < 2:
                await asyncio.sleep(0.02)
        stopped = await it.ask("Never mind", session="s")
        assert stopped.state == "complete" and "Stopped" in stopped.answer
        with pytest.raises(RunCancelled):
            await task
        assert it.memory.learned == []


async def test_other_sessions_hear_nothing_of_it(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        await it.ask(QUERY, session="s")
        asked = len(provider.requests)
        other = await it.ask("thanks", session="another")
        assert it.memory.judged == [] and len(provider.requests) == asked and other.answer


async def test_thanks_after_a_first_question_without_an_answer_ask_nothing(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), {}) as it:  # no key: no model
        assert (await it.ask(QUERY, session="s")).state == "no_provider"
        it.environ.update(provider.environ)
        thanks = await it.ask("Thanks, perfect!", session="s")
        assert thanks.state == "complete" and "no answer" in thanks.answer and provider.requests == []
        assert it.memory.judged == []


async def test_a_question_without_an_answer_can_be_tried_again_by_saying_so(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), {}) as it:
        assert (await it.ask(QUERY, session="s")).state == "no_provider"
        it.environ.update(provider.environ)
        again = await it.ask("Try again, please.", session="s")
        assert (again.state, again.query) == ("complete", QUERY)
