"""Pointers: the files, lines and functions that links, paths and tracebacks of a report point at."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from aurora_memory.recall import parse_question, recall
from aurora_memory.recall.pointers import FARTHER, Pointed, Pointer, _meant, pointed_at, pointers_in
from aurora_memory.recall.search import WIDELY
from aurora_memory.store import Store, chunk_reader
from aurora_memory.views import ChunkView
from tests.memory.chunks import chunk, file
from tests.memory.stores import new_store

NOW = 1_800_000_000.0
LONG = "The total of a cart is wrong where rates are kept from before. " * 4
TRACE = "Traceback (most recent call last):\n"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    made = await new_store(tmp_path / "memory.db")
    yield made
    await made.close()


async def pointed(store: Store, text: str) -> tuple[dict[str, float], dict[str, float]]:
    """Files and names of chunks that a report points at."""
    found = await store.read(pointed_at, parse_question(text))
    chunks = await store.read(chunk_reader.by_id, list(found.chunks))
    return dict(found.files), {chunks[each].name: share for each, share in found.chunks.items()}


@pytest.mark.parametrize(
    ("text", "pointers"),
    [
        ("see https://forge.io/a/b/blob/main/shop/cart.py#L40-L44.", [Pointer("shop/cart.py", 40)]),
        ("(https://forge.io/a/b/blob/0f1e/src/cart.ts)", [Pointer("src/cart.ts")]),
        ("https://forge.io/a/b/src/main/cart.go?x=1#lines-7", [Pointer("cart.go", 7)]),
        ("https://forge.io/a/b/issues/7 and https://docs.io/shop/cart.html", []),
        ("<!-- read docs/how_to.md first -->it fails", []),
        ("it is in shop/cart.py, I think", [Pointer("shop/cart.py")]),
        ("cart.py or and/or", []),
        ('File "/x/shop/cart.py", line 4, in add', [Pointer("x/shop/cart.py", 4, "add", True)]),
        ('File "/x/shop/cart.py", line 4, in <module>', [Pointer("x/shop/cart.py", 4, "<module>", True)]),
        (r'File "C:\py\shop\cart.py", line 4, in add', [Pointer("C:/py/shop/cart.py", 4, "add", True)]),
        ("File ~/py/shop/cart.py:52, in Cart.add(self)", [Pointer("py/shop/cart.py", 52, "Cart.add", True)]),
        ("~/py/shop/cart.py in add(self)", [Pointer("py/shop/cart.py", None, "add", True)]),
        ("shop/cart.py:52: in add", [Pointer("shop/cart.py", 52, "add", True)]),
        ("    at Cart.add (/x/lib/cart.js:10:5)", [Pointer("x/lib/cart.js", 10, "Cart.add", True)]),
        ("    at /x/lib/cart.js:10:5", [Pointer("x/lib/cart.js", 10, None, True)]),
        ("\tat com.shop.Cart.add(Cart.java:45)", [Pointer("com/shop/Cart.java", 45, "add", True)]),
        ("\tat com.shop.Cart.<init>(Cart.java:45)", [Pointer("com/shop/Cart.java", 45, "<init>", True)]),
        ("at shop.Cart$Line.add(Cart.kt:4)", [Pointer("shop/Cart.kt", 4, "add", True)]),
        ("lib/cart.rb:45:in `add'", [Pointer("lib/cart.rb", 45, "add", True)]),
        ("/go/shop/cart.go:45 +0x1d", [Pointer("go/shop/cart.go", 45, None, True)]),
    ],
)
def test_pointers_are_told_from_words(text: str, pointers: list[Pointer]) -> None:
    assert pointers_in(text) == pointers


def test_what_is_written_comes_before_frames_and_of_these_first_what_raised() -> None:
    python = 'File "a.py", line 1, in f\nFile "b.py", line 2, in g\nas shop/c.py says'
    assert [each.path for each in pointers_in(python)] == ["shop/c.py", "b.py", "a.py"]
    assert [each.path for each in pointers_in("at f (x/a.js:1:2)\nat g (x/b.js:2:3)")] == ["x/a.js", "x/b.js"]


async def test_only_reports_and_errors_point(store: Store) -> None:
    await store.write([file("shop/cart.py", chunk("shop/cart.py", "add"))])
    for text, is_report in (("fix shop/cart.py:2", False), (f"{LONG}shop/cart.py:2", True)):
        assert bool((await pointed(store, text))[0]) == is_report, text


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("/home/me/src/shop/cart.py", "shop/cart.py"),
        ("/usr/lib/python3/site-packages/shop/cart.py", "shop/cart.py"),
        ("/usr/lib/python3/site-packages/single.py", "single.py"),
        ("/usr/lib/python3/site-packages/core/tax.py", "src/core/tax.py"),
        ("/home/me/deep/shop/cart.py", "deep/shop/cart.py"),
        ("/home/me/single.py", None),
        ("/home/me/other/cart.py", None),
        ("/home/me/two/same.py", None),
        ("/home/me/tests/test_cart.py", None),
        ("/home/me/examples/cart.py", None),
    ],
)
async def test_the_file_that_a_path_from_elsewhere_means(store: Store, said: str, known: str | None) -> None:
    paths = ["shop/cart.py", "single.py", "src/core/tax.py", "a/two/same.py", "b/two/same.py"]
    paths += ["tests/test_cart.py", "examples/cart.py", "deep/shop/cart.py"]
    await store.write([file(path, chunk(path, "add")) for path in paths])
    files, _ = await pointed(store, f'{TRACE}  File "{said}", line 2, in add\nValueError: x')
    assert list(files) == ([] if known is None else [known])


async def test_each_frame_counts_less_than_the_one_it_called_and_a_link_as_much_as_the_last(store: Store) -> None:
    names = ("add", "total", "rate")
    await store.write(
        [
            file("shop/cart.py", *(chunk("shop/cart.py", name, line=10 * n + 1) for n, name in enumerate(names))),
            file("shop/tax.py", chunk("shop/tax.py", "Tax.of", line=1), chunk("shop/tax.py", "Tax", line=1)),
            file("docs/how.md", chunk("docs/how.md", "How", kind="section")),
        ]
    )
    frames = "".join(f'  File "shop/cart.py", line {10 * n + 2}, in {name}\n' for n, name in enumerate(names[:2]))
    files, chunks = await pointed(store, f"{TRACE}{frames}KeyError: 1\nhttps://f.io/a/b/blob/main/shop/cart.py#L23")
    assert chunks == {"rate": 1.0, "total": 1.0, "add": FARTHER} and files == {"shop/cart.py": 1.0}
    linked = f"{TRACE}{frames}KeyError: 1\nhttps://f.io/a/b/blob/main/shop/cart.py#L2"
    assert (await pointed(store, linked))[1] == {"total": 1.0, "add": 1.0}, "a frame takes nothing from a link"
    again = f"{TRACE}{frames}KeyError: 1\n{TRACE}{frames}KeyError: 1\n"
    assert (await pointed(store, again))[1] == {"total": 1.0, "add": FARTHER}, "told twice, it counts once"
    moved = f'{TRACE}  File "shop/cart.py", line 900, in add\n  File "shop/tax.py", line 2, in gone\nKeyError: 1'
    assert await pointed(store, moved) == ({"shop/tax.py": 1.0, "shop/cart.py": FARTHER}, {"add": FARTHER})
    assert await pointed(store, f"{LONG} docs/how.md") == ({}, {}), "what a form asks to be read first"


async def test_what_a_report_points_at_is_weighed_though_none_of_its_words_stands_there(store: Store) -> None:
    other = [file(f"u{n}.py", chunk(f"u{n}.py", f"total_{n}", "total cart rates wrong kept")) for n in range(9)]
    quiet = [chunk("shop/quiet.py", f"hush_{n}", line=10 * n + 1) for n in range(3)]
    await store.write([*other, file("shop/quiet.py", *quiet)])
    for pointer in ("shop/quiet.py", "https://f.io/a/b/blob/main/shop/quiet.py#L12"):
        hits = await store.read(recall, parse_question(f"{LONG}{pointer}"), 5, NOW)
        assert "shop/quiet.py" in [hit.chunk.path for hit in hits[:4]], pointer
    assert hits[0].chunk.name == "hush_1" or "hush_1" in [hit.chunk.name for hit in hits[:4]]
    plain = await store.read(recall, parse_question(LONG), 5, NOW)
    assert "shop/quiet.py" not in [hit.chunk.path for hit in plain]
    assert await store.read(pointed_at, parse_question(LONG)) == Pointed()


async def test_a_file_that_is_pointed_at_is_looked_into_however_many_resemble_the_report_more(store: Store) -> None:
    other = [
        file(f"u{n}.py", chunk(f"u{n}.py", f"total_{n}", "total cart rates wrong kept")) for n in range(WIDELY + 9)
    ]
    await store.write([*other, file("shop/quiet.py", chunk("shop/quiet.py", "hush", "kept"))])
    for pointer, is_told in (("", False), ("https://f.io/a/b/blob/main/shop/quiet.py", True)):
        hits = await store.read(recall, parse_question(f"{LONG}{pointer}"), 5, NOW)
        assert ("hush" in [hit.chunk.name for hit in hits[:4]]) == is_told


@pytest.mark.parametrize(
    ("pointer", "meant"),
    [
        pytest.param(Pointer("a.py", 23, "add"), 21, id="of two of one name the one at the line"),
        pytest.param(Pointer("a.py", 12, "Cart.add"), 1, id="where the line is between them, the nearer"),
        pytest.param(Pointer("a.py", None, "add"), 1, id="without a line the first"),
        pytest.param(Pointer("a.py", 42), 41, id="without a name the smallest around the line"),
        pytest.param(Pointer("a.py", 47), 40, id="and what is around that where it ends before"),
        pytest.param(Pointer("a.py", 42, "gone"), None, id="nothing for a name that is not here"),
    ],
)
def test_which_function_of_a_file_a_pointer_means(pointer: Pointer, meant: int | None) -> None:
    names = {21: "Cart.add", 1: "add", 40: "Tax", 41: "Tax.of"}
    chunks = [SimpleNamespace(name=name, line_start=at, line_end=at + 4) for at, name in names.items()]
    chunks[2].line_end = 60
    found = _meant(pointer, cast("list[ChunkView]", chunks))
    assert [each.line_start for each in found] == ([] if meant is None else [meant])
