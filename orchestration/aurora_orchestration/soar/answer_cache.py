"""Answer cache (of earlier answers, invalidated by changed files): the same question is not paid for twice while its
pattern is proven and its files are unchanged.

An answer is kept only where nothing but reading was done for it: no unattended run, no agent other than llm-executor,
no tools. It counts
while memory still has the pattern that was learned with it, and while what it was made from says the same: every file
has the same bytes, or every span that was shown or is cited stands somewhere (`cited_spans`). What has drifted is
verified anew, and dropped where that fails.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from aurora_indexer.files.safe_read import NotARegularFile, read_prefix
from aurora_memory.documents import CitedSpan
from aurora_orchestration.private_file import write_private
from aurora_orchestration.run_record import RunRecord
from aurora_orchestration.soar.cited_spans import look_again, relocated
from aurora_orchestration.soar.references import look_up
from aurora_orchestration.soar.workspace_text import WorkspaceText
from aurora_orchestration.types import Claim, Complexity, ContextBundle, SubgoalResult
from aurora_protocol import typed

FRESH_SECONDS = 30 * 86_400.0
MAX_BYTES = 1_000_000
MAX_FILE = 10_000_000
MAX_KEPT = 500

_CODE = re.compile(r"`[^`\n]*`")
"""Names in an answer: a function may be called `count`."""

_OF_ALL = re.compile(
    r"\b(?:only|never|no other|nowhere|nothing|nobody|no one|none|all|every|everywhere|always|unused|any other|sole|"
    r"exactly|there (?:is|are) no|not (?:used|called|found)|each|first|last|count|total|number of|\d+ (?:times|places|"
    r"callers|files|functions|classes|methods|tests))\b",
    re.IGNORECASE,
)
"""What an answer says that rests on more than the lines it names: one more line elsewhere could make it wrong."""


class CachedAnswer(Struct, frozen=True, kw_only=True):
    """Entry of the answer cache: an answer, its score, and digests of the files it was made from, by their path.

    `spans` are the lines it rests on; none where it speaks of whole files ("nowhere", "only"), and in older entries.
    """

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
    spans: tuple[CitedSpan, ...] = ()


class AnswerCache:
    """Answer cache of one workspace. All methods block for milliseconds: call them in a thread."""

    def __init__(self, folder: Path, workspace: Path) -> None:
        self._workspace = workspace
        self._folder = folder / hashlib.blake2b(str(workspace).encode(), digest_size=8).hexdigest()

    def digests(self, context: ContextBundle) -> dict[str, str] | None:
        """The files a context shows something of, as they are now; None where there are none or one is out of reach."""
        return files_of(context, self._workspace)

    def keep(self, run: RunRecord, files: dict[str, str] | None, spans: tuple[CitedSpan, ...] = ()) -> bool:
        """Keep a run's answer where it may be given again; says whether it was.

        `files` are the digests taken when the context was: a file saved while agents were at work is not what they saw.
        """
        kept = cacheable(run, files)
        if kept is None:
            return False
        if not _OF_ALL.search(_CODE.sub(" ", kept.answer)):
            kept = replace(kept, spans=spans)
        self._write(kept)
        oldest_first = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in oldest_first[:-MAX_KEPT]:
            path.unlink(missing_ok=True)
        return True

    def find(self, query: str, now: float) -> tuple[CachedAnswer | None, str]:
        """Cache lookup: the answer to this very question, fresh, if what it was made from says what it said.

        With it, or without, what there is to say of it: that it was verified anew, or has drifted and is dropped.
        """
        path = self._path(query)
        try:
            if path.stat().st_size > MAX_BYTES:
                return None, ""
            kept = typed.decode(path.read_bytes(), CachedAnswer)
        except (OSError, msgspec.MsgspecError, RecursionError):
            return None, ""  # nothing kept, or nothing that can be read: the question is worked on
        if not 0 <= now - kept.at <= FRESH_SECONDS or same_question(kept.query) != same_question(query):
            return None, ""
        workspace = WorkspaceText(self._workspace)
        beside = (span for span in kept.spans if span.file not in kept.files)
        if all(digest(self._workspace, file) == known for file, known in kept.files.items()) and all(
            look_again(span, workspace).state == "fresh" for span in beside
        ):
            return kept, ""
        return self._verified_anew(kept, workspace)

    def _verified_anew(self, kept: CachedAnswer, workspace: WorkspaceText) -> tuple[CachedAnswer | None, str]:
        """Revalidation of a kept answer whose files have changed: as its spans are found again, else dropped."""
        found = [look_again(span, workspace) for span in kept.spans]
        drifted = [each.before for each in found if each.state == "drifted"]
        files = {file: digest(self._workspace, file) or "" for file in kept.files}
        if not found or drifted:
            self.forget(kept.query)
            changed = [f"{span.file}:{span.line_start}-{span.line_end}" for span in drifted[:3]]
            changed = changed or [file for file, known in kept.files.items() if files[file] != known][:3]
            return (
                None,
                f"an earlier answer has drifted and was dropped: {', '.join(changed)} changed since ({kept.run})",
            )
        answer = relocated(kept.answer, found)
        if look_up(answer, workspace, kept.query).faults:
            self.forget(kept.query)
            return None, f"an earlier answer could not be verified anew, and was dropped ({kept.run})"
        anew = replace(
            kept,
            answer=answer,
            claims=tuple(
                replace(claim, sources=tuple(relocated(source, found) for source in claim.sources))
                for claim in kept.claims
            ),
            files=files,
            spans=tuple(each.now for each in found),
        )
        self._write(anew)
        states = sorted({each.state for each in found} - {"fresh"})
        how = f" ({', '.join(states)})" if states else ""
        return anew, f"its files changed since; the {len(found)} places it rests on say the same{how}"

    def _write(self, kept: CachedAnswer) -> None:
        write_private(self._path(kept.query), msgspec.json.encode(kept))

    def forget(self, query: str) -> None:
        """Invalidation: do not give this answer again."""
        self._path(query).unlink(missing_ok=True)

    def _path(self, query: str) -> Path:
        return self._folder / f"{hashlib.blake2b(same_question(query).encode(), digest_size=16).hexdigest()}.json"


def same_question(query: str) -> str:
    """Cache key: equal for questions that differ in spacing, case and the mark at their end only."""
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
    if not run.learned.proved or run.learned.reasoning_id is None or run.complexity is None:
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
        if not path.is_relative_to(workspace.resolve()):
            return None
        content = read_prefix(str(path), MAX_FILE + 1)
    except (OSError, NotARegularFile, ValueError, RuntimeError):  # gone, a pipe, a circle of links, no path at all
        return None
    return hashlib.blake2b(content, digest_size=16).hexdigest() if len(content) <= MAX_FILE else None


def _only_read(result: SubgoalResult) -> bool:
    """Whether a step had no side effects (pure): a model alone answered, without tools."""
    response = result.response
    return (
        response.status == "success"
        and response.agent_id == "llm-executor"
        and not response.metadata.tools_used
        and not response.user_interactions
    )
