"""Paths of modules (import resolution): the files that an import can mean, as Python, JavaScript, TypeScript and Go
look for them.

Only what the languages themselves try is tried, so that what is found is sure; `scope` guesses where nothing is.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from msgspec import Struct

ES_SUFFIXES = (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".d.ts", ".vue", ".svelte")
_ES_WRITTEN = (".js", ".jsx", ".mjs", ".cjs")
SOURCE_FOLDERS = ("", "src/", "lib/", "python/")
"""Folders below a project's in which its Python packages lie."""

_WRITTEN_IN = ("src", "lib")
_BUILT = ("dist", "lib", "build", "out", "esm", "cjs", "types")


class ModuleAlias(Struct, frozen=True, array_like=True):
    """Alias of modules: what matches `pattern` (at most one `*`) in files below `scope` is looked for at `targets`.

    A `tsconfig.json`'s `paths` and `baseUrl`, or a package of this workspace, by its name and, after a `/`, by its
    folder. Paths are relative to the workspace. A Python package's names have dots, and are no other language's; nor
    are those of a `language` that is told (`go`).
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
        if part in _BUILT:
            for written in _WRITTEN_IN:
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
