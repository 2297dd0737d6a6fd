"""One mistake in a sound manifest is one finding, and that one says what to do: what follows from it is not told."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from aurora_manifest.fix_all import edited
from aurora_manifest.schema import manifest_schema
from tests.manifests import check

_SENDS_ID = {"type": "HTTP", "method": "GET", "urlTemplate": "/api/lamps/{id}", "parameterMapping": {"id": "/id"}}
_BY_ID = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
_ADDS = {
    "type": "HTTP",
    "method": "POST",
    "urlTemplate": "/api/lamps",
    "encoding": "json",
    "parameterMapping": {"name": "/name", "password": "/password"},
}
_LISTS = {
    "id": "list_lamps",
    "v": 1,
    "description": "List",
    "parameters": {"type": "object", "properties": {"page": {"type": "integer"}}},
    "action": {
        "type": "HTTP",
        "method": "GET",
        "urlTemplate": "/api/lamps{?page}",
        "parameterMapping": {"page": "/page"},
    },
}
SOUND: dict[str, Any] = {
    "$schema": "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json",
    "protocol": "AURA",
    "version": "1.0",
    "site": {"name": "Lamps", "url": "https://lamps.example"},
    "resources": {
        "lamps": {
            "uriPattern": "/api/lamps",
            "description": "Lamps",
            "operations": {"POST": {"capabilityId": "add_lamp"}},
        },
        "lamp": {
            "uriPattern": "/api/lamps/{id}",
            "description": "A lamp",
            "operations": {"GET": {"capabilityId": "get_lamp"}},
        },
    },
    "capabilities": {
        "get_lamp": {"id": "get_lamp", "v": 1, "description": "Get", "parameters": _BY_ID, "action": _SENDS_ID},
        "add_lamp": {
            "id": "add_lamp",
            "v": 1,
            "description": "Add",
            "parameters": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "password": {"type": "string"}},
            },
            "action": _ADDS,
        },
    },
    "policy": {"authHint": "cookie"},
}

Mistake = Callable[[dict[str, Any]], object]


def _get(manifest: dict[str, Any]) -> Any:
    return manifest["capabilities"]["get_lamp"]


def _lamp(manifest: dict[str, Any]) -> Any:
    return manifest["resources"]["lamp"]


def _also_lists(manifest: dict[str, Any]) -> None:
    manifest["capabilities"].update(list_lamps=_LISTS)
    manifest["resources"]["lamps"]["operations"].update(GET={"capabilityId": "list_lamps"})


def _renamed(object_: dict[str, Any], old: str, new: str) -> None:
    object_[new] = object_.pop(old)


MISTAKES: list[tuple[str, Mistake, str, str]] = [
    ("action flattened", lambda m: _get(m).update(_get(m).pop("action")), "schema-required", '"urlTemplate"'),
    (
        "operations a list",
        lambda m: _lamp(m).update(operations=[{"GET": {"capabilityId": "get_lamp"}}]),
        "schema-type",
        "must be an object",
    ),
    (
        "operations misspelt",
        lambda m: _renamed(_lamp(m), "operations", "operation"),
        "schema-unknown-member",
        "operations",
    ),
    (
        "an operation as a text",
        lambda m: _lamp(m)["operations"].update(GET="get_lamp"),
        "schema-type",
        '{"capabilityId": ',
    ),
    (
        "parameterMapping misspelt beside a password",
        lambda m: _renamed(m["capabilities"]["add_lamp"]["action"], "parameterMapping", "paramterMapping"),
        "schema-unknown-member",
        '"parameterMapping"',
    ),
    (
        "url for urlTemplate",
        lambda m: _renamed(_get(m)["action"], "urlTemplate", "url"),
        "schema-unknown-member",
        'did you mean "urlTemplate"?',
    ),
    ("url for uriPattern", lambda m: _renamed(_lamp(m), "uriPattern", "url"), "schema-unknown-member", '"uriPattern"'),
    ("required a flag", lambda m: _get(m).update(parameters=_BY_ID | {"required": True}), "schema-type", "array"),
    (
        "required of a name that is none",
        lambda m: _get(m).update(parameters=_BY_ID | {"required": ["idd"]}),
        "parameters-required",
        '"id"',
    ),
    (
        "parameters misspelt",
        lambda m: _renamed(_get(m), "parameters", "paramaters"),
        "schema-unknown-member",
        "parameters",
    ),
    (
        "parameters without properties",
        lambda m: _get(m).update(parameters={"id": {"type": "string"}}),
        "mapping-unknown-parameter",
        '"properties"',
    ),
    (
        "properties as a list",
        lambda m: _get(m).update(parameters=_BY_ID | {"properties": [{"name": "id", "type": "string"}]}),
        "schema-type",
        "object",
    ),
    ("parameters as a list", lambda m: _get(m).update(parameters=["id"]), "schema-type", "object"),
    (
        "a range without anything in it",
        lambda m: _get(m)["parameters"]["properties"]["id"].update(type="integer", minimum=9, maximum=2, default=5),
        "parameters-range",
        "below",
    ),
    (
        "the site itself without TLS",
        lambda m: _get(m)["action"].update(urlTemplate="http://lamps.example/api/lamps/{id}"),
        "url-insecure",
        "use https",
    ),
    (
        "a variable of the path misspelt",
        lambda m: _get(m)["action"].update(urlTemplate="/api/lamps/{ID}"),
        "template-variable-unmapped",
        'did you mean "id"?',
    ),
    (
        "a required parameter mapped to a number",
        lambda m: (
            m["capabilities"]["add_lamp"]["parameters"].update(required=["name"]),
            m["capabilities"]["add_lamp"]["action"]["parameterMapping"].update(name=5),
        ),
        "mapping-pointer",
        "must be mapped to a JSON Pointer, not the number 5",
    ),
    (
        "an operation that runs the neighbour",
        lambda m: (
            _also_lists(m),
            m["resources"]["lamps"]["operations"]["POST"].update(capabilityId="list_lamps"),
        ),
        "operation-method",
        'did you mean "add_lamp"?',
    ),
    (
        "the pattern of the resource before",
        lambda m: (_also_lists(m), _lamp(m).update(uriPattern="/api/lamps")),
        "resource-uri-pattern",
        '"/api/lamps/{id}"',
    ),
    (
        "the pattern of the resource behind",
        lambda m: (_also_lists(m), m["resources"]["lamps"].update(uriPattern="/api/lamps/{id}")),
        "resource-uri-pattern",
        '"/api/lamps"',
    ),
    ("parameters of a list", lambda m: _get(m)["parameters"].update(type="array"), "parameters-object", "an object"),
    (
        "a bound of another type that is none",
        lambda m: _get(m)["parameters"]["properties"]["id"].update(minItems=-1),
        "parameters-schema",
        "a whole number from 0 on",
    ),
]


def test_the_manifest_is_sound() -> None:
    assert manifest_schema() and check(json.dumps(SOUND, indent=2)) == []


@pytest.mark.parametrize(("make", "rule", "says"), [each[1:] for each in MISTAKES], ids=[each[0] for each in MISTAKES])
def test_a_mistake_is_told_once_with_what_to_do(make: Mistake, rule: str, says: str) -> None:
    manifest = deepcopy(SOUND)
    make(manifest)
    found = check(json.dumps(manifest, indent=2))
    assert [each.rule for each in found] == [rule], [each.message for each in found]
    assert says in found[0].message


def test_a_second_mistake_beside_the_first_is_told() -> None:
    manifest = deepcopy(SOUND)
    _lamp(manifest)["operations"] = []
    manifest["capabilities"]["add_lamp"]["token"] = "ghp_" + "1a2B3c4D5e6F7g8H9i0J" + "k1L2m3N4o5P6q7R8"
    _renamed(_get(manifest)["action"], "method", "verb")
    assert {each.rule for each in check(json.dumps(manifest))} >= {
        "schema-type",
        "schema-unknown-member",
        "secret-token",
    }


def test_what_stands_beside_an_object_is_told_with_the_first_that_it_lacks() -> None:
    manifest = deepcopy(SOUND)
    _get(manifest).update(_get(manifest).pop("action"))
    del _get(manifest)["v"]
    found = check(json.dumps(manifest))
    assert [each.rule for each in found] == ["schema-required"] * 2
    assert sum("beside it has no meaning here" in each.message for each in found) == 1


def test_of_a_list_of_required_names_that_is_no_json_nothing_else_is_told() -> None:
    text = json.dumps(SOUND).replace('"required": ["id"]', '"required": [id]')
    assert [each.rule for each in check(text)] == ["json-syntax"]


def test_a_capability_gets_the_method_of_the_operation_that_runs_it() -> None:
    manifest = deepcopy(SOUND)
    del manifest["capabilities"]["add_lamp"]["action"]["method"]
    text = json.dumps(manifest, indent=2)
    (found,) = check(text)
    assert found.fix is not None and json.loads(edited(text, found.fix.edits)) == SOUND


@pytest.mark.parametrize(
    ("make", "title"),
    [
        (lambda m: _lamp(m)["operations"]["GET"].update(capabilityId=["get_lamp"]), 'Write "get_lamp"'),
        (lambda m: _get(m)["parameters"].update(additionalProperties="false"), "Write false"),
    ],
    ids=["a list of one text", "a flag as a text"],
)
def test_what_was_put_in_the_wrong_clothes_is_offered_without_them(make: Mistake, title: str) -> None:
    manifest = deepcopy(SOUND)
    make(manifest)
    (found,) = check(json.dumps(manifest))
    assert found.fix is not None and found.fix.title == title


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (lambda m: _get(m)["action"], {"urlTemplate": "/api/lamps/{id}?api_key=KEY"}),
        (lambda m: _get(m)["action"], {"urlTemplate": "/api/lamps/{id}?a=1&api_key=KEY&b=2"}),
        (lambda m: m["site"], {"x-api-key": "KEY"}),
        (lambda m: m["site"], {"url": "https://lamps.example?api_key=KEY"}),
    ],
    ids=["in a query", "between others", "named like one", "in the site's address"],
)
def test_a_secret_is_told_once(place: Callable[[Any], Any], value: dict[str, str]) -> None:
    manifest = deepcopy(SOUND)
    secret = "ghp_" + "1a2B3c4D5e6F7g8H9i0J" + "k1L2m3N4o5P6q7R8"
    place(manifest).update({name: text.replace("KEY", secret) for name, text in value.items()})
    text = json.dumps(manifest)
    (found,) = check(text)
    assert found.rule == "secret-token"
    assert text[found.start : found.end] == secret
    assert (found.fix is None) == ("x-api-key" in value), "from a query it can go, by whichever rule"
    assert found.fix is None or check(edited(text, found.fix.edits)) == []


@pytest.mark.parametrize(
    "end", ['"resources": [ {', '"resources": [', '"resources": ', '"resources"', '"reso', '"a": [1, "b']
)
def test_a_text_that_was_cut_is_one_finding(end: str) -> None:
    assert [each.rule for each in check("{\n" + end)] == ["json-syntax"]
