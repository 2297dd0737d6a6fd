"""Fixes that put something around, beside or into what is there: what they make of it, and where they are not made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_manifest.fix_all import edited, is_fixable
from aurora_manifest.json.parser import parse
from aurora_manifest.violations import SchemaCheck
from tests.protocol.rule_cases import located, mapping, update, url
from tests.protocol.test_manifest_choices import changed, told
from tests.protocol.test_manifest_offers import NO_FIX, after, both, operations, titles


@pytest.mark.parametrize(
    ("patch", "rule", "becomes"),
    [
        pytest.param(
            {"site": [{"name": "N", "url": "https://n.example"}]}, "schema-type",
            {"name": "N", "url": "https://n.example"}, id="the only object in a list",
        ),
        pytest.param(
            {"resources": {"note": {"operations": {"PUT": "update_note"}}}}, "schema-type",
            {"capabilityId": "update_note"}, id="a text where an object needs just one",
        ),
        pytest.param(
            {"resources": {"note": {"operations": {"PUT": "u" * 81}}}}, "schema-type", NO_FIX, id="but no long one"
        ),
        pytest.param(
            update({"action": {"method": "DELETE", "encoding": 5}}), "parameter-not-sent", NO_FIX,
            id="what is there is not put beside itself",
        ),
        pytest.param(
            update(url("/notes/{id}{?idd}")), "template-variable-unmapped", NO_FIX,
            id="a name that is a variable already is not another's",
        ),
    ],
)  # fmt: skip
def test_what_becomes_of_it(patch: Any, rule: str, becomes: Any) -> None:
    assert after(patch, rule) == becomes


def test_a_text_that_becomes_a_list_of_one_is_only_offered() -> None:
    (found,) = told(update({"parameters": {"required": "id"}}), "schema-type")
    assert found.fix is not None and not is_fixable(found), "it may have been meant for several"


def test_a_capability_of_a_resource_without_an_address_gets_the_shortest() -> None:
    patch = both(operations("note", DELETE="erase"), {"resources": {"note": {"uriPattern": None}}})
    (found,) = told(patch, "manifest-undefined-capability")
    assert json.loads(edited(changed(patch), found.others[0].edits))["capabilities"]["erase"]["action"][
        "urlTemplate"
    ] == "/"  # fmt: skip


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_a_member_that_is_added_has_the_line_ends_and_the_indentation_of_the_others(line_end: str) -> None:
    text = changed(update(mapping(text=None))).replace("\n", line_end)
    (found,) = told(text, "parameter-unmapped")
    assert found.fix is not None
    assert edited(text, found.fix.edits) == text.replace(
        f'"tags": "/tags"{line_end}', f'"tags": "/tags",{line_end}          "text": "/text"{line_end}'
    )


def test_of_forms_that_a_value_may_have_the_one_that_it_fits_best_is_told() -> None:
    schema = SchemaCheck({"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}]}, "the file")
    assert [each.message for each in schema.findings(parse("{}"))] == ['the file lacks the required member "c"']


def test_a_choice_that_is_much_alike_comes_before_one_that_was_cut_off() -> None:
    schema = SchemaCheck({"properties": {"when": {"enum": ["nighttime", "nigth"]}}}, "the file")
    (found,) = schema.findings(parse('{"when": "night"}'))
    assert found.fix is not None and found.fix.title == 'Write "nigth"'


@pytest.mark.parametrize(
    "address",
    [
        "file:///w/node_modules/aura-protocol/dist/aura-v1.0.schema.json",
        "https://notes.example/manifest-1.0.schema.json",
    ],
)
def test_which_schemas_have_no_version_to_be_told_of(address: str) -> None:
    assert bool(told({"$schema": address}, "schema-address")) is address.startswith("https:"), "only those at hand"


@pytest.mark.parametrize(
    ("address", "says"),
    [
        pytest.param("https://unpkg.com/aura-protocol@1.0.3/dist/aura-v1.0.schema.json", "out of date", id="an old"),
        pytest.param("https://unpkg.com/aura-protocol@1.0.4/dist/aura-v1.0.schema.json", "", id="not the oldest good"),
        pytest.param("https://unpkg.com/aura-protocol@1/dist/aura-v1.0.schema.json", "", id="nor the newest of all"),
        pytest.param("https://unpkg.com/aura-protocol@2.0.0/dist/aura-v1.0.schema.json", "names no version 1.0",
                     id="another version"),
    ],
)  # fmt: skip
def test_which_versions_of_the_schema_are_told_of(address: str, says: str) -> None:
    found = told({"$schema": address}, "schema-address")
    assert [says in each.message for each in found] == ([True] if says else [])


def test_a_place_that_is_none_of_a_name_that_is_not_mapped_is_one_mistake() -> None:
    patch = update(located(txt="bdy"))
    assert titles(patch, "parameter-location-unmapped") == ['Rename to "text"', 'Remove "txt"']
    assert told(patch, "parameter-location") == []
