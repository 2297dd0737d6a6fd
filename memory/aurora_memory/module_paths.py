"""Paths of modules (import resolution): the files that an import can mean, as Python, JavaScript, TypeScript, Go and
Rust look for them.

Only what the languages themselves try is tried, so that what is found is sure; `scope` guesses where nothing is.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

ES_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".d.ts", ".vue", ".svelte")
_ES_WRITTEN = (".js", ".jsx", ".mjs", ".cjs")
SOURCE_FOLDERS = ("", "src/", "lib/", "python/")
"""Folders below a project's in which its Python packages lie."""

WRITTEN_IN = ("src", "lib")
BUILT = ("dist", "lib", "build", "out", "esm", "cjs", "types")


STANDARD_CRATES = frozenset({"std", "core", "alloc", "proc_macro"})
"""Crates that come with Rust's compiler."""


def stem(path: str) -> str:
    """The name of a file before its first dot, which is what its module is called."""
    return path.rpartition("/")[2].partition(".")[0]


_RUST_FRONTS = ("mod.rs", "lib.rs", "main.rs")
_RUST_PROGRAMS = frozenset({"tests", "benches", "examples", "bin"})
"""Folders in which each Rust file is a crate by itself."""


class ModuleAlias(Struct, frozen=True, array_like=True):
    """Alias of modules: what matches `pattern` (at most one `*`) in files below `scope` is looked for at `targets`.

    A `tsconfig.json`'s `paths` and `baseUrl`, or a package of this workspace, by its name and, after a `/`, by its
    folder. Paths are relative to the workspace. A Python package's names have dots, and are no other language's; nor
    are those of a `language` that is told (`go`, and `rust`, whose crates are told by the file they begin in).
    """

    scope: str
    pattern: str
    targets: tuple[str, ...]
    is_python: bool = False
    language: str = ""


def candidates(module: str, importer: str, family: str, aliases: Sequence[ModuleAlias] = ()) -> Iterator[str]:
    """Paths that `module`, as written in the file `importer`, can be: the first that exists is it.

    A Go package is a folder, with `/` at its end.
    """
    if family == "python":
        yield from _python(module, importer)
        for alias in aliases:
            if alias.is_python and _below(importer, alias.scope):
                matched = _matched(alias.pattern, module)
                if matched is not None:
                    yield from _python_files(alias.targets[0].replace("*", matched.replace(".", "/"), 1))
        return
    if family == "rust":
        yield from _rust(module.split("::"), importer, aliases)
        return
    language = family if family == "go" else ""
    aliases = [alias for alias in aliases if not alias.is_python and alias.language == language]
    if family == "go":
        for alias in aliases:
            matched = _matched(alias.pattern, module)
            if matched is not None and alias.targets:
                folder = posixpath.normpath(alias.targets[0].replace("*", matched, 1))
                yield "/" if folder == "." else f"{folder}/"
                return
    elif family == "ecmascript":
        if module.startswith("."):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
            yield from _es_files(path)
            for alias in aliases:
                if alias.pattern == f"/{path.removeprefix('.')}":
                    for target in alias.targets:
                        yield from _es_files(target)
        else:
            for alias in aliases:
                matched = _matched(alias.pattern, module)
                if matched is not None and _below(importer, alias.scope):
                    for target in alias.targets:
                        yield from _es_files(target.replace("*", matched, 1))


def is_renamed(alias: ModuleAlias, file: str, family: str) -> bool:
    """Whether an import may mean `file` (a folder of Go's, with `/` at its end) by this alias without having the last
    name of its path: `@shop/server` for `packages/server/src/index.ts`.
    """
    if alias.is_python != (family == "python") or alias.language != (family if family == "go" else ""):
        return False
    for target in alias.targets:
        before, star, after = target.partition("*") if "*" in alias.pattern else (target.replace("*", "", 1), "", "")
        base = posixpath.dirname(before).split("/")
        built = next((n for n, part in enumerate(base) if part in BUILT), len(base))
        if not file.startswith(posixpath.normpath("/".join([*base[:built], ""])).strip("./")):
            continue
        if star and after:
            return True
        if family == "go":
            folder = posixpath.normpath(before)
            led = file == ("/" if folder == "." else f"{folder}/")
        else:
            led = file in (_python_files(before) if alias.is_python else _es_files(before))
        if led:
            return True
    return False


def _rust(names: Sequence[str], importer: str, aliases: Sequence[ModuleAlias]) -> Iterator[str]:
    """Files that a path of Rust leads through: any of its names may be a module that is a file."""
    first, rest = names[0], names[1:]
    if first in STANDARD_CRATES:
        return
    starts = [importer]
    if first == "crate":
        starts = [file for some in rust_roots(importer) for file in some]
    elif first == "super":
        while first == "super":
            starts += [file for start in starts for file in rust_parents(start)]
            first, rest = rest[0] if rest else "", rest[1:]
        rest = [first, *rest]
    elif first != "self":
        rest = names
        for alias in aliases:
            if alias.language == "rust" and alias.pattern == first and _below(importer, alias.scope):
                yield from _rust_below(alias.targets[0], names[1:], (alias.targets[0],))
    crates = [alias.targets[0] for alias in aliases if alias.language == "rust"]
    for start in dict.fromkeys(starts):
        yield from _rust_below(start, rest, crates)


def _rust_below(file: str, names: Sequence[str], crates: Collection[str]) -> Iterator[str]:
    """A file, and those of the modules in it along a path."""
    yield file
    below = rust_folder(file, crates)
    for name in names:
        below = posixpath.join(below, name)
        yield f"{below}.rs"
        yield f"{below}/mod.rs"


def rust_folder(file: str, crates: Collection[str]) -> str:
    """The folder in which the modules of a Rust file lie that are files themselves; `crates` are files that crates
    begin in.
    """
    folder, name = posixpath.split(file)
    if name in _RUST_FRONTS or file in crates or is_rust_program(file):
        return folder
    return posixpath.join(folder, name.removesuffix(".rs"))


def rust_roots(file: str) -> Iterator[tuple[str, ...]]:
    """The files that `crate` can be in a Rust file, the nearest first, of each folder those that can be in it."""
    folder = posixpath.dirname(file)
    if is_rust_program(file):
        yield (file,)
        return
    while True:
        yield posixpath.join(folder, "lib.rs"), posixpath.join(folder, "main.rs")
        if not folder:
            return
        folder = posixpath.dirname(folder)


def rust_parents(file: str) -> tuple[str, ...]:
    """The files that `super` can be in a Rust file."""
    folder, name = posixpath.split(file)
    if name == "mod.rs":
        folder = posixpath.dirname(folder)
    elif name in _RUST_FRONTS:
        return ()
    fronts = tuple(posixpath.join(folder, front) for front in _RUST_FRONTS)
    return (*fronts, f"{folder}.rs") if folder else fronts


def is_rust_program(file: str) -> bool:
    """Whether a Rust file is a crate by the folder that it lies in: `tests/cart.rs`, not `src/cart/tests/mod.rs`."""
    folders = file.split("/")[:-1]
    return bool(folders) and folders[-1] in _RUST_PROGRAMS and (folders[-1] == "bin" or "src" not in folders)


def _python(module: str, importer: str) -> Iterator[str]:
    """Module resolution of Python: relative imports by their dots, others from each folder above the importer."""
    folder = posixpath.dirname(importer)
    dots = len(module) - len(module.lstrip("."))
    rest = module[dots:].replace(".", "/")
    if dots:
        for _ in range(dots - 1):
            folder = posixpath.dirname(folder)
        yield from _python_files(posixpath.join(folder, rest) if rest else folder)
        return
    while True:
        above = f"{folder}/" if folder else ""
        for source in SOURCE_FOLDERS:
            yield from _python_files(f"{above}{source}{rest}")
        if not folder:
            return
        folder = posixpath.dirname(folder)


def _python_files(stem: str) -> Iterator[str]:
    """Files that a Python module can be: a package's `__init__.py`, `.py`, a stub (`.pyi`), or Cython's."""
    stem = stem.rstrip("/")
    yield f"{stem}/__init__.py" if stem else "__init__.py"
    yield f"{stem}.py"
    yield f"{stem}.pyi"
    yield f"{stem}.pyx"
    yield f"{stem}.pxd"


def _es_files(written: str) -> Iterator[str]:
    """Module resolution of JavaScript (Node.js): the path as written, with each suffix, and a folder's `index`."""
    path = posixpath.normpath(written)
    if path.startswith(".."):
        return
    for spelled in dict.fromkeys((path, *_sources_of(path))):
        yield spelled
        stem, suffix = posixpath.splitext(spelled)
        if suffix in _ES_WRITTEN:  # `./a.js` is what `./a.ts` becomes
            yield from (stem + each for each in ES_SUFFIXES)
        yield from (spelled + each for each in ES_SUFFIXES)
        yield from (f"{spelled}/index{each}".removeprefix("./") for each in ES_SUFFIXES)


def _sources_of(path: str) -> Iterator[str]:
    """Where the source of a built file may lie: `packages/a/dist/index.js` → `packages/a/src/index.js`."""
    parts = path.split("/")
    for n, part in enumerate(parts[:-1]):
        if part in BUILT:
            for written in WRITTEN_IN:
                if written != part:
                    yield "/".join([*parts[:n], written, *parts[n + 1 :]])


def _matched(pattern: str, module: str) -> str | None:
    """What `*` stands for, "" in a pattern without one; None where the pattern is another."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if module == pattern else None
    if len(module) < len(before) + len(after) or not module.startswith(before) or not module.endswith(after):
        return None
    return module[len(before) : len(module) - len(after)]


def _below(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")
