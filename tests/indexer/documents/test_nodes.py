"""Nodes of documents: which names a document refers to, and where a line starts."""

import json
from typing import Any

import pytest

from aurora_indexer.documents.nodes import MAX_REFERENCES, documentation, line_start, referred
from aurora_manifest.json.parser import parse


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


@pytest.mark.parametrize(
    ("document", "names"),
    [
        pytest.param({"b": ref("B"), "a": ref("A")}, ["B", "A"], id="in the order of the text"),
        pytest.param({"all": [ref("B"), ref("A")]}, ["B", "A"], id="in arrays too"),
        pytest.param({"b": ref("A"), "a": ref("A")}, ["A"], id="each once"),
        pytest.param({"b": {"$ref": "#"}, "c": {"$ref": "x#/"}}, [], id="the document itself is no name"),
        pytest.param({"b": {"$ref": 5}, "c": {"ref": "#/A"}}, [], id="only what is one"),
        pytest.param({str(n): ref(f"N{n}") for n in range(MAX_REFERENCES + 1)},
                     [f"N{n}" for n in range(MAX_REFERENCES)], id="the first of too many"),
    ],
)  # fmt: skip
def test_which_names_a_document_refers_to(document: dict[str, Any], names: list[str]) -> None:
    root = parse(json.dumps(document)).root
    assert root is not None and referred(root) == names


@pytest.mark.parametrize(("text", "start"), [("a\n  b", 2), ("a\nx b", 4), ("a\n" + " " * 500 + "b", 502), ("b", 0)])
def test_a_line_starts_before_its_indentation(text: str, start: int) -> None:
    assert line_start(text, text.rindex("b")) == start


def test_documentation_is_what_those_names_say_in_their_order() -> None:
    root = parse('{"title": "T", "description": "D", "summary": 5}').root
    assert root is not None and documentation(root, "description", "title", "summary") == "D\n\nT"
