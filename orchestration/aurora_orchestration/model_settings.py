"""Settings of models: who serves them, which is asked for what, what a run may spend (AURORA App. C `llm`)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from aurora_orchestration.setting_types import ONLY_LOWER, Amount, AtLeastOne, Count, HomePath, Positive


class ModelSettings(Struct, frozen=True, kw_only=True):
    """Model: who provides it, which it is, and how it is asked."""

    provider: Annotated[
        str,
        Meta(min_length=1, max_length=40, examples=["anthropic", "openai", "ollama", "vllm", "llama.cpp", "editor"]),
    ]
    """Who serves the model. `anthropic` is asked by its own SDK, `editor` is the connected editor's own model;
    `openai`, `ollama`, `vllm` and `llama.cpp` speak the OpenAI wire format."""
    model: Annotated[
        str, Meta(min_length=1, max_length=200, examples=["claude-sonnet-4.5", "gpt-4-turbo", "llama3:70b"])
    ]
    """The model's name, as its provider spells it."""
    base_url: Annotated[str | None, Meta(examples=["https://api.anthropic.com/v1", "http://localhost:11434/v1"])] = None
    """Where requests go; `null` or nothing for the provider's usual address."""
    api_key_env: Annotated[
        str | None,
        Meta(
            examples=["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
            extra_json_schema={"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
        ),
    ] = None
    """The *name* of the environment variable that holds the key, never the key itself. `null` where no key is
    needed."""
    max_tokens: AtLeastOne | None = None
    """At most so many tokens in an answer; without it 4096 of the reasoning model, 8192 of the solving one."""
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    """How freely the model answers: 0 is the most predictable. Without it 0 of the reasoning model, 0.7 of the solving
    one; a model that takes none is asked without."""
    timeout_seconds: Positive = 60.0
    """How long one answer may take."""
    headers: dict[str, str] = {}
    """Further HTTP headers of every request, by name."""
    purpose: str = ""
    """Note on what this model is for, in words: for whoever reads the file. AURORA makes no use of it."""


class Tier(Struct, frozen=True, kw_only=True):
    """Tier: a model, and the complexities it is asked for."""

    model: Annotated[str, Meta(min_length=1, max_length=200)]
    """The model's name, as its provider spells it."""
    use_for: tuple[Literal["simple", "medium", "complex", "critical"], ...]
    """The complexities it is asked for."""


class PreferenceRouting(Struct, frozen=True, kw_only=True):
    """Choice of the reasoning model by complexity, once per query (§3.3); off while no tier is given."""

    enabled: bool = True
    """Whether tiers are followed."""
    tiers: dict[str, Tier] = {}
    """Models by a name of yours, each with the complexities it is for."""


class Caps(Struct, frozen=True, kw_only=True):
    """Bounds of one run: money, calls and time, looked at before each call."""

    run_usd: Annotated[Amount, ONLY_LOWER] = 2.0
    """US dollars per run."""
    phase_usd: Annotated[dict[str, Amount], ONLY_LOWER] = {}
    """US dollars per phase of a run, by the phase's name."""
    max_calls: Annotated[AtLeastOne, ONLY_LOWER] = 60
    """Calls per run."""
    run_seconds: Annotated[Positive, ONLY_LOWER] = 3600.0
    """Seconds per run, agents and waiting for the user included."""


class LlmSettings(Struct, frozen=True, kw_only=True):
    """The models that AURORA asks. With none configured, no call leaves the machine."""

    reasoning_llm: ModelSettings | None = None
    """The model that decomposes, verifies and scores: it has to be good at JSON, and is asked most.
    `AURORA_LLM_PROVIDER` and `AURORA_LLM_MODEL` say both models at once."""
    solving_llm: ModelSettings | None = None
    """The model that does the work: it has to be good at solving problems. Not given, it is the reasoning one.
    `AURORA_LLM_PROVIDER` and `AURORA_LLM_MODEL` say both models at once."""
    preference_routing: PreferenceRouting = PreferenceRouting()
    """Which reasoning model is asked for which questions (AURORA §3.3); without tiers, always the same."""
    caps: Caps = Caps()
    """What one run may spend at most; looked at before each call. A workspace can only lower it."""
    max_retries: Count = 3
    """So often a call is tried again that a provider was too busy for, or that did not reach it."""
    retry_seconds: Amount = 30.0
    """And so long at most, in sum."""
    prices_file: HomePath | None = None
    """A YAML file of prices that weigh more than the built-in ones."""
