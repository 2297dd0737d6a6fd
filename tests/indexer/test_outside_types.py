"""Who implements what is defined elsewhere: told by what the code itself says."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer.workers.process_file import parse_source
from aurora_memory.recall.question import parse_question
from aurora_memory.recall.relation_answer import RelatedHits, answer
from aurora_memory.store import FileStat, IndexedFile
from tests.memory.stores import new_store

FILES = {
    "src/show.rs": "use reedline::Highlighter;\nuse std::fmt;\n\npub struct Colours;\n\n"
    "impl Highlighter for Colours {\n    fn run(&self) {}\n}\n\n"
    "impl fmt::Display for Colours {\n    fn fmt(&self) {}\n}\n",
    "src/plain.rs": "use other::Highlighter;\n\npub struct Plain;\n\nimpl Highlighter for Plain {}\n",
    "shop/Cart.java": "package shop;\nimport java.util.function.Supplier;\n"
    "public class Cart implements Supplier<Cart>, Comparable<Cart> {}\n",
    "shop/Bill.cs": "class Bill : IDisposable { public void Dispose() {} }\n",
    "shop/cart.ts": "import { OnInit } from '@angular/core';\nexport class Basket implements OnInit {}\n",
    "shop/cart.py": "from django.db import models\n\n\nclass Order(models.Model):\n    pass\n",
    "pkg/trip.go": 'package pkg\n\nimport (\n\t"google.golang.org/grpc"\n\t"net/http"\n)\n\ntype Trip struct{}\n\n'
    "func (t *Trip) RoundTrip(r *http.Request) (*http.Response, error) { return nil, nil }\n\n"
    "type Wrapped struct {\n\telse_.Thing\n}\n",
}


@pytest.mark.parametrize(
    ("question", "heirs", "said"),
    [
        (
            "what implements reedline::Highlighter",
            ["Colours"],
            "1 implements 'reedline::Highlighter', which is not defined here.",
        ),
        ("what implements Highlighter", ["Plain", "Colours"], "2 implement 'Highlighter', which is not defined here."),
        (
            "what implements std::fmt::Display",
            ["Colours"],
            "1 implements 'std::fmt::Display', which is not defined here.",
        ),
        ("who implements Supplier", ["Cart"], "1 implements 'Supplier', which is not defined here."),
        ("implementations of Comparable", ["Cart"], "1 implements 'Comparable', which is not defined here."),
        ("what implements IDisposable", ["Bill"], "1 implements 'IDisposable', which is not defined here."),
        ("what implements OnInit", ["Basket"], "1 implements 'OnInit', which is not defined here."),
        ("subclasses of models.Model", ["Order"], "1 inherits from 'models.Model', which is not defined here."),
        (
            "subclasses of django.db.models.Model",
            ["Order"],
            "1 inherits from 'django.db.models.Model', which is not defined here.",
        ),
        ("what extends views.Model", [], "Nothing here is called 'views.Model'."),
        ("what implements http.RoundTripper", ["Trip"], "1 implements 'http.RoundTripper', which is not defined here."),
        (
            "what implements else_.Thing",
            ["Wrapped"],
            "1 embeds 'else_.Thing', which is not defined here; its methods are unknown, so more may implement it.",
        ),
        (
            "what implements grpc.Codec",
            [],
            "'grpc.Codec' is not defined here: its methods are unknown, and so is what implements it.",
        ),
        ("what implements Nothing", [], "Nothing here is called 'Nothing'."),
    ],
)
async def test_what_implements_something_from_elsewhere(
    tmp_path: Path, question: str, heirs: list[str], said: str
) -> None:
    found = await told(tmp_path, FILES, question)
    assert ([hit.chunk.name for hit in found.hits], found.said) == (heirs, said)
    assert not any(hit.is_likely for hit in found.hits)


async def told(root: Path, files: dict[str, str], question: str) -> RelatedHits:
    """The answer to a question about relations in a workspace of these files."""
    store = await new_store(root / "memory.db")
    for path, text in files.items():
        parsed = parse_source(path, text.encode(), 5.0)
        assert parsed is not None
        await store.write([IndexedFile(FileStat(1, 1), parsed)])
    await store.resolve()
    found = await store.read(answer, parse_question(question), 50, 2e9)
    await store.close()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("question", "callers"),
    [
        ("who calls shop_core::trim", ["page"]),
        ("who calls trim", ["page", "show"]),
        ("who calls shop.Add", ["Buy"]),
        ("who calls bank.Add", ["Pay"]),
    ],
)
async def test_a_package_before_a_name_tells_which_is_meant(tmp_path: Path, question: str, callers: list[str]) -> None:
    files = {
        "crates/shop-core/src/tools.rs": "pub fn trim() {}\n\npub fn page() {\n    trim();\n}\n",
        "crates/web/src/page.rs": "pub fn trim() {}\n\npub fn show() {\n    trim();\n}\n",
        "pkg/shop/cart.go": "package shop\n\nfunc Add() {}\n\nfunc Buy() {\n\tAdd()\n}\n",
        "pkg/bank/shop.go": "package bank\n\nfunc Add() {}\n\nfunc Pay() {\n\tAdd()\n}\n",
    }
    assert [hit.chunk.name for hit in (await told(tmp_path, files, question)).hits] == callers
