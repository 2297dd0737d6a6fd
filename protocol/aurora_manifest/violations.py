"""Schema validation: the errors that `jsonschema` finds, as messages in our words and at the exact place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from aurora_manifest.edits import adding_member, spelling, writing
from aurora_manifest.findings import MAX_FINDINGS, Edit, Finding, Fix, SchemaRule, finding
from aurora_manifest.json.document import Array, Broken, JsonDocument, Member, Node, Object, Scalar
from aurora_manifest.json.literals import number_text
from aurora_manifest.json.pointers import to_pointer
from aurora_manifest.json.value_text import alternatives, described, excerpt, quoted, type_in_words, with_article
from aurora_manifest.shape import Shapes
from aurora_protocol.spelling import begun_by, closest

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "multipleOf": "a multiple of",
}
_AMOUNTS = {
    "minLength": ("at least", "character"),
    "maxLength": ("at most", "character"),
    "minItems": ("at least", "item"),
    "maxItems": ("at most", "item"),
    "minProperties": ("at least", "member"),
    "maxProperties": ("at most", "member"),
}
_MOST_EXAMPLES = 4
_SHORT = 80


UsualValue = Callable[[JsonDocument, tuple[str | int, ...], Object, str], Any]
"""From the document, the path and node of an object, and the name it lacks, to the value to put in; None for none."""

_RULES: dict[str, SchemaRule] = {
    "required": "schema-required",
    "type": "schema-type",
    "enum": "schema-enum",
    "const": "schema-const",
}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?").fullmatch
_SAID_BY_SPELLING = {"additionalProperties", "unevaluatedProperties"}


class SchemaCheck:
    """The check of documents against one schema. `noun` is what such a document is called: `the manifest`.

    `usual` gives the value to put in for a missing member, where there is a sensible one.

    `jsonschema` decides; the shapes only spare it what is surely valid, and it is not even imported until something is
    not.
    """

    def __init__(self, schema: dict[str, Any], noun: str, usual: UsualValue | None = None) -> None:
        self.source = schema
        self._usual = usual
        self._noun = noun
        self._validator: Validator | None = None
        self.shapes = Shapes(schema)

    def findings(
        self,
        document: JsonDocument,
        explained: frozenset[tuple[int, str]] = frozenset(),
        sound: frozenset[int] = frozenset(),
    ) -> Iterator[Finding]:
        """Findings that make the document invalid.

        `explained` holds (start of object, name) of missing members that another finding already accounts for; `sound`
        the `id` of plain values, two levels down, that are known to be valid: nobody looks at them. What the parser
        had to leave out is not held against the document: its syntax errors tell that.
        """
        if document.root is None:
            return
        plain = _without(sound, document.root.value)
        if self.shapes.root.accepts(plain):
            return
        if self._validator is None:
            self._validator = _validator(self.source, self.shapes)
        errors = list(islice(self._validator.iter_errors(plain), MAX_FINDINGS))
        wrong_type = {tuple(error.path) for error in errors if error.validator == "type"}
        for error in errors:
            path = tuple(error.path)
            node, member = document.follow(path)
            if node is None or isinstance(node, Broken) or error.validator in _SAID_BY_SPELLING:
                continue
            if error.validator in ("enum", "const") and path in wrong_type:
                continue
            if error.validator == "required" and isinstance(node, Object):
                yield from self._missing(error, path, document, node, member, explained)
                continue
            message = self._message(error, path, document, node)
            rule, fix = _RULES.get(str(error.validator), "schema-constraint"), _fix(error, document, node)
            if fix is None and node.value is None and self._usual and path and isinstance(path[-1], str):
                fix = self._instead_of_null(document, path, node)
            yield finding(rule, message, path, node.start, node.end, fix=fix)

    def _instead_of_null(self, document: JsonDocument, path: tuple[str | int, ...], node: Node) -> Fix | None:
        """The value that is usual for a member that is `null`."""
        around, name = document.follow(path[:-1])[0], str(path[-1])
        usual = self._usual(document, path[:-1], around, name) if self._usual and isinstance(around, Object) else None
        return writing(node, usual) if usual is not None else None

    def _missing(
        self,
        error: ValidationError,
        path: tuple[str | int, ...],
        document: JsonDocument,
        node: Object,
        member: Member | None,
        explained: frozenset[tuple[int, str]],
    ) -> Iterator[Finding]:
        """Finding about a missing required member, with a usual value as its fix."""
        if node.broken:
            return
        start, end = (member.name_start, member.name_end) if member else (node.start, node.start + 1)
        name = _missing_name(error)
        if (node.start, name) not in explained:
            message = f"{self._subject(path)} lacks the required member {quoted(name)}"
            value = self._usual(document, path, node, name) if self._usual else None
            fix = adding_member(document, node, name, value) if value is not None else None
            yield finding("schema-required", message, path, start, end, fix=fix)

    def _message(self, error: ValidationError, path: tuple[str | int, ...], document: JsonDocument, node: Node) -> str:
        """Error message of a violation, by its keyword (`type`, `enum`, `const`, …)."""
        expected: Any = error.validator_value
        subject = self._subject(path)
        match error.validator:
            case "type":
                schema = error.schema if isinstance(error.schema, dict) else {}
                kinds = [expected] if isinstance(expected, str) else expected
                choices = schema.get("enum", [schema["const"]] if "const" in schema else None)
                wanted = alternatives([_spelt(each) for each in choices]) if choices else type_in_words(*kinds)
                like = _as_object(schema, node)
                such = f", such as {json.dumps(like, ensure_ascii=False)}" if like is not None else ""
                return f"{subject} must be {wanted}{such}, not {_described(document, node)}"
            case "enum":
                plain = all(isinstance(choice, str) for choice in expected)
                choices = alternatives([choice if plain else _spelt(choice) for choice in expected])
                noun = with_article(excerpt(str(path[-1]))) if path and isinstance(path[-1], str) else "allowed here"
                return f"{_named(document, node)} is not {noun}: use {choices}"
            case "const":
                return f"{subject} must be {_spelt(expected)}, not {_named(document, node)}"
            case "oneOf":
                return f"{subject} fits more than one of the forms it may have: only one may fit"
        within = error.schema if isinstance(error.schema, dict) else {}
        return f"{subject} {_broken_constraint(str(error.validator), expected, within, _described(document, node))}"

    def _subject(self, path: tuple[str | int, ...]) -> str:
        """Subject of a message: the member, item or document that is wrong."""
        if not path:
            return self._noun
        last = path[-1]
        if isinstance(last, str):
            return quoted(last)
        return f"item {last + 1} of {self._subject(path[:-1])}"


def _without(sound: frozenset[int], root: Any) -> Any:
    """The plain value without those members of its members that are known to be valid."""
    if not sound or not isinstance(root, dict):
        return root
    return {
        name: {key: each for key, each in value.items() if id(each) not in sound} if isinstance(value, dict) else value
        for name, value in root.items()
    }


def _as_object(schema: Mapping[str, Any], node: Node) -> dict[str, str] | None:
    """A short text as the object that it stands for, where that needs one member only, which is a text."""
    required, value = schema.get("required", ()), node.value
    if not isinstance(node, Scalar) or not isinstance(value, str) or len(required) != 1 or len(value) > _SHORT:
        return None
    known = schema.get("properties", {}).get(required[0], {})
    return {required[0]: value} if isinstance(known, dict) and known.get("type") == "string" else None


def _fix(error: ValidationError, document: JsonDocument, node: Node) -> Fix | None:
    """The one value that was meant: the constant, a choice spelt much alike, or the same value as the other type.

    Loss-free is only the same in other letters' case, a number for its text, and the constant's own characters.
    """
    schema = error.schema if isinstance(error.schema, dict) else {}
    shown = document.text[node.start : node.end]
    if "const" in schema:
        wanted = schema["const"]
        return writing(node, wanted, loss_free=_alike(node.value, wanted) or (_is_number(node) and shown == wanted))
    if "enum" in schema:
        names = [each for each in schema["enum"] if isinstance(each, str)]
        written = node.value if isinstance(node.value, str) else ""
        meant = closest(written, names) or begun_by(written, names)
        alone = [each for each in names if _alike(node.value, each)] == [meant]
        return writing(node, meant, loss_free=alone) if meant else None
    wanted = error.validator_value if error.validator == "type" else None
    if wanted in ("number", "integer") and isinstance(node.value, str) and len(node.value) < 20:
        number = _NUMBER(node.value.strip())
        fits = number is not None and (wanted == "number" or number[1] is None)
        return spelling(node, number[0], loss_free=True) if fits and number else None
    if wanted == "string" and isinstance(node, Scalar) and isinstance(node.value, int | float):
        return writing(node, shown)  # a text of digits may have been meant with a sign, or not at all
    may_be_flag = wanted == "boolean" or (isinstance(wanted, list) and "boolean" in wanted)
    if may_be_flag and isinstance(node.value, str) and node.value.lower() in ("true", "false"):
        return writing(node, node.value.lower() == "true", loss_free=True)
    if wanted == "string" and isinstance(node, Array) and len(node.items) == 1 and isinstance(node.items[0].value, str):
        return writing(node, node.items[0].value)
    if wanted == "array" and node.value is True and error.path and error.path[-1] == "required":
        around = document.follow(tuple(error.path)[:-1])[0]
        named = around.value.get("properties") if isinstance(around, Object) else None
        return writing(node, list(named)) if isinstance(named, dict) and named else None
    if wanted == "array" and isinstance(node, Scalar) and isinstance(node.value, str):
        return writing(node, [node.value])
    if wanted == "object" and isinstance(node, Array) and len(node.items) == 1 and isinstance(node.items[0], Object):
        only = node.items[0]
        return Fix("Remove the list around it", (Edit(node.start, only.start, ""), Edit(only.end, node.end, "")))
    if wanted == "object" and isinstance(node, Array) and error.path and error.path[-1] == "parameterMapping":
        names = [each.value for each in node.items if isinstance(each.value, str)]
        alone = len(names) > 0 and len(set(names)) == len(node.items)
        return writing(node, {name: to_pointer((name,)) for name in names}) if alone else None
    if wanted == "object" and (like := _as_object(schema, node)) is not None:
        return writing(node, like)
    return None


def _alike(written: Any, wanted: Any) -> bool:
    """Whether two texts differ in nothing but the case of their letters."""
    return isinstance(written, str) and isinstance(wanted, str) and written.lower() == wanted.lower()


def _is_number(node: Node) -> bool:
    return isinstance(node, Scalar) and isinstance(node.value, int | float) and not isinstance(node.value, bool)


def _missing_name(error: ValidationError) -> str:
    """Name that an error finds missing; `jsonschema` tells it nowhere but here."""
    name: str = error.message
    return name


def _spelt(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _described(document: JsonDocument, node: Node) -> str:
    if isinstance(node, Scalar) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return f"the number {excerpt(number_text(document.text[node.start : node.end]))}"
    return described(node.value)


def _named(document: JsonDocument, node: Node) -> str:
    return quoted(node.value) if isinstance(node.value, str) else _described(document, node)


def _validator(schema: dict[str, Any], shapes: Shapes) -> Validator:
    """A validator that skips what the shapes accept, and that answers `anyOf` and `oneOf` with the telling branch."""
    from jsonschema import Draft202012Validator, ValidationError, validators

    follow: Callable[..., Iterable[ValidationError] | None] = Draft202012Validator.VALIDATORS["$ref"]

    def ref(validator: Any, target: str, instance: Any, within: Any) -> Iterator[ValidationError]:
        if not shapes.at(target).accepts(instance):
            yield from follow(validator, target, instance, within) or ()

    def required(validator: Any, names: list[str], instance: Any, within: Any) -> Iterator[ValidationError]:
        if validator.is_type(instance, "object"):
            for name in names:
                if name not in instance:
                    yield ValidationError(name)

    def any_of(validator: Any, branches: list[Any], instance: Any, within: Any) -> Iterator[ValidationError]:
        failures = []
        for number, branch in enumerate(branches):
            errors = list(islice(validator.descend(instance, branch, schema_path=number), MAX_FINDINGS))
            if not errors:
                return
            failures.append(errors)
        yield from telling(failures, instance)

    def one_of(validator: Any, branches: list[Any], instance: Any, within: Any) -> Iterator[ValidationError]:
        failures = []
        for number, branch in enumerate(branches):
            errors = list(islice(validator.descend(instance, branch, schema_path=number), MAX_FINDINGS))
            if errors:
                failures.append(errors)
        if len(failures) == len(branches):
            yield from telling(failures, instance)
        elif len(failures) + 1 < len(branches):
            yield ValidationError("oneOf")

    def telling(failures: list[list[ValidationError]], instance: Any) -> Iterator[ValidationError]:
        # A branch for another type says nothing about this value, unless all of them are for other types.
        wrong_types = [[each for each in errors if each.validator == "type" and not each.path] for errors in failures]
        fitting = [errors for errors, wrong in zip(failures, wrong_types, strict=True) if not wrong]
        if fitting:
            yield from min(fitting, key=len)
            return
        kinds: list[str] = []
        for wrong in wrong_types:
            value: Any = wrong[0].validator_value
            kinds.extend([value] if isinstance(value, str) else value)
        yield ValidationError("type", validator="type", validator_value=list(dict.fromkeys(kinds)), instance=instance)

    keywords = {"$ref": ref, "required": required, "anyOf": any_of, "oneOf": one_of}
    extend: Callable[..., type[Draft202012Validator]] = validators.extend
    return extend(Draft202012Validator, keywords)(schema)


def _broken_constraint(keyword: str, expected: Any, schema: Mapping[str, Any], described: str) -> str:
    """Sentence about a broken condition, to be read behind its name: `must be at least 0, not the number -1`.

    `described` is the value in words. It is not told where the value breaks a pattern: that may be a secret that was
    put where its name belongs.
    """
    if keyword in _BOUNDS:
        return f"must be {_BOUNDS[keyword]} {expected}, not {described}"
    if keyword in ("minLength", "minItems", "minProperties") and expected == 1:
        return "must not be empty"
    if keyword in _AMOUNTS:
        bound, noun = _AMOUNTS[keyword]
        return f"must have {bound} {expected:,} {noun}{'' if expected == 1 else 's'}"
    if keyword == "uniqueItems":
        return "has an item twice"
    if keyword == "pattern":
        examples = [quoted(each) for each in schema.get("examples", ()) if isinstance(each, str)][:_MOST_EXAMPLES]
        if examples:
            return f"has not the form it needs: write it like {alternatives(examples)}"
    return f"does not meet {quoted(keyword)}: {excerpt(json.dumps(expected, ensure_ascii=False))}"
