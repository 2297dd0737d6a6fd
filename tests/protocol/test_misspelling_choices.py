"""Choices of guesses at what a member was meant to be, a rule each."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_manifest.json.document import Object
from aurora_manifest.json.parser import parse
from aurora_manifest.misspellings import Guesses, misspelt_members
from aurora_manifest.shape import Shapes

TEXT = {"type": "string"}


def guessed(text: str, schema: dict[str, Any], guesses: Guesses | None = None) -> list[tuple[str | None, str]]:
    found = misspelt_members(parse(text), Shapes(schema).root, guesses or Guesses())
    return [(each.meant, each.finding.severity) for each in found]


@pytest.mark.parametrize(
    ("text", "schema", "found"),
    [
        pytest.param('{"template": 1}', {"properties": {"urlTemplate": {}}}, [], id="half of it is not enough"),
        pytest.param(
            '{"describe": "x"}', {"properties": {"description": TEXT}}, [], id="not alike enough for what may be absent"
        ),
        pytest.param(
            '{"describe": "x"}',
            {"properties": {"description": TEXT}, "required": ["description"]},
            [("description", "error")],
            id="but for what is missing",
        ),
        pytest.param(
            '{"desc": "x", "y": 1}',
            {"properties": {"description": TEXT}, "required": ["description"]},
            [("description", "error")],
            id="what is missing, cut off",
        ),
        pytest.param(
            '{"desc": "x", "y": 1}', {"properties": {"description": TEXT}}, [], id="cut off, where it may be absent"
        ),
        pytest.param(
            '{"enc": "json"}',
            {"properties": {"encoding": {"type": "string", "enum": ["json"]}}},
            [("encoding", "warning")],
            id="cut off, with one of the few values it can have",
        ),
        pytest.param(
            '{"enc": "other"}', {"properties": {"encoding": {"type": "string", "enum": ["json"]}}}, [], id="not another"
        ),
        pytest.param(
            '{"policies": 1}', {"properties": {"policy": {}}}, [("policy", "warning")], id="more than one of it"
        ),
        pytest.param(
            '{"verb": "GET"}',
            {"properties": {"method": {"type": "string", "enum": ["GET"]}}, "required": ["method"]},
            [("method", "error")],
            id="by its value, where it alone is missing",
        ),
        pytest.param(
            '{"verb": "GET"}',
            {"properties": {"method": {"type": "string", "enum": ["GET"]}, "z": {}}, "required": ["method", "z"]},
            [],
            id="not where more is",
        ),
        pytest.param(
            '{"verb": "GET", "word": "GET"}',
            {"properties": {"method": {"type": "string", "enum": ["GET"]}}, "required": ["method"]},
            [],
            id="nor where two could be it",
        ),
        pytest.param(
            '{"verb": "GET", "x-own": 1, "$comment": ""}',
            {"properties": {"method": {"type": "string", "enum": ["GET"]}}, "required": ["method"]},
            [("method", "error")],
            id="what is one's own is none of them",
        ),
        pytest.param('{"x-b": 1}', {"properties": {"x-a": {}}}, [], id="a name of one's own"),
        pytest.param('{"titel": ?, "x": 1}', {"properties": {"title": {}}}, [], id="where its value cannot be read"),
        pytest.param(
            '{"x-b": 1}',
            {"properties": {"a": {}}, "additionalProperties": False},
            [(None, "error")],
            id="which a closed object has not",
        ),
        pytest.param(
            '{"dependencies": {}}',
            {"properties": {"dependentSchemas": {}, "dependency": {}}},
            [],
            id="a keyword of older days",
        ),
        pytest.param('{"ref": {}}', {"properties": {"$ref": TEXT}}, [], id="a parameter that is called like a keyword"),
        pytest.param('{"ref": "#/x"}', {"properties": {"$ref": TEXT}}, [("$ref", "warning")], id="a keyword without $"),
        pytest.param(
            '{"type": "string", "min": 1}',
            {"properties": {"type": TEXT, "minLength": {}, "minItems": {}, "minimum": {}}},
            [("minLength", "warning")],
            id="a word for what its type has",
        ),
        pytest.param(
            '{"titel": 1, "title": 2}', {"properties": {"title": {}}}, [], id="what is there is not meant once more"
        ),
    ],
)
def test_what_a_name_was_meant_to_be(text: str, schema: dict[str, Any], found: list[tuple[str | None, str]]) -> None:
    assert guessed(text, schema) == found


def test_guesses_end_where_they_have_cost_enough_and_what_was_guessed_stays() -> None:
    schema: dict[str, Any] = {"properties": {"title": {}, "other": {}}}
    text = '{"titel": 1, "x": {"titel": 2}, "othr": 3, "titel": 4}'
    assert guessed(text, schema, Guesses(2)) == [("title", "warning"), ("title", "warning")]


def test_a_name_that_stands_twice_is_looked_at_in_both_places() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"properties": {"title": {}}}}}
    document = parse('{"a": {"titel": 1}, "a": {"title": 1}}')
    assert isinstance(document.root, Object)
    sound = frozenset(id(each.value.value) for each in document.root.members)
    found = misspelt_members(document, Shapes(schema).root, Guesses(), sound)
    assert [each.meant for each in found] == ["title"]
