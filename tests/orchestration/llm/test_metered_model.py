"""Caps and budgets hold before a call is made; what was paid is counted once."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import msgspec
import pytest

from aurora_memory.token_cost import estimated_tokens
from aurora_orchestration import OrchestrationError
from aurora_orchestration.llm.completion import Ask, CapReached, LlmError, Rejected, Truncated, Unavailable
from aurora_orchestration.llm.journal import Journal
from aurora_orchestration.llm.metered_model import RunSpending
from aurora_orchestration.llm.structured import ask_for
from aurora_orchestration.model_settings import Caps
from aurora_orchestration.types import ModelCall
from tests.orchestration.llm.conftest import Opened
from tests.orchestration.llm.loopback import LoopbackProvider, Scripted
from tests.wait_limits import HANG

ASK = Ask(phase="decompose", purpose="decompose", system="You plan.", prompt='{"task":"plan"}', max_tokens=1000)
AT_MOST = 0.0192
"""What `ASK` may cost at most: 1000 tokens of output at $15, 1000 and a few around the question at $3.75."""


class Limit(OrchestrationError):
    """What the budget of the tests raises."""


class Ledger:
    """A budget as `guardrails.budget` is one: idempotent by key, told what it was asked."""

    def __init__(self, limit: float = 100.0) -> None:
        self.limit = limit
        self.reserved: dict[str, float] = {}
        self.settled: dict[str, float] = {}
        self.asked: list[tuple[str, str]] = []
        self._lock = threading.Lock()

    def reserve(self, key: str, run: str, usd: float, *, force: bool = False) -> None:
        with self._lock:
            self.asked.append(("reserve", key))
            if sum(self.reserved.values()) + sum(self.settled.values()) + usd > self.limit:
                raise Limit(f"the budget of ${self.limit} would be passed; aurora budget status")
            if key not in self.settled:
                self.reserved[key] = usd

    def settle(self, key: str, usd: float, *, phase: str = "", model: str = "") -> None:
        with self._lock:
            self.asked.append(("settle", key))
            self.reserved.pop(key, None)
            self.settled.setdefault(key, usd)

    def release(self, key: str) -> None:
        with self._lock:
            self.asked.append(("release", key))
            self.reserved.pop(key, None)


@pytest.mark.parametrize(
    ("caps", "told"),
    [
        (Caps(run_usd=0.01), "llm.caps.run_usd"),
        (Caps(phase_usd={"decompose": 0.01}), "llm.caps.phase_usd.decompose"),
    ],
)
async def test_a_cap_holds_before_anything_is_sent(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], caps: Caps, told: str
) -> None:
    provider.otherwise = "x"
    ledger = Ledger()
    llm = reasoning(caps=caps, budget=ledger)
    with pytest.raises(CapReached, match=told):
        await llm.ask(ASK)
    assert provider.requests == [] and ledger.asked == [] and calls == []


async def test_a_phase_has_a_cap_of_its_own(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = "x"
    llm = reasoning(caps=Caps(phase_usd={"assess": 0.0}))
    await llm.ask(ASK)
    with pytest.raises(CapReached, match="phase assess"):
        await llm.ask(msgspec.structs.replace(ASK, phase="assess"))


async def test_so_many_calls_and_no_more(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = "x"
    llm = reasoning(caps=Caps(max_calls=2))
    await llm.ask(ASK)
    await llm.ask(ASK)
    with pytest.raises(CapReached, match="max_calls"):
        await llm.ask(ASK)
    assert len(provider.requests) == 2


async def test_calls_at_once_do_not_pass_a_cap_together(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = Scripted(text="x", delay=0.2)
    llm = reasoning(caps=Caps(run_usd=3.5 * AT_MOST))
    done = await asyncio.gather(*(llm.ask(ASK) for _ in range(8)), return_exceptions=True)
    assert sum(isinstance(reply, CapReached) for reply in done) == 5
    assert len(provider.requests) == 3
    assert provider.most_at_once == 3


async def test_what_was_set_aside_and_not_needed_comes_back(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = "x"
    llm = reasoning(caps=Caps(run_usd=1.5 * AT_MOST))
    for _ in range(10):
        await llm.ask(ASK)
    assert len(provider.requests) == 10


async def test_models_opened_twice_share_their_caps(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = "x"
    spending = RunSpending(Caps(max_calls=1))
    await reasoning(spending=spending).ask(ASK)
    with pytest.raises(CapReached):
        await reasoning("openai", spending=spending).ask(ASK)


async def test_a_budget_is_asked_before_and_told_after(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall]
) -> None:
    ledger = Ledger()
    provider.otherwise = lambda request: Scripted(text=f"{len(ledger.reserved)} reserved")
    reply = await reasoning(budget=ledger).ask(ASK)
    assert reply.text == "1 reserved"
    assert list(ledger.settled.values()) == [reply.cost_usd] == [calls[0].cost_usd]
    assert [what for what, _ in ledger.asked] == ["reserve", "settle"] and not ledger.reserved


async def test_what_is_set_aside_pays_for_half_as_many_tokens_again_as_were_estimated(
    provider: LoopbackProvider, reasoning: Opened
) -> None:
    ledger, asides = Ledger(), []
    provider.otherwise = lambda request: asides.append(sum(ledger.reserved.values())) or "x"
    ask = msgspec.structs.replace(ASK, prompt="a question of many words " * 40_000)
    await reasoning(budget=ledger).ask(ask)
    estimated = estimated_tokens(ask.prompt.encode())
    beside = estimated * 3.75e-6 + AT_MOST
    assert estimated > 100_000
    assert asides == [pytest.approx(1.5 * estimated * 3.75e-6 + AT_MOST, rel=0.01)]
    assert asides[0] > 1.3 * beside


async def test_a_budget_that_would_be_passed_stops_the_call(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall]
) -> None:
    spending = RunSpending(Caps())
    with pytest.raises(CapReached, match="aurora budget status") as error:
        await reasoning(budget=Ledger(0.001), spending=spending).ask(ASK)
    assert isinstance(error.value.__cause__, Limit)
    assert provider.requests == [] and calls == [] and spending.usd == 0 and spending.calls == 0


async def test_a_request_that_was_not_taken_costs_nothing(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall]
) -> None:
    ledger, spending = Ledger(), RunSpending(Caps())
    provider.script(Scripted(status=401))
    with pytest.raises(Rejected):
        await reasoning(budget=ledger, spending=spending).ask(ASK)
    assert ledger.asked[-1][0] == "release" and not ledger.reserved and not ledger.settled
    assert spending.usd == pytest.approx(0) and calls[0].cost_usd == 0 and calls[0].error


async def test_a_call_that_broke_off_is_counted_at_its_question(provider: LoopbackProvider, reasoning: Opened) -> None:
    ledger = Ledger()
    provider.otherwise = Scripted(drop=True)
    with pytest.raises(Unavailable):
        await reasoning(budget=ledger, retry_seconds=0).ask(ASK)
    (usd,) = ledger.settled.values()
    assert 0 < usd < 0.001 and not ledger.reserved


async def test_a_model_without_a_price_is_counted_dearly(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall]
) -> None:
    provider.otherwise = Scripted(text="x", usage={"input_tokens": 100, "output_tokens": 100})
    spending = RunSpending(Caps())
    reply = await reasoning(model={"model": "house-model-7"}, spending=spending).ask(ASK)
    assert reply.cost_usd is None and calls[0].cost_usd is None
    assert spending.usd == pytest.approx((100 * 15 + 100 * 75) / 1e6)
    with pytest.raises(CapReached):
        await reasoning(model={"model": "house-model-7"}, caps=Caps(run_usd=0.05)).ask(ASK)


async def test_local_models_pass_every_cap(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = "x"
    llm = reasoning("openai", model={"provider": "ollama", "model": "llama3"}, caps=Caps(run_usd=0.0))
    assert (await llm.ask(ASK)).cost_usd == 0


async def test_a_call_cancelled_while_its_budget_is_reserved_leaves_nothing(
    provider: LoopbackProvider, reasoning: Opened
) -> None:
    class Slow(Ledger):
        def reserve(self, key: str, run: str, usd: float, *, force: bool = False) -> None:
            begun.set()
            go_on.wait(HANG)
            super().reserve(key, run, usd, force=force)

    begun, go_on, ledger, spending = threading.Event(), threading.Event(), Slow(), RunSpending(Caps())
    asked = asyncio.ensure_future(reasoning(budget=ledger, spending=spending).ask(ASK))
    await asyncio.to_thread(begun.wait, HANG)
    asked.cancel()
    await asyncio.sleep(0.05)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await asked
    assert not ledger.reserved and not ledger.settled and spending.calls == 0 and provider.requests == []


class Found(msgspec.Struct):
    a: str


async def test_an_answer_that_was_cut_is_asked_for_with_twice_the_room(
    provider: LoopbackProvider, reasoning: Opened
) -> None:
    provider.script(Scripted(text='{"a": "b', stop="length"), {"a": "whole"})
    assert await ask_for(reasoning(), ASK, Found) == Found("whole")
    assert [request.max_tokens for request in provider.requests] == [1000, 2000]


async def test_twice_the_room_stays_within_the_caps(provider: LoopbackProvider, reasoning: Opened) -> None:
    provider.otherwise = Scripted(text='{"a": "b', stop="length")
    with pytest.raises(Truncated):
        await ask_for(reasoning(caps=Caps(run_usd=1.3 * AT_MOST)), ASK, Found)
    assert len(provider.requests) == 1


async def test_twice_the_room_may_be_more_than_the_model_has(provider: LoopbackProvider, reasoning: Opened) -> None:
    too_much = Scripted(status=400, error="max_tokens: 2000 > 1000, which is the maximum allowed")
    provider.script(Scripted(text='{"a": "b', stop="length"), too_much)
    with pytest.raises(Truncated, match="1000 tokens"):
        await ask_for(reasoning(), ASK, Found)


class Full(Ledger):
    """A budget that cannot be written."""

    def settle(self, key: str, usd: float, *, phase: str = "", model: str = "") -> None:
        raise Limit("the disk is full")


async def test_a_cost_that_cannot_be_written_down_is_said_and_stays_reserved(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall]
) -> None:
    provider.script("x", Scripted(drop=True))
    ledger = Full()
    llm = reasoning(budget=ledger, retry_seconds=0)
    with pytest.raises(Limit, match="disk is full"):
        await llm.ask(ASK)
    with pytest.raises(Unavailable) as error:
        await llm.ask(ASK)
    assert any("disk is full" in note for note in error.value.__notes__)
    assert len(calls) == 2 and len(ledger.reserved) == 2


async def test_a_journal_on_a_full_disk_is_said(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], tmp_path: Path
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    provider.otherwise = "x"
    ledger = Ledger()
    journal = Journal(tmp_path, "run")
    kept = os.dup(journal._file)
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._file)
    os.close(full)
    with pytest.raises(LlmError, match="cannot write"):
        await reasoning(journal=journal, budget=ledger).ask(ASK)
    assert len(ledger.settled) == len(calls) == 1, "it was paid for all the same"
    os.dup2(kept, journal._file)
    os.close(kept)
    journal.close()


async def test_a_resumed_run_asks_nothing_twice(
    provider: LoopbackProvider, reasoning: Opened, calls: list[ModelCall], tmp_path: Path
) -> None:
    provider.otherwise = lambda request: f"answer {len(provider.requests)}"
    ledger = Ledger()
    other = msgspec.structs.replace(ASK, prompt='{"task":"other"}')
    journal = Journal(tmp_path, "run")
    llm = reasoning(journal=journal, budget=ledger)
    first = [(await llm.ask(each)).text for each in (ASK, other, ASK)]
    journal.close()
    paid, spent = dict(ledger.settled), sum(call.cost_usd or 0 for call in calls)
    assert len(paid) == 3

    ledger.asked.clear()
    calls.clear()
    journal = Journal(tmp_path, "run")
    spending = RunSpending(Caps(), journal)
    assert spending.usd == pytest.approx(spent), "the caps of a run know what it cost before it was interrupted"
    llm = reasoning(journal=journal, budget=ledger, spending=spending)
    replies = [await llm.ask(each) for each in (ASK, other, ASK)]
    assert [reply.text for reply in replies] == first and all(reply.replayed for reply in replies)
    assert len(provider.requests) == 3, "nothing was sent"
    assert {what for what, _ in ledger.asked} == {"settle"} and ledger.settled == paid
    assert all(call.replayed for call in calls) and spending.usd == pytest.approx(spent)

    assert (await llm.ask(ASK)).text == "answer 4"
    assert len(ledger.settled) == 4, "a new call has a key of its own"
    journal.delete()


async def test_a_reply_that_was_journalled_and_not_settled_is_settled_on_resume(
    provider: LoopbackProvider, reasoning: Opened, tmp_path: Path
) -> None:
    class Killed(Ledger):
        def settle(self, key: str, usd: float, *, phase: str = "", model: str = "") -> None:
            raise OSError("killed between two writes")

    provider.otherwise = "x"
    killed = Killed()
    journal = Journal(tmp_path, "run")
    with pytest.raises(OSError, match="killed"):
        await reasoning(journal=journal, budget=killed).ask(ASK)
    journal.close()
    (key,) = killed.reserved
    ledger = Ledger()
    ledger.reserved = dict(killed.reserved)
    journal = Journal(tmp_path, "run")
    assert (await reasoning(journal=journal, budget=ledger).ask(ASK)).replayed
    journal.close()
    assert list(ledger.settled) == [key] and not ledger.reserved


async def test_what_was_cut_is_cut_again_on_resume(
    provider: LoopbackProvider, reasoning: Opened, tmp_path: Path
) -> None:
    provider.script(Scripted(text='{"a": "b', stop="length"), {"a": "whole"})
    for _ in range(2):
        journal = Journal(tmp_path, "run")
        assert await ask_for(reasoning(journal=journal), ASK, Found) == Found("whole")
        journal.close()
    assert len(provider.requests) == 2
