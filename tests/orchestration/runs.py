"""Runs of the orchestrator, made by hand: what logs, reports, timing and views are tried with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aurora_memory.learning import Learned
from aurora_orchestration.run_record import PhaseRecord, RunRecord
from aurora_orchestration.types import (
    Agent,
    AgentMetadata,
    AgentResponse,
    Assessment,
    Assignment,
    Check,
    Claim,
    ContextBundle,
    ContextChunk,
    Decomposition,
    Given,
    Goal,
    Interaction,
    ModelCall,
    Output,
    Plan,
    RoutingPlan,
    Subgoal,
    SubgoalResult,
    Synthesis,
    Usage,
    Verification,
)

BEGAN = 1_765_636_335.0
"""2025-12-13T14:32:15Z."""

QUERY = "Add OAuth2 login with refresh tokens to the API"
ID = "aurora-20251213-143215-abc123"
ANSWER = "Login goes through `OAuthClient` now (src/auth.py:41).\n\n- tokens are refreshed before they end\n- 12 tests"
CODER = Agent(id="coder", type="executable", command="./coder")
SG1 = Subgoal(id="SG1", description="Compare OAuth providers", agent="llm-executor")
SG2 = Subgoal(id="SG2", description="Keep refresh tokens encrypted", agent="coder", depends_on=("SG1",))
SG3 = Subgoal(id="SG3", description="Test the whole flow", agent="coder", depends_on=("SG1",))


def verification(score: float = 0.9, *, weakest: float | None = None, **names: float) -> Verification:
    """A verdict with these checks."""
    checks = {name: Check(score=each, passed=each >= 0.7) for name, each in names.items()}
    if weakest is not None:
        checks["calibrated"] = Check(score=weakest, passed=False, issues=("says 'always' where one file was read",))
    return Verification(
        checks=checks or {"completeness": Check(score=score, passed=True)}, overall_score=score, verdict="pass"
    )


def result(subgoal: Subgoal, begun: float, seconds: float, **more: Any) -> SubgoalResult:
    """A subgoal that was done from `begun` (seconds after the run's beginning) for `seconds`."""
    response = AgentResponse(
        subgoal_id=subgoal.id,
        agent_id=subgoal.agent,
        status="success",
        output=Output(summary=f"done: {subgoal.description}", confidence=0.9, data={"files": ["src/auth.py"]}),
        metadata=AgentMetadata(tools_used=("read", "edit"), duration_ms=1000 * seconds, model_used="m-1"),
        **more,
    )
    return SubgoalResult(
        subgoal=subgoal,
        response=response,
        verification=verification(0.85),
        started_at=BEGAN + begun,
        ended_at=BEGAN + begun + seconds,
    )


def phase(name: str, begun: float, milliseconds: float, given: Any = None, found: Any = None) -> PhaseRecord:
    """What a phase did, begun so many seconds after the run."""
    return PhaseRecord(
        phase=name,
        at=BEGAN + begun,
        duration_ms=milliseconds,
        input=given or {"query": QUERY},
        output=found or {"ok": True},
    )


def call(phase: str, begun: float, milliseconds: float, *, cost: float | None = 0.002, **more: Any) -> ModelCall:
    """A call to a model, of 1,200 tokens."""
    return ModelCall(
        phase=phase,
        purpose=more.pop("purpose", phase),
        role=more.pop("role", "reasoning"),
        provider="anthropic",
        model="m-1",
        usage=Usage(input_tokens=900, output_tokens=200, cache_read_tokens=100),
        cost_usd=cost,
        started_at=BEGAN + begun,
        took_ms=milliseconds,
        **more,
    )


ASKED = Interaction(
    turn=1, agent_question="Which provider?", user_response="Auth0", timestamp="2025-12-13T14:32:20.100Z"
)

PHASES: Sequence[PhaseRecord] = (
    phase("guard", 0.0, 40, found={"redactions": []}),
    phase("assess", 0.04, 460, found={"complexity": "complex", "confidence": 0.87}),
    phase("retrieve", 0.5, 300, found={"chunks_retrieved": {"code": [{"id": "code:src/auth.py:login:41-60"}]}}),
    phase("decompose", 0.8, 2000, found={"subgoals": [{"id": "SG1", "description": SG1.description}]}),
    phase("verify", 2.8, 1700, found={"overall_score": 0.9, "verdict": "pass"}),
    phase("route", 4.5, 100, found={"routing": [{"subgoal_id": "SG1", "agent_id": "llm-executor"}]}),
    phase("collect", 4.6, 6000, found={"subgoals": 3}),
    phase("synthesize", 10.6, 1500, found={"final_answer": ANSWER}),
    phase("verify_synthesis", 12.1, 600, found={"overall_score": 0.93, "verdict": "pass"}),
    phase("record", 12.7, 80, found={"stored_to_actr": True, "chunk_id": "reas:oauth2-login"}),
    phase("respond", 12.78, 5, found={"format": "natural_language"}),
)


def run(**changed: Any) -> RunRecord:
    """A complex run of 12.8 s in which all went well: three subgoals, two of them at once, and one question."""
    told: dict[str, Any] = {
        "id": ID,
        "query": QUERY,
        "workspace": "/home/someone/shop",
        "started_at": BEGAN,
        "ended_at": BEGAN + 12.8,
        "state": "complete",
        "answer": ANSWER,
        "score": 0.93,
        "confidence": 0.88,
        "complexity": "complex",
        "assessment": Assessment(
            complexity="complex",
            confidence=0.87,
            score=0.7,
            method="keyword",
            indicators=("add",),
            verification="option_b",
        ),
        "context": ContextBundle(
            chunks=(
                ContextChunk(
                    row=1,
                    id="code:src/auth.py:login:41-60",
                    type="code",
                    name="login",
                    file="src/auth.py",
                    line_start=41,
                    line_end=60,
                    score=0.9,
                    tokens=200,
                    content="def login(): …",
                    activation=0.8,
                ),
            ),
            tokens=200,
            budget=12_000,
        ),
        "plan": Plan(
            decomposition=Decomposition(
                id="d1",
                original_query=QUERY,
                goal=Goal(description="OAuth2 login"),
                given=(Given(id="G1", fact="there is a login", source="src/auth.py:41"),),
                subgoals=(SG1, SG2, SG3),
                execution_order=("SG1", "SG2", "SG3"),
                complexity="complex",
            ),
            verification=verification(0.9, completeness=0.9, consistency=0.95, groundedness=0.85, routability=0.9),
            complexity="complex",
            option="option_b",
        ),
        "routing": RoutingPlan(
            assignments=(
                Assignment(subgoal=SG1, agent=Agent(id="llm-executor", type="builtin"), why="asked for", wave=0),
                Assignment(subgoal=SG2, agent=CODER, why="asked for", wave=1),
                Assignment(subgoal=SG3, agent=CODER, why="asked for", wave=1),
            )
        ),
        "results": (result(SG1, 4.6, 2.0, user_interactions=(ASKED,)), result(SG2, 6.6, 4.0), result(SG3, 6.6, 3.0)),
        "synthesis": Synthesis(
            answer=ANSWER,
            claims=(Claim(text="login goes through OAuthClient", sources=("SG2", "src/auth.py:41")),),
            confidence=0.88,
            verification=verification(0.93, addresses_query=0.95, traceable=0.92, consistent=0.95, calibrated=0.9),
        ),
        "learned": Learned(outcome="success", reasoning_id="reas:oauth2-login", is_pattern=True),
        "phases": tuple(PHASES),
        "calls": (
            call("decompose", 0.85, 1900),
            call("verify", 2.85, 1600, purpose="verify decomposition"),
            call("collect", 4.7, 1800, role="solving"),
            call("synthesize", 10.65, 1400),
            call("synthesize", 12.15, 500, purpose="verify synthesis"),
        ),
    }
    return RunRecord(**{**told, **changed})
