"""Money of a run: what is expected of it, who is asked before it is paid, and what is paid for nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from aurora_orchestration.model_settings import Caps
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.settings import BudgetSettings
from aurora_orchestration.types import Declined, Nobody
from tests.orchestration.llm.loopback import LoopbackProvider
from tests.orchestration.llm.wire_formats import Request, Scripted
from tests.orchestration.soar.benches import bench
from tests.orchestration.soar.minds import Mind
from tests.shares import examples

MEDIUM = "Explain how expand fills a template and compare it with request"
TWO = ("Explain how expand fills a template", "Compare expand with request")
SPENT = BudgetSettings(soft_limit_usd=0.000001, hard_limit_usd=500.0)


@pytest.fixture
def provider() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        yield running


class User:
    """A user who gives one answer to everything, and remembers what was asked."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, question: str) -> str:
        self.asked.append(question)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.hypothesis
async def test_runs_cost_about_what_was_expected(provider: LoopbackProvider, tmp_path: Path) -> None:
    """A model that is now terse, now wordy, and questions of three ways; decision 0140 has what was measured."""
    chance = random.Random(21)
    mind = Mind(TWO)

    def wordy(request: Request) -> Any:
        answer = mind(request)
        used = len(request.system + request.prompt) // 4
        return Scripted(json=answer.json, usage={"input_tokens": used, "output_tokens": chance.randint(150, 700)})

    provider.otherwise = wordy
    ways: tuple[tuple[str, dict[str, Any]], ...] = (
        ("what is {}?", {}),
        ("Explain how {} fills a template and compare it with request", {"verification": "option_a"}),
        ("Design retries for {}, with login throttling and audit logging", {"verification": "option_b"}),
    )
    names = ("expand", "request", "login", "the parser", "a token", "the cache", "fill", "get", "check", "the template")
    ratios: list[float] = []
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        for name in names[: examples(12)]:
            for text, more in ways:
                run = await it.ask(text.format(name), **more)
                assert run.state == "complete", run.error
                ratios.append(run.estimated_usd / run.cost_usd)
    worst = max(max(each, 1 / each) for each in ratios)
    print(f"estimate / cost: median {median(ratios):.2f}, worst {worst:.2f}, after the first of each way "
          f"{max(max(each, 1 / each) for each in ratios[3:]):.2f}")  # fmt: skip
    assert 0.7 <= median(ratios) <= 1.4
    assert worst <= 4.0


async def test_beyond_the_soft_limit_the_user_is_asked_once_and_first(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ, cost_budgets=SPENT) as it:
        user = User("y")
        run = await it.ask(MEDIUM, ask_user=user)
        assert run.state == "complete", run.error
        money = [each for each in user.asked if "soft limit" in each]
        assert len(money) == 1 and money[0].endswith("Go on? [y/N]")
        assert any("soft limit" in notice for notice in run.notices)


@pytest.mark.parametrize("answer", ["n", "no", "hm", Declined("nothing")])
async def test_who_does_not_say_yes_pays_nothing(
    provider: LoopbackProvider, tmp_path: Path, answer: str | Exception
) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ, cost_budgets=SPENT) as it:
        run = await it.ask(MEDIUM, ask_user=User(answer))
        assert (run.state, provider.requests) == ("blocked", [])
        assert run.error is not None and "you did not go on" in run.error and "\n" not in run.error


async def test_where_nobody_is_there_one_line_names_the_option(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    async with bench(tmp_path, provider.llm_settings(), provider.environ, cost_budgets=SPENT) as it:
        run = await it.ask(MEDIUM, ask_user=User(Nobody("nobody")))
        assert (run.state, provider.requests) == ("blocked", [])
        assert run.error is not None and "--force" in run.error and "\n" not in run.error
        forced = await it.ask(MEDIUM, force=True)
        assert forced.state == "complete" and provider.requests


async def test_a_run_whose_steps_all_want_money_is_blocked_and_says_so(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    mind = Mind(TWO)
    provider.otherwise = mind
    llm = provider.llm_settings(caps=Caps(phase_usd={"collect": 0.0001}))
    async with bench(tmp_path, llm, provider.environ) as it:
        run = await it.ask(MEDIUM)
        assert run.state == "blocked" and "llm.caps.phase_usd" in (run.error or ""), (run.state, run.error, run.answer)
        assert mind.asked == ["decompose", "verify"] and len(run.results) == 2
        assert not it.memory.learned


async def test_what_costs_nothing_asks_nobody(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(TWO)
    user = User(Nobody("nobody"))
    free = provider.llm_settings("openai", reasoning_llm=provider.settings("openai", provider="ollama", model="llama3"))
    async with bench(tmp_path, free, provider.environ, cost_budgets=SPENT) as it:
        it.budget.reserve("before", "run-0", 1.0)
        it.budget.settle("before", 1.0)  # far beyond the soft limit
        run = await it.ask(MEDIUM, ask_user=user)
        assert (run.state, run.estimated_usd) == ("complete", 0.0)
        assert not any("soft limit" in each for each in (*user.asked, *run.notices))


async def test_an_experiment_has_its_own_limit_and_is_told_of_the_soft_one_without_being_asked(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    provider.otherwise = Mind(TWO)
    user = User("n")
    async with bench(tmp_path, provider.llm_settings(), provider.environ, cost_budgets=SPENT) as it:
        run = await it.ask(MEDIUM, ask_user=user, mode="headless")
        assert run.state == "complete" and not any("soft limit" in each for each in user.asked)
        assert any("soft limit" in each for each in run.notices)


async def test_messages_that_ask_nothing_cost_nothing_in_a_session(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = Mind(())
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        early = await it.ask("ok", session="s")
        assert (early.state, len(early.calls)) == ("complete", 0)
        await it.ask("what is expand?", session="s")
        paid = len(provider.requests)
        for said in ("ok", "OK!", "Got it.", "yes", "ok, I see", "sure", "thanks"):
            run = await it.ask(said, session="s")
            assert (run.state, len(provider.requests)) == ("complete", paid), (said, run.answer)
            assert run.answer and run.cost_usd == 0


async def test_one_answer_in_words_to_a_simple_question_is_the_answer(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    provider.otherwise = 'The function expand fills a template (src/template.py:1); set {"strict": true} for errors.'
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask("what is expand?")
        assert (run.state, len(provider.requests)) == ("complete", 1)
        assert run.answer.startswith("The function expand fills")
        assert any("words alone" in caveat for caveat in run.caveats)


@pytest.mark.parametrize(
    "said", ["", '{"answer": ', "<html><body>Sign in to the network</body></html>", '```json\n{"foo": 1}\n```']
)
async def test_what_is_no_answer_in_words_is_not_taken_for_one(
    provider: LoopbackProvider, tmp_path: Path, said: str
) -> None:
    provider.otherwise = said
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask("what is expand?")
        assert (run.state, len(provider.requests)) == ("failed", 2)
        assert run.error is not None and "\n" not in run.error


async def test_a_refusal_in_words_is_no_success(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = "I'm sorry, but I cannot help with that."
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask("what is expand?")
        assert (run.state, len(provider.requests)) == ("failed", 1) and run.error and "declined" in run.error


async def test_a_model_that_knows_no_json_is_paid_twice_and_no_more(provider: LoopbackProvider, tmp_path: Path) -> None:
    provider.otherwise = "I would begin by reading the code."
    async with bench(tmp_path, provider.llm_settings(), provider.environ) as it:
        run = await it.ask("Design and implement retries for request, login throttling and audit logging for the API")
        assert (run.state, len(provider.requests)) == ("failed", 2), run.error
        assert run.error is not None and "answered twice without JSON" in run.error and "\n" not in run.error


async def test_what_has_no_known_price_is_in_the_runs_cost_as_unknown(
    provider: LoopbackProvider, tmp_path: Path
) -> None:
    provider.otherwise = Mind(())
    unknown = provider.llm_settings("openai", reasoning_llm=provider.settings("openai", model="brand-new-9"))
    async with bench(tmp_path, unknown, provider.environ) as it:
        run: RunRecord = await it.ask("what is expand?")
        assert run.cost_usd == 0 and run.counted_usd > 0 and run.estimated_usd > 0
        assert it.budget.status().consumed_usd == pytest.approx(run.counted_usd, abs=1e-6)
        assert any("no price is known for brand-new-9" in notice for notice in run.notices)
