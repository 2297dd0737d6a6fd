"""Provider endpoints: where providers are found, and which variable holds their key, where configuration does not
say. Pure.
"""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from aurora_orchestration.settings import ModelSettings


class Known(Struct, frozen=True):
    """A provider's wire format, its address, and the variable of its key (None: it wants none)."""

    wire: Literal["anthropic", "openai"]
    base_url: str
    key_variable: str | None = None


PROVIDERS = {
    "anthropic": Known("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "openai": Known("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "ollama": Known("openai", "http://127.0.0.1:11434/v1"),
    "vllm": Known("openai", "http://127.0.0.1:8000/v1"),
    "llama.cpp": Known("openai", "http://127.0.0.1:8080/v1"),
    "lmstudio": Known("openai", "http://127.0.0.1:1234/v1"),
    "openrouter": Known("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "mistral": Known("openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "deepseek": Known("openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "groq": Known("openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
}


def address_of(settings: ModelSettings) -> Known | None:
    """Where a model is asked and with which variable's key; None for an unknown provider without `base_url`.

    A provider's usual key is meant for its usual host: another `base_url` gets the key of `api_key_env` alone.
    """
    known = PROVIDERS.get(settings.provider)
    base_url = settings.base_url or (known.base_url if known else None)
    if base_url is None:
        return None
    variable = settings.api_key_env
    if variable is None and known and urlsplit(base_url).netloc == urlsplit(known.base_url).netloc:
        variable = known.key_variable
    return Known(known.wire if known else "openai", base_url, variable)
