"""Closed memories (search across all projects): memory files that this machine knows and that nobody has open here,
asked by `--everywhere`.

They are read as they were left: nothing in them is brought up to date, and what they say of files is compared with the
files as they stand now. One question looks at so many files and for so long at most; what it leaves out, it says.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

from msgspec import UNSET, Struct
from msgspec.structs import replace

from aurora_memory import StoreError
from aurora_memory.recall import Hit, Question, parse_question
from aurora_memory.recall.places import below
from aurora_memory.store import file_reader
from aurora_memory.store.left_memory import LeftMemory
from aurora_memory.views import UsageCounts
from aurora_protocol.methods import Freshness, Recalled, RecallParams, RecallResult
from aurora_server.configuration.settings import Settings
from aurora_server.workspace import recall_documents
from aurora_server.workspace.colleagues import Colleagues
from aurora_server.workspace.memory_settings import memory_paths, policies_of, weighing_of
from aurora_server.workspace.recall import RecallFindings, find
from aurora_server.workspace.recalled_text import Text, file_text, texts, within_budget
from aurora_server.workspace.wire import iso

logger = logging.getLogger(__name__)

MOST = 200
"""Memory files that one question asks; those used last come first."""
SECONDS = 5.0
"""For which one question asks them, all together."""
_GRACE = 1.0
"""Seconds for which the one that is being asked when the time is up may end by itself."""
_HANGS = "other memories were not all asked: the disk that they are on does not answer"
_AS_LEFT = Freshness(indexed_at=None, pending_files=0, skipped_files=0, files=1, chunks=1, state="ready")


class ClosedMemory(Struct, frozen=True):
    """A memory file that was asked: whose it is, and the first commit of that repository ("" where unknown)."""

    root: Path
    git_root: str


class ClosedAnswers(Struct):
    """Answers of closed memories, in the order in which they were asked, and a line for what was left out."""

    found: list[tuple[ClosedMemory, RecallResult]]
    left_out: list[str]


class ClosedMemories:
    """The closed memories of this machine. One question at a time: they share the disk, and Python."""

    def __init__(self, settings: Callable[[], Settings], seconds: float = SECONDS) -> None:
        self._settings = settings
        self._seconds = seconds
        self._turn = asyncio.Lock()
        self._asking: asyncio.Task[None] | None = None

    async def answer(self, params: RecallParams, opened: Collection[Path]) -> ClosedAnswers:
        """Ask every memory file but those of `opened` roots. Never raises for a file, and waits for no disk that hangs:
        what was found until then is told, and nothing more is asked before it answers.
        """
        answers = ClosedAnswers([], [])
        async with self._turn:
            if self._asking is not None and not self._asking.done():
                return ClosedAnswers([], [_HANGS])
            deadline = time.monotonic() + self._seconds
            self._asking = asyncio.create_task(
                asyncio.to_thread(_ask, answers, params, self._settings(), frozenset(opened), deadline)
            )
            done, _ = await asyncio.wait({self._asking}, timeout=self._seconds + _GRACE)
            if done:
                self._asking.result()
                return answers
        return ClosedAnswers(list(answers.found), [*answers.left_out, _HANGS])


def _ask(
    answers: ClosedAnswers, params: RecallParams, settings: Settings, opened: Collection[Path], deadline: float
) -> None:
    """Ask one file after the other. Blocks; what is found is in `answers` at once."""
    paths = memory_paths(settings)
    asked = gone = 0
    for number, path in enumerate(paths):
        if asked >= MOST or time.monotonic() > deadline:
            why = "one question asks so many" if asked >= MOST else "the time was up"
            answers.left_out.append(f"{_memories(len(paths) - number)} not asked: {why}")
            break
        try:
            with closing(LeftMemory(path, deadline, weighing_of(settings))) as memory:
                root = memory.root
                if root in opened:
                    continue
                asked += 1
                if not root.is_dir():
                    gone += 1
                    continue
                answers.found.append((ClosedMemory(root, memory.git_root), _answer(memory, params, settings)))
        except (StoreError, OSError) as error:
            timed_out = time.monotonic() > deadline
            logger.info("closed memory not asked", extra={"path": str(path), "reason": str(error)})
            answers.left_out.append(f"{path} was not asked: {'the time was up' if timed_out else error}")
    if gone:
        answers.left_out.append(f"{_memories(gone)} not asked: the folder is gone")


def _memories(number: int) -> str:
    return "1 other memory was" if number == 1 else f"{number:,} other memories were"


def _answer(memory: LeftMemory, params: RecallParams, settings: Settings) -> RecallResult:
    """Answer of one closed memory."""
    began = time.perf_counter()
    root = memory.root
    question: Question = parse_question(below(str(root), params.query))
    found = find(
        memory.reader,
        question,
        params,
        policies_of(root, settings).policies,
        time.time(),
        focus=None,
        near=(),
        read_text=partial(file_text, root),
        freshness=_AS_LEFT,
        colleagues=Colleagues(root),
    )
    states = _states(memory, found.hits)
    results = [
        replace(
            _recalled(found, n, root, text),
            as_of=iso(memory.indexed_at),
            changed_since=states[n] is False,
        )
        for n, text in _texts(found, params, root, states).items()
        if states[n] is not None
    ]
    return RecallResult(
        query=params.query,
        took_ms=round((time.perf_counter() - began) * 1000, 3),
        freshness=_AS_LEFT,
        results=results,
        hint=found.hint,
        missing=found.missing,
    )


def _states(memory: LeftMemory, hits: Sequence[Hit]) -> list[bool | None]:
    """Staleness of each hit: whether its file is as it was indexed; None where the file is gone."""
    paths = {hit.chunk.path for hit in hits if hit.chunk.path}
    indexed = file_reader.files_at(memory.reader, sorted(paths))
    known: dict[str, bool | None] = {"": True}
    for path in paths:
        try:
            status = (memory.root / path).stat()
        except OSError:
            known[path] = None
            continue
        known[path] = path in indexed and (indexed[path].size, indexed[path].mtime_ns) == (
            status.st_size,
            status.st_mtime_ns,
        )
    return [known[hit.chunk.path] for hit in hits]


def _texts(
    found: RecallFindings, params: RecallParams, root: Path, states: Sequence[bool | None]
) -> Mapping[int, Text | None]:
    """What is delivered of each hit, by its place. Of a file that changed, lines are not where they were: nothing."""
    if params.budget_tokens is None and not params.include_content:
        return dict.fromkeys(range(len(found.hits)))
    whole = [n for n, state in enumerate(states) if state]
    hits = [found.hits[n] for n in whole]
    if params.budget_tokens is not None:
        chosen = within_budget(root, hits, found.around, params.budget_tokens, params.limit)
        return {whole[n]: text for n, text in chosen.items()}
    told: dict[int, Text | None] = dict.fromkeys(range(len(found.hits)))
    return told | dict(zip(whole, texts(root, hits, found.around), strict=True))


def _recalled(found: RecallFindings, n: int, root: Path, text: Text | None) -> Recalled:
    """Result of a closed memory for the wire."""
    hit = found.hits[n]
    evidence = found.evidence[n] if found.evidence is not None else UNSET
    usage, state = found.usages.get(hit.chunk.id, UsageCounts()), found.patterns.get(hit.chunk.id)
    return recall_documents.recalled(hit, root, usage, text, evidence, state)
