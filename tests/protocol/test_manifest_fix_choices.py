"""Choices of fixes and proposals, a row each: which is just made, which is only offered, which comes first."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_manifest.findings import Finding
from aurora_manifest.fix_all import edited, is_fixable
from tests.manifests import check
from tests.protocol.cursors import chosen, labels, proposals
from tests.protocol.rule_cases import located, mapping, text, update, url
from tests.protocol.test_manifest_choices import changed, told, written


def first(patch: Any, rule: str) -> Finding:
    return told(update(patch) if "capabilities" not in patch else patch, rule)[0]


# What is just made


@pytest.mark.parametrize(
    ("patch", "rule", "is_made"),
    [
        pytest.param({"protocol": "aura"}, "schema-const", True, id="a constant in another case"),
        pytest.param({"protocol": "AURA1"}, "schema-const", False, id="not one that is like it"),
        pytest.param({"version": 1.0}, "schema-type", True, id="a constant that is written as a number"),
        pytest.param({"version": 1}, "schema-type", False, id="not another number"),
        pytest.param({"policy": {"authHint": "COOKIE"}}, "schema-enum", True, id="a choice in another case"),
        pytest.param({"policy": {"authHint": "cooki"}}, "schema-enum", False, id="not one that is like it"),
        pytest.param(update({"v": "2"}), "schema-type", True, id="a number in quotes"),
        pytest.param(update({"description": 5}), "schema-type", False, id="not a text that may have lost its sign"),
        pytest.param(update({"action": {"cors": "TRUE"}}), "schema-type", True, id="true in quotes"),
        pytest.param(
            update({"parameters": {"required": ["id", "id"]}}), "parameters-required", True, id="what stands twice"
        ),
        pytest.param(update(text(type="STRING")), "parameters-type", True, id="a type in another case"),
        pytest.param(update(text(type="decimal")), "parameters-type", False, id="not one that says more"),
    ],
)
def test_what_is_just_made_loses_nothing(patch: Any, rule: str, is_made: bool) -> None:
    found = told(patch, rule)[0]
    assert found.fix is not None and is_fixable(found) is is_made


# What a value was meant to be


@pytest.mark.parametrize(
    ("patch", "rule", "writes"),
    [
        pytest.param(update({"v": "2.5"}), "schema-type", "2.5", id="any number, where any may be"),
        pytest.param(
            {"policy": {"rateLimit": {"limit": " 7 "}}}, "schema-type", "7", id="spaces around a number are none of it"
        ),
        pytest.param(update({"description": ["Do."]}), "schema-type", '"Do."', id="the only text in a list"),
        pytest.param(update({"description": ["Do.", "More."]}), "schema-type", None, id="of two nobody knows which"),
        pytest.param(
            update({"action": {"parameterMapping": ["id", "text"]}}), "schema-type", '{"id": "/id", "text": "/text"}',
            id="a list of names is mapped to their parameters",
        ),
        pytest.param(
            update({"action": {"parameterMapping": ["id", "id"]}}), "schema-type", None, id="but not one name twice"
        ),
        pytest.param(
            update({"action": {"parameterMapping": ["id", 1]}}), "schema-type", None, id="nor what is no name"
        ),
        pytest.param(update(text(type="string|null")), "parameters-type", '["string", "null"]', id="types in one text"),
        pytest.param(update(text(type=["strng"])), "parameters-type", '"string"', id="a type in a list"),
        pytest.param(update(text(type=["string/null"])), "parameters-type", None, id="where no list may stand"),
        pytest.param(update(text(enum="a; b/c")), "parameters-schema", '["a", "b", "c"]', id="choices in one text"),
        pytest.param(
            update(text(type="number", minimum=3, exclusiveMinimum=True)), "parameters-schema", "3",
            id="a bound that is told to be excluded",
        ),
        pytest.param(
            update(text(type="number", minimum=3, exclusiveMinimum=False)), "parameters-schema", None,
            id="and not one that is told not to be",
        ),
        pytest.param(update(text(format="ip")), "parameters-format", '"ipv4"', id="an address"),
        pytest.param(update(text(format="mail")), "parameters-format", '"email"', id="another language's word"),
        pytest.param(update(text(format="uri-refernce")), "parameters-format", '"uri-reference"', id="by its letters"),
        pytest.param(update(located(text="payload")), "parameter-location", '"body"', id="another word for a place"),
        pytest.param(
            update(located(text="path")), "parameter-location-conflict", '"query"', id="what no variable takes is asked"
        ),
        pytest.param(
            update({"action": {"encoding": "json", "parameterLocation": {"text": "path"}}}),
            "parameter-location-conflict", '"body"', id="or is in the body, where there is one",
        ),
        pytest.param(
            update({"action": {"method": "DELETE", "encoding": "json", "parameterLocation": {"text": "path"}}}),
            "parameter-location-conflict", '"query"', id="which DELETE has not",
        ),
        pytest.param(
            update({"action": {"method": "DELETE", "parameterLocation": {"text": "body"}}}),
            "parameter-location-conflict", '"query"', id="whoever asks for it",
        ),
        pytest.param(update(mapping(text="/tags/01")), "mapping-array-index", "1", id="an index without zeros before"),
        pytest.param(update(mapping(text="/tags/x")), "mapping-array-index", None, id="a word is no index"),
        pytest.param(update(mapping(text="te~xt")), "mapping-pointer", '"/te~0xt"', id="a tilde is escaped"),
        pytest.param(
            {"site": {"url": "//notes.example"}}, "site-url", '"https://notes.example"', id="an address without scheme"
        ),
    ],
)  # fmt: skip
def test_what_a_value_was_meant_to_be(patch: Any, rule: str, writes: str | None) -> None:
    wrote = written(patch, rule)
    assert (" ".join(wrote.split()) if wrote else wrote) == writes


@pytest.mark.parametrize(
    ("patch", "text_of_fix"),
    [
        pytest.param({"nullable": True, "type": "string"}, '{"type": ["string", "null"]}', id="null is a type"),
        pytest.param({"nullable": False, "type": "string"}, '{"type": "string"}', id="and nothing where it may not be"),
        pytest.param({"type": "string", "example": "a"}, '{"type": "string", "examples": ["a"]}', id="a list of one"),
        pytest.param({"example": "a", "examples": ["b"]}, None, id="which is not made where there is one"),
    ],
)
def test_what_json_schema_has_for_a_keyword_of_openapi(patch: dict[str, Any], text_of_fix: str | None) -> None:
    document = changed(update({"parameters": {"properties": {"note": patch}}, **mapping(note="/note")}))
    found = next(each for each in check(document) if each.rule == "parameters-dialect")
    if text_of_fix is None:
        assert found.fix is None
    else:
        assert found.fix is not None
        mended = json.loads(edited(document, found.fix.edits))
        assert mended["capabilities"]["update_note"]["parameters"]["properties"]["note"] == json.loads(text_of_fix)


@pytest.mark.parametrize(
    ("member", "value", "meant"),
    [
        pytest.param("min", 1, "minLength", id="a word of another language, by the type beside it"),
        pytest.param("regex", "a", "pattern", id="a pattern"),
        pytest.param("values", ["a"], "enum", id="choices"),
        pytest.param("options", ["a"], "enum", id="by any word for them"),
        pytest.param("attributes", {}, None, id="a text has no properties"),
        pytest.param("required", True, None, id="what is a keyword is not misspelt"),
    ],
)
def test_what_a_keyword_of_another_language_is(member: str, value: Any, meant: str | None) -> None:
    found = told(update(text(type="string", **{member: value})), "schema-unknown-member")
    assert [each.message.rpartition("did you mean ")[2] for each in found] == ([f'"{meant}"?'] if meant else [])


@pytest.mark.parametrize("member", ["parameters", "params", "fields", "attributes"])
def test_what_an_object_has_are_its_properties(member: str) -> None:
    found = told(update(text(type="object", **{member: {}})), "schema-unknown-member")
    assert [each.message.rpartition("did you mean ")[2] for each in found] == ['"properties"?']


# What is told, and where


@pytest.mark.parametrize(
    ("patch", "rule", "count"),
    [
        pytest.param(
            {"parameters": {"required": ["id"]}, "action": {"parameterMapping": {"text": None}}},
            "parameter-unmapped", 1, id="an optional parameter that nothing leads to",
        ),
        pytest.param(
            {"parameters": {"required": ["id", "text"]}, "action": {"parameterMapping": {"text": None}}},
            "parameter-unmapped", 0, id="a required one is told as that",
        ),
        pytest.param(
            {"parameters": {"required": ["text", "text"]}, "action": {"parameterMapping": {"text": None}}},
            "required-parameter-unmapped", 1, id="and once",
        ),
        pytest.param(
            {"action": {"urlTemplate": "/notes/{id}{?text}", "parameterMapping": {"text": None}}},
            "parameter-unmapped", 0, id="one that a variable is called like is told there",
        ),
        pytest.param(
            {"action": {"parameterMapping": {"text": 5}}}, "parameter-unmapped", 0, id="or has no text for a pointer"
        ),
        pytest.param(
            {"parameters": {"required": []}}, "path-variable-optional", 1, id="the path needs what may be left out"
        ),
        pytest.param(
            {"parameters": {"required": [], "properties": {"id": {"default": "x"}}}},
            "path-variable-optional", 0, id="but not what has a default",
        ),
        pytest.param(
            {"parameters": {"required": []}, **url("/notes{/id}")}, "path-variable-optional", 0,
            id="nor what leaves its slash out with it",
        ),
        pytest.param(
            {"action": {"method": "GET", "urlTemplate": "/n/:id", "parameterMapping": {"text": None, "tags": None}}},
            "parameter-not-sent", 0, id="a step of a router is told there",
        ),
        pytest.param(
            {"action": {"method": "DELETE", "urlTemplate": "/notes/{note_id}", "parameterMapping": {"tags": None}}},
            "parameter-not-sent", 0, id="where a variable waits for a name, that is told first",
        ),
        pytest.param(
            {"action": {"method": "DELETE", "encoding": "json"}}, "body-without-meaning", 1, id="DELETE has no body"
        ),
        pytest.param(
            {"parameters": {"anyOf": [{"required": ["zzz"]}]}}, "parameters-required", 0,
            id="a branch may require what is around it",
        ),
    ],
)  # fmt: skip
def test_what_is_told_once_and_at_its_place(patch: Any, rule: str, count: int) -> None:
    assert len(told(update(patch), rule)) == count


def test_a_name_that_no_encoding_sends_gets_one_but_not_where_the_template_is_a_routers() -> None:
    action = {"method": "DELETE", "parameterMapping": {"tags": None}}
    assert first({"action": action}, "parameter-not-sent").fix is not None
    routed = {**action, "urlTemplate": "/notes/:id"}
    assert first({"action": routed}, "parameter-not-sent").fix is None, "that is mended first"


@pytest.mark.parametrize(
    ("location", "fix"),
    [
        pytest.param({"txt": "query"}, 'Rename to "text"', id="a name that is near"),
        pytest.param({"query": "text"}, 'Write "text": "query"', id="a place and a name that are turned round"),
        pytest.param({"query": "zzz"}, None, id="not where the name is nobody's"),
        pytest.param({"query": "text", "text": "query"}, None, id="nor where the name has its place"),
    ],
)
def test_what_is_offered_for_a_name_that_is_placed_and_not_mapped(location: dict[str, str], fix: str | None) -> None:
    found = first(located(**location), "parameter-location-unmapped")
    assert (found.fix.title if found.fix else None) == fix
    assert [each.title for each in found.others] == [f'Remove "{next(iter(location))}"']


def test_a_list_of_required_names_that_is_none_is_not_taken_away() -> None:
    """It says that something is required; what else is wrong can go."""
    for keyword, value, others in (("required", "id", []), ("minLength", "x", ['Remove "minLength"'])):
        found = [each for each in check(changed(update(text(**{keyword: value})))) if each.rule == "parameters-schema"]
        assert [fix.title for each in found for fix in each.others] == others


# Proposals


@pytest.mark.parametrize(
    ("text", "known", "unknown"),
    [
        pytest.param('{"site": {"name": "N", |}}', "url", "name", id="not what is there"),
        pytest.param('{"site": {"na|me": "N"}}', "name", "", id="but what is being written"),
        pytest.param(
            '{"capabilities": {"a": {"parameters": {"properties": {"b": {}}}, "action": {"parameterMapping": {"|"}}}}}',
            "b", "", id="and not the name that is just being begun",
        ),
    ],
)  # fmt: skip
def test_which_names_are_proposed(text: str, known: str, unknown: str) -> None:
    found = labels(text)
    assert known in found and unknown not in found


@pytest.mark.parametrize(
    ("kind", "keyword", "before"),
    [
        pytest.param("string", "minLength", "items", id="what says something of texts"),
        pytest.param("string", "format", "items", id="a format says something of them too"),
        pytest.param("array", "items", "format", id="and nothing of lists"),
        pytest.param("string", "enum", "minimum", id="what says nothing comes last"),
    ],
)
def test_keywords_that_say_nothing_of_a_type_come_last(kind: str, keyword: str, before: str) -> None:
    found = labels(f'{{"capabilities": {{"a": {{"parameters": {{"type": "{kind}", |}}}}}}}}')
    assert found.index(keyword) < found.index(before)


@pytest.mark.parametrize(
    ("template", "after"),
    [
        pytest.param("/{|}", "/{id}", id="a brace that is there closes it"),
        pytest.param("/{|", "/{id}", id="else one is written"),
        pytest.param("/{|/{b}", "/{id}/{b}", id="the next variable's is not its own"),
    ],
)
def test_how_a_variable_is_closed(template: str, after: str) -> None:
    action = f'"action": {{"urlTemplate": "{template}", "parameterMapping": {{"id": "/id", "b": "/b"}}}}'
    assert f'"{after}"' in chosen(f'{{"capabilities": {{"a": {{{action}}}}}}}', "id")


def test_variables_are_proposed_in_the_order_of_the_mapping_then_of_the_parameters_and_each_once() -> None:
    capability = '"parameters": {"properties": {"b": {}, "id": {}}}, "action": {"urlTemplate": "/{id}/{|}", '
    found = labels(f'{{"capabilities": {{"x": {{{capability}"parameterMapping": {{"z": "/z", "b": "/b"}}}}}}}}}}')
    assert found == ["z", "b"], "and not what the template has"


def test_a_value_behind_a_colon_gets_its_space() -> None:
    assert chosen('{"policy": {"authHint":|}}', "cookie") == '{"policy": {"authHint": "cookie"}}'
    assert chosen('{"policy": {"authHint": |}}', "cookie") == '{"policy": {"authHint": "cookie"}}'


def test_an_editor_compares_what_stands_in_the_range_with_or_without_its_quote() -> None:
    typed = {each.label: each.filter for each in proposals('{"policy": {"authHint": "|"}}')}
    bare = {each.label: each.filter for each in proposals('{"policy": {"authHint": |}}')}
    assert (typed["cookie"], bare["cookie"]) == ('"cookie"', "cookie")


def test_where_there_are_choices_nothing_else_is_proposed() -> None:
    assert set(labels('{"policy": {"authHint": |}}')) == {"none", "cookie", "bearer"}


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        pytest.param('["one, "two"]', ["one", "two"], id="before the last item"),
        pytest.param('["one, "two", "three"]', ["one", "two", "three"], id="before one that others follow"),
        pytest.param('{"a": "one, "b": "two"}', {"a": "one", "b": "two"}, id="before a name"),
    ],
)
def test_a_text_that_lacks_its_last_quote_ends_before_what_follows(text: str, mended: Any) -> None:
    found = next(each for each in check(text) if each.rule == "json-syntax")
    assert found.fix is not None and json.loads(edited(text, found.fix.edits)) == mended


@pytest.mark.parametrize(("value", "meant"), [("x", True), ({}, False)])
def test_a_parameter_that_stands_beside_the_others_is_no_keyword_without_its_sign(value: Any, meant: bool) -> None:
    """`schema` may be `$schema`, but not where a schema stands: that is a parameter in the wrong place."""
    found = told(update({"parameters": {"schema": value}}), "schema-unknown-member")
    assert any("$schema" in each.message for each in found) is meant


@pytest.mark.parametrize(
    ("text", "is_made"),
    [
        pytest.param('{"a": [1 000],\n"b": [2,]}', True, id="on a line that is clear"),
        pytest.param('{"a": [1 000], "b": [2,]}', False, id="not beside what may be anything"),
    ],
)
def test_a_comma_too_many_is_just_taken_out_where_the_line_is_clear(text: str, is_made: bool) -> None:
    assert [is_fixable(each) for each in told(text, "json-trailing-comma")] == [is_made]


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        pytest.param('{"a": 1,\n"b": 2, "a": 1}', 1, id="one of two that say the same goes"),
        pytest.param('{"a": 1, // one\n"b": 2, "a": 1}', 3, id="but what is remarked on it would go with it"),
    ],
)
def test_a_remark_does_not_go_with_a_member_that_stands_twice(text: str, ways: int) -> None:
    (found,) = told(text, "json-duplicate-key")
    assert len([each for each in (found.fix, *found.others) if each]) == ways and is_fixable(found) is (ways == 1)


@pytest.mark.parametrize(
    ("text", "mended"),
    [
        pytest.param('{"a": 1\n"b": 2}', '{"a": 1,\n"b": 2}', id="on the line of the value before"),
        pytest.param('{"a": 1 // one\n"b": 2}', '{"a": 1 // one\n,"b": 2}', id="but not into a remark"),
    ],
)
def test_where_a_missing_comma_goes(text: str, mended: str) -> None:
    (found,) = told(text, "json-syntax")
    assert found.fix is not None and edited(text, found.fix.edits) == mended


@pytest.mark.parametrize(
    ("word", "told", "fix"),
    [
        pytest.param("True", "True is not JSON: write true", "Write true", id="a word in any case"),
        pytest.param("NULL", "NULL is not JSON: write null", "Write null", id="shouted, too"),
        pytest.param("-Infinity", "JSON has no -Infinity: numbers are finite", None, id="a number there is not"),
        pytest.param("hello", "hello is not JSON: text needs double quotes", 'Write "hello"', id="else a text"),
    ],
)
def test_what_a_bare_word_was_meant_to_be(word: str, told: str, fix: str | None) -> None:
    (found,) = [each for each in check(f'{{"a": {word}}}') if each.rule == "json-syntax"]
    assert (found.message, found.fix.title if found.fix else None) == (told, fix)
