"""Index runs (progress, statistics, state of the indexer): what is told of an indexer's runs: how far one is, what it
did, which files it found changed.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

State = Literal["scanning", "indexing", "ready", "error"]


class IndexProgress(Struct, frozen=True):
    """Progress of a run: files done of files to do, chunks in memory, and what is being done in a word."""

    done: int
    total: int
    chunks: int
    message: str


class IndexSummary(Struct, frozen=True):
    """Outcome of one run: what it did with files."""

    parsed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: int = 0
    failed: int = 0


class ChangedFiles(Struct, frozen=True):
    """Changed files: those that one run found changed (or new) and gone. `edited` is false for checkouts, and changes
    nobody saw.
    """

    changed: tuple[str, ...]
    removed: tuple[str, ...]
    edited: bool
