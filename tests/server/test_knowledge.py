"""Documents beside code, through the daemon: recalled by type, explained, outlined, left out for a reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.daemons import Daemon, Wire

CHECKOUT = '''"""Paying."""


def total_price(basket):
    """Sum a basket with its tax."""
    return sum(basket)
'''

README = """# Shop

## Prices

A basket is priced by `total_price`.

- Tax is 19 percent.

### Rounding

Half up.
"""

FILES = {
    "src/checkout.py": CHECKOUT,
    "README.md": README,
    "docs/guide.md": "# Guide\n\nHow [prices are rounded](../README.md#rounding) and [paid](../src/checkout.py).\n",
    "docs/adr/0001-tax.md": "# Tax\n\nWe decided that tax is part of every basket.\n",
    "api/openapi.yaml": (
        "openapi: 3.0.0\ninfo: {title: Shop, version: '1'}\npaths:\n  /baskets:\n    post:\n"
        "      operationId: createBasket\n      summary: Open a basket\n      responses: {}\n"
    ),
    "db/schema.sql": "CREATE TABLE baskets (id int, owner text);\n",
    "package.json": '{"name": "shop"}',
    "data/one.json": "[1]",
    "data/broken.yaml": "openapi: [",
    "data/deep.yaml": "openapi: 3.0.0\nx: " + "[" * 500,
}
RICH = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, daemon: Daemon) -> Path:
    root = tmp_path_factory.mktemp("shop")
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with daemon.client(root) as client:
        client.request("aurora/index")
    return root


@pytest.fixture
def wire(daemon: Daemon, shop: Path) -> Iterator[Wire]:
    with daemon.wire() as wire:
        wire.initialize(shop, capabilities=RICH)
        yield wire


def recalled(wire: Wire, query: str, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = wire.result("aurora/recall", {"query": query, **params})["results"]
    return found


def test_counts_tell_code_from_documents(wire: Wire) -> None:
    result = wire.result("aurora/index", {})
    assert result["files"] == 6
    assert result["definitions"] == 1
    assert (result["kinds"]["section"], result["kinds"]["operation"], result["kinds"]["table"]) == (5, 1, 1)
    assert result["languages"] == {"python": 1, "markdown": 3, "openapi": 1, "sql": 1}
    assert result["skipped_files"] == 1  # the deep one; data that is no document is not worth a word


def test_recall_answers_with_the_types_asked_for(wire: Wire) -> None:
    know = recalled(wire, "price of a basket with tax", types=["know"])
    assert {one["type"] for one in know} == {"know"}
    assert "know:README.md:Shop.Prices:3-7" in [one["id"] for one in know]
    code = recalled(wire, "price of a basket with tax", types=["code"])
    assert {one["type"] for one in code} == {"code"}
    both = recalled(wire, "price of a basket with tax", types=["know", "code", "reas"])
    assert {one["id"] for one in [*know[:3], *code[:3]]} <= {one["id"] for one in both}
    assert both == recalled(wire, "price of a basket with tax")
    assert recalled(wire, "price of a basket with tax", types=["reas"]) == []


def test_operations_and_tables_are_found_by_name(wire: Wire) -> None:
    assert recalled(wire, "createBasket")[0]["id"] == "know:api/openapi.yaml:createBasket:5-8"
    assert recalled(wire, "which table holds baskets", types=["know"])[0]["name"] == "baskets"


def test_explain_gives_the_content_of_a_knowledge_chunk(wire: Wire) -> None:
    explained = wire.result("aurora/explain", {"id": "know:README.md:Shop.Prices"})
    assert explained["chunk"]["id"] == "know:README.md:Shop.Prices:3-7"
    assert explained["content"]["topic"] == "Prices"
    assert [fact["statement"] for fact in explained["content"]["facts"]] == [
        "A basket is priced by total_price.",
        "Tax is 19 percent.",
    ]
    assert explained["content"]["confidence"] == 0.7
    related = {(link["relation"], link["id"]) for link in explained["relations"]}
    assert ("mentions", "code:src/checkout.py:total_price:4-6") in related
    assert ("contains", "know:README.md:Shop.Prices.Rounding:9-11") in related
    assert "adr" in wire.result("aurora/explain", {"id": "know:docs/adr/0001-tax.md:Tax"})["metadata"]["keywords"]
    assert wire.ask("aurora/explain", {"id": "code:README.md:Shop.Prices"})["error"]["data"]["kind"] == "UnknownChunk"


def test_links_lead_to_sections_and_files(wire: Wire) -> None:
    explained = wire.result("aurora/explain", {"id": "know:docs/guide.md:Guide:1-3"})
    assert {link["id"] for link in explained["relations"] if link["relation"] == "mentions"} == {
        "know:README.md:Shop.Prices.Rounding:9-11",
        "code:src/checkout.py:<module>:1-1",
    }


def test_code_tells_where_it_is_mentioned(wire: Wire, shop: Path) -> None:
    position = {"line": 3, "character": 6}
    hover = {"textDocument": {"uri": (shop / "src/checkout.py").as_uri()}, "position": position}
    assert "mentioned in [Shop.Prices]" in wire.result("textDocument/hover", hover)["contents"]["value"]


def test_hovers_in_a_document_speak_of_names_in_code_marks_only(wire: Wire, shop: Path) -> None:
    uri = (shop / "README.md").as_uri()

    def hover(line: int, character: int) -> Any:
        return wire.result(
            "textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        )

    assert "def total_price(basket)" in hover(4, 28)["contents"]["value"]
    assert hover(4, 4) is None
    assert hover(2, 5) is not None


def test_the_outline_of_a_document_nests_its_sections(wire: Wire, shop: Path) -> None:
    uri = (shop / "README.md").as_uri()
    (title,) = wire.result("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    (prices,) = title["children"]
    (rounding,) = prices["children"]
    assert [each["name"] for each in (title, prices, rounding)] == ["Shop", "Prices", "Rounding"]
    assert title["range"]["end"] == prices["range"]["end"] == rounding["range"]["end"] == {"line": 10, "character": 8}
    assert title["selectionRange"] == {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 6}}


def test_documents_have_no_lenses_and_no_sections_among_symbols(wire: Wire, shop: Path) -> None:
    for name in ("README.md", "api/openapi.yaml", "package.json"):
        assert wire.result("textDocument/codeLens", {"textDocument": {"uri": (shop / name).as_uri()}}) == []
    assert wire.result("textDocument/documentSymbol", {"textDocument": {"uri": (shop / "package.json").as_uri()}}) == []
    names = {symbol["name"] for symbol in wire.result("workspace/symbol", {"query": "ba"})}
    assert names == {"baskets"}
    assert wire.result("workspace/symbol", {"query": "Prices"})[0]["name"] == "total_price"


def test_doctor_names_what_is_no_document(wire: Wire) -> None:
    found = wire.result("aurora/doctor", {})
    assert found["skipped"] == {"no-language": 3, "failed": 1}
    told = {example["path"]: example["detail"] for example in found["examples"]}
    assert told["*.json"] == "2 files, neither code nor documents known here."
    assert told["data/deep.yaml"] == "TooDeep: line 2 is nested more than 100 levels deep"


def test_files_that_stayed_the_same_are_those_that_memory_holds(wire: Wire) -> None:
    again = wire.result("aurora/index", {})
    assert (again["parsed_files"], again["unchanged_files"]) == (0, again["files"]), "three more were looked into"


def test_a_saved_document_follows(wire: Wire, shop: Path) -> None:
    file = shop / "NOTES.md"
    file.write_text("# Notes\n\nGift wrapping costs two euros.\n", encoding="utf-8")
    wire.result("aurora/index", {"paths": [str(file)]})
    assert recalled(wire, "gift wrapping")[0]["id"] == "know:NOTES.md:Notes:1-3"
    file.write_text("Intro\n\n# Notes\n\nGift wrapping is free.\n", encoding="utf-8")
    wire.result("aurora/index", {"paths": [str(file)]})
    assert recalled(wire, "gift wrapping")[0]["id"] == "know:NOTES.md:Notes:3-5"
    file.unlink()
    wire.result("aurora/index", {"paths": [str(file)]})
    assert recalled(wire, "gift wrapping") == []
