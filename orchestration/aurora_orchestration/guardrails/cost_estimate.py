"""Cost estimate: what a question will cost, before anything is known but its length and how hard it seems (AURORA
§9.4.2).
"""

from __future__ import annotations

from types import MappingProxyType

from aurora_orchestration.settings import ComplexitySettings
from aurora_orchestration.types import Complexity

BASE_USD = MappingProxyType({"simple": 0.001, "medium": 0.05, "complex": 0.50, "critical": 0.50})
"""Dollars for a thousand tokens of question, by complexity; the specification has no base for critical ones, which
differ from complex ones by their multiplier."""

_LETTERS_PER_TOKEN = 4


def tokens_of(query: str) -> int:
    """About how many tokens `query` has: one for four letters, at least one."""
    return max(1, -(-len(query) // _LETTERS_PER_TOKEN))


def estimate(query_tokens: int, complexity: Complexity, settings: ComplexitySettings) -> float:
    """Dollars: base cost × `complexity.routing.<complexity>.cost_multiplier` × thousands of tokens in the question."""
    multiplier: float = getattr(settings.routing, complexity).cost_multiplier
    return BASE_USD[complexity] * multiplier * max(0, query_tokens) / 1000
