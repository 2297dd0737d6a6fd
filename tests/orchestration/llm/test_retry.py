"""How often a request is tried again, after which waits, and when no more."""

from __future__ import annotations

import asyncio
import re

import pytest

from aurora_orchestration.llm.completion import LlmError, Rejected, Unavailable
from aurora_orchestration.llm.providers.provider import Passing
from aurora_orchestration.llm.providers.retry import retried


class Server:
    """Fails as often as it is told to; a number is what it asks to be left alone for."""

    def __init__(self, *failures: float | LlmError | None) -> None:
        self.failures = list(failures)
        self.asked = 0

    async def answer(self) -> str:
        self.asked += 1
        if not self.failures:
            return "fine"
        failure = self.failures.pop(0)
        raise failure if isinstance(failure, LlmError) else Passing("busy", failure)

    async def ask(self, retries: int = 3, seconds: float = 1000.0) -> str:
        return await retried(self.answer, who="it", limit=5.0, retries=retries, retry_seconds=seconds)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits, none of which is waited."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return waited


@pytest.mark.parametrize(
    ("retries", "failures", "asked", "fine"),
    [(0, 0, 1, True), (0, 1, 1, False), (1, 1, 2, True), (1, 2, 2, False), (3, 3, 4, True), (3, 4, 4, False)],
)
async def test_it_is_asked_once_and_as_often_again_as_settings_say(
    waits: list[float], retries: int, failures: int, asked: int, fine: bool
) -> None:
    server = Server(*[0.0] * failures)
    if fine:
        assert await server.ask(retries) == "fine"
    else:
        with pytest.raises(Passing, match="busy"):
            await server.ask(retries)
    assert (server.asked, len(waits)) == (asked, asked - 1)


@pytest.mark.parametrize("error", [Unavailable("gone"), Rejected("no")])
async def test_what_does_not_pass_is_not_tried_again(waits: list[float], error: LlmError) -> None:
    server = Server(error)
    with pytest.raises(type(error)):
        await server.ask()
    assert (server.asked, waits) == (1, [])


async def test_waits_double_from_half_a_second_to_eight_with_up_to_half_a_second_of_chance(waits: list[float]) -> None:
    await Server(*[None] * 7).ask(retries=7)
    for waited, least in zip(waits, (0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0), strict=True):
        assert least <= waited <= least + 0.5
    assert len({round(waited % 0.5, 6) for waited in waits}) > 1, "not all clients come back at once"


@pytest.mark.parametrize(("asked_for", "waited"), [(7.25, 7.25), (0.0, 0.0), (-3.0, 0.0)])
async def test_a_wait_that_is_asked_for_is_kept_to(waits: list[float], asked_for: float, waited: float) -> None:
    assert await Server(asked_for).ask() == "fine"
    assert waits == [waited]


@pytest.mark.parametrize(("asked_for", "asked"), [(9.0, 2), (11.0, 1)])
async def test_no_attempt_begins_after_the_time_for_retries(waits: list[float], asked_for: float, asked: int) -> None:
    server = Server(asked_for)
    if asked == 1:
        with pytest.raises(Passing, match="busy"):
            await server.ask(seconds=10.0)
    else:
        assert await server.ask(seconds=10.0) == "fine"
    assert server.asked == asked


async def test_an_attempt_that_takes_too_long_is_ended_and_tried_again() -> None:
    ended: list[str] = []

    async def hangs() -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return ""

    with pytest.raises(Passing, match=re.escape("it did not answer within 0.01 s")):
        await retried(hangs, who="it", limit=0.01, retries=1, retry_seconds=60.0)
    assert ended == ["cancelled"] * 2
