"""Answer cache: the same question is not paid for twice while its pattern is proven and its files are unchanged.

An answer is kept only where nothing but reading was done for it: no unattended run, no agent other than llm-executor,
no tools. It counts
while memory still has the pattern that was learned with it, and while every file it was made from has the same bytes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_orchestration.private_file import write_private
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.types import Claim, Complexity, ContextBundle, SubgoalResult
from aurora_protocol import typed

FRESH_SECONDS = 30 * 86_400.0
MAX_BYTES = 1_000_000
MAX_FILE = 10_000_000
MAX_KEPT = 500


class CachedAnswer(Struct, frozen=True, kw_only=True):
    """Entry of the answer cache: an answer, its score, and digests of the files it was made from, by their path."""

    run: str
    query: str
    answer: str
    claims: tuple[Claim, ...]
    score: float
    confidence: float
    complexity: Complexity
    reasoning_id: str
    at: float
    cost_usd: float
    files: dict[str, str]


class AnswerCache:
    """Answer cache of one workspace. All methods block for milliseconds: call them in a thread."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self._workspace = workspace
        self._folder = folder / hashlib.blake2b(str(workspace).encode(), digest_size=8).hexdigest()

    def digests(self, context: ContextBundle) -> dict[str, str] | None:
        """The files a context shows something of, as they are now; None where there are none or one is out of reach."""
        return files_of(context, self._workspace)

    def keep(self, run: RunRecord, files: dict[str, str] | None) -> bool:
        """Keep a run's answer where it may be given again; says whether it was.

        `files` are the digests taken when the context was: a file saved while agents were at work is not what they saw.
        """
        kept = cacheable(run, files)
        if kept is None:
            return False
        write_private(self._path(run.query), msgspec.json.encode(kept))
        oldest_first = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in oldest_first[:-MAX_KEPT]:
            path.unlink(missing_ok=True)
        return True

    def find(self, query: str, now: float) -> CachedAnswer | None:
        """The answer to this very question, if it is fresh and everything it was made from is as it was."""
        path = self._path(query)
        try:
            if path.stat().st_size > MAX_BYTES:
                return None
            kept = typed.decode(path.read_bytes(), CachedAnswer)
        except (OSError, msgspec.MsgspecError, RecursionError):
            return None  # nothing kept, or nothing that can be read: the question is worked on
        if not 0 <= now - kept.at <= FRESH_SECONDS or same_question(kept.query) != same_question(query):
            return None
        if any(digest(self._workspace, file) != known for file, known in kept.files.items()):
            return None
        return kept

    def forget(self, query: str) -> None:
        """Do not give this answer again."""
        self._path(query).unlink(missing_ok=True)

    def _path(self, query: str) -> Path:
        return self._folder / f"{hashlib.blake2b(same_question(query).encode(), digest_size=16).hexdigest()}.json"


def same_question(query: str) -> str:
    """Equal for questions that differ in spacing, case and the mark at their end only: one word more is another one."""
    return " ".join(query.split()).rstrip(" ?.!").casefold()


def cacheable(run: RunRecord, files: dict[str, str] | None) -> CachedAnswer | None:
    """The cache entry of a run; None where its answer is not to be given again."""
    if (
        not files
        or run.mode == "headless"
        or run.state != "complete"
        or run.score is None
        or run.synthesis is None
        or run.learned is None
        or not run.answer
    ):
        return None
    if not (run.learned.is_pattern and run.learned.reasoning_id) or run.complexity is None:
        return None
    if run.synthesis.untraced or not all(map(_only_read, run.results)):
        return None
    return CachedAnswer(
        run=run.id,
        query=run.query,
        answer=run.answer,
        claims=run.synthesis.claims,
        score=run.score,
        confidence=run.confidence or 0.0,
        complexity=run.complexity,
        reasoning_id=run.learned.reasoning_id,
        at=run.ended_at,
        cost_usd=run.cost_usd,
        files=files,
    )


def files_of(context: ContextBundle, workspace: Path) -> dict[str, str] | None:
    """The digests of all files a context shows something of; None where there are none, or one cannot be read."""
    found: dict[str, str] = {}
    for chunk in context.chunks:
        if chunk.type == "reas" or not chunk.file or chunk.file in found:
            continue
        read = digest(workspace, chunk.file)
        if read is None:
            return None
        found[chunk.file] = read
    return found or None


def digest(workspace: Path, file: str) -> str | None:
    """Digest of a file's bytes; None where it cannot be read, is large, or lies outside."""
    try:
        path = (workspace / file).resolve()
        if not path.is_relative_to(workspace.resolve()) or path.stat().st_size > MAX_FILE:
            return None
        return hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except OSError:
        return None


def _only_read(result: SubgoalResult) -> bool:
    response = result.response
    return (
        response.status == "success"
        and response.agent_id == "llm-executor"
        and not response.metadata.tools_used
        and not response.user_interactions
    )
