"""Tokens and their cost, added up. What nobody told stays None, however much is added to it."""

from __future__ import annotations

from collections.abc import Sequence

from aurora_orchestration.deliverables.model import TokensUsed, TokenUsage, together


def usage_of(what: TokensUsed) -> TokenUsage:
    """What was told of one or more calls; what their total is above input and output is unsplit."""
    unsplit = None
    if what.total_tokens is not None:
        unsplit = max(0, what.total_tokens - (what.input_tokens or 0) - (what.output_tokens or 0)) or None
    return TokenUsage(what.input_tokens, what.output_tokens, what.cached_tokens, what.cost_usd, unsplit)


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
