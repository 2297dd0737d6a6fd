"""Who imports what: by module, by file and by name, surely or likely, in the languages that import differently."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from aurora_memory.chunks import ChunkKind, Import
from aurora_memory.module_paths import ModuleAlias
from aurora_memory.recall.question import parse_question
from aurora_memory.recall.relation_answer import answer
from aurora_memory.recall.relation_question import RelationQuestion, relation_question
from aurora_memory.store import IndexedFile, Store, relation_reader
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


ODD = [
    source("kit/package.json", name="kit", language="json"),
    source("kit/src/index.ts", Import("./core/index.js", "core"), name="kit", language="typescript"),
    source("kit/src/core/index.ts", Import("..", "kit"), Import("../dist", "kit"), name="core", language="typescript"),
    source("kit/src/core/deep/a.ts", Import("../../", "kit"), Import("./b", "b"), name="a", language="typescript"),
    source("kit/test/a.ts", Import("..", "kit"), Import("../dist", "core"), name="of_dist", language="typescript"),
    source("use/a.ts", Import("@shop/kit", "kit"), Import("@parts/core/entry", "core"), language="typescript"),
    source("use/b.ts", Import("../kit", "kit"), Import("@parts/", "kit"), Import("@flat", "x"), language="typescript"),
    source("use/entry.ts", Import("."), Import("./use"), name="entry", language="typescript"),
    source("home.js", Import("./use/entry"), name="front", language="javascript"),
    source("test/front.js", Import("..", "default", "front"), language="javascript"),
    source("deep/__init__.py", Import("..", "shop")),
    source("deep/er/__init__.py", Import("..", "*"), Import(".", "core"), Import("tools")),
    source("deep/er/core.py", Import(".", "*"), Import("...", "shop"), Import("tools.cart", "sell"), name="core"),
    source("kits/tools/cart.py", Import("."), name="sell"),
    source("kits/tools/__init__.py", Import(".cart", "*"), Import("deep.er", "core")),
    source("main.rs", name="run", language="rust"),
    source("a/mod.rs", Import("super", "*"), Import("crate", "run"), name="walk", language="rust"),
    source("a/b.rs", Import("super", "walk"), Import("crate::a", "*"), name="stop", language="rust"),
    source("main.go", Import("example.org/tool/go/doc"), Import("example.org/other"), name="tool", language="go"),
    source("go/cmd/other.go", Import("example.org/tool"), name="other_main", language="go"),
    source("forks/other/x.go", Import("example.org/tool", alias="."), name="x", language="go"),
    source("lib/init.lua", Import(".init"), name="set_up", language="lua"),
    source("lib/more.lua", Import("."), Import("lib"), name="more", language="lua"),
]
"""Files whose imports have other names than what they mean."""


@pytest.fixture
async def odd_store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "memory.db")
    await store.write([*FILES, *ODD])
    aliases = [
        ModuleAlias("use", "@parts/*/entry", ("kit/src/*/index",)),
        ModuleAlias("use", "@parts/*", ("kit/src/*",)),
        ModuleAlias("", "@shop/kit", ("kit/dist/index.js", "kit/index")),
        ModuleAlias("", "@web/*", ("web/*",)),
        ModuleAlias("", "/kit", ("kit/dist/index.js",)),
        ModuleAlias("", "/", ("use/entry.ts",)),
        ModuleAlias("", "@flat", ("web/client.ts",)),
        ModuleAlias("", "example.org/other", ("forks/other",), language="go"),
        ModuleAlias("", "example.org/tool", (".",), language="go"),
        ModuleAlias("", "example.org/tool/*", ("./*",), language="go"),
        ModuleAlias("", "tools", ("kits/tools",), is_python=True),
        ModuleAlias("", "tools.*", ("kits/tools/*",), is_python=True),
    ]
    await store.keep_module_aliases(aliases)
    await store.resolve()
    yield store
    await store.close()


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
        ("who imports Cart.sell", [], "Nothing here imports 'Cart.sell', as far as is known."),
        ("who imports pandas", [], "Nothing here imports 'pandas', as far as is known."),
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
        assert await told(store, "what imports invoices") == (
            [],
            "Nothing here imports 'invoices', as far as is known.",
        )
    finally:
        await store.close()


async def test_what_is_told_is_what_reading_all_imports_tells(
    odd_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every file, folder, module and name there is: few files are read, and none is missed."""
    entries = [each for one in [*FILES, *ODD] for each in one.parsed.imports]
    paths = [one.parsed.path for one in [*FILES, *ODD]]
    names = {each.name for each in entries} | {each.module.strip("./") for each in entries} | set(paths)
    names |= {path.rpartition("/")[2].partition(".")[0] for path in paths} | {path.rpartition("/")[0] for path in paths}
    names |= {chunk.name for one in [*FILES, *ODD] for chunk in one.parsed.chunks}
    asked = sorted(names - {"", "*", "<module>"})
    narrowly = [await told(odd_store, f"who imports {name}") for name in asked]
    assert sum(found is not None and bool(found[0]) for found in narrowly) > len(asked) / 2
    monkeypatch.setattr(relation_reader, "imports_written", lambda reader, *_: relation_reader.all_imports(reader))
    for name, found in zip(asked, narrowly, strict=True):
        assert await told(odd_store, f"who imports {name}") == found, name


@pytest.mark.parametrize(
    ("path", "importers"),
    [
        (
            "kit/src/index.ts",
            ["kit/src/core/deep/a.ts", "kit/src/core/index.ts", "kit/test/a.ts", "use/a.ts", "use/b.ts"],
        ),
        ("kit/src/core/index.ts", ["kit/src/index.ts", "use/a.ts"]),
        ("use/entry.ts", ["home.js", "test/front.js"]),
        ("web/client.ts", ["use/b.ts", "web/page.ts", "web/view.ts"]),
        ("kits/tools/cart.py", ["deep/er/core.py", "kits/tools/__init__.py"]),
        ("deep/er/__init__.py", ["deep/er/core.py", "kits/tools/__init__.py"]),
        ("forks/other", ["main.go"]),
    ],
)
async def test_importers_by_other_names(odd_store: Store, path: str, importers: list[str]) -> None:
    found = await told(odd_store, f"which files import {path}")
    assert found is not None
    assert sorted(each for each, _ in found[0]) == importers


async def test_a_constant_that_is_called_as_its_file_may_come_from_any_file_here(odd_store: Store) -> None:
    """`export const web = …`, which no definition tells, through whatever hands it on."""
    files = [source("web/web.ts", language="typescript"), source("use/far.ts", Import("elsewhere", "web"))]
    files.append(source("use/kept.ts", Import("@shop/kit", "web"), Import("x", "y"), language="typescript"))
    await odd_store.write([*files, source("use/site.ts", Import("../web/web", "web"), language="typescript")])
    found = await told(odd_store, "who imports web")
    assert found is not None
    assert ("use/site.ts", "imports web from ../web/web") in found[0]
    assert ("maybe use/kept.ts", "imports web from @shop/kit") in found[0]
    assert "use/far.ts" not in str(found[0])


async def test_who_imports_it_by_another_name_is_told_so(store: Store) -> None:
    barrel = source("web/all.ts", Import("./client", "fetchAll", "getAll"), language="typescript")
    await store.write([barrel, source("web/late.ts", Import("./all", "getAll"), language="typescript")])
    await store.resolve()
    found = await told(store, "who imports fetchAll")
    assert found is not None
    assert ("web/late.ts", "imports it through another name") in found[0]
    assert ("web/all.ts", "imports fetchAll from ./client as getAll") in found[0]


@pytest.mark.parametrize(
    ("text", "hits", "said"),
    [
        (
            "what does shop/order.py import?",
            [
                ("shop/cart.py", "imports Cart from .cart as Basket"),
                ("maybe shop/types.py", "imports TracebackType from types"),
            ],
            "'shop/order.py' imports 1 file here, and maybe 1 more.",
        ),
        ("what is imported by the module shop.pay", [("shop/cart.py", "imports cart from . and 1 more")], ""),
        (
            "what does web/view.ts import",
            [("web/client.ts", "imports fetchAll from @web/client")],
            "'web/view.ts' imports 1 file here; react from elsewhere.",
        ),
        ("what does go/cmd/main.go import", [("go/doc/man.go", "imports example.org/tool/go/doc")], ""),
        ("what does Main.java import", [("java/shop/Till.java", "imports Till from shop")], ""),
        ("what does c/main.c import", [("c/list.h", "imports c/list.h")], ""),
        ("what does shop/types.py import", [], "'shop/types.py' imports nothing."),
        ("what does nowhere.py import", [], "Nothing here is called 'nowhere.py'."),
    ],
)
async def test_what_a_file_imports_is_told_too(store: Store, text: str, hits: list[tuple[str, str]], said: str) -> None:
    found = await told(store, text)
    assert found is not None
    assert found[0] == hits
    assert not said or found[1] == said


async def test_what_a_folder_that_many_names_mean_imports_is_only_likely(odd_store: Store) -> None:
    alike = [source(f"{each}/part.rb", name=each, language="ruby") for each in ("one", "two")]
    await odd_store.write([*alike, source("all.rb", Import("part"), Import("json"), language="ruby")])
    assert await told(odd_store, "what does all.rb import") == (
        [("maybe one/part.rb", "imports part"), ("maybe two/part.rb", "imports part")],
        "'all.rb' imports maybe 2 of the files here; json from elsewhere.",
    )


@pytest.mark.parametrize("text", ["what do shops import", "what does the till import"])
async def test_what_people_import_is_another_question(store: Store, text: str) -> None:
    assert await told(store, text) is None


async def test_few_files_are_read_to_tell(odd_store: Store) -> None:
    async def read(*given: Any) -> list[str]:
        return [path for path, _ in await odd_store.read(relation_reader.imports_written, *given)]

    assert await read({"numpy"}) == ["main.py", "shop/json.py"]
    assert await read(set(), {"deep"}) == ["deep/__init__.py", "deep/er/__init__.py", "deep/er/core.py"]
    assert await read({"numpy"}, {"lib"}) == ["lib/more.lua", "main.py", "shop/json.py"]
    everything = [path for path, _ in await odd_store.read(relation_reader.all_imports)]
    assert await read({""}) == await read({str(n) for n in range(99)}) == everything
    assert await read(set()) == []
