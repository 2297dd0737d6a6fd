"""Import of issues from a tracker (bug tracker, JSON, CSV or XML) by `ingest`: whose they are is told by their form."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from aurora_deliverables.detection import github, jira, jira_xml, tickets
from aurora_deliverables.events import Event
from aurora_deliverables.timestamps import UnreadableTime

MAX_BYTES = 32 << 20
MAX_ISSUES = 10_000
_MAX_FIELD = 1 << 20


class _Export(list[dict[str, str]]):
    """Rows of a CSV export."""


class UnknownIssue(ValueError):
    """Error of an issue whose form is not known; the message says what was looked for."""


class BadIssue(Struct, frozen=True):
    """An issue that is left out, by its name, and why."""

    issue: str
    reason: str


class Issues(Struct, frozen=True):
    """Import of issues: what they tell, those among them that cannot be read, and how many of them are pull
    requests.
    """

    tickets: tuple[tickets.Ticket, ...]
    bad: tuple[BadIssue, ...] = ()
    pull_requests: int = 0

    @property
    def events(self) -> list[Event]:
        """All that they tell, each issue's events together."""
        return [event for ticket in self.tickets for event in tickets.events_of(ticket)]


def read_issues(document: object, now: float) -> Issues:
    """What one issue or several tell: GitHub's (`gh issue view|list --json`, REST, webhook) or Jira's (REST, search
    results, CSV and XML export). `document` is the JSON, decoded or not, or an export's text.

    `now` (Unix seconds) stands for the times that an issue does not tell; one that tells a time that cannot be read, or
    is closed and does not tell when it was opened, is left out, the others are taken. Pull requests are left out too:
    one that is closed unmerged has delivered nothing, one that is merged is the work of an issue. Raises UnknownIssue.
    """
    told = _read(document) if isinstance(document, str | bytes) else document
    # Where a person looks for a row: the names of an export's columns stand in the first.
    row = 2 if isinstance(told, _Export) else None
    found: list[tickets.Ticket] = []
    bad: list[BadIssue] = []
    pull_requests = 0
    for number, one in enumerate(_each(told)):
        if github.is_issue(one) and github.is_pull_request(one):
            pull_requests += 1
            continue
        try:
            found.append(_ticket(one, now))
        except UnreadableTime as error:
            bad.append(BadIssue(_name(one, number + 1), _why(error, None if row is None else row + number)))
    return Issues(tuple(found), tuple(bad), pull_requests)


def _name(one: Mapping[str, Any], number: int) -> str:
    issue = one.get("issue")
    told = issue if isinstance(issue, Mapping) else one
    return str(told.get("Issue key") or told.get("key") or f"issue-{told.get('number', number)}")


def _why(error: UnreadableTime, row: int | None) -> str:
    return str(error) if row is None else f"row {row}: {error}, or export the issues as XML"


_FORMS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], tickets.IssueFields]], ...] = (
    (github.is_issue, github.issue_of),
    (jira.is_issue, jira.issue_of),
    (jira.is_row, jira.issue_of_row),
)
"""How each form is told, and what it brings. An XML export becomes rows first (`jira_xml.py`)."""


def _ticket(one: Mapping[str, Any], now: float) -> tickets.Ticket:
    """Ticket of one issue, by whichever tracker's form fits (format detection)."""
    for is_one, issue_of in _FORMS:
        if is_one(one):
            return tickets.ticket_of(issue_of(one), now)
    raise UnknownIssue(
        "this is neither a GitHub issue (number, title, body, state) nor a Jira issue (key, fields; or a CSV "
        "export with 'Issue key', or one in XML); export it with `gh issue view N --json number,title,body,"
        "state,createdAt,closedAt,updatedAt,labels,url` or from Jira's REST API"
    )


def _each(document: object) -> Iterator[Mapping[str, Any]]:
    """Issues of a document: one, a list, or a page of search results."""
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
    """Reader of the raw text: JSON, CSV or XML, by how it begins; bounded in size."""
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
        return _Export(csv.DictReader(io.StringIO(text)))
    except csv.Error as error:
        raise UnknownIssue(f"this CSV export cannot be read: {error}") from error
