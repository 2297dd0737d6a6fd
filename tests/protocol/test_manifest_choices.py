"""Choices of the manifest's check and editing, a row each: what is meant, offered first, told, kept quiet, left out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_manifest.check import Checker
from aurora_manifest.editing.actions import actions
from aurora_manifest.findings import MAX_FINDINGS, Edit, Finding, Fix, Severity, finding, in_order
from aurora_manifest.fix_all import apart, edited, is_fixable
from aurora_manifest.json.parser import parse
from aurora_manifest.misspellings import Guesses
from aurora_protocol.spelling import closest
from tests.manifests import check, manifest
from tests.protocol.cursors import labels
from tests.protocol.rule_cases import BASE, patched, spelt, text, update


def told(patch: Any, rule: str) -> list[Finding]:
    """What `rule` finds in the manifest of the examples with `patch` merged into it; a string is the whole text."""
    return [each for each in check(patch if isinstance(patch, str) else changed(patch)) if each.rule == rule]


def changed(patch: Any) -> str:
    return spelt(patched(BASE, patch))


def written(patch: Any, rule: str) -> str | None:
    """What the fix of the first finding writes; None where it offers none."""
    fix = told(patch, rule)[0].fix
    return fix.edits[0].text if fix else None


# Near names


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        pytest.param("listNotes", ["list_note", "list_notes"], "list_notes", id="the same but for case and signs"),
        pytest.param("read-note", ["read_notes", "ReadNote"], "ReadNote", id="that comes before one spelt more alike"),
        pytest.param("descripton", ["description", "site"], "description", id="spelt much alike"),
        pytest.param("lmit", ["limits", "limit"], "limit", id="the one spelt most alike"),
        pytest.param("cat", ["cut"], None, id="one letter of three is too much"),
        pytest.param("text", ["next"], "next", id="one letter of four is not"),
        pytest.param("-", ["_"], None, id="punctuation alone is no name"),
        pytest.param("", ["a"], None, id="nothing stands for nothing"),
        pytest.param("x" * 65, ["x" * 64], None, id="nobody means a name of 65 characters"),
        pytest.param("x" * 64, ["x" * 63], "x" * 63, id="but one of 64"),
        pytest.param("x" * 64, ["x" * 65], None, id="nor is one of 65 meant"),
    ],
)
def test_the_name_that_is_meant(name: str, known: list[str], meant: str | None) -> None:
    assert closest(name, known) == meant


@pytest.mark.parametrize(
    ("patch", "parameters"),
    [
        pytest.param(
            {"parameters": {"properties": None, "required": None}},
            {"type": "object", "properties": {"id": {"type": "string"}}},
            id="put among the properties, which are put in with it",
        ),
        pytest.param(
            {"parameters": None},
            {"type": "object", "properties": {"id": {"type": "string"}}},
            id="put in with all that is around it where there are none",
        ),
    ],
)
def test_a_parameter_that_is_only_named_is_declared_as_a_text(patch: Any, parameters: Any) -> None:
    """Most are; which other type one has, nothing that only names it tells."""
    only = {"parameterMapping": {"text": None, "tags": None}}
    text = changed(update({**patch, "action": only}))
    found = next(each for each in check(text) if each.rule == "mapping-unknown-parameter")
    mended = json.loads(edited(text, found.others[0].edits))
    assert mended["capabilities"]["update_note"]["parameters"] == parameters


def test_of_two_members_that_nobody_knows_neither_is_taken_for_the_one_that_is_missing() -> None:
    two = update({"action": {"urlTemplate": None, "way": "/notes/{id}", "road": "/n"}})
    assert told(two, "schema-unknown-member") == []


def test_a_hint_that_contradicts_what_takes_passwords_is_told_once() -> None:
    """However many capabilities take one: there is one hint to mend."""
    with_password = {"parameters": {"properties": {"password": {"type": "string"}}}}
    both = {"update_note": with_password, "create_note": with_password}
    (found,) = told({"policy": {"authHint": "none"}, "capabilities": both}, "auth-hint")
    assert "update_note" in found.message or "create_note" in found.message


def test_guesses_end_when_their_comparisons_are_used_up_but_are_not_forgotten() -> None:
    guesses = Guesses(comparisons=4)
    assert guesses.closest("nme", ["name", "url"], "site") == "name"
    assert guesses.closest("ur", ["name", "url"], "site") == "url"
    assert guesses.closest("nam", ["name", "url"], "site") is None, "two and two are four"
    assert guesses.closest("nme", ["name", "url"], "site") == "name", "asked before"


@pytest.mark.parametrize(
    ("patch", "rule", "meant"),
    [
        pytest.param(
            {"site": {"url": None, "uri": "https://n.example"}},
            "schema-unknown-member", '"url"', id="a member that is missing is meant by a name less alike",
        ),
        pytest.param(
            update({"action": {"parameterMapping": None, "parameterLocating": {}}}),
            "schema-unknown-member", '"parameterMapping"', id="though a member that may be left out is more like it",
        ),
        pytest.param(
            {"site": {"descript": "x"}}, "schema-unknown-member", '"description"', id="else by one that is much alike"
        ),
        pytest.param(
            update({"action": {"urlTemplate": None, "way": "/notes/{id}", "x-way": "/n"}}),
            "schema-unknown-member", '"urlTemplate"', id="else by the only one that has a value as it needs",
        ),
        pytest.param(
            update({"parameters": {"required": ["id", "txt"]}}), "parameters-required", '"text"', id="a parameter"
        ),
        pytest.param(
            update({"parameters": {"required": ["note_b", "note_x"], "properties": {"note_a": {}, "note_b": {}}}}),
            "parameters-required", '"note_a"', id="a parameter that is not required yet",
        ),
        pytest.param(
            update({
                "parameters": {"properties": {"note_a": {}, "note_b": {}}},
                "action": {"parameterMapping": {"b": "/note_b", "a": "/note_x"}},
            }),
            "mapping-unknown-parameter", '"/note_a"', id="a parameter that no other pointer leads to",
        ),
        pytest.param(
            update({"action": {"parameterMapping": {"one": "/text", "two": "/txt"}}}),
            "mapping-unknown-parameter", '"/text"', id="one that is used, where no other is near",
        ),
        pytest.param(text(type="text"), "parameters-type", '"string"', id="a type by another language's word"),
        pytest.param(text(type="date"), "parameters-type", '"string"', id="a date is a text"),
        pytest.param(text(type="strng"), "parameters-type", '"string"', id="a type by its letters"),
        pytest.param(
            update({"action": {"parameterLocation": {"text": "params"}}}),
            "parameter-location", '"query"', id="a location by another word for it",
        ),
        pytest.param(
            update({"action": {"parameterLocation": {"text": "bdy"}}}),
            "parameter-location", '"body"', id="a location by its letters",
        ),
        pytest.param(text(type="string", format="e-mail"), "parameters-format", '"email"', id="a format"),
        pytest.param(
            {"x-aurora-ignore": ["auth-hnt"]}, "ignore-unknown", '"auth-hint"', id="a rule that can be ignored"
        ),
        pytest.param(
            {"x-aurora-ignore": ["schema-typ"]}, "ignore-unknown", None, id="not a rule that cannot be ignored"
        ),
    ],
)  # fmt: skip
def test_the_fix_writes_what_is_meant(patch: Any, rule: str, meant: str | None) -> None:
    patch = update(patch) if "parameters" in patch else patch
    assert written(patch, rule) == meant


@pytest.mark.parametrize(
    ("patch", "severity"),
    [
        pytest.param({"site": {"url": None, "ulr": "https://n.example"}}, "error", id="it is why a member is missing"),
        pytest.param({"site": {"descripton": "x"}}, "warning", id="the member it means may be left out"),
        pytest.param({"site": {"urll": "x"}}, None, id="the member it seems to mean is there"),
        pytest.param({"site": {"name": None, "x-name": "Notes"}}, None, id="names that begin with x- are one's own"),
        pytest.param({"site": {"owner": "Ann"}}, None, id="a name that is like no other"),
        pytest.param(text(descripton="x"), "warning", id="in the schema of a parameter"),
        pytest.param({"parameterMapping": {"descripton": "/x"}}, None, id="names that are the user's own anyway"),
    ],
)
def test_how_bad_a_misspelt_member_is(patch: Any, severity: Severity | None) -> None:
    patch = update(patch) if "parameters" in patch else patch
    patch = update({"action": patch}) if "parameterMapping" in patch else patch
    found = told(patch, "schema-unknown-member")
    assert [each.severity for each in found] == ([severity] if severity else [])


def test_a_missing_member_is_told_once_by_the_name_that_was_to_be_it() -> None:
    patch = {"site": {"url": None, "ulr": "https://n.example"}}
    assert told(patch, "schema-required") == []
    off = {"schema-unknown-member": "warning"}
    assert [each.rule for each in check(changed(patch), severities=off) if each.severity == "error"] == [
        "schema-required"
    ], "as a warning it does not say why the manifest is invalid"


def test_a_capability_that_is_meant_by_a_misspelt_id_is_not_told_as_unused() -> None:
    resource = {"resources": {"note": {"operations": {"PUT": {"capabilityId": "update_not"}}}}}
    assert told(resource, "capability-unreferenced") == []
    other = {"resources": {"note": {"operations": {"PUT": {"capabilityId": "zzz"}}}}}
    assert [each.path for each in told(other, "capability-unreferenced")] == ["/capabilities/update_note"]


# Fixes


@pytest.mark.parametrize(
    ("patch", "rule", "text"),
    [
        pytest.param({"protocol": "aura"}, "schema-const", '"AURA"', id="the only value"),
        pytest.param({"version": 1.0}, "schema-type", '"1.0"', id="the only value, whatever the type of the wrong one"),
        pytest.param({"policy": {"authHint": "Cookie"}}, "schema-enum", '"cookie"', id="the choice that is meant"),
        pytest.param({"policy": {"authHint": "oauth"}}, "schema-enum", None, id="no choice is like it"),
        pytest.param(update({"v": "2"}), "schema-type", "2", id="a number in quotes"),
        pytest.param(update({"v": "1.5"}), "schema-type", "1.5", id="with a fraction too"),
        pytest.param(update({"v": "two"}), "schema-type", None, id="a word is no number"),
        pytest.param(update({"description": 5}), "schema-type", '"5"', id="a text without quotes"),
        pytest.param(update({"description": True}), "schema-type", '"true"', id="a word without quotes"),
        pytest.param(update({"action": {"cors": "True"}}), "schema-type", "true", id="true in quotes"),
        pytest.param(update({"action": {"cors": "yes"}}), "schema-type", None, id="yes is nobody's true"),
        pytest.param(update({"parameters": {"required": "id"}}), "schema-type", '["id"]', id="a list of one"),
        pytest.param({"site": []}, "schema-type", None, id="nobody knows which object was meant"),
        pytest.param(update({"v": 1.2}), "capability-version", "2", id="the next whole version"),
        pytest.param(update({"v": -3}), "capability-version", "1", id="versions begin with 1"),
        pytest.param(update({"id": "edit"}), "capability-id", '"update_note"', id="the name, and not the id, is kept"),
        pytest.param(
            update({"description": "TODO"}), "capability-description", '"Update note."', id="its name in words"
        ),
        pytest.param({"policy": {"rateLimit": {"limit": 0.5}}}, "rate-limit", "1", id="no limit is below 1"),
        pytest.param({"policy": {"rateLimit": {"limit": 9.9}}}, "rate-limit", "9", id="a limit is not raised"),
        pytest.param({"policy": {"rateLimit": {"limit": 99999.5}}}, "rate-limit", "99999", id="whatever it may mean"),
        pytest.param(
            {"policy": {"rateLimit": {"limit": 100000.5}}}, "rate-limit", None, id="of no limit none is better"
        ),
        pytest.param(
            update({"action": {"method": "DELETE", "encoding": "json"}}),
            "body-without-meaning", '"query"', id="the arguments go on, not the method",
        ),
        pytest.param(
            {"resources": {"notes": {"uriPattern": "/all"}}},
            "resource-uri-pattern", '"/notes"', id="the pattern follows the one address its operations have",
        ),
        pytest.param(
            {"resources": {"notes": {"uriPattern": "/all", "operations": {"PUT": {"capabilityId": "update_note"}}}}},
            "resource-uri-pattern", None, id="of two addresses none is chosen",
        ),
        pytest.param(
            {"resources": {"note": {"operations": {"PUT": None, "POST": {"capabilityId": "update_note"}}}}},
            "operation-method", '"PUT"', id="the capability's method is the right one",
        ),
        pytest.param(
            {"resources": {"note": {"operations": {"POST": {"capabilityId": "update_note"}}}}},
            "operation-method", None, id="unless another operation has it",
        ),
        pytest.param(
            update({"action": {"parameterMapping": {"text": "#/text"}}}), "mapping-pointer", '"/text"', id="a fragment"
        ),
        pytest.param(
            update({"action": {"parameterMapping": {"text": "$.by.text"}}}),
            "mapping-pointer", '"/by/text"', id="a JSONPath",
        ),
        pytest.param(
            update({"action": {"urlTemplate": "/notes/{note_id}", "parameterMapping": {"noteId": "/id"}}}),
            "template-variable-unmapped", "noteId", id="a variable takes the mapped name that looks like it",
        ),
        pytest.param(
            update({"action": {"urlTemplate": "/notes/{id}/{by}"}, "parameters": {"properties": {"by": {}}}}),
            "template-variable-unmapped", ', "by": "/by"', id="the name of a parameter is mapped to it",
        ),
        pytest.param(
            update({"action": {"urlTemplate": "/notes/{id}/{zzz}"}}),
            "template-variable-unmapped", None, id="nobody knows what fills a variable that is like nothing",
        ),
    ],
)  # fmt: skip
def test_the_fix_that_is_offered(patch: Any, rule: str, text: str | None) -> None:
    wrote = written(patch, rule)
    assert (" ".join(wrote.split()) if wrote else wrote) == text


def test_fixes_come_before_ways_to_ignore_and_only_they_are_preferred() -> None:
    document = parse(changed(update({"description": "TODO", "id": "edit", "v": 0, "extra": 1})))
    offered = actions(document, Checker().check(document), 0, len(document.text))
    assert [(each.title, each.obvious) for each in offered] == [
        ('Write "update_note"', True),
        ("Write 1", True),
        ('Write "Update note."', True),
        ('Rename to "x-extra"', True),
        ("Ignore capability-id here", False),
        ("Ignore capability-version here", False),
        ("Ignore capability-description here", False),
        ("Ignore extension-name here", False),
    ]


def test_what_is_offered_is_about_the_place_asked_for() -> None:
    document = parse(changed(update({"description": "TODO", "id": "edit"})))
    findings = Checker().check(document)
    at = document.text.index('"edit"')
    for start, end in ((at, at), (at + 6, at + 6), (at - 3, at + 2)):
        assert [each.finding.rule for each in actions(document, findings, start, end)] == ["capability-id"] * 2
    assert actions(document, findings, at + 7, at + 7) == actions(document, findings, at - 1, at - 1) == []


@pytest.mark.parametrize(
    ("patch", "severities", "title"),
    [
        pytest.param({"protocol": "aura"}, {}, 'Write "AURA"', id="an error"),
        pytest.param({"protocol": "aura"}, {"schema-const": "hint"}, 'Write "AURA"', id="told as a hint"),
        pytest.param(
            {"site": {"url": None, "ulr": "https://n.example"}}, {}, 'Rename to "url"', id="a warning that is an error"
        ),
    ],
)  # fmt: skip
def test_what_makes_a_manifest_invalid_is_not_offered_to_be_ignored(
    patch: Any, severities: dict[str, str], title: str
) -> None:
    document = parse(changed(patch))
    findings = [each for each in Checker(severities).check(document) if each.rule.startswith("schema")]
    assert [each.title for each in actions(document, findings, 0, 10**6)] == [title]


def test_a_rule_is_ignored_in_the_innermost_object_whose_names_the_schema_knows() -> None:
    document = parse(changed(update({"action": {"parameterMapping": {"text": "text"}}})))
    findings = [each for each in Checker().check(document) if each.rule == "mapping-pointer"]
    (_, ignore) = actions(document, findings, 0, 10**6)
    after = json.loads(edited(document.text, ignore.edits))
    assert after["capabilities"]["update_note"]["action"]["x-aurora-ignore"] == ["mapping-pointer"]


def test_what_someone_has_to_fill_in_is_offered_and_never_just_made() -> None:
    (missing,) = told({"site": {"url": None}}, "schema-required")
    assert missing.fix is not None and not is_fixable(missing)
    (wrong,) = told({"protocol": "aura"}, "schema-const")
    assert is_fixable(wrong)
    assert apart([missing, wrong]) == [wrong]


def test_a_location_in_another_case_is_just_made_and_one_that_is_guessed_is_offered() -> None:
    for spelt_so, is_made in (("QUERY", True), ("querystring", False), ("qery", False)):
        patch = update({"action": {"parameterLocation": {"text": spelt_so}}})
        (wrong,) = told(patch, "parameter-location")
        assert written(patch, "parameter-location") == '"query"' and is_fixable(wrong) is is_made


@pytest.mark.parametrize(
    ("kind", "meant", "is_made"),
    [
        pytest.param("String", '"string"', True, id="a type in another case"),
        pytest.param("int", '"integer"', True, id="a type by the name that languages have for it"),
        pytest.param("strnig", '"string"', False, id="a type that is guessed is offered"),
        pytest.param("map", '"object"', False, id="and one that says more than its type"),
    ],
)
def test_which_types_are_just_made(kind: str, meant: str, is_made: bool) -> None:
    patch = update({"parameters": {"properties": {"text": {"type": kind}}}})
    (wrong,) = told(patch, "parameters-type")
    assert written(patch, "parameters-type") == meant and is_fixable(wrong) is is_made


@pytest.mark.parametrize(
    ("choices", "is_made"),
    [
        pytest.param([1, 1], True, id="the same twice"),
        pytest.param([1, 1.0], False, id="equal, but written otherwise"),
    ],
)
def test_which_second_choices_are_just_taken_out(choices: list[Any], is_made: bool) -> None:
    patch = update({"parameters": {"properties": {"text": {"type": "number", "enum": choices}}}})
    (twice,) = told(patch, "parameters-enum")
    assert twice.fix is not None and is_fixable(twice) is is_made


@pytest.mark.parametrize(
    ("typed", "is_told"), [("{}", True), ("{ }", True), ('{"', False), ('{"ty', False), ("{,", False)]
)
def test_a_parameter_that_nothing_is_said_of_is_told_and_not_one_that_is_being_typed(typed: str, is_told: bool) -> None:
    text = changed(update({"parameters": {"properties": {"text": {"type": "string"}}}}))
    start = text.index("{", text.index('"text"', text.index('"properties"')))
    broken = text[:start] + typed + text[text.index("}", start) + 1 :]
    assert bool(told(broken, "parameter-description")) is is_told


def test_of_fixes_that_touch_the_earlier_one_is_made() -> None:
    def writing(start: int, end: int) -> Finding:
        return finding("some-rule", "wrong", "", start, end, fix=Fix("Write", (Edit(start, end, "x"),), True))

    first, touching, inside, free = writing(0, 4), writing(4, 6), writing(1, 2), writing(7, 8)
    assert apart([first, touching, inside, free]) == [first, free]
    half_free = finding("some-rule", "wrong", "", 2, 9, fix=Fix("Write", (Edit(2, 3, "x"), Edit(8, 9, "y")), True))
    assert apart([first, half_free]) == [first], "all of a fix or nothing"
    assert apart([inside, first, touching]) == [inside, touching], "the earlier in the list, not in the text"


def test_of_a_name_that_stands_twice_the_earlier_member_is_taken_out_where_both_say_the_same() -> None:
    text = '{"a": {"x": 1, "y": 2}, "b": 2, "a": {"y":2, "x":1}, "a": 4}'
    one, other = told(text, "json-duplicate-key")
    assert one.fix is not None and one.fix.loss_free
    assert edited(text, one.fix.edits) == '{"b": 2, "a": {"y":2, "x":1}, "a": 4}'
    assert other.fix is None
    assert [edited(text, each.edits) for each in other.others] == [
        '{"a": {"x": 1, "y": 2}, "b": 2, "a": 4}',
        '{"a": {"x": 1, "y": 2}, "b": 2, "a": {"y":2, "x":1}}',
        '{"a": {"x": 1, "y": 2}, "b": 2, "a": {"y":2, "x":1}, "a_2": 4}',
    ]


@pytest.mark.parametrize("values", [("1", "1.0"), ("1e400", "1e500"), ("true", "1"), ('"a"', '"A"'), ("[1]", "[1, 1]")])
def test_values_that_anyone_could_tell_apart_do_not_say_the_same(values: tuple[str, str]) -> None:
    (found,) = told(f'{{"a": {values[0]}, "a": {values[1]}}}', "json-duplicate-key")
    assert found.fix is None and len(found.others) == 3


# Completion


CAPABILITY = '"capabilities": {"read": {"action": {"method": "GET"}}, "list": {"action": {"method": "GET"}}, "add": {}}'


@pytest.mark.parametrize(
    ("text", "first"),
    [
        pytest.param(
            '{"site": {|}}', ["name", "url", "description"], id="members that must be there, then those that may be"
        ),
        pytest.param(
            '{"capabilities": {"a": {|}}}',
            ["id", "v", "description", "action", "parameters"], id="each in the order of the schema",
        ),
        pytest.param('{"capabilities": {"a": {"v": 1, |}}}', ["id", "description"], id="what is there is not offered"),
        pytest.param(
            '{"capabilities": {"a": {"parameters": {|}}}}',
            ["type", "properties", "required", "items"], id="keywords of a known type first",
        ),
        pytest.param(
            '{"resources": {"a": {"operations": {"GET": {"capabilityId": "read"}}},'
            f'"b": {{"operations": {{"GET": {{"capabilityId": |}}}}}}}}, {CAPABILITY}}}',
            ["list", "read", "add"], id="capabilities of the method that nobody uses, those in use, the others",
        ),
        pytest.param(
            f'{{"resources": {{|}}, {CAPABILITY}}}',
            ["new_resource", "read_resource", "list_resource", "add_resource"], id="a new resource before made ones",
        ),
        pytest.param(
            '{"resources": {"a": {"operations": {"GET": {"capabilityId": "zz"}}}}, "capabilities": {|}}',
            ["zz", "new_capability"], id="a capability that is used and not there, before a new one",
        ),
        pytest.param(
            '{"capabilities": {"a": {"parameters": {"properties": {"by": {"properties": {"id": {}}}, "id": {}}},'
            '"action": {"parameterMapping": {"by": |}}}}}',
            ["/by", "/id", "/by/id"], id="the pointer of the same name, then the shorter ones",
        ),
        pytest.param(
            '{"capabilities": {"a": {"parameters": {"properties": {"by": {"properties": {"at": {}}}, "id": {}}},'
            '"action": {"parameterMapping": {"at": |}}}}}',
            ["/by/at", "/by", "/id"], id="however deep that is",
        ),
        pytest.param(
            '{"capabilities": {"a": {"action": {"urlTemplate": "/{?id}", "parameterLocation": {"id": |}}}}}',
            ["query", "path", "header", "body"], id="the place that the template shows, then the others",
        ),
        pytest.param(
            '{"capabilities": {"a": {"parameters": {"properties": {"p": {"type": |}}}}}}',
            ["string", "number", "integer", "boolean", "array", "object", "null"], id="types, the usual ones first",
        ),
        pytest.param(
            '{"capabilities": {"a": {"parameters": {"required": ["x", |], "properties": {"x": {}, "y": 1, "z": {}}}}}}',
            ["y", "z"], id="parameters that are not required yet, in their order",
        ),
        pytest.param(
            '{"capabilities": {"a": {"parameters": {"properties": {"z": {}}}, "action": {"urlTemplate": "/{y}{?x}",'
            '"parameterMapping": {|}}}}}',
            ["y", "x", "z"], id="names of the template before those of the parameters",
        ),
    ],
)  # fmt: skip
def test_what_is_likely_is_proposed_first(text: str, first: list[str]) -> None:
    assert labels(text)[: len(first)] == first


def test_a_keyword_without_a_known_type_comes_last() -> None:
    found = labels('{"capabilities": {"a": {"parameters": {|}}}}')
    assert found.index("additionalProperties") < found.index("default") < found.index("const"), "`default` may be all"


# What is offered where nothing near was meant


@pytest.mark.parametrize(
    ("text", "rule", "titles"),
    [
        pytest.param(
            changed({"resources": {"note": {"operations": {"DELETE": {"capabilityId": "erase"}}}}}),
            "manifest-undefined-capability", ['Add the capability "erase"'], id="a capability that nobody wrote",
        ),
        pytest.param(
            changed({"resources": {"notes": {"operations": {"GET": {"capabilityId": "erase"}}}}}),
            "manifest-undefined-capability", ['Write "list_notes"', 'Add the capability "erase"'],
            id="the one that goes there first",
        ),
        pytest.param(
            changed(
                {
                    "resources": {"notes": {"operations": {"GET": {"capabilityId": "erase"}}}},
                    "capabilities": {"more_notes": {**BASE["capabilities"]["list_notes"], "id": "more_notes"}},
                }
            ),
            "manifest-undefined-capability", ['Add the capability "erase"'], id="none of two that go there",
        ),
        pytest.param(
            changed(update({"parameters": {"required": ["id", "zzz"]}})),
            "parameters-required", ['Remove "zzz"', 'Add the parameter "zzz"'],
            id="a required name that is nowhere can go",
        ),
        pytest.param(
            changed(update({"parameters": {"required": ["id", "zzz"]}, "action": {"parameterMapping": {"z": "/zzz"}}})),
            "parameters-required", ['Add the parameter "zzz"', 'Remove "zzz"'], id="one that is sent is to be declared",
        ),
        pytest.param(
            changed(update({"action": {"parameterMapping": {"z": "/zzz"}}})),
            "mapping-unknown-parameter", ['Add the parameter "zzz"', 'Remove "z"'], id="a pointer to what is not there",
        ),
        pytest.param(
            changed(update({"parameters": None})),
            "mapping-unknown-parameter", ['Add the parameter "id"'], id="what the path needs cannot go",
        ),
        pytest.param(
            changed(update(text(type="number", minimum=77))).replace("77", "-Infinity"),
            "json-syntax", ['Remove "minimum"'], id="a bound that is none",
        ),
        pytest.param('{"a": [NaN]}', "json-syntax", [], id="an item has no name to go by"),
        pytest.param('{"a": NaN, "b": 1 "c": 2}', "json-syntax", [], id="nor one beside what is broken"),
        pytest.param(
            changed(update(text(type="string", required=True))), "parameters-schema", ['Require "text"'],
            id="a property that says it is required",
        ),
        pytest.param(
            changed(update(text(type="string", required=False))), "parameters-schema", ['Remove "required"'],
            id="or that it is not",
        ),
        pytest.param(
            changed(update({"parameters": {"required": True}})), "schema-type", ['Write ["id", "text", "tags"]'],
            id="all that there are",
        ),
        pytest.param(
            changed(update({"action": {"urlTemplate": "/notes/{note-id}", "parameterMapping": {"note-id": "/id"}}})),
            "url-template", ["Write note_id"], id="a variable without the sign that it may not have",
        ),
        pytest.param(
            changed(update({"action": {"urlTemplate": "/notes/{$id}"}})), "url-template", ["Write id"],
            id="the mapped name that it is but for the sign",
        ),
        pytest.param(
            changed(update({"action": {"urlTemplate": "/notes/<int:id>"}})), "url-template", ["Write {id}"],
            id="a variable with its type, as routers write it",
        ),
        pytest.param(
            changed(update({"action": {"urlTemplate": "/notes/{id:int}"}})), "url-template", ['Remove ":int"'],
            id="a type is no prefix",
        ),
        pytest.param(
            changed(update({"action": {"urlTemplate": "/notes/{}"}})), "url-template", ["Write {id}"],
            id="the required one, where none is named",
        ),
    ],
)  # fmt: skip
def test_what_is_offered_first_where_nothing_near_was_meant(text: str, rule: str, titles: list[str]) -> None:
    found = [each for each in check(text) if each.rule == rule]
    assert [fix.title for each in found[:1] for fix in (each.fix, *each.others) if fix is not None] == titles
    assert not any(is_fixable(each) for each in found if each.fix and each.fix.title in titles), "a choice"
    for fix in (each for each in (found[0].fix, *found[0].others) if each is not None):
        after = [each for each in check(edited(text, fix.edits)) if each.rule == rule]
        assert len(after) < len(found), fix.title


def test_a_name_without_its_sign_is_written_where_it_is_mapped_too() -> None:
    mapping = {"note-id": "/id", "id": None}
    found = told(update({"action": {"urlTemplate": "/notes/{note-id}", "parameterMapping": mapping}}), "url-template")
    assert found[0].fix is not None and [each.text for each in found[0].fix.edits] == ["note_id", '"note_id"']


# What is not told below what is broken


@pytest.mark.parametrize(
    ("text", "rule", "count"),
    [
        pytest.param('{"site": {"name": "N" }}', "schema-required", 6, id="whole: all that is missing is told"),
        pytest.param('{"site": {"name": "N" ]}}', "schema-required", 0, id="damaged: it may have anything"),
        pytest.param('{"protocol": "AURA", "version": ', "schema-required", 0, id="not closed: the rest may come yet"),
        pytest.param('{"version": }', "schema-type", 0, id="a value that is not there has no type"),
        pytest.param('{"version": nope}', "schema-const", 0, id="nor one that is no JSON"),
        pytest.param('{"policy": {"authHint": 5}}', "schema-type", 1, id="a wrong type is told"),
        pytest.param('{"policy": {"authHint": 5}}', "schema-enum", 0, id="and not that it is no choice as well"),
        pytest.param('{"a": nope nope nope\n}', "json-syntax", 1, id="of one line the first error"),
        pytest.param('{"a": nope,\n"b": nope\n}', "json-syntax", 2, id="each line's own"),
        pytest.param('{"a": nope, "b": nope}', "json-syntax", 2, id="and each behind a comma"),
        pytest.param(
            '{"resources": {"r": {"operations": {"GET": {"capabilityId": "x"}}}}, "capabilities": {}}',
            "manifest-undefined-capability", 1, id="no capability of that name",
        ),
        pytest.param(
            '{"resources": {"r": {"operations": {"GET": {"capabilityId": "x"}}}}}',
            "manifest-undefined-capability", 0, id="no capabilities at all: that is told instead",
        ),
        pytest.param(
            '{"resources": {"r": {"operations": {"GET": {"capabilityId": "x"}}}}, "capabilities": {"y": ',
            "manifest-undefined-capability", 0, id="capabilities of which some may not be read",
        ),
        pytest.param(
            '{"capabilities": {"x": {}}, "resources": {"r": {"operations": {}}}}',
            "capability-unreferenced", 1, id="a capability that no resource runs",
        ),
        pytest.param(
            '{"capabilities": {"x": {}}, "resources": {}}',
            "capability-unreferenced", 0, id="a manifest without resources",
        ),
        pytest.param(
            '{"capabilities": {"x": {}}, "resources": {"r": ',
            "capability-unreferenced", 0, id="resources of which some may not be read",
        ),
        pytest.param(
            '{"capabilities": {"x": {}}, "resources": {"r": {"operations": {"GET": {}}}}}',
            "capability-unreferenced", 0, id="an operation that does not say what it runs",
        ),
        pytest.param(
            '{"capabilities": {"x": {"action": {"urlTemplate": "/{id}", "parameterMapping": {"a": "/a" ]}}}}}',
            "template-variable-unmapped", 0, id="a mapping of which some may not be read",
        ),
    ],
)  # fmt: skip
def test_what_is_not_known_for_sure_is_not_told(text: str, rule: str, count: int) -> None:
    assert len(told(text, rule)) == count


def test_fixes_are_offered_but_for_what_shares_a_part_with_broken_text() -> None:
    document = manifest(2)
    for each in document["capabilities"].values():
        each["id"] = "wrong"
    document["protocol"] = "aura"
    text = json.dumps(document, indent=2)
    assert fixable(text) == {"/capabilities/note_0/id", "/capabilities/note_1/id", "/protocol"}
    in_the_first = text.replace('"id": "wrong",', '"id": "wrong"', 1)
    assert fixable(in_the_first) == {"/capabilities/note_1/id", "/protocol", "/capabilities/note_0/v"}, "that is JSON's"
    at_the_root = text.replace('"protocol": "aura",', '"protocol": "aura"', 1)
    assert fixable(at_the_root) == {"/version"}, "anything may be elsewhere than it seems"


def fixable(text: str) -> set[str]:
    return {each.path for each in check(text) if each.fix}


# Order and number of findings


def found(start: int, severity: Severity = "warning", rule: str = "a", message: str = "m", end: int = 0) -> Finding:
    return finding(rule, message, "", start, end or start + 1, severity)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(found(1, rule="z"), found(2), id="by where they begin"),
        pytest.param(found(1, rule="z", end=3), found(1, end=9), id="the shorter one first"),
        pytest.param(found(1, rule="a", message="z"), found(1, rule="b"), id="then by rule"),
        pytest.param(found(1, message="l"), found(1, message="m"), id="then by message"),
        pytest.param(found(1, "hint"), found(2, "error"), id="severity does not count"),
    ],
)
def test_findings_are_told_in_the_order_of_the_text(first: Finding, second: Finding) -> None:
    assert in_order([second, first]) == in_order([first, second]) == [first, second]


def test_of_too_many_findings_no_error_is_left_out_and_the_first_of_the_rest_stay() -> None:
    warnings = [found(number, rule="w") for number in range(MAX_FINDINGS + 500)]
    errors = [found(10_000 + number, "error", rule="e") for number in range(10)]
    kept = in_order([*warnings, *errors])
    assert len(kept) == 1_000
    assert kept == [*warnings[: MAX_FINDINGS - 10], *errors]
    assert in_order(warnings[:MAX_FINDINGS]) == warnings[:MAX_FINDINGS]


def test_a_milder_finding_is_no_better_than_a_warning_when_there_are_too_many() -> None:
    hints = [found(number, "hint") for number in range(MAX_FINDINGS)]
    assert in_order([*hints, found(MAX_FINDINGS)]) == hints


def test_every_capability_is_looked_at_until_three_times_what_is_listed_is_found() -> None:
    document = {**manifest(700), "resources": {}}
    for name, each in document["capabilities"].items():
        each["id"], each["description"] = "wrong", ""
        each["v"] = 0
        each["parameters"] = {}
        each["action"] = {"type": "HTTP", "method": "GET", "urlTemplate": f"/{name}", "parameterMapping": {}}
    document["capabilities"]["note_699"]["action"]["method"] = "GETT"
    listed = check(json.dumps(document))
    assert len(listed) == MAX_FINDINGS
    assert [each.rule for each in listed if each.severity == "error"] == ["schema-enum"], "the very last part's"
