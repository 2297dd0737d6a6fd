"""Learning from a run (feedback, reinforcement): what a finished run teaches, by success or failure: outcomes, boosts
and the pattern to keep (AURORA §6.7, Appendix D). Pure.

Only a finished run learns (§9.9); `Store.learn` writes down what `lesson_of` says, in one transaction.

An access means that a chunk was of use: that the answer, its plan or an agent cited it, or whoever reports the run says
that it helped. Standing in a prompt is no use, whatever came of it: what is shown most would be shown ever more. A
failure makes nothing of use: an access would raise the base level of what misled, by far more than the penalty takes.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct

from aurora_memory import StoreError
from aurora_memory.document_builder import reasoning_document
from aurora_memory.documents import (
    CitedSpan,
    Complexity,
    ConversationLogReference,
    PatternSubgoal,
    ReasoningContent,
    ReasoningDocument,
    ToolUse,
    VerificationOption,
)
from aurora_memory.semantic_tags import Tags, pattern_name, reasoning_tags, stems_of
from aurora_memory.tokens import terms

Outcome = Literal["success", "partial", "failure"]

_FILLER = """please could would can you like want need know tell show me us thanks thank hi hey hello detail detailed
    details briefly short shortly quickly exactly really just here now once again more also help kindly question way"""

_ASKED_AS = {
    "explain": "explain describe clarify outline illustrate understand analyze analyse",
    "compare": "compare contrast",
    "fix": "fix repair mend",
    "work": "works work operates operate behaves behave",
}
"""Words of asking that mean one thing. None that names of code, or what is asked of, are likely to be."""
_ASKING = re.compile(rf"(?<![\w.`$-])(?:{'|'.join(' '.join(_ASKED_AS.values()).split())})(?![\w.`($-])", re.IGNORECASE)
_MEANT = {word: meant for meant, words in _ASKED_AS.items() for word in words.split()}

MAX_RETRIEVED = 1000
MAX_QUERY = 20_000


class InvalidRun(StoreError):
    """Error of a finished run that says what no run can; the message names it."""


class LearningPolicy(Struct, frozen=True):
    """Learning policy: the numbers of §6.7 and Appendix D.

    Scores in [0, 1]; boosts are added to activation, at most `limit` in sum. `similar` questions are of one kind;
    two runs that share `alike` of their words may be one pattern. What failed is difficult for `difficult_days`.
    """

    pattern_score: float = 0.8
    kept_score: float = 0.5
    success: float = 0.2
    helpful: float = 0.05
    unhelpful: float = -0.05
    neutral: float = 0.0
    misleading: float = -0.1
    limit: float = 1.0
    similar: float = 0.6
    alike: float = 0.5
    difficult_days: float = 30.0
    praised: float = 0.1
    flagged: bool = True
    """Whether what is kept says how sure it was (`include_confidence_flag`)."""


POLICY = LearningPolicy()


class Retrieved(Struct, frozen=True):
    """Retrieved chunk, by its row id (`Hit.chunk.id`), and whether it helped the run (None: nobody said)."""

    id: int
    helpful: bool | None = None


class FinishedRun(Struct, frozen=True, kw_only=True):
    """Finished run of the orchestrator, as far as memory learns from it. `at` in Unix seconds, `score` in [0, 1].

    `id` is the query id, and an idempotency key: a run reported twice teaches once. `pattern` and `tags` are those a
    language model gave (§6.3.7); without them they are told from the words. `subgoals` are empty where nothing was
    decomposed; `cites` are the lines that the answer rests on.
    """

    id: str
    query: str
    score: float
    at: float
    complexity: Complexity = "complex"
    verification_option: VerificationOption | None = None
    subgoals: tuple[PatternSubgoal, ...] = ()
    tools_used: tuple[ToolUse, ...] = ()
    tool_sequence: tuple[str, ...] = ()
    retrieved: tuple[Retrieved, ...] = ()
    execution_time_ms: float = 0.0
    total_cost_usd: float = 0.0
    log: ConversationLogReference | None = None
    pattern: str | None = None
    tags: Tags | None = None
    cites: tuple[CitedSpan, ...] = ()


class Lesson(Struct, frozen=True):
    """Lesson of a run: what is to be written down of it.

    `document` has the id without version; None where nothing is kept.

    `of_use` are the ids that count as accessed, `used` those the answer was made with and how surely, in (0, 1].
    """

    outcome: Outcome
    retrieved: tuple[Retrieved, ...]
    of_use: tuple[int, ...]
    used: tuple[tuple[int, float], ...]
    document: ReasoningDocument | None
    fingerprint: bytes
    signature: str


Judged = Literal["praised", "insufficient", "incorrect"]


class Feedback(Struct, frozen=True, kw_only=True):
    """Feedback of a user on an answer (Appendix E): on which run, whose pattern, and when (Unix seconds).

    `query` is what was asked. A run is judged in one way once.
    """

    run: str
    reasoning_id: str
    verdict: Judged
    query: str
    at: float


class Learned(Struct, frozen=True):
    """Changes that a run brought.

    `reasoning_id` as people see it, made by so many `runs` by now; `repeated`: the run had been learned before.

    `unknown` are retrieved ids no chunk answers to any more.
    """

    outcome: Outcome
    reasoning_id: str | None = None
    is_pattern: bool = False
    runs: int = 0
    accessed: int = 0
    boosted: int = 0
    unknown: tuple[int, ...] = ()
    repeated: bool = False

    @property
    def proved(self) -> bool:
        """Whether the run itself succeeded as a pattern does: one that did so in part may be counted to a pattern."""
        return self.is_pattern and self.outcome == "success" and self.reasoning_id is not None


class Boost(Struct, frozen=True):
    """Boost of a chunk's activation by one finished run (its query id), and when (Unix seconds)."""

    run: str
    amount: float
    at: float


class Difficulty(Struct, frozen=True):
    """A kind of question that failed: its terms, as first asked, how often, how badly and when last (Unix seconds)."""

    signature: str
    query: str
    failures: int
    last_score: float
    last_at: float


def outcome(score: float, policy: LearningPolicy = POLICY) -> Outcome:
    """From 0.8 a success, from 0.5 a partial one, below a failure."""
    if score >= policy.pattern_score:
        return "success"
    return "partial" if score >= policy.kept_score else "failure"


def boost(result: Outcome, helpful: bool | None, reasoning: bool, policy: LearningPolicy = POLICY) -> float:
    """Reward or penalty: by how much a retrieved chunk's activation changes; `reasoning` says that it is a reasoning
    chunk.

    Success: +0.2 to all that helped. Partial: +0.05 to what helped, −0.05 to what did not. Nothing (`neutral`) where
    nobody said. Failure: −0.1 to reasoning, as it led the run astray; code is not to blame.
    """
    if result == "success":
        return policy.success if helpful else policy.neutral
    if result == "failure":
        return policy.misleading if reasoning else 0.0
    if helpful is None:
        return policy.neutral
    return policy.helpful if helpful else policy.unhelpful


def judged(verdict: Judged, policy: LearningPolicy = POLICY) -> float:
    """By how much a pattern's activation changes when its user judges the answer.

    Praise: +0.1 (App. E). Incorrect: as a failure it led to. Insufficient: as a partial success it did not help.
    """
    return {"praised": policy.praised, "insufficient": policy.unhelpful, "incorrect": policy.misleading}[verdict]


def bounded(total: float, policy: LearningPolicy = POLICY) -> float:
    """Clamped sum of a chunk's boosts, in ±1.0: the term L that activation adds, `A = B + S + C − D + L`.

    As much as 2.7 times the uses, or uses 7.4 times as recent: enough to matter, too little to drown the history it
    stands beside.
    """
    return min(policy.limit, max(-policy.limit, total))


def lesson_of(run: FinishedRun, policy: LearningPolicy = POLICY) -> Lesson:
    """Lesson that a run teaches. Raises InvalidRun, and InvalidChunkDocument where its decomposition can't be kept."""
    _check(run)
    result = outcome(run.score, policy)
    retrieved = _each_once(run.retrieved)
    helped = [each for each in retrieved if each.helpful]
    of_use = [] if result == "failure" else helped
    document = None
    if result != "failure" and run.subgoals:
        document = _document(run, is_pattern=result == "success", flagged=policy.flagged)
    return Lesson(
        outcome=result,
        retrieved=retrieved,
        of_use=tuple(each.id for each in of_use),
        used=tuple((each.id, 1.0) for each in of_use),
        document=document,
        fingerprint=fingerprint(run.subgoals),
        signature=signature(run.query),
    )


def signature(query: str) -> str:
    """Normal form (bag of words) of a question: its telling terms, stemmed, sorted, none twice: equal for questions
    that say the same in other order."""
    return " ".join(sorted(stems_of(query))) or " ".join(query.lower().split())[:200]


def similar(one: str, other: str, policy: LearningPolicy = POLICY) -> bool:
    """Whether two signatures mean one kind of question: they share most of their terms (Jaccard ≥ 0.6)."""
    mine, theirs = set(one.split()), set(other.split())
    union = len(mine | theirs)
    return union > 0 and len(mine & theirs) / union >= policy.similar


def alikeness(one: ReasoningDocument, other: ReasoningDocument, policy: LearningPolicy = POLICY) -> float:
    """Similarity of two ways of working, in [0, 1]; 0 where they are not one.

    The same question, with a few words more or less around it, taken apart in as many steps about the same: a model
    never words them twice alike. A word in the place of another ("login" for "request") makes another question; a word
    of asking in the place of one that means the same ("describe" for "explain") does not.
    """
    mine, theirs = (stems_of(_as_asked(each.content.original_query)) - _filler() for each in (one, other))
    if not (mine <= theirs or theirs <= mine) or len(one.content.subgoals) != len(other.content.subgoals):
        return 0.0
    asked, planned = _shared(mine, theirs), _shared(_steps(one.content), _steps(other.content))
    return (asked + planned) / 2 if min(asked, planned) >= policy.alike else 0.0


@cache
def _filler() -> frozenset[str]:
    """Stems of words around a question that tell nothing of what is asked."""
    return frozenset(stems_of(_FILLER))


def _as_asked(text: str) -> str:
    """A text with one word for each way of asking."""
    return _ASKING.sub(lambda found: _MEANT[found[0].lower()], text)


def _steps(content: ReasoningContent) -> set[str]:
    return stems_of(_as_asked(" ".join(subgoal.description for subgoal in content.subgoals)))


def _shared(mine: set[str], theirs: set[str]) -> float:
    """Jaccard similarity of two sets of words."""
    union = len(mine | theirs)
    return len(mine & theirs) / union if union else 1.0


def similar_difficulties(query: str, known: Iterable[Difficulty], policy: LearningPolicy = POLICY) -> list[Difficulty]:
    """The kinds of question that failed and that this one is like."""
    asked = signature(query)
    return [each for each in known if similar(asked, each.signature, policy)]


def fingerprint(subgoals: Sequence[PatternSubgoal]) -> bytes:
    """Hash of a decomposition, which tells it from others: who does what in which order, whatever the steps are
    called.
    """
    digest = hashlib.blake2b(digest_size=16)
    for subgoal in subgoals:
        digest.update(f"{subgoal.agent}\0{' '.join(terms(subgoal.description))}\1".encode("utf-8", "replace"))
    return digest.digest()


def better(old: ReasoningDocument, new: ReasoningDocument) -> bool:
    """Whether a later run of one decomposition is the one to remember it by: it went at least as well."""
    return new.content.success_score >= old.content.success_score


def _document(run: FinishedRun, *, is_pattern: bool, flagged: bool) -> ReasoningDocument:
    """Pattern (reasoning chunk) that is kept of a run."""
    tools = [tool for use in run.tools_used for tool in use.tools]
    pattern = _slug(run.pattern) if run.pattern else pattern_name(run.query)
    texts = [subgoal.description for subgoal in run.subgoals]
    content = ReasoningContent(
        pattern=pattern,
        original_query=run.query,
        complexity=run.complexity,
        subgoals=run.subgoals,
        tools_used=run.tools_used,
        tool_sequence=run.tool_sequence or tuple(tools)[:1000],
        success_score=run.score,
        verification_option=run.verification_option,
        cites=run.cites,
    )
    return reasoning_document(
        pattern,
        content,
        run.tags or reasoning_tags(run.query, texts),
        run.at,
        is_pattern=is_pattern,
        flagged=flagged,
        execution_time_ms=run.execution_time_ms,
        total_cost_usd=run.total_cost_usd,
        log=run.log,
    )


def _slug(name: str) -> str:
    """A pattern's name as an id can hold it: words with hyphens."""
    pieces = re.findall(r"[^\W_]+", name.lower())
    return "-".join(pieces)[:100].strip("-") or "query"


def _check(run: FinishedRun) -> None:
    """Input validation of a run. Raises InvalidRun."""
    if not run.id or len(run.id) > 200:
        raise InvalidRun(f"a run needs an id of 1 to 200 characters, not {len(run.id)}; give it its query id")
    if not 0.0 <= run.score <= 1.0:  # NaN fails this too
        raise InvalidRun(f"run {run.id}: a score of {run.score} is outside [0, 1]; give the verification score")
    if not (math.isfinite(run.at) and 0 <= run.at < 253_402_300_800):
        raise InvalidRun(f"run {run.id}: {run.at} is no time; give Unix seconds")
    if not run.query.strip() or len(run.query) > MAX_QUERY:
        raise InvalidRun(f"run {run.id}: a query has 1 to {MAX_QUERY} characters, not {len(run.query)}; shorten it")
    if len(run.retrieved) > MAX_RETRIEVED:
        raise InvalidRun(f"run {run.id}: {len(run.retrieved)} chunks retrieved, {MAX_RETRIEVED} are the most")


def _each_once(retrieved: Iterable[Retrieved]) -> tuple[Retrieved, ...]:
    """Deduplication: each chunk once; what was said of it last holds."""
    found: dict[int, Retrieved] = {}
    for each in retrieved:
        if each.helpful is not None or each.id not in found:
            found[each.id] = each
    return tuple(found.values())
