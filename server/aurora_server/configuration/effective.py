"""Effective settings (precedence): what holds, member by member, and where it comes from: a default, the user's file,
the workspace's, or a variable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from aurora_memory.lifespans.policies import BUILT_IN, DOCUMENT
from aurora_server.configuration import soar
from aurora_server.configuration.config_file import ConfigFile, users_document, workspaces_path
from aurora_server.configuration.layers import Notice, layered
from aurora_server.configuration.model_selection import ROLES, VARIABLES
from aurora_server.configuration.settings import SECTIONS, Settings, settings_of
from aurora_server.configuration.values import variable_of

Source = Literal["default", "user", "workspace", "environment"]

KEPT_VARIABLES = ("AURORA_HOME", "AURORA_CONFIG", "AURORA_CONFIG_FLAG", "HOME", "USERPROFILE")
"""Variables that say where files are, not what is in them."""


class Effective(Struct, frozen=True):
    """Effective setting: its value as JSON has it, which layer it comes from, and the file or variable."""

    value: Any
    source: Source
    place: str | None = None


def effective(
    root: Path, trusted: bool, environ: Mapping[str, str], config_file: Path | None = None
) -> tuple[dict[str, Effective], list[Notice]]:
    """Every setting by its dotted name, and what of the workspace's file does not count. Raises SettingsError."""
    user = users_document(environ, config_file)
    bare = {name: value for name, value in environ.items() if name in KEPT_VARIABLES}
    nobody = ConfigFile(user.path)
    held, notices = _values(user, root, trusted, environ)
    filed, _ = _values(user, root, trusted, bare)
    users = _leaves_of(settings_of(user, bare))
    defaults = _leaves_of(settings_of(nobody, bare))
    found: dict[str, Effective] = {}
    for name, value in held.items():
        flagged = user.named == "flag" and _has(user.content, name)
        variable = None if flagged else _variable(name, value, filed.get(name), environ)
        if variable is not None:
            found[name] = Effective(value, "environment", variable)
        elif filed.get(name) != users.get(name) and name not in _FROM_THE_ROOT:
            found[name] = Effective(value, "workspace", str(workspaces_path(root)))
        elif _has(user.content, name) or value != defaults.get(name, value):
            found[name] = Effective(value, "user", str(user.path))
        else:
            found[name] = Effective(value, "default")
    return found, notices


_FROM_THE_ROOT = ("scoring.calibration_examples.external_path",)
"""Paths that a run reads from the workspace, whoever wrote them."""


def defaults_file() -> dict[str, Any]:
    """The whole configuration with every default, as a file would have it; without what has none."""
    document: dict[str, Any] = {"version": "1.0"}
    for name, kind in (*SECTIONS.items(), *soar.SECTIONS.values()):
        place = document
        for step in name.split("."):
            place = place.setdefault(step, {})
        place.update(_given(msgspec.to_builtins(kind())))
    policies = {"enabled": BUILT_IN.enabled, "default_policy": BUILT_IN.default_policy, "policies": DOCUMENT}
    document["memory"]["lifespan_policies"] = policies
    return document


def _given(value: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _given(each) if isinstance(each, dict) else plain(each)
        for name, each in value.items()
        if each is not None
    }


def plain(value: Any) -> Any:
    """As JSON has it, with whole numbers as such."""
    value = msgspec.to_builtins(value)
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _values(
    user: ConfigFile, root: Path, trusted: bool, environ: Mapping[str, str]
) -> tuple[dict[str, Any], list[Notice]]:
    settings = settings_of(user, environ)
    chosen, notices = layered(user, root, trusted, environ)
    return _leaves_of(msgspec.structs.replace(settings, answering=chosen)), notices


def _leaves_of(settings: Settings) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in SECTIONS:
        found.update(_leaves(name, getattr(settings, name)))
    for field, (name, _) in soar.SECTIONS.items():
        found.update(_leaves(name, getattr(settings.soar, field)))
    return found


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Leaves of nested settings by dotted names (flattened)."""
    for field in value.__struct_fields__:
        inner, name = getattr(value, field), f"{path}.{field}"
        if isinstance(inner, Struct):
            yield from _leaves(name, inner)
        else:
            yield name, plain(inner)


def _variable(name: str, value: Any, filed: Any, environ: Mapping[str, str]) -> str | None:
    """The variable that a setting's value comes from, if one does."""
    if variable_of(name) in environ:
        return variable_of(name)
    if value != filed and any(name.startswith(f"llm.{role}") for role in ROLES):
        return next((variable for variable in VARIABLES if variable in environ), None)
    return None


def _has(document: Any, name: str) -> bool:
    for step in name.split("."):
        if not isinstance(document, dict) or step not in document:
            return False
        document = document[step]
    return True
