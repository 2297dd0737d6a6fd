"""The store: one SQLite file per workspace, behind one class. SQL of memory files lives in this package."""

from aurora_memory.store.chunk_writer import Written
from aurora_memory.store.deliverable_log import FoldedDeliverable, LoggedEvent
from aurora_memory.store.rows import FileStat, IndexedFile, SkippedFile
from aurora_memory.store.store import Counts, Store

__all__ = ["Counts", "FileStat", "FoldedDeliverable", "IndexedFile", "LoggedEvent", "SkippedFile", "Store", "Written"]
