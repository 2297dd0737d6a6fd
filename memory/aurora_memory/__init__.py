"""ACT-R memory: chunks, their store, activation and recall (AURORA §6)."""

from aurora_protocol import AuroraError


class StoreError(AuroraError):
    """Error of the memory of a workspace; the message says what, where and the next step."""


class StoreBusy(StoreError):
    """Error of a store that another process holds."""


class StoreCorrupt(StoreError):
    """Error of a database file that is not one of ours, or that SQLite finds damaged."""


class StoreForeign(StoreCorrupt):
    """Error of a database that is another program's: nothing may be done to it."""


class StoreTooNew(StoreError):
    """Error of a database that a newer AURORA wrote."""


class UnknownChunk(StoreError):
    """Error of an id that no live chunk answers to."""
