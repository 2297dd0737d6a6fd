"""Arguments of a call (parameter binding): checked against `parameters`, and found again by `parameterMapping` (JSON
Schema, RFC 6901)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from aurora_manifest.json.document import Object
from aurora_manifest.json.parser import parse
from aurora_manifest.json.pointers import PointerError, from_pointer, to_pointer
from aurora_manifest.model import Capability
from aurora_manifest.rules.places import IGNORE
from aurora_protocol import SiteError

if TYPE_CHECKING:
    from jsonschema import ValidationError

MAX_ARGUMENTS = 4 * 1024 * 1024
_MAX_ERRORS = 50
_INDEX = re.compile(r"0|[1-9][0-9]{0,17}")


class Misfit(Struct, frozen=True):
    """An argument that the parameters do not allow: where (a JSON Pointer) and why; values are not repeated."""

    path: str
    message: str


def read_arguments(text: str) -> dict[str, Any]:
    """Read a JSON object of arguments. Raises SiteError with the first mistake and its place."""
    if len(text) > MAX_ARGUMENTS:
        raise SiteError(f"the arguments have {len(text):,} characters; the limit is {MAX_ARGUMENTS:,}")
    document = parse(text)
    if document.problems:
        problem = document.problems[0]
        position = document.lines.position(problem.start)
        place = f"line {position.line + 1}, column {position.character + 1}"
        raise SiteError(f'the arguments are no JSON: {problem.message} ({place}); give an object like {{"limit": 5}}')
    value = document.root.value if document.root else None
    if not isinstance(value, dict):
        raise SiteError('the arguments must be a JSON object, like {"limit": 5}')
    return value


def misfits(parameters: Any, arguments: dict[str, Any]) -> list[Misfit]:
    """Validation errors: every way in which `arguments` break the JSON Schema `parameters`; none when there is no
    schema.

    Raises SiteError when `parameters` is itself no usable schema. References are never fetched from anywhere.
    """
    from jsonschema.exceptions import SchemaError
    from referencing.exceptions import Unresolvable

    from aurora_manifest.client.argument_validator import validator_of

    if parameters is None:
        return []
    try:
        errors = list(islice(validator_of(parameters).iter_errors(arguments), _MAX_ERRORS))
    except SchemaError as error:
        raise SiteError(f"the manifest's parameters are no JSON Schema: {error.message[:200]}") from error
    except Unresolvable as error:
        place = f"#{anchor}" if (anchor := getattr(error, "anchor", "")) else error.ref
        raise SiteError(f"the manifest's parameters refer to what they do not have: {place[:200]}") from error
    except (RecursionError, re.error, ArithmeticError) as error:
        raise SiteError(f"the manifest's parameters cannot be checked against: {type(error).__name__}") from error
    return [_misfit(error) for error in sorted(errors, key=lambda each: [str(step) for step in each.absolute_path])]


def _misfit(error: ValidationError) -> Misfit:
    """Validation error in words, with its place."""
    path = list(error.absolute_path)
    expected: Any = error.validator_value
    match error.validator:
        case "required":
            return Misfit(to_pointer([*path, _missing(error)]), "is required")
        case "type":
            message = f"must be of type {expected if isinstance(expected, str) else ' or '.join(expected)}"
        case "enum":
            message = f"must be one of {', '.join(map(_shown, expected[:20]))}"
        case "const":
            message = f"must be {_shown(expected)}"
        case "pattern":
            message = f"must match {getattr(expected, 'written', expected)}"
        case "format":
            message = f"must be a valid {expected}"
        case "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems" as rule:
            unit = " characters" if rule.endswith("Length") else " items" if rule.endswith("Items") else ""
            bound = "at least" if rule.startswith("min") else "at most"
            message = f"must {'have' if unit else 'be'} {bound} {expected}{unit}"
        case "additionalProperties":
            message = f"may not have {', '.join(_extra(error))}: the parameters do not name it"
        case rule:
            message = f"breaks {rule}: {_shown(expected)}"
    return Misfit(to_pointer(path), message)


def _shown(value: Any) -> str:
    """A value of a schema as it is written there; a text without its quotes."""
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:100]


def _missing(error: ValidationError) -> str:
    """The name an error is about: jsonschema reports each missing member by itself, and names it in words only."""
    return error.message.removesuffix(" is a required property").strip("'\"")


def _extra(error: ValidationError) -> list[str]:
    schema: Any = error.schema
    instance: Any = error.instance
    return [name for name in instance if name not in schema.get("properties", {})][:10]


def lookup(arguments: Any, pointer: str) -> tuple[bool, Any]:
    """Look-up of a JSON Pointer in the arguments: (found, value). Raises PointerError when it is no pointer."""
    value = arguments
    for step in from_pointer(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and _INDEX.fullmatch(step) and int(step) < len(value):
            value = value[int(step)]
        else:
            return False, None
    return True, value


def mapping_of(capability: Capability) -> dict[str, Any]:
    """`parameterMapping`, without the member that silences rules in it."""
    return _without_ignore(capability.mapping)


def location_of(capability: Capability) -> dict[str, Any]:
    """`parameterLocation`, without the member that silences rules in it."""
    return _without_ignore(capability.location)


def _without_ignore(node: Object | None) -> dict[str, Any]:
    return {name: value for name, value in node.value.items() if name != IGNORE} if node else {}


def mapped(mapping: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The values to send by the names they are sent under; what has no argument is left out. Raises SiteError."""
    found = {}
    for name, pointer in mapping.items():
        with _telling_of(name):
            present, value = lookup(arguments, pointer) if isinstance(pointer, str) else (False, None)
        if present:
            found[name] = value
    return found


def unused(mapping: dict[str, Any], arguments: dict[str, Any]) -> list[str]:
    """The arguments that nothing in the mapping reads; the empty pointer reads all of them. Raises SiteError."""
    steps = []
    for name, pointer in mapping.items():
        with _telling_of(name):
            steps.append(from_pointer(pointer) if isinstance(pointer, str) else None)
    if () in steps:
        return []
    first = {path[0] for path in steps if path}
    return [name for name in arguments if name not in first]


@contextmanager
def _telling_of(name: str) -> Iterator[None]:
    """Raise SiteError for a pointer that is none: to the rules that is a warning, and the manifest is valid."""
    try:
        yield
    except PointerError as error:
        raise SiteError(f"the manifest maps {name} to no argument: {error}") from error
