"""Provider endpoints: where providers are found, and which environment variable has their API key, where configuration
does not say.

A row here is a provider whose wire format we speak; others come from plug-ins (`plugin_provider`).
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from aurora_orchestration.llm.providers.plugin_provider import ProviderKind, plugged
from aurora_orchestration.model_settings import ModelSettings

EDITOR = "editor"
"""The provider that is no endpoint: the connected editor."""


class ProviderEndpoint(Struct, frozen=True):
    """A provider's wire format, its address, and the variable of its key (None: it wants none).

    Of a plug-in's provider the wire format is the plug-in.
    """

    wire: Literal["anthropic", "openai"] | ProviderKind
    base_url: str
    key_variable: str | None = None


PROVIDERS = {
    "anthropic": ProviderEndpoint("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "openai": ProviderEndpoint("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "ollama": ProviderEndpoint("openai", "http://127.0.0.1:11434/v1"),
    "vllm": ProviderEndpoint("openai", "http://127.0.0.1:8000/v1"),
    "llama.cpp": ProviderEndpoint("openai", "http://127.0.0.1:8080/v1"),
    "lmstudio": ProviderEndpoint("openai", "http://127.0.0.1:1234/v1"),
    "openrouter": ProviderEndpoint("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "mistral": ProviderEndpoint("openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": ProviderEndpoint("openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "groq": ProviderEndpoint("openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
}


def address_of(settings: ModelSettings) -> ProviderEndpoint | None:
    """Endpoint of a model, with the variable of its API key; None for an unknown provider without `base_url`.

    A provider's usual key is meant for its usual host: another `base_url` gets the key of `api_key_env` alone.
    """
    known = PROVIDERS.get(settings.provider) or _of_plugin(settings.provider)
    base_url = settings.base_url or (known.base_url if known else None)
    if base_url is None:
        return None
    variable = settings.api_key_env
    if variable is None and known and urlsplit(base_url).netloc == urlsplit(known.base_url).netloc:
        variable = known.key_variable
    return ProviderEndpoint(known.wire if known else "openai", base_url, variable)


def names() -> tuple[str, ...]:
    """Every provider that settings may name: ours, the editor, those of plug-ins."""
    ours = (*PROVIDERS, EDITOR)
    return (*ours, *plugged(ours))


def _of_plugin(name: str) -> ProviderEndpoint | None:
    kind = plugged((*PROVIDERS, EDITOR)).get(name)
    return None if kind is None else ProviderEndpoint(kind, kind.base_url, kind.key_variable)
