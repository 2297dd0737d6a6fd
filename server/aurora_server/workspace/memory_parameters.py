"""The numbers that a memory weighs and learns by, as they are configured (AURORA §6.3, §6.7)."""

from __future__ import annotations

from aurora_memory.activation import Weighing
from aurora_memory.learning import Policy
from aurora_server.configuration.settings import Settings


def weighing_of(settings: Settings) -> Weighing:
    """`memory.activation.*`."""
    given = settings.memory.activation
    return Weighing(
        given.decay_rate,
        given.spread_factor,
        given.max_spread_hops,
        given.context_boost_max,
        given.retrieval_threshold,
    )


def policy_of(settings: Settings) -> Policy:
    """`memory.learning.*` and `memory.caching_policy.*`: what did not help in a partial success loses what it gains."""
    learning, caching = settings.memory.learning, settings.memory.caching_policy
    return Policy(
        pattern_score=caching.mark_as_pattern_if_gte,
        kept_score=caching.cache_if_score_gte,
        success=learning.success_boost,
        helpful=learning.partial_boost,
        unhelpful=-learning.partial_boost,
        neutral=learning.neutral,
        misleading=learning.failure_penalty,
        flagged=caching.include_confidence_flag,
    )
