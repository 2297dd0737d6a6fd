"""Markdown rendering of a run's log, piece by piece (AURORA §9.7): header, phases with JSON blocks, execution summary.

Pure. `HEAD`, `SUMMARY` and the lines of both are what `log_reader` looks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from aurora_orchestration.conversations.log_names import keywords
from aurora_orchestration.conversations.log_sanitizer import json_text, named, one_line, quoted, sentence
from aurora_orchestration.conversations.time_breakdown import summary as timing_summary
from aurora_orchestration.conversations.time_breakdown import timing
from aurora_orchestration.run_record import PhaseRecord, RunRecord
from aurora_orchestration.settings import ConversationSettings
from aurora_orchestration.types import SubgoalResult

PHASE_TITLES = {
    "guard": "Phase 0: GUARDRAILS",
    "assess": "Phase 1: ASSESS",
    "retrieve": "Phase 2: RETRIEVE",
    "decompose": "Phase 3: DECOMPOSE",
    "verify": "Phase 4: VERIFY (Decomposition)",
    "route": "Phase 5: ROUTE",
    "collect": "Phase 6: COLLECT (Agent Outputs)",
    "verify_output": "Phase 6: COLLECT (Agent Outputs)",
    "synthesize": "Phase 7: SYNTHESIZE",
    "verify_synthesis": "Phase 4b: VERIFY (Synthesis)",
    "record": "Phase 8: RECORD",
    "respond": "Phase 9: RESPOND",
}
"""The heading each phase's record stands under."""

COLLECT = PHASE_TITLES["collect"]
SUMMARY = "### Execution Summary"
SPELT = {"verify": "verify_decomposition"}
"""Phases whose JSON names them otherwise than their records."""

GROUPS = {"verify_output": "verify", "verify_synthesis": "verify"}
"""Which of the settings' phases lets them be logged; `guard` is none of the nine and always is."""

KEPT_SCORE = 0.5


def header(run: str, query: str, started_at: float, count: int = 2) -> str:
    """What a log begins with. The query is one line, spelt as JSON spells strings."""
    words = ", ".join(keywords(query, count))
    return (
        f"---\n## Query: {moment(started_at)} | ID: {named(run)}\n\n"
        f"**User Query**: {one_line(query)}\n**Keywords**: {words}\n"
    )


def heading(phase: str, attempt: int = 1) -> str:
    """A phase's heading; later attempts say which they are."""
    title = PHASE_TITLES.get(phase, f"Phase: {named(phase)[:60].upper()}")
    return f"\n### {title}\n" if attempt < 2 else f"\n### {title} (attempt {attempt})\n"


def section_lines(lines: Sequence[str], title: str) -> tuple[int, int] | None:
    """First and last line, 1-based, of the latest section of a log with that heading; None where there is none."""
    heads = [number for number, line in enumerate(lines, 1) if line.startswith("### ")]
    found = [number for number in heads if lines[number - 1].startswith(f"### {title}")]
    if not found:
        return None
    end = next((number for number in heads if number > found[-1]), len(lines) + 1) - 1
    while end > found[-1] and not lines[end - 1].strip():
        end -= 1
    return found[-1], end


def phase_block(record: PhaseRecord, settings: ConversationSettings) -> str:
    """A phase's JSON block, with what stands above it."""
    document: dict[str, Any] = {"phase": SPELT.get(record.phase, record.phase)}
    if settings.include_metadata:
        document["timestamp"] = moment(record.at, precise=True)
    if record.input:
        document["input"] = record.input
    document["output"] = record.output
    if settings.include_metadata:
        document["duration_ms"] = round(record.duration_ms, 1)
    above = {
        "synthesize": "\n**Synthesis (Natural Language Recomposition)**\n",
        "collect": "\n**All agents**\n",
        "verify_output": "\n**Verification of an output**\n",
    }.get(record.phase, "")
    return above + fenced(document, settings)


def agent_block(result: SubgoalResult, settings: ConversationSettings) -> str:
    """What an agent gave back, with what it asked the user, how it worked and how that was judged."""
    response = result.response
    document: dict[str, Any] = {
        "subgoal_id": result.subgoal.id,
        "agent_id": response.agent_id,
        "description": result.subgoal.description,
        "status": response.status,
    }
    if response.output is not None:
        document["output"] = msgspec.structs.asdict(response.output)
    if response.error is not None:
        document["error"] = response.error
    if result.skipped:
        document["skipped"] = result.skipped
    if settings.include_user_interactions:
        document["user_interactions"] = [msgspec.structs.asdict(each) for each in response.user_interactions]
    if result.verification is not None:
        document["verification"] = msgspec.to_builtins(result.verification)
    if len(result.tries) > 1:
        document["attempts"] = [msgspec.to_builtins(each) for each in result.tries]
    if settings.include_metadata:
        facts_told = msgspec.structs.asdict(response.metadata)
        if facts_told["exit_code"] is None:
            del facts_told["exit_code"]
        if facts_told["can_act"]:
            del facts_told["can_act"]
        document["metadata"] = facts_told
        if result.ended_at:
            document["timestamp"] = moment(result.ended_at, precise=True)
    said = sentence(result.subgoal.description, 100)
    name = named(response.agent_id)
    return f"\n**Agent {named(result.subgoal.id)}: {name}** ({said})\n" + fenced(document, settings)


def answer_block(answer: str) -> str:
    """The answer as the user got it."""
    return f"\n**Response**\n\n{quoted(answer)}\n" if answer.strip() else ""


def ending(record: RunRecord, settings: ConversationSettings) -> str:
    """The execution summary. Its JSON block is what reports are drawn from."""
    lines = _lines(record) if settings.include_metadata else []
    lines.append(f"- **Status**: {record.state}")
    if record.error:
        lines.append(f"- **Error**: {sentence(record.error)}")
    lines += [f"- **Notice**: {sentence(notice)}" for notice in record.notices[:50]]
    block = (
        f"\n**Timing**\n{fenced({'execution_summary': facts(record)}, settings)}" if settings.include_metadata else ""
    )
    listed = "\n".join(lines)
    return f"\n{SUMMARY}\n{listed}\n{block}\n---\n"


def interruption(run: str, when: float) -> str:
    """The execution summary of a run that nobody finished."""
    return f"\n{SUMMARY}\n- **Status**: interrupted\n- **Noticed**: {moment(when)}\n- **Run**: {named(run)}\n\n---\n"


def facts(record: RunRecord) -> dict[str, Any]:
    """What a run came to, in numbers."""
    learned = record.learned
    made = [call for call in record.calls if not call.replayed]
    return {
        "id": record.id,
        "state": record.state,
        "mode": record.mode,
        "workspace": record.workspace,
        "complexity": record.complexity,
        "score": record.score,
        "confidence": record.confidence,
        "cost_usd": round(record.cost_usd, 6),
        "counted_usd": round(record.counted_usd, 6),
        "estimated_usd": round(record.estimated_usd, 6),
        "tokens": {
            "reasoning_llm": sum(call.usage.total for call in made if call.role == "reasoning"),
            "agents": sum(call.usage.total for call in made if call.role == "solving"),
            "input": sum(call.usage.input_tokens for call in made),
            "output": sum(call.usage.output_tokens for call in made),
            "cached": sum(call.usage.cache_read_tokens for call in made),
            "total": record.tokens,
        },
        "llm_calls": len(made),
        "replayed_calls": len(record.calls) - len(made),
        "unpriced_calls": sum(call.cost_usd is None for call in made),
        "failed_calls": sum(call.error is not None for call in made),
        "retries": _retries(record),
        "user_interactions": sum(len(each.response.user_interactions) for each in record.results),
        "patterns_used": sum(chunk.type == "reas" for chunk in record.context.chunks) if record.context else 0,
        "stored": learned is not None and learned.reasoning_id is not None,
        "chunk_id": learned.reasoning_id if learned is not None else None,
        "is_pattern": learned is not None and learned.is_pattern,
        "error": sentence(record.error) if record.error else None,
        **timing_summary(timing(record)),
    }


def phase_parts(
    record: PhaseRecord,
    results: Iterable[SubgoalResult],
    attempts: dict[str, int],
    current: str,
    settings: ConversationSettings,
) -> tuple[list[str], str]:
    """The pieces of a phase and the title they stand under; `current` is that of what was last written.

    `attempts` counts each phase's, and is counted up. `results` are written with `collect`.
    """
    if not included(record.phase, settings):
        return [], current
    title = PHASE_TITLES.get(record.phase, record.phase)
    parts: list[str] = []
    if title != COLLECT or current != COLLECT:
        attempts[title] = attempts.get(title, 0) + 1
        parts.append(heading(record.phase, attempts[title]))
    if record.phase == "collect":
        parts += [agent_block(each, settings) for each in results]
    return [*parts, phase_block(record, settings)], title


def included(phase: str, settings: ConversationSettings) -> bool:
    """Whether a phase is to be logged."""
    return phase == "guard" or GROUPS.get(phase, phase) in settings.include_phases


def fenced(document: Any, settings: ConversationSettings) -> str:
    """A JSON block. No line of it can begin with a backtick: strings hold no line breaks (`log_sanitizer`)."""
    return f"```json\n{json_text(document, interactions=settings.include_user_interactions)}\n```\n"


def moment(seconds: float, *, precise: bool = False) -> str:
    """Unix seconds as `2025-12-13T14:32:15Z`; with milliseconds where it is to be precise."""
    try:
        return (
            datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds" if precise else "seconds")[:-6] + "Z"
        )
    except (OverflowError, ValueError, OSError):
        return "1970-01-01T00:00:00Z"


def _lines(record: RunRecord) -> list[str]:
    lines = [f"- **Total Duration**: {max(record.ended_at - record.started_at, 0.0):.1f} seconds"]
    if record.complexity is not None:
        sure = f" ({record.assessment.confidence:.2f} confidence)" if record.assessment is not None else ""
        lines.append(f"- **Complexity**: {record.complexity.upper()}{sure}")
    scores = []
    if record.plan is not None:
        scores.append(f"Decomposition {record.plan.verification.overall_score:.2f}")
    if record.synthesis is not None and record.synthesis.verification is not None:
        scores.append(f"Synthesis {record.synthesis.verification.overall_score:.2f}")
    if scores:
        lines.append(f"- **Verification Scores**: {', '.join(scores)}")
    asked = sum(len(each.response.user_interactions) for each in record.results)
    if record.results:
        lines.append(f"- **Agent Interactions**: {len(record.results)} subgoals, {asked} user interactions")
    lines.append(f"- **ACT-R Storage**: {_storage(record)}")
    lines.append(f"- **Tokens Used**: {record.tokens:,} total")
    unknown = sum(call.cost_usd is None for call in record.calls if not call.replayed)
    more = f" (and {unknown} calls of unknown price)" if unknown else ""
    lines.append(f"- **Estimated Cost**: ${record.cost_usd:.4f}{more}")
    if record.score is not None:
        lines.append(f"- **Score**: {record.score:.2f}")
    return lines


def _storage(record: RunRecord) -> str:
    if record.learned is not None and record.learned.reasoning_id is not None:
        if record.learned.proved:
            return "Yes (score ≥ 0.8, a pattern)"
        return "Yes (score ≥ 0.5, counted to a pattern like it)" if record.learned.is_pattern else "Yes (score ≥ 0.5)"
    if record.score is not None and record.score < KEPT_SCORE:
        return "No (score < 0.5)"
    return "No"


def _retries(record: RunRecord) -> dict[str, int]:
    found = {}
    if record.plan is not None and len(record.plan.attempts) > 1:
        found["decomposition"] = len(record.plan.attempts) - 1
    outputs = sum(max(len(each.tries) - 1, 0) for each in record.results)
    if outputs:
        found["agent_output"] = outputs
    if record.synthesis is not None and len(record.synthesis.attempts) > 1:
        found["synthesis"] = len(record.synthesis.attempts) - 1
    return found
