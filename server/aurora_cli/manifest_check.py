"""Manifest check: from what the command line names to checked files, one after the other; and mending them on the way.

Files that are AURORA's own (`kinds.py`) are checked as what they are, like in an editor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_cli.manifest_files import (
    STANDARD_INPUT,
    FileChanged,
    ManifestText,
    UnreadableManifest,
    matching,
    read,
    read_standard_input,
    replace_text,
    shown,
)
from aurora_manifest.check import check_document
from aurora_manifest.findings import Finding, Severity
from aurora_manifest.fix_all import fix_all, is_fixable
from aurora_manifest.json.document import JsonDocument
from aurora_manifest.json.parser import parse
from aurora_manifest.kinds import MANIFEST, DocumentKind, kind_of
from aurora_manifest.model import Manifest
from aurora_protocol.positions import LineIndex, Range


class Checked(Struct, frozen=True):
    """Checked file, what was mended in it, and what is (still) found in it; `source` has the text they are about."""

    source: ManifestText
    manifest: Manifest
    findings: Sequence[Finding]
    fixed: Sequence[Finding] = ()
    kind: DocumentKind = MANIFEST

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
    """Summary of a manifest: how much it declares."""

    resources: int
    capabilities: int


class Mended(Struct, frozen=True):
    """A finding that is gone, and what was done."""

    rule: str
    title: str


class FileReport(Struct, frozen=True):
    """Report on one file. `kind` is what it was checked as; all but manifests declare nothing."""

    file: str
    kind: str
    valid: bool
    diagnostics: list[Diagnostic]
    summary: Summary
    fixed: list[Mended]


class CheckReport(Struct, frozen=True):
    """The whole report. `valid`: every file could be read, and none has an error. `errors`: why not, a line each."""

    valid: bool
    files: list[FileReport]
    errors: list[str]


def report(checked: Iterable[Checked], unreadable: Sequence[str]) -> CheckReport:
    """The report on these files."""
    files = [_file(each) for each in checked]
    return CheckReport(not unreadable and all(each.valid for each in files), files, list(unreadable))


def summary(manifest: Manifest) -> Summary:
    """How much a manifest declares; what could not be read of it does not count."""
    return Summary(len({each.name for each in manifest.resources}), len(manifest.capabilities))


def severities(checked: Iterable[Checked]) -> Counter[str]:
    """How many findings there are of each severity."""
    return Counter(finding.severity for each in checked for finding in each.findings)


def _file(checked: Checked) -> FileReport:
    return FileReport(
        file=checked.source.name,
        kind=checked.kind.name,
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


def checks(
    arguments: Sequence[str], here: Path, stdin_name: str, levels: Mapping[str, str], home: Path, *, fix: bool
) -> Iterator[Checked | UnreadableManifest]:
    """Check what the arguments name, each file once, in their order; what cannot be checked comes as an error.

    What is none of the kinds that AURORA knows, below `home` or elsewhere, is checked as a manifest.
    """
    done: set[str] = set()
    for argument in arguments:
        try:
            paths = [None] if argument == STANDARD_INPUT else matching(argument)
        except UnreadableManifest as error:
            yield error
            continue
        for path in paths:
            name = stdin_name if path is None else shown(path, here)
            if name in done:
                continue
            done.add(name)
            kind = kind_of((here / name).as_posix(), home.as_posix()) or MANIFEST
            try:
                yield _checked(path, name, kind, levels, fix=fix)
            except UnreadableManifest as error:
                yield error


def _checked(path: Path | None, name: str, kind: DocumentKind, levels: Mapping[str, str], *, fix: bool) -> Checked:
    """Check of one file; with `fix`, what can be fixed (autofix) is written back."""
    source = read_standard_input(name) if path is None else read(path, name)
    if path is None or not fix:
        document = parse(source.text)
        return Checked(source, Manifest(document), _findings(document, kind, levels), kind=kind)
    fixed = fix_all(source.text, lambda text: _findings(parse(text), kind, levels))
    if fixed.applied:
        try:
            replace_text(path, source.text, fixed.text)
        except FileChanged as error:
            raise UnreadableManifest(str(error)) from error
        except OSError as error:
            raise UnreadableManifest(f"{name}: cannot be fixed: {error.strerror or error}") from error
    after = msgspec.structs.replace(source, text=fixed.text)
    return Checked(after, Manifest(parse(fixed.text)), fixed.left, fixed.applied, kind)


def _findings(document: JsonDocument, kind: DocumentKind, levels: Mapping[str, str]) -> list[Finding]:
    """Findings of a document by its kind: rules and severities, or its schema."""
    if kind is MANIFEST:
        return check_document(document, severities=levels)
    from aurora_manifest.kind_checks import against_schema

    return against_schema(document, kind)
