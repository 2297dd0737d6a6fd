"""Shares: what `make test` does of what `make test-long` does whole."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest
from hypothesis import settings


def examples(many: int) -> int:
    """Examples of a law: so many in `make test-long`, a quarter of them in `make test`."""
    return many * settings.default.max_examples // 100


def one_of_each(rows: Iterable[Any], kind: Callable[[Any], Hashable] = lambda row: row[0]) -> list[Any]:
    """Rows of parameters, of which only one of each kind is not `long`: of the first kind its first, and so on in turn.

    For rows that are each kind (a way to fail, say) with everything else: each kind stays in `make test`, and so does
    all that it is put together with, if there are enough kinds.
    """
    rows = list(rows)
    kinds: dict[Hashable, list[int]] = {}
    for place, row in enumerate(rows):
        kinds.setdefault(kind(row), []).append(place)
    kept = {places[number % len(places)] for number, places in enumerate(kinds.values())}
    return [row if place in kept else long(row) for place, row in enumerate(rows)]


def long(row: Any) -> Any:
    """A row of parameters that only `make test-long` has."""
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.long)
