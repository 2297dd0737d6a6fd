"""What a check tells: a rule, a sentence, and the exact place (AURA-P "Validation and Tooling")."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from aurora_protocol.manifest.document import SyntaxRule
from aurora_protocol.manifest.pointers import to_pointer
from aurora_protocol.positions import Encoding, LineIndex, Range

Severity = Literal["error", "warning", "info", "hint"]
"""A document is valid when no finding is an `error`."""

SchemaRule = Literal[
    "schema-required", "schema-type", "schema-enum", "schema-const", "schema-unknown-member", "schema-constraint"
]
Rule = SyntaxRule | SchemaRule | Literal["manifest-undefined-capability"]

MAX_FINDINGS = 1_000
"""More findings than this are not listed: errors stay before warnings, then the first in the text."""


class Finding(Struct, frozen=True, gc=False):
    """One thing that is wrong, in one sentence. `path` is a JSON Pointer; offsets are code points."""

    rule: Rule
    severity: Severity
    message: str
    path: str
    start: int
    end: int

    def range(self, lines: LineIndex, encoding: Encoding = "utf-16") -> Range:
        """The finding's place as an LSP range; `lines` is the index of the text that was checked."""
        return lines.range(self.start, self.end, encoding)


def finding(
    rule: Rule, message: str, path: Iterable[str | int] | str, start: int, end: int, severity: Severity = "error"
) -> Finding:
    """A finding whose path can be sent as UTF-8 whatever the text held (JSON can spell half a surrogate pair)."""
    pointer = path if isinstance(path, str) else to_pointer(path)
    return Finding(rule, severity, message, pointer.encode("utf-8", "replace").decode(), start, end)


def in_order(findings: list[Finding]) -> list[Finding]:
    """Sorted by place, and at most MAX_FINDINGS of them; an error is never dropped in favour of anything milder."""
    if len(findings) > MAX_FINDINGS:
        findings = sorted(findings, key=lambda each: (each.severity != "error", each.start))[:MAX_FINDINGS]
    return sorted(findings, key=lambda each: (each.start, each.end, each.rule, each.message))
