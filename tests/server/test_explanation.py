"""Which chunk is explained, of several that a name, a place or an id may mean."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from aurora_memory import UnknownChunk
from aurora_memory.chunks import Import
from aurora_memory.documents import PatternSubgoal
from aurora_memory.lifespans.policies import BUILT_IN
from aurora_memory.store import Store
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.explanation import chunk_named, explain_id
from tests.memory.chunks import chunk, file
from tests.memory.runs import retrieved, run

ROOT = Path("/home/me/shop")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await Store.open(tmp_path / "memory.db")
    shop = replace(chunk("src/shop.py", "Shop", kind="class"), line_end=30)
    sell = replace(chunk("src/shop.py", "Shop.sell", "sell", line=10, kind="method"), line_end=20)
    again = chunk("src/shop.py", "again", line=41), chunk("src/shop.py", "again", "otherwise", line=51, ordinal=1)
    called = chunk("src/z.py", "parse", "of z"), chunk("src/cli.py", "main", line=1, calls=("parse",))
    written = [
        file("src/shop.py", shop, sell, *again),
        file("src/b.py", chunk("src/b.py", "load", "of b")),
        file("src/a.py", chunk("src/a.py", "parse", "of a"), chunk("src/a.py", "load", "of a", line=11)),
        file("src/y.py", chunk("src/y.py", "built")),
        file(
            "tests/test_y.py", chunk("tests/test_y.py", "built"), chunk("tests/test_y.py", "test_it", calls=("built",))
        ),
        file("src/z.py", called[0]),
        file("src/cli.py", called[1], imports=(Import("z", "parse"),)),
        file("pkg/till/open.go", chunk("pkg/till/open.go", "Open", "till", language="go")),
        file("pkg/desk/open.go", chunk("pkg/desk/open.go", "Open", "desk", language="go")),
        file(
            "src/worker.py",
            chunk("src/worker.py", "helper", "lift"),
            chunk("src/worker.py", "worker", "work", line=21),
        ),
        file("a_test/tests/test_load.py", chunk("a_test/tests/test_load.py", "load", "of a test")),
    ]
    await store.write(written)
    await store.resolve()
    yield store
    await store.close()


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        pytest.param("parse", "src/z.py:1", id="of one name, that which is called most"),
        pytest.param("load", "src/a.py:11", id="then no test, then the first by path"),
        pytest.param("built", "tests/test_y.py:1", id="what is called most though it is a test's"),
        pytest.param("main()", "src/cli.py:1", id="a call is a name"),
        pytest.param("Shop::sell", "src/shop.py:10", id="however a language writes it"),
        pytest.param("shop.Shop", "src/shop.py:1", id="a name by its module"),
        pytest.param("pkg.shop.Shop.sell", "src/shop.py:10", id="a member by its package"),
        pytest.param("self.cli.main()", "src/cli.py:1", id="a member of something"),
        pytest.param("sell", "src/shop.py:10", id="a member by its own name"),
        pytest.param("class Shop", "src/shop.py:1", id="as answers print it"),
        pytest.param("till.Open", "pkg/till/open.go:1", id="a function by its package"),
        pytest.param("a.load", "src/a.py:11", id="a function by its module"),
        pytest.param("src/worker.py", "src/worker.py:21", id="of a file, what is called as it is"),
        pytest.param("src/shop.py", "src/shop.py:1", id="else what comes first"),
        pytest.param("src/shop.py:12", "src/shop.py:10", id="of a line, the innermost"),
        pytest.param("src/shop.py:25", "src/shop.py:1", id="where there is no other, what is around it"),
        pytest.param(f"{ROOT}/src/shop.py:12", "src/shop.py:10", id="from the root of the disk"),
        pytest.param("src/a.py:load", "src/a.py:11", id="a name in a file"),
        pytest.param("code:src/shop.py:again", "src/shop.py:41", id="of an id without lines, the first"),
        pytest.param("code:src/shop.py:again:51-55", "src/shop.py:51", id="with lines, the one that has them"),
        pytest.param("code:src/shop.py:again:90-99", "src/shop.py:41", id="whose lines have moved, the first"),
    ],
)
async def test_which_chunk_is_meant(store: Store, named: str, meant: str) -> None:
    found = await store.read(chunk_named, ROOT, named)
    assert f"{found.path}:{found.line_start}" == meant


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("prase", r"nothing here is called 'prase'; did you mean 'parse'\?"),
        ("zzzzzz", "nothing here is called 'zzzzzz'; 'aur mem zzzzzz' finds what there is"),
        ("Shop.parse", "nothing here is called 'Shop.parse'"),
        ("Cart.sell", "nothing here is called 'Cart.sell'"),
        ("know:src/shop.py:again", "no chunk know:src/shop.py:again in /home/me/shop"),
        ("code:again", "'code:again' is not a chunk id"),
        ("src/none.py:3", "memory knows no file src/none.py"),
        ("src/shop.py:99", "src/shop.py has nothing at line 99"),
        ("src/shop.py:agian", r"src/shop.py defines no agian; did you mean again\?"),
    ],
)
async def test_what_nothing_is_called_is_said(store: Store, named: str, said: str) -> None:
    with pytest.raises(UnknownChunk, match=said):
        await store.read(chunk_named, ROOT, named)


async def test_of_the_patterns_that_used_a_chunk_the_best_comes_first_then_that_which_was_of_use_more_often(
    store: Store,
) -> None:
    load = await store.read(chunk_named, ROOT, "src/a.py:load")
    ways = {"once": "Mill flour", "often": "Paint walls", "best": "Weld pipes", "poor": "Cut grass"}
    for number, (name, score) in enumerate(
        [("once", 0.9), ("often", 0.9), ("often", 0.9), ("best", 0.95), ("poor", 0.7)]
    ):
        steps = (PatternSubgoal(id="SG1", description=ways[name], agent="coder"),)
        asked = {"query": ways[name], "pattern": name, "subgoals": steps}
        await store.learn(run(number, score, retrieved=retrieved(load.id), **asked))
    found = await store.read(explain_id, ROOT, "src/a.py:load", Colleagues(ROOT), BUILT_IN)
    assert [(each.id, each.uses) for each in found.patterns] == [("reas:best", 1), ("reas:often", 2), ("reas:once", 1)]
