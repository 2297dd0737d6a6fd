"""Rust crates (Cargo packages, workspaces): the files in which a workspace's crates begin, by the names that others use
them by.

Read from the `Cargo.toml`s in the folders in which Rust lies and those above them; of one that cannot be read, or is no
TOML, nothing is taken.
"""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_memory.module_paths import ModuleAlias

MAX_BYTES = 1 << 20

_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies")


def rust_crates(root: Path, paths: Collection[str]) -> list[ModuleAlias]:
    """The crates of a workspace whose files are `paths`: those of one package's own first, then those that are known by
    their name everywhere. Blocks.
    """
    sources = {path for path in paths if path.endswith(".rs")}
    around: set[str] = set()
    for folder in {posixpath.dirname(path) for path in sources}:
        while folder not in around:
            around.add(folder)
            folder = posixpath.dirname(folder)
    manifests = {
        folder: found for folder in sorted(around) if (found := _toml(root, posixpath.join(folder, "Cargo.toml")))
    }
    crates = {folder: crate for folder, found in manifests.items() if (crate := _crate(folder, found, sources))}
    by_package: dict[str, list[str]] = {}
    by_name: dict[str, list[str]] = {}
    for folder, (name, _) in crates.items():
        by_package.setdefault(_table(manifests[folder], "package").get("name", ""), []).append(folder)
        by_name.setdefault(name, []).append(folder)
    everywhere = {name: crates[folders[0]][1] for name, folders in by_name.items() if len(folders) == 1}
    aliases: list[ModuleAlias] = []
    for folder, manifest in manifests.items():
        names = {crates[folder][0]: folder} if folder in crates else {}
        for name, package, path in _dependencies(manifest):
            known = by_package.get(package, ())
            place = _joined(folder, path) if path else known[0] if len(known) == 1 else None
            if place in crates:
                names[name or crates[place][0]] = place
        aliases += [
            ModuleAlias(folder, name, (crates[place][1],), language="rust")
            for name, place in sorted(names.items())
            if everywhere.get(name) != crates[place][1]
        ]
    aliases += [ModuleAlias("", name, (file,), language="rust") for name, file in sorted(everywhere.items())]
    return sorted(aliases, key=lambda alias: -len(alias.scope.split("/")) if alias.scope else 0)


def _crate(folder: str, manifest: dict[str, Any], sources: Collection[str]) -> tuple[str, str] | None:
    """Name of a package's library, as Rust has it, and the file it begins in; None where there is none."""
    package, library = _table(manifest, "package"), _table(manifest, "lib")
    name, path = library.get("name", package.get("name")), library.get("path", "src/lib.rs")
    if not isinstance(name, str) or not isinstance(package.get("name"), str) or not isinstance(path, str):
        return None
    file = posixpath.normpath(posixpath.join(folder, path))
    return (name.replace("-", "_"), file) if file in sources else None


def _dependencies(manifest: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Dependencies of a package: by what other name it uses them, the package's own, and its path, as far as told."""
    places = [manifest, *(each for each in _table(manifest, "target").values() if isinstance(each, dict))]
    for place in places:
        for table in _DEPENDENCIES:
            for name, told in _table(place, table).items():
                if isinstance(told, dict):
                    package, path = told.get("package", name), told.get("path", "")
                    if isinstance(package, str) and isinstance(path, str):
                        yield name.replace("-", "_") if "package" in told else "", package, path


def _table(around: dict[str, Any], name: str) -> dict[str, Any]:
    found = around.get(name)
    return found if isinstance(found, dict) else {}


def _joined(folder: str, path: str) -> str:
    joined = posixpath.normpath(posixpath.join(folder, path))
    return "" if joined == "." else joined


def _toml(root: Path, path: str) -> dict[str, Any]:
    """A TOML file; nothing where there is none."""
    try:
        return tomllib.loads(read_prefix(str(root / path), MAX_BYTES, follow=False).decode("utf-8", "replace"))
    except (OSError, NotARegularFile, ValueError, RecursionError):
        return {}
