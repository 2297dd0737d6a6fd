"""What the plain values of a capability tell at a glance: enough to see that a rule has nothing to say of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from aurora_manifest.pointers import PointerError, from_pointer
from aurora_manifest.subschemas import LISTED, NAMED, ONE
from aurora_manifest.templates import Part, Template, Variable, parse_template, placed

_NOTHING: dict[str, Any] = {}
_NOWHERE: dict[str, tuple[Part, Variable, str]] = {}


class Glance:
    """A capability without places. Only of one that is well-formed and has no name twice; `plain` is its value.

    What is missing or of another type is empty here. `pointers` are the steps of each JSON Pointer in
    `parameterMapping`; `unclear` tells that there is something else in it as well, `astray` that one may lead to no
    parameter. `schemas` are `parameters` and all schemas in it, by each keyword they have.
    """

    __slots__ = (
        "astray",
        "encoding",
        "has_location",
        "has_mapping",
        "has_parameters",
        "location",
        "mapping",
        "method",
        "parameters",
        "placed",
        "plain",
        "pointers",
        "properties",
        "required",
        "schemas",
        "template",
        "unclear",
        "used",
    )

    def __init__(self, plain: dict[str, Any]) -> None:
        self.plain = plain
        action = _object(plain, "action")
        self.method = action.get("method")
        self.encoding = action.get("encoding")
        self.mapping = _object(action, "parameterMapping")
        self.has_mapping = "parameterMapping" in action
        self.location = _object(action, "parameterLocation")
        text = action.get("urlTemplate")
        self.template: Template | None = parse_template(text) if isinstance(text, str) else None
        self.placed = placed(self.template) if self.template is not None else _NOWHERE
        self.parameters = _object(plain, "parameters")
        self.has_parameters = isinstance(plain.get("parameters"), dict)
        self.properties = _object(self.parameters, "properties")
        required = self.parameters.get("required")
        self.required = {each for each in required if isinstance(each, str)} if isinstance(required, list) else ()
        self.schemas: dict[str, list[dict[str, Any]]] = {}
        for schema in _schemas(self.parameters) if self.has_parameters else ():
            for keyword in schema:
                self.schemas.setdefault(keyword, []).append(schema)
        self.pointers: dict[str, tuple[str, ...]] = {}
        self.unclear = False
        for name, pointer in self.mapping.items():
            try:
                self.pointers[name] = from_pointer(_text(pointer))
            except PointerError:
                self.unclear = True
        self.astray = not all(map(self._leads_to_schema, self.pointers.values()))
        self.used = {steps[0] if steps else "" for steps in self.pointers.values()}

    def with_keyword(self, keyword: str) -> Sequence[dict[str, Any]]:
        """The schemas, among `parameters` and all that are in it, that have a keyword."""
        return self.schemas.get(keyword, ())

    def _leads_to_schema(self, steps: tuple[str, ...]) -> bool:
        """Whether the steps of a pointer surely lead to the schema of a parameter, by names only."""
        schema: Any = self.parameters if self.has_parameters else None
        for step in steps:
            if not isinstance(schema, dict) or is_array(schema):
                return False
            schema = _object(schema, "properties").get(step)
        return isinstance(schema, dict)

    def optional_in_path(self) -> bool:
        """Whether a variable of the path may be filled by a parameter that is not required."""
        for name, (part, _, _) in self.placed.items():
            steps = self.pointers.get(name)
            if part == "path" and steps and steps[0] in self.properties and steps[0] not in self.required:
                return True
        return False


def is_array(schema: dict[str, Any]) -> bool:
    """Whether a schema, as a plain value, is one of a list."""
    kind = schema.get("type")
    return kind == "array" or (kind is None and "items" in schema and "properties" not in schema)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise PointerError
    return value


def _object(plain: dict[str, Any], name: str) -> dict[str, Any]:
    found = plain.get(name)
    return found if isinstance(found, dict) else _NOTHING


def _schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and all schemas in it, in any order."""
    pending = [schema]
    while pending:
        schema = pending.pop()
        yield schema
        for name, value in schema.items():
            if isinstance(value, dict):
                if name in NAMED:
                    pending.extend(each for each in value.values() if isinstance(each, dict))
                elif name in ONE:
                    pending.append(value)
            elif isinstance(value, list) and name in LISTED:
                pending.extend(each for each in value if isinstance(each, dict))
