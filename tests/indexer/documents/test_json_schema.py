"""Chunks of JSON Schemas: what is one, and what its chunks say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_indexer.documents.document_parser import parse_document
from aurora_indexer.documents.json_schema import heading, is_json_schema
from aurora_manifest.json.parser import parse


@pytest.mark.parametrize(
    ("document", "is_one"),
    [
        pytest.param({"$schema": "http://json-schema.org/draft-07/schema#"}, True, id="that says so"),
        pytest.param({"$schema": "https://example.org/x"}, False, id="not of any other"),
        pytest.param({"$defs": {}, "type": "object"}, True, id="or is built so"),
        pytest.param({"definitions": {}, "anyOf": []}, True, id="in the old way too"),
        pytest.param({"definitions": {}, "title": "x"}, False, id="definitions alone are anything's"),
        pytest.param({"properties": {}, "type": "object"}, False, id="and so are properties"),
        pytest.param({"$defs": [], "type": "object"}, False, id="a list defines nothing"),
    ],
)
def test_what_is_a_schema(document: dict[str, Any], is_one: bool) -> None:
    assert is_json_schema(parse(json.dumps(document)).root) is is_one


@pytest.mark.parametrize(
    ("schema", "line"),
    [
        pytest.param({"properties": {"a": {}, "b": {}}, "type": "object"}, "X {a, b}", id="its properties"),
        pytest.param({"enum": ["a", 1, {}], "type": "string"}, "X: a | 1", id="else its choices"),
        pytest.param({"type": "integer"}, "X: integer", id="else its type"),
        pytest.param({"type": ["integer", "null"]}, "X", id="where it has one"),
        pytest.param({"properties": {f"p{n:02}": {} for n in range(13)}},
                     f"X {{{', '.join(f'p{n:02}' for n in range(12))}, …}}", id="twelve of them"),
    ],
)  # fmt: skip
def test_a_schema_in_a_line(schema: dict[str, Any], line: str) -> None:
    root = parse(json.dumps(schema)).root
    assert root is not None and heading("X", root) == line


def test_a_definition_is_documented_by_its_title_and_its_description() -> None:
    pet = {"title": "A pet", "description": "Sold or not.", "type": "object"}
    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Shop", "description": "All there is.",
        "$defs": {"Pet": pet},
    }  # fmt: skip
    parsed = parse_document("shop.schema.json", json.dumps(document, indent=1).encode())
    assert parsed is not None
    docs = {chunk.name: chunk.docstring for chunk in parsed.chunks}
    assert docs == {"Shop": "All there is.", "Pet": "A pet\n\nSold or not."}
