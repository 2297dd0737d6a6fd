"""Spec Kit: `specs/<nnn-name>/` with `spec.md`, `plan.md`, `tasks.md` (github.com/github/spec-kit, `templates/`).

Nothing in Spec Kit says that a feature is over; it ends by a command, a commit trailer or a closed issue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from aurora_deliverables.choices import Phase
from aurora_deliverables.detection import change_title, files
from aurora_deliverables.detection.files import SeenFile
from aurora_deliverables.detection.markdown import ListItem, Outline, outline
from aurora_deliverables.detection.observation import Artefact, Observation, Tasks
from aurora_deliverables.detection.spec_criteria import (
    Constraint,
    Requirement,
    SpecCriteria,
    TaskLine,
    constraints_in,
    distinct,
)
from aurora_deliverables.events import SpecSource

SOURCE = "speckit"
FEATURES = "specs"

_NUMBERED = re.compile(r"(?:\d{3,}|\d{8}-\d{6})-(?=[\w])")
_REQUIREMENT = re.compile(r"\*{0,2}(FR-\d+)\b")
_TASK = re.compile(r"(?:\*\*)?T\d{3,}\b")
_LABEL = re.compile(r"^(?:feature specification|feature|spec)\s*:\s*", re.IGNORECASE)
_PHASES: tuple[tuple[str, Phase], ...] = (
    ("spec.md", "specs"),
    ("plan.md", "design"),
    ("research.md", "design"),
    ("data-model.md", "design"),
    ("tasks.md", "tasks"),
)


class SeenFeature(Struct, frozen=True):
    """A feature's folder and those of its files that count, by name."""

    id: str
    folder: str
    files: dict[str, SeenFile]


def feature_of(path: str) -> str | None:
    """The feature that a file or folder at `path` belongs to: `specs/001-photo-albums/…`; None for other paths."""
    parts = path.split("/")
    return parts[1] if parts[0] == FEATURES and len(parts) > 1 and _NUMBERED.match(parts[1]) else None


def features(root: Path) -> list[str]:
    """The ids of all features that have a `spec.md`."""
    found = [name for name in files.names(root, FEATURES) if _NUMBERED.match(name)]
    return [name for name in found if (root / FEATURES / name / "spec.md").is_file()]


def see(root: Path, feature_id: str) -> SeenFeature | None:
    """Read a feature's folder; None where there is no `spec.md` in it."""
    folder = f"{FEATURES}/{feature_id}"
    seen = {name: files.see(root, f"{folder}/{name}") for name, _ in _PHASES}
    if seen["spec.md"] is None:
        return None
    return SeenFeature(feature_id, folder, {name: file for name, file in seen.items() if file is not None})


def observation(feature: SeenFeature) -> Observation:
    """What a feature's files show. Its requirements are the distinct `FR-001` … of `spec.md`."""
    spec = feature.files["spec.md"]
    read = outline(spec.text)
    count = len({found[1] for item in read.items if (found := _REQUIREMENT.match(item.text))})
    tasks = feature.files.get("tasks.md")
    name = _NUMBERED.sub("", feature.id, count=1)
    title = _LABEL.sub("", read.title) if read.title else name
    return Observation(
        change_id=feature.id,
        source=SOURCE,
        spec=SpecSource(SOURCE, feature.folder, count),
        spec_evidence=f"{spec.path}: {count} functional requirements",
        artefacts=tuple(
            Artefact(phase, feature.files[name].path, feature.files[name].at)
            for name, phase in _PHASES
            if name in feature.files
        ),
        description=change_title.summary(title),
        type=change_title.type_of_name(name) or "feature",
        tasks=_tasks(tasks) if tasks is not None else None,
        criteria=_criteria(spec, read, tasks),
    )


def _criteria(spec: SeenFile, read: Outline, tasks: SeenFile | None) -> SpecCriteria:
    requirements: dict[str, Requirement] = {}
    for item in read.items:
        found = _REQUIREMENT.match(item.text)
        if found is not None:
            requirements.setdefault(found[1], Requirement(found[1], spec.path, item.line + 1))
    items = {item.line + 1: item for item in reversed(read.items)}
    constraints = [_within(each, items.get(each.line)) for each in constraints_in(read, spec.path)]
    lines = [
        TaskLine(box.text, tasks.path, box.line + 1, bool(box.checked))
        for box in (_counted(tasks) if tasks is not None else ())
        if tasks is not None
    ]
    return SpecCriteria(tuple(requirements.values()), distinct(constraints), tuple(lines), stated=True)


def _within(constraint: Constraint, item: ListItem | None) -> Constraint:
    """The same with the requirement whose text it is, where it stands in an item."""
    found = _REQUIREMENT.match(item.text) if item is not None else None
    return constraint if found is None else replace(constraint, within=(found[1],))


def _tasks(file: SeenFile) -> Tasks | None:
    counted = _counted(file)
    return Tasks(file.path, len(counted), sum(bool(box.checked) for box in counted), file.at) if counted else None


def _counted(file: SeenFile) -> Sequence[ListItem]:
    """Numbered tasks where there are any, so that a checklist of prerequisites counts for nothing; else all boxes."""
    boxes = outline(file.text).boxes
    return [box for box in boxes if _TASK.match(box.text)] or boxes
