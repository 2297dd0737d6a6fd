"""Kinds of checked documents (file types): which files are checked, and by what: manifests, AURORA's configuration,
agents, and documents of deliverables.

A file is known by its name and folder; documents of deliverables that lie together in a folder, by what is in them.
"""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

Name = Literal["manifest", "configuration", "agents", "deliverable-state", "metrics-output", "deliverable"]

_FOLDER = ".aurora"
_DELIVERABLES = "deliverables"
_DELIVERABLE = re.compile(r"(?:.*[.-])?(deliverable-state|metrics-output)(?:[.-].*)?\.json")


class DocumentKind(Struct, frozen=True):
    """A kind of file that is checked. `noun` is what messages call one.

    `deliverable` is a document of which the text has to tell whether it is a state or the metrics at the end.
    """

    name: Name
    noun: str


MANIFEST = DocumentKind("manifest", "the manifest")
CONFIGURATION = DocumentKind("configuration", "the configuration")
AGENTS = DocumentKind("agents", "the agent registry")
DELIVERABLE_STATE = DocumentKind("deliverable-state", "the deliverable's state document")
METRICS_OUTPUT = DocumentKind("metrics-output", "the deliverable's metrics document")
DELIVERABLE = DocumentKind("deliverable", "the deliverable's document")

_BY_NAME = {"config.json": CONFIGURATION, "agents.json": AGENTS}


def kind_of(path: str, home: str | None = None) -> DocumentKind | None:
    """Kind of file that a path or file URI names; None for files that are not checked.

    - `aura.json` anywhere is a manifest;
    - `config.json` and `agents.json` in a folder `.aurora`, or in `home`, AURORA's own folder, are what they say;
    - `deliverable-state.json`, `metrics-output.json`, and names with more before or behind
      (`dark-mode.metrics-output.json`, `metrics-output-failed.json`) are documents of deliverables (AURA-M §5); so is
      any `.json` in `deliverables` below `.aurora` or `home`: there, the text tells which.
    """
    folders, name = _split(path)
    if name == "aura.json":
        return MANIFEST
    if not name.endswith(".json") or name.endswith(".schema.json"):
        return None
    if known := _DELIVERABLE.fullmatch(name):
        return DELIVERABLE_STATE if known[1] == "deliverable-state" else METRICS_OUTPUT
    own = _split(home + "/")[0] if home else None
    if name in _BY_NAME and (folders[-1:] == [_FOLDER] or folders == own):
        return _BY_NAME[name]
    if (
        name.endswith(".json")
        and folders[-1:] == [_DELIVERABLES]
        and (folders[-2:-1] == [_FOLDER] or folders[:-1] == own)
    ):
        return DELIVERABLE
    return None


def _split(path: str) -> tuple[list[str], str]:
    """The folders and the name of a path or file URI, however it is spelt."""
    if path.startswith("file:"):
        path = unquote(urlsplit(path).path)
    *folders, name = path.replace("\\", "/").split("/")
    return [each for each in folders if each not in ("", ".")], name
