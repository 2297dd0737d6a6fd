"""A knowledge chunk's content in the form of AURORA §6.3.5."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer.documents.content import confidence_of, knowledge_content
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


def prose(text: str, signature: str = "# Rules", docstring: str = "") -> KnowledgeContent:
    return knowledge_content(
        path="docs/a.md",
        name="Rules",
        language="markdown",
        signature=signature,
        docstring=docstring,
        keywords=(),
        text=text,
    )


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        pytest.param("- A label.\n- A statement, this is.", ["A statement, this is."], id="a few letters are a label"),
        pytest.param("Twelve chars", ["Twelve chars"], id="twelve are a statement"),
        pytest.param("Keep it short. It is read. Keep it short.", ["Keep it short."], id="what is said twice is one"),
        pytest.param("Said before.\n```\nNot the code here.\n```\nSaid after it.", ["Said before.", "Said after it."],
                     id="code is none"),
        pytest.param("# No heading is\n| nor a table |\nbut a sentence is", ["but a sentence is"], id="nor are these"),
        *(
            pytest.param(f"{line} which is long enough\nbut a sentence is", ["but a sentence is"], id=f"nor {line}")
            for line in ("===", "~~", "+---+", "---", ".. note::", ":field:", "<!-- said", "### A")
        ),
        pytest.param("- [x] a task, done\n1) one to do now", ["a task, done", "one to do now"], id="task"),
        pytest.param("One sentence over\ntwo lines of text. And another one.", ["One sentence over two lines of text.",
                     "And another one."], id="a sentence goes on in the next line"),
    ],
)  # fmt: skip
def test_what_of_prose_is_a_statement(text: str, facts: list[str]) -> None:
    assert [fact.statement for fact in prose(text).facts] == facts


def test_the_first_twenty_statements_are_kept() -> None:
    facts = prose("\n".join(f"- statement number {number}" for number in range(30))).facts
    assert [fact.id for fact in facts] == [f"F{number}" for number in range(1, 21)]
    assert facts[-1].statement == "statement number 19"


def test_a_summary_is_the_first_line_that_says_something() -> None:
    assert prose("x", docstring="\n\n  First words.\nMore.").summary == "First words."
    assert prose("x").summary == "# Rules" and prose("x", signature="").summary == "Rules"
    assert (prose("x").topic, prose("x", signature="").topic) == ("Rules", "Rules")


@pytest.mark.parametrize(
    ("language", "tags", "confidence"),
    [
        ("sql", ("changelog",), 1.0),
        ("markdown", ("convention",), 0.9),
        ("markdown", ("decision",), 0.85),
        ("markdown", ("changelog",), 0.6),
        ("markdown", ("changelog", "decision"), 0.6),
        ("markdown", ("guide",), 0.7),
    ],
)
def test_prose_is_believed_by_its_purpose(language: str, tags: tuple[str, ...], confidence: float) -> None:
    assert confidence_of(language, tags) == confidence
