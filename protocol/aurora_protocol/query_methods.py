"""`aurora/query`: a question for the nine phases, what is told meanwhile, and what comes of it (AURORA §9.5).

Stages travel as `$/progress` under the request's `partialResultToken`; a `workDoneToken` gets LSP's own progress.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, field

from aurora_protocol.methods import EditorContext, Wire

QUERY = "aurora/query"
ASSESS = "aurora/assess"
DECOMPOSE = "aurora/decompose"
VERIFY = "aurora/verify"
LEARN = "aurora/learn"
BUDGET = "aurora/budget"

COMMANDS = {
    "aurora.query": QUERY,
    "aurora.assess": ASSESS,
    "aurora.decompose": DECOMPOSE,
    "aurora.verify": VERIFY,
    "aurora.learn": LEARN,
    "aurora.budget": BUDGET,
}
"""`workspace/executeCommand` names and the request each stands for."""

Verification = Literal["option_a", "option_b", "option_c"]
QueryState = Literal["complete", "partial", "failed", "blocked", "cancelled", "interrupted", "no_provider", "dry_run"]
StageStatus = Literal["in_progress", "complete", "retry", "failed", "skipped"]
Token = str | int


class QueryParams(Wire, frozen=True, kw_only=True):
    """`aurora/query`. `session` ties questions together (App. E); `resume` is the id of an interrupted run.

    With `dry_run` the run stops before its first paid call; with `auto` only complex questions take the whole way
    (§9.9); with `if_called` a prompt is left alone that neither begins with one of `aurora.prefix` nor comes while
    `aurora.always_on` holds; with `force` a budget's end may be passed where the configuration allows it.
    `llm_provider` and `llm_model` count more than what is configured. `context` is where the user is.
    """

    query: Annotated[str, Meta(max_length=200_000)] = ""
    verification: Verification | None = None
    dry_run: bool = False
    force: bool = False
    auto: bool = False
    if_called: bool = False
    mode: Literal["user_invoked", "headless"] = "user_invoked"
    session: Annotated[str, Meta(max_length=200)] = ""
    llm_provider: Annotated[str, Meta(max_length=200)] = ""
    llm_model: Annotated[str, Meta(max_length=200)] = ""
    resume: Annotated[str, Meta(max_length=200)] | None = None
    context: EditorContext | None = None
    work_done_token: Token | None = field(default=None, name="workDoneToken")
    partial_result_token: Token | None = field(default=None, name="partialResultToken")


class StageNotice(Wire, frozen=True, kw_only=True):
    """Notice of a stage: one thing that happened in a run. `detail` is a sentence; `data` has what the stage found, its
    keys snake_case.

    `progress` in [0, 1] over the whole run, never going back; cost in US dollars and milliseconds are the run's so far.
    `run` is its id, by which it can be resumed when it is interrupted or cancelled after its guardrails.
    """

    stage: str
    status: StageStatus
    detail: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    progress: float = 0.0
    cost_usd: float = 0.0
    elapsed_ms: float = 0.0
    run: str = ""


class QueryClaim(Wire, frozen=True, kw_only=True):
    """A statement of the answer and what it rests on: `file:line`, chunk ids, ids of subgoals."""

    text: str
    sources: tuple[str, ...]


class QuerySource(Wire, frozen=True, kw_only=True):
    """A chunk that memory gave to the run; `file` is relative to the workspace. Lines 1-based, inclusive."""

    id: str
    type: str
    name: str
    file: str
    line_start: int
    line_end: int
    score: float
    activation: float = 0.0


class QueryCheck(Wire, frozen=True, kw_only=True):
    """Check, a criterion by which the answer was judged, and what is wrong by it."""

    name: str
    score: float
    issues: tuple[str, ...] = ()


class PhaseTime(Wire, frozen=True, kw_only=True):
    """Time that a phase took, and its share of the run in percent; `llm_ms` is waiting for models, `own_ms`
    the rest.
    """

    phase: str
    duration_ms: float
    percentage: float
    llm_ms: float = 0.0
    own_ms: float = 0.0
    calls: int = 0


class QueryTiming(Wire, frozen=True, kw_only=True):
    """Timing of a run: where its time went (§9.4.1). `own_ms` is what was spent neither in models nor in agents."""

    total_duration_ms: float
    phases: tuple[PhaseTime, ...]
    llm_ms: float = 0.0
    agents_ms: float = 0.0
    own_ms: float = 0.0


class TokenCounts(Wire, frozen=True, kw_only=True):
    """Tokens of a run's calls; `agents` is what agents' models took where AURORA asked them itself."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0
    reasoning_llm: int = 0
    agents: int = 0


class QueryStep(Wire, frozen=True, kw_only=True):
    """A subgoal that an agent worked on; `tries` of it, `done` where an answer could be made of what it gave.

    `error` is why it failed, in one line; `exit_code` that of the agent's process, where it was one; `summary` what the
    agent said, cut.
    """

    id: str
    description: str
    agent: str
    done: bool
    tries: int = 1
    error: str | None = None
    exit_code: int | None = None
    summary: str = ""


class QueryResult(Wire, frozen=True, kw_only=True):
    """Result of a run: `state` says how it ended, `error` in one line why, where it did not end well.

    `score` and `confidence` in [0, 1], None where nothing was judged; `because` says how the confidence came about and
    `caveats` what to check; `from_memory`: the answer of an earlier run, at no cost. `cached`: memory keeps how it was
    answered, as `reasoning_id`, made by `runs` like it. `cost_usd` is what was paid, `unpriced_calls` how many calls
    have no known price; `counted_usd` has those as well, as limits count them. `estimated_usd` is what was expected
    beforehand. `checks` are those of the last verification, `steps` the subgoals as planned. `log` is the conversation
    log's path. `trace` has the phases as the log has them.
    """

    id: str
    query: str
    state: QueryState
    answer: str = ""
    score: float | None = None
    confidence: float | None = None
    because: str = ""
    caveats: tuple[str, ...] = ()
    from_memory: bool = False
    complexity: str | None = None
    claims: tuple[QueryClaim, ...] = ()
    untraced: tuple[str, ...] = ()
    sources: tuple[QuerySource, ...] = ()
    checks: tuple[QueryCheck, ...] = ()
    steps: tuple[QueryStep, ...] = ()
    notices: tuple[str, ...] = ()
    cost_usd: float = 0.0
    unpriced_calls: int = 0
    counted_usd: float = 0.0
    estimated_usd: float = 0.0
    calls: int = 0
    tokens: TokenCounts = TokenCounts()
    took_ms: float = 0.0
    timing: QueryTiming | None = None
    log: str | None = None
    cached: bool = False
    reasoning_id: str | None = None
    runs: int = 0
    trace: tuple[dict[str, Any], ...] = ()
    error: str | None = None


ASK_USER = "aurora/askUser"
"""A request of the daemon to clients with `askUser` in their `initializationOptions`: `{question}`, answered by
`{"answer": "…"}`; `{"answer": null}` where the user declines. Like the next it has the `partialResultToken` of the
request that it is asked for, or null."""

LANGUAGE_MODEL = "aurora/languageModel"
"""A request of the daemon to clients with `languageModel` in their `initializationOptions`: their own model is asked
with `{system, prompt, schema, max_tokens}` and answers as `LanguageModelResult`."""


class LanguageModelResult(Wire, frozen=True, kw_only=True):
    """Reply of the client's model. Counts of tokens where it tells them."""

    text: Annotated[str, Meta(max_length=4_000_000)]
    model: Annotated[str, Meta(max_length=200)] = "editor"
    input_tokens: Annotated[int, Meta(ge=0)] | None = None
    output_tokens: Annotated[int, Meta(ge=0)] | None = None


class AssessParams(Wire, frozen=True, kw_only=True):
    """`aurora/assess`: how hard is this? Words alone tell; no model is asked."""

    query: Annotated[str, Meta(min_length=1, max_length=200_000)]


class AssessResult(Wire, frozen=True, kw_only=True):
    """`route` says what a run would do: `direct`, or `decompose` with `verification`. `sure` is False where a run would
    ask a model as well."""

    complexity: str
    confidence: float
    score: float
    route: str
    verification: str
    sure: bool
    indicators: tuple[str, ...] = ()
    reasoning: str = ""


class DecomposeParams(Wire, frozen=True, kw_only=True):
    """`aurora/decompose`: a question as verified subgoals. `context` is what the caller knows besides memory."""

    query: Annotated[str, Meta(min_length=1, max_length=200_000)]
    context: Annotated[str, Meta(max_length=200_000)] = ""
    partial_result_token: Token | None = field(default=None, name="partialResultToken")


class VerifyParams(Wire, frozen=True, kw_only=True):
    """`aurora/verify`: how good is a `decomposition` of the question, or an `output` that is to answer it?"""

    query: Annotated[str, Meta(min_length=1, max_length=200_000)]
    decomposition: dict[str, Any] | None = None
    output: Annotated[str, Meta(max_length=1_000_000)] | None = None
    partial_result_token: Token | None = field(default=None, name="partialResultToken")


class StepResult(Wire, frozen=True, kw_only=True):
    """Result of one step outside of a run: documents as AURORA §4.2 and §5.4 have them, and what it cost.

    `by` is `deterministic` where no model is configured or none was needed; `notices` say so.
    """

    decomposition: dict[str, Any] | None = None
    verification: dict[str, Any] | None = None
    notices: tuple[str, ...] = ()
    cost_usd: float = 0.0


class LearnParams(Wire, frozen=True, kw_only=True):
    """`aurora/learn`: how something was solved outside of AURORA, and how well. `used`: ids of chunks that helped."""

    query: Annotated[str, Meta(min_length=1, max_length=20_000)]
    result: Annotated[str, Meta(min_length=1, max_length=200_000)]
    score: Annotated[float, Meta(ge=0, le=1)]
    used: Annotated[tuple[Annotated[str, Meta(max_length=2_000)], ...], Meta(max_length=200)] = ()
    tools: Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=200)] = ()


class LearnResult(Wire, frozen=True, kw_only=True):
    """Result of learning, what memory made of it; `unknown` are ids in `used` that nothing answers to."""

    outcome: str
    cached: bool
    reasoning_id: str | None = None
    is_pattern: bool = False
    unknown: tuple[str, ...] = ()
