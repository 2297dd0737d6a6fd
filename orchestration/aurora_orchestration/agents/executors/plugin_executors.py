"""Executors of plug-ins: kinds of agents that a distribution installed beside AURORA runs, from the entry point group
`aurora.executors`.

An entry of `agents.json` names one by its `type`, which has a colon in it (`example:echo`), so that no slip of the pen
is one. What an agent may do stays decided here: those of a workspace that is
not trusted do not run, their time is bounded, and whatever they give is brought into the one envelope.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from aurora_orchestration.agents.task import Task
from aurora_orchestration.agents.user_questions import Dialogue
from aurora_orchestration.llm.completion import Llm
from aurora_orchestration.types import Agent
from aurora_protocol import plugins

GROUP = "aurora.executors"

_TYPE = re.compile(r"[^\s:]+:[^\s:]+")


class Surroundings(Struct, frozen=True, kw_only=True):
    """Surroundings (context) that an executor is given beside agent and task.

    `environment` is all that a process of it may see, `folder` where one is to be started; `llm` is the run's model,
    whose calls are counted (None: none is configured); after `seconds` the executor is cancelled.
    """

    environment: Mapping[str, str]
    folder: Path
    workspace: Path
    seconds: float
    llm: Llm | None


class ExecutorKind(Struct, frozen=True, kw_only=True):
    """Kind of agent that a plug-in runs: the `type` it has in `agents.json`, and what runs one on a task.

    `run` returns the answer as text or as a JSON object, in any shape that `envelope` reads. It asks the user through
    the dialogue. What it raises is the agent's error; `AgentError` is told as it stands.
    """

    type: str
    run: Callable[[Agent, Task, Dialogue, Surroundings], Awaitable[str | dict[str, Any]]]


BUILT_IN: Mapping[str, str] = {
    "mcp": "mcp",
    "executable": "executable",
    "http": "http",
    "builtin": "builtin",
    "built_in": "builtin",
}
"""The types of AURORA's own executors, as files of agents spell them."""


@cache
def plugged() -> dict[str, ExecutorKind]:
    """The plug-ins' executors by type; looked for once per process."""
    found: dict[str, ExecutorKind] = {}
    for plugin in plugins.load(GROUP, ExecutorKind):
        name = plugin.value.type
        if _TYPE.fullmatch(name) is None or name in found:
            why = f"there is an executor of type {name} already" if name in found else f"{name!r} is not vendor:name"
            plugins.leave_out(GROUP, plugin, why)
        else:
            found[name] = plugin.value
    return found


def type_of(spelled: str) -> str | None:
    """The type of agent that a file means; None for one that nobody here runs."""
    return BUILT_IN.get(spelled) or (spelled if spelled in plugged() else None)
