"""Fields of events, and values for them: for laws that hold of every field there is, and of those to come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, inspect
from msgspec.structs import replace

from aurora_deliverables.event_request import choices_of

Place = tuple[str, ...]


def leaves(kind: type[Struct]) -> Iterator[tuple[Place, Any]]:
    """The fields of a struct and of those within it, each with its type."""
    for field in msgspec.structs.fields(kind):
        inner = _plain(field.type)
        if isinstance(inner, inspect.StructType):
            yield from (((field.name, *place), annotation) for place, annotation in leaves(inner.cls))
        else:
            yield (field.name,), field.type


def value_at(struct: Any, place: Place) -> Any:
    """The value of a field."""
    for name in place:
        struct = getattr(struct, name)
    return struct


def changed(struct: Any, place: Place, value: Any) -> Any:
    """The struct with another value in a field."""
    first, *rest = place
    return replace(struct, **{first: changed(getattr(struct, first), tuple(rest), value) if rest else value})


def other(annotation: Any, value: Any) -> Any:
    """A value that a field of this type may have beside `value`."""
    choices = choices_of(annotation)
    if choices:
        return next(each for each in choices if each != value)
    match _plain(annotation):
        case inspect.BoolType():
            return not value
        case inspect.IntType():
            return (value or 0) + 7
        case inspect.FloatType(le=1):
            return 0.25 if value != 0.25 else 0.5
        case inspect.FloatType():
            return (value or 0.0) + 7.5
        case inspect.StrType():
            return f"{value or 'a'}x"
        case inspect.VarTupleType():
            return value[:-1]
    raise AssertionError(f"say here what a field of {annotation} may be")


def _plain(annotation: Any) -> Any:
    kind = inspect.type_info(annotation)
    while isinstance(kind, inspect.Metadata | inspect.UnionType):
        kind = (
            kind.type
            if isinstance(kind, inspect.Metadata)
            else next(each for each in kind.types if not isinstance(each, inspect.NoneType))
        )
    return kind
