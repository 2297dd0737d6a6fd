"""Retry with exponential backoff and jitter of transient failures: rate limiting by a provider (HTTP 429), an
overloaded one (HTTP 503), a lost connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from aurora_orchestration.llm.providers.provider import Passing

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")

_FIRST_WAIT = 0.5
_LONGEST_WAIT = 8.0


async def retried(
    attempt: Callable[[], Awaitable[T]], *, who: str, limit: float, retries: int, retry_seconds: float
) -> T:
    """Result of an attempt, retried with exponential backoff up to `retries` times, while it fails with `Passing`.

    An attempt takes at most `limit` seconds. Waits are what the provider asked for, or double from half a second; no
    attempt begins later than `retry_seconds` after the first. So the whole takes at most `retry_seconds + limit`. The
    error that ends it says `taken` where any attempt may have been worked on.
    """
    from tenacity import (
        AsyncRetrying,
        retry_if_exception_type,
        stop_after_attempt,
        stop_any,
        stop_before_delay,
        wait_exponential,
        wait_random,
    )

    backing_off = wait_exponential(multiplier=_FIRST_WAIT, max=_LONGEST_WAIT) + wait_random(0, _FIRST_WAIT)

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.wait if isinstance(error, Passing) else None
        return backing_off(state) if asked is None else max(asked, 0.0)

    taken = False

    async def bounded() -> T:
        nonlocal taken
        try:
            async with asyncio.timeout(limit):
                return await attempt()
        except TimeoutError:
            taken = True
            raise Passing(f"{who} did not answer within {limit:g} s") from None
        except Passing as error:
            taken = error.taken = taken or error.taken
            raise

    again = AsyncRetrying(
        retry=retry_if_exception_type(Passing),
        wait=wait,
        stop=stop_any(stop_after_attempt(retries + 1), stop_before_delay(retry_seconds)),
        reraise=True,
    )
    return await again(bounded)
