"""Jira issues: the REST API's JSON (v2: wiki markup, v3: Atlassian Document Format), rows of a CSV or XML export.

Requirements are the acceptance criteria: a field of that name, or the list under that heading of the description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from aurora_deliverables.choices import Phase
from aurora_deliverables.detection.tickets import Dated, IssueFields, TicketStep
from aurora_deliverables.timestamps import seconds

SOURCE = "jira"
MAX_TEXT = 1 << 20
MAX_NODES = 20_000
MAX_DEPTH = 60

_KEY = re.compile(r"[A-Z][A-Z0-9_]{1,30}-\d{1,9}")
_CRITERIA = re.compile(r"acceptance\s+criteri", re.IGNORECASE)
_WIKI_HEADING = re.compile(r"h[1-6]\.\s*(.*)")
_BOLD_LINE = re.compile(r"(?:\*|_|\*\*|__)+([^*_]+?):?(?:\*|_)+:?\s*$|#{1,6}\s+(.+)|([^:]{3,60}):\s*$")
_ITEM = re.compile(r"(?P<mark>[*#-]+|\d+[.)])\s+(?P<text>\S.*)")
_BOX = re.compile(r"\[([ xX])\]|\((/|x|\*)\)")
_WITHDRAWN = re.compile(
    r"won'?t|duplicate|cannot reproduce|declined|rejected|not planned|not a bug|obsolete|cancel", re.IGNORECASE
)
"""Resolutions at which nobody failed: what was asked for is not wanted, or is asked for elsewhere."""

_ABANDONED = re.compile(r"incomplete|abandon", re.IGNORECASE)
"""Those at which somebody did."""

_VERIFYING = re.compile(r"review|test|\bqa\b|verif|valid", re.IGNORECASE)


class _TextLine(Struct, frozen=True):
    """A line of a description: `item` is how deep in lists it is, 0 outside; `checked` is None without a box."""

    text: str
    heading: bool = False
    item: int = 0
    checked: bool | None = None


def is_issue(document: Mapping[str, Any]) -> bool:
    """Whether this is an issue as the REST API tells it."""
    key, fields = document.get("key"), document.get("fields")
    return isinstance(key, str) and _KEY.fullmatch(key) is not None and isinstance(fields, Mapping)


def is_row(row: Mapping[str, Any]) -> bool:
    """Whether this is a row of an export."""
    return isinstance(row.get("Issue key"), str) and _KEY.fullmatch(row["Issue key"]) is not None


def issue_of(document: Mapping[str, Any]) -> IssueFields:
    """An issue's fields. Its deliverable has the issue's key; it is closed when its status is of the kind `done`."""
    key, fields = document["key"], document["fields"]
    status = fields.get("status") if isinstance(fields.get("status"), Mapping) else {}
    category = status.get("statusCategory")
    done = isinstance(category, Mapping) and category.get("key") == "done"
    how = _name(fields.get("resolution")) or _name(status)
    changes = list(_changes(document))
    return IssueFields(
        change_id=key,
        source=SOURCE,
        spec_id=key,
        title=str(fields.get("summary") or ""),
        opened=_dated(fields, "created"),
        updated=_dated(fields, "updated"),
        closed_at=_dated(fields, "resolutiondate", "statuscategorychangedate"),
        moved_at=next((at for at, to in reversed(changes) if to == status.get("name")), None),
        type_words=[_name(fields.get("issuetype")) or ""],
        criteria=[line.checked for line in _criteria(document, fields)],
        steps=_steps(key, changes),
        closed=(how or "done") if done else None,
        abandoned=bool(_ABANDONED.search(how or "")) or bool(_WITHDRAWN.search(how or "")),
        withdrawn=bool(_WITHDRAWN.search(how or "")),
    )


def issue_of_row(row: Mapping[str, str]) -> IssueFields:
    """The fields of a row of an export: closed where it has a resolution."""
    resolution = (row.get("Resolution") or "").strip()
    own = next((text for name, text in row.items() if name and text and _CRITERIA.search(name)), None)
    lines = list(_wiki((own or row.get("Description") or "")[:MAX_TEXT]))
    criteria = [line for line in lines if line.item] if own else _section(lines)
    return IssueFields(
        change_id=row["Issue key"],
        source=SOURCE,
        spec_id=row["Issue key"],
        title=row.get("Summary") or "",
        opened=_dated(row, "Created"),
        updated=_dated(row, "Updated"),
        closed_at=_dated(row, "Resolved"),
        type_words=[row.get("Issue Type") or ""],
        criteria=[line.checked for line in criteria],
        closed=resolution if resolution and resolution.lower() != "unresolved" else None,
        abandoned=bool(_ABANDONED.search(resolution)) or bool(_WITHDRAWN.search(resolution)),
        withdrawn=bool(_WITHDRAWN.search(resolution)),
    )


def _dated(fields: Mapping[str, Any], *names: str) -> list[Dated]:
    return [(name, fields.get(name)) for name in names]


def _criteria(document: Mapping[str, Any], fields: Mapping[str, Any]) -> list[_TextLine]:
    """Acceptance criteria of an issue: of the field that is called so, else of the description."""
    names = document.get("names")
    for field, name in names.items() if isinstance(names, Mapping) else ():
        if isinstance(name, str) and _CRITERIA.search(name) and fields.get(field):
            lines = list(_lines(fields[field]))
            return [line for line in lines if line.item] or [line for line in lines if line.text]
    return _section(list(_lines(fields.get("description"))))


def _section(lines: list[_TextLine]) -> list[_TextLine]:
    """The items under the heading that names acceptance criteria; without one, the items that have boxes."""
    for n, line in enumerate(lines):
        if line.heading and _CRITERIA.search(line.text):
            following = lines[n + 1 :]
            end = next((m for m, each in enumerate(following) if each.heading), len(following))
            return [each for each in following[:end] if each.item == 1] or [e for e in following[:end] if e.item]
    return [line for line in lines if line.checked is not None]


def _steps(key: str, changes: list[tuple[float, str]]) -> Iterator[TicketStep]:
    """Phases that changes of status show: under work, under review. What they are called differs by team."""
    for at, to in changes:
        phase: Phase | None = None
        if _VERIFYING.search(to):
            phase = "verify"
        elif re.search(r"progress|develop|implement|doing", to, re.IGNORECASE):
            phase = "apply"
        if phase is not None:
            yield TicketStep(phase, at, f"{key}: {to}")


def _changes(document: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """When the status changed, and to what, in order of time."""
    changelog = document.get("changelog")
    histories = changelog.get("histories") if isinstance(changelog, Mapping) else None
    found: list[tuple[float, str]] = []
    for history in histories[:1000] if isinstance(histories, list) else []:
        at = seconds(history.get("created")) if isinstance(history, Mapping) else None
        items = history.get("items") if isinstance(history, Mapping) else None
        if at is not None and isinstance(items, list):
            moves = (item for item in items if isinstance(item, Mapping) and item.get("field") == "status")
            found += [(at, str(move.get("toString") or "")[:100]) for move in moves]
    yield from sorted(found)


def _name(given: Any) -> str | None:
    return given["name"] if isinstance(given, Mapping) and isinstance(given.get("name"), str) else None


def _lines(text: Any) -> Iterator[_TextLine]:
    """The lines of a text field: wiki markup or Markdown in a string, or the Atlassian Document Format."""
    if isinstance(text, str):
        yield from _wiki(text[:MAX_TEXT])
    elif isinstance(text, Mapping):
        left = [MAX_NODES]
        yield from _document(text, 0, 0, left)


def _wiki(text: str) -> Iterator[_TextLine]:
    """Parser of wiki markup: headings, list items and boxes, line by line."""
    for raw in text.splitlines():
        line = raw.strip()
        heading = _WIKI_HEADING.match(line)
        item = _ITEM.match(line)
        if heading:
            yield _TextLine(heading[1], heading=True)
        elif item and not line.startswith("##"):
            box = _BOX.match(item["text"])
            checked = None if box is None else (box[1] or "") in "xX" if box[1] else box[2] == "/"
            yield _TextLine(item["text"], item=len(item["mark"]) if item["mark"][0] in "*#" else 1, checked=checked)
        elif _BOLD_LINE.fullmatch(line):
            yield _TextLine(line.strip("*_#: "), heading=True)
        elif line:
            yield _TextLine(line)


def _document(node: Mapping[str, Any], depth: int, item: int, left: list[int]) -> Iterator[_TextLine]:
    """Walk a document of bounded size and depth: headings, paragraphs, list items and tasks."""
    left[0] -= 1
    if left[0] < 0 or depth > MAX_DEPTH:
        return
    kind = node.get("type")
    content = node.get("content")
    children = [each for each in content if isinstance(each, Mapping)] if isinstance(content, list) else []
    if kind == "heading":
        yield _TextLine(_text(children), heading=True)
    elif kind == "taskItem":
        attributes = node.get("attrs")
        done = isinstance(attributes, Mapping) and attributes.get("state") == "DONE"
        yield _TextLine(_text(children), item=item + 1, checked=done)
    elif kind == "listItem":
        first, rest = children[:1], children[1:]
        text = "".join(_text(each.get("content") or []) for each in first)
        box = _BOX.match(text)
        checked = None if box is None else (box[1] in "xX" if box[1] else box[2] == "/")
        yield _TextLine(text, item=item + 1, checked=checked)
        for each in rest:
            yield from _document(each, depth + 1, item + 1, left)
    elif kind == "paragraph":
        text = _text(children)
        strong = [mark for each in children for mark in each.get("marks") or [] if isinstance(mark, Mapping)]
        bold = any(mark.get("type") == "strong" for mark in strong) and len(text) < 60
        if text:
            yield _TextLine(text.strip(": "), heading=bold or bool(_CRITERIA.search(text) and text.endswith(":")))
    else:
        for each in children:
            yield from _document(each, depth + 1, item, left)


def _text(nodes: Any) -> str:
    """The text directly in some nodes."""
    said = (
        [str(each.get("text") or "") for each in nodes if isinstance(each, Mapping)] if isinstance(nodes, list) else []
    )
    return "".join(said).strip()
