"""Model selection: which model is asked, where more than one place has a say: files, variables, flags (AURORA §9.6,
App. C).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from aurora_orchestration.llm import USUAL_MODELS
from aurora_server.configuration.config_file import FLAG_VARIABLE, SettingsError
from aurora_server.configuration.values import merged

ROLES = ("reasoning_llm", "solving_llm")
VARIABLES = ("AURORA_LLM_PROVIDER", "AURORA_LLM_MODEL")
FLAGS = ("--llm-provider", "--llm-model")
KEY_VARIABLE = "AURORA_API_KEY"

OF_A_PROVIDER = ("base_url", "api_key_env", "headers")
"""Members with one provider's address and key; another provider is never sent them."""

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
    """Choice by the variables of §9.6; None where they name neither a provider nor a model, or where `--config` is
    given, which counts more."""
    if environ.get(FLAG_VARIABLE):
        return None
    provider, model = (environ.get(variable) or None for variable in VARIABLES)
    if provider is None and model is None:
        return None
    return ModelChoice(provider=provider, model=model, api_key=environ.get(KEY_VARIABLE) or None)


def models_laid_over(lower: dict[str, Any], upper: dict[str, Any]) -> dict[str, Any]:
    """`llm` over `llm`: a model of another provider does not inherit where the lower one was asked, and with what."""
    kept = dict(lower)
    for role in ROLES:
        below, above = lower.get(role), upper.get(role)
        if isinstance(below, dict) and isinstance(above, dict) and above.get("provider", _of(below)) != _of(below):
            kept[role] = {name: value for name, value in below.items() if name not in OF_A_PROVIDER}
    return merged(kept, upper)


def chosen_model(
    values: dict[str, Any],
    provider: str | None,
    model: str | None,
    environ: Mapping[str, str],
    named_by: tuple[str, str],
    *,
    with_key: bool = False,
) -> dict[str, Any]:
    """The `llm` section with both models by this provider, or of this name; as it is where neither is given.

    With a provider, the key is the one in AURORA_API_KEY, if that is set: over what a file names where whoever named
    the provider said the key as well (`with_key`). `named_by` is how the two are spelt where they came from. Raises
    SettingsError where a model cannot be told.
    """
    if not provider and not model:
        return values
    result = dict(values)
    for role in ROLES:
        below = values.get(role)
        if isinstance(below, dict):
            result[role] = _rather(below, provider, model, environ, named_by, with_key)
        elif role == ROLES[0]:
            if not provider:
                raise SettingsError(
                    f"{named_by[1]}={model} says no provider, and none is configured; set {named_by[0]}"
                )
            result[role] = _rather({}, provider, model, environ, named_by, with_key)
    return result


def _rather(
    below: dict[str, Any],
    provider: str | None,
    model: str | None,
    environ: Mapping[str, str],
    named_by: tuple[str, str],
    with_key: bool,
) -> dict[str, Any]:
    """Model with another provider or name; what belongs to the old provider goes."""
    kept = dict(below)
    if provider and provider != _of(below):
        kept = {name: value for name, value in below.items() if name not in (*OF_A_PROVIDER, "model")}
        kept["provider"] = provider
    if provider and environ.get(KEY_VARIABLE) and (with_key or not kept.get("api_key_env")):
        kept["api_key_env"] = KEY_VARIABLE
    kept["model"] = model or kept.get("model") or USUAL_MODELS.get(provider or "")
    if not kept["model"]:
        raise SettingsError(f"{named_by[0]}={provider} says no model; set {named_by[1]} as well")
    return kept


def _of(model: dict[str, Any]) -> Any:
    return model.get("provider")
