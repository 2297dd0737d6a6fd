"""`aurora config set` (validation of a change): what is checked before a file of configuration is changed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aurora_schemas
from aurora_server.configuration import schema_lookup
from aurora_server.configuration.config_file import ConfigFile, SettingsError, change, finite
from aurora_server.configuration.settings import settings_of

_KEYS = re.compile(r"^(sk|pk|rk)[-_]|^gh[pousr]_|^github_pat_|^xox[abprs]-|^AKIA[0-9A-Z]{12}|^AIza|^eyJ[\w-]+\.|^hf_")
_LONG = re.compile(r"(?=.*[a-z])(?=.*[0-9])[A-Za-z0-9_\-]{32,}")
"""Longer than any variable is called, and not spelt like one."""

Change = tuple[str, Any]
"""A dotted name and the value to give it; None removes the member."""


def parsed(name: str, text: str) -> Any:
    """The value that a text on the command line stands for, by what the schema says of the member.

    JSON; a list also as `a,b`; a text also without quotes. `null` is None. Raises SettingsError for unknown members.
    """
    said = schema_lookup.member(name)
    if said is None or not name:
        raise SettingsError(f"'{name}' is not a setting; {schema_lookup.unknown_hint(name)}")
    if text == "null":
        return None
    kinds = said.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "string" in kinds or ("enum" in said and not kinds):
        return text
    try:
        return json.loads(text, parse_constant=lambda _: text, parse_float=lambda said: _finite(name, said))
    except (ValueError, RecursionError) as error:
        if text.lstrip()[:1] in ("{", "["):
            what = f"{name}: {text[:80]!r} is no JSON: {str(error)[:200]}"
            raise SettingsError(f"{what}; mind the shell's quotes") from error
        return [each.strip() for each in text.split(",") if each.strip()] if "array" in kinds else text


def _finite(name: str, text: str) -> float:
    try:
        return finite(text)
    except ValueError as error:
        raise SettingsError(f"{name} cannot be that: {error}") from error


def put(path: Path, home: Path, changes: Sequence[Change], *, of_workspace: bool = False) -> None:
    """Change members of the file in one step. What it says otherwise stays, in its order.

    Raises SettingsError, and changes nothing, where a value is not allowed, looks like a secret, or leaves a
    configuration that cannot be used.
    """
    for name, value in changes:
        _refuse_secrets(name, value)

    def changed(document: dict[str, Any]) -> dict[str, Any]:
        for name, value in changes:
            document = _with(document, name.split("."), value, path)
        for name, _ in changes:
            _check(document, name)
        if not of_workspace:
            _usable(path, document)
        return document

    change(path, home, changed)


def _with(document: dict[str, Any], steps: list[str], value: Any, path: Path) -> dict[str, Any]:
    """Document with a member set, or removed (None), at a dotted path."""
    first, *rest = steps
    if not rest:
        if value is None:
            return {name: each for name, each in document.items() if name != first}
        return {**document, first: value}
    below = document.get(first, {})
    if not isinstance(below, dict):
        raise SettingsError(f"{path}: '{first}' must be an object; mend the file first")
    inner = _with(below, rest, value, path)
    if not inner and value is None:
        return {name: each for name, each in document.items() if name != first}
    return {**document, first: inner}


def _check(document: dict[str, Any], name: str) -> None:
    """JSON Schema validation of what is changed. Raises SettingsError."""
    from jsonschema import Draft202012Validator  # 100 ms, and only for changing

    steps = name.split(".")
    for error in Draft202012Validator(aurora_schemas.load(schema_lookup.NAME)).iter_errors(document):
        at = [str(step) for step in error.absolute_path]
        if at[: len(steps)] == steps:
            inner = ".".join(at[len(steps) :])
            what = f"{name}{f' ({inner})' if inner else ''}"
            may_be = schema_lookup.allowed(".".join(at))
            raise SettingsError(f"{what} cannot be that; it may be {may_be or error.message[:200]}")


def _usable(path: Path, document: dict[str, Any]) -> None:
    """Dry run: whether the whole configuration could be loaded. Raises SettingsError."""
    try:
        settings_of(ConfigFile(path, document), {"AURORA_HOME": str(path.parent)})
    except SettingsError as error:
        hint = ""
        if "missing required field" in str(error):
            hint = "; set them together: aurora config set KEY VALUE KEY VALUE"
        raise SettingsError(f"nothing was changed: {error}{hint}") from error


def _refuse_secrets(name: str, value: Any) -> None:
    """Check for API keys in what is to be written. Raises SettingsError."""
    if isinstance(value, dict):
        for inner, each in value.items():
            _refuse_secrets(f"{name}.{inner}", each)
    steps = name.split(".")
    if not isinstance(value, str) or "headers" in steps:
        return
    if _KEYS.search(value) or (steps[-1] == "api_key_env" and _LONG.fullmatch(value)):
        raise SettingsError(
            f"{name}: that looks like a key itself, and keys are not kept in files; "
            "put it into an environment variable and give the variable's name"
        )
