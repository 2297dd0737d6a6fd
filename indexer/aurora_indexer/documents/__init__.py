"""Documents become knowledge chunks (AURORA §6.3.5, §6.6): which files they are, and what a path alone tells of them.

A format is a row here and one function that adds its chunks, called in `reading.py`. Formats marked `data` share
their suffixes with files that are no documents: their content decides.
"""

from __future__ import annotations

import re
from posixpath import splitext

from msgspec import Struct


class Format(Struct, frozen=True):
    """One kind of document: the files it takes by their names."""

    name: str
    suffixes: tuple[str, ...]
    data: bool = False


FORMATS = (
    Format("markdown", (".md", ".markdown", ".mdx")),
    Format("restructuredtext", (".rst",)),
    Format("sql", (".sql", ".ddl")),
    Format("json", (".json",), data=True),
    Format("yaml", (".yaml", ".yml"), data=True),
)

_BY_SUFFIX = {suffix: format_ for format_ in FORMATS for suffix in format_.suffixes}
_SCHEMA_NAME = re.compile(r"openapi|swagger|schema", re.IGNORECASE)

_DECISION_FOLDERS = frozenset({"adr", "adrs", "decisions", "decision-records", "architecture-decisions"})
_DECISION_FILE = re.compile(r"adr[-_ ]?\d", re.IGNORECASE)
_STEMS = {
    "changelog": ("changelog", "changes", "history", "news", "releases", "release-notes", "release_notes"),
    "convention": (
        *("agents", "claude", "code-style", "code_of_conduct", "coding-standards", "contributing", "convention"),
        *("conventions", "guidelines", "hacking", "style", "style-guide", "style_guide", "styleguide"),
    ),
}
_TAG_OF_STEM = {stem: tag for tag, stems in _STEMS.items() for stem in stems}


def for_path(path: str) -> Format | None:
    """Tell the format of a document from its suffix."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:].lower()) if dot > 0 else None


def is_data(path: str) -> bool:
    """Whether only a file's content can tell that it is a document (JSON, YAML)."""
    found = for_path(path)
    return found is not None and found.data


def named_like_a_schema(name: str) -> bool:
    """Whether a data file's name promises a schema, so that leaving it out is worth a word."""
    return _SCHEMA_NAME.search(name) is not None


def may_hold_a_schema(source: bytes) -> bool:
    """Whether a data file is worth parsing; cheap, and never wrong when it says no."""
    return any(word in source for word in (b"openapi", b"swagger", b"json-schema.org", b"$defs")) or (
        b"definitions" in source and b"properties" in source
    )


def tags_of(path: str) -> tuple[str, ...]:
    """What a document's place says of its purpose: `adr` and `decision`, `convention`, `changelog`."""
    *folders, name = path.lower().split("/")
    found: list[str] = []
    if _DECISION_FOLDERS.intersection(folders) or _DECISION_FILE.match(name):
        found += ["adr", "decision"]
    tag = _TAG_OF_STEM.get(splitext(name)[0])
    return (*found, tag) if tag else tuple(found)
