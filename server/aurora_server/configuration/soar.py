"""Sections that say how questions are answered (orchestrator, models, agents), merged from file, variables and flags
into one `SoarSettings` (AURORA Appendix C)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import fields, replace

from aurora_orchestration.settings import SoarSettings
from aurora_protocol.address import home as aurora_home
from aurora_protocol.address import in_home
from aurora_server.configuration.config_file import ConfigFile
from aurora_server.configuration.marks import marks_of, members
from aurora_server.configuration.model_selection import (
    FLAGS,
    KEY_VARIABLE,
    ROLES,
    VARIABLES,
    chosen_model,
    models_laid_over,
)
from aurora_server.configuration.values import converted, given, merged, variables_of, with_variables

SECTIONS: dict[str, tuple[str, type[Struct]]] = {
    field.name: (marks_of(field.type).get("at", field.name), type(field.default)) for field in fields(SoarSettings)
}
"""By the field of `SoarSettings`: the section's dotted name in a file, and its struct."""


def soar_of(document: ConfigFile, environ: Mapping[str, str]) -> SoarSettings:
    """The user's settings of a run, variables laid over the file. Raises SettingsError."""
    said = {field: given_in(document, name) for field, (name, _) in SECTIONS.items()}
    return built(said, document, environ)


def given_in(document: ConfigFile, name: str) -> dict[str, Any]:
    """A document's section, in the spelling of the structs. Raises SettingsError."""
    values = given(name, document.content, document.path)
    return _flat_signals(values) if name == "signals" else values


def laid_over(name: str, lower: dict[str, Any], upper: dict[str, Any]) -> dict[str, Any]:
    """One section over another: member by member, models as `model_selection` says."""
    return models_laid_over(lower, upper) if name == "llm" else merged(lower, upper)


def built(
    said: Mapping[str, dict[str, Any]],
    user: ConfigFile,
    environ: Mapping[str, str],
    flags: Mapping[str, str] | None = None,
) -> SoarSettings:
    """Settings of what files say by field, with variables and then command-line flags laid over them.

    The user's file is a flag itself where one named it. `flags` may have `llm_provider` and `llm_model`, and the
    `api_key` of a session that was started with variables of its own. Raises SettingsError, which names the user's file
    or the variable.
    """
    changed: dict[str, Any] = {}
    for field, (name, kind) in SECTIONS.items():
        values = said.get(field, {})
        if name == "llm":
            provider, model = (environ.get(variable) for variable in VARIABLES)
            values = chosen_model(values, provider, model, environ, VARIABLES, with_key=True)
        said_here = variables_of(name, kind, environ)
        if name == "llm":
            values = models_laid_over(values, _providers(said_here))
        values = with_variables(values, said_here)
        if user.named == "flag":
            values = laid_over(name, values, given_in(user, name))
        if name == "llm" and flags:
            key = flags.get("api_key")
            asking = {**environ, KEY_VARIABLE: key} if key else environ
            names = FLAGS if key is None else VARIABLES
            values = chosen_model(
                values, flags.get("llm_provider"), flags.get("llm_model"), asking, names, with_key=bool(key)
            )
        if values:
            changed[field] = converted(name, kind, values, str(user.path))
    return _at_home(replace(SoarSettings(), **changed), aurora_home(environ))


def _providers(said: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    return {role: {"provider": said[role, "provider"]} for role in ROLES if (role, "provider") in said}


def _at_home(soar: SoarSettings, home: Path) -> SoarSettings:
    """The same with `~/.aurora` read as the home folder, in every path that is marked so."""
    for steps in _home_paths():
        soar = _placed(soar, steps, home)
    return soar


@cache
def _home_paths() -> tuple[tuple[str, ...], ...]:
    """The fields that lead to each path in the home folder."""
    return tuple(
        (field, *member.place.removeprefix(f"{name}.").split("."))
        for field, (name, kind) in SECTIONS.items()
        for member in members(kind, name)
        if member.marks.get("path") == "home"
    )


def _placed(value: Any, steps: tuple[str, ...], home: Path) -> Any:
    """Settings with the paths of one field placed in the home folder."""
    if steps:
        first, *rest = steps
        return replace(value, **{first: _placed(getattr(value, first), tuple(rest), home)})
    if isinstance(value, tuple):
        return tuple(in_home(path, home) for path in value)
    return None if value is None else in_home(value, home)


def _flat_signals(values: dict[str, Any]) -> dict[str, Any]:
    """`signals.patterns.<kind>.keywords` (App. E) as `signals.<kind>` (App. C), which weighs more where both are."""
    patterns = values.get("patterns")
    if not isinstance(patterns, dict):
        return values
    flat = {
        name: pattern["keywords"]
        for name, pattern in patterns.items()
        if isinstance(pattern, dict) and "keywords" in pattern
    }
    return {**flat, **{name: value for name, value in values.items() if name != "patterns"}}
