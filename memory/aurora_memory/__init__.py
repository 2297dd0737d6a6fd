"""ACT-R memory: chunks, their store, activation and recall (AURORA §6)."""

from aurora_protocol import AuroraError


class StoreError(AuroraError):
    """Something about the memory of a workspace; the message says what, where and the next step."""


class StoreBusy(StoreError):
    """Another process holds the store."""


class StoreCorrupt(StoreError):
    """The database file is not one of ours, or SQLite finds it damaged."""


class StoreForeign(StoreCorrupt):
    """The database is another program's: nothing may be done to it."""


class StoreTooNew(StoreError):
    """The database was written by a newer AURORA."""


class UnknownChunk(StoreError):
    """No live chunk answers to that id."""
