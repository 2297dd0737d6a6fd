"""Cache of access times of chunks, one's own and colleagues', kept between questions: a team has used each chunk often,
and recall weighs hundreds of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from aurora_memory.store.statements import as_list

if TYPE_CHECKING:
    import numpy.typing as npt


class Times(Struct, frozen=True):
    """Times of one chunk (Unix seconds, oldest first). `mark` tells whether rows came or went since they were read."""

    mark: tuple[int, int, float]
    own: list[float]
    others: npt.NDArray[Any]
    authors: dict[str, tuple[int, float]]
    """How often each colleague used it, and when last."""
    latest: float
    """When a colleague used it last; 0 where none did."""


class AccessTimes:
    """Cached access times. Its invalidation: where something was written, they are compared by their marks, which is
    done in the index, and read again where these differ.
    """

    def __init__(self, rows: Callable[[str, Sequence[Any]], list[Any]]) -> None:
        self._rows = rows
        self._known: dict[int, Times] = {}
        self._sure: set[int] = set()
        self._writes = -1

    def of(self, ids: Sequence[int], writes: int) -> Mapping[int, Times]:
        """Those of chunks that were ever used; `writes` counts what was written to the memory."""
        if writes != self._writes:
            self._sure.clear()
            self._writes = writes
        self._make_sure([each for each in ids if each not in self._sure])
        return {each: self._known[each] for each in ids if each in self._known}

    def _make_sure(self, ids: Sequence[int]) -> None:
        """Cache validation: what is missing, or has another mark than before, is read again."""
        if not ids:
            return
        marks = self._rows(
            """SELECT chunk_id, count(*), sum(id), total(at) FROM accesses
               WHERE chunk_id IN (SELECT value FROM json_each(?)) GROUP BY chunk_id""",
            (as_list(ids),),
        )
        now = {chunk_id: (count, numbers, times) for chunk_id, count, numbers, times in marks}
        for each in ids:
            if each in self._known and self._known[each].mark != now.get(each):
                del self._known[each]
        self._read({each: mark for each, mark in now.items() if each not in self._known})
        self._sure.update(ids)

    def _read(self, marks: Mapping[int, tuple[int, int, float]]) -> None:
        """Cache fill: the access times of chunks, one's own and colleagues' apart."""
        if not marks:
            return
        # In the order of the index: another one would be sorted.
        rows: Iterable[tuple[int, float, str | None]] = self._rows(
            """SELECT chunk_id, at, author FROM accesses LEFT JOIN others_accesses ON access_id = id
               WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY chunk_id, at""",
            (as_list(list(marks)),),
        )
        import numpy as np  # 0.1 s that opening a workspace need not pay

        for chunk_id, of_it in groupby(rows, key=itemgetter(0)):
            own: list[float] = []
            others: list[float] = []
            authors: dict[str, tuple[int, float]] = {}
            for _, at, author in of_it:
                if author is None:
                    own.append(at)
                else:
                    others.append(at)
                    authors[author] = authors.get(author, (0, at))[0] + 1, at
            latest = others[-1] if others else 0.0
            self._known[chunk_id] = Times(marks[chunk_id], own, np.asarray(others, dtype=np.float64), authors, latest)
