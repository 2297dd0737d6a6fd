"""History of OpenSpec changes, mined from git's log (rename tracking, shallow clones): when each was proposed, planned,
worked on and archived, by whom, and under which names (AURA-M §7).

What a checkout, a pull or a clone brings has the files' times of that moment; the log has the true ones. Times are
those of the authors, which a rebase keeps. Pure: the log is an argument.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.choices import PHASES, Phase
from aurora_deliverables.detection import openspec
from aurora_deliverables.detection.change_title import type_of_name
from aurora_deliverables.detection.observation import TICK
from aurora_deliverables.detection.recorded_state import RecordedState, state_after
from aurora_deliverables.events import (
    Ended,
    Event,
    EventBody,
    PhaseStarted,
    Renamed,
    Revived,
    SpecSource,
    Started,
)
from aurora_deliverables.evidence import event_id, shown

MAX_COMMITS = 20_000
MAX_CHANGES = 5000
SIMILAR = 60
"""Percent of a file that must be the same for it to be the renamed one: proposals share their headings."""

LOG = (
    "log",
    "--exclude=refs/stash",
    "--all",
    "HEAD",
    "--full-history",
    "-c",
    "--combined-all-paths",
    "--topo-order",
    "--reverse",
    "--relative",
    f"--find-renames={SIMILAR}%",
    "--name-status",
    f"--max-count={MAX_COMMITS}",
    "--format=%x1e%H%x1f%at%x1f%aN",
    "--",
    openspec.CHANGES,
)
"""Arguments of git for what `read_history` reads: all refs, as a change may be worked on and archived on any branch.

Both sides of a merge that did the same are read, and of merges what they did themselves. A commit comes after those
it rests on, whatever their clocks said.
"""

_PHASE_OF: Mapping[str, Phase] = {"proposal.md": "propose", "design.md": "design", "tasks.md": "tasks"}


class Dated(Struct, frozen=True):
    """Moment that a commit shows: Unix seconds, the commit and its author."""

    at: float
    commit: str
    author: str


class ChangeHistory(Struct, frozen=True):
    """History of one change, all that the log tells of it. `change_id` is its first name, `names` what it was called
    since.

    `removed` is where its folder was removed without being archived, on whichever branch, `returned` where it came back
    after that, `reopened` where it was last taken back out of the archive, `times_reopened` how often. `cut`: it was
    there at a commit that a shallow clone ends at, so when it began, and by whom, is not known.
    """

    change_id: str
    begun: Dated
    names: tuple[tuple[str, Dated], ...] = ()
    phases: tuple[tuple[Phase, Dated], ...] = ()
    tasks_at: float | None = None
    archived: Dated | None = None
    removed: Dated | None = None
    reopened: Dated | None = None
    times_reopened: int = 0
    returned: Dated | None = None
    cut: bool = False

    @property
    def name(self) -> str:
        """What it is called now."""
        return self.names[-1][0] if self.names else self.change_id


class _Seen:
    """One change while the log is read."""

    def __init__(self) -> None:
        self.begun: Dated | None = None
        self.names: list[tuple[str, Dated]] = []
        self.phases: dict[Phase, Dated] = {}
        self.tasks_at: float | None = None
        self.archived: Dated | None = None
        self.removed: Dated | None = None
        self.reopened: Dated | None = None
        self.times_reopened = 0
        self.returned: Dated | None = None
        self.cut = False


class _Touch(Struct, frozen=True):
    """A file of a change that a commit touched: `how` is A, M, D or R, `old` where an R was before."""

    how: str
    path: str
    old: str | None = None


def read_history(said: bytes, ends_at: Container[str] = ()) -> dict[str, ChangeHistory]:
    """The changes that `git log` with `LOG` told of, by every name they had.

    `ends_at` are the commits that a shallow clone ends at: git shows them as if they had brought in every file.
    """
    commits = list(_commits(said.decode("utf-8", "replace")))
    renames, names = _names(commits, ends_at)
    changes: dict[str, _Seen] = {}
    for dated, touches in sorted(commits, key=lambda each: each[0].at):
        if dated.commit in ends_at:
            _note_cut(changes, dated, touches)
        else:
            renamed = renames.get(dated.commit, [])
            for _, new in renamed:
                changes.setdefault(names[new], _Seen()).names.append((new, dated))
            _note(changes, names, dated, touches, away={old for old, _ in renamed})
        if len(changes) > MAX_CHANGES:
            break
    found = {
        change_id: ChangeHistory(
            change_id,
            seen.begun,
            tuple(seen.names),
            tuple((phase, seen.phases[phase]) for phase in PHASES if phase in seen.phases),
            seen.tasks_at,
            seen.archived,
            seen.removed,
            seen.reopened,
            seen.times_reopened,
            seen.returned,
            seen.cut,
        )
        for change_id, seen in changes.items()
        if seen.begun is not None
    }
    return found | {name: found[first] for name, first in names.items() if first in found and name not in found}


def _names(
    commits: Iterable[tuple[Dated, list[_Touch]]], ends_at: Container[str]
) -> tuple[dict[str, list[tuple[str, str]]], dict[str, str]]:
    """The renames of each commit that has any, and the first name of each later one.

    In the log's order, which is that of the commits: two of one second, or an amended date, come in any order of time.
    """
    renames: dict[str, list[tuple[str, str]]] = {}
    names: dict[str, str] = {}
    known: set[str] = set()
    for dated, touches in commits:
        if dated.commit not in ends_at:
            for old, new in _renames(touches, known):
                names[new] = names.get(old, old)
                known.add(old)
                renames.setdefault(dated.commit, []).append((old, new))
        known.update(name for touch in touches if (name := openspec.change_of(touch.path)) is not None)
    return renames, names


def _note_cut(changes: dict[str, _Seen], dated: Dated, touches: list[_Touch]) -> None:
    """Begin of changes at the shallow clone's boundary: they are older, by how much nobody knows."""
    for touch in touches:
        name = openspec.change_of(touch.path)
        if name is not None and changes.setdefault(name, _Seen()).begun is None:
            changes[name].begun, changes[name].cut = dated, True


def _note(
    changes: dict[str, _Seen], names: Mapping[str, str], dated: Dated, touches: list[_Touch], away: Container[str]
) -> None:
    """Note what a commit did to changes: began, archived, removed, reverted; `away` are names that it replaced."""
    removed = {touch.path for touch in touches if touch.how == "D"}
    for touch in touches:
        name = openspec.change_of(touch.path)
        if name is None:
            continue
        seen = changes.setdefault(names.get(name, name), _Seen())
        if _takes_back(touch, name, removed) and seen.archived is not None:
            seen.archived, seen.reopened = None, dated
            seen.times_reopened += 1
        archived = _is_archived(touch.path)
        if touch.how == "D":
            if not archived and _is_proposal(touch.path) and name not in away:
                seen.removed = dated
            continue
        if archived:
            # Only what moved there was archived then: a file that is put right later was archived before.
            moved = touch.how == "A" or (touch.old is not None and not _is_archived(touch.old))
            if moved and seen.archived is None:
                seen.archived = dated
            continue
        if seen.begun is None:
            seen.begun = dated
        elif seen.archived is not None:
            continue  # the name is used once more, or a branch does not know yet: neither makes that change longer
        if seen.removed is not None:
            seen.removed, seen.returned = None, dated
        phase = _phase_of(touch.path)
        if touch.path.endswith("/tasks.md"):
            seen.tasks_at = dated.at
            if touch.how == "M":
                seen.phases.setdefault("apply", dated)
        if phase is not None:
            seen.phases.setdefault(phase, dated)


def _takes_back(touch: _Touch, name: str, removed: Collection[str]) -> bool:
    """Whether it takes a proposal back out of the archive, as a revert does; not where the name is used once more."""
    if not _is_proposal(touch.path) or _is_archived(touch.path):
        return False
    if touch.how == "R":
        return touch.old is not None and _is_archived(touch.old)
    return touch.how == "A" and any(_is_archived(path) and openspec.change_of(path) == name for path in removed)


def _renames(touches: list[_Touch], known: Container[str]) -> Iterator[tuple[str, str]]:
    """Pairs of names of changes whose folder a commit moved from one to the other, which nobody knew before.

    The proposal moved with it; one that was written anew went at the old place and came at the new one.
    """
    done: set[str] = set()
    gone = {openspec.change_of(touch.path) for touch in touches if touch.how == "D" and _is_proposal(touch.path)}
    come = {openspec.change_of(touch.path) for touch in touches if touch.how == "A" and _is_proposal(touch.path)}
    for touch in touches:
        if touch.how != "R" or touch.old is None or _is_archived(touch.old):
            continue
        old, new = openspec.change_of(touch.old), openspec.change_of(touch.path)
        if old is None or new is None or old == new or new in done:
            continue
        if not (_is_proposal(touch.path) and _is_proposal(touch.old)) and not (old in gone and new in come):
            continue
        if new not in known:
            done.add(new)
            yield old, new


def _is_proposal(path: str) -> bool:
    return path.endswith("/proposal.md")


def _is_archived(path: str) -> bool:
    return path.startswith(f"{openspec.ARCHIVE}/")


def _phase_of(path: str) -> Phase | None:
    """Phase that a file of a change belongs to, by its name."""
    parts = path.split("/")
    if len(parts) == 4:
        return _PHASE_OF.get(parts[3])
    return "specs" if len(parts) > 4 and parts[3] == "specs" and path.endswith(".md") else None


def _commits(said: str) -> Iterator[tuple[Dated, list[_Touch]]]:
    """Parser of the log's entries: each commit, and the files it touched."""
    for entry in said.split("\x1e")[1:]:
        head, *lines = entry.splitlines()
        parts = head.split("\x1f")
        if len(parts) != 3 or not parts[1].isdecimal():
            continue
        yield Dated(float(parts[1]), parts[0], parts[2]), list(_touches(lines))


def _touches(lines: Iterable[str]) -> Iterator[_Touch]:
    """Parser of a commit's status lines: files added, modified, deleted, renamed."""
    for line in lines:
        how, *paths = line.split("\t")
        if len(how) > 1 and how.isalpha() and len(paths) == len(how) + 1:
            yield _of_merge(how, *paths)
        elif how.startswith("R") and len(paths) == 2:
            yield _Touch("R", paths[1], paths[0])
        elif len(paths) == 1 and how in ("A", "M", "D"):
            yield _Touch(how, paths[0])


def _of_merge(how: str, *paths: str) -> _Touch:
    """What a merge itself did to a file, which differs there from every parent; `how` has a letter for each."""
    *olds, path = paths
    if set(how) <= {"A", "R"}:
        old = next((each for letter, each in zip(how, olds, strict=True) if letter == "R"), None)
        return _Touch("A" if old is None else "R", path, old)
    return _Touch("D" if set(how) == {"D"} else "M", path)


def events_of(
    known: ChangeHistory, told: RecordedState, change_id: str, names: Iterable[str], *, given_up: bool = False
) -> list[Event]:
    """What the log tells of a change that was not told, of a deliverable called `change_id`, and also `names`.

    Of one that only its archive is known of nothing is told: how long it took would be made up. What was told with a
    later time is told again with the true one; the earliest counts. `given_up` tells that its folder is nowhere any
    more: where the log has no archive of it, its end is where that was removed.
    """
    author = shown(known.begun.author, 100) or None
    events: list[Event] = []
    begun = known.begun
    if not known.cut and (told.started_at is None or told.started_at > begun.at or told.author is None):
        spec = SpecSource(openspec.SOURCE, f"changes/{known.name}") if told.started_at is None else None
        type_ = type_of_name(known.change_id) if told.type is None else None
        events.append(_event(change_id, begun, Started(type=type_, spec_source=spec, author=author), "proposed"))
    called = {change_id, *names}
    events += [
        _event(change_id, at, Renamed(name), f"renamed to {name}") for name, at in known.names if name not in called
    ]
    end, reopened = known.archived, known.reopened
    again = str(known.times_reopened or "")
    if told.ended and told.ended_at is not None and reopened is not None and told.ended_at < reopened.at:
        events.append(_event(change_id, reopened, Revived(), "taken back out of the archive", again))
        told = state_after(told, events[-1])
    if told.archived and told.ended_at is not None and end is not None and begun.at <= end.at < told.ended_at:
        events.append(_event(change_id, end, PhaseStarted("archive"), "archived"))
        events.append(_event(change_id, end, Ended("completed", reason="archived"), "archived before that", again))
    if told.ended and not (told.abandoned and end is not None):
        return events
    if told.ended and end is not None:
        end = replace_at(end, max(end.at, told.told_at + TICK))
        events.append(_event(change_id, end, Revived(), "archived after all"))
    for phase, at in known.phases:
        if phase not in told.phases and (told.started_at is None or told.planning or phase == "apply"):
            events.append(_event(change_id, at, PhaseStarted(phase), f"{phase} began"))
    if end is not None:
        end = replace_at(end, max(end.at, told.told_at, *(event.at for event in events), begun.at))
        if told.phase != "archive":
            events.append(_event(change_id, end, PhaseStarted("archive"), "archived"))
        events.append(_event(change_id, end, Ended("completed", reason="archived"), "archived", again))
    elif given_up and known.removed is not None:
        end = replace_at(known.removed, max(known.removed.at, told.told_at, *(event.at for event in events), begun.at))
        said = "removed and not archived"
        # By who would have missed it: so it goes on where it is found again.
        failed = _event(change_id, end, Ended("failed", "incomplete", said), said)
        events.append(replace(failed, source=openspec.SOURCE))
    return events


def replace_at(dated: Dated, at: float) -> Dated:
    """The same moment at another time: what is told in order must be in order, whatever the authors' clocks said."""
    return Dated(at, dated.commit, dated.author)


def _event(change_id: str, dated: Dated, what: EventBody, said: str, again: str = "") -> Event:
    """Event that a commit shows, dated by that commit."""
    kind = str(type(what).__struct_config__.tag)
    detail = what.phase if isinstance(what, PhaseStarted) else what.name if isinstance(what, Renamed) else again
    return Event(
        id=event_id(change_id, kind, "git-log", detail),
        change_id=change_id,
        at=dated.at,
        what=what,
        source="git",
        evidence=shown(f"commit {dated.commit[:10]}: {said}"),
    )
