"""Kept rows: what was read of chunks and files by their keys, until something is written.

Questions that are asked one after the other weigh the same chunks again and again: half of those that a question looks
up, one before it did as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from itertools import filterfalse, islice
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Row = TypeVar("Row")


class KeptRows(Generic[Key, Row]):
    """Rows by key, at most `most`; the first that were read are the first to go.

    Its invalidation: `rows` asks SQLite whether anything was committed since, by this process or another.
    """

    def __init__(self, rows: Callable[[str], list[Any]], most: int) -> None:
        self._rows = rows
        self._most = most
        self._version: list[Any] = []
        self._kept: dict[Key, Row | None] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, keys: Collection[Key], read: Callable[[Sequence[Key]], Mapping[Key, Row]]) -> dict[Key, Row]:
        """The rows of those keys that are there, in the order of the keys; what is not kept is read."""
        # Asked first: what is committed between this and the reading is told by the next question's.
        version = self._rows("PRAGMA data_version")
        if version != self._version:
            self._kept.clear()
            self._version = version
        kept = self._kept
        missing = list(filterfalse(kept.__contains__, keys))
        if missing:
            fresh = read(missing)
            kept.update(zip(missing, map(fresh.get, missing), strict=True))
        found = {key: row for key, row in zip(keys, map(kept.__getitem__, keys), strict=True) if row is not None}
        if len(kept) > self._most:  # an eighth more goes, so that not every question has to look for the first
            for key in list(islice(kept, len(kept) - self._most + self._most // 8)):
                del kept[key]
        return found
