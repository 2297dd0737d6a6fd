"""Marks on settings (annotations, metadata): what they say beside type and bounds (`msgspec.Meta(extra=…)`).

`workspace`: a workspace's own file may say it, `any` or once `trusted`. `stricter`: and only make it `higher` or
`lower`. `in_force`: from the daemon's `start`. `path`: `home` where `~/.aurora` is the home folder. `at`: the section's
place, where that is not the field's name. What is below a marked section has its `workspace` and `in_force` too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import fields

Marks = dict[str, str]


class ConfigMember(Struct, frozen=True):
    """Member of the configuration: a section or a setting, by its dotted place.

    `section` is the struct of what has members itself. `default` is NODEFAULT for what has to be given.
    """

    place: str
    annotation: Any
    default: Any
    marks: Marks
    section: type[Struct] | None
    owner: type[Struct]

    @property
    def name(self) -> str:
        """The last step of its place."""
        return self.place.rpartition(".")[2]


def marks_of(annotation: Any) -> Marks:
    """The marks anywhere in an annotation."""
    found: Marks = {}
    for inner in get_args(annotation):
        if isinstance(inner, Meta):
            found.update(inner.extra or {})
        else:
            found.update(marks_of(inner))
    return found


def section_of(annotation: Any) -> type[Struct] | None:
    """The struct in `Struct`, `Struct | None` and either with marks; not what lists and mappings hold."""
    if isinstance(annotation, type) and issubclass(annotation, Struct):
        return annotation
    if get_origin(annotation) in (dict, tuple):
        return None
    inner = get_args(annotation)[:1] if get_origin(annotation) is Annotated else get_args(annotation)
    return next((found for each in inner if (found := section_of(each)) is not None), None)


def members(kind: type[Struct], above: str = "", usual: Struct | None = None) -> Iterator[ConfigMember]:
    """Every member of a section, those of its sections too, each section before what is in it.

    `usual` is the section as it is by default, where that is not what its struct says.
    """
    for field in fields(kind):
        marks = marks_of(field.type)
        place = marks.get("at") or (f"{above}.{field.name}" if above else field.name)
        section = section_of(field.type)
        default = field.default if field.default_factory is NODEFAULT else field.default_factory()
        if usual is not None:
            default = getattr(usual, field.name)
        yield ConfigMember(place, field.type, default, marks, section, kind)
        if section is not None:
            yield from members(section, place, default if isinstance(default, Struct) else None)


def is_optional(member: ConfigMember) -> bool:
    """Whether a section may be missing: then there are no defaults for what is in it."""
    return member.section is not None and (member.default is None or member.default is NODEFAULT)
