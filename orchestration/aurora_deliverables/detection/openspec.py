"""OpenSpec: `openspec/changes/<id>/` from the proposal to the move into `archive/` (AURA-M §7).

The layout and what counts as a task or a requirement are those of the OpenSpec CLI (github.com/Fission-AI/OpenSpec,
`src/utils/task-progress.ts`, `src/core/parsers/requirement-blocks.ts`, `src/core/archive.ts`).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.choices import Phase
from aurora_deliverables.detection import change_title, files
from aurora_deliverables.detection.files import SeenFile
from aurora_deliverables.detection.markdown import MAX_CHARACTERS, outline
from aurora_deliverables.detection.observation import Artefact, Ending, Observation, Tasks
from aurora_deliverables.detection.spec_criteria import (
    Constraint,
    Requirement,
    SpecCriteria,
    TaskLine,
    constraints_in,
    distinct,
    scenarios_in,
)
from aurora_deliverables.events import SpecSource

SOURCE = "openspec"
CHANGES = "openspec/changes"
ARCHIVE = f"{CHANGES}/archive"

MAX_TASK_LINES = 2000
"""Tasks of one change that criteria are compared with; all of them are counted."""

MAX_TASK_TEXT = 2000
"""Characters of one task's text that are compared."""

MAX_SPEC_CHARACTERS = 1 << 20
"""Of all spec deltas of one change together that are read; parsing takes some ms per KiB."""

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
    tasks, more = _task_lines(change.tasks)
    return SpecCriteria(distinct(requirements), distinct(constraints), tasks, bool(change.specs), more)


def requirements(specs: tuple[SeenFile, ...]) -> int | None:
    """Requirements added, modified, removed and renamed by all deltas; None without a spec (AURA-M §7)."""
    return sum(len(_delta(spec)[0]) for spec in specs) if specs else None


def _delta(spec: SeenFile) -> tuple[list[Requirement], list[Constraint]]:
    """Requirements and constraints of a spec delta: added, modified, removed, renamed."""
    read = outline(spec.text)
    sections: dict[str, tuple[int, int]] = {}
    for n, heading in enumerate(read.headings):
        if heading.level == 2 and heading.text.lower() not in sections:
            sections[heading.text.lower()] = heading.line, read.end_of(n)
    found: list[Requirement] = []
    constraints: list[Constraint] = []
    all_scenarios, all_constraints = scenarios_in(read), list(constraints_in(read, spec.path))
    scenario_lines, constraint_lines = [line for line, _ in all_scenarios], [each.line - 1 for each in all_constraints]
    for n, heading in enumerate(read.headings):
        named = _REQUIREMENT.match(heading.text) if heading.level == 3 else None
        name = next((each for each in _DELTAS if _lies(heading.line, sections.get(each, _NOWHERE))), None)
        if named is None or name is None:
            continue
        end, removed = read.end_of(n), name == _REMOVED
        first_scenario = bisect_right(scenario_lines, heading.line)
        scenarios = all_scenarios[first_scenario : bisect_left(scenario_lines, end)]
        title = named[1].strip()
        found.append(Requirement(title, spec.path, heading.line + 1, tuple(each for _, each in scenarios), removed))
        if removed:
            continue
        for at in range(bisect_right(constraint_lines, heading.line), bisect_left(constraint_lines, end)):
            before = bisect_left(scenario_lines, constraint_lines[at]) - 1
            inside = (all_scenarios[before][1],) if before >= first_scenario else ()
            constraints.append(replace(all_constraints[at], within=(title, *inside)))
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


def _task_lines(file: SeenFile | None) -> tuple[tuple[TaskLine, ...], int]:
    """The tasks that criteria are compared with, of too many the open ones first; and how many are left out."""
    if file is None:
        return (), 0
    lines: dict[bool, list[TaskLine]] = {False: [], True: []}
    line, counted, count = 1, 0, 0
    for found in _TASK.finditer(file.text):
        count += 1
        line += file.text.count("\n", counted, found.start())
        counted, checked = found.start(), found[1] in "xX"
        if len(lines[checked]) < MAX_TASK_LINES:
            text = _NUMBER.sub("", found[2][:MAX_TASK_TEXT]).strip()
            lines[checked].append(TaskLine(text, file.path, line, checked))
    kept = [*lines[False], *lines[True]][:MAX_TASK_LINES]
    return tuple(sorted(kept, key=lambda each: each.line)), count - len(kept)


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
    """Reader of a change's folder: proposal, specs, design and tasks."""
    return SeenChange(
        id=change_id,
        folder=folder,
        proposal=files.see(root, f"{folder}/proposal.md"),
        specs=tuple(_read_deltas(root, folder)),
        design=files.see(root, f"{folder}/design.md"),
        tasks=files.see(root, f"{folder}/tasks.md"),
        archived_at=archived_at,
    )


def _read_deltas(root: Path, folder: str) -> Iterator[SeenFile]:
    """The spec deltas in a change's folder, until `MAX_SPEC_CHARACTERS` of them are read."""
    left = MAX_SPEC_CHARACTERS
    for path in files.documents(root, f"{folder}/specs"):
        spec = files.see(root, path) if left > 0 else None
        if spec is not None:
            left -= min(len(spec.text), MAX_CHARACTERS)
            yield spec
