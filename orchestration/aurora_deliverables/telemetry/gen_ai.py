"""The one place that knows OpenTelemetry's names for calls of language models (GenAI conventions, v1.37 and later).

They are still in development there: what is renamed is renamed here. https://opentelemetry.io/docs/specs/semconv/gen-ai/
"""

from __future__ import annotations

from collections.abc import Mapping

from aurora_deliverables.events import TokensUsed

CHAT = "gen_ai.chat"
"""The span's name as AURA-M §6.2 has it; OpenTelemetry itself suggests `chat <model>`."""

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
CONVERSATION = "gen_ai.conversation.id"
TOOL_NAME = "gen_ai.tool.name"

_PROVIDERS = {
    "claude": "anthropic",
    "google": "gcp.gemini",
    "gemini": "gcp.gemini",
    "vertex": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "mistral": "mistral_ai",
    "xai": "x_ai",
}
"""What people call a provider, and its well-known value there; others are passed on as they are."""


def chat_attributes(tokens: TokensUsed, session: str | None, model: str | None) -> Mapping[str, str | int]:
    """The `gen_ai.*` attributes of a call, or of some calls told together. `model` is used where none is told."""
    known: dict[str, str | int | None] = {
        OPERATION: "chat",
        PROVIDER: _provider(tokens.provider),
        REQUEST_MODEL: tokens.model or model,
        INPUT_TOKENS: tokens.input_tokens,
        OUTPUT_TOKENS: tokens.output_tokens,
        CACHED_TOKENS: tokens.cached_tokens or None,
        CONVERSATION: session,
    }
    return {name: value for name, value in known.items() if value is not None}


def tool_attributes(tool: str) -> Mapping[str, str | int]:
    """The `gen_ai.*` attributes of a tool call."""
    return {OPERATION: "execute_tool", TOOL_NAME: tool}


def _provider(name: str | None) -> str | None:
    return None if name is None else _PROVIDERS.get(name.lower(), name.lower())
