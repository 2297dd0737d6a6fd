"""Completion at a cursor, in whole and in half-written manifests."""

from __future__ import annotations

import json

import pytest

from aurora_manifest.client.arguments import misfits
from aurora_manifest.editing.completion import complete, complete_by_schema
from aurora_manifest.editing.skeletons import FORMATS
from aurora_manifest.json.parser import parse
from aurora_manifest.kind_checks import schema_of
from aurora_manifest.kinds import CONFIGURATION
from aurora_manifest.model import Manifest
from tests.manifests import check
from tests.protocol.cursors import chosen, labels, marked, proposals


def site(
    *, use: str = '"read"', required: str = "", url: str = '"/n/{id}"', mapping: str = "", location: str = ""
) -> str:
    """Two capabilities and a resource, with one part of them as given."""
    return f"""{{
  "resources": {{
    "notes": {{"uriPattern": "/n/{{id}}", "operations": {{"GET": {{"capabilityId": {use}}}}}}}
  }},
  "capabilities": {{
    "read": {{
      "id": "read",
      "parameters": {{
        "type": "object",
        "required": [{required}],
        "properties": {{
          "id": {{"type": "string", "description": "Which note."}},
          "by": {{"type": "object", "properties": {{"first/name": {{}}, "at": {{"type": "array", "items": {{}}}}}}}}
        }}
      }},
      "action": {{
        "method": "GET", "urlTemplate": {url},
        "parameterMapping": {{{mapping}}}, "parameterLocation": {{{location}}}
      }}
    }},
    "write": {{"action": {{"method": "POST"}}}}
  }}
}}"""


def test_an_empty_file_becomes_a_manifest_without_syntax_errors() -> None:
    for empty in ("|", "  \n|\n"):
        text = chosen(empty, "manifest")
        assert not [each for each in check(text) if each.rule.startswith("json")]
        assert list(json.loads(text)) == ["$schema", "protocol", "version", "site", "resources", "capabilities"]


def test_members_that_are_missing_come_first_with_their_words() -> None:
    found = proposals('{"protocol": "AURA", |}')
    assert [each.label for each in found][:5] == ["$schema", "version", "site", "resources", "capabilities"]
    assert "protocol" not in [each.label for each in found]
    assert "schema this manifest follows" in found[0].documentation


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{|}", '{"version": "1.0"}'),
        ('{"|"}', '{"version": "1.0"}'),
        ('{"ver|"}', '{"version": "1.0"}'),
        ('{"ver|sion": "2.0"}', '{"version": "2.0"}'),
        ("{ver|}", '{"version": "1.0"}'),
        ('{"|}', '{"version": "1.0"}'),
        ('{"id": "x" |}', '{"id": "x", "version": "1.0"}'),
        ('{"id": "x"\n|\n}', '{"id": "x",\n"version": "1.0"\n}'),
        ('{| "id": "x"}', '{"version": "1.0", "id": "x"}'),
        ('{"id": "x", "|", "site": {}}', '{"id": "x", "version": "1.0", "site": {}}'),
        ('{\n  "|\n  "id": "x"\n}', '{\n  "version": "1.0",\n  "id": "x"\n}'),
        ('{"id": "x", /* a , */ |}', '{"id": "x", /* a , */ "version": "1.0"}'),
        ('\ufeff{"id": "📝", |}', '\ufeff{"id": "📝", "version": "1.0"}'),
        ("{|", '{"version": "1.0"'),
        ('{"resources": {"a": {}}, |', '{"resources": {"a": {}}, "version": "1.0"'),
    ],
)
def test_a_name_is_put_in_with_the_commas_it_needs(before: str, after: str) -> None:
    assert chosen(before, "version") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"policy": {"authHint": |}}', '{"policy": {"authHint": "bearer"}}'),
        ('{"policy": {"authHint":|}}', '{"policy": {"authHint": "bearer"}}'),
        ('{"policy": {"authHint": "|"}}', '{"policy": {"authHint": "bearer"}}'),
        ('{"policy": {"authHint": "be|x"}}', '{"policy": {"authHint": "bearer"}}'),
        ('{"policy": {"authHint":|  "none"}}', '{"policy": {"authHint": "bearer"}}'),
        ('{"policy": {"authHint": |"none"}}', '{"policy": {"authHint": "bearer"}}'),
        ('{"policy": {"authHint": be|}}', '{"policy": {"authHint": "bearer"}}'),
        ('{"policy": {"authHint": "|}}', '{"policy": {"authHint": "bearer"}}'),
        ('{"policy": {"authHint": "|, "x": "y"}}', '{"policy": {"authHint": "bearer", "x": "y"}}'),
        ('{"policy": {"authHint": |\n"x": "y"}}', '{"policy": {"authHint": "bearer",\n"x": "y"}}'),
        ('{"policy": {"authHint": "|\n}}', '{"policy": {"authHint": "bearer"\n}}'),
        ('{"policy": {"authHint": |', '{"policy": {"authHint": "bearer"'),
    ],
)
def test_a_choice_replaces_what_is_there_and_nothing_else(before: str, after: str) -> None:
    assert labels(before) == ["none", "cookie", "bearer"]
    assert chosen(before, "bearer") == after


@pytest.mark.parametrize(
    "text",
    [
        '{"id": "x"| }',
        '{"site": | {}}',
        '{"policy": {"authHint": |\n"none"}}',
        '{"id"| : "x"}',
        '{"id": "x", // a | comment\n}',
        '{"id": "x"} |',
        '| {"id": "x"}',
        '{"id" |}',
    ],
)
def test_nothing_is_proposed_where_nothing_can_be_written(text: str) -> None:
    assert proposals(text) == []


@pytest.mark.parametrize("use", ['"|"', '"re|"', "|", '"|', '"re|ad"'])
def test_ids_of_capabilities_those_of_the_method_first(use: str) -> None:
    text = site(use=use)
    found = proposals(text)
    assert [each.label for each in found] == ["read", "write"]
    assert found[0].detail == "GET /n/{id}"
    assert '"capabilityId": "read"}' in chosen(text, "read")


def test_what_is_filtered_begins_like_what_is_replaced() -> None:
    assert {each.filter for each in proposals(site(use='"|"'))} == {'"read"', '"write"'}
    assert {each.filter for each in proposals(site(use="|"))} == {"read", "write"}


@pytest.mark.parametrize(
    ("url", "after"),
    [
        ('"/n/{|}"', '"/n/{id}"'),
        ('"/n/{|"', '"/n/{id}"'),
        ('"/n/{i|x}/{by}"', '"/n/{id}/{by}"'),
        ('"/n{?by,|}"', '"/n{?by,id}"'),
        ('"/n/{+|:3}"', '"/n/{+id:3}"'),
    ],
)
def test_variables_inside_braces(url: str, after: str) -> None:
    assert after in chosen(site(url=url), "id")


def test_a_variable_that_is_used_is_not_proposed_again() -> None:
    assert "id" not in labels(site(url='"/n/{id}{?|}"'))
    assert labels(site(url='"/n/{id}|"')) == ["/n/{id}"], "outside of braces, whole addresses of its resources"


def test_pointers_come_from_the_parameter_schema() -> None:
    found = labels(site(mapping='"at": "|"'))
    assert found == ["/by/at", "/id", "/by", "/by/first~1name"]
    assert '"at": "/by/at"' in chosen(site(mapping='"at": |'), "/by/at")


def test_names_in_the_mapping_are_those_of_template_and_parameters() -> None:
    assert labels(site(url='"/n/{id}{?page}"', mapping="|")) == ["id", "page", "by"]
    assert '"parameterMapping": {"id": "/id"}' in chosen(site(mapping='"|"'), "id")
    assert labels(site(mapping='"id": "/id", |')) == ["by"]


def test_locations_begin_with_the_one_the_template_shows() -> None:
    assert labels(site(location='"id": "|"')) == ["path", "query", "header", "body"]
    assert '"parameterLocation": {"id": "path"}' in chosen(site(location='"|"'), "id")


def test_required_items_are_parameters_not_yet_listed() -> None:
    assert labels(site(required='"|"')) == ["id", "by"]
    assert labels(site(required='"id", |')) == ["by"]
    assert '["id", "by"]' in chosen(site(required='"id", "|"'), "by")
    assert labels(site(required='"i|d", "by"')) == ["id"], "the one that is being edited is"


def test_a_capability_that_is_used_but_missing_is_the_first_to_be_proposed() -> None:
    resource = '{"uriPattern": "/r", "operations": {"PUT": {"capabilityId": "put"}}}'
    text = f'{{"resources": {{"r": {resource}}}, "capabilities": {{|}}}}'
    assert labels(text) == ["put", "new_capability"]
    made = json.loads(chosen(text, "put"))["capabilities"]["put"]
    assert (made["id"], made["action"]["method"], made["action"]["urlTemplate"]) == ("put", "PUT", "/r")


def test_a_whole_capability_and_resource_check_without_errors() -> None:
    text = chosen("|", "manifest").replace('"name": "",\n    "url": ""', '"name": "N", "url": "https://n.example"')
    text = chosen(text.replace('"capabilities": {}', '"capabilities": {|}'), "new_capability")
    text = chosen(text.replace('"resources": {}', '"resources": {|}'), "new_capability_resource")
    assert [each for each in check(text) if each.severity == "error"] == []


def test_snippets_have_holes_and_plain_text_has_none() -> None:
    text = '{\n    "capabilities": {\n        |\n    }\n}'
    (snippet,) = proposals(text, snippets=True)
    assert snippet.snippet and snippet.text.startswith('"${1:new_capability}": {\n    "id": "$1"')
    assert "${5|GET,POST,PUT,DELETE|}" in snippet.text
    (plain,) = proposals(text)
    assert not plain.snippet and "$" not in plain.text
    assert proposals('{"|"}', snippets=True)[0].text.startswith('"\\$schema": "https://unpkg.com/')


def test_line_ends_and_indentation_are_the_texts_own() -> None:
    text = chosen('{\r\n\t"protocol": "AURA",\r\n\t|\r\n}', "site")
    assert '"site": {\r\n\t"name"' in text and "\n" not in text.replace("\r\n", "")


def test_keywords_of_parameter_schemas_but_not_where_a_parameter_is_named_like_one() -> None:
    text = site().replace('"type": "string", "des', '"type": "|", "des')
    assert labels(text)[:3] == ["string", "number", "integer"]
    named = site().replace('"id": {"type": "string"', '"type": |, "id": {"type": "string"')
    assert "string" not in labels(named)


def test_other_documents_are_completed_by_their_schema() -> None:
    manifest, offset = marked('{"log|": 1}')
    schema = schema_of(CONFIGURATION, manifest.document)
    found = complete_by_schema(manifest.document, schema, offset, snippets=False)
    assert "logging" in [each.label for each in found]
    manifest, offset = marked('{"logging": {"level": "|"}}')
    found = complete_by_schema(manifest.document, schema, offset, snippets=False)
    assert "DEBUG" in [each.label for each in found]


@pytest.mark.parametrize(
    ("kind", "first", "last"),
    [
        ("integer", {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}, "minLength"),
        ("string", {"minLength", "maxLength", "pattern", "format"}, "minimum"),
        ("array", {"items", "minItems", "maxItems", "uniqueItems"}, "properties"),
    ],
)
def test_keywords_that_fit_the_type_come_first(kind: str, first: set[str], last: str) -> None:
    text = f'{{"capabilities": {{"a": {{"parameters": {{"properties": {{"n": {{"type": "{kind}", ""}}}}}}}}}}}}'
    offered = [each.label for each in complete(Manifest(parse(text)), text.index('""') + 1)]
    here = {name for name in first if name in offered}
    assert len(here) >= 3 and set(offered[: len(here)]) <= first
    assert last not in offered or offered.index(last) > offered.index("enum")


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_that_is_offered_is_checked(name: str) -> None:
    schema = {"properties": {"a": {"type": "string", "format": name}}}
    assert misfits(schema, {"a": "\\ [ {0"})
