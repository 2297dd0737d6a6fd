"""Callers in a workspace of several Rust crates: along `use`, re-exports, globs and paths, from file to file."""

from __future__ import annotations

from pathlib import Path

import pytest

from aurora_indexer.rust_crates import rust_crates
from aurora_memory.views import UsageCounts
from tests.indexer.test_module_aliases import usage

BOTH = pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])

CORE = {
    "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\n',
    "crates/core/Cargo.toml": '[package]\nname = "shop-core"\n',
    "crates/core/src/lib.rs": "mod cart;\npub mod tools;\nmod bill;\npub use bill::*;\npub use cart::{add, Cart};\n"
    "pub use cart::inner::deep as deeper;\npub mod prelude {\n    pub use super::tools::*;\n}\n",
    "crates/core/src/cart.rs": "pub mod inner;\n\npub struct Cart;\n\nimpl Cart {\n    pub fn open() -> Cart {\n"
    "        Cart\n    }\n}\n\npub fn add() {}\n",
    "crates/core/src/cart/inner.rs": "pub fn deep() {\n    super::add();\n}\n",
    "crates/core/src/bill/mod.rs": "mod lines;\npub use self::lines::total;\n\npub fn pay() {\n    total();\n}\n",
    "crates/core/src/bill/lines.rs": "pub fn total() {}\n",
    "crates/core/src/tools.rs": "pub fn trim() {}\n\npub fn split() {\n    crate::cart::add();\n}\n",
    # Another crate with the same names in it.
    "crates/other/Cargo.toml": '[package]\nname = "other"\n',
    "crates/other/src/lib.rs": "pub fn add() {}\npub fn pay() {}\npub fn total() {}\npub fn trim() {}\n"
    "pub fn deep() {}\npub struct Cart;\n\nimpl Cart {\n    pub fn open() -> Cart {\n        Cart\n    }\n}\n",
}


async def callers(root: Path, use: str, path: str, name: str, *, twice: bool = False) -> UsageCounts:
    """How often a definition of the workspace above is used, with one file more."""
    files = {**CORE, "crates/app/Cargo.toml": '[package]\nname = "app"\n', "crates/app/src/main.rs": use}
    return await usage(root, files, path, name, twice=twice)


@BOTH
@pytest.mark.parametrize(
    ("use", "path", "name"),
    [
        pytest.param("use shop_core::add;\nfn main() { add(); }\n", "cart", "add", id="a re-export"),
        pytest.param("use shop_core::{tools::{split}, add};\nfn main() { add(); }\n", "cart", "add", id="a group"),
        pytest.param("use shop_core::tools::{self, trim as cut};\nfn main() { cut(); }\n", "tools", "trim", id="as"),
        pytest.param("use shop_core::tools;\nfn main() { tools::trim(); }\n", "tools", "trim", id="a module"),
        pytest.param("use shop_core::pay;\nfn main() { pay(); }\n", "bill/mod", "pay", id="a glob in lib.rs"),
        pytest.param("use shop_core::total;\nfn main() { total(); }\n", "bill/lines", "total", id="two re-exports"),
        pytest.param("use shop_core::*;\nfn main() { pay(); }\n", "bill/mod", "pay", id="a glob of a glob"),
        pytest.param("use shop_core::prelude::*;\nfn main() { trim(); }\n", "tools", "trim", id="a prelude"),
        pytest.param("fn main() { shop_core::tools::trim(); }\n", "tools", "trim", id="a whole path"),
        pytest.param("use shop_core as core_;\nfn main() { core_::pay(); }\n", "bill/mod", "pay", id="a crate as"),
        pytest.param("fn main() { use shop_core::pay; pay(); }\n", "bill/mod", "pay", id="use in a function"),
        pytest.param(
            "use shop_core::deeper;\nfn main() { deeper(); }\n", "cart/inner", "deep", id="renamed on the way"
        ),
        pytest.param("use shop_core::Cart;\nfn main() { Cart::open(); }\n", "cart", "Cart.open", id="of a type"),
    ],
)
async def test_callers_in_another_crate(tmp_path: Path, use: str, path: str, name: str, twice: bool) -> None:
    here = {"tools/trim": 0, "cart/add": 2, "bill/lines/total": 1}.get(f"{path}/{name}", 0)
    of = f"crates/core/src/{path}.rs"
    assert await callers(tmp_path, use, of, name, twice=twice) == UsageCounts(callers=here + 1)


@BOTH
@pytest.mark.parametrize(
    ("use", "name"),
    [
        pytest.param("use shop_core::add;\nfn main() { add(); }\n", "add", id="what is imported from elsewhere"),
        pytest.param("use std::cell::Cart;\nfn main() { Cart::open(); }\n", "Cart.open", id="of the standard library"),
        pytest.param("use serde::add;\nfn main() { add(); }\n", "add", id="of a crate that is not here"),
        pytest.param("fn main() { std::mem::add(); }\n", "add", id="a path into the standard library"),
        pytest.param("fn main(pay: Wire) { pay.total(); }\n", "total", id="a method of a variable"),
        pytest.param("struct A;\nimpl A { fn run(&self) { open(); } }\nfn main() {}\n", "Cart.open", id="no method"),
    ],
)
async def test_what_is_called_so_elsewhere_is_not_meant(tmp_path: Path, use: str, name: str, twice: bool) -> None:
    assert await callers(tmp_path, use, "crates/other/src/lib.rs", name, twice=twice) == UsageCounts()


@BOTH
@pytest.mark.parametrize(
    ("path", "name", "count"),
    [("cart", "add", 2), ("bill/lines", "total", 1)],
    ids=["by super and crate", "by a re-export of the file's own"],
)
async def test_callers_in_the_same_crate(tmp_path: Path, path: str, name: str, count: int, twice: bool) -> None:
    found = await callers(tmp_path, "fn main() {}\n", f"crates/core/src/{path}.rs", name, twice=twice)
    assert found == UsageCounts(callers=count)


async def test_what_a_module_of_tests_takes_from_around_it_is_the_files(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "shop"\n',
        "src/lib.rs": "mod cart;\npub fn add() {}\n",
        "src/cart.rs": "pub fn add() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n"
        "    fn adds() {\n        add();\n        super::add();\n    }\n}\n\npub fn more() {\n    super::add();\n}\n",
        "tests/all.rs": "mod common;\nuse shop::add;\n\n#[test]\nfn all() {\n    add();\n    common::set_up();\n}\n",
        "tests/common/mod.rs": "pub fn set_up() {}\n",
    }
    assert await usage(tmp_path, files, "src/cart.rs", "add") == UsageCounts(callers=1)
    assert await usage(tmp_path, files, "src/lib.rs", "add") == UsageCounts(callers=2)
    assert await usage(tmp_path, files, "tests/common/mod.rs", "set_up") == UsageCounts(callers=1)


async def test_a_circle_of_re_exports_gives_nothing(tmp_path: Path) -> None:
    files = {
        "Cargo.toml": '[package]\nname = "shop"\n',
        "src/lib.rs": "mod a;\nmod b;\npub use a::*;\nuse a::gone;\nfn run() { gone(); }\n",
        "src/a.rs": "pub use crate::b::*;\npub use crate::b::gone;\n",
        "src/b.rs": "pub use crate::a::*;\npub use crate::a::gone;\nmod c { pub fn gone() {} }\n",
    }
    assert await usage(tmp_path, files, "src/b.rs", "c.gone") == UsageCounts()


def test_crates_are_known_by_their_manifests(tmp_path: Path) -> None:
    manifests = {
        "Cargo.toml": '[workspace]\nmembers = ["*"]\n',
        "a/Cargo.toml": '[package]\nname = "shop-core"\n',
        "b/Cargo.toml": '[package]\nname = "b"\n[lib]\nname = "bank"\npath = "bank.rs"\n',
        "c/Cargo.toml": '[package]\nname = "c"\n[dependencies]\ncore = { package = "shop-core", path = "../a" }\n'
        'd = { version = "1", path = "../d" }\n[target."cfg(unix)".dev-dependencies]\ntill = { package = "b" }\n',
        "d/Cargo.toml": '[package]\nname = "d"\n',
        "e/d/Cargo.toml": '[package]\nname = "d"\n',
        "f/Cargo.toml": "no manifest",
        "g/Cargo.toml": 'package = 1\nlib = "x"\ndependencies = [2]\n',
    }
    for path, text in manifests.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    sources = ["a/src/lib.rs", "b/bank.rs", "c/src/main.rs", "d/src/lib.rs", "e/d/src/lib.rs", "f/lib.rs", "g/x.rs"]
    found = rust_crates(tmp_path, sources)
    assert {each.language for each in found} == {"rust"}
    assert [(each.scope, each.pattern, each.targets) for each in found] == [
        ("e/d", "d", ("e/d/src/lib.rs",)),
        ("c", "core", ("a/src/lib.rs",)),
        ("c", "d", ("d/src/lib.rs",)),
        ("c", "till", ("b/bank.rs",)),
        ("d", "d", ("d/src/lib.rs",)),
        ("", "bank", ("b/bank.rs",)),
        ("", "shop_core", ("a/src/lib.rs",)),
    ]
