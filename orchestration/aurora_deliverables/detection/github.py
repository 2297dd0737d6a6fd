"""GitHub issues: `gh issue view --json …`, the REST API's and a webhook's JSON. The spec is the body (AURA-M §7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aurora_deliverables.detection.markdown import outline
from aurora_deliverables.detection.tickets import Dated, IssueFields

SOURCE = "github-issue"
MAX_BODY = 1 << 20

_URL = re.compile(r"(?:github\.com|/repos)/([\w.-]+/[\w.-]+)/issues/\d+")
_PULL = re.compile(r"github\.com/[\w.-]+/[\w.-]+/pull/\d+")
_ABANDONED = frozenset({"not_planned", "duplicate"})


def is_pull_request(document: Mapping[str, Any]) -> bool:
    """Whether this is a pull request, or a message about one: the REST API lists them among the issues."""
    issue = document.get("issue", document)
    if not isinstance(issue, Mapping):
        return False
    if issue.get("pull_request") is not None:
        return True
    return any(isinstance(issue.get(key), str) and _PULL.search(issue[key]) for key in ("html_url", "url"))


def is_issue(document: Mapping[str, Any]) -> bool:
    """Whether this is an issue, or a webhook's message about one."""
    issue = document.get("issue", document)
    if not isinstance(issue, Mapping):
        return False
    return isinstance(issue.get("number"), int) and "title" in issue and ("body" in issue or "state" in issue)


def issue_of(document: Mapping[str, Any]) -> IssueFields:
    """An issue's fields: each box of its checklists is a requirement. Its deliverable is `issue-<number>`."""
    issue = document.get("issue", document)
    number = issue["number"]
    text = issue.get("body")
    repository = _repository(document, issue)
    closed = str(issue.get("state") or "open").lower() == "closed"
    reason = str(issue.get("state_reason") or issue.get("stateReason") or "").lower()
    return IssueFields(
        change_id=f"issue-{number}",
        source=SOURCE,
        spec_id=f"{repository}#{number}" if repository else f"#{number}",
        title=str(issue.get("title") or f"issue {number}"),
        opened=_dated(issue, "created_at", "createdAt"),
        updated=_dated(issue, "updated_at", "updatedAt"),
        closed_at=_dated(issue, "closed_at", "closedAt") if closed else (),
        type_words=_type_words(issue),
        criteria=[box.checked for box in outline(text[:MAX_BODY] if isinstance(text, str) else "").boxes],
        closed=(reason or "completed").replace("_", " ") if closed else None,
        abandoned=reason in _ABANDONED,
        withdrawn=reason in _ABANDONED,
        reopened=reason == "reopened" or document.get("action") == "reopened",
    )


def _repository(document: Mapping[str, Any], issue: Mapping[str, Any]) -> str | None:
    """Repository of an issue, `owner/name`, by the payload or the issue's URL."""
    given = document.get("repository")
    if isinstance(given, Mapping) and isinstance(given.get("full_name"), str):
        return str(given["full_name"])
    for key in ("html_url", "url"):
        found = _URL.search(issue[key]) if isinstance(issue.get(key), str) else None
        if found:
            return found[1]
    return None


def _type_words(issue: Mapping[str, Any]) -> list[str]:
    """What may say the issue's type: the type it has, and its labels, without `kind/` or `type:` before them."""
    given = issue.get("type")
    names = [given.get("name")] if isinstance(given, Mapping) else []
    labels = issue.get("labels")
    if isinstance(labels, list):
        names += [label.get("name") if isinstance(label, Mapping) else label for label in labels]
    return [re.split(r"[:/]\s*", name)[-1] for name in names if isinstance(name, str)]


def _dated(issue: Mapping[str, Any], *keys: str) -> list[Dated]:
    return [(key, issue.get(key)) for key in keys]
