"""The rules on manifests no one would write: same verdict as the reference, fixes that mend, checks that remember."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import aurora_schemas
from aurora_manifest.check import Checker
from aurora_manifest.findings import Finding
from aurora_manifest.json.document import Array, Object
from aurora_manifest.json.incremental_parse import reparse
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from aurora_manifest.rules import catalogue
from tests.manifests import check, damaged, manifest, mutated, reference_manifests
from tests.protocol.rule_cases import BASE, CASES, spelt
from tests.schemas.verdicts import reference
from tests.shares import examples

pytestmark = pytest.mark.hypothesis

SCOPES = {info.id: info.scope for info in catalogue()}
DECISIVE = {info.id for info in catalogue() if info.decides}


@cache
def texts(count: int) -> list[tuple[str, list[Finding]]]:
    """Manifests with something wrong: mutated, and the rules' own cases mutated once more; and what is found."""
    chance = random.Random(1)
    bases = [BASE, manifest(), *reference_manifests()]
    for case in CASES:
        if len(text := case.text(SCOPES[case.rule])) < 10_000:
            try:
                bases.append(json.loads(text))
            except ValueError:
                continue
    found = (spelt(mutated(chance.choice(bases), chance)) for _ in range(count))
    return [(text, check(text)) for text in found if "Infinity" not in text]


def undefined(document: Any) -> bool:
    """Whether an operation names a capability that is not there, where both can be told."""
    if not isinstance(document, dict) or not isinstance(capabilities := document.get("capabilities"), dict):
        return False
    resources = document.get("resources")
    for resource in resources.values() if isinstance(resources, dict) else ():
        operations = resource.get("operations") if isinstance(resource, dict) else None
        for operation in operations.values() if isinstance(operations, dict) else ():
            target = operation.get("capabilityId") if isinstance(operation, dict) else None
            if isinstance(target, str) and target not in capabilities:
                return True
    return False


def test_the_verdict_is_the_references() -> None:
    # Our own schema has the reference's verdicts: tests/schemas holds that.
    validator = reference("manifest-1.0") or Draft202012Validator(aurora_schemas.load("manifest-1.0"))
    verdicts = set()
    for text, findings in texts(examples(1500)):
        document = json.loads(text)
        expected = validator.is_valid(document) and not undefined(document)
        assert (not any(each.severity == "error" for each in findings)) == expected, text
        assert {each.rule for each in findings if each.severity == "error"} <= DECISIVE
        verdicts.add(expected)
    assert verdicts == {True, False}


def test_parameters_are_a_schema_where_jsonschema_says_so() -> None:
    chance = random.Random(2)
    told = {"parameters-schema", "parameters-type", "schema-type", "parameters-required", "schema-unknown-member"}
    schema = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string", "minLength": 1, "maxLength": 5}, "b": {"enum": [1, 2]}, "c": True},
        "patternProperties": {"^x": {"multipleOf": 2, "exclusiveMinimum": 0}},
        "anyOf": [{"required": ["a"]}, {"not": {"minProperties": 3}}],
        "items": {"uniqueItems": True, "prefixItems": [{"const": 1}], "minContains": 1},
        "additionalProperties": {"format": "email", "title": "x", "readOnly": False, "examples": [1]},
        "dependentRequired": {"a": ["b"]},
        "$defs": {"d": {"if": {"type": "null"}, "then": False, "contains": {"type": "integer"}}},
    }
    of_schemas = Draft202012Validator(Draft202012Validator.META_SCHEMA)
    verdicts = set()
    for _ in range(examples(300)):
        changed = mutated(schema, chance)
        document = {**BASE, "capabilities": {**BASE["capabilities"]}}
        document["capabilities"]["list_notes"] = {**BASE["capabilities"]["list_notes"], "parameters": changed}
        if "Infinity" in spelt(document):
            continue
        valid = of_schemas.is_valid(changed)
        found = {each.rule for each in check(spelt(document)) if "/parameters" in each.path}
        if not valid:
            assert found & told, changed
        elif "parameters-schema" in found:
            pytest.fail(f"{changed} is a schema")
        verdicts.add(valid)
    assert verdicts == {True, False}


def applied(text: str, finding: Finding) -> str:
    assert finding.fix is not None
    end = len(text)
    for edit in sorted(finding.fix.edits, key=lambda each: (each.start, each.end), reverse=True):
        assert 0 <= edit.start <= edit.end <= end, "edits do not overlap"
        text = text[: edit.start] + edit.text + text[edit.end :]
        end = edit.start
    return text


def errors(findings: list[Finding]) -> int:
    return sum(each.severity == "error" for each in findings)


def test_fixes_mend_what_they_are_for_and_break_nothing() -> None:
    mended = set()
    for text, findings in texts(examples(1500))[: examples(500)]:
        for each in findings:
            if each.fix is None:
                continue
            after = check(applied(text, each))
            if each.rule != "schema-unknown-member":  # under its right name a member is looked at for the first time
                assert errors(after) <= errors(findings), (each, text)
            assert not any(problem.rule.startswith("json-") for problem in after), (each, text)
            same = [(other.rule, other.path, other.message) for other in after]
            before = [(other.rule, other.path, other.message) for other in findings]
            key = (each.rule, each.path, each.message)
            assert same.count(key) < before.count(key), (each, text)
            mended.add(each.rule)
    assert len(mended) > 25


def test_fixes_of_broken_text_leave_it_less_broken() -> None:
    chance = random.Random(4)
    text = spelt(BASE)
    for _ in range(examples(300)):
        broken = damaged(text, chance)
        findings = check(broken)
        for each in [other for other in findings if other.fix is not None][:20]:
            after = parse(applied(broken, each))
            assert len(after.problems) <= len(parse(broken).problems) + 1, (each, broken)


def test_a_checker_that_remembers_finds_the_same() -> None:
    chance = random.Random(5)
    text = spelt(manifest(3))
    for _ in range(examples(30)):
        checker, current = Checker(), text
        for _ in range(12):
            if chance.random() < 0.6:
                at = chance.randrange(len(current))
                cut = chance.choice((0, 0, 1, 3))
                put = chance.choice(("x", "1", '"', "id", "{", " ", "delete", '"a": 1, ', "}"))
                current = current[:at] + put + current[at + cut :]
            else:
                current = chance.choice((text, current.replace("note_1", "note_9"), damaged(current, chance)))
            assert checker.check(checker.read(current)) == check(current)


def flat(node: Any) -> Any:
    """A node as plain lists, with every place in it."""
    if isinstance(node, Object):
        inner = [(each.name, each.name_start, each.name_end, flat(each.value)) for each in node.members]
        return (node.start, node.end, node.value, inner, node.broken)
    if isinstance(node, Array):
        return (node.start, node.end, node.value, [flat(each) for each in node.items], node.broken)
    return node


def test_reading_again_gives_what_reading_gives() -> None:
    chance = random.Random(6)
    text = spelt(manifest(3))
    before = parse(text)
    quick = 0
    for _ in range(examples(500)):
        at = chance.randrange(len(text))
        changed = text[:at] + chance.choice(("x", "", "\n", '", "', "[]", "0")) + text[at + chance.choice((0, 1, 2)) :]
        again, whole = reparse(before, changed), parse(changed)
        assert again.problems == whole.problems
        assert flat(again.root) == flat(whole.root)
        if not whole.problems and changed != text:
            kept = {id(each.node.value) for each in Manifest(before).capabilities.values()}
            quick += any(id(each.node.value) in kept for each in Manifest(again).capabilities.values())
    assert quick > examples(500) // 10, "nothing was taken over"
    assert flat(before.root) == flat(parse(text).root)
