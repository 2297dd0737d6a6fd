"""Files become chunks: scan, ignore, watch, parse, git (AURORA §9.2)."""

from aurora_protocol import AuroraError


class IndexerError(AuroraError):
    """Error of indexing; the message says what, where and the next step."""


class ParseTimeout(IndexerError):
    """Timeout of a parse: parsing a file takes longer than it may."""


class WorkerLost(IndexerError):
    """Error of a file that a worker process held when it died or hung."""
