"""Query documents: a run of the orchestrator as `aurora/query` answers it, and its stages as they are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from aurora_orchestration.conversations.time_breakdown import Timing, timing
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.soar.claims import MAX_SUMMARY, shown, usable
from aurora_orchestration.soar.stages import Stage
from aurora_orchestration.types import SubgoalResult, Verification
from aurora_protocol.query_methods import (
    PhaseTime,
    QueryCheck,
    QueryClaim,
    QueryResult,
    QuerySource,
    QueryStep,
    QueryTiming,
    StageNotice,
    TokenCounts,
)


def result_of(record: RunRecord, notices: Sequence[str] = ()) -> QueryResult:
    """Result of a run. Traces are as the phases recorded them, secrets redacted. `notices` come before its own."""
    synthesis, learned = record.synthesis, record.learned
    made = [call for call in record.calls if not call.replayed]
    judged = synthesis.verification if synthesis is not None else None
    if judged is None and record.plan is not None:
        judged = record.plan.verification
    return QueryResult(
        id=record.id,
        query=record.query,
        state=record.state,
        answer=record.answer,
        score=record.score,
        confidence=record.confidence,
        because=record.because,
        caveats=record.caveats,
        from_memory=record.from_memory is not None,
        complexity=record.complexity or (record.assessment.complexity if record.assessment is not None else None),
        claims=tuple(
            QueryClaim(text=each.text, sources=shown(each.sources, record.context)) for each in synthesis.claims
        )
        if synthesis
        else (),
        untraced=synthesis.untraced if synthesis is not None else (),
        sources=_sources(record),
        checks=_checks(judged),
        steps=tuple(_step(each) for each in record.results),
        notices=tuple(dict.fromkeys((*notices, *record.notices))),
        cost_usd=round(record.cost_usd, 6),
        unpriced_calls=sum(call.cost_usd is None for call in made),
        counted_usd=round(record.counted_usd, 6),
        estimated_usd=round(record.estimated_usd, 6),
        calls=len(made),
        tokens=TokenCounts(
            input=sum(call.usage.input_tokens for call in made),
            output=sum(call.usage.output_tokens for call in made),
            cache_read=sum(call.usage.cache_read_tokens for call in made),
            cache_write=sum(call.usage.cache_write_tokens for call in made),
            total=record.tokens,
            reasoning_llm=sum(call.usage.total for call in made if call.role == "reasoning"),
            agents=sum(call.usage.total for call in made if call.role == "solving"),
        ),
        took_ms=round(1000 * max(record.ended_at - record.started_at, 0.0), 1),
        timing=timing_of(timing(record)),
        log=record.log,
        cached=learned is not None and learned.reasoning_id is not None,
        reasoning_id=learned.reasoning_id if learned is not None else record.from_memory,
        runs=learned.runs if learned is not None else 0,
        trace=tuple(msgspec.to_builtins(each) for each in record.phases),
        error=record.error,
    )


def notice_of(stage: Stage) -> StageNotice:
    """One stage event, as it travels."""
    data: dict[str, Any] = msgspec.to_builtins(stage.data)
    return StageNotice(
        stage=stage.stage,
        status=stage.status,
        detail=stage.detail,
        data=data,
        progress=round(stage.progress, 3),
        cost_usd=round(stage.cost_usd, 6),
        elapsed_ms=round(stage.elapsed_ms, 1),
        run=stage.run,
    )


def timing_of(told: Timing) -> QueryTiming:
    """The breakdown of §9.4.1."""
    return QueryTiming(
        total_duration_ms=told.total_duration_ms,
        phases=tuple(
            PhaseTime(
                phase=each.phase,
                duration_ms=each.duration_ms,
                percentage=each.percentage,
                llm_ms=each.llm_ms,
                own_ms=each.own_ms,
                calls=each.calls,
            )
            for each in told.phases
        ),
        llm_ms=told.llm_ms,
        agents_ms=told.agents_ms,
        own_ms=told.own_ms,
    )


def _sources(record: RunRecord) -> tuple[QuerySource, ...]:
    chunks = record.context.chunks if record.context is not None else ()
    return tuple(
        QuerySource(
            id=each.id,
            type=each.type,
            name=each.name,
            file=each.file,
            line_start=each.line_start,
            line_end=each.line_end,
            score=each.score,
            activation=each.activation,
        )
        for each in chunks
    )


def _step(result: SubgoalResult) -> QueryStep:
    return QueryStep(
        id=result.subgoal.id,
        description=result.subgoal.description,
        agent=result.response.agent_id,
        done=usable(result),
        tries=len(result.tries),
        error=result.skipped or result.response.error,
        exit_code=result.response.metadata.exit_code,
        summary=result.response.output.summary[:MAX_SUMMARY] if result.response.output is not None else "",
    )


def _checks(judged: Verification | None) -> tuple[QueryCheck, ...]:
    if judged is None:
        return ()
    return tuple(QueryCheck(name=name, score=each.score, issues=each.issues) for name, each in judged.checks.items())
