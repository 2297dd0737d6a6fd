"""Syntax of Python, looked through."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def statements(within: ast.AST) -> Iterator[ast.stmt]:
    """Statements at all depths, and none of the expressions, of which there are ten times as many."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for each in getattr(within, name, ()):
            if isinstance(each, ast.stmt):
                yield each
            yield from statements(each)
