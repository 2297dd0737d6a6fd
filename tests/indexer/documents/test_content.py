"""A knowledge chunk's content in the form of AURORA §6.3.5."""

from __future__ import annotations

from pathlib import Path

from aurora_indexer.documents.content import knowledge_content
from aurora_indexer.documents.document_parser import parse_document
from aurora_memory.documents import KnowledgeContent

SAMPLES = Path(__file__).parent / "samples"


def content(file: str, name: str, folder: str = "docs") -> KnowledgeContent:
    source = (SAMPLES / file).read_bytes()
    parsed = parse_document(f"{folder}/{file}", source)
    assert parsed is not None
    chunk = next(chunk for chunk in parsed.chunks if chunk.name == name)
    text = "\n".join(source.decode().split("\n")[chunk.line_start - 1 : chunk.line_end])
    return knowledge_content(
        path=chunk.path,
        name=chunk.name,
        language=chunk.language,
        signature=chunk.signature,
        docstring=chunk.docstring,
        keywords=chunk.keywords,
        text=text,
    )


def test_prose_becomes_statements() -> None:
    found = content("guide.md", "Shop.Install.Linux")
    assert found.topic == "Linux"
    assert [(fact.id, fact.statement) for fact in found.facts] == [
        ("F1", "Needs Python 3.11 or newer."),
        ("F2", "Runs on Node.js as well."),
    ]
    assert found.sources == ("docs/guide.md", "https://nodejs.org/en")
    assert found.confidence == 0.7


def test_sources_are_linked_files_and_addresses() -> None:
    assert content("guide.md", "Shop").sources == ("docs/guide.md", "https://example.org/vat", "src/checkout.py")


def test_decisions_are_believed_more_than_prose_and_less_than_schemas() -> None:
    decision = content("0007-use-sqlite.md", "7 Use SQLite.Decision", "docs/adr")
    assert [fact.statement for fact in decision.facts] == [
        "We keep memory in one SQLite file per workspace.",
        "It is opened in WAL mode.",
    ]
    assert decision.confidence == 0.85
    assert content("petstore.yaml", "Pet").confidence == content("shop.sql", "orders").confidence == 1.0


def test_definitions_are_facts() -> None:
    found = content("petstore.yaml", "pets_list")
    assert found.topic == "GET /pets"
    assert found.summary == "List pets"
    assert [fact.statement for fact in found.facts][-1] == "Newest first, a page at a time."


def test_at_most_twenty_facts() -> None:
    text = "\n".join(f"- Statement number {number} of many." for number in range(50))
    found = knowledge_content(
        path="a.md", name="A", language="markdown", signature="# A", docstring="", keywords=(), text=text
    )
    assert [fact.id for fact in found.facts] == [f"F{number}" for number in range(1, 21)]
