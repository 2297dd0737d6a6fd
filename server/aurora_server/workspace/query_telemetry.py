"""Query telemetry: a run added to the instruments of questions (AURORA §9.4); no word of the question. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from aurora_deliverables.telemetry import query_instruments as of
from aurora_deliverables.telemetry.instruments import Instrument, Measurement
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.types import LEVELS


def run_measurements(run: RunRecord) -> list[Measurement]:
    """Measurements of a run that ended; what it did not come to adds nothing."""
    found: list[Measurement] = []

    def add(instrument: Instrument, value: float, **labels: str) -> None:
        if value:
            found.append(Measurement(instrument, value, labels))

    level = run.complexity or (run.assessment.complexity if run.assessment is not None else None)
    add(of.QUERIES, 1, state=run.state, complexity=level or "unknown")
    if level is not None:
        found.append(Measurement(of.COMPLEXITY, LEVELS.index(level), {}))
    if run.score is not None and run.from_memory is None:
        found.append(Measurement(of.SCORE, run.score, {}))
    patterns = sum(chunk.type == "reas" for chunk in run.context.chunks) if run.context is not None else 0
    add(of.CACHE_HITS, 1 if run.from_memory is not None else 0, kind="answer")
    add(of.CACHE_HITS, 1 if patterns and run.from_memory is None else 0, kind="pattern")
    for checkpoint, count in _retries(run).items():
        add(of.RETRIES, count, checkpoint=checkpoint)
    for result in run.results:
        for one in result.tries:
            if one.worked and one.ended_at > one.started_at:
                add(of.AGENT_LATENCY, 1000 * (one.ended_at - one.started_at), agent=one.agent_id)
    made = [call for call in run.calls if not call.replayed]
    for (phase, role), count in Counter((call.phase, call.role) for call in made).items():
        add(of.LLM_CALLS, count, phase=phase, role=role)
    for kind in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"):
        add(of.TOKENS, sum(getattr(call.usage, kind) for call in made), kind=kind.removesuffix("_tokens"))
    return found


def _retries(run: RunRecord) -> Mapping[str, int]:
    """Tries beyond the first, by the checkpoints of Appendix D."""
    return {
        "decomposition": max(0, len(run.plan.attempts) - 1) if run.plan is not None else 0,
        "agent_output": sum(max(0, len(each.tries) - 1) for each in run.results),
        "synthesis": max(0, len(run.synthesis.attempts) - 1) if run.synthesis is not None else 0,
    }
