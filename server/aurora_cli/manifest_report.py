"""Manifest report: what a check of manifests has found, in the form that `--json` prints, and what it amounts to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from aurora_cli.manifest_files import Source
from aurora_manifest.findings import Finding, Severity
from aurora_manifest.fix_all import is_fixable
from aurora_manifest.model import Manifest
from aurora_protocol.positions import LineIndex, Range


class Checked(Struct, frozen=True):
    """One file, what was mended in it, and what is (still) found in it; `source` has the text they are about."""

    source: Source
    manifest: Manifest
    findings: Sequence[Finding]
    fixed: Sequence[Finding] = ()

    @property
    def valid(self) -> bool:
        """Whether no finding is an error."""
        return all(each.severity != "error" for each in self.findings)

    @property
    def lines(self) -> LineIndex:
        """The lines of the text, built once."""
        return self.manifest.document.lines


class Diagnostic(Struct, frozen=True):
    """A finding; `range` is 0-based and counts UTF-16 units. `fix` says what could be done about it, if that is clear.

    `--fix` does it where `fixable`.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    range: Range
    fix: str | None
    fixable: bool


class Summary(Struct, frozen=True):
    """How much a manifest declares."""

    resources: int
    capabilities: int


class Mended(Struct, frozen=True):
    """A finding that is gone, and what was done."""

    rule: str
    title: str


class FileReport(Struct, frozen=True):
    """One file of the report."""

    file: str
    valid: bool
    diagnostics: list[Diagnostic]
    summary: Summary
    fixed: list[Mended]


class Report(Struct, frozen=True):
    """The whole report. `valid`: every file could be read, and none has an error. `errors`: why not, a line each."""

    valid: bool
    files: list[FileReport]
    errors: list[str]


def report(checked: Iterable[Checked], unreadable: Sequence[str]) -> Report:
    """The report on these files."""
    files = [_file(each) for each in checked]
    return Report(not unreadable and all(each.valid for each in files), files, list(unreadable))


def summary(manifest: Manifest) -> Summary:
    """How much a manifest declares; what could not be read of it does not count."""
    return Summary(len({each.name for each in manifest.resources}), len(manifest.capabilities))


def severities(checked: Iterable[Checked]) -> Counter[str]:
    """How many findings there are of each severity."""
    return Counter(finding.severity for each in checked for finding in each.findings)


def _file(checked: Checked) -> FileReport:
    return FileReport(
        file=checked.source.name,
        valid=checked.valid,
        diagnostics=[_diagnostic(each, checked.lines) for each in checked.findings],
        summary=summary(checked.manifest),
        fixed=[Mended(each.rule, each.fix.title) for each in checked.fixed if each.fix],
    )


def _diagnostic(finding: Finding, lines: LineIndex) -> Diagnostic:
    title = finding.fix.title if finding.fix else None
    return Diagnostic(
        finding.rule, finding.severity, finding.message, finding.path, finding.range(lines), title, is_fixable(finding)
    )
