"""Misspellings (typos in keys): members the schema does not know but that are spelt much like ones it does."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator

from msgspec import Struct

from aurora_manifest.findings import Finding, finding
from aurora_manifest.json.document import Array, Broken, JsonDocument, Member, Object, Scalar
from aurora_manifest.json.value_text import quoted
from aurora_manifest.shape import SchemaShape
from aurora_protocol.spelling import begun_by, closest

_OLDER = frozenset({"dependencies", "additionalItems"})
"""Keywords that JSON Schema once had: another rule tells where they have no meaning."""

_COMPARISONS = 20_000
_CONTAINERS = (Object, Array)
_LIKELY = 0.75
_LIKELY_IF_MISSING = 0.6


_BY_TYPE = {
    "min": {"string": "minLength", "array": "minItems", "number": "minimum", "integer": "minimum"},
    "max": {"string": "maxLength", "array": "maxItems", "number": "maximum", "integer": "maximum"},
    "minValue": {"number": "minimum", "integer": "minimum"},
    "maxValue": {"number": "maximum", "integer": "maximum"},
    "regex": {"string": "pattern"},
    **{key: {"string": "enum"} for key in ("choices", "values", "options")},
    **{key: {"object": "properties"} for key in ("parameters", "params", "fields", "attributes")},
}
"""Words of other schema languages, and what they are in JSON Schema for values of a type."""


_OWN = ("x-", "$comment")
_LOOKS = {
    "urlTemplate": re.compile(r"/|https?://").match,
    "uriPattern": re.compile(r"/").match,
    "description": re.compile(r"\S+ \S").match,
}
"""How texts of some members look, so that they are known under another name."""


class Guesses:
    """Guesses at what a name was meant to be, within a bound on the comparisons they may cost per document."""

    def __init__(self, comparisons: int = _COMPARISONS) -> None:
        self._left = comparisons
        self._made: dict[tuple[Hashable, str], str | None] = {}

    def closest(self, name: str, known: Collection[str], kind: Hashable, at_least: float = _LIKELY) -> str | None:
        """Fuzzy match, memoized: the known name that `name` seems to stand for; None when there is none or the bound is
        reached.

        `kind` stands for the set of known names: asked again for the same kind and name, the answer is the same.
        """
        key = (kind, name)
        if key not in self._made:
            if self._left < len(known):
                return None
            self._left -= len(known)
            self._made[key] = closest(name, known, at_least)
        return self._made[key]


class Misspelt(Struct, frozen=True):
    """A finding about a name, what it was meant to be, and what it accounts for.

    `explains` is (start of object, name) of the required member that is missing because of it.
    """

    finding: Finding
    meant: str | None
    explains: tuple[int, str] | None


def misspelt_members(
    document: JsonDocument, shape: SchemaShape, guesses: Guesses, sound: frozenset[int] = frozenset()
) -> Iterator[Misspelt]:
    """Typo detection, `schema-unknown-member`: a name close to one the schema knows, and, in a closed object, any
    unknown name.

    An error where the object is closed or the known member is required and missing; a warning elsewhere, since
    manifests may have members of their own (AURA-P "FAQ"). Objects whose plain value has its `id` in `sound` are known
    to have no such name.
    """
    if any(each.rule == "json-duplicate-key" for each in document.problems):
        sound = frozenset()  # a plain value does not tell of names that stand twice
    pending = [(document.root, shape)]
    while pending:
        node, shape = pending.pop()
        if isinstance(node, Array):
            if shape.items is not None:
                pending.extend((item, shape.items) for item in node.items if isinstance(item, _CONTAINERS))
        elif isinstance(node, Object):
            known, others = shape.members, shape.others
            named = bool(known or shape.closed) and others is None and not node.value.keys() <= known.keys()
            alone = _only_unknown(node, shape) if named else None
            for member in node.members:
                value = member.value
                if not named and type(value) is Scalar:
                    continue
                inner = known.get(member.name)
                if inner is None:
                    if named and not isinstance(value, Broken):
                        yield from _about(document, node, member, shape, guesses, member is alone)
                    inner = others
                if inner is not None and isinstance(value, _CONTAINERS) and id(value.value) not in sound:
                    pending.append((value, inner))


def _of_type(name: str, node: Object, shape: SchemaShape) -> str | None:
    """Name that an unknown one stands for beside that `type`."""
    kind = node.value.get("type")
    meant = _BY_TYPE.get(name, {}).get(kind) if isinstance(kind, str) else None
    return meant if meant in shape.members else None


def _only_unknown(node: Object, shape: SchemaShape) -> Member | None:
    """The only member of an object that the schema does not know; None where there are more."""
    unknown = (each for each in node.members if each.name not in shape.members and not each.name.startswith(_OWN))
    first, second = next(unknown, None), next(unknown, None)
    return first if second is None else None


def _by_value(member: Member, missing: tuple[str, ...], shape: SchemaShape) -> str | None:
    """The only member that is missing, where the only one that is not known has a value as that needs."""
    wanted = shape.members[missing[0]] if len(missing) == 1 else None
    if wanted is None or not wanted.accepts(member.value.value):
        return None
    looks = _LOOKS.get(missing[0])
    if isinstance(member.value.value, str) and not wanted.choices:
        return missing[0] if looks is not None and looks(member.value.value) else None
    return missing[0]


def _singular(name: str, shape: SchemaShape) -> str | None:
    """The known member of which a name is a plural that is spelt otherwise: `policies`."""
    one = f"{name.removesuffix('ies')}y"
    return one if name.endswith("ies") and one in shape.members else None


def _begun_by(member: Member, shape: SchemaShape) -> str | None:
    """The only known member that a name begins, where it has one of the few values that are possible there."""
    meant = begun_by(member.name, shape.members.keys())
    wanted = shape.members[meant] if meant else None
    return meant if wanted is not None and wanted.choices and wanted.accepts(member.value.value) else None


def _about(
    document: JsonDocument, node: Object, member: Member, shape: SchemaShape, guesses: Guesses, alone: bool
) -> Iterator[Misspelt]:
    """Finding about an unknown name, with what was probably meant as its fix."""
    name = member.name
    if (name.startswith("x-") and not shape.closed) or (name in _OLDER and "dependentSchemas" in shape.members):
        return
    missing = tuple(sorted(each for each in shape.needed if each not in node.value))
    needed = guesses.closest(name, missing, missing, _LIKELY_IF_MISSING) or begun_by(name, missing)
    needed = needed or (_by_value(member, missing, shape) if alone else None)
    meant = needed or guesses.closest(name, shape.members.keys(), shape) or _of_type(name, node, shape)
    meant = meant or _begun_by(member, shape) or _singular(name, shape)
    if meant in node.value or (meant and meant[0] == "$" != name[:1] and isinstance(member.value, Object)):
        meant = None  # it is there, or a parameter's schema stands where a keyword's text would
    if meant is None and not shape.closed:
        return
    advice = f"; did you mean {quoted(meant)}?" if meant else ""
    start, end = member.name_start, member.name_end
    yield Misspelt(
        finding(
            "schema-unknown-member",
            f"{quoted(name)} is not a member here{advice}",
            document.pointer_at(start),
            start,
            end,
            "error" if shape.closed or needed else "warning",
        ),
        meant,
        (node.start, needed) if needed else None,
    )
