"""Test files of a product file (test selection by the import graph): first the one named after it, then those that
import it, then those one step away.

Read from the imports as they are written; nothing is run.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path

from tests.syntax import statements

ELSEWHERE = ("tests/e2e/", "tests/benchmarks/", "tests/mutation/")
"""Tests that drive the installed program, or nothing of the product."""

FAR = 3
NEXT = 1
"""How many imports there may be between a test and a file, in its own room and from another."""


def nearest_tests(root: Path, path: str, packages: Sequence[str], most: int) -> list[str]:
    """At most `most` test files (relative to `root`) for a product file, the nearest first.

    Near are those named after it, then those of its room by the imports between them and it, then the next of others.
    """
    stem, room = Path(path).stem, path.partition("/")[0]
    steps = _steps_to(module_of(path, packages), _product(root, packages))
    ranked: list[tuple[int, int, str]] = []
    for test in sorted(root.glob("tests/**/test_*.py")):
        name = test.relative_to(root).as_posix()
        away = min((steps[each] for each in _imports(test) if each in steps), default=FAR)
        own = name.startswith(f"tests/{room}/")
        if name.startswith(ELSEWHERE) or away > (FAR if own else NEXT):
            continue
        named = stem in test.stem.removeprefix("test_").split("_") or test.stem == f"test_{stem}"
        ranked.append((0 if named else 1 if own else 2, away, name))
    return [name for *_, name in sorted(ranked)[:most]]


def module_of(path: str, packages: Sequence[str]) -> str:
    """The dotted name of a product file."""
    for package in packages:
        if path.startswith(f"{package}/"):
            return path.removeprefix(f"{package}/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    raise ValueError(f"{path} is in none of {', '.join(packages)}")


def _steps_to(module: str, product: Mapping[str, Collection[str]]) -> dict[str, int]:
    """How many imports are between each product module and this one: 0 for itself."""
    steps, front = {module: 0}, {module}
    while front:
        front = {name for name, imports in product.items() if name not in steps and not front.isdisjoint(imports)}
        steps.update(dict.fromkeys(front, max(steps.values()) + 1))
    return steps


@cache
def _known(root: Path, packages: tuple[str, ...]) -> dict[str, frozenset[str]]:
    files = (file for package in packages for file in (root / package).rglob("*.py"))
    return {module_of(file.relative_to(root).as_posix(), packages): _imports(file) for file in files}


def _product(root: Path, packages: Sequence[str]) -> dict[str, frozenset[str]]:
    """What each product module imports."""
    return _known(root, tuple(packages))


@cache
def _imports(file: Path) -> frozenset[str]:
    """The modules a file imports from, and the names it takes that may be modules."""
    found: set[str] = set()
    for node in statements(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found.update(f"{node.module}.{each.name}" for each in node.names)
    return frozenset(found)
