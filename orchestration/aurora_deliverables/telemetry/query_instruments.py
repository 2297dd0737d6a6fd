"""Metric instruments of questions: the counters and histograms of AURORA §9.4, by the specification's own names."""

from __future__ import annotations

from aurora_deliverables.telemetry.instruments import Instrument

_SCORES = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)

QUERIES = Instrument("aurora_queries_total", "counter", "{query}", "Total queries processed")
COMPLEXITY = Instrument(
    "aurora_query_complexity",
    "histogram",
    "1",
    "Distribution by complexity: 0 simple, 1 medium, 2 complex, 3 critical",
    (0, 1, 2, 3),
)
SCORE = Instrument(
    "aurora_verification_score", "histogram", "1", "Distribution of the final verification's scores", _SCORES
)
CACHE_HITS = Instrument("aurora_cache_hits", "counter", "{hit}", "Answers from memory, and runs that had a pattern")
RETRIES = Instrument("aurora_retry_count", "counter", "{retry}", "Retry attempts by checkpoint")
AGENT_LATENCY = Instrument(
    "aurora_agent_latency_ms",
    "histogram",
    "ms",
    "Agent execution time",
    (100, 500, 1_000, 5_000, 10_000, 30_000, 60_000, 300_000),
)
LLM_CALLS = Instrument("aurora_llm_calls", "counter", "{call}", "Calls to language models by phase")
TOKENS = Instrument("aurora_tokens_used", "counter", "{token}", "Tokens by kind")

QUERY_INSTRUMENTS = (QUERIES, COMPLEXITY, SCORE, CACHE_HITS, RETRIES, AGENT_LATENCY, LLM_CALLS, TOKENS)
