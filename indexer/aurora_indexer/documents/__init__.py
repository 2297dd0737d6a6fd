"""Documents, which become knowledge chunks (AURORA §6.3.5, §6.6): which files they are, what a path alone says of them.

A format is a row here and one function that adds its chunks, called in `document_parser.py`; or a plug-in's, the value
of an entry point in the group `aurora.document_formats`: a `DocumentFormat` whose `add` hands each `DocumentPiece` to
the builder it is given (`knowledge_chunk`). Formats marked `data` share their suffixes with files that are no
documents: their content decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from posixpath import splitext
from typing import TYPE_CHECKING

from msgspec import Struct

from aurora_protocol import plugins

if TYPE_CHECKING:
    from aurora_indexer.documents.knowledge_chunk import Builder


class DocumentFormat(Struct, frozen=True):
    """Kind of document: the files it takes by their suffixes, and what cuts one into chunks."""

    name: str
    suffixes: tuple[str, ...]
    data: bool = False
    add: Callable[[Builder, str, str], None] | None = None
    """Reader that adds the chunks of a document, given its path and text.

    A plug-in's only: ours are in `document_parser`.
    """


FORMATS = (
    DocumentFormat("markdown", (".md", ".markdown", ".mdx")),
    DocumentFormat("restructuredtext", (".rst",)),
    DocumentFormat("sql", (".sql", ".ddl")),
    DocumentFormat("template", (".j2", ".jinja", ".jinja2", ".erb")),
    DocumentFormat("json", (".json",), data=True),
    DocumentFormat("yaml", (".yaml", ".yml"), data=True),
)

GROUP = "aurora.document_formats"

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


@cache
def plugged_formats() -> dict[str, DocumentFormat]:
    """The formats of plug-ins by suffix, looked for when the first file comes that is of none of ours."""
    names = {format_.name for format_ in FORMATS}
    found: dict[str, DocumentFormat] = {}
    for plugin in plugins.load(GROUP, DocumentFormat):
        format_ = plugin.value
        if format_.name in names or format_.data or format_.add is None:
            taken = f"there is a format {format_.name} already"
            plugins.leave_out(GROUP, plugin, taken if format_.name in names else "it says not how a document is cut")
            continue
        names.add(format_.name)
        for suffix in format_.suffixes:
            found.setdefault(suffix, format_)
    return found


def for_path(path: str) -> DocumentFormat | None:
    """Tell the format of a document from its suffix."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    if dot <= 0:
        return None
    suffix = name[dot:].lower()
    return _BY_SUFFIX.get(suffix) or plugged_formats().get(suffix)


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
    """Purpose of a document, as its place tells: `adr` and `decision`, `convention`, `changelog`."""
    *folders, name = path.lower().split("/")
    found: list[str] = []
    if _DECISION_FOLDERS.intersection(folders) or _DECISION_FILE.match(name):
        found += ["adr", "decision"]
    tag = _TAG_OF_STEM.get(splitext(name)[0])
    return (*found, tag) if tag else tuple(found)
