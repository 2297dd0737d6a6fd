"""Shared nouns (data classes): assessment, context, plan, subgoal, agent, response, verification, call (AURORA §4.2,
§5.4, §7.2.1).

Scores and confidences in [0, 1]. The floor that every other package here stands on; it imports none of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta, Struct, field

from aurora_memory.documents import Complexity as Complexity
from aurora_memory.documents import VerificationOption as VerificationOption

Verdict = Literal["pass", "retry", "fail"]
Share = Annotated[float, Meta(ge=0, le=1)]
Text = Annotated[str, Meta(min_length=1, max_length=4000)]
Id = Annotated[str, Meta(min_length=1, max_length=64)]
LEVELS: tuple[Complexity, ...] = ("simple", "medium", "complex", "critical")
OPTION_OF: dict[Complexity, VerificationOption] = {"medium": "option_a", "complex": "option_b", "critical": "option_c"}
LEVEL_OF: dict[VerificationOption, Complexity] = {option: level for level, option in OPTION_OF.items()}


class Assessment(Struct, frozen=True, kw_only=True):
    """Complexity of a question, by which means, and why (§8.2). `score` is the keyword tier's, `confidence` its own."""

    complexity: Complexity
    confidence: Share
    score: Share
    method: Literal["keyword", "llm", "session", "asked"]
    reasoning: str = ""
    indicators: tuple[str, ...] = ()
    verification: Literal["none"] | VerificationOption = "none"


class ContextChunk(Struct, frozen=True, kw_only=True):
    """A recalled chunk as a run sees it. `row` is memory's own id; `id` as people see it. Lines 1-based, inclusive."""

    row: int
    id: str
    type: Literal["code", "reas", "know"]
    name: str
    file: str
    line_start: int
    line_end: int
    score: float
    tokens: int
    content: str
    summary: str = ""
    activation: float = 0.0


class LogSection(Struct, frozen=True, kw_only=True):
    """A section of a conversation log that may tell of what is asked (§6.8.2.1)."""

    file: str
    section: str
    line_start: int
    line_end: int
    content: str
    tokens: int
    score: float


class ContextBundle(Struct, frozen=True, kw_only=True):
    """Context of a question: what memory gave, best first, within `budget` tokens."""

    chunks: tuple[ContextChunk, ...] = ()
    logs: tuple[LogSection, ...] = ()
    tokens: int = 0
    budget: int = 0


class Given(Struct, frozen=True, kw_only=True):
    """A fact a decomposition rests on."""

    id: Id
    fact: Text
    source: Annotated[str, Meta(min_length=1, max_length=500)]


class Goal(Struct, frozen=True, kw_only=True):
    """Goal of a plan, and how one would know it is met."""

    description: Text
    success_criteria: tuple[Text, ...] = ()


class Subgoal(Struct, frozen=True, kw_only=True):
    """Subgoal, one step of a plan: what it rests on (`requires`, ids of givens), who does it, and after which
    others.
    """

    id: Id
    description: Text
    agent: Annotated[str, Meta(min_length=1, max_length=200)]
    expected_output: Annotated[str, Meta(max_length=4000)] = ""
    requires: tuple[Id, ...] = ()
    depends_on: tuple[Id, ...] = ()


class Decomposition(Struct, frozen=True, kw_only=True):
    """A question as 2–5 subgoals whose dependencies are a DAG (§4.2)."""

    id: Id
    original_query: str
    goal: Goal
    given: tuple[Given, ...]
    subgoals: tuple[Subgoal, ...]
    execution_order: tuple[Id, ...] = ()
    parallelizable: tuple[tuple[Id, ...], ...] = ()
    complexity: Complexity = "medium"


class Check(Struct, frozen=True, kw_only=True):
    """Check: one criterion's score, and what is wrong by it."""

    score: Share
    passed: bool = field(name="pass")
    detail: str = ""
    issues: tuple[str, ...] = ()


class Verification(Struct, frozen=True, kw_only=True):
    """A verdict on a decomposition, an output or a synthesis (§5.4). `overall_score` is always computed here from the
    weights, never taken from a model; `notices` tell where a model's own conclusion differed."""

    checks: dict[str, Check]
    overall_score: Share
    verdict: Verdict
    critical_issues: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    by: Literal["deterministic", "option_a", "option_b", "option_c"] = "deterministic"
    notices: tuple[str, ...] = ()


class FeedbackIssue(Struct, frozen=True, kw_only=True):
    """Issue to mend on the next attempt."""

    check: str
    score: Share
    issue: str
    suggestion: str = ""


class RetryFeedback(Struct, frozen=True, kw_only=True):
    """Feedback that the next attempt is told (§8.7)."""

    attempt: int
    previous_score: Share
    issues: tuple[FeedbackIssue, ...]
    instruction: str
    escalate: bool = False


class Attempt(Struct, frozen=True, kw_only=True):
    """Attempt, one try of a retry loop: its verification and what was said of it."""

    verification: Verification
    feedback: RetryFeedback | None = None


class Plan(Struct, frozen=True, kw_only=True):
    """A verified decomposition. `option` is the one that judged it last, after any escalation."""

    decomposition: Decomposition
    verification: Verification
    complexity: Complexity
    option: VerificationOption
    attempts: tuple[Attempt, ...] = ()
    escalations: tuple[str, ...] = ()


class Agent(Struct, frozen=True, kw_only=True):
    """An agent that can be given a subgoal (§7.2). `origin` is the file that named it, `trusted` whether it may run.

    `type` is `mcp`, `executable`, `http`, `builtin`, or one that a plug-in runs (`agents.executors.plugin_executors`).
    `command` and `arguments` start an `mcp` or `executable` agent; `tool` is the MCP tool that is called; `prompt` is
    an instruction the agent's file holds (Claude Code and others keep agents as Markdown), which llm-executor follows.
    An `interactive` executable asks its questions while it runs, a line each (`agents.executors.executable`).
    """

    id: Annotated[str, Meta(min_length=1, max_length=200)]
    type: str
    capabilities: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    description: str = ""
    path: str | None = None
    endpoint: str | None = None
    command: str | None = None
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    headers: dict[str, str] = {}
    tool: str | None = None
    prompt: str = ""
    availability: str = "always"
    success_rate: float | None = None
    last_refresh: str = ""
    origin: str = ""
    trusted: bool = True
    timeout_seconds: float | None = None
    interactive: bool = False


class Assignment(Struct, frozen=True, kw_only=True):
    """Assignment of a subgoal to an agent, and why that one; `wave` 0 runs first, subgoals of one wave at once."""

    subgoal: Subgoal
    agent: Agent
    why: str
    wave: int


class RoutingPlan(Struct, frozen=True, kw_only=True):
    """Phase 5's answer. `notices` say what fell back to llm-executor, and which agents were left out."""

    assignments: tuple[Assignment, ...]
    notices: tuple[str, ...] = ()


class Interaction(Struct, frozen=True, kw_only=True):
    """A question an agent put to the user, and the answer. `timestamp` is ISO 8601."""

    turn: int
    agent_question: str
    user_response: str
    timestamp: str


class Output(Struct, frozen=True, kw_only=True):
    """Finding of an agent. `data` is any JSON."""

    summary: Annotated[str, Meta(min_length=1, max_length=200_000)]
    confidence: Share
    data: Any = field(default_factory=dict)


class AgentMetadata(Struct, frozen=True, kw_only=True):
    """Facts on how an agent worked. `exit_code` is its process's; None where it has none here.

    `can_act`: False where a model alone answered, which reads and changes nothing.
    """

    tools_used: tuple[str, ...] = ()
    duration_ms: float = 0.0
    model_used: str | None = None
    exit_code: int | None = None
    can_act: bool = True


class AgentResponse(Struct, frozen=True, kw_only=True):
    """The envelope every agent's answer is brought into (§7.2.1). `notes` say what of it had to be put right."""

    subgoal_id: str
    agent_id: str
    status: Literal["success", "partial", "error"]
    output: Output | None = None
    user_interactions: tuple[Interaction, ...] = ()
    metadata: AgentMetadata = AgentMetadata()
    error: str | None = None
    notes: tuple[str, ...] = ()


class AgentTry(Struct, frozen=True, kw_only=True):
    """Try of an agent at a subgoal: who, what it gave in short, how that was judged, and what the next try was told of
    it.

    Times in Unix seconds. `worked`: False where the agent was not asked, or not for want of its own: no money was left.
    """

    agent_id: str
    status: Literal["success", "partial", "error"]
    summary: str = ""
    error: str | None = None
    verification: Verification | None = None
    feedback: RetryFeedback | None = None
    started_at: float = 0.0
    ended_at: float = 0.0
    worked: bool = True


class SubgoalResult(Struct, frozen=True, kw_only=True):
    """Result of a subgoal: the best response, its verification, and every try in its order, the best included."""

    subgoal: Subgoal
    response: AgentResponse
    verification: Verification | None = None
    tries: tuple[AgentTry, ...] = ()
    skipped: str = ""
    started_at: float = 0.0
    ended_at: float = 0.0


class Claim(Struct, frozen=True, kw_only=True):
    """A statement of the answer, and what it rests on: ids of subgoals, and `file:line` or chunk ids."""

    text: str
    sources: tuple[str, ...]


class Synthesis(Struct, frozen=True, kw_only=True):
    """Phase 7's answer in words, its claims, and how it was judged. `untraced` are claims with no source left;
    `unverified` says why nobody judged it, where nobody could.
    """

    answer: str
    claims: tuple[Claim, ...] = ()
    confidence: Share = 0.0
    verification: Verification | None = None
    attempts: tuple[Attempt, ...] = ()
    untraced: tuple[str, ...] = ()
    unverified: str = ""


class Nobody(Exception):
    """There is no user to ask, or they gave no answer."""


class Declined(Nobody):
    """The user was asked, and gave no answer."""


class AskUser(Protocol):
    """Question put to the user; a terminal prompt, LSP or MCP elicitation."""

    async def __call__(self, question: str) -> str:
        """The user's answer. Raises `Nobody`."""


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens of one call. `input_tokens` are those not read from or written to the provider's cache."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )

    @property
    def total(self) -> int:
        """All tokens, cached ones too."""
        return self.input_tokens + self.output_tokens + self.cache_read_tokens + self.cache_write_tokens


Role = Literal["reasoning", "solving"]


class Rate(Struct, frozen=True):
    """US dollars per million tokens of a model, uncached."""

    input: float
    output: float


class ModelCall(Struct, frozen=True, kw_only=True):
    """Model call, paid or replayed. `cost_usd` is None where the price is not known; `role` is who asked.

    `counted_usd` is what it counts with against limits: its cost, or at the prices of an unknown model.

    `key` names it in the run's journal, the same after an interruption.
    """

    phase: str
    purpose: str
    role: Role
    provider: str
    model: str
    usage: Usage
    cost_usd: float | None
    started_at: float
    took_ms: float
    replayed: bool = False
    error: str | None = None
    key: str = ""
    counted_usd: float = 0.0
