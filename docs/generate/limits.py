"""`docs/reference/limits.md`: limits and other numbers that somebody chose, from the constants that hold them.

A number is a constant of a module, in capitals. Those that follow on each other above one docstring are one row; of
those without a docstring the ones whose name says that they bound something.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from docs.generate.citations import ROOT
from docs.generate.markdown import cell, table

PAGE = "docs/reference/limits.md"

ROOMS: Mapping[str, str] = {
    "server": "Server and command line",
    "orchestration": "Questions and deliverables",
    "indexer": "Index",
    "memory": "Memory and teams",
    "protocol": "Wire and manifests",
}

HEAD = """# Limits

Numbers that are no [settings](settings.md): how much is read, kept, shown or waited for, and what counts how much.
What is beyond a limit is left out, cut or refused where its line says so. Bytes, seconds, lines or shares are as the
names and sentences have them; a leading underscore is left out.
"""

_BOUND = re.compile(
    r"MAX|MOST|LIMIT|LONG|LARGE|LEAST|MIN(?:_|$)|WITHIN|TIMEOUT|PATIENCE|GRACE|EVERY|AFTER|AGE|KEPT|BYTES|SIZE|WIDTH"
    r"|DEPTH|COUNT|SECONDS|MINUTES|HOURS|DAYS|_S$|_MS$|_KB$|_MB$|RETRIES|ATTEMPTS|TRIES|THRESHOLD|ENOUGH|MARGIN|SHARE"
    r"|WEIGHT|ABOVE|BELOW|TOP|FEW|MANY"
)


class Chosen(Struct, frozen=True):
    """Numbers of one row: the constants' names and values as they are written, and what is said of them."""

    names: tuple[str, ...]
    values: tuple[str, ...]
    said: str


def pages(root: Path = ROOT) -> dict[str, str]:
    """The page by its path."""
    parts = [HEAD]
    for room, title in ROOMS.items():
        rows = [
            (f"`{path.relative_to(root / room).as_posix()}`", *_cells(each))
            for path in sorted((root / room).glob("aurora_*/**/*.py"))
            for each in chosen(path.read_text(encoding="utf-8"))
        ]
        parts.append(f"## {title}\n\n{table(('where', 'name', 'value', 'what for'), rows)}")
    return {PAGE: "\n".join(parts)}


def chosen(source: str) -> Iterator[Chosen]:
    """The numbers of a module that are chosen, in its order."""
    lines = source.splitlines()
    group: list[Chosen] = []
    end = 0
    for statement in ast.parse(source).body:
        if group and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            names = tuple(name for each in group for name in each.names)
            values = tuple(value for each in group for value in each.values)
            yield Chosen(names, values, str(statement.value.value))
            group = []
            continue
        number = _number(statement)
        if number is None or statement.lineno > end + 1:
            yield from filter(_says_what_for, group)
            group = []
        if number is not None:
            end = statement.end_lineno or statement.lineno
            group.append(Chosen((number[0],), (number[1],), lines[end - 1].partition("#")[2].strip()))
    yield from filter(_says_what_for, group)


def _says_what_for(number: Chosen) -> bool:
    return bool(number.said) or _BOUND.search(number.names[0]) is not None


def _number(statement: ast.stmt) -> tuple[str, str] | None:
    """Name and value of a constant that is a number, or made of numbers alone."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ):
            if name.isupper() and value is not None and _is_number(value):
                return name, ast.unparse(value)
    return None


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=number):
            return isinstance(number, int | float) and not isinstance(number, bool)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.Tuple(elts=members):
            return bool(members) and all(map(_is_number, members))
    return False


def _cells(number: Chosen) -> tuple[str, str, str]:
    names = ", ".join(name.lstrip("_") for name in number.names)
    return names, ", ".join(number.values), cell(number.said)
