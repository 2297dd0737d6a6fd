"""Values of a section of configuration as a struct: what the config file says, and environment variables `AURORA_*`,
which override it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct

from aurora_protocol import typed
from aurora_server.configuration.config_file import ConfigFile, SettingsError
from aurora_server.configuration.marks import section_of

PREFIX = "AURORA_"
MOST_SAID = 300
"""Characters of an error, which may quote the value."""
_ITEM = re.compile(r"\[\d+\]")

Section = TypeVar("Section", bound=Struct)


def section(name: str, kind: type[Section], document: ConfigFile, environ: Mapping[str, str]) -> Section:
    """The section with the dotted `name` of the user's document, variables laid over it. Raises SettingsError.

    What a file says that a flag named counts more than variables (App. C).
    """
    said = given(name, document.content, document.path)
    values = with_variables(said, variables_of(name, kind, environ))
    if document.named == "flag":
        values = merged(values, said)
    return converted(name, kind, values, str(document.path))


def given(name: str, document: dict[str, Any], path: Path) -> dict[str, Any]:
    """A document's section; empty where it has none. Raises SettingsError."""
    place: Any = document
    steps = name.split(".")
    for number, step in enumerate(steps, 1):
        place = place.get(step, {})
        if not isinstance(place, dict):
            raise SettingsError(f"{path}: '{'.'.join(steps[:number])}' must be an object")
    found: dict[str, Any] = place
    return found


def converted(name: str, kind: type[Section], values: dict[str, Any], place: str) -> Section:
    """The struct of a section, with defaults for what is not given, also inside of what is given in part.

    Raises SettingsError, which names the place, the member and what is allowed.
    """
    if not values:
        return kind()
    try:
        return typed.convert(merged(msgspec.to_builtins(kind()), values), kind)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{place}: {_explained(name, str(error))}") from error


def merged(lower: dict[str, Any], upper: dict[str, Any]) -> dict[str, Any]:
    """Deep merge: `upper` laid over `lower`, member by member; lists and plain values are replaced."""
    if not upper:
        return lower
    result = dict(lower)
    for name, value in upper.items():
        below = result.get(name)
        result[name] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return result


def variables_of(name: str, kind: type[Struct], environ: Mapping[str, str]) -> dict[tuple[str, ...], Any]:
    """Values from variables of a section, by the steps within it: AURORA_<SECTION>_<MEMBER>. Raises SettingsError."""
    prefix = variable_of(name) + "_"
    if not any(variable.startswith(prefix) for variable in environ):
        return {}
    return {
        steps: _value(".".join((name, *steps)), variable, environ[variable], annotation)
        for steps, variable, annotation in members(name, kind)
        if variable in environ
    }


def with_variables(values: dict[str, Any], said: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    """A section's values with what variables say in their place."""
    for steps, value in said.items():
        values = _put(values, steps, value)
    return values


def _put(values: dict[str, Any], steps: tuple[str, ...], value: Any) -> dict[str, Any]:
    first, *rest = steps
    below = values.get(first)
    inner = _put(below if isinstance(below, dict) else {}, tuple(rest), value) if rest else value
    return {**values, first: inner}


def variable_of(path: str) -> str:
    """The variable that sets the member at a dotted path: `scoring.max_retries` is AURORA_SCORING_MAX_RETRIES."""
    return PREFIX + path.replace(".", "_").upper()


def members(name: str, kind: type[Struct]) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    """Every member of a section that a variable can set: the steps within it, the variable, its annotation."""
    for field in msgspec.structs.fields(kind):
        inner = section_of(field.type)
        path = f"{name}.{field.name}"
        if inner is None:
            yield (field.name,), variable_of(path), field.type
        else:
            for steps, variable, annotation in members(path, inner):
                yield (field.name, *steps), variable, annotation


def _value(path: str, variable: str, text: str, annotation: Any) -> Any:
    """Coercion of a variable's text to JSON: lists are spelt `a,b`, mappings `a=1,b=2`, both also as JSON."""
    raw: Any = text
    origin = get_origin(get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation)
    try:
        if origin in (dict, tuple) and text.lstrip().startswith(("[", "{")):
            raw = json.loads(text)
        elif origin is dict:
            raw = _pairs(text)
        elif origin is tuple:
            raw = [each.strip() for each in text.split(",") if each.strip()]
        return msgspec.to_builtins(typed.convert(raw, annotation, strict=False))
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{variable}: {_explained(path, str(error))}") from error


def _pairs(text: str) -> dict[str, str]:
    """`a=1,b=2` as a mapping; what has no `=` stands for nothing that any setting takes."""
    return {key.strip(): value.strip() for key, _, value in (each.partition("=") for each in text.split(",") if each)}


def _explained(name: str, error: str) -> str:
    """msgspec's words, with the whole path of the member and what the schema allows there."""
    from aurora_server.configuration import schema_lookup  # only when something is wrong

    what, _, at = error.partition(" - at `$")
    path = name + at.rstrip("`").replace("[...]", ".*")
    may_be = schema_lookup.allowed(_ITEM.sub(".*", path))
    return f"{path.replace('.*', '')}: {_lowered(what)[:MOST_SAID]}" + (f"; it may be {may_be}" if may_be else "")


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
