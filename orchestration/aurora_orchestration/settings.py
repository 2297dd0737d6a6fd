"""What the orchestrator is told by configuration (AURORA Appendix C). The server reads files; these are their sections.

Names and defaults are those of `configuration.schema.json`. Money in US dollars, times in seconds unless named.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=0)]
AtLeastOne = Annotated[int, Meta(ge=1)]
Words = tuple[str, ...]


class ModelSettings(Struct, frozen=True, kw_only=True):
    """`llm.reasoning_llm`, `llm.solving_llm`: one model, who provides it and how it is asked.

    `provider` is `anthropic`, `editor` (the connected client's own model) or one that speaks OpenAI's wire format
    (`openai`, `ollama`, `vllm`, `llama.cpp`, …). `api_key_env` names a variable, never the key itself.
    """

    provider: Annotated[str, Meta(min_length=1, max_length=40)]
    model: Annotated[str, Meta(min_length=1, max_length=200)]
    base_url: str | None = None
    api_key_env: str | None = None
    max_tokens: AtLeastOne = 4096
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    timeout_seconds: Positive = 60.0
    headers: dict[str, str] = {}
    purpose: str = ""


class Tier(Struct, frozen=True, kw_only=True):
    """A model for some complexities (§3.3)."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    use_for: tuple[Literal["simple", "medium", "complex", "critical"], ...]


class PreferenceRouting(Struct, frozen=True, kw_only=True):
    """`llm.preference_routing`: the model is chosen once per query, by complexity; off while no tier is given."""

    enabled: bool = True
    tiers: dict[str, Tier] = {}
    apply_to: Literal["reasoning_llm"] = "reasoning_llm"


class Caps(Struct, frozen=True, kw_only=True):
    """`llm.caps`: at most so many dollars per run and per phase of a run, checked before a call is made.

    `run_seconds` bounds a whole run, the agents' work and waiting for the user included.
    """

    run_usd: Amount = 2.0
    phase_usd: dict[str, Amount] = {}
    max_calls: AtLeastOne = 60
    run_seconds: Positive = 3600.0


class LlmSettings(Struct, frozen=True, kw_only=True):
    """`llm.*`: with no model configured, no call leaves the machine.

    `prices_file` overlays the built-in price table. A model of `solving_llm` that is not given is the reasoning one.
    """

    mode: Literal["standalone", "mcp_integrated"] = "standalone"
    reasoning_llm: ModelSettings | None = None
    solving_llm: ModelSettings | None = None
    preference_routing: PreferenceRouting = PreferenceRouting()
    caps: Caps = Caps()
    max_retries: Count = 3
    retry_seconds: Amount = 30.0
    prices_file: str | None = None


class AuroraSettings(Struct, frozen=True, kw_only=True):
    """`aurora.*`: when AURORA joins a conversation it was not called into."""

    user_invoked: bool = True
    always_on: bool = False
    prefix: Words = ("aur", "aurora:", "/aurora")
    exclude_patterns: Words = ("thanks", "yes", "no", "ok", "got it", "thank you")


class DecompositionWeights(Struct, frozen=True, kw_only=True):
    """How much each check weighs; together 1 (§8.4)."""

    completeness: Share = 0.4
    consistency: Share = 0.2
    groundedness: Share = 0.2
    routability: Share = 0.2


class OutputWeights(Struct, frozen=True, kw_only=True):
    """How much each check weighs; together 1 (§8.5)."""

    relevance: Share = 0.4
    completeness: Share = 0.3
    groundedness: Share = 0.3


class SynthesisWeights(Struct, frozen=True, kw_only=True):
    """How much each check weighs; together 1 (§8.6)."""

    addresses_query: Share = 0.3
    traceable: Share = 0.3
    consistent: Share = 0.2
    calibrated: Share = 0.2


class WeightedScoring(Struct, frozen=True, kw_only=True):
    """`scoring.weighted_scoring.*`."""

    decomposition: DecompositionWeights = DecompositionWeights()
    agent_output: OutputWeights = OutputWeights()
    synthesis: SynthesisWeights = SynthesisWeights()


class ExampleCounts(Struct, frozen=True, kw_only=True):
    """How many calibration examples a prompt shows, by complexity."""

    simple: Count = 0
    medium: Count = 2
    complex: Count = 4
    critical: Count = 6


class CalibrationSettings(Struct, frozen=True, kw_only=True):
    """`scoring.calibration_examples.*` (App. C.1)."""

    mode: Literal["builtin"] = "builtin"
    external_path: str | None = None
    merge_strategy: Literal["replace", "merge"] = "replace"
    scale_by_complexity: bool = True
    counts: ExampleCounts = ExampleCounts()
    example_max_tokens: AtLeastOne = 200
    focus_on_edge_cases: bool = True


class ScoringSettings(Struct, frozen=True, kw_only=True):
    """`scoring.*`: how results are scored and when they are tried again (§5.3)."""

    cache_threshold: Share = 0.8
    pass_threshold: Share = 0.7
    retry_threshold: Share = 0.5
    max_retries: Count = 2
    weighted_scoring: WeightedScoring = WeightedScoring()
    calibration_examples: CalibrationSettings = CalibrationSettings()


class KeywordSettings(Struct, frozen=True, kw_only=True):
    """`complexity.keyword_classifier.*` (App. G). `custom_keywords`: further words, by a name that ends in a level."""

    enabled: bool = True
    simple_keywords: Words = ("what is", "list", "show", "define", "tell me", "who is")
    medium_keywords: Words = ("compare", "explain", "analyze", "how does", "difference between")
    complex_keywords: Words = ("design", "architect", "strategy", "optimize", "implement", "build")
    critical_keywords: Words = ("critical", "production", "safety", "security", "mission-critical")
    custom_keywords: dict[str, Words] = {}
    borderline_llm_verify: bool = True
    borderline_range: tuple[Share, Share] = (0.4, 0.6)


class Route(Struct, frozen=True, kw_only=True):
    """How a question of one complexity is checked and what it is estimated to cost."""

    verification: Literal["none", "option_a", "option_b", "option_c"]
    cost_multiplier: Positive


class Routes(Struct, frozen=True, kw_only=True):
    """`complexity.routing.*`."""

    simple: Route = Route(verification="none", cost_multiplier=1.0)
    medium: Route = Route(verification="option_a", cost_multiplier=3.0)
    complex: Route = Route(verification="option_b", cost_multiplier=5.0)
    critical: Route = Route(verification="option_c", cost_multiplier=8.0)


class ComplexitySettings(Struct, frozen=True, kw_only=True):
    """`complexity.*`: how hard a question is thought to be, and what follows."""

    keyword_classifier: KeywordSettings = KeywordSettings()
    routing: Routes = Routes()


class DefaultAgent(Struct, frozen=True, kw_only=True):
    """`agents.default_agent`: who does what no other agent can (App. F)."""

    id: Annotated[str, Meta(min_length=1, max_length=100)] = "llm-executor"
    type: Literal["mcp", "executable", "http", "builtin", "built_in"] = "built_in"
    capabilities: Words = ("all",)
    domains: Words = ("general",)


class AgentSettings(Struct, frozen=True, kw_only=True):
    """`agents.*`: where agents are found, and how long and how many at once they may work (§7.2)."""

    auto_discover: bool = True
    discovery_paths: Words = (
        "./.aurora/agents.json",
        "./.claude/agents",
        "./agents",
        "./droids",
        "./agent",
        "~/.aurora/agents.json",
        "~/.claude/agents",
        "~/.config/amp/agents",
        "~/.factory/droids",
        "~/.config/opencode/agent",
    )
    last_discovered_path: str | None = None
    refresh_interval_days: Positive = 15.0
    check_file_modified: bool = True
    refresh_on_startup: bool = False
    fallback_mode: Literal["llm_only", "default_agents", "fail"] = "llm_only"
    prompt_for_path_if_missing: bool = True
    default_agent: DefaultAgent = DefaultAgent()
    timeout_seconds: Positive = 300.0
    max_parallel: AtLeastOne = 5


class SignalSettings(Struct, frozen=True, kw_only=True):
    """`signals.*`: words of a next message that judge the last answer (App. E)."""

    enabled: bool = True
    confidence_threshold: Share = 0.8
    positive: Words = ("thanks", "great", "perfect", "excellent", "good", "awesome")
    followup: Words = ("also", "additionally", "and", "furthermore", "plus")
    negative: Words = ("wrong", "no", "incorrect", "not what I meant", "that's not right")
    recourse: Words = ("try again", "different approach", "retry", "rethink")
    abort: Words = ("never mind", "skip", "cancel", "stop", "forget it")


class GuardrailSettings(Struct, frozen=True, kw_only=True):
    """`guardrails.*`: what a question is looked at for before anything else happens (§3.1)."""

    enabled: bool = True
    pii: Literal["redact", "reject", "off"] = "redact"
    secrets: Literal["redact", "reject"] = "redact"
    max_query_length: AtLeastOne = 10_000
    audit: bool = True


class BudgetSettings(Struct, frozen=True, kw_only=True):
    """`cost_budgets.*` (§9.4.2)."""

    enabled: bool = True
    soft_limit_usd: Amount = 100.0
    hard_limit_usd: Amount = 500.0
    period: Literal["daily", "weekly", "monthly"] = "monthly"
    auto_reset: bool = True
    warn_at_percent: Annotated[float, Meta(ge=0, le=100)] = 80.0
    block_at_percent: Annotated[float, Meta(gt=0, le=1000)] = 100.0
    allow_force_override: bool = False
    tracking_file: str = "~/.aurora/budget_tracker.json"


class HeadlessSettings(Struct, frozen=True, kw_only=True):
    """`headless.*` (§9.8)."""

    enabled: bool = True
    default_max_iterations: AtLeastOne = 10
    default_budget_limit_usd: Amount = 5.0
    required_branch: str = "headless"
    enforce_branch_check: bool = True
    prompt_file: str = "./headless/prompt.md"
    scratchpad_file: str = "./headless/scratchpad.md"
    goal_achievement_signal: str = "GOAL_ACHIEVED"
    budget_exceeded_signal: str = "BUDGET_EXCEEDED"


class FileNaming(Struct, frozen=True, kw_only=True):
    """`logging.conversations.file_naming.*`."""

    strategy: Literal["keyword-date"] = "keyword-date"
    keyword_count: AtLeastOne = 2
    fallback_prefix: str = "query"


PHASES = ("assess", "retrieve", "decompose", "verify", "route", "collect", "synthesize", "record", "respond")


class ConversationSettings(Struct, frozen=True, kw_only=True):
    """`logging.conversations.*` (§9.7). `path` is `~/.aurora/logs/conversations/` where `~/.aurora` is $AURORA_HOME."""

    enabled: bool = True
    path: str = "~/.aurora/logs/conversations/"
    format: Literal["markdown"] = "markdown"
    file_naming: FileNaming = FileNaming()
    retention_days: Positive = 90.0
    compress_after_days: Amount = 7.0
    include_phases: tuple[str, ...] = PHASES
    include_user_interactions: bool = True
    include_metadata: bool = True


class Report(Struct, frozen=True, kw_only=True):
    """One of the `reporting.*` reports."""

    enabled: bool = True
    output_path: str = ""


class ReportingSettings(Struct, frozen=True, kw_only=True):
    """`reporting.*` (§9.4)."""

    daily: Report = Report(output_path="~/.aurora/reports/daily/")
    cumulative: Report = Report(output_path="~/.aurora/reports/cumulative/")
    monthly: Report = Report(output_path="~/.aurora/reports/monthly/")


class RetrievalSettings(Struct, frozen=True, kw_only=True):
    """`retrieval.*`: how many tokens of context a question gets, by complexity, and how many chunks at most."""

    simple_tokens: Count = 2_000
    medium_tokens: Count = 6_000
    complex_tokens: Count = 12_000
    critical_tokens: Count = 16_000
    max_chunks: AtLeastOne = 24


class SoarSettings(Struct, frozen=True, kw_only=True):
    """Everything above: one snapshot, taken when a run begins."""

    llm: LlmSettings = LlmSettings()
    aurora: AuroraSettings = AuroraSettings()
    scoring: ScoringSettings = ScoringSettings()
    complexity: ComplexitySettings = ComplexitySettings()
    agents: AgentSettings = AgentSettings()
    signals: SignalSettings = SignalSettings()
    guardrails: GuardrailSettings = GuardrailSettings()
    cost_budgets: BudgetSettings = BudgetSettings()
    headless: HeadlessSettings = HeadlessSettings()
    conversations: ConversationSettings = ConversationSettings()
    reporting: ReportingSettings = ReportingSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
