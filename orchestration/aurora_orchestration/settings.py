"""Settings of the orchestrator (AURORA Appendix C): the sections of `config.json` that say how questions are answered.

A field here is the whole of a setting. Its default, bounds and docstring, and the marks below, are what files,
`AURORA_*` variables, the JSON Schema and `docs/reference/settings.md` have (`make docs`); the server reads the
files. Money in US dollars, times in seconds unless named.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from aurora_orchestration.model_settings import LlmSettings
from aurora_orchestration.scoring_settings import ScoringSettings
from aurora_orchestration.setting_types import (
    ANYONE,
    ONLY_HIGHER,
    ONLY_LOWER,
    TRUSTED,
    Amount,
    AtLeastOne,
    Count,
    HomePath,
    Positive,
    Share,
    Words,
)


class AuroraSettings(Struct, frozen=True, kw_only=True):
    """Invocation: when AURORA joins a conversation."""

    user_invoked: bool = True
    """Whether it answers when it is called by a prefix."""
    always_on: bool = False
    """Whether it looks at every prompt."""
    prefix: Words = ("aur", "aurora:", "/aurora")
    """What calls it."""
    exclude_patterns: Words = ("thanks", "yes", "no", "ok", "got it", "thank you")
    """Prompts it never looks at."""


class KeywordSettings(Struct, frozen=True, kw_only=True):
    """First guess of a question's complexity, by its words (App. G)."""

    enabled: bool = True
    """Whether words are looked at."""
    simple_keywords: Words = ("what is", "list", "show", "define", "tell me", "who is")
    """Words and phrases that tell a simple question."""
    medium_keywords: Words = ("compare", "explain", "analyze", "how does", "difference between")
    """Words and phrases that tell a medium question."""
    complex_keywords: Words = ("design", "architect", "strategy", "optimize", "implement", "build")
    """Words and phrases that tell a complex question."""
    critical_keywords: Words = ("critical", "production", "safety", "security", "mission-critical")
    """Words and phrases that tell a critical question."""
    custom_keywords: dict[str, Words] = {}
    """Further words by a name that ends in a level, such as `payments_critical`."""
    borderline_llm_verify: bool = True
    """Whether a model is asked where words are undecided."""
    borderline_range: tuple[Share, Share] = (0.4, 0.6)
    """From which to which confidence words are undecided."""


class Route(Struct, frozen=True, kw_only=True):
    """Verification and estimated cost of questions of one complexity."""

    verification: Literal["none", "option_a", "option_b", "option_c"]
    """How the work is checked: `none`, by the model itself (`option_a`), by a second look (`option_b`) or by a
    debate (`option_c`)."""
    cost_multiplier: Positive
    """How much more than a simple question it is estimated to cost."""


class Routes(Struct, frozen=True, kw_only=True):
    """Routing: what follows from a question's complexity."""

    simple: Route = Route(verification="none", cost_multiplier=1.0)
    """What a simple question costs and how far its answer is checked."""
    medium: Route = Route(verification="option_a", cost_multiplier=3.0)
    """What a medium question costs and how far its answer is checked."""
    complex: Route = Route(verification="option_b", cost_multiplier=5.0)
    """What a complex question costs and how far its answer is checked."""
    critical: Route = Route(verification="option_c", cost_multiplier=8.0)
    """What a critical question costs and how far its answer is checked."""


class ComplexitySettings(Struct, frozen=True, kw_only=True):
    """Complexity of a question: how it is told, and what follows."""

    keyword_classifier: KeywordSettings = KeywordSettings()
    """A first guess, by words."""
    routing: Routes = Routes()
    """What follows from it."""


class DefaultAgent(Struct, frozen=True, kw_only=True):
    """The agent for everything no other agent can do (App. F)."""

    id: Annotated[str, Meta(min_length=1, max_length=100)] = "llm-executor"
    """Its name."""
    type: Literal["mcp", "executable", "http", "builtin", "built_in"] = "built_in"
    """How the agent is reached: `mcp` through an MCP server, `executable` as a program, `http` at an endpoint,
    `builtin` inside AURORA (also spelt `built_in`)."""
    capabilities: Words = ("all",)
    """What it can do; `all` is everything."""
    domains: Words = ("general",)
    """What it knows about; `general` is everything."""


class AgentSettings(Struct, frozen=True, kw_only=True):
    """Agents: where they are found, how long and how many at once they may work (AURORA §7.2)."""

    auto_discover: bool = True
    """Whether agents are looked for."""
    discovery_paths: tuple[HomePath, ...] = (
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
    """Where they are looked for, first to last."""
    last_discovered_path: HomePath | None = None
    """Where they were found the last time; kept by AURORA."""
    refresh_interval_days: Positive = 15.0
    """After so many days they are looked for again."""
    check_file_modified: bool = True
    """Whether a file's time of change is asked first."""
    refresh_on_startup: bool = False
    """Whether they are looked for at every start."""
    fallback_mode: Literal["llm_only", "default_agents", "fail"] = "llm_only"
    """What to do where there are none: a model does the work (`llm_only`), or `default_agent` (`default_agents`),
    or the question fails (`fail`)."""
    prompt_for_path_if_missing: bool = True
    """Whether the user is asked where they are."""
    default_agent: DefaultAgent = DefaultAgent()
    """The agent for everything no other agent can do."""
    timeout_seconds: Positive = 300.0
    """So long an agent may work on one part of a question."""
    max_parallel: AtLeastOne = 5
    """So many agents work at once."""


class SignalSettings(Struct, frozen=True, kw_only=True):
    """Words of a next message that judge the last answer (AURORA App. E)."""

    enabled: bool = True
    """Whether they are looked for."""
    confidence_threshold: Share = 0.8
    """How sure it must be that a message judges the last answer."""
    positive: Words = ("thanks", "great", "perfect", "excellent", "good", "awesome")
    """Words that praise it."""
    followup: Words = ("also", "additionally", "and", "furthermore", "plus")
    """Words that build on it."""
    negative: Words = ("wrong", "no", "incorrect", "not what I meant", "that's not right")
    """Words that reject it."""
    recourse: Words = ("try again", "different approach", "retry", "rethink")
    """Words that ask for another try."""
    abort: Words = ("never mind", "skip", "cancel", "stop", "forget it")
    """Words that drop the matter."""


class GuardrailSettings(Struct, frozen=True, kw_only=True):
    """Guardrails: what a question is looked at for before anything else happens (AURORA §3.1). A workspace can only
    make them stricter."""

    enabled: Annotated[bool, ONLY_HIGHER] = True
    """Whether questions are looked at."""
    pii: Annotated[Literal["off", "redact", "reject"], ONLY_HIGHER] = "redact"
    """What is done with personal data in a question: it is blanked out, the question is refused, or it stays."""
    secrets: Annotated[Literal["redact", "reject"], ONLY_HIGHER] = "redact"
    """What is done with keys and passwords in a question: they are blanked out, or the question is refused."""
    max_query_length: Annotated[AtLeastOne, ONLY_LOWER] = 10_000
    """Longer questions are refused; in characters."""
    audit: Annotated[bool, ONLY_HIGHER] = True
    """Whether what was found is noted, by kind and never by its text."""


class BudgetSettings(Struct, frozen=True, kw_only=True):
    """Budget: what may be spent on models (AURORA §9.4.2)."""

    enabled: bool = True
    """Whether spending is limited."""
    soft_limit_usd: Amount = 100.0
    """From here on you are asked before a question is paid for."""
    hard_limit_usd: Amount = 500.0
    """From here on calls are blocked."""
    period: Literal["daily", "weekly", "monthly"] = "monthly"
    """How long a budget lasts."""
    auto_reset: bool = True
    """Whether it starts over by itself."""
    warn_at_percent: Annotated[float, Meta(ge=0, le=100)] = 80.0
    """You are asked from this part of the soft limit on, in percent."""
    block_at_percent: Annotated[float, Meta(gt=0, le=1000)] = 100.0
    """Calls are blocked at this part of the limit."""
    allow_force_override: bool = False
    """Whether `--force` may go beyond it."""
    tracking_file: HomePath = "~/.aurora/budget_tracker.json"
    """Where spending is kept."""


class HeadlessSettings(Struct, frozen=True, kw_only=True):
    """Autonomous runs (AURORA §9.8)."""

    enabled: Annotated[bool, ONLY_LOWER] = True
    """Whether they are allowed."""
    default_max_iterations: Annotated[AtLeastOne, ONLY_LOWER] = 10
    """They end after so many rounds."""
    default_budget_limit_usd: Annotated[Amount, ONLY_LOWER] = 5.0
    """They end when so much is spent."""
    required_branch: str = "headless"
    """The git branch they work on."""
    enforce_branch_check: Annotated[bool, ONLY_HIGHER] = True
    """Whether they refuse to run on any other."""
    prompt_file: str = "./headless/prompt.md"
    """The file with the goal."""
    scratchpad_file: str = "./headless/scratchpad.md"
    """The file they keep notes in."""
    goal_achievement_signal: str = "GOAL_ACHIEVED"
    """What the notes say once the goal is met."""
    budget_exceeded_signal: str = "BUDGET_EXCEEDED"
    """What the notes say once the budget is spent."""
    allow_push: Annotated[bool, ONLY_LOWER] = False
    """Whether their agents may push."""
    allow_merge: Annotated[bool, ONLY_LOWER] = False
    """Whether their agents may merge other branches, or pull."""
    allow_checkout: Annotated[bool, ONLY_LOWER] = False
    """Whether their agents may switch to other branches, make, move or delete them. A run that ends an iteration on
    another branch is over all the same."""


class FileNaming(Struct, frozen=True, kw_only=True):
    """Name of a conversation's file: words of its question and its date."""

    keyword_count: AtLeastOne = 2
    """So many words of the question."""
    fallback_prefix: str = "query"
    """What stands in their place where the question has none."""


PHASES = ("assess", "retrieve", "decompose", "verify", "route", "collect", "synthesize", "record", "respond")


class ConversationSettings(Struct, frozen=True, kw_only=True):
    """The log of every question and how it was answered (AURORA §9.7)."""

    enabled: bool = True
    """Whether conversations are logged."""
    path: HomePath = "~/.aurora/logs/conversations/"
    """The folder they go to, by year and month."""
    file_naming: FileNaming = FileNaming()
    """Name of a log file: words of the question, and the date."""
    retention_days: Positive = 90.0
    """Logs are deleted after so many days."""
    compress_after_days: Amount = 7.0
    """Logs are compressed after so many days."""
    include_phases: tuple[Annotated[str, Meta(extra_json_schema={"enum": list(PHASES)})], ...] = PHASES
    """The phases that are logged."""
    include_user_interactions: bool = True
    """Whether what the user was asked is logged."""
    include_metadata: bool = True
    """Whether times, tokens and costs are logged."""


class ReportSettings(Struct, frozen=True, kw_only=True):
    """Report: whether it is written, and where."""

    enabled: bool = True
    """Whether it is written."""
    output_path: HomePath = ""
    """The folder it goes to."""


class ReportingSettings(Struct, frozen=True, kw_only=True):
    """Reports on what was done and what it cost (AURORA §9.4)."""

    daily: ReportSettings = ReportSettings(output_path="~/.aurora/reports/daily/")
    """The daily report."""
    cumulative: ReportSettings = ReportSettings(output_path="~/.aurora/reports/cumulative/")
    """The cumulative report."""
    monthly: ReportSettings = ReportSettings(output_path="~/.aurora/reports/monthly/")
    """The monthly report."""


class RetrievalSettings(Struct, frozen=True, kw_only=True):
    """Context of a question: how much of memory it is given, by complexity."""

    simple_tokens: Count = 2_000
    """Tokens for a simple question."""
    medium_tokens: Count = 6_000
    """Tokens for a medium question."""
    complex_tokens: Count = 12_000
    """Tokens for a complex question."""
    critical_tokens: Count = 16_000
    """Tokens for a critical question."""
    max_chunks: AtLeastOne = 24
    """Chunks at most, whatever their tokens."""


class SoarSettings(Struct, frozen=True, kw_only=True):
    """Settings of one run of the orchestrator: a snapshot, taken when the run begins.

    A field is the section of its name, unless it is marked with the place of another (`at`).
    """

    llm: Annotated[LlmSettings, TRUSTED] = LlmSettings()
    aurora: Annotated[AuroraSettings, TRUSTED] = AuroraSettings()
    scoring: Annotated[ScoringSettings, ANYONE] = ScoringSettings()
    complexity: Annotated[ComplexitySettings, ANYONE] = ComplexitySettings()
    agents: Annotated[AgentSettings, TRUSTED] = AgentSettings()
    signals: Annotated[SignalSettings, ANYONE] = SignalSettings()
    guardrails: Annotated[GuardrailSettings, ANYONE] = GuardrailSettings()
    cost_budgets: BudgetSettings = BudgetSettings()
    headless: Annotated[HeadlessSettings, TRUSTED] = HeadlessSettings()
    conversations: Annotated[ConversationSettings, Meta(extra={"at": "logging.conversations"})] = ConversationSettings()
    reporting: ReportingSettings = ReportingSettings()
    retrieval: Annotated[RetrievalSettings, ANYONE] = RetrievalSettings()
