"""A run as the wire carries it: what the user gets, what it rests on, what it cost and where the time went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from aurora_orchestration.conversations.timing import timing
from aurora_orchestration.llm.asking import Usage
from aurora_orchestration.soar.model import Verification
from aurora_orchestration.soar.run import RunRecord
from aurora_protocol.queries import (
    PhaseTime,
    QueryCheck,
    QueryClaim,
    QueryResult,
    QuerySource,
    QueryTiming,
    TokenCounts,
)
from aurora_server.wire import iso


def query_result(run: RunRecord, notices: Sequence[str] = ()) -> QueryResult:
    """The result of `aurora/query`. `notices` come before those of the run itself."""
    synthesis, learned = run.synthesis, run.learned
    claims = synthesis.claims if synthesis else ()
    return QueryResult(
        id=run.id,
        query=run.query,
        state=run.state,
        answer=run.answer,
        score=run.score,
        confidence=run.confidence,
        because=run.because,
        caveats=run.caveats,
        complexity=run.complexity or (run.assessment.complexity if run.assessment else None),
        claims=tuple(QueryClaim(text=claim.text, sources=claim.sources) for claim in claims),
        untraced=synthesis.untraced if synthesis else (),
        sources=_sources(run),
        checks=_checks(_last_verification(run)),
        notices=tuple(dict.fromkeys([*notices, *run.notices])),
        cost_usd=run.cost_usd,
        unpriced_calls=sum(call.cost_usd is None and not call.replayed for call in run.calls),
        calls=sum(not call.replayed for call in run.calls),
        tokens=_tokens(run),
        took_ms=round((run.ended_at - run.started_at) * 1000, 3),
        timing=_timing(run),
        log=run.log,
        cached=learned is not None and learned.reasoning_id is not None,
        reasoning_id=learned.reasoning_id if learned is not None else run.from_memory,
        from_memory=run.from_memory is not None,
        trace=tuple(
            {
                "phase": each.phase,
                "timestamp": iso(each.at),
                "duration_ms": each.duration_ms,
                "input": each.input,
                "output": each.output,
            }
            for each in run.phases
        ),
        error=run.error,
    )


def _last_verification(run: RunRecord) -> Verification | None:
    if run.synthesis is not None and run.synthesis.verification is not None:
        return run.synthesis.verification
    return run.plan.verification if run.plan is not None else None


def _checks(verification: Verification | None) -> tuple[QueryCheck, ...]:
    if verification is None:
        return ()
    return tuple(
        QueryCheck(name=name, score=check.score, issues=check.issues) for name, check in verification.checks.items()
    )


def _sources(run: RunRecord) -> tuple[QuerySource, ...]:
    return tuple(
        QuerySource(
            id=chunk.id,
            type=chunk.type,
            name=chunk.name,
            file=chunk.file,
            line_start=chunk.line_start,
            line_end=chunk.line_end,
            score=chunk.score,
            activation=chunk.activation,
        )
        for chunk in (run.context.chunks if run.context else ())
    )


def _tokens(run: RunRecord) -> TokenCounts:
    by_role: Counter[str] = Counter()
    usage = Usage()
    for call in run.calls:
        if not call.replayed:
            usage += call.usage
            by_role[call.role] += call.usage.total
    return TokenCounts(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_read=usage.cache_read_tokens,
        cache_write=usage.cache_write_tokens,
        total=usage.total,
        reasoning_llm=by_role["reasoning"],
        agents=by_role["solving"],
    )


def _timing(run: RunRecord) -> QueryTiming:
    told = timing(run)
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
