"""Small real documents of every format, cut into knowledge chunks."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer import documents
from aurora_indexer.documents.document_parser import parse_document
from aurora_memory.chunks import CodeChunk, ParsedFile, Reference
from aurora_memory.term_counts import terms_in
from aurora_memory.tokens import terms

SAMPLES = Path(__file__).parent / "samples"


def body(chunk: CodeChunk) -> frozenset[str]:
    """The body terms of a chunk's first part."""
    return terms_in("body", chunk.parts[0].occurrences)


def parsed(name: str, folder: str = "docs") -> ParsedFile:
    found = parse_document(f"{folder}/{name}", (SAMPLES / name).read_bytes())
    assert found is not None
    return found


def text_of(chunk: CodeChunk) -> str:
    lines = (SAMPLES / Path(chunk.path).name).read_text(encoding="utf-8").split("\n")
    return "\n".join(lines[chunk.line_start - 1 : chunk.line_end])


def by_name(file: ParsedFile) -> dict[str, CodeChunk]:
    named = {chunk.name: chunk for chunk in file.chunks}
    assert len(named) == len(file.chunks)
    return named


def test_markdown_has_a_chunk_for_each_heading() -> None:
    chunks = by_name(parsed("guide.md"))
    assert [chunk.id for chunk in chunks.values()] == [
        "know:docs/guide.md:Shop guide:1-8",
        "know:docs/guide.md:Shop:10-13",
        "know:docs/guide.md:Shop.Install:15-15",
        "know:docs/guide.md:Shop.Install.Linux:17-25",
        "know:docs/guide.md:Shop.Install.Version 1_2 macOS:27-29",
        "know:docs/guide.md:Shop.Returns:31-37",
    ]
    assert {chunk.kind for chunk in chunks.values()} == {"section"}
    linux = chunks["Shop.Install.Linux"]
    assert (linux.signature, linux.parent) == ("### Linux", "Shop.Install")
    assert text_of(linux).startswith("### Linux\n\n```sh") and text_of(linux).endswith("as well.")
    assert linux.docstring == "Needs Python 3.11 or newer.\nRuns on Node.js as well."
    assert set(terms("not a head either")) - {"a"} <= body(linux)
    assert chunks["Shop.Returns"].signature == "## Returns"
    assert chunks["Shop.Returns"].docstring == "Goods come back within 30 days."
    assert chunks["Shop guide"].docstring == "How the shop is run."


def test_markdown_refers_to_names_in_code_marks_and_to_linked_files() -> None:
    assert by_name(parsed("guide.md"))["Shop"].references == (
        Reference("mentions", "total_price", ""),
        Reference("mentions", "pay", "Checkout"),
        Reference("links", "", "src/checkout.py"),
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("# a\n```\n# b\n", ["a"]),
        ("- item\n\n  ```\n  # b\n  ```\n# c\n", ["<module>", "c"]),
        ("    # code\n# a #b\n## c ##\n", ["<module>", "a #b", "a #b.c"]),
        ("#hashtag\n", ["<module>"]),
        ("text\n\n---\n\nmore\n", ["<module>"]),
        ("a\nb\n===\nc\n", ["a b"]),
        ("- item\n---\n", ["<module>"]),
        ("# A.B: [c](d) `e_f` *g*\n", ["A_B c e_f g"]),
        ("# same\n# same\n", ["same", "same"]),
        ("#\n", ["Untitled"]),
        ("# a\r\ntext\r\n## b\r\n", ["a", "a.b"]),
        ("<!--\n# no\n-->\n![badge](x.svg)\n# yes\n", ["<module>", "yes"]),
        ("<!-- one -->\n\n# yes\n", ["yes"]),
        ("\ufeff# bom\n", ["bom"]),
        ("", []),
        ("\n\n", []),
    ],
)
def test_which_lines_are_headings(text: str, names: list[str]) -> None:
    found = parse_document("a.md", text.encode())
    assert found is not None
    assert [chunk.name for chunk in found.chunks] == names
    keys = [(chunk.name, chunk.ordinal) for chunk in found.chunks]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("---\ntitle: Guide\n---\n\nHello.\n\n# Start\n", ["Guide", "Start"], id="by its title"),
        pytest.param("---\ntitle: Guide\n---\n\nHello.\n", ["Guide"], id="also where no heading follows"),
        pytest.param("Hello.\n\n# Start\n", ["<module>", "Start"], id="as the rest of its file without one"),
        pytest.param(
            "---\ntitle: Start\n---\n\nHello.\n\n# *Start*\n",
            ["<module>", "Start"],
            id="so too where the first heading says the title again: that is what people call so",
        ),
        pytest.param("---\ntitle: Guide\n---\n\n# Start\n", ["Guide", "Start"], id="a title alone says something"),
    ],
)
def test_what_stands_before_the_first_heading_is_called(text: str, names: list[str]) -> None:
    found = parse_document("a.md", text.encode())
    assert found is not None and [chunk.name for chunk in found.chunks] == names


def test_a_long_section_is_cut_between_blocks() -> None:
    blocks = [f"Paragraph {number} " + "wörter " * 100 for number in range(30)]
    found = parse_document("a.md", ("# Long\n\n" + "\n\n".join(blocks)).encode())
    assert found is not None
    (chunk,) = found.chunks
    assert len(chunk.parts) > 3
    assert chunk.parts[-1].line_end == chunk.line_end == 61
    for before, after in zip(chunk.parts, chunk.parts[1:], strict=False):
        assert before.line_end < after.line_start
        assert (after.line_start - 3) % 2 == 0  # where a paragraph starts


def test_restructuredtext_levels_follow_the_marks() -> None:
    text = "=====\nTitle\n=====\n\nAbout ``get_user``.\n\nOne\n---\n\nFirst.\n\n"
    text += "Deep\n~~~~\n\n::\n\n    Not\n    ---\n\nTwo\n---\n"
    found = parse_document("docs/index.rst", text.encode())
    assert found is not None
    assert [chunk.name for chunk in found.chunks] == ["Title", "Title.One", "Title.One.Deep", "Title.Two"]
    assert found.chunks[0].references == (Reference("mentions", "get_user"),)
    assert found.chunks[1].docstring == "First."


def test_openapi_has_operations_and_schemas() -> None:
    file = parsed("petstore.yaml")
    assert (file.language, file.syntax_errors) == ("openapi", 0)
    chunks = by_name(file)
    assert {name: chunk.kind for name, chunk in chunks.items()} == {
        "<module>": "schema",
        "pets_list": "operation",
        "DELETE /pets/{id}": "operation",
        "Pet": "schema",
        "Tag": "schema",
    }
    listed = chunks["pets_list"]
    assert listed.signature == "GET /pets"
    assert listed.docstring == "List pets\n\nNewest first,\na page at a time."
    assert listed.references == (Reference("mentions", "Pet"),)
    assert text_of(listed).split("\n")[0] == "    get:" and terms("limit")[0] in body(listed)
    assert (listed.line_start, listed.line_end) == (12, 25)
    assert chunks["Pet"].signature == "Pet {id, tag}"
    assert chunks["Tag"].signature == "Tag: cat | dog"
    assert terms("cat")[0] not in body(chunks["<module>"])


def test_the_same_api_as_json_gives_the_same_chunks() -> None:
    import json

    import yaml

    as_yaml = parsed("petstore.yaml")
    text = json.dumps(yaml.safe_load((SAMPLES / "petstore.yaml").read_text()), indent=1)
    as_json = parse_document("docs/petstore.json", text.encode())
    assert as_json is not None

    def told(file: ParsedFile) -> list[tuple[str, str, str, str]]:
        return [(chunk.name, chunk.kind, chunk.signature, chunk.docstring) for chunk in file.chunks]

    assert told(as_json) == told(as_yaml)


def test_json_schema_has_its_root_and_definitions() -> None:
    file = parsed("order.schema.json")
    assert file.language == "json-schema"
    chunks = by_name(file)
    assert {name: (chunk.line_start, chunk.line_end) for name, chunk in chunks.items()} == {
        "Order": (1, 16),
        "line": (11, 14),
    }
    assert chunks["Order"].signature == "Order {lines, note}"
    assert chunks["line"].docstring == "One product and how many of it."
    assert chunks["line"].parent == "Order"
    assert terms("sku")[0] not in body(chunks["Order"])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", '{"name": "openapi-tools", "version": "3.0.0"}'),
        ("tsconfig.json", '{"$schema": "https://json.schemastore.org/tsconfig", "definitions": 1, "properties": 2}'),
        ("values.yaml", "swagger:\n  enabled: true\n"),
        ("list.json", '["$defs"]'),
        ("broken.yaml", "openapi: [\n"),
        ("broken.json", '"openapi'),
        ("empty.yaml", ""),
        ("notes.txt", "# not ours"),
    ],
)
def test_other_data_is_left_alone(path: str, text: str) -> None:
    assert parse_document(path, text.encode()) is None


def test_sql_has_tables_views_and_routines() -> None:
    chunks = by_name(parsed("shop.sql"))
    assert {name: chunk.kind for name, chunk in chunks.items()} == {
        "<module>": "section",
        "shop.customers": "table",
        "open_orders": "view",
        "total": "operation",
        "stock": "operation",
        "orders": "table",
    }
    customers = chunks["shop.customers"]
    assert customers.signature == "CREATE TABLE IF NOT EXISTS shop.customers (id, full name, price)"
    assert customers.docstring == "Who may buy.\nOne row for each person."
    assert (customers.line_start, customers.line_end) == (3, 10)
    assert [each.name for each in chunks["open_orders"].references] == ["orders", "customers"]
    assert chunks["total"].signature == "CREATE FUNCTION total(order_id bigint) RETURNS numeric"
    assert text_of(chunks["stock"]).endswith("END;")
    assert chunks["orders"].references == (Reference("mentions", "customers"),)
    rest = chunks["<module>"]
    assert rest.docstring == "The shop's database; run once."
    assert terms("custom")[0] in body(rest) and terms("shelf")[0] not in body(rest)


@pytest.mark.parametrize(
    ("path", "tags"),
    [
        ("docs/adr/0007-use-sqlite.md", ("adr", "decision")),
        ("ADR-12.md", ("adr", "decision")),
        ("CONTRIBUTING.md", ("convention",)),
        ("docs/style-guide.rst", ("convention",)),
        ("CHANGELOG.md", ("changelog",)),
        ("docs/quadratic.md", ()),
    ],
)
def test_the_path_tells_the_purpose(path: str, tags: tuple[str, ...]) -> None:
    found = parse_document(path, b"# One\n\nWe always use spaces between many interesting telling words.\n")
    assert found is not None
    assert documents.tags_of(path) == tags
    assert found.chunks[0].keywords[: len(tags)] == tags
    assert {"adr", "decision", "convention", "changelog"} & set(found.chunks[0].keywords) == set(tags)
