"""Spreading activation (priming over a graph), by fan: what the question and the editor's context prime, reached over
relations (AURORA §6.3).

Sources share one unit of attention. At each hop what a chunk passes on shrinks to 0.7, is divided among its relations
(ACT-R's fan effect, here by the root of the fan), and counts by how sure and how telling the relation is. Three hops.
`Weighing` may say otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from aurora_memory.activation import USUAL, Weighing
from aurora_memory.views import Arc

HUB = 32
"""A chunk with more relations in one direction than this says nothing about any of them."""

FRONTIER = 12
"""Chunks that pass activation on at each hop: the strongest."""

FAINT = 0.01
"""Activation too small to be passed on."""

WEIGHTS = {
    "calls": 1.0,
    "inherits": 0.8,
    "contains": 0.6,
    "imports": 0.4,
    "used": 1.0,
    "tests": 0.8,
    "edited with": 0.8,
    "mentions": 0.6,
}
"""Weight of relations: the share of activation that each passes on, whichever way it is followed."""


class Hop(Struct, frozen=True):
    """Last hop to a chunk: from which, over what relation, and how much activation came that way in all."""

    source: int
    kind: str
    forward: bool
    amount: float
    hops: int


class Spread:
    """Spreading activation on its way, breadth first.

    Ask `frontier` for the chunks whose arcs are needed, give them to `follow`, repeat.
    """

    def __init__(self, sources: Mapping[int, float], weighing: Weighing = USUAL) -> None:
        self._per_hop, self._most = weighing.spread_factor, weighing.max_spread_hops
        attention = sum(sources.values()) or 1.0
        self._front = {chunk: share / attention for chunk, share in sources.items()}
        self._best: dict[int, tuple[int, str, bool, float, int]] = {}
        self.amounts: dict[int, float] = {}
        self.hops = 0

    def frontier(self) -> list[int]:
        """The chunks that pass activation on next; empty when spreading is over."""
        if self.hops >= self._most:
            return []
        telling = [entry for entry in self._front.items() if entry[1] >= FAINT]
        return [chunk for chunk, _ in sorted(telling, key=lambda entry: (-entry[1], entry[0]))[:FRONTIER]]

    def follow(self, arcs: Sequence[Arc]) -> None:
        """Pass activation from the frontier over its arcs."""
        self.hops += 1
        fans: dict[int, int] = {}
        for arc in arcs:
            fans[arc[0]] = fans.get(arc[0], 0) + 1
        shares = {source: self._front.get(source, 0.0) * self._per_hop / math.sqrt(fan) for source, fan in fans.items()}
        reached: dict[int, float] = {}
        best, hops = self._best, self.hops
        for source, target, kind, weight, forward in arcs:
            amount = shares[source] * weight * WEIGHTS.get(kind, 0.5)
            reached[target] = reached.get(target, 0.0) + amount
            known = best.get(target)
            if known is None or amount > known[3]:
                best[target] = source, kind, forward, amount, hops
        amounts = self.amounts
        for chunk, amount in reached.items():
            amounts[chunk] = amounts.get(chunk, 0.0) + amount
        self._front = reached

    def path_to(self, chunk: int) -> list[Hop]:
        """The strongest way to a chunk, from its source on; empty where nothing reached it."""
        steps: list[Hop] = []
        while (best := self._best.get(chunk)) is not None and len(steps) < self._most:
            step = Hop(*best)
            if steps and step.hops >= steps[-1].hops:
                break
            steps.append(step)
            chunk = step.source
        return steps[::-1]
