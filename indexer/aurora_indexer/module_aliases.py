"""Module aliases: the path mapping by which imports are resolved, of `tsconfig.json`s (`paths`, `baseUrl`) and packages
(`exports` of `package.json`, `go.mod`).

Read from the folders in which JavaScript or TypeScript lies and those above them; of files that cannot be read, or are
no JSON, nothing is taken. Python's are found by `python_packages`, Rust's by `rust_crates`.
"""

from __future__ import annotations

import asyncio
import json
import posixpath
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_indexer.python_packages import python_packages
from aurora_indexer.rust_crates import rust_crates
from aurora_memory.module_paths import ES_SUFFIXES, ModuleAlias
from aurora_memory.store import Store

MAX_BYTES = 1 << 20
MAX_ALIASES = 5000

_FRONTS = ("source", "module", "main", "types")
_CONFIGS = ("tsconfig.json", "tsconfig.base.json", "jsconfig.json")
_GO_MODULE = re.compile(rb'^[ \t]{0,20}module[ \t]{1,20}"?([^\s"]{1,500})', re.M)
_STRING_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.S)
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def module_aliases(root: Path, folders: Iterable[str]) -> tuple[ModuleAlias, ...]:
    """The aliases that hold in those folders of the workspace (relative to it), the most special first. Blocks."""
    around: set[str] = {""}
    for folder in folders:
        while folder and folder not in around:
            around.add(folder)
            folder = posixpath.dirname(folder)
    found: list[ModuleAlias] = []
    for folder in sorted(around):
        for name in _CONFIGS:
            config = _json(root, posixpath.join(folder, name))
            if config:
                found += _of_config(root, folder, config)
        if name := _go_module(root, posixpath.join(folder, "go.mod")):
            found += [
                ModuleAlias(folder, name, (folder or ".",), language="go"),
                ModuleAlias(folder, f"{name}/*", (f"{folder or '.'}/*",), language="go"),
            ]
        package = _json(root, posixpath.join(folder, "package.json"))
        if package:
            found += _of_package(folder, package)
    found.sort(key=lambda alias: (-len(alias.scope), -len(alias.pattern.partition("*")[0]), "*" in alias.pattern))
    return tuple(found[:MAX_ALIASES])


def _of_config(root: Path, folder: str, config: dict[str, Any], depth: int = 3) -> Iterator[ModuleAlias]:
    """Path mapping of a `tsconfig.json`: its own, else that of what it extends in this workspace."""
    options = config.get("compilerOptions")
    options = options if isinstance(options, dict) else {}
    base, paths = options.get("baseUrl"), options.get("paths")
    at = _joined(folder, base) if isinstance(base, str) else folder
    if isinstance(paths, dict):
        for pattern, targets in paths.items():
            written = [each for each in targets if isinstance(each, str)] if isinstance(targets, list) else []
            places = [place for each in written if (place := _joined(at or "", each)) is not None]
            if isinstance(pattern, str) and places:
                yield ModuleAlias(folder, pattern, tuple(places))
    if isinstance(base, str) and at is not None:
        yield ModuleAlias(folder, "*", (posixpath.join(at, "*"),))
    extended = config.get("extends")
    if depth and isinstance(extended, str) and extended.startswith(".") and not isinstance(paths, dict):
        path = _joined(folder, extended if extended.endswith(".json") else f"{extended}.json")
        other = _json(root, path) if path else None
        if path and other:
            for alias in _of_config(root, posixpath.dirname(path), other, depth - 1):
                yield ModuleAlias(folder, alias.pattern, alias.targets)


def _of_package(folder: str, package: dict[str, Any]) -> Iterator[ModuleAlias]:
    """A package by its name, each of its `exports`, and its private `imports` (`#internal`)."""
    name = package.get("name")
    imports = package.get("imports")
    if isinstance(imports, dict):
        for pattern, value in imports.items():
            if targets := _targets(folder, value):
                yield ModuleAlias(folder, str(pattern), targets)
    main = [
        place for field in _FRONTS if isinstance(package.get(field), str) for place in _targets(folder, package[field])
    ]
    if main:
        yield ModuleAlias("", f"/{folder}", tuple(dict.fromkeys(main)))
    if not isinstance(name, str) or not name:
        return
    exports = package.get("exports")
    front: list[str] = []
    if isinstance(exports, dict) and any(str(key).startswith(".") for key in exports):
        for key, value in exports.items():
            targets = _targets(folder, value)
            if key == ".":
                front += targets
            elif targets and str(key).startswith("./"):
                yield ModuleAlias("", f"{name}/{str(key)[2:]}", targets)
    elif exports is not None:
        front += _targets(folder, exports)
    front += [
        *main,
        posixpath.join(folder, "src/index"),
        posixpath.join(folder, "lib/index"),
        posixpath.join(folder, "index"),
    ]
    yield ModuleAlias("", name, tuple(dict.fromkeys(front)))
    yield ModuleAlias("", f"{name}/*", (posixpath.join(folder, "src/*"), posixpath.join(folder, "*")))


def _targets(folder: str, value: Any, depth: int = 5) -> tuple[str, ...]:
    """The files named by an entry of `exports`: one, or several by condition."""
    if isinstance(value, str):
        place = _joined(folder, value)
        return (place,) if place else ()
    if depth and isinstance(value, (dict, list)):
        inside = value.values() if isinstance(value, dict) else value
        return tuple(dict.fromkeys(place for each in inside for place in _targets(folder, each, depth - 1)))
    return ()


def _go_module(root: Path, path: str) -> str:
    """The name of the module that a `go.mod` is of, "" where there is none."""
    try:
        found = _GO_MODULE.search(read_prefix(str(root / path), MAX_BYTES, follow=False))
    except (OSError, NotARegularFile):
        return ""
    return found[1].decode("utf-8", "replace") if found else ""


def _joined(folder: str, written: str) -> str | None:
    """A path relative to the workspace; None for one outside of it."""
    path = posixpath.normpath(posixpath.join(folder, written))
    return None if path.startswith(("../", "/")) or path == ".." else "" if path == "." else path


def _json(root: Path, path: str) -> dict[str, Any] | None:
    """A JSON object, with comments and trailing commas as `tsconfig.json` may have them."""
    try:
        text = read_prefix(str(root / path), MAX_BYTES, follow=False).decode("utf-8-sig", "replace")
        plain = _STRING_OR_COMMENT.sub(lambda found: found[0] if found[0].startswith('"') else "", text)
        value = json.loads(_TRAILING_COMMA.sub(r"\1", plain))
    except (OSError, NotARegularFile, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


async def keep_module_aliases(root: Path, store: Store, paths: Collection[str]) -> None:
    """Bring memory's module aliases up to date; `paths` are the files of the workspace."""

    def found() -> tuple[ModuleAlias, ...]:
        folders = {posixpath.dirname(path) for path in paths if path.endswith((*ES_SUFFIXES, ".go"))}
        others = module_aliases(root, folders) if folders else ()
        return (*others, *python_packages(root, paths), *rust_crates(root, paths))[:MAX_ALIASES]

    await store.keep_module_aliases(await asyncio.to_thread(found))
