"""Plain Markdown specs (task lists, `- [ ]` checkboxes): a document with a checklist is a spec, each box a requirement
(AURA-M §7, "Bullet points").

It begins when the file does and is verified once every box is checked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from aurora_deliverables.detection import change_title
from aurora_deliverables.detection.files import SeenFile
from aurora_deliverables.detection.markdown import outline
from aurora_deliverables.detection.observation import Artefact, Ending, Observation, Requirements
from aurora_deliverables.detection.spec_criteria import (
    Requirement,
    SpecCriteria,
    TaskLine,
    constraints_in,
    distinct,
)
from aurora_deliverables.events import SpecSource

SOURCE = "markdown"
PATTERNS = ("specs/*.md", "spec/*.md", "docs/specs/**/*.md", "SPEC.md")
"""Where specs are looked for unless configured otherwise."""

_LABEL = re.compile(r"^(?:spec|specification|feature|rfc)\s*:\s*", re.IGNORECASE)
_NOT_A_SPEC = frozenset({"readme.md", "changelog.md", "index.md"})


def is_spec(path: str, patterns: Sequence[str] = PATTERNS) -> bool:
    """Whether the file at `path` (relative, `/`) is looked into. `**` stands for any folders, `*` for one name."""
    return any(_compiled(pattern).fullmatch(path) for pattern in patterns) and (
        path.rpartition("/")[2].lower() not in _NOT_A_SPEC
    )


def change_of(path: str) -> str:
    """What a spec's deliverable is called: its file's name, with the folder's where that alone says nothing."""
    folder, _, name = path.rpartition("/")
    stem = name.removesuffix(".md")
    return folder.replace("/", "-") if stem.lower() in ("spec", "specification") and folder else stem


def observation(file: SeenFile) -> Observation | None:
    """What a document shows; None where it has no checklist."""
    read = outline(file.text)
    boxes = read.boxes
    if not boxes:
        return None
    done = sum(bool(box.checked) for box in boxes)
    name = change_of(file.path)
    return Observation(
        change_id=name,
        source=SOURCE,
        spec=SpecSource(SOURCE, file.path, len(boxes)),
        spec_evidence=f"{file.path}: a checklist of {len(boxes)}",
        artefacts=(Artefact("propose", file.path, file.at), Artefact("specs", file.path, file.at)),
        description=change_title.summary(_LABEL.sub("", read.title)) if read.title else None,
        type=change_title.type_of_name(name),
        requirements=Requirements(file.path, len(boxes), done, file.at),
        ending=Ending("completed", file.at, f"{file.path}: every box is checked", phases=("verify", "archive"))
        if done == len(boxes)
        else None,
        criteria=SpecCriteria(
            distinct(Requirement(box.text or f"box {n}", file.path, box.line + 1) for n, box in enumerate(boxes, 1)),
            distinct(constraints_in(read, file.path)),
            tuple(TaskLine(box.text, file.path, box.line + 1, bool(box.checked)) for box in boxes),
            stated=True,
        ),
    )


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    """A glob pattern as a regular expression."""
    said = re.escape(pattern).replace(r"\*\*/", "(?:[^/]+/)*").replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    return re.compile(said.replace(r"\?", "[^/]"))
