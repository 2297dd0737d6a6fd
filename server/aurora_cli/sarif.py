"""Findings as SARIF 2.1.0 (OASIS), as code scanning services read it. Names are the standard's, in its own spelling."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

import msgspec
from msgspec import Struct

from aurora_cli.manifest_files import Source
from aurora_cli.manifest_report import Checked
from aurora_manifest.findings import Finding, Fix, Severity
from aurora_protocol.positions import LineIndex
from aurora_protocol.version import __version__

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "WORKSPACE"
_LEVELS = {"error": "error", "warning": "warning", "info": "note", "hint": "note"}


class _Object(Struct, frozen=True, rename="camel", omit_defaults=True):
    """One object of the standard; members without a value are left out."""


class Message(_Object, frozen=True):
    text: str
    markdown: str | None = None


class ArtifactLocation(_Object, frozen=True):
    uri: str
    uri_base_id: str | None = None


class Region(_Object, frozen=True):
    """Lines and columns from 1; the end column is the one behind. Columns count UTF-16 units."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int


class PhysicalLocation(_Object, frozen=True):
    artifact_location: ArtifactLocation
    region: Region


class LogicalLocation(_Object, frozen=True):
    fully_qualified_name: str


class Location(_Object, frozen=True):
    physical_location: PhysicalLocation
    logical_locations: list[LogicalLocation] | None = None


class Replacement(_Object, frozen=True):
    deleted_region: Region
    inserted_content: Message


class ArtifactChange(_Object, frozen=True):
    artifact_location: ArtifactLocation
    replacements: list[Replacement]


class Mending(_Object, frozen=True):
    """The standard's fix."""

    description: Message
    artifact_changes: list[ArtifactChange]


class Result(_Object, frozen=True):
    rule_id: str
    level: str
    message: Message
    locations: list[Location]
    rule_index: int | None = None
    fixes: list[Mending] | None = None


class Configuration(_Object, frozen=True):
    level: str


class Descriptor(_Object, frozen=True):
    """The standard's reportingDescriptor: a rule."""

    id: str
    short_description: Message | None = None
    help: Message | None = None
    default_configuration: Configuration | None = None


class Component(_Object, frozen=True):
    name: str
    version: str
    rules: list[Descriptor]


class Tool(_Object, frozen=True):
    driver: Component


class Notification(_Object, frozen=True):
    level: str
    message: Message


class Invocation(_Object, frozen=True):
    execution_successful: bool
    tool_execution_notifications: list[Notification] | None = None


class Run(_Object, frozen=True):
    tool: Tool
    invocations: list[Invocation]
    original_uri_base_ids: dict[str, ArtifactLocation]
    column_kind: str
    results: list[Result]


class Log(_Object, frozen=True):
    schema: str = msgspec.field(name="$schema")
    version: str
    runs: list[Run]


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


def log(checked: Iterable[Checked], unreadable: Sequence[str], rules: Iterable[Described], root: Path) -> Log:
    """One run over these files. Places are told relative to `root`, the workspace, for what lies in it."""
    descriptors = {each.id: _descriptor(each) for each in rules}
    results = []
    for each in checked:
        for finding in each.findings:
            descriptors.setdefault(finding.rule, Descriptor(finding.rule))
        numbers = {rule: number for number, rule in enumerate(descriptors)}
        artifact = _artifact(each.source, root)
        results += [_result(finding, each.lines, artifact, numbers[finding.rule]) for finding in each.findings]
    run = Run(
        tool=Tool(Component("aurora", __version__, list(descriptors.values()))),
        invocations=[
            Invocation(
                execution_successful=not unreadable,
                tool_execution_notifications=[Notification("error", Message(each)) for each in unreadable] or None,
            )
        ],
        original_uri_base_ids={ROOT: ArtifactLocation(f"{root.as_uri().rstrip('/')}/")},
        column_kind="utf16CodeUnits",
        results=results,
    )
    return Log(schema=SCHEMA, version="2.1.0", runs=[run])


def _descriptor(rule: Described) -> Descriptor:
    # The text is for readers that know no Markdown; there is no other source of it than the Markdown.
    text = Message(rule.documentation, markdown=rule.documentation)
    return Descriptor(rule.id, Message(rule.summary), text, Configuration(_LEVELS[rule.severity]))


def _result(finding: Finding, lines: LineIndex, artifact: ArtifactLocation, rule: int) -> Result:
    region = _region(lines, finding.start, finding.end)
    return Result(
        rule_id=finding.rule,
        rule_index=rule,
        level=_LEVELS[finding.severity],
        message=Message(finding.message),
        locations=[Location(PhysicalLocation(artifact, region), [LogicalLocation(finding.path or "/")])],
        fixes=[_mending(finding.fix, lines, artifact)] if finding.fix else None,
    )


def _mending(fix: Fix, lines: LineIndex, artifact: ArtifactLocation) -> Mending:
    edits = [Replacement(_region(lines, each.start, each.end), Message(each.text)) for each in fix.edits]
    return Mending(Message(fix.title), [ArtifactChange(artifact, edits)])


def _region(lines: LineIndex, start: int, end: int) -> Region:
    place = lines.range(start, end)
    return Region(place.start.line + 1, place.start.character + 1, place.end.line + 1, place.end.character + 1)


def _artifact(source: Source, root: Path) -> ArtifactLocation:
    if source.path is None:
        return ArtifactLocation(quote(source.name))
    path = Path(os.path.abspath(source.path))  # noqa: PTH100 - the name it was called by, not where links lead
    if path.is_relative_to(root):
        return ArtifactLocation(quote(path.relative_to(root).as_posix()), ROOT)
    return ArtifactLocation(path.as_uri())
