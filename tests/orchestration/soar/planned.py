"""A question, its context, agents and good replies, for tests that plan against the scripted provider."""

from __future__ import annotations

from typing import Any

from aurora_orchestration.llm.completion import Llm
from aurora_orchestration.llm.models import open_models
from aurora_orchestration.types import Agent, ContextBundle, ContextChunk
from tests.orchestration.llm.loopback import LoopbackProvider

QUERY = "Add rate limiting to the public API, log rejected requests, and document the limits."
AGENTS = (
    Agent(id="implementer", type="builtin", capabilities=("implementation",)),
    Agent(id="writer", type="builtin", capabilities=("documentation",)),
)


def bundle(content: str = "class RequestPipeline: def add(self, handler): ...") -> ContextBundle:
    """One chunk of context."""
    chunk = ContextChunk(
        row=1,
        id="code:src/api/middleware.py:RequestPipeline:1-20",
        type="code",
        name="RequestPipeline",
        file="src/api/middleware.py",
        line_start=1,
        line_end=20,
        score=0.9,
        tokens=30,
        content=content,
    )
    return ContextBundle(chunks=(chunk,), tokens=30, budget=1000)


def good(**changed: Any) -> dict[str, Any]:
    """A decomposition that rules find nothing against."""
    body: dict[str, Any] = {
        "given": [{"id": "G1", "fact": "The public API needs rate limiting", "source": "query"}],
        "goal": {"description": "A protected API", "success_criteria": ["429 above the limit"]},
        "subgoals": [
            subgoal("SG1", "Throttle public API requests in RequestPipeline"),
            subgoal("SG2", "Log each rejected request of the throttle", depends_on=["SG1"]),
            subgoal("SG3", "Document the limits for readers", agent="writer", depends_on=["SG1"]),
        ],
    }
    return {"decomposition": body | changed}


def subgoal(number: str, description: str, **changed: Any) -> dict[str, Any]:
    """One subgoal as a model writes it."""
    plain = {
        "id": number,
        "description": description,
        "agent": "implementer",
        "requires": ["G1"],
        "depends_on": [],
        "expected_output": "done",
    }
    return plain | changed


def scores(value: float, names: str = "completeness consistency groundedness routability", **more: Any) -> Any:
    """A judge's reply with one score for all checks."""
    checks = {name: {"score": value, "pass": value >= 0.7, "issues": [], "detail": ""} for name in names.split()}
    for each in more.pop("issues", ()):
        next(iter(checks.values()))["issues"].append(each)
    return {"verification": {"checks": checks, "overall_score": value} | more}


def llm_of(provider: LoopbackProvider) -> Llm:
    """The provider's model through the real SDK."""
    models = open_models(
        provider.llm_settings(),
        provider.environ,
        None,
        run="run",
        budget=None,
        journal=None,
        heard=lambda call: None,
    )
    assert models.reasoning
    return models.reasoning
