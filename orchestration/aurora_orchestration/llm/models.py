"""Models of one run (large and small, reasoning and solving), opened from settings (AURORA §3.3, App. C): for thinking
and for doing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import msgspec

from aurora_orchestration.llm import USUAL_MODELS
from aurora_orchestration.llm.completion import LlmError, Models, NotConfigured
from aurora_orchestration.llm.journal import Journal
from aurora_orchestration.llm.metered_model import BudgetPort, MeteredLlm, RunSpending
from aurora_orchestration.llm.prices import Prices, load_prices
from aurora_orchestration.llm.providers.editor import EditorModel, EditorProvider
from aurora_orchestration.llm.providers.endpoints import EDITOR, address_of, names
from aurora_orchestration.llm.providers.plugin_provider import Connection, PluginProvider, ProviderKind
from aurora_orchestration.llm.providers.provider import Provider
from aurora_orchestration.model_settings import LlmSettings, ModelSettings, PreferenceRouting
from aurora_orchestration.types import Complexity, ModelCall, Role

_DEFAULTS: Mapping[Role, tuple[int, float]] = {"reasoning": (4096, 0.0), "solving": (8192, 0.7)}
"""Tokens of an answer, and temperature, where settings have none."""

_NONE = (
    "no model is configured; set llm.reasoning_llm, for instance: "
    f'aurora config set llm.reasoning_llm \'{{"provider": "anthropic", "model": "{USUAL_MODELS["anthropic"]}"}}\''
)


def open_models(
    settings: LlmSettings,
    environ: Mapping[str, str],
    complexity: Complexity | None,
    *,
    run: str,
    budget: BudgetPort | None,
    journal: Journal | None,
    heard: Callable[[ModelCall], None],
    editor: EditorModel | None = None,
    spending: RunSpending | None = None,
    force: bool = False,
    now: Callable[[], float] = time.time,
) -> Models:
    """Model factory: the models for one question. Sends nothing, and imports no SDK before the first question is put.
    Reads the prices (tens of milliseconds the first time): not for the event loop.

    With a `complexity`, the tier that is meant for it gives the reasoning model's name (once per query, §3.3); None
    opens the configured one, for finding the complexity out. A run that opens models twice gives both the same
    `spending`, so that its caps hold over both. Where a model cannot be opened, `why` says what to configure.
    """
    notices: list[str] = []
    try:
        prices = load_prices(settings.prices_file)
    except LlmError as error:
        notices.append(f"{error}; the built-in prices are used")
        prices = load_prices()
    spending = spending or RunSpending(settings.caps, journal)
    opened: dict[Role, MeteredLlm] = {}
    why = ""
    for role, chosen in _by_role(settings, complexity):
        try:
            if chosen is None:
                raise NotConfigured(_NONE)
            provider = _provider(chosen, role, settings, environ, prices, editor)
        except NotConfigured as error:
            why = why or str(error)
            continue
        if prices.price(provider.model, provider.name) is None:
            notices.append(
                f"no price is known for {provider.model}: limits count it at ${prices.unknown.input:g}/"
                f"${prices.unknown.output:g} per million tokens; add it to llm.prices_file"
            )
        opened[role] = MeteredLlm(
            provider,
            _as_meant(chosen, role),
            role,
            run=run,
            spending=spending,
            prices=prices,
            heard=heard,
            budget=budget,
            journal=journal,
            force=force,
            now=now,
        )
    return Models(
        reasoning=opened.get("reasoning"),
        solving=opened.get("solving"),
        why=why,
        notices=tuple(dict.fromkeys(notices)),
        rates={role: model.rate for role, model in opened.items()},
    )


def _as_meant(chosen: ModelSettings, role: Role) -> ModelSettings:
    """The settings with a role's defaults where they say nothing (App. C): thinking is exact, doing is free."""
    tokens, temperature = _DEFAULTS[role]
    return msgspec.structs.replace(
        chosen,
        max_tokens=chosen.max_tokens or tokens,
        temperature=temperature if chosen.temperature is None else chosen.temperature,
    )


def _by_role(settings: LlmSettings, complexity: Complexity | None) -> tuple[tuple[Role, ModelSettings | None], ...]:
    """Which model thinks and which one does; the doing one that is not given is the configured thinking one."""
    thinking = settings.reasoning_llm
    doing = settings.solving_llm or thinking
    if thinking is not None and complexity is not None:
        thinking = _routed(thinking, settings.preference_routing, complexity)
    return ("reasoning", thinking), ("solving", doing)


def _routed(model: ModelSettings, routing: PreferenceRouting, complexity: Complexity) -> ModelSettings:
    """Model routing: the model of the first tier that is meant for a complexity (§3.3), at the same provider."""
    if not routing.enabled:
        return model
    tier = next((tier for tier in routing.tiers.values() if complexity in tier.use_for), None)
    return model if tier is None else msgspec.structs.replace(model, model=tier.model)


def _provider(
    chosen: ModelSettings,
    role: str,
    settings: LlmSettings,
    environ: Mapping[str, str],
    prices: Prices,
    editor: EditorModel | None,
) -> Provider:
    """Provider factory: who is to answer. Raises `NotConfigured` with the setting or the variable that is missing."""
    where = f"llm.{role}_llm" if role == "reasoning" or settings.solving_llm else "llm.reasoning_llm"
    if chosen.provider == EDITOR:
        if editor is None:
            raise NotConfigured(f"{where}.provider is editor, and no editor that lends its model is connected")
        return EditorProvider(chosen.model, editor, chosen.timeout_seconds)
    address = address_of(chosen)
    if address is None:
        known = ", ".join(names())
        raise NotConfigured(f"{where}.provider {chosen.provider} is not known ({known}); set {where}.base_url")
    plugin = address.wire if isinstance(address.wire, ProviderKind) else None
    if plugin is None and not address.base_url.startswith(("http://", "https://")):
        raise NotConfigured(f"{where}.base_url {address.base_url[:100]!r} is no http(s) address")
    key = environ.get(address.key_variable, "").strip() if address.key_variable else None
    if key == "":
        raise NotConfigured(f"${address.key_variable} is not set; export it with the key of {chosen.provider}")
    if key and not (key.isascii() and key.isprintable()):
        raise NotConfigured(f"${address.key_variable} has characters that no key has; export it anew")
    if plugin is not None:
        connection = Connection(
            model=chosen.model,
            base_url=address.base_url,
            key=key,
            headers=chosen.headers,
            timeout=chosen.timeout_seconds,
        )
        return PluginProvider(plugin, connection, retries=settings.max_retries, retry_seconds=settings.retry_seconds)
    model = prices.spelled(chosen.model)
    if address.wire == "anthropic":
        from aurora_orchestration.llm.providers.anthropic import AnthropicProvider

        if key is None:
            raise NotConfigured(f"{where}.api_key_env is not set; name the variable that holds the key")
        return AnthropicProvider(
            model,
            base_url=address.base_url,
            key=key,
            headers=chosen.headers,
            timeout=chosen.timeout_seconds,
            retries=settings.max_retries,
            retry_seconds=settings.retry_seconds,
        )
    from aurora_orchestration.llm.providers.openai import OpenAiProvider

    return OpenAiProvider(
        model,
        name=chosen.provider,
        base_url=address.base_url,
        key=key,
        headers=chosen.headers,
        timeout=chosen.timeout_seconds,
        retries=settings.max_retries,
        retry_seconds=settings.retry_seconds,
    )
