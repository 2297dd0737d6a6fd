"""Model choice of a session: which model a session wishes for: what a client was started with, told to a daemon that
was running (AURORA §9.6).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, Struct

from aurora_server.configuration.model_selection import KEY_VARIABLE, VARIABLES

Said = Annotated[str, Meta(min_length=1, max_length=1_000)]


class ModelChoice(Struct, frozen=True, kw_only=True, rename="camel"):
    """`initializationOptions.llm`: a provider, a model's name and a key, as the variables of §9.6 say them.

    Kept for the session, in memory only.
    """

    provider: Said | None = None
    model: Said | None = None
    api_key: Said | None = None

    @property
    def flags(self) -> dict[str, str]:
        """As configuration takes them, over files and variables."""
        said = {"llm_provider": self.provider, "llm_model": self.model}
        return {"api_key": self.api_key or "", **{name: value for name, value in said.items() if value}}

    def variables(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The environment in which the key is looked up."""
        return {**environ, **({KEY_VARIABLE: self.api_key} if self.api_key else {})}


def choice_of(environ: Mapping[str, str]) -> ModelChoice | None:
    """What the variables of §9.6 say; None where they name neither a provider nor a model."""
    provider, model = (environ.get(variable) or None for variable in VARIABLES)
    if provider is None and model is None:
        return None
    return ModelChoice(provider=provider, model=model, api_key=environ.get(KEY_VARIABLE) or None)
