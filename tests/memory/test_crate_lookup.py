"""Paths of Rust: what they mean among some files, and that circles of imports end."""

from __future__ import annotations

from aurora_memory.chunks import Import
from aurora_memory.crate_lookup import NOTHING, OUTSIDE, CrateLookup
from aurora_memory.module_paths import ModuleAlias
from tests.memory.chunks import definition

SHOP = (ModuleAlias("", "shop", ("src/lib.rs",), language="rust"),)


def lookup(imports: dict[str, tuple[Import, ...]], *names: str) -> CrateLookup:
    """Lookup among functions, told as `file:name`."""
    found = [definition(n, *each.split(":"), language="rust") for n, each in enumerate(names)]
    named = {each.leaf: [other for other in found if other.leaf == each.leaf] for each in found}
    placed = {(each.path, each.leaf): [each] for each in found}
    return CrateLookup(named, placed, imports, SHOP)


def test_circles_of_imports_end_soon_however_many_there_are() -> None:
    files = [f"src/m{n}.rs" for n in range(20)]
    both = [
        entry
        for n in range(20)
        for entry in (Import(f"crate::m{n}", "gone"), Import(f"crate::m{n}", "*"), Import(f"crate::m{n}", "add"))
    ]
    crates = lookup(
        {"src/lib.rs": (), "src/m20.rs": (), **dict.fromkeys(files, (*both, Import("crate::m20", "add")))},
        "src/m20.rs:add",
    )
    for file in files:
        assert crates.meant(file, ["gone"]) is NOTHING
        assert [each.path for each in crates.meant(file, ["add"]).definitions] == ["src/m20.rs"]


def test_what_is_not_found_within_a_circle_may_be_found_from_elsewhere() -> None:
    imports = {
        "src/lib.rs": (),
        "src/a.rs": (Import("crate::b", "add"), Import("crate::c", "add")),
        "src/b.rs": (Import("crate::a", "add"),),
        "src/c.rs": (),
    }
    for first in ("src/a.rs", "src/b.rs"):
        crates = lookup(imports, "src/c.rs:add")
        for file in (first, "src/a.rs", "src/b.rs"):
            assert [each.path for each in crates.meant(file, ["add"]).definitions] == ["src/c.rs"]


def test_what_begins_elsewhere_is_outside() -> None:
    crates = lookup({"src/lib.rs": (Import("serde", "add"),), "src/a.rs": ()}, "src/a.rs:add")
    assert crates.meant("src/lib.rs", ["add"]) is OUTSIDE
    assert crates.meant("src/lib.rs", ["std", "add"]) is OUTSIDE
    assert crates.meant("src/lib.rs", ["a", "add"]).definitions
    assert crates.meant("src/a.rs", ["shop", "a", "add"]).definitions
    assert crates.meant("src/a.rs", ["super", "a", "more"]) is NOTHING
