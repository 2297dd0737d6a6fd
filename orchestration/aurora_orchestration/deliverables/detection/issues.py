"""Issues given to `ingest`: which tracker's they are is told by their form."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from aurora_orchestration.deliverables.detection import github, jira, jira_xml, tickets
from aurora_orchestration.deliverables.model import Event

MAX_BYTES = 32 << 20
MAX_ISSUES = 10_000
_MAX_FIELD = 1 << 20


class UnknownIssue(ValueError):
    """What should be an issue has no form that is known; the message says what was looked for."""


def events_from_issue(document: object, now: float | None = None) -> list[Event]:
    """The events that one issue or several tell: GitHub's (`gh issue view|list --json`, REST, webhook) or Jira's
    (REST, search results, CSV and XML export). `document` is the JSON, decoded or not, or an export's text.

    `now` (Unix seconds) stands for the times that an issue does not tell. Raises UnknownIssue.
    """
    moment = time.time() if now is None else now
    if isinstance(document, str | bytes):
        document = _read(document)
    events: list[Event] = []
    for one in _each(document):
        if github.is_issue(one):
            events += tickets.events_of(github.ticket_of(one, moment))
        elif jira.is_issue(one):
            events += tickets.events_of(jira.ticket_of(one, moment))
        elif jira.is_row(one):
            events += tickets.events_of(jira.ticket_of_row(one, moment))
        else:
            raise UnknownIssue(
                "this is neither a GitHub issue (number, title, body, state) nor a Jira issue (key, fields; or a CSV "
                "export with 'Issue key', or one in XML); export it with `gh issue view N --json number,title,body,"
                "state,createdAt,closedAt,updatedAt,labels,url` or from Jira's REST API"
            )
    return events


def _each(document: object) -> Iterator[Mapping[str, Any]]:
    if isinstance(document, Mapping) and isinstance(document.get("issues"), list):
        document = [
            {"names": document.get("names"), **each} for each in document["issues"] if isinstance(each, Mapping)
        ]
    several = document if isinstance(document, list) else [document]
    if len(several) > MAX_ISSUES:
        raise UnknownIssue(f"more than {MAX_ISSUES} issues at once are not read; give them in parts")
    for each in several:
        yield each if isinstance(each, Mapping) else {}


def _read(raw: str | bytes) -> object:
    if len(raw) > MAX_BYTES:
        raise UnknownIssue(f"more than {MAX_BYTES >> 20} MiB of issues at once are not read; give them in parts")
    text = raw.decode("utf-8-sig", "replace") if isinstance(raw, bytes) else raw.removeprefix("\ufeff")
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise UnknownIssue(f"this begins like JSON but is none: {error}") from error
    if jira_xml.is_export(text):
        try:
            return jira_xml.rows_of(text)
        except jira_xml.UnreadableExport as error:
            raise UnknownIssue(str(error)) from error
    if "Issue key" not in text.split("\n", 1)[0]:
        return {}
    csv.field_size_limit(_MAX_FIELD)
    try:
        return list(csv.DictReader(io.StringIO(text)))
    except csv.Error as error:
        raise UnknownIssue(f"this CSV export cannot be read: {error}") from error
