"""The caps of one run: which call may still be made, and what counts as spent. And what is set aside for a call."""

from __future__ import annotations

import pytest

from aurora_memory.token_cost import estimated_tokens
from aurora_orchestration.llm.completion import Ask, CapReached
from aurora_orchestration.llm.metered_model import RunSpending
from aurora_orchestration.llm.prices import load_prices
from aurora_orchestration.model_settings import Caps
from tests.orchestration.llm.conftest import Opened
from tests.orchestration.llm.loopback import LoopbackProvider


@pytest.mark.parametrize(
    ("caps", "calls", "usd", "cap"),
    [
        (Caps(run_usd=1.0), [], 1.0, None),  # exactly the cap may be spent
        (Caps(run_usd=1.0), [], 1.01, "llm.caps.run_usd"),
        (Caps(run_usd=1.0), [("assess", 0.5)], 0.5, None),
        (Caps(run_usd=1.0), [("assess", 0.5)], 0.51, "llm.caps.run_usd"),  # every phase counts for the run
        (Caps(phase_usd={"collect": 0.5}), [("assess", 0.5)], 0.5, None),  # and its own for the phase
        (Caps(phase_usd={"collect": 0.5}), [("collect", 0.25)], 0.25, None),
        (Caps(phase_usd={"collect": 0.5}), [("collect", 0.25)], 0.26, "llm.caps.phase_usd.collect"),
        (Caps(phase_usd={"assess": 0.0}), [], 0.5, None),
        (Caps(max_calls=2), [("assess", 0.0)], 0.0, None),
        (Caps(max_calls=2), [("assess", 0.0)] * 2, 0.0, "llm.caps.max_calls"),
    ],
)
def test_the_next_call_of_a_phase(caps: Caps, calls: list[tuple[str, float]], usd: float, cap: str | None) -> None:
    spending = RunSpending(caps)
    for phase, spent in calls:
        spending.set_aside(phase, spent)
    before = spending.usd, spending.calls
    if cap is None:
        spending.set_aside("collect", usd)
        assert (spending.usd, spending.calls) == (before[0] + usd, before[1] + 1)
    else:
        with pytest.raises(CapReached) as raised:
            spending.set_aside("collect", usd)
        assert cap in str(raised.value)
        assert (spending.usd, spending.calls) == before, "what is not made does not count"


def test_what_is_left_is_told_and_is_never_less_than_nothing() -> None:
    spending = RunSpending(Caps(run_usd=1.0))
    spending.set_aside("assess", 0.75)
    with pytest.raises(CapReached, match=r"could cost \$0\.5000; this run has \$0\.2500 left of .* \$1\.00"):
        spending.set_aside("assess", 0.5)
    spending.correct("assess", 0.75, 2.0)
    with pytest.raises(CapReached, match=r"has \$0\.0000 left"):
        spending.set_aside("assess", 0.5)


def test_what_was_set_aside_becomes_what_it_cost_or_nothing() -> None:
    spending = RunSpending(Caps())
    for phase in ("assess", "collect"):
        spending.set_aside(phase, 0.5)
    spending.correct("assess", 0.5, 0.125)
    assert (spending.usd, spending.calls) == (0.625, 2)
    spending.not_made("collect", 0.5)
    assert (spending.usd, spending.calls) == (0.125, 1)


def test_the_same_question_again_is_another_call_with_a_name_of_its_own() -> None:
    spending = RunSpending(Caps())
    names = [spending.key("run", digest) for digest in ("a" * 30, "a" * 30, "b" * 30, "a" * 30)]
    assert names == [f"run:{'a' * 24}:0", f"run:{'a' * 24}:1", f"run:{'b' * 24}:0", f"run:{'a' * 24}:2"]


async def test_half_as_much_again_as_is_asked_and_a_thousand_tokens_are_set_aside(
    provider: LoopbackProvider, reasoning: Opened
) -> None:
    class Ledger:
        reserved = 0.0

        def reserve(self, key: str, run: str, usd: float, *, force: bool = False) -> None:
            self.reserved = usd

        def settle(self, key: str, usd: float, *, phase: str = "", model: str = "") -> None:
            assert usd < self.reserved / 2, "an answer of one word costs a part of it"

        def release(self, key: str) -> None:
            raise AssertionError("the call was made")

    provider.otherwise = "x"
    ledger = Ledger()
    llm = reasoning(budget=ledger)
    ask = Ask(phase="assess", purpose="assess", system="You judge.", prompt="word " * 4_000, max_tokens=10)
    await llm.ask(ask)
    asked = sum(estimated_tokens(text.encode()) for text in (ask.system, ask.prompt))
    most = load_prices().at_most(llm.model, "anthropic", round(1.5 * asked) + 1000, 10)
    assert ledger.reserved == pytest.approx(most, rel=0.001)
