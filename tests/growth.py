"""Growth of an action's processor time with its input: what is linear is told from what is quadratic. And growth of
memory with the number of actions: what each of them leaves behind.

On a busy machine too: the best of several tries is taken, since a neighbour can only make a run slower.
"""

from __future__ import annotations

import gc
import logging
import time
import tracemalloc
from collections.abc import Awaitable, Callable

ATTEMPTS = 12
"""Pairs measured before a growth counts as too steep; one quiet pair is enough to show that it is not."""

FLOOR = 0.001
"""Seconds below which the small input's time is the clock's noise."""


def grows_with_length(action: Callable[[int], object], small: int, large: int, *, limit: float | None = None) -> bool:
    """Whether the time grows about as the size does: between the two sizes, half way to quadratic is the limit.

    Choose `large` so that a quadratic action would take more than `(large / small) ** 1.5` times `FLOOR` seconds.
    """
    limit = (large / small) ** 1.5 if limit is None else limit
    best_small = best_large = float("inf")
    for _ in range(ATTEMPTS):
        best_small = min(best_small, _seconds(action, small))
        best_large = min(best_large, _seconds(action, large))
        if best_large < limit * max(best_small, FLOOR):
            return True
    return False


async def bytes_kept(action: Callable[[int], Awaitable[object]], few: int, many: int) -> float:
    """Bytes that each action leaves in memory for good, from number `few` to number `many`: 0 where it has a bound.

    What is left by each is left in both halves; what another thread of the process keeps meanwhile, in one. Nothing is
    logged: pytest keeps what is, whichever thread it is of, until the test ends.
    """
    gc.collect()
    logging.disable(logging.CRITICAL)
    tracemalloc.start()
    try:
        middle = (few + many) // 2
        kept: dict[int, int] = {}
        for number in range(many):
            if number in (few, middle):
                gc.collect()
                kept[number], _ = tracemalloc.get_traced_memory()
            await action(number)
        gc.collect()
        last, _ = tracemalloc.get_traced_memory()
        return min((kept[middle] - kept[few]) / (middle - few), (last - kept[middle]) / (many - middle))
    finally:
        tracemalloc.stop()
        logging.disable(logging.NOTSET)


def _seconds(action: Callable[[int], object], size: int) -> float:
    begun = time.process_time()
    action(size)
    return time.process_time() - begun
