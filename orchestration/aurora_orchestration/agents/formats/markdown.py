"""Folders of agents in Markdown with front matter (frontmatter): Claude Code, Amp, Factory droids and opencode keep
them so.

A file begins with front matter in YAML (`name`, `description`, `tools`); what follows is the agent's instruction. A
file without a description is a document, not an agent: `./agents` may well be somebody's source code.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aurora_orchestration.agents.capability_words import capabilities_of, domains_of
from aurora_orchestration.agents.sources import AgentSource, FoundAgents, PathState, look, read_text
from aurora_orchestration.types import Agent

MAX_AGENT_BYTES = 128 << 10
MAX_FRONT = 16 << 10
MAX_FILES = 300
MAX_LISTED = 2_000
MAX_DEPTH = 2
MAX_DESCRIPTION = 4_000


def read_folder(source: AgentSource) -> FoundAgents:
    """The agents of a folder and of the folders in it, by name. What was looked at is in `seen`."""
    agents: list[Agent] = []
    notices: list[str] = []
    seen: list[PathState] = []
    for place, path in enumerate(_markdown_files(source.path, MAX_DEPTH, seen, follow=not source.ours)):
        if place >= MAX_FILES:
            notices.append(f"{source.shown}: has more than {MAX_FILES} Markdown files; the rest was not looked at")
            break
        seen.append(look(path))
        shown = f"{source.shown.rstrip('/')}/{path.relative_to(source.path).as_posix()}"
        agent, notice = read_agent(AgentSource(path, shown, source.base, source.ours, source.trusted))
        agents += [agent] if agent else []
        notices += [notice] if notice else []
    return FoundAgents(tuple(agents), tuple(notices), tuple(seen))


def read_agent(source: AgentSource) -> tuple[Agent | None, str]:
    """The agent of one Markdown file, None where it holds none; and what is wrong with it."""
    text, trouble = read_text(source, MAX_AGENT_BYTES)
    if trouble:
        return None, trouble
    front, prompt = _parted(text)
    if front is None:
        return None, ""
    told = _front_matter(front)
    if told is None:
        return None, f"{source.shown}: its front matter is not YAML of names and values; it was left out"
    description = told.get("description")
    if not isinstance(description, str) or not description.strip():
        return None, ""
    if not prompt.strip():
        return None, f"{source.shown}: has a description but no instruction below it; it was left out"
    name = told.get("name")
    name = name.strip() if isinstance(name, str) and name.strip() else source.path.stem
    if len(name) > 200 or not name.isprintable():
        return None, f"{source.shown}: name is not up to 200 printable characters; it was left out"
    description = " ".join(description.split())[:MAX_DESCRIPTION]
    return Agent(
        id=name,
        type="builtin",
        capabilities=capabilities_of(name, description, _tools(told.get("tools"))),
        domains=domains_of(name, description),
        description=description,
        path=os.fspath(source.path),
        prompt=prompt.strip(),
        origin=os.fspath(source.path),
        trusted=source.trusted,
    ), ""


def _markdown_files(folder: Path, depth: int, seen: list[PathState], *, follow: bool) -> Iterator[Path]:
    """Recursive walk for Markdown files, bounded in depth and number."""
    seen.append(look(folder))
    try:
        with os.scandir(folder) as listed:
            entries = sorted((each for each, _ in zip(listed, range(MAX_LISTED), strict=False)), key=lambda e: e.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=follow):
            if depth > 0 and not entry.name.startswith("."):
                yield from _markdown_files(folder / entry.name, depth - 1, seen, follow=follow)
        elif entry.name.endswith(".md"):
            yield folder / entry.name


def _parted(text: str) -> tuple[str | None, str]:
    """Front matter and what follows; None where the text does not begin with a line of three dashes."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return None, text
    for place, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return "\n".join(lines[1:place])[: MAX_FRONT + 1], "\n".join(lines[place + 1 :])
    return None, text


def _front_matter(text: str) -> dict[str, Any] | None:
    """YAML front matter, parsed safely; plain lines where it is no YAML."""
    import yaml  # 20 ms, for those who keep such files

    if len(text) > MAX_FRONT:
        return None
    try:
        # Not libyaml's loader: its composer is killed by deep nesting.
        told = yaml.load(text, Loader=yaml.SafeLoader)
    except RecursionError:
        return None
    except (yaml.YAMLError, ValueError):
        return _plain_lines(text)  # descriptions with a colon in them are common, and no YAML
    return {str(key): value for key, value in told.items()} if isinstance(told, dict) else None


def _plain_lines(text: str) -> dict[str, Any] | None:
    pairs = (line.partition(":") for line in text.splitlines() if line and not line[0].isspace())
    return {key.strip(): value.strip().strip("\"'") for key, colon, value in pairs if colon and key.strip()} or None


def _tools(told: Any) -> tuple[str, ...]:
    """Names of tools: a list, `Read, Grep`, or opencode's `{write: false}`."""
    if isinstance(told, str):
        names = told.split(",")
    elif isinstance(told, dict):
        names = [str(name) for name, on in told.items() if on]
    elif isinstance(told, list):
        names = [name for name in told if isinstance(name, str)]
    else:
        return ()
    return tuple(name.strip()[:100] for name in names[:50] if name.strip())
