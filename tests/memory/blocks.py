"""Blocks of the word index with fewer parts than it has: a file of scores of functions is then one of thousands."""

from __future__ import annotations

import pytest

from aurora_memory.store import integrity, kept_entries, part_columns, postings

BITS = 8
"""Of a block's number of parts, 256: what takes thousands of chunks with the real one takes scores."""
REAL = postings.BLOCK_BITS


def have_blocks_of(bits: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Have blocks of so many parts, two to the power of `bits`; how many that are. Before anything is written."""
    monkeypatch.setattr(postings, "_PLACE", (1 << bits) - 1)
    for module in (postings, part_columns, integrity, kept_entries):
        monkeypatch.setattr(module, "BLOCK", 1 << bits)
        if hasattr(module, "BLOCK_BITS"):
            monkeypatch.setattr(module, "BLOCK_BITS", bits)
    return 1 << bits
