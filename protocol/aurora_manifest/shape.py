"""Shape of a document by a JSON Schema (a compiled schema): what may stand where, what it means, and a fast "this is
fine"."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

_TYPES: dict[str, frozenset[type]] = {
    "object": frozenset({dict}),
    "array": frozenset({list}),
    "string": frozenset({str}),
    "number": frozenset({int, float}),
    "integer": frozenset({int}),
    "boolean": frozenset({bool}),
    "null": frozenset({type(None)}),
}
_CONTAINERS = (dict, list)
_ANNOTATIONS = {"$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples", "x-aurora-values"}
_CHECKED = {"$ref", "type", "enum", "const", "required", "properties", "additionalProperties", "items", "anyOf"}


class Shapes:
    """The shapes of one schema. References are to places in the same schema (`#/$defs/name`)."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._by_ref: dict[str, SchemaShape] = {}
        self.root = SchemaShape(schema, self)

    def at(self, ref: str) -> SchemaShape:
        """The shape a `$ref` means. Raises KeyError when the schema has no such place."""
        shape = self._by_ref.get(ref)
        if shape is None:
            place: Any = self._schema
            for step in ref.removeprefix("#/").split("/"):
                place = place[step]
            shape = self._by_ref[ref] = SchemaShape(place, self)
        return shape

    def along(self, path: Iterable[str | int]) -> SchemaShape | None:
        """The shape of a place in a document, by the way to it; None where the schema says nothing."""
        shape: SchemaShape | None = self.root
        for step in path:
            if shape is None:
                return None
            shape = shape.items if isinstance(step, int) else shape.members.get(step, shape.others)
        return shape


class SchemaShape:
    """Shape of one subschema. `accepts` may be wrong in one way only: it says no to what it does not fully
    understand.
    """

    def __init__(self, schema: dict[str, Any], shapes: Shapes) -> None:
        self._schema = schema
        self._shapes = shapes
        self.required: tuple[str, ...] = tuple(schema.get("required", ()))
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        self._types: frozenset[type] = frozenset().union(*(_TYPES[kind] for kind in kinds))
        choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
        self._choices = frozenset(choices) if choices and all(isinstance(choice, str) for choice in choices) else None
        understood = schema.keys() <= _ANNOTATIONS | _CHECKED and not {"enum", "const"} <= schema.keys()
        self._certain = understood and (choices is None or self._choices is not None)

    @property
    def description(self) -> str:
        """Description by the schema, as Markdown; the place's own words before those of what it refers to."""
        own: str = self._schema.get("description", "")
        return own or (self._target.description if self._target else "")

    @cached_property
    def members(self) -> dict[str, SchemaShape]:
        """The members the schema names, with their shapes."""
        members = dict(self._target.members) if self._target else {}
        for branch in self._branches:
            members.update(branch.members)
        properties = self._schema.get("properties", {})
        return members | {name: SchemaShape(schema, self._shapes) for name, schema in properties.items()}

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The JSON types the schema names, in its order; none where it names none."""
        kinds = self._schema.get("type", ())
        own = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        if not own and self._target:
            own = self._target.kinds
        return own or tuple(dict.fromkeys(kind for branch in self._branches for kind in branch.kinds))

    @cached_property
    def choices(self) -> tuple[Any, ...]:
        """The only values allowed, in the schema's order; none where any value of its types is."""
        own = self._schema.get("enum", [self._schema["const"]] if "const" in self._schema else ())
        return tuple(own) or (self._target.choices if self._target else ())

    @cached_property
    def needed_in_order(self) -> tuple[str, ...]:
        """The names of the members that must be there, in the schema's order."""
        return self.required or (self._target.needed_in_order if self._target else ())

    @cached_property
    def needed(self) -> frozenset[str]:
        """The names of the members that must be there."""
        return frozenset(self.required) | (self._target.needed if self._target else frozenset())

    @cached_property
    def others(self) -> SchemaShape | None:
        """The shape of members the schema does not name, where it says anything about them."""
        schema = self._schema.get("additionalProperties", self._schema.get("x-aurora-values"))
        if isinstance(schema, dict):
            return SchemaShape(schema, self._shapes)
        return self._target.others if self._target else None

    @cached_property
    def items(self) -> SchemaShape | None:
        """The shape of an array's items."""
        if "items" in self._schema:
            return SchemaShape(self._schema["items"], self._shapes)
        return self._target.items if self._target else None

    @cached_property
    def closed(self) -> bool:
        """Whether members the schema does not name are errors."""
        return self._schema.get("additionalProperties") is False or (self._target is not None and self._target.closed)

    @cached_property
    def _target(self) -> SchemaShape | None:
        return self._shapes.at(self._schema["$ref"]) if "$ref" in self._schema else None

    @cached_property
    def _branches(self) -> tuple[SchemaShape, ...]:
        return tuple(SchemaShape(schema, self._shapes) for schema in self._schema.get("anyOf", ()))

    @cached_property
    def _tests(self) -> dict[str, tuple[frozenset[type] | None, SchemaShape]]:
        """Test for each named member: its types where that is all, else its shape."""
        shapes = {name: self.members[name]._direct for name in self._schema.get("properties", {})}
        return {name: (shape._types if shape._only_typed else None, shape) for name, shape in shapes.items()}

    @cached_property
    def _test_of_others(self) -> SchemaShape | bool:
        schema = self._schema.get("additionalProperties", True)
        return SchemaShape(schema, self._shapes)._direct if isinstance(schema, dict) else bool(schema)

    @property
    def _direct(self) -> SchemaShape:
        """The shape itself or, when it only refers, the one it refers to."""
        only_refers = self._target is not None and self._schema.keys() <= _ANNOTATIONS | {"$ref"}
        return self._target if self._target is not None and only_refers else self

    @property
    def _only_typed(self) -> bool:
        return bool(self._types) and self._schema.keys() <= _ANNOTATIONS | {"type"}

    def knows(self, value: dict[str, Any] | list[Any]) -> bool:
        """Whether plain data has, at any depth, only names that the schema knows or does not care about."""
        if isinstance(value, list):
            shape = self.items
            return shape is None or all(shape.knows(each) for each in value if type(each) in _CONTAINERS)
        known, others = self.members, self.others
        if others is None:
            if (known or self.closed) and not value.keys() <= known.keys():
                return False
            for name, shape in self._naming.items():
                child = value.get(name)
                if isinstance(child, _CONTAINERS) and not shape.knows(child):
                    return False
            return True
        for name, child in value.items():
            if isinstance(child, _CONTAINERS) and not known.get(name, others).knows(child):
                return False
        return True

    @cached_property
    def _naming(self) -> dict[str, SchemaShape]:
        """The members in which some name may be one that the schema does not know."""
        return {name: shape for name, shape in self.members.items() if shape._may_name}

    @cached_property
    def _may_name(self) -> bool:
        inner = any(each is not None and not each._only_typed for each in (self.others, self.items))
        return inner or bool(self.members) or self.closed

    def accepts(self, value: Any) -> bool:
        """Whether `value`, plain data, is surely valid. A thousand capabilities take some ten milliseconds."""
        if not self._certain or (self._types and type(value) not in self._types):
            return False
        if self._choices is not None and not (isinstance(value, str) and value in self._choices):
            return False
        if self._target is not None and not self._target.accepts(value):
            return False
        if isinstance(value, dict):
            if not self._accepts_members(value):
                return False
        elif isinstance(value, list) and "items" in self._schema and self.items is not None:
            for item in value:
                if not self.items.accepts(item):
                    return False
        return not self._branches or any(branch.accepts(value) for branch in self._branches)

    def _accepts_members(self, value: dict[str, Any]) -> bool:
        """Object validation: required members, and each member by its own shape."""
        for name in self.required:
            if name not in value:
                return False
        tests, others = self._tests, self._test_of_others
        for name, child in value.items():
            test = tests.get(name)
            if test is not None:
                types, shape = test
                if type(child) not in types if types is not None else not shape.accepts(child):
                    return False
            elif others is not True and (others is False or not others.accepts(child)):
                return False
        return True
