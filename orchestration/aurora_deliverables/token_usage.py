"""Token usage (input, output, cached) and its cost, summed up. What nobody told stays None, however much is added to
it.
"""

from __future__ import annotations

from collections.abc import Sequence

from aurora_deliverables.deliverable import TokenUsage, together
from aurora_deliverables.events import TokensUsed


def usage_of(what: TokensUsed) -> TokenUsage:
    """What was told of one or more calls; what their total is above input and output is unsplit."""
    spending = TokenSum()
    spending.add(what)
    return spending.usage()


class TokenSum:
    """Sum of tokens told so far, added up as it comes: a log is folded often, so nothing is made anew for
    each event.
    """

    __slots__ = ("_cached", "_cost", "_input", "_output", "_unsplit", "costs")

    def __init__(self) -> None:
        self._input: int | None = None
        self._output: int | None = None
        self._unsplit: int | None = None
        self._cached = 0
        self._cost: float | None = None
        self.costs: dict[str | None, float] = {}
        """US dollars by model; None is who told no model."""

    def add(self, what: TokensUsed) -> None:
        """Take in what one event tells."""
        given, out, total = what.input_tokens, what.output_tokens, what.total_tokens
        if given is not None:
            self._input = (self._input or 0) + given
        if out is not None:
            self._output = (self._output or 0) + out
        if total is not None and total > (given or 0) + (out or 0):
            self._unsplit = (self._unsplit or 0) + total - (given or 0) - (out or 0)
        self._cached += what.cached_tokens
        if what.cost_usd is not None:
            self._cost = (self._cost or 0.0) + what.cost_usd
            self.costs[what.model] = self.costs.get(what.model, 0.0) + what.cost_usd

    def usage(self) -> TokenUsage:
        """The sums."""
        return TokenUsage(self._input, self._output, self._cached, self._cost, self._unsplit)


def added(usages: Sequence[TokenUsage]) -> TokenUsage | None:
    """Some usages as one; None where there is none."""
    if not usages:
        return None
    costs = [each.cost_usd for each in usages if each.cost_usd is not None]
    return TokenUsage(
        input_tokens=together(*(each.input_tokens for each in usages)),
        output_tokens=together(*(each.output_tokens for each in usages)),
        cached_tokens=sum(each.cached_tokens for each in usages),
        cost_usd=sum(costs) if costs else None,
        unsplit_tokens=together(*(each.unsplit_tokens for each in usages)),
    )
