"""Part columns: what weighing needs of every part, as arrays that follow the blocks of the word index one by one.

A save changes some blocks. What is made anew for it is what depends on all parts: the norms, by their average length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from aurora_memory.bm25 import Parts, Room, file_norms, norms
from aurora_memory.store.postings import BLOCK, ROW_SIZE

if TYPE_CHECKING:
    import numpy.typing as npt

_SPARE = 16
"""Blocks and more, by an eighth, that there is room for beside those that are there."""


class _Block(NamedTuple):
    """Sums of one block: its parts, those that live, their lengths, and the highest number of a file."""

    parts: int
    living: int
    length: int
    highest: int


class PartColumns:
    """Columns of all parts by number, and lengths of files."""

    def __init__(self) -> None:
        import numpy as np

        self._row = np.dtype([("chunk", "<u4"), ("file", "<u4"), ("length", "<u2"), ("name", "u1"), ("type", "u1")])
        assert self._row.itemsize == ROW_SIZE
        self._blocks: dict[int, _Block] = {}
        self._chunks = np.zeros(0, dtype=np.uint32)
        self._files = np.zeros(0, dtype=np.intp)
        self._names = np.zeros(0, dtype=np.float32)
        self._norms = np.zeros(0, dtype=np.float32)
        self._lengths = np.zeros(0, dtype=np.uint16)
        self._types = np.zeros(0, dtype=np.uint8)
        self._of_files = np.zeros(0, dtype=np.float64)
        self.room = Room()

    def put(self, block: int, packed: bytes) -> None:
        """Take in a block as it is now."""
        import numpy as np

        rows = np.frombuffer(packed, dtype=self._row)
        self.drop(block)
        self._make_room((block + 1) * BLOCK, int(rows["file"].max(initial=0)) + 1)
        span = slice(block * BLOCK, block * BLOCK + len(rows))
        lengths = rows["length"] * (rows["chunk"] != 0)
        self._chunks[span], self._files[span], self._types[span] = rows["chunk"], rows["file"], rows["type"]
        self._lengths[span] = lengths
        np.maximum(rows["name"], 1, out=self._names[span])
        np.add.at(self._of_files, self._files[span], lengths.astype(np.float64))
        living = int(np.count_nonzero(rows["chunk"]))
        self._blocks[block] = _Block(len(rows), living, int(lengths.sum()), int(rows["file"].max(initial=0)))

    def drop(self, block: int) -> None:
        """Let go of a block that is there no more, or no more as it was."""
        import numpy as np

        known = self._blocks.pop(block, None)
        if known is None:
            return
        span = slice(block * BLOCK, block * BLOCK + known.parts)
        np.subtract.at(self._of_files, self._files[span], self._lengths[span].astype(np.float64))
        for column in (self._chunks, self._files, self._lengths):
            column[span] = 0

    def parts(self) -> Parts:
        """All parts. Their arrays change as blocks do."""
        last = max(self._blocks, default=0)
        count = last * BLOCK + self._blocks[last].parts if self._blocks else 0
        living = sum(block.living for block in self._blocks.values())
        average = sum(block.length for block in self._blocks.values()) / living if living else 1.0
        norms(self._lengths[:count], average, self._norms[:count])
        file_count = max(block.highest for block in self._blocks.values()) + 1 if count else 0
        return Parts(
            self._chunks[:count],
            self._files[:count],
            self._names[:count],
            self._norms[:count],
            self._types[:count],
            living,
            file_count,
            file_norms(self._of_files[:file_count]),
            int(self._chunks[:count].max(initial=0)),
            self.room,
        )

    def _make_room(self, parts: int, files: int) -> None:
        """Growth of the arrays, by an eighth more than is needed (amortized)."""
        if parts > len(self._chunks):
            size = parts + parts // 8 + _SPARE * BLOCK
            for name in ("_chunks", "_files", "_names", "_norms", "_lengths", "_types"):
                setattr(self, name, _longer(getattr(self, name), size))
        if files > len(self._of_files):
            self._of_files = _longer(self._of_files, files + files // 8)


def _longer(column: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Array that was grown to a size, zeros behind what it had."""
    import numpy as np

    longer = np.zeros(size, dtype=column.dtype)
    longer[: len(column)] = column
    return longer
