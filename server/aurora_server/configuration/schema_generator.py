"""Generator of the JSON Schema and of the settings page from the structs of configuration; `make docs` writes both.

Descriptions are the docstrings below the fields, read from the source; the daemon never pays for them.
"""

from __future__ import annotations

import ast
import inspect
import json
import types
from collections.abc import Mapping
from functools import cache
from textwrap import dedent
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct

from aurora_server.configuration import settings, soar
from aurora_server.configuration.effective import plain
from aurora_server.configuration.marks import ConfigMember, is_optional, members, section_of
from aurora_server.configuration.other_members import OTHER_MEMBERS
from aurora_server.configuration.values import variable_of

SCHEMA_FILE = "schemas/aurora_schemas/configuration.schema.json"

Schema = dict[str, Any]

DESCRIPTION = (
    "The settings of AURORA (AURORA App. C): `config.json` in `$AURORA_HOME` (usually `~/.aurora`) is the user's, "
    "`.aurora/config.json` in a workspace is that workspace's. A workspace has a say in `memory.lifespan_policies` and "
    "in how its questions are answered: guardrails and caps it can only make stricter, and `llm`, `agents`, `aurora`, "
    "`headless` and files of examples count once it is trusted (`aurora trust`). In paths, `~/.aurora` is "
    "`$AURORA_HOME`."
)

_BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "pattern": "pattern",
    "examples": "examples",
}
_KINDS = {str: "string", bool: "boolean", int: "integer", float: "number"}


class UndescribedError(Exception):
    """A section or setting has no docstring; the message names it."""


def schema() -> Schema:
    """The JSON Schema of a file of configuration."""
    definitions: dict[str, Schema] = {}
    document: Schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:aurora:schema:configuration",
        "title": "AURORA configuration",
        "description": DESCRIPTION,
        "type": "object",
        "properties": {},
    }
    for place, kind in sections():
        _put(document, place, _section(kind, place, definitions), describe(kind))
    for place, (annotation, said) in OTHER_MEMBERS.items():
        shape = section_of(annotation)
        found = _section(shape, "", definitions) if shape else _typed(annotation, definitions)
        _put(document, place, found, said or describe(shape or object))
    first = ("$schema", "version")
    named = document["properties"]
    document["properties"] = {name: named[name] for name in (*first, *(each for each in named if each not in first))}
    return {**document, "$defs": dict(sorted(definitions.items()))}


def sections() -> list[tuple[str, type[Struct]]]:
    """Every section with its dotted place, a section before those within it."""
    return [*settings.SECTIONS.items(), *soar.SECTIONS.values()]


@cache
def describe(kind: type) -> str:
    """The docstring of a class, as one paragraph. Raises UndescribedError."""
    said = kind.__dict__.get("__doc__")
    if not said:
        raise UndescribedError(f"{kind.__qualname__} has no docstring")
    return " ".join(said.split())


@cache
def field_docstrings(kind: type[Struct]) -> Mapping[str, str]:
    """The docstrings below a struct's own fields, each as one paragraph."""
    (tree,) = ast.parse(dedent(inspect.getsource(kind))).body
    found: dict[str, str] = {}
    field: str | None = None
    for statement in tree.body if isinstance(tree, ast.ClassDef) else ():
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            field = statement.target.id
            continue
        if field is not None and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            found[field] = " ".join(str(statement.value.value).split())
        field = None
    return found


def described(member: ConfigMember) -> str:
    """Description of a member: the docstring below the field, or that of its section. Raises UndescribedError."""
    said = field_docstrings(member.owner).get(member.name)
    if said is None:
        raise UndescribedError(f"{member.owner.__qualname__}.{member.name} ({member.place}) has no docstring below it")
    return said


def variable_hint(member: ConfigMember) -> str:
    """How the member is said by an environment variable, in a sentence."""
    if is_optional(member):
        return f"Also `{variable_of(member.place)}_…`, member by member."
    return f"Also `{variable_of(member.place)}`."


def _put(document: Schema, place: str, found: Schema, said: str) -> None:
    *above, last = place.split(".")
    for step in above:
        document = document["properties"][step]
    there = document["properties"].get(last)
    properties = {**there["properties"], **found["properties"]} if there else None
    document["properties"][last] = {"description": said, **found, **({"properties": properties} if properties else {})}


def _section(
    kind: type[Struct], place: str, definitions: dict[str, Schema], usual: Struct | None = None, *, whole: bool = False
) -> Schema:
    """A struct as an object; `place` is empty where its members have no variables.

    What has no default is required of a `whole` one only: a section may be said in parts, by several files.
    """
    named: dict[str, Schema] = {}
    required = []
    for member in members(kind, place, usual):
        if member.place.removeprefix(f"{place}.").count("."):
            continue  # of a section within, which has it already
        named[member.name] = _member(member, place, definitions)
        if member.default is NODEFAULT:
            required.append(member.name)
    found: Schema = {"type": "object", "properties": named}
    if required and whole:
        found["required"] = required
    if kind.__struct_config__.forbid_unknown_fields:
        found["additionalProperties"] = False
    return found


def _member(member: ConfigMember, place: str, definitions: dict[str, Schema]) -> Schema:
    """Schema of one member: description, type, default, bounds."""
    said = described(member)
    if member.section is not None and not is_optional(member):
        inner = _section(member.section, member.place if place else "", definitions, member.default)
        return {"description": said, **inner, **_extra(member.annotation)}
    found = {
        "description": f"{said} {variable_hint(member)}" if place else said,
        **_typed(member.annotation, definitions),
    }
    if member.default is not NODEFAULT and member.default is not None:
        found["default"] = plain(member.default)
    return found


def _typed(annotation: Any, definitions: dict[str, Schema], *, whole: bool = False) -> Schema:
    """The schema of a type: bounds, choices, what lists and mappings hold. Structs are definitions."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        found = {**_typed(inner[0], definitions, whole=whole)}
        for meta in inner[1:]:
            found.update(_bounds(meta, found))
        return found
    if origin in (Union, types.UnionType):
        (one,) = (each for each in inner if each is not type(None))
        found = _typed(one, definitions)
        if "enum" in found:
            found["enum"] = [*found["enum"], None]
        return {**found, "type": [found["type"], "null"]} if "type" in found else found
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _typed(inner[1], definitions, whole=True)}
    if origin is tuple and inner[-1] is Ellipsis:
        return {"type": "array", "items": _typed(inner[0], definitions)}
    if origin is tuple:
        return {
            "type": "array",
            "items": _typed(inner[0], definitions),
            "minItems": len(inner),
            "maxItems": len(inner),
        }
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        name = annotation.__name__
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = {
                "description": describe(annotation),
                **_section(annotation, "", definitions, whole=whole),
            }
        return {"$ref": f"#/$defs/{name}"}
    return {"type": _KINDS[annotation]}


def _bounds(meta: Any, found: Schema) -> Schema:
    """Bounds of a value as JSON Schema has them: minimum, maximum, lengths, pattern."""
    if not isinstance(meta, Meta):
        return {}
    bounds = {ours: value for name, ours in _BOUNDS.items() if (value := getattr(meta, name)) is not None}
    size = {"string": "Length", "array": "Items", "object": "Properties"}.get(str(found.get("type")), "Length")
    lengths = {f"min{size}": meta.min_length, f"max{size}": meta.max_length}
    return {
        **bounds,
        **{name: value for name, value in lengths.items() if value is not None},
        **(meta.extra_json_schema or {}),
    }


def _extra(annotation: Any) -> Schema:
    found: Schema = {}
    for meta in get_args(annotation)[1:] if get_origin(annotation) is Annotated else ():
        found.update(meta.extra_json_schema or {})
    return found


def schema_text() -> str:
    """The schema as its file has it."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def files() -> dict[str, str]:
    """Generated files by their paths in the repository."""
    from aurora_server.configuration.settings_page import PAGE_FILE, page_text

    return {SCHEMA_FILE: schema_text(), PAGE_FILE: page_text()}
