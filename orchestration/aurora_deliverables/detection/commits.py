"""Commits (conventional commits, trailers, co-authors), parsed: trailers that name a deliverable, the type that a
conventional commit tells, and who helped.

`Deliverable: add-search` (or `Spec: openspec/changes/add-search`) in a commit's trailers names it, and begins it where
nobody knows it yet; `Change-Id: add-search` and the branch name one that is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.detection import change_title
from aurora_deliverables.detection.recorded_state import RecordedState, kind_of
from aurora_deliverables.events import AgentIdentity, Event, EventBody, PhaseStarted, SpecSource, Started
from aurora_deliverables.evidence import event_id, shown

SOURCE = "git"
MAX_COMMITS = 200
REFLOG = ("log", "--walk-reflogs", f"--max-count={MAX_COMMITS}", "--format=%H %gs", "HEAD")
"""Arguments of git for what `read_reflog` reads."""

LOG = (
    "log",
    f"--max-count={MAX_COMMITS}",
    "--no-merges",
    "--name-only",
    "--format=%x1e%H%x1f%ct%x1f%s%x1f%(trailers:only,unfold)%x1d",
)
"""Arguments of git for what `read_log` reads."""

MAX_NAMES = 5000

_TRAILER = re.compile(r"^([A-Za-z][\w-]*)\s*:\s*(\S.*)$")
_ID = re.compile(r"[\w][\w.#-]{0,99}")
_AGENTS = {
    "claude": AgentIdentity("claude-code", framework="claude-code"),
    "copilot": AgentIdentity("copilot", framework="copilot"),
}


class Commit(Struct, frozen=True):
    """A commit: when it was committed, its subject, its trailers by lower-case name, and the files it touched."""

    hash: str
    at: float
    subject: str
    trailers: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()

    def trailer(self, name: str) -> str | None:
        """The last value of a trailer."""
        return next((value for key, value in reversed(self.trailers) if key == name), None)

    @property
    def agent(self) -> AgentIdentity | None:
        """The agent that a `Co-authored-by` trailer names."""
        authors = (value.lower() for key, value in self.trailers if key == "co-authored-by")
        return next((agent for author in authors for name, agent in _AGENTS.items() if author.startswith(name)), None)


def read_log(said: bytes) -> list[Commit]:
    """What `git log` with `LOG` said, the oldest first; what cannot be read is left out."""
    return list(reversed(list(_commits(said.decode("utf-8", "replace")))))


def read_reflog(said: bytes) -> frozenset[str]:
    """The commits that were made here, not pulled, of what `git log` with `REFLOG` said."""
    entries = (line.split(" ", 1) for line in said.decode("utf-8", "replace").splitlines())
    return frozenset(entry[0] for entry in entries if len(entry) == 2 and entry[1].startswith("commit"))


def only_commits(said: bytes, since: str | None) -> bool:
    """Whether HEAD moved by nothing but commits made here since it was at `since`, by the same answer of git."""
    for line in said.decode("utf-8", "replace").splitlines():
        commit, _, how = line.partition(" ")
        if commit == since:
            return True
        if not how.startswith("commit"):
            return False
    return since is None


def named(commit: Commit, known: Iterable[str]) -> str | None:
    """The deliverable that a commit's trailers name: any by `Deliverable` or `Spec`, one of `known` by `Change-Id`."""
    ids = frozenset(known)
    for key in ("deliverable", "spec", "change-id"):
        value = (commit.trailer(key) or "").strip().rstrip("/")
        name = value.rpartition("/")[2].removesuffix(".md")
        if _ID.fullmatch(name) and (key != "change-id" or name in ids):
            return name
    return None


def events_of(commit: Commit, told: RecordedState, why: str, *, touches_code: bool) -> list[Event]:
    """What a commit tells of the deliverable it belongs to, for the reason `why`."""
    if told.ended:
        return []
    evidence = f"commit {commit.hash[:10]} ({commit.subject}), {why}"
    events: list[Event] = []
    type_ = change_title.type_of_subject(commit.subject) if told.type is None and touches_code else None
    if told.started_at is None:
        spec = commit.trailer("spec")
        source = SpecSource(SOURCE, shown(spec)) if spec else None
        started = Started(description=change_title.summary(commit.subject), type=type_, spec_source=source)
        events.append(_event(commit, told, started, evidence))
    elif type_ is not None:
        events.append(_event(commit, told, Started(type=type_), evidence))
    if touches_code and told.planning:
        events.append(_event(commit, told, PhaseStarted("apply"), evidence))
    return events


def _event(commit: Commit, told: RecordedState, what: EventBody, evidence: str) -> Event:
    at = max(commit.at, told.phase_at)
    draft = Event("", told.change_id, at, what, agent=commit.agent, source=SOURCE, evidence=shown(evidence))
    return replace(draft, id=event_id(told.change_id, kind_of(draft), commit.hash))


def _commits(said: str) -> Iterator[Commit]:
    """Parser of git log's output: commits with their trailers and files."""
    for entry in said.split("\x1e")[1:]:
        head, _, names = entry.partition("\x1d")
        parts = head.split("\x1f")
        if len(parts) != 4 or not parts[1].isdecimal():
            continue
        trailers = (_TRAILER.match(line.strip()) for line in parts[3].splitlines())
        yield Commit(
            hash=parts[0],
            at=float(parts[1]),
            subject=parts[2][:1000],
            trailers=tuple((found[1].lower(), found[2]) for found in trailers if found),
            files=tuple(name for name in names.splitlines()[:MAX_NAMES] if name),
        )
