"""OpenSpec: `openspec/changes/<id>/` from the proposal to the move into `archive/` (AURA-M §7).

The layout and what counts as a task or a requirement are those of the OpenSpec CLI (github.com/Fission-AI/OpenSpec,
`src/utils/task-progress.ts`, `src/core/parsers/requirement-blocks.ts`, `src/core/archive.ts`).
"""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.choices import Phase
from aurora_deliverables.detection import change_title, files
from aurora_deliverables.detection.files import SeenFile
from aurora_deliverables.detection.markdown import outline
from aurora_deliverables.detection.observation import Artefact, Ending, Observation, Tasks
from aurora_deliverables.detection.spec_criteria import (
    Constraint,
    Requirement,
    SpecCriteria,
    TaskLine,
    constraints_in,
    distinct,
    scenarios_below,
)
from aurora_deliverables.events import SpecSource

SOURCE = "openspec"
CHANGES = "openspec/changes"
ARCHIVE = f"{CHANGES}/archive"

_TASK = re.compile(r"^[ \t]*[-*][ \t]*\[([\sxX])\]([^\n]*)", re.MULTILINE)
_NUMBER = re.compile(r"^[\s\d.]+")
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}-(?=.)")
_DELTAS = frozenset({"added requirements", "modified requirements", "removed requirements"})
_REMOVED = "removed requirements"
_NOWHERE = (0, 0)
_REQUIREMENT = re.compile(r"Requirement:\s*(\S.*)", re.IGNORECASE)
_FROM = re.compile(r"^\s*-?\s*FROM:\s*`?###\s*Requirement:([^`\n]*)", re.MULTILINE)
_REMOVED_ITEM = re.compile(r"`?###\s*Requirement:\s*(\S[^`]*)")
_WHY = re.compile(r"^why$", re.IGNORECASE)
_LABEL = re.compile(r"^(?:change|proposal|change proposal|openspec change)\s*:\s*", re.IGNORECASE)


class SeenChange(Struct, frozen=True):
    """A change's folder and the files in it that count. `archived_at` is None while it is not in the archive."""

    id: str
    folder: str
    proposal: SeenFile | None = None
    specs: tuple[SeenFile, ...] = ()
    design: SeenFile | None = None
    tasks: SeenFile | None = None
    archived_at: float | None = None


def change_of(path: str) -> str | None:
    """The change that a file or folder at `path` belongs to, archived or not; None for all other paths."""
    parts = path.split("/")
    if parts[:2] != ["openspec", "changes"] or len(parts) < 3:
        return None
    if parts[2] != "archive":
        # A file directly in `changes/` is no change, but a removed folder has no more parts either.
        return None if len(parts) == 3 and parts[2].endswith(".md") else parts[2]
    return _DATED.sub("", parts[3], count=1) if len(parts) > 3 else None


def open_changes(root: Path) -> list[str]:
    """The ids of all changes that are not archived."""
    return [name for name in files.names(root, CHANGES) if name != "archive" and not name.startswith(".")]


def see(root: Path, change_id: str) -> SeenChange | None:
    """Read a change where it is now: among the open ones, else in the archive (the newest of that name)."""
    folder = f"{CHANGES}/{change_id}"
    if change_id != "archive" and files.is_folder(root, folder):
        return _read(root, change_id, folder, None)
    archived = [name for name in files.names(root, ARCHIVE) if change_id in (name, _DATED.sub("", name, count=1))]
    if not archived:
        return None
    folder = f"{ARCHIVE}/{archived[-1]}"
    return _read(root, change_id, folder, files.changed_at(root, folder) or 0.0)


def observation(change: SeenChange) -> Observation | None:
    """What a change's files show; None for a folder without any of them."""
    artefacts: list[Artefact] = []
    phases: tuple[tuple[Phase, SeenFile | None], ...] = (
        ("propose", change.proposal),
        *(("specs", spec) for spec in change.specs),
        ("design", change.design),
        ("tasks", change.tasks),
    )
    for phase, file in phases:
        if file is not None and (file.text.strip() or phase == "propose"):
            artefacts.append(Artefact(phase, file.path, file.at))
    if not artefacts:
        return None
    criteria = criteria_of(change)
    count = len(criteria.requirements) if change.specs else None
    counted = f", {count} requirements in {len(change.specs)} spec deltas" if change.specs else ""
    spec = SpecSource(SOURCE, f"changes/{change.id}", count)
    return Observation(
        change_id=change.id,
        source=SOURCE,
        spec=spec,
        spec_evidence=f"{change.folder}/{counted}",
        artefacts=tuple(artefacts),
        description=_description(change.proposal.text) if change.proposal else None,
        type=change_title.type_of_name(change.id),
        tasks=_tasks(change.tasks) if change.tasks else None,
        ending=Ending("completed", change.archived_at, f"moved to {change.folder}/")
        if change.archived_at is not None
        else None,
        criteria=criteria,
    )


def tasks_in(text: str) -> tuple[int, int]:
    """How many task lines there are and how many are checked; nested ones and those in code count, as OpenSpec does."""
    boxes = _TASK.findall(text)
    return len(boxes), sum(box in "xX" for box, _ in boxes)


def criteria_of(change: SeenChange) -> SpecCriteria:
    """What a change's deltas ask for, and its tasks."""
    requirements: list[Requirement] = []
    constraints: list[Constraint] = []
    for spec in change.specs:
        some, forbidden = _delta(spec)
        requirements += some
        constraints += forbidden
    return SpecCriteria(distinct(requirements), distinct(constraints), _task_lines(change.tasks), bool(change.specs))


def requirements(specs: tuple[SeenFile, ...]) -> int | None:
    """Requirements added, modified, removed and renamed by all deltas; None without a spec (AURA-M §7)."""
    return sum(len(_delta(spec)[0]) for spec in specs) if specs else None


def _delta(spec: SeenFile) -> tuple[list[Requirement], list[Constraint]]:
    read = outline(spec.text)
    sections: dict[str, tuple[int, int]] = {}
    for n, heading in enumerate(read.headings):
        if heading.level == 2 and heading.text.lower() not in sections:
            sections[heading.text.lower()] = heading.line, read.end_of(n)
    found: list[Requirement] = []
    constraints: list[Constraint] = []
    for n, heading in enumerate(read.headings):
        named = _REQUIREMENT.match(heading.text) if heading.level == 3 else None
        name = next((each for each in _DELTAS if _lies(heading.line, sections.get(each, _NOWHERE))), None)
        if named is None or name is None:
            continue
        end, removed = read.end_of(n), name == _REMOVED
        scenarios = list(scenarios_below(read, heading.line, end))
        title = named[1].strip()
        found.append(Requirement(title, spec.path, heading.line + 1, tuple(each for _, each in scenarios), removed))
        for each in () if removed else constraints_in(read, spec.path, heading.line, end):
            inside = next((one for line, one in reversed(scenarios) if line < each.line - 1), None)
            constraints.append(replace(each, within=(title, *([inside] if inside is not None else ()))))
    for item in read.items:
        gone = _REMOVED_ITEM.match(item.text) if _lies(item.line, sections.get(_REMOVED, _NOWHERE)) else None
        if gone is not None:
            found.append(Requirement(gone[1].strip(), spec.path, item.line + 1, removed=True))
    first, last = sections.get("renamed requirements", _NOWHERE)
    lines = spec.text.splitlines()
    for number, line in enumerate(lines[first:last], first + 1):
        renamed = _FROM.match(line)
        if renamed is not None:
            found.append(Requirement(renamed[1].strip(), spec.path, number, removed=True))
    return found, constraints


def _lies(line: int, section: tuple[int, int]) -> bool:
    return section[0] < line < section[1]


def _task_lines(file: SeenFile | None) -> tuple[TaskLine, ...]:
    if file is None:
        return ()
    return tuple(
        TaskLine(
            _NUMBER.sub("", found[2]).strip(), file.path, file.text.count("\n", 0, found.start()) + 1, found[1] in "xX"
        )
        for found in _TASK.finditer(file.text)
    )


def _tasks(file: SeenFile) -> Tasks | None:
    total, completed = tasks_in(file.text)
    return Tasks(file.path, total, completed, file.at) if total else None


def _description(proposal: str) -> str | None:
    """The title, or the first sentence that says why."""
    found = outline(proposal)
    if found.title and not _WHY.match(found.title):
        return change_title.summary(_LABEL.sub("", found.title))
    why = found.section(_WHY)
    first, last = why or (-1, 1 << 60)
    return next((change_title.summary(text) for line, text in found.paragraphs if first < line < last), None)


def _read(root: Path, change_id: str, folder: str, archived_at: float | None) -> SeenChange:
    specs = [files.see(root, path) for path in files.documents(root, f"{folder}/specs")]
    return SeenChange(
        id=change_id,
        folder=folder,
        proposal=files.see(root, f"{folder}/proposal.md"),
        specs=tuple(spec for spec in specs if spec is not None),
        design=files.see(root, f"{folder}/design.md"),
        tasks=files.see(root, f"{folder}/tasks.md"),
        archived_at=archived_at,
    )
