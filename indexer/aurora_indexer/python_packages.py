"""Python packages (import roots, monorepo): the folders that packages of a workspace are imported from, by the names
that one folder alone can mean.

They are known by where `__init__.py` lies and by the files that declare a project. `module_paths` looks in an
importer's own folder and those above it first; what is found here is what else is installed beside it, as a rule.
"""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from aurora_memory.module_paths import SOURCE_FOLDERS, ModuleAlias

_PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")
_ASIDE = frozenset(
    {"test", "tests", "testing", "doc", "docs", "example", "examples", "sample", "samples", "script", "scripts"}
    | {"tool", "tools", "benchmark", "benchmarks", "fixtures", "vendor", "_vendor", "third_party", "node_modules"}
)
"""Folders whose packages are imported by what lies beside them only."""

_Root = tuple[str, str]
"""A folder that packages are imported from, and the folder from below which they are."""


def python_packages(root: Path, paths: Iterable[str]) -> list[ModuleAlias]:
    """The packages that one folder alone can be, of a workspace whose files are `paths`. Blocks."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        if path.endswith((".py", ".pyi")):
            folder, name = posixpath.split(path)
            folders.setdefault(folder, []).append(name.partition(".")[0])
    packages = {folder for folder, stems in folders.items() if "__init__" in stems}
    projects: dict[str, str] = {}
    within: dict[str, set[_Root]] = {}
    exactly: dict[str, set[_Root]] = {}
    for folder, stems in folders.items():
        for source in _roots(folder, packages, _project(root, folder, projects)):
            names = folder.removeprefix(source[0]).strip("/").split("/")
            if not _is_importable(names[0]):
                continue
            for n in range(1, len(names) + 1):
                within.setdefault(".".join(names[:n]), set()).add(source)
            package = ".".join(names)
            for stem in stems:
                name = package if stem == "__init__" else f"{package}.{stem}"
                within.setdefault(name, set()).add(source)
                exactly.setdefault(name, set()).add(source)
    return list(_unique(within, exactly))


def _unique(within: dict[str, set[_Root]], exactly: dict[str, set[_Root]]) -> Iterator[ModuleAlias]:
    """Aliases of the shortest names below which all lies in one folder, and of what lies in one of several alone."""
    for name, found in within.items():
        alone = found if len(found) == 1 else exactly.get(name, ())
        above = name.rpartition(".")[0]
        if len(alone) != 1 or len(within.get(above, ())) == 1:
            continue
        ((source, scope),) = alone
        place = posixpath.join(source, name.replace(".", "/"))
        yield ModuleAlias(scope, name, (place,), is_python=True)
        if len(found) == 1:
            yield ModuleAlias(scope, f"{name}.*", (f"{place}/*",), is_python=True)


def _is_importable(first: str) -> bool:
    """Whether other folders import what is called so: the standard library wins, a lone file is a script."""
    return first.isidentifier() and first not in _ASIDE and first not in sys.stdlib_module_names


def _project(root: Path, folder: str, known: dict[str, str]) -> str:
    """The nearest folder, this one or above, that declares a project; the workspace's own where none does."""
    passed: list[str] = []
    while folder and folder not in known and not _declares(root / folder):
        passed.append(folder)
        folder = posixpath.dirname(folder)
    found = known.get(folder, folder)
    known.update(dict.fromkeys([*passed, folder], found))
    return found


def _declares(folder: Path) -> bool:
    """Project root: whether a folder has a `pyproject.toml` or the like."""
    try:
        return any((folder / name).is_file() for name in _PROJECT_FILES)
    except OSError:  # the path is too long, as a rule
        return False


def _roots(folder: str, packages: set[str], project: str) -> Iterator[_Root]:
    """The folders that what lies in `folder` is imported from: its project's, and that of its topmost package.

    Below a folder of sources what holds no `__init__.py` is a part of a name (`src/opentelemetry/trace`). What the
    workspace itself is the project of is found from everywhere.
    """
    at = [posixpath.join(project, source).rstrip("/") for source in SOURCE_FOLDERS if source]
    source = next((each for each in at if folder == each or folder.startswith(f"{each}/")), "")
    top = folder
    while top and top in packages:  # the workspace may be a package itself
        top = posixpath.dirname(top)
    found = {}
    if project:
        found[source or project] = ""
    if top != folder and top and not source:
        found.setdefault(top, project)
    for each, scope in found.items():
        if not _ASIDE.intersection(each.split("/")):
            yield each, scope
