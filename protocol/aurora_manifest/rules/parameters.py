"""Rules about `parameters` as a JSON Schema: that it is one, and that it describes the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from aurora_manifest.edits import adding_item, adding_member, removing_item, removing_member, replacing, spelt, writing
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import Array, JsonDocument, Member, Node, Object, Scalar
from aurora_manifest.json.literals import number_text
from aurora_manifest.json.value_text import alternatives, described, excerpt, quoted, type_in_words
from aurora_manifest.misspellings import Guesses
from aurora_manifest.model import Capability, string, value, within
from aurora_manifest.rules.patterns import bad_pattern
from aurora_manifest.rules.places import GUESSES, IGNORE
from aurora_manifest.rules.registry import Path, RuleMatch, at, at_name, capability_rule
from aurora_manifest.rules.undeclared import adding_parameter
from aurora_manifest.schema_keywords import FOR_TYPES, KEYWORDS, NEWEST, TYPES, dialect_of, fits_dialect, has_keyword
from aurora_manifest.subschemas import NAMED, Subschema
from aurora_protocol.spelling import closest

_OTHER_WORDS = {"int": "integer", "long": "integer", "float": "number", "double": "number", "decimal": "number"}
_OTHER_WORDS |= {"str": "string", "text": "string", "date": "string", "datetime": "string", "uuid": "string"}
_OTHER_WORDS |= {"bool": "boolean", "list": "array", "dict": "object", "map": "object", "none": "null", "nil": "null"}
_SAME_WORDS = {"int": "integer", "str": "string", "bool": "boolean", "float": "number", "list": "array"}
"""Words that stand for just these types: a `date` is a string of a certain form, a `map` says more than `object`."""
_CHECKED_BY_MANIFEST = frozenset(
    {"properties", "required", "items", "format", "pattern", "enum", "description", "title"}
)
_CHECKED_BY_MANIFEST |= {"additionalProperties"}
_OPEN_ENDED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "patternProperties"})
_FOREIGN = {kind: frozenset(name for name, kinds in FOR_TYPES.items() if kind not in kinds) for kind in TYPES}
"""For each type, the keywords that say nothing about its values."""
_EXCLUSIVE = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}
_NUMBERS = frozenset({"minimum", "maximum", "minLength", "maxLength"})
_DELIMITED = re.compile(r"/(\^.*)/[a-z]*", re.DOTALL).fullmatch
"""A regular expression with slashes around it, as JavaScript has them."""

_OTHER_FORMATS = {"guid": "uuid", "uuidv4": "uuid", "url": "uri", "link": "uri", "href": "uri"}
_OTHER_FORMATS |= {"timestamp": "date-time", "iso8601": "date-time", "rfc3339": "date-time"}
_OTHER_FORMATS |= {"yyyy-mm-dd": "date", "hh:mm:ss": "time", "ip": "ipv4", "ipaddress": "ipv4", "host": "hostname"}
"""Words of other languages and libraries for formats of JSON Schema, but for those that are spelt much like them."""

FORMATS = (
    "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri uuid "
    "uri-template json-pointer regex byte binary password"
).split()


@capability_rule("parameters-type", "warning")
def unknown_type(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A `type` in `parameters` is not a type of JSON Schema.

    Validators refuse the whole schema, so no call can be checked.

    Bad: {"parameters": {"properties": {"text": {"type": "str"}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string"}}}}
    """
    for schema in capability.schemas_with("type"):
        kind = schema.node.value["type"]
        if isinstance(kind, str) and kind in TYPES:
            continue
        node = value(schema.node, "type")
        if node is None:
            continue
        if isinstance(node.value, str):
            yield _no_type(node, node.value, (*schema.path, "type"))
        elif isinstance(node, Array) and node.items and all(isinstance(each.value, str) for each in node.items):
            for index, each in enumerate(node.items):
                if each.value not in TYPES:
                    yield _no_type(each, str(each.value), (*schema.path, "type", index))
        elif not schema.checked and node.start < node.end:
            message = f'"type" must be the name of a type, not {described(node.value)}'
            yield at(node, message, (*schema.path, "type"))


def _no_type(node: Node, name: str, path: Path) -> RuleMatch:
    """Match for an unknown type, with the type that was meant (`int`, `str`)."""
    meant = _OTHER_WORDS.get(name.lower()) or closest(name, TYPES)
    sure = name.lower() == meant or _SAME_WORDS.get(name) == meant
    fix = writing(node, meant, loss_free=sure) if meant else None
    kinds = [each.strip() for each in re.split(r"[|,/]", name)]
    if fix is None and len(kinds) > 1 and not isinstance(path[-1], int) and all(each in TYPES for each in kinds):
        fix = writing(node, kinds)
    return at(node, f"{quoted(name)} is not a type: use {alternatives(TYPES)}", path, fix)


@capability_rule("parameters-object", "warning")
def not_an_object(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """`parameters` does not describe an object.

    A call's arguments are named, and the pointers of `parameterMapping` go into an object.

    Bad: {"parameters": {"type": "array"}}
    Good: {"parameters": {"type": "object"}}
    """
    node = string(capability.parameters, "type")
    if node is not None and node.value != "object" and node.value in TYPES:
        message = f'"parameters" must describe an object, not {type_in_words(str(node.value))}'
        yield at(node, message, (*capability.path, "parameters", "type"), writing(node, "object"))


@capability_rule("parameters-schema", "warning")
def not_a_schema(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A keyword in `parameters` has a value that JSON Schema does not allow.

    Validators refuse the whole schema, so no call can be checked. What counts is the dialect that `$schema` in
    `parameters` names; without it that is 2020-12.

    Bad: {"parameters": {"properties": {"text": {"type": "string", "minLength": -1}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string", "minLength": 1}}}}
    """
    dialect = dialect_of(capability.parameters.value) if capability.parameters else NEWEST
    for schema in capability.schemas:
        for member in schema.node.members:
            test = KEYWORDS.get(member.name)
            if test is None:
                continue
            node, name = member.value, member.name
            if not test[0](node.value):
                if dialect != NEWEST and fits_dialect(dialect, name, node.value):
                    continue
                told = name in _CHECKED_BY_MANIFEST or (name in _NUMBERS and not isinstance(node.value, int | float))
                told = told or (name in _NUMBERS and isinstance(node.value, bool))
                if node.start < node.end and not (schema.checked and told):
                    message = f"{quoted(name)} must be {test[1]}, not {_shown(document, node)}"
                    gone = removing_member(schema.node, schema.node.members.index(member), f"Remove {quoted(name)}")
                    others = (gone,) if gone is not None and name != "required" else ()
                    yield at(node, message, (*schema.path, name), _meant_by(document, schema, member), others=others)
            elif name in NAMED and isinstance(node, Object):
                for each in node.members:
                    inner = each.value
                    if not isinstance(inner.value, dict | bool) and each.name != IGNORE and inner.start < inner.end:
                        message = f"{quoted(each.name)} must be a schema, not {described(inner.value)}"
                        yield at(inner, message, (*schema.path, name, each.name))


@capability_rule("parameters-required", "warning")
def required_undeclared(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """`required` lists a name that `properties` does not have, or the same name twice.

    A parameter that is required but not described cannot be given rightly by anyone.

    Bad: {"parameters": {"required": ["id", "txt"]}}
    Good: {"parameters": {"required": ["id", "text"]}}
    """
    guesses = Guesses(GUESSES)
    for schema in capability.schemas_with("required"):
        required, plain = schema.node.value["required"], schema.node.value.get("properties")
        if isinstance(required, list) and isinstance(plain, dict) and _are_names(required, plain):
            continue
        names = value(schema.node, "required")
        if not isinstance(names, Array):
            continue
        properties = value(schema.node, "properties")
        declared = properties.value if isinstance(properties, Object) else {}
        open_ended = schema.node.broken or (isinstance(properties, Object) and properties.broken)
        open_ended = open_ended or bool(_OPEN_ENDED & schema.node.value.keys())
        # A branch of `anyOf` or `then` may require what the schema around it declares.
        outermost = len(schema.path) == 3 or schema.path[-2] == "properties"
        open_ended = open_ended or (properties is None and not outermost)
        seen: set[str] = set()
        free: list[str] | None = None
        for index, node in enumerate(names.items):
            if not isinstance(node.value, str):
                continue
            path = (*schema.path, "required", index)
            if node.value in seen:
                fix = removing_item(names, index, f"Remove the second {quoted(node.value)}", loss_free=True)
                yield at(node, f"{quoted(node.value)} is required twice", path, fix)
            elif node.value not in declared and not open_ended:
                if free is None:
                    listed = {each.value for each in names.items if isinstance(each.value, str)}
                    free = [each for each in declared if each not in listed]
                meant = guesses.closest(node.value, free, schema.path, 0.6)
                advice = f"; did you mean {quoted(meant)}?" if meant else ""
                message = f'{quoted(node.value)} is required but not in "properties"{advice}'
                fix = writing(node, meant) if meant else None
                others = (
                    ()
                    if meant or schema.node is not capability.parameters
                    else _ways_to_require(capability, document, names, index)
                )
                yield at(node, message, path, fix, None, tuple(others))
            seen.add(node.value)


@capability_rule("parameters-pattern", "warning")
def malformed_pattern(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A `pattern` in `parameters` is not a regular expression as JSON Schema has them (ECMA-262).

    Bad: {"parameters": {"properties": {"text": {"type": "string", "pattern": "^[a-z+$"}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string", "pattern": "^[a-z]+$"}}}}
    """
    for schema in capability.schemas_with("pattern"):
        node = string(schema.node, "pattern")
        if node is None:
            continue
        pattern = str(node.value)
        bad = bad_pattern(pattern)
        if bad is None and (delimited := _DELIMITED(pattern)):
            fix = writing(node, delimited[1])
            message = f"{quoted(pattern)} fits nothing: its slashes are part of it, and no text begins behind one"
            yield at(node, message, (*schema.path, "pattern"), fix)
        elif bad is not None:
            start, end = within(document, node, bad.start, bad.end)
            if start == end:
                start, end = node.start, node.end
            message = f"{quoted(pattern)} is not a regular expression: {bad.reason}"
            yield RuleMatch(message, (*schema.path, "pattern"), start, end)


@capability_rule("parameters-dialect", "info")
def keyword_of_other_dialect(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A keyword in `parameters` has no meaning in the dialect that `$schema` names there, or in 2020-12 without it.

    Validators ignore it, and the condition is never checked.

    Bad: {"parameters": {"dependencies": {"text": ["id"]}}}
    Good: {"parameters": {"dependentRequired": {"text": ["id"]}}}
    """
    if capability.parameters is None or (dialect := dialect_of(capability.parameters.value)) is None:
        return
    for schema in capability.schemas:
        for name in schema.node.value:
            if not has_keyword(dialect, name) and (member := schema.node.member(name)) is not None:
                told = f"draft-{dialect}" if len(dialect) == 2 else dialect
                fix = _of_openapi(schema.node, member)
                yield at_name(member, f"JSON Schema {told} knows no {quoted(name)}", (*schema.path, name), fix)


@capability_rule("parameters-keyword", "info")
def keyword_of_other_type(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A keyword in `parameters` says nothing about values of the `type` beside it.

    `minLength` counts the characters of a string; on a number it is ignored by every validator.

    Bad: {"parameters": {"properties": {"text": {"type": "string", "minimum": 1}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string", "minLength": 1}}}}
    """
    for schema in capability.schemas_with("type"):
        kind = schema.node.value["type"]
        if not isinstance(kind, str) or kind not in TYPES:
            continue
        if _FOREIGN[kind].isdisjoint(schema.node.value):
            continue
        for member in schema.node.members:
            if member.name in _FOREIGN[kind]:
                message = f"{quoted(member.name)} says nothing about {type_in_words(kind)}"
                yield at_name(member, message, (*schema.path, member.name))


@capability_rule("parameters-format", "info")
def format_misspelt(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A `format` in `parameters` is spelt much like a known one, or has another language's word for it.

    Unknown formats are allowed and ignored, so nobody notices.

    Bad: {"parameters": {"properties": {"text": {"type": "string", "format": "e-mail"}}}}
    Good: {"parameters": {"properties": {"text": {"type": "string", "format": "email"}}}}
    """
    for schema in capability.schemas_with("format"):
        node = string(schema.node, "format")
        name = str(node.value) if node is not None else ""
        meant = _OTHER_FORMATS.get(name.lower()) or closest(name, FORMATS, 0.85)
        if node is not None and name not in FORMATS and meant:
            message = f"{quoted(str(node.value))} is not a known format; did you mean {quoted(meant)}?"
            yield at(node, message, (*schema.path, "format"), writing(node, meant))


def _ways_to_require(capability: Capability, document: JsonDocument, names: Array, index: int) -> Iterator[Fix]:
    """Choices for a required name that is not declared: to declare it first where it is sent, else to let it go."""
    name = str(names.items[index].value)
    sent = any(name in (each.steps or ())[:1] for each in capability.mapped.values())
    new = adding_parameter(document, capability, name)
    gone = removing_item(names, index, f"Remove {quoted(name)}")
    yield from (each for each in ((new, gone) if sent else (gone, new)) if each is not None)


def _of_openapi(schema: Object, member: Member) -> Fix | None:
    """What JSON Schema has for `nullable` and `example`; None for other keywords."""
    if member.name == "example" and "examples" not in schema.value and isinstance(member.value, Scalar):
        written = f"{spelt('examples')}: [{spelt(member.value.value)}]"
        return replacing(f"Write {excerpt(written)}", member.name_start, member.value.end, written)
    kind = schema.member("type")
    if member.name != "nullable" or kind is None or not isinstance(kind.value.value, str):
        return None
    gone = removing_member(schema, schema.members.index(member), 'Remove "nullable"')
    if gone is None or member.value.value is not True:
        return gone
    allowed = writing(kind.value, [kind.value.value, "null"])
    return Fix('Allow null by "type"', (*allowed.edits, *gone.edits))


def _meant_by(document: JsonDocument, schema: Subschema, member: Member) -> Fix | None:
    """What a value that a keyword cannot have means in other dialects and languages."""
    name, written = member.name, member.value.value
    if name == "required":
        return _required_above(document, schema, member)
    if name == "enum" and isinstance(written, str):
        return writing(member.value, [each.strip() for each in re.split(r"[|,;/]", written) if each.strip()])
    bound = schema.node.member(_EXCLUSIVE[name]) if name in _EXCLUSIVE and written is True else None
    cut = removing_member(schema.node, schema.node.members.index(bound), "") if bound is not None else None
    if bound is None or cut is None or not isinstance(bound.value, Scalar):
        return None
    text = document.text[bound.value.start : bound.value.end]
    return Fix(f"Write {quoted(name)}: {text}", (Edit(member.value.start, member.value.end, text), *cut.edits))


def _required_above(document: JsonDocument, schema: Subschema, member: Member) -> Fix | None:
    """Tell of a property that it is required, or is not, where JSON Schema has that: in the schema around it."""
    required, name = member.value.value, str(schema.path[-1])
    if not isinstance(required, bool) or schema.path[-2] != "properties":
        return None
    gone = removing_member(schema.node, schema.node.members.index(member), 'Remove "required"')
    around = document.follow(schema.path[:-2])[0]
    if gone is None or not required or not isinstance(around, Object):
        return gone
    names = value(around, "required")
    above = None
    if names is None:
        above = adding_member(document, around, "required", [name])
    elif isinstance(names, Array) and all(each.value != name for each in names.items):
        above = adding_item(document, names, name)
    return Fix(f"Require {quoted(name)}", (*gone.edits, *above.edits)) if above is not None else gone


def _are_names(required: list[Any], properties: dict[str, Any]) -> bool:
    """Whether each item is the name of a property, and none stands there twice."""
    known = all(isinstance(each, str) and each in properties for each in required)
    return known and len(set(required)) == len(required)


def _shown(document: JsonDocument, node: Node) -> str:
    if isinstance(node, Scalar) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return excerpt(number_text(document.text[node.start : node.end]))
    return described(node.value)
