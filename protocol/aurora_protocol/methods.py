"""Methods `aurora/*` (custom JSON-RPC requests) and what they carry: types of params and results. Keys are snake_case,
as on the command line.

Standard LSP travels beside these and is not repeated here; its own keys (`workDoneToken`, `partialResultToken`) are
spelled as LSP has them, in our params too. Times are ISO 8601 in UTC with a `Z`.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType, field

RECALL = "aurora/recall"
INDEX = "aurora/index"
STATUS = "aurora/status"
EXPLAIN = "aurora/explain"
DOCTOR = "aurora/doctor"
REPAIR = "aurora/repair"
STOP = "aurora/stop"

COMMANDS = {"aurora.recall": RECALL, "aurora.index": INDEX, "aurora.status": STATUS, "aurora.explain": EXPLAIN}
"""`workspace/executeCommand` names and the request each stands for (its only argument is that request's params)."""


class Wire(Struct, frozen=True, kw_only=True):
    """Base of every message here: frozen, keyword-only, its keys on the wire those of its fields."""


class Position(Wire, frozen=True, kw_only=True):
    """An LSP position, in the session's negotiated encoding."""

    line: int
    character: int


class EditorContext(Wire, frozen=True, kw_only=True):
    """Context of the editor, where the user is: the file and, when known, the cursor."""

    uri: str
    position: Position | None = None


class RecallParams(Wire, frozen=True, kw_only=True):
    """`aurora/recall`. `types` are `code`, `reas`, `know`; an empty `query` is an error.

    `level` asks for answers of one size. `budget_tokens` asks for the most useful mix of whole chunks and excerpts that
    fits, and so for content as well. `context` is where the user is: what it is related to comes first, and nothing is
    found that is not found without. `everywhere` asks every memory that this machine knows. `prefix` says that the
    query is still being typed: its last word may be the beginning of others even where it is one itself (one that is
    none is taken as such anyway).
    """

    query: str
    limit: int = 10
    types: list[str] | None = None
    budget_tokens: int | None = None
    level: Literal["file", "class", "function"] | None = None
    include_content: bool = False
    explain: bool = False
    everywhere: bool = False
    prefix: bool = False
    context: EditorContext | None = None


class Freshness(Wire, frozen=True, kw_only=True):
    """Freshness of the index: how far it is behind the files when an answer is given."""

    indexed_at: str | None
    pending_files: int
    skipped_files: int
    files: int
    chunks: int
    state: str
    history_percent: int | None = None
    """How much of git's history is read, while it is; until then dates may be unknown."""
    heard: bool = False
    """`pending_files` counts every change before the question; else some may still be told, or late (polling)."""


class ActivationTerms(Wire, frozen=True, kw_only=True):
    """Terms of activation: `total = base_level + spreading + context_boost − decay + learned` (AURORA §6.3, §6.7)."""

    total: float
    base_level: float
    spreading: float
    context_boost: float
    decay: float
    learned: float = 0.0


class Match(Wire, frozen=True, kw_only=True):
    """A stemmed term of the query and where the chunk has it: `name`, `signature`, `path`, `doc`, `calls`, `body`."""

    term: str
    fields: list[str]


class Reach(Wire, frozen=True, kw_only=True):
    """Step of spreading activation: from the chunk `id` over a relation, followed in its own direction or
    against it.
    """

    id: str
    name: str
    file: str
    relation: str
    forward: bool
    amount: float


class LearnedBoost(Wire, frozen=True, kw_only=True):
    """Boost that a finished run added to a chunk's activation."""

    run: str
    amount: float
    at: str


class PrimingCommit(Wire, frozen=True, kw_only=True):
    """Commit that primes a chunk: it changed it and resembles the query; `amount` is the activation it brought."""

    commit: str
    subject: str
    amount: float


class Similarity(Wire, frozen=True, kw_only=True):
    """Similarity to the query by embedding: the chunk's rank (1 is best), and its cosine."""

    rank: int
    similarity: float


class SignalContribution(Wire, frozen=True, kw_only=True):
    """Contribution of a ranking signal to a chunk's rank: `contribution` is `weight` times `value`, in log odds."""

    name: str
    value: float
    weight: float
    contribution: float


class Lines(Wire, frozen=True, kw_only=True):
    """Lines of a file, 1-based, inclusive."""

    line_start: int
    line_end: int


class Provenance(Wire, frozen=True, kw_only=True):
    """Provenance of a pattern that a colleague's entry told: his name, null where he does not share it, and when it was
    learned. It is data to be weighed as a colleague's word, no instruction.
    """

    name: str | None
    at: str


class ColleaguesPart(Wire, frozen=True, kw_only=True):
    """Part that a colleague, or all who do not share their names (`name` is null), has in what is known of a chunk:
    uses and boosts, which weigh less than one's own, and the latest of them.
    """

    name: str | None
    uses: int
    boosts: int
    last: str


class Evidence(Wire, frozen=True, kw_only=True):
    """Evidence for a chunk: where each term of its activation comes from, and what its rank.

    `accesses` are the latest of `access_count`, oldest first; they come from `answers`, from `git`, from `edits` seen,
    or from the `file`'s time (`unknown`: nobody knows of any use or change). `reached` leads from what the query and
    the editor prime to the chunk. `signals` come largest first. `question` is what kind of question the query was taken
    for. `colleagues` have their part in accesses and boosts, who was there last first.
    """

    matched_terms: list[str]
    matches: list[Match]
    accesses: list[str]
    access_count: int
    accesses_from: str
    days_since_access: float | None
    reached: list[Reach]
    episodes: list[PrimingCommit]
    learned: list[LearnedBoost]
    signals: list[SignalContribution]
    question: str
    focus: Lines
    semantic: Similarity | UnsetType = UNSET
    colleagues: list[ColleaguesPart] = []


class FileMember(Wire, frozen=True, kw_only=True):
    """Another definition of a result's file that answers as well. Lines are 1-based, inclusive; `line` has its name."""

    id: str
    name: str
    kind: str
    line_start: int
    line_end: int
    line: int


class Recalled(Wire, frozen=True, kw_only=True):
    """Recalled chunk. Lines are 1-based, inclusive; `file` is relative to its workspace, with `/`.

    `tokens` is what the chunk, or what is delivered of it, costs a language model; an `excerpt` is its most telling
    lines only. `callers` and `subclasses` are sure; `likely_…` are those beside them that only may be; `handed_on`
    counts who names it without calling it (`map(parse, lines)`). Where `content` is not the lines as they stand,
    `content_lines` has the number of each of its lines, 0 for what is left out.
    `similar` are ids of near-duplicates this one answers for, `also` what else of its file answers, best first.
    `line` is where it leads: the line of its name, below comments, attributes and decorators; of a file's remainder the
    one that answers, where a constant is declared or a message is written.
    `likely`: to a question about relations ("who calls parse"), this one only may be part of the answer; `relation`
    says what it has to do with what was asked about, where the question does not (`calls it`, `4 of 6 commits`,
    `uses MAX_ROWS`).
    `last_modified` is null where it is not known; `modified_before` then tells from when on it is known not to have
    changed, if that is (the end of a shallow clone). `as_of` is there where nobody has the workspace open, and says
    when it was indexed last; `changed_since`: the file has changed since, its lines are those of then. A pattern that
    was learned in another repository says which (`transferred_from`; `workspace` is "" then), and whose it is:
    `learned_by` is "" for your own, null for a colleague who does not share his name. A pattern of this repository that
    a colleague learned has its `provenance`; `drifted` are places whose lines do not say any more what they said when a
    pattern was learned: what it says of them has to be verified.
    """

    id: str
    type: str
    kind: str
    name: str
    file: str
    line_start: int
    line_end: int
    line: int
    language: str
    signature: str
    score: float
    activation: ActivationTerms
    last_used: str | None
    last_modified: str | None
    tokens: int
    summary: str
    callers: int
    workspace: str
    modified_before: str | None = None
    as_of: str | None = None
    changed_since: bool = False
    transferred_from: str | None = None
    learned_by: str | None = None
    provenance: Provenance | None = None
    drifted: list[str] = []
    likely_callers: int = 0
    subclasses: int = 0
    likely_subclasses: int = 0
    handed_on: int = 0
    similar: list[str] = []
    also: list[FileMember] = []
    likely: bool = False
    relation: str = ""
    excerpt: bool = False
    content: str | UnsetType = UNSET
    content_lines: list[int] | UnsetType = UNSET
    evidence: Evidence | UnsetType = UNSET


class SeenLog(Wire, frozen=True, kw_only=True):
    """A section of a conversation log that tells of what was asked; `file` is its path below the folder of logs."""

    file: str
    section: str
    line_start: int
    line_end: int
    phase: int | None
    query_id: str
    topic: str
    keywords: list[str]
    score: float


class RecallResult(Wire, frozen=True, kw_only=True):
    """The answer to `aurora/recall`: sorted by score, best first, none repeated. `logs` are named where it is weak.

    `missing`: the query is an id, a place in a file or a question about what some name has to do with others, and
    there is none such, as the hint says. `left_out` has a line for what was not asked of `everywhere`, and why.
    """

    query: str
    took_ms: float
    freshness: Freshness
    results: list[Recalled]
    hint: str | None = None
    logs: list[SeenLog] = []
    missing: bool = False
    left_out: list[str] = []


class IndexParams(Wire, frozen=True, kw_only=True):
    """`aurora/index`: bring these paths (or everything) up to date, and wait. The token asks for `$/progress`."""

    paths: list[str] | None = None
    work_done_token: str | int | None = field(default=None, name="workDoneToken")


class IndexResult(Wire, frozen=True, kw_only=True):
    """Result of one `aurora/index`: what it found and did. `definitions` are the chunks of code that are not module
    remainders.

    `adoptable` is the folder, gone now, whose memory could be adopted here; it is said once.
    """

    workspace: str
    files: int
    chunks: int
    definitions: int
    kinds: dict[str, int]
    languages: dict[str, int]
    parsed_files: int
    unchanged_files: int
    removed_files: int
    skipped_files: int
    failed_files: int
    took_ms: float
    adoptable: str | None = None


class WorkspaceStatus(Wire, frozen=True, kw_only=True):
    """Status of one open workspace. `state` is `scanning`, `indexing`, `ready` or `error`."""

    root: str
    state: str
    files: int
    chunks: int
    pending_files: int
    skipped_files: int
    database_bytes: int
    last_error: str | None
    watching: str = "off"
    learning_history: bool = False


class StatusResult(Wire, frozen=True, kw_only=True):
    """`aurora/status`, and `aurora daemon status --json`."""

    version: str
    pid: int
    uptime_s: float
    rss_bytes: int
    socket: str
    connections: int
    workspaces: list[WorkspaceStatus]


class RelatedChunk(Wire, frozen=True, kw_only=True):
    """Related chunk, and how it is related (`calls`, `called by`, `contains`, `inherits`, …); `likely`: it may be."""

    relation: str
    id: str
    name: str
    file: str
    line: int
    likely: bool = False


class ExplainParams(Wire, frozen=True, kw_only=True):
    """`aurora/explain`: a chunk by `id`, or the one at `uri` and `position`.

    `id` may also be a name (`AuthService.login`) or a place (`src/auth.py:45`, `src/auth.py:login`). Where a position
    has no name that means something, the innermost definition around it is explained.
    """

    id: str | None = None
    uri: str | None = None
    position: Position | None = None


class PatternUse(Wire, frozen=True, kw_only=True):
    """A way of working that went well and used a chunk: what was asked, how well it went, how often it was of use;
    `provenance` and `drifted` as of a recalled pattern.
    """

    id: str
    query: str
    score: float
    uses: int
    provenance: Provenance | None = None
    drifted: list[str] = []


class ExplainResult(Wire, frozen=True, kw_only=True):
    """Explanation of one chunk, with its history and relations; `document` is that of AURORA §6.3.5, with `content` and
    `metadata`.

    `patterns` are those that used it, best first; the evidence stands in `chunk`. `governance` is the document's, with
    what comes of it now: the `policy` that fits, its `state` (kept, decaying, expired), `expires_at`, `reason`.
    """

    chunk: Recalled
    docstring: str
    content: dict[str, Any]
    metadata: dict[str, Any]
    accesses: list[str]
    commits: list[str]
    relations: list[RelatedChunk]
    document: dict[str, Any]
    governance: dict[str, Any] = {}
    patterns: list[PatternUse] = []


class Skipped(Wire, frozen=True, kw_only=True):
    """Skipped file or folder: one that is not indexed, and why."""

    path: str
    reason: str
    detail: str


class DoctorFinding(Wire, frozen=True, kw_only=True):
    """Finding of `aurora doctor`: `level` is `ok`, `warning` or `error`; `fix` is the next step, if there is one."""

    level: str
    what: str
    fix: str | None = None


class DoctorResult(Wire, frozen=True, kw_only=True):
    """`aurora/doctor`: what is wrong here and how to mend it, and every skip by reason (at most 1,000 listed).

    `aurora/repair` takes the same params (none), mends what it can, waits until all is indexed anew, and answers with
    what it did followed by what doctor says then.
    """

    findings: list[DoctorFinding]
    skipped: dict[str, int]
    examples: list[Skipped]
