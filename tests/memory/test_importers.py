"""Who imports what: by module, by file and by name, surely or likely, in the languages that import differently."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_memory.chunks import ChunkKind, Import
from aurora_memory.module_paths import ModuleAlias
from aurora_memory.recall.question import parse_question
from aurora_memory.recall.relation_questions import RelationQuestion, answer, relation_question
from aurora_memory.store import IndexedFile, Store
from tests.memory.chunks import chunk, file


def source(path: str, *imports: Import, name: str = "", language: str = "python") -> IndexedFile:
    """A file that imports, and defines one thing, else its module's remainder."""
    kind: ChunkKind = "function" if name else "module"
    return file(path, chunk(path, name or "<module>", kind=kind, language=language), imports=imports)


FILES = [
    file("shop/__init__.py", chunk("shop/__init__.py", "<module>", kind="module"), imports=(Import(".cart", "Cart"),)),
    file("shop/cart.py", chunk("shop/cart.py", "Cart", kind="class"), chunk("shop/cart.py", "Cart.sell", line=9)),
    source("shop/types.py", name="Price"),
    source("shop/order.py", Import(".cart", "Cart", "Basket"), Import("types", "TracebackType"), name="order"),
    source("shop/pay.py", Import(".", "cart"), Import(".cart", "MAX_ITEMS"), name="pay"),
    source("shop/all.py", Import(".cart", "*"), name="everything"),
    source("shop/json.py", Import("json"), Import("numpy.linalg", alias="la"), name="dump"),
    source("main.py", Import("shop", "Cart"), Import("numpy", alias="np"), Import("typing", "Any")),
    source("tests/test_cart.py", Import("shop.cart"), Import("shop.types", "Price"), name="test_cart"),
    source("other.py", Import("elsewhere", "Cart"), name="other"),
    source("docs/cart.md", name="Cart", language="markdown"),
    source("web/client.ts", name="fetchAll", language="typescript"),
    source("web/page.ts", Import("./client", "fetchAll"), name="page", language="typescript"),
    source(
        "web/view.ts", Import("@web/client", "fetchAll"), Import("react", "default", "React"), language="typescript"
    ),
    source("c/list.h", name="list_add", language="c"),
    source("c/list.c", Import("list.h"), language="c"),
    source("c/main.c", Import("c/list.h"), Import("stdio.h"), language="c"),
    source("java/shop/Till.java", name="Till", language="java"),
    source("java/app/Main.java", Import("shop", "Till"), Import("java.util", "List"), name="Main", language="java"),
    source("java/app/Star.java", Import("shop", "*"), name="Star", language="java"),
    source("go/doc/man.go", name="Man", language="go"),
    source("go/cmd/main.go", Import("example.org/tool/go/doc"), Import("fmt"), name="main", language="go"),
]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "memory.db")
    await store.write(FILES)
    aliases = [ModuleAlias("", "@web/*", ("web/*",)), ModuleAlias("", "example.org/tool/*", ("*",), language="go")]
    await store.keep_module_aliases(aliases)
    await store.resolve()
    yield store
    await store.close()


async def told(store: Store, text: str, limit: int = 20) -> tuple[list[tuple[str, str]], str] | None:
    found = await store.read(answer, parse_question(text), limit, 1000.0)
    if found is None:
        return None
    hits = [(f"{'maybe ' if hit.is_likely else ''}{hit.chunk.path}", hit.relation) for hit in found.hits]
    return hits, found.said


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("who imports Cart", "Cart"),
        ("what imports shop.cart?", "shop.cart"),
        ("which files import `shop/cart.py`", "shop/cart.py"),
        ("which modules import the module cart", "cart"),
        ("files importing cart", "cart"),
        ("modules that import cart", "cart"),
        ("imports of Cart", "Cart"),
        ("show me all importers of the package shop", "shop"),
        ("where is Cart imported?", "Cart"),
        ("what is Cart imported by", "Cart"),
        ("who is importing @web/client", "@web/client"),
        ("which files include c/list.h", "c/list.h"),
        ("who includes list.h", "list.h"),
        ("what requires ./client", "./client"),
    ],
)
def test_what_asks_for_importers(text: str, name: str) -> None:
    assert relation_question(text) == RelationQuestion("importers", name)


@pytest.mark.parametrize(
    "text", ["what requires authentication", "who includes tests", "how are orders imported", "imports"]
)
def test_what_does_not(text: str) -> None:
    assert relation_question(text) is None


CART = [
    ("shop/__init__.py", "imports Cart from .cart"),
    ("shop/order.py", "imports Cart from .cart as Basket"),
]


@pytest.mark.parametrize(
    ("text", "hits", "said"),
    [
        (
            "who imports Cart",
            [("main.py", "imports Cart from shop"), *CART, ("maybe shop/all.py", "imports all of .cart")],
            "3 files import 'Cart', and maybe 1 more.",
        ),
        (
            "which files import shop.cart",
            [
                CART[0],
                ("shop/all.py", "imports all of .cart"),
                CART[1],
                ("shop/pay.py", "imports cart from . and 1 more"),
                ("tests/test_cart.py", "imports shop.cart"),
            ],
            "5 files import 'shop.cart'.",
        ),
        (
            "who imports shop",
            [
                ("main.py", "imports Cart from shop"),
                ("tests/test_cart.py", "imports shop.cart and 1 more"),
                ("maybe java/app/Main.java", "imports Till from shop"),
                ("maybe java/app/Star.java", "imports all of shop"),
            ],
            "2 files import 'shop', and maybe 2 more.",
        ),
        (
            "what imports types",
            [
                ("tests/test_cart.py", "imports Price from shop.types"),
                ("maybe shop/order.py", "imports TracebackType from types"),
            ],
            "1 file imports 'types', and maybe 1 more.",
        ),
        ("who imports MAX_ITEMS", [("shop/pay.py", "imports MAX_ITEMS from .cart")], "1 file imports 'MAX_ITEMS'."),
        (
            "what imports numpy",
            [("main.py", "imports numpy as np"), ("shop/json.py", "imports numpy.linalg as la")],
            "2 files import 'numpy'.",
        ),
        ("who imports typing.Any", [("main.py", "imports Any from typing")], "1 file imports 'typing.Any'."),
        ("who imports json", [("maybe shop/json.py", "imports json")], "1 file may import 'json'."),
        ("who imports Cart.sell", [], "Nothing here is known that imports 'Cart.sell'."),
        ("who imports pandas", [], "Nothing here is known that imports 'pandas'."),
        ("who imports Crat", [], "Nothing here imports 'Crat'; did you mean 'Cart'?"),
        (
            "which files import web/client.ts",
            [("web/page.ts", "imports fetchAll from ./client"), ("web/view.ts", "imports fetchAll from @web/client")],
            "2 files import 'web/client.ts'.",
        ),
        (
            "who imports fetchAll",
            [("web/page.ts", "imports fetchAll from ./client"), ("web/view.ts", "imports fetchAll from @web/client")],
            "2 files import 'fetchAll'.",
        ),
        ("who imports react", [("web/view.ts", "imports React from react")], "1 file imports 'react'."),
        (
            "which files include list.h",
            [("c/list.c", "imports list.h"), ("c/main.c", "imports c/list.h")],
            "2 files import 'list.h'.",
        ),
        (
            "who imports list_add",
            [("maybe c/list.c", "imports list.h"), ("maybe c/main.c", "imports c/list.h")],
            "2 files may import 'list_add'.",
        ),
        (
            "who imports Till",
            [("java/app/Main.java", "imports Till from shop"), ("maybe java/app/Star.java", "imports all of shop")],
            "1 file imports 'Till', and maybe 1 more.",
        ),
        ("who imports java.util.List", [("java/app/Main.java", "imports List from java.util")], ""),
        ("who imports doc", [("go/cmd/main.go", "imports example.org/tool/go/doc")], "1 file imports 'doc'."),
        ("who imports Man", [("maybe go/cmd/main.go", "imports example.org/tool/go/doc")], "1 file may import 'Man'."),
    ],
)
async def test_importers_are_told_surest_first_with_what_they_import(
    store: Store, text: str, hits: list[tuple[str, str]], said: str
) -> None:
    found = await told(store, text)
    assert found is not None
    assert found[0] == hits
    assert not said or found[1] == said


async def test_all_are_counted_where_few_are_shown(store: Store) -> None:
    found = await told(store, "which files import shop.cart", limit=1)
    assert found == ([CART[0]], "5 files import 'shop.cart'.")


@pytest.mark.parametrize("text", ["what imports the goods", "imports of goods", "what imports everything imported"])
async def test_a_topic_is_another_question(store: Store, text: str) -> None:
    assert await told(store, text) is None


async def test_what_a_function_here_imports_is_no_module(tmp_path: Path) -> None:
    store = await Store.open(tmp_path / "memory.db")
    await store.write([source("till.py", name="import_orders")])
    await store.resolve()
    try:
        assert await told(store, "what imports orders") is None
        assert await told(store, "what imports invoices") == ([], "Nothing here is known that imports 'invoices'.")
    finally:
        await store.close()
