"""From the text of a manifest to its findings: syntax, schema, references (AURA-P "Validation and Tooling")."""

from __future__ import annotations

from functools import cache

import aurora_schemas
from aurora_protocol.manifest.document import Document, Problem, SyntaxRule
from aurora_protocol.manifest.findings import Finding, Severity, finding, in_order
from aurora_protocol.manifest.references import undefined_capabilities
from aurora_protocol.manifest.scanner import parse
from aurora_protocol.manifest.spelling import Guesses, misspelt_members
from aurora_protocol.manifest.violations import SchemaCheck

_FILE_NAME = "aura.json"
_MILDER: dict[SyntaxRule, Severity] = {"json-byte-order-mark": "warning"}


def is_manifest(path: str) -> bool:
    """Whether a path or file URI names a manifest: the file's name is `aura.json`."""
    return path.replace("\\", "/").rpartition("/")[2] == _FILE_NAME


def check(text: str, *, uri: str = "") -> list[Finding]:
    """Everything that is wrong with a manifest, in the order of the text. Never raises, whatever the text.

    `uri` tells where the text is from; no rule looks at it yet. Takes some 100 ms for a thousand capabilities: call it
    off the event loop.
    """
    return check_document(parse(text))


def check_document(document: Document) -> list[Finding]:
    """As `check`, for a text already parsed."""
    findings = [from_problem(document, problem) for problem in document.problems]
    schema, guesses = manifest_schema(), Guesses()
    misspelt = list(misspelt_members(document, schema.shapes.root, guesses))
    findings += (each.finding for each in misspelt)
    findings += schema.findings(document, frozenset(each.explains for each in misspelt if each.explains))
    findings += undefined_capabilities(document, guesses)
    return in_order(findings)


@cache
def manifest_schema() -> SchemaCheck:
    """The check against the manifest schema, with the shapes that hover and completion read."""
    return SchemaCheck(aurora_schemas.load("manifest-1.0"), "the manifest")


def from_problem(document: Document, problem: Problem) -> Finding:
    """What the scanner has noticed, as a finding."""
    severity = _MILDER.get(problem.rule, "error")
    return finding(
        problem.rule, problem.message, document.pointer_at(problem.start), problem.start, problem.end, severity
    )
