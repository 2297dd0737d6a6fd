"""The findings of a manifest: rule, sentence, path and exact range."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from aurora_manifest.check import check_document
from aurora_manifest.findings import MAX_FINDINGS, Finding
from aurora_manifest.json.parser import parse
from aurora_manifest.violations import SchemaCheck
from aurora_protocol.positions import LineIndex, Pos, Range
from tests.manifests import check, manifest, reference_manifests
from tests.wait_limits import HANG

TEXT = json.dumps(manifest(), indent=2, ensure_ascii=False)


def only(text: str) -> Finding:
    """The only error or, where there is none, the only finding."""
    findings = check(text)
    findings = [each for each in findings if each.severity == "error"] or findings
    assert len(findings) == 1, findings
    return findings[0]


def edited(pattern: str, replacement: str) -> str:
    text, count = re.subn(pattern, lambda _: replacement, TEXT, count=1)
    assert count == 1, pattern
    return text


def test_valid_manifests_have_no_findings() -> None:
    assert check(TEXT) == []
    assert check(json.dumps(manifest(0))) == []
    assert check(TEXT.replace("\n", "\r\n")) == []
    for each in reference_manifests():
        assert check(json.dumps(each)) == []


@pytest.mark.parametrize(
    ("pattern", "replacement", "rule", "covers", "path", "message"),
    [
        ('"method": "GET"', '"method": "FETCH"', "schema-enum", '"FETCH"', "/capabilities/note_0/action/method",
         '"FETCH" is not a method: use GET, POST, PUT or DELETE'),
        ('"encoding": "json"', '"encoding": "form"', "schema-enum", '"form"', "/capabilities/note_1/action/encoding",
         '"form" is not an encoding: use json or query'),
        ('"metho(?=d": "GET")', '"met', "schema-unknown-member", '"metd"', "/capabilities/note_0/action/metd",
         '"metd" is not a member here; did you mean "method"?'),
        ('"urlTemplate"', '"url_template"', "schema-unknown-member", '"url_template"',
         "/capabilities/note_0/action/url_template",
         '"url_template" is not a member here; did you mean "urlTemplate"?'),
        ('"v": 1,', "", "schema-required", '"note_0"', "/capabilities/note_0",
         '"note_0" lacks the required member "v"'),
        ('"protocol": "AURA",', "", "schema-required", "{", "", 'the manifest lacks the required member "protocol"'),
        ('"capabilityId": "note_0"', "", "schema-required", '"GET"', "/resources/note_0_resource/operations/GET",
         '"GET" lacks the required member "capabilityId"'),
        ('"v": 1', '"v": "1"', "schema-type", '"1"', "/capabilities/note_0/v",
         '"v" must be a number, not the string "1"'),
        ('"v": 1', '"v": true', "schema-type", "true", "/capabilities/note_0/v", '"v" must be a number, not true'),
        ('"version": "1.0"', '"version": 1.0', "schema-type", "1.0", "/version",
         '"version" must be "1.0", not the number 1.0'),
        ('"version": "1.0"', '"version": "2.0"', "schema-const", '"2.0"', "/version",
         '"version" must be "1.0", not "2.0"'),
        ('"authHint": "bearer"', '"authHint": 5', "schema-type", "5", "/policy/authHint",
         '"authHint" must be "none", "cookie" or "bearer", not the number 5'),
        (r'"required": \[\s*"id"\s*\]', '"required": ["id", 1e400]', "schema-type", "1e400",
         "/capabilities/note_0/parameters/required/1", 'item 2 of "required" must be a string, not the number 1e400'),
        ('"additionalProperties": false', '"additionalProperties": "no"', "schema-type", '"no"',
         "/capabilities/note_0/parameters/additionalProperties",
         '"additionalProperties" must be an object or true or false, not the string "no"'),
        ('"additionalProperties": false', '"additionalProperties": {"items": {"type": 5}}', "schema-type", "5",
         "/capabilities/note_0/parameters/additionalProperties/items/type",
         '"type" must be a string, not the number 5'),
        ('"capabilityId": "note_0"', '"capabilityId": "Note-0"', "manifest-undefined-capability", '"Note-0"',
         "/resources/note_0_resource/operations/GET/capabilityId",
         '"Note-0" is not defined under "capabilities"; did you mean "note_0"?'),
        ('"capabilityId": "note_0"', '"capabilityId": "zzz"', "manifest-undefined-capability", '"zzz"',
         "/resources/note_0_resource/operations/GET/capabilityId",
         '"zzz" is not defined under "capabilities"; "note_0" goes there'),
        ('"authHint": "bearer"', '"authHint": "bearer",', "json-trailing-comma", ",", "/policy", 'no comma before "}"'),
        ('"site"', '// ours\n  "site"', "json-comment", "// ours", "", "JSON has no comments"),
        ('"v": 1', '"v": 1, "v": 1', "json-duplicate-key", '"v"', "/capabilities/note_0/v",
         '"v" is already a member here: only one counts'),
    ],
)  # fmt: skip
def test_one_mistake_is_one_error_on_exactly_its_text(
    pattern: str, replacement: str, rule: str, covers: str, path: str, message: str
) -> None:
    text = edited(pattern, replacement)
    if not replacement:
        text = re.sub(r",(\s*\})", r"\1", text)
    found = only(text)
    assert (found.rule, found.severity, found.path, found.message) == (rule, "error", path, message)
    assert text[found.start : found.end] == covers


def test_an_optional_member_spelt_wrongly_is_only_a_warning() -> None:
    found = only(TEXT.replace('"policy"', '"polices"'))
    assert (found.rule, found.severity) == ("schema-unknown-member", "warning")
    assert found.message == '"polices" is not a member here; did you mean "policy"?'


@pytest.mark.parametrize("name", ["x-polic", "x-owner", "owner", "$comment", "📝", ""])
def test_members_of_ones_own_are_allowed(name: str) -> None:
    assert {each.rule for each in check(json.dumps({**manifest(), name: 1}))} <= {"extension-name"}


def test_names_the_author_chooses_are_never_misspelt() -> None:
    document = manifest()
    document["capabilities"]["methods"] = {**document["capabilities"]["note_0"], "id": "methods"}
    document["capabilities"]["note_0"]["parameters"]["properties"] = {"typ": {"type": "string"}, "descriptio": {}}
    document["capabilities"]["note_0"]["action"]["parameterMapping"] = {"metod": "/metod"}
    assert "schema-unknown-member" not in {each.rule for each in check(json.dumps(document))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "the manifest must be an object, not an array"),
        ('"x"', 'the manifest must be an object, not the string "x"'),
        ("null", "the manifest must be an object, not null"),
    ],
)
def test_a_manifest_is_an_object(text: str, message: str) -> None:
    found = only(text)
    assert (found.message, found.path, found.start, found.end) == (message, "", 0, len(text))


def test_several_errors_of_all_kinds_are_told_together_in_order() -> None:
    text = edited('"v": 1,', '"v": "1" "x": 01,').replace('"cors": false', '"cors": "no"').replace("bearer", "basic")
    findings = [each for each in check(text) if each.severity == "error"]
    assert [(each.rule, text[each.start : each.end]) for each in findings] == [
        ("schema-type", '"1"'),
        ("json-syntax", '"x"'),
        ("json-syntax", "01"),
        ("schema-type", '"no"'),
        ("schema-enum", '"basic"'),
    ]
    assert findings[1].path == "/capabilities/note_0/x"


def test_what_could_not_be_read_is_not_also_called_missing_or_wrong() -> None:
    for text in (
        edited('"method": "GET"', '"method": '),
        edited('"v": 1,', '"v": ,'),
        edited('"v": 1,', "@,"),
        edited('"v": 1,', '"v": NaN,'),
        edited('"note_0": {', '"note_9": {').replace('"capabilities": {', '"capabilities": { @@@'),
    ):
        assert {each.rule for each in check(text) if each.severity == "error"} == {"json-syntax"}
    assert {each.rule for each in check(TEXT[: len(TEXT) // 2])} == {"json-syntax"}


def test_ranges_are_counted_in_the_units_of_the_session() -> None:
    text = '{\r\n"📝é": 1, "protocol": "Aura"}'
    wrong = next(each for each in check(text) if each.rule == "schema-const")
    lines = LineIndex(text)
    assert wrong.range(lines) == Range(Pos(1, 22), Pos(1, 28))
    assert wrong.range(lines, "utf-8") == Range(Pos(1, 25), Pos(1, 31))
    assert wrong.range(lines, "utf-32") == Range(Pos(1, 21), Pos(1, 27))


def test_a_byte_order_mark_is_a_warning() -> None:
    found = only("\ufeff" + TEXT)
    assert (found.rule, found.severity, found.start, found.end) == ("json-byte-order-mark", "warning", 0, 1)


def test_findings_are_bounded_and_errors_outlast_warnings() -> None:
    document: dict[str, Any] = manifest(MAX_FINDINGS)
    document["resources"] = {}
    for capability in document["capabilities"].values():
        capability["parameter"] = capability.pop("parameters")["type"]
        capability["action"] = {"type": "HTTP", "method": "GET", "urlTemplate": "/", "parameterMapping": {}}
    document["policy"]["authHint"] = "basic"
    findings = check(json.dumps(document))
    assert len(findings) == MAX_FINDINGS
    assert [each.rule for each in findings if each.severity == "error"] == ["schema-enum"]


def test_findings_can_be_sent_even_when_the_text_has_half_a_character() -> None:
    text = json.dumps({**manifest(), "policy": {"authHint": "\ud800", "rateLimit": {"\udfff": 1}}})
    findings = check(text) + check('{"resources": {"\ud800": {"operations": 5}}, "\ud800": "\\q"}')
    assert len(findings) >= 5
    for each in findings:
        assert f"{each.message}{each.path}".encode()


def test_deep_schemas_are_checked_to_the_bottom() -> None:
    for keyword in ("items", "additionalProperties"):
        inner: Any = {"type": 5}
        for _ in range(90):
            inner = {keyword: inner}
        document = manifest()
        document["capabilities"]["note_0"]["parameters"] = inner
        found = only(json.dumps(document))
        assert found.path == "/capabilities/note_0/parameters" + f"/{keyword}" * 90 + "/type"


def test_a_schema_with_choices_tells_the_branch_that_was_meant() -> None:
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "port": {"oneOf": [{"type": "integer", "minimum": 1}, {"type": "object", "required": ["from"]}]},
            "both": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        },
    }
    text = '{"port": {"form": 1}, "both": 1, "prot": 3}'
    findings = [*SchemaCheck(schema, "the file").findings(parse(text))]
    assert [(each.rule, each.message) for each in findings] == [
        ("schema-required", '"port" lacks the required member "from"'),
        ("schema-constraint", '"both" fits more than one of the forms it may have: only one may fit'),
    ]
    low = [*SchemaCheck(schema, "the file").findings(parse('{"port": 0}'))]
    assert [each.message for each in low] == ['"port" must be at least 1, not the number 0']
    word = [*SchemaCheck(schema, "the file").findings(parse('{"port": "x"}'))]
    assert [each.message for each in word] == ['"port" must be a whole number or an object, not the string "x"']


def test_a_valid_manifest_costs_no_import_of_jsonschema() -> None:
    script = (
        "import sys; from aurora_manifest.check import check_document; from aurora_manifest.json.parser import parse;"
        "assert check_document(parse(sys.stdin.read())) == [];"
        "assert 'jsonschema' not in sys.modules; assert check_document(parse('{}')); assert 'jsonschema' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], input=TEXT, text=True, encoding="utf-8", check=True, timeout=HANG)


def test_of_what_one_rule_finds_each_kind_is_told_as_it_is_set() -> None:
    document = parse('{"protocol": 1, "version": "1.0", "site": {"name": 1}}')
    usual = {(each.rule, each.severity) for each in check_document(document)}
    assert usual == {("schema-type", "error"), ("schema-required", "error")}
    off = {each.rule for each in check_document(document, severities={"schema-type": "off"})}
    assert off == {"schema-required"}, "an error too"
    milder = {(each.rule, each.severity) for each in check_document(document, severities={"schema-type": "hint"})}
    assert milder == {("schema-type", "hint"), ("schema-required", "error")}
