"""Embedder of one workspace (semantic search with a local model): vectors kept in step with its memory, and the nearest
neighbours of a question.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from aurora_indexer import IndexerError, WorkerLost
from aurora_indexer.embedding import ModelError
from aurora_indexer.embedding.embedding_text import chunk_text
from aurora_indexer.embedding.messages import Loaded
from aurora_indexer.embedding.model_process import ModelProcess
from aurora_indexer.embedding.vector_index import VectorIndex
from aurora_memory import StoreError
from aurora_memory.store import Store, embeddings
from aurora_memory.views import ChunkToEmbed, FileToEmbed

logger = logging.getLogger(__name__)

FILES = 50
"""Files whose chunks are read and embedded together."""

QUIET_SECONDS = 1.0
"""After a change, so that a burst of saves is one pass."""

PATIENCE = 2.0
"""Seconds a question waits for the model; then it is answered by its words alone."""

NEAREST = 100
"""Chunks that an embedding ranks for a question."""

RETRY_SECONDS = 5.0
"""After the model's process was lost."""

KEPT_SECONDS = 600.0
"""Seconds that vectors stay in memory after the last question."""

_PAGE = 2048
_MAX_FILE = 8 << 20

WithText = tuple[ChunkToEmbed, str]


class Embedder:
    """Embedder of the chunks of `root` with `model`, a batch at a time, which answers questions with what is embedded
    so far.

    Without `start`, `catch_up` does one pass. All methods belong to the event loop's thread.
    """

    def __init__(self, root: Path, store: Store, model: ModelProcess, *, quiet: float = QUIET_SECONDS) -> None:
        self._root = root
        self._store = store
        self._model = model
        self._quiet = quiet
        self._since = 0.0
        self._again: set[str] = set()
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._asked: set[asyncio.Task[list[tuple[int, float]]]] = set()
        self._vectors: VectorIndex | None = None
        self._turn = asyncio.Lock()
        self._release: asyncio.TimerHandle | None = None
        self._told: str | None = None

    @property
    def problem(self) -> str | None:
        """Why nothing is found by meaning, in one line."""
        return self._model.problem

    def start(self, ready: Callable[[], Awaitable[None]]) -> None:
        """Begin once `ready` has come, then go on whenever `wake` is called."""
        self._task = asyncio.create_task(self._work(ready), name=f"embed {self._root}")

    def wake(self) -> None:
        """Memory may have changed."""
        self._wake.set()

    async def close(self) -> None:
        """Stop; what is embedded stays."""
        tasks = [*self._asked, *([self._task] if self._task is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._release is not None:
            self._release.cancel()

    async def catch_up(self) -> int:
        """Embed every chunk that is new, changed or embedded by another model; returns how many those were.

        A file that changed since it was indexed waits for the next pass. Raises ModelError where the model can't be
        used, WorkerLost, StoreError.
        """
        model = await self._model.loaded()
        reader = self._store.read
        files = await reader(embeddings.files_since, self._since)
        known = {file.path for file in files}
        again = self._again - known
        if again:
            files += [file for file in await reader(embeddings.files_since, 0.0) if file.path in again]
        self._again = set()
        done = 0
        for start in range(0, len(files), FILES):
            some = {file.path: file for file in files[start : start + FILES]}
            waiting = await reader(embeddings.to_embed, model.key, list(some))
            texts = await asyncio.to_thread(_texts, self._root, some, waiting)
            self._again |= {chunk.path for chunk in waiting} - {chunk.path for chunk, _ in texts}
            for first in range(0, len(texts), model.batch):
                done += await self._embed(model, texts[first : first + model.batch])
        if not self._since:
            await self._store.drop_embeddings_but(model.key)
        self._since = max([self._since, *(file.indexed_at for file in files)])
        if done:
            logger.info("embedded", extra={"root": str(self._root), "model": model.name, "chunks": done})
        return done

    async def nearest(self, query: str) -> list[tuple[int, float]]:
        """The chunks nearest to a question, with their cosine; none where the model has a problem or takes too long."""
        if self._model.problem is not None:
            return []
        task = asyncio.create_task(self._nearest(query))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        await asyncio.wait({task}, timeout=PATIENCE)
        if not task.done():
            logger.info("a question did not wait for the model", extra={"root": str(self._root)})
            task.add_done_callback(lambda late: None if late.cancelled() else late.exception())
            return []
        try:
            return task.result()
        except (IndexerError, StoreError) as error:
            self._say(error)
            return []

    async def state(self) -> str:
        """One line on what is embedded. Raises ModelError, WorkerLost, StoreError."""
        model = await self._model.loaded()
        count = await self._store.read(embeddings.embedded, model.key)
        line = f"semantic recall: {count} chunks embedded by {model.name}"
        left_out = self._vectors.left_out if self._vectors is not None else 0
        return f"{line} ({model.runs_on})" + (f"; {left_out} do not fit into memory" if left_out else "")

    async def _work(self, ready: Callable[[], Awaitable[None]]) -> None:
        """Background task: a pass at each wake-up, with retries."""
        await ready()
        while True:
            self._wake.clear()
            try:
                await self.catch_up()
            except ModelError as error:
                self._say(error)
                return
            except (WorkerLost, StoreError) as error:
                self._say(error)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            await self._wake.wait()
            await asyncio.sleep(self._quiet)

    async def _embed(self, model: Loaded, batch: Sequence[WithText]) -> int:
        """Embedding of one batch, stored and put into the vector index; how many chunks."""
        try:
            rows = await self._model.embed([text for _, text in batch])
        except ModelError as error:
            if self._model.problem is not None:
                raise
            self._say(error)  # of these texts only
            return 0
        size = 2 * model.dimensions
        vectors = [rows[start : start + size] for start in range(0, len(rows), size)]
        entries = [(chunk.id, chunk.body_hash, row) for (chunk, _), row in zip(batch, vectors, strict=True)]
        await self._store.keep_embeddings(model.key, entries)
        async with self._turn:
            held = self._vectors
            if held is not None:
                await asyncio.to_thread(held.put, [(chunk, row) for chunk, _, row in entries])
        return len(entries)

    async def _nearest(self, query: str) -> list[tuple[int, float]]:
        """Semantic search: the question is embedded, its nearest neighbours looked up."""
        model = await self._model.loaded()
        row = await self._model.embed([query], question=True)
        async with self._turn:
            vectors = self._vectors
            if vectors is None:
                vectors = self._vectors = await self._read(model)
            self._keep_for_a_while()
            return await asyncio.to_thread(vectors.nearest, row, NEAREST)

    async def _read(self, model: Loaded) -> VectorIndex:
        """Vector index with all that is stored, read page by page."""
        vectors = VectorIndex(model.dimensions)
        last = 0
        while page := await self._store.read(embeddings.vectors, model.key, last, _PAGE):
            last = page[-1][0]
            await asyncio.to_thread(vectors.put, page)
        return vectors

    def _keep_for_a_while(self) -> None:
        """Idle timeout of the vectors in memory, begun anew."""
        if self._release is not None:
            self._release.cancel()
        self._release = asyncio.get_running_loop().call_later(KEPT_SECONDS, self._let_go)

    def _let_go(self) -> None:
        self._vectors = None

    def _say(self, error: Exception) -> None:
        """Log a problem once, not with every question."""
        if str(error) != self._told:
            self._told = str(error)
            logger.warning("no semantic recall", extra={"root": str(self._root), "problem": self._told})


def _texts(root: Path, files: Mapping[str, FileToEmbed], chunks: Sequence[ChunkToEmbed]) -> list[WithText]:
    """Texts of chunks to embed; nothing of files that are not what was indexed (any more)."""
    found: list[WithText] = []
    lines: list[str] | None = None
    path = None
    for chunk in chunks:
        if chunk.path != path:
            path = chunk.path
            lines = _lines(root / path, files[path])
        if lines is not None:
            own = lines[chunk.line_start - 1 : chunk.line_end]
            found.append((chunk, chunk_text(chunk.path, chunk.name, chunk.signature, chunk.docstring, own)))
    return found


def _lines(path: Path, indexed: FileToEmbed) -> list[str] | None:
    """Lines of a file; None where it is not what was indexed any more (stale)."""
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_FILE)
        status = path.stat()
    except OSError:
        return None
    if (status.st_size, status.st_mtime_ns) != (indexed.size, indexed.mtime_ns):
        return None
    return content.decode("utf-8", "replace").split("\n")
