"""Local embeddings, the `semantic` extra: a model on this machine turns chunks and questions into vectors.

The model runs in a process of its own (`worker.py`); the daemon imports none of the libraries that run it.
"""

from aurora_indexer import IndexerError


class ModelError(IndexerError):
    """Error of a configured model that cannot be used; the message says why and the next step."""
