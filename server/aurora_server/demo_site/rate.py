"""Rate limit (token bucket): how often a client may ask: a bucket per client that fills again at an even pace."""

from __future__ import annotations

import math
from collections import OrderedDict

_MAX_CLIENTS = 10_000


class RateLimit:
    """At most `per_minute` requests at once, and as many again within each minute."""

    def __init__(self, per_minute: int) -> None:
        self._capacity = float(per_minute)
        self._per_second = per_minute / 60
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float) -> int:
        """Take one request from the client's bucket: 0, or the seconds (at least 1) until there is one again."""
        left, then = self._clients.pop(client, (self._capacity, now))
        left = min(self._capacity, left + (now - then) * self._per_second)
        allowed = left >= 1
        self._clients[client] = (left - 1 if allowed else left, now)
        while len(self._clients) > _MAX_CLIENTS:
            self._clients.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1 - left) / self._per_second))
