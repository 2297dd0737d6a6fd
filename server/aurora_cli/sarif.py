"""Findings as SARIF 2.1.0 (OASIS), as code scanning services read it. Names are the standard's, in its own spelling."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from aurora_cli.manifest_check import Checked
from aurora_cli.manifest_files import ManifestText
from aurora_manifest.findings import Finding, Fix, Severity
from aurora_protocol.positions import LineIndex
from aurora_protocol.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "WORKSPACE"
_LEVELS = {"error": "error", "warning": "warning", "info": "note", "hint": "note"}


Json = dict[str, Any]


class Described(Protocol):
    """A rule as its catalogue describes it; the documentation is Markdown."""

    @property
    def id(self) -> str: ...
    @property
    def severity(self) -> Severity: ...
    @property
    def summary(self) -> str: ...
    @property
    def documentation(self) -> str: ...


def log(checked: Iterable[Checked], unreadable: Sequence[str], rules: Iterable[Described], root: Path) -> Json:
    """SARIF log of one run over these files. Places are told relative to `root`, the workspace, where they lie in it.

    Members stand in the order in which they are printed; those without a value are left out.
    """
    descriptors = {each.id: _descriptor(each) for each in rules}
    results = []
    for each in checked:
        for finding in each.findings:
            descriptors.setdefault(finding.rule, {"id": finding.rule})
        numbers = {rule: number for number, rule in enumerate(descriptors)}
        artifact = _artifact(each.source, root)
        results += [_result(finding, each.lines, artifact, numbers[finding.rule]) for finding in each.findings]
    invocation: Json = {"executionSuccessful": not unreadable}
    if unreadable:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": each}} for each in unreadable
        ]
    run = {
        "tool": {"driver": {"name": "aurora", "version": __version__, "rules": [*descriptors.values()]}},
        "invocations": [invocation],
        "originalUriBaseIds": {ROOT: {"uri": f"{root.as_uri().rstrip('/')}/"}},
        "columnKind": "utf16CodeUnits",
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _descriptor(rule: Described) -> Json:
    """The standard's reportingDescriptor: a rule."""
    # The text is for readers that know no Markdown; there is no other source of it than the Markdown.
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, lines: LineIndex, artifact: Json, rule: int) -> Json:
    """Finding as a SARIF result, with location and fixes."""
    place = {"artifactLocation": artifact, "region": _region(lines, finding.start, finding.end)}
    result: Json = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.message},
        "locations": [
            {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": finding.path or "/"}]},
        ],
        "ruleIndex": rule,
    }
    if finding.fix:
        result["fixes"] = [_fix(finding.fix, lines, artifact)]
    return result


def _fix(fix: Fix, lines: LineIndex, artifact: Json) -> Json:
    """Fix as SARIF has it: replacements of regions."""
    replacements = [
        {"deletedRegion": _region(lines, each.start, each.end), "insertedContent": {"text": each.text}}
        for each in fix.edits
    ]
    changes = [{"artifactLocation": artifact, "replacements": replacements}]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _region(lines: LineIndex, start: int, end: int) -> Json:
    """Lines and columns from 1; the end column is the one behind. Columns count UTF-16 units."""
    place = lines.range(start, end)
    return {
        "startLine": place.start.line + 1,
        "startColumn": place.start.character + 1,
        "endLine": place.end.line + 1,
        "endColumn": place.end.character + 1,
    }


def _artifact(source: ManifestText, root: Path) -> Json:
    """The standard's artifactLocation: a file, by its way from the workspace where it lies in it."""
    if source.path is None:
        return {"uri": quote(source.name)}
    path = Path(os.path.abspath(source.path))  # noqa: PTH100 - the name it was called by, not where links lead
    if path.is_relative_to(root):
        return {"uri": quote(path.relative_to(root).as_posix()), "uriBaseId": ROOT}
    return {"uri": path.as_uri()}
