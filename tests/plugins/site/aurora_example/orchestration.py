"""A provider, an executor and a detector of AURORA's plug-in points, as small as they can be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aurora_deliverables.detection.detector import Detector
from aurora_deliverables.detection.observation import Artefact, Observation, Tasks
from aurora_deliverables.events import SpecSource
from aurora_orchestration.agents.executors.plugin_executors import ExecutorKind, Surroundings
from aurora_orchestration.agents.task import Task
from aurora_orchestration.agents.user_questions import Dialogue
from aurora_orchestration.llm.providers.plugin_provider import Connection, ProviderKind
from aurora_orchestration.llm.providers.provider import Completion, Wanted
from aurora_orchestration.types import Agent, Usage


class Parrot:
    """A model that says back what it was asked, in the shape of a direct answer."""

    def __init__(self, connection: Connection) -> None:
        self._model = connection.model

    async def complete(self, wanted: Wanted) -> Completion:
        """Say it back."""
        asked = json.loads(wanted.prompt).get("question", "nothing")
        text = json.dumps({"answer": f"You asked: {asked}", "confidence": 0.9})
        return Completion(text=text, model=self._model, usage=Usage(input_tokens=10, output_tokens=10))


async def echo(agent: Agent, task: Task, dialogue: Dialogue, surroundings: Surroundings) -> dict[str, Any]:
    """Work on a subgoal: answer with its own words."""
    return {"summary": f"{agent.id} heard: {task.subgoal.description}", "confidence": 0.9}


def change_of(path: str) -> str | None:
    """`changes/add-search.todo` is the spec of `add-search`."""
    found = re.fullmatch(r"changes/([\w-]+)\.todo", path)
    return found[1] if found else None


def changes(root: Path) -> Iterable[str]:
    """All of them."""
    return (path.stem for path in sorted((root / "changes").glob("*.todo")))


def see(root: Path, key: str) -> Observation | None:
    """Read one: a line is a task, one that begins with `x ` is done."""
    path = root / "changes" / f"{key}.todo"
    if not path.is_file():
        return None
    shown, at = f"changes/{key}.todo", path.stat().st_mtime
    lines = path.read_text().splitlines()
    return Observation(
        change_id=key,
        source="todo",
        spec=SpecSource("todo", shown, len(lines)),
        spec_evidence=shown,
        artefacts=(Artefact("tasks", shown, at),),
        tasks=Tasks(shown, len(lines), sum(line.startswith("x ") for line in lines), at),
    )


PARROT = ProviderKind(name="parrot", open=Parrot)
ECHO = ExecutorKind(type="example:echo", run=echo)
TODO = Detector(source="todo", key_of=change_of, keys=changes, see=see)
