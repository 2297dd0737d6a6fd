"""Checks of documents of every kind (configuration validation): the schema of each, and what is wrong with a document
by it."""

from __future__ import annotations

from functools import cache
from itertools import islice

from msgspec.structs import replace

import aurora_schemas
from aurora_manifest.check import manifest_schema
from aurora_manifest.edits import renaming
from aurora_manifest.findings import MAX_FINDINGS, Finding, in_order
from aurora_manifest.json.document import JsonDocument, Object
from aurora_manifest.kinds import CONFIGURATION, DELIVERABLE, DELIVERABLE_STATE, MANIFEST, METRICS_OUTPUT, DocumentKind
from aurora_manifest.misspellings import Guesses, Misspelt, misspelt_members
from aurora_manifest.model import Manifest
from aurora_manifest.rules.registry import RULES, ask
from aurora_manifest.rules.subject import Subject
from aurora_manifest.unread_settings import unread_settings
from aurora_manifest.unreadable_times import unreadable_times
from aurora_manifest.violations import SchemaCheck


def schema_of(kind: DocumentKind, document: JsonDocument | None = None) -> SchemaCheck:
    """The check against the schema of a kind, with the shapes that hover and completion read.

    For a `deliverable`, `document` tells which schema: whoever has `metrics` or `schema_version` is metrics.
    """
    if kind is MANIFEST:
        return manifest_schema()
    if kind is DELIVERABLE:
        root = document.root if document else None
        final = isinstance(root, Object) and not root.value.keys().isdisjoint(
            ("metrics", "schema_version", "completed_at")
        )
        kind = METRICS_OUTPUT if final else DELIVERABLE_STATE
    return _schema(kind)


def against_schema(document: JsonDocument, kind: DocumentKind) -> list[Finding]:
    """Findings in a document as JSON and by the schema of its kind, in the order of the text."""
    subject, schema = Subject(Manifest(document)), schema_of(kind, document)
    findings = ask([rule for rule in RULES.values() if rule.info.scope == "text"], subject)
    if document.torn is not None:
        return in_order(findings)
    misspelt = list(misspelt_members(document, schema.shapes.root, Guesses()))
    findings += (_with_fix(each) for each in misspelt)
    findings += schema.findings(document, frozenset(each.explains for each in misspelt if each.explains))
    findings += islice(unreadable_times(document, schema.source), MAX_FINDINGS)
    if kind is CONFIGURATION:
        told = {each.start for each in findings}
        unread = islice(unread_settings(document, schema.source), MAX_FINDINGS)
        findings += (each for each in unread if each.start not in told)
    return in_order(findings)


def _with_fix(misspelt: Misspelt) -> Finding:
    found = misspelt.finding
    return replace(found, fix=renaming(found.start, found.end, misspelt.meant)) if misspelt.meant else found


@cache
def _schema(kind: DocumentKind) -> SchemaCheck:
    return SchemaCheck(aurora_schemas.load(kind.name), kind.noun)
