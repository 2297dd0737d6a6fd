"""What documents say word by word: links and names of a line, the API of a file, and what is confidently known."""

from __future__ import annotations

import json
from typing import Any

import pytest

from aurora_indexer.documents.content import confidence_of, knowledge_content
from aurora_indexer.documents.document_parser import parse_document
from aurora_indexer.documents.inline_markup import plain, references, web_links, within
from aurora_indexer.documents.openapi import is_openapi
from aurora_manifest.json.parser import parse


@pytest.mark.parametrize(
    ("written", "read"),
    [
        pytest.param("[Run](a.md) it", "Run it", id="link"),
        pytest.param("![Plan](a.png)", "Plan", id="picture"),
        pytest.param("[Run][id] and [b]", "Run and b", id="link by name"),
        pytest.param(":py:func:`run`", "run", id="role"),
        pytest.param("Run {#run-it}", "Run", id="a heading's id"),
        pytest.param("a {#b} c", "a {#b} c", id="which ends the line"),
        pytest.param("<b>Run</b> <!-- not this -->it", "Run it", id="tags"),
        pytest.param("a < b > c", "a < b > c", id="no tag"),
        pytest.param("**Run** _it_ ~~now~~ `here`", "Run it now here", id="marks"),
        pytest.param("snake_case", "snake_case", id="an underscore within a word"),
        pytest.param("  a \t b ", "a b", id="white space"),
    ],
)
def test_a_line_is_read_without_its_marks(written: str, read: str) -> None:
    assert plain(written) == read


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("`run`", ["mentions run -"], id="name"),
        pytest.param("``run``", ["mentions run -"], id="two marks"),
        pytest.param("`Cart.total()`", ["mentions total Cart"], id="member"),
        pytest.param("`a::b->c#del`", ["mentions del a.b.c"], id="joints of every language"),
        pytest.param("`run(a, b)`", ["mentions run -"], id="called"),
        pytest.param("`abc` `ab`", ["mentions abc -"], id="three letters at least"),
        pytest.param("`run now`", [], id="two words"),
        pytest.param("run", [], id="no mark"),
        pytest.param("`src/a.py`", ["links - src/a.py"], id="path"),
        pytest.param("`a.py`", [], id="a suffix of two letters"),
        pytest.param("[x](b.md) ![y](<c.png> \"t\")", ["links - docs/b.md", "links - docs/c.png"], id="links"),
    ],
)  # fmt: skip
def test_what_a_passage_refers_to(text: str, named: list[str]) -> None:
    found = references(text, "docs/a.md")
    assert [f"{each.kind} {each.name or '-'} {each.qualifier or '-'}" for each in found] == named


@pytest.mark.parametrize(
    ("target", "file", "fragment"),
    [
        pytest.param("b.md", "docs/b.md", "", id="beside"),
        pytest.param("../b.md#part", "b.md", "part", id="above, with a part"),
        pytest.param("/src/b.py", "src/b.py", "", id="from the root"),
        pytest.param("#part%20two", "docs/a.md", "part two", id="in the same document"),
        pytest.param("b%20c.md?raw=1", "docs/b c.md", "", id="escaped, with a query"),
        pytest.param("../../b.md", None, "", id="outside"),
        pytest.param("..", None, "", id="the workspace itself"),
        pytest.param("/", None, "", id="which is no file"),
        pytest.param("https://a.example", None, "", id="an address"),
        pytest.param("mailto:a@b.example", None, "", id="of any scheme"),
        pytest.param("//a.example/b.md", None, "", id="or without one"),
        pytest.param("", None, "", id="nothing"),
    ],
)
def test_where_a_link_leads(target: str, file: str | None, fragment: str) -> None:
    found = within(target, "docs/a.md")
    assert (found and found.qualifier) == file
    assert found is None or found.name == fragment


def test_addresses_end_before_what_ends_a_sentence_and_are_named_once() -> None:
    text = "See https://a.example/x. And (http://b.example/y), *https://c.example/z*! Again: https://a.example/x?"
    assert web_links(text) == ["https://a.example/x", "http://b.example/y", "https://c.example/z"]
    assert web_links("ftp://a.example") == []


def known(text: str, language: str = "markdown", **more: Any) -> Any:
    given = {"path": "docs/a.md", "name": "A", "signature": "# A", "docstring": "", "keywords": (), **more}
    return knowledge_content(language=language, text=text, **given)


def test_sources_are_the_document_the_addresses_it_names_and_then_its_files_each_once() -> None:
    text = "[b](b.md) https://a.example [again](b.md) [me](#here) `src/c.py`"
    assert known(text).sources == ("docs/a.md", "https://a.example", "src/c.py", "docs/b.md")


MARKED = [
    "+++ a rule here",
    "=== a rule here",
    ".. directive here",
    ":field: said here",
    "<!-- remarks here -->",
    "--- a rule here",
    "## a heading here",
    "| a | table here |",
]


@pytest.mark.parametrize("line", MARKED)
def test_what_is_marked_is_no_statement(line: str) -> None:
    assert [fact.statement for fact in known(f"{line}\nIt is said below.\n").facts] == ["It is said below."]


@pytest.mark.parametrize("bullet", ["-", "*", "+", "1.", "123)", "  -"])
def test_bullets_of_every_kind_are_statements(bullet: str) -> None:
    assert [fact.statement for fact in known(f"{bullet} the first of them\n{bullet} the second one\n").facts] == [
        "the first of them",
        "the second one",
    ]


def test_of_a_definition_the_signature_and_its_sentences_are_facts_however_short() -> None:
    found = known("", "sql", signature="CREATE TABLE a", docstring="One. Two\nlines.\n\nThree", path="a.sql")
    assert [fact.statement for fact in found.facts] == ["CREATE TABLE a", "One.", "Two lines.", "Three"]
    assert known("", "sql", signature="", docstring="One.").facts[0].statement == "One."
    assert known("", "restructuredtext", signature="**Part** one").topic == "Part one"
    assert known("", "sql", signature="**Part** one").topic == "**Part** one"


def test_statements_and_summaries_are_cut() -> None:
    long = known(f"{'word ' * 100}", docstring="x" * 400)
    assert len(long.summary) == 300 and len(long.facts[0].statement) == 400


@pytest.mark.parametrize(
    ("language", "tags", "confidence"),
    [
        ("openapi", (), 1.0),
        ("json-schema", (), 1.0),
        ("markdown", ("guide", "convention"), 0.9),
        ("markdown", ("convention", "changelog"), 0.9),
        ("restructuredtext", (), 0.7),
    ],
)
def test_of_purposes_the_first_that_tells_counts(language: str, tags: tuple[str, ...], confidence: float) -> None:
    assert confidence_of(language, tags) == confidence


@pytest.mark.parametrize(
    ("document", "is_one"),
    [
        ({"openapi": "3.1.0"}, True),
        ({"swagger": "2.0"}, True),
        ({"openapi": "4.0.0"}, True),
        ({"openapi": "1.0"}, False),
        ({"openapi": "30"}, False),
        ({"swagger": 2.0}, True),
        ({"openapi": None, "swagger": "2.0"}, True),
        ({"version": "3.1.0"}, False),
        ([], False),
    ],
)
def test_what_is_an_api(document: Any, is_one: bool) -> None:
    assert is_openapi(parse(json.dumps(document)).root) is is_one


def api(document: dict[str, Any]) -> dict[str, tuple[str, str, str]]:
    """The chunks of a document by name: kind, signature, documentation."""
    parsed = parse_document("api/openapi.json", json.dumps({"openapi": "3.1.0", **document}, indent=1).encode())
    assert parsed is not None
    return {each.name: (each.kind, each.signature, each.docstring) for each in parsed.chunks}


@pytest.mark.parametrize("method", "get put post delete options head patch trace query".split())
def test_an_operation_is_of_any_method(method: str) -> None:
    found = api({"paths": {"/a": {method: {"summary": "Does."}, "parameters": {"summary": "None."}}}})
    (told,) = [each for each in found.values() if each[0] == "operation"]
    assert told == ("operation", f"{method.upper()} /a", "Does.")


def test_operations_go_by_their_id_else_by_what_is_asked_and_hooks_count() -> None:
    found = api(
        {
            "info": {"title": "Shop", "version": "2", "description": "Sells.", "summary": "A shop."},
            "paths": {"/a": {"GET": {"operationId": "listed", "description": "More.", "summary": "Lists."}}},
            "webhooks": {"sold": {"post": {"description": "Tells."}}},
            "components": {"schemas": {"Pet": {"type": "object"}}},
        }
    )
    module = found.pop("<module>")
    assert module == ("schema", "Shop 2", "A shop.\n\nSells.")
    assert found.pop("listed") == ("operation", "GET /a", "Lists.\n\nMore.")
    assert found.pop("Pet") == ("schema", "Pet: object", "")
    assert list(found.values()) == [("operation", "POST sold", "Tells.")]


def test_schemas_of_the_old_kind_are_definitions() -> None:
    assert "Pet" in api({"definitions": {"Pet": {"properties": {"id": {}}}}})
