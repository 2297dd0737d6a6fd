"""Findings (diagnostics): what a check tells: a rule, its severity, a sentence, the exact range, and fixes (AURA-P
"Validation and Tooling").
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from aurora_manifest.json.pointers import to_pointer
from aurora_protocol.positions import Encoding, LineIndex, Range

Severity = Literal["error", "warning", "info", "hint"]
"""A document is valid when no finding is an `error`."""

SchemaRule = Literal[
    "schema-required", "schema-type", "schema-enum", "schema-const", "schema-unknown-member", "schema-constraint"
]

MAX_FINDINGS = 1_000
"""More findings than this are not listed: errors stay before warnings, then the first in the text."""


class Edit(Struct, frozen=True):
    """Text to put in place of what lies between two offsets (code points)."""

    start: int
    end: int
    text: str


class Fix(Struct, frozen=True):
    """A way to mend a finding: what it does, in a few words, and the edits that do it.

    `loss_free` tells that the text means after it what it meant before, to everyone who could read it: only such fixes
    are made without asking.
    """

    title: str
    edits: tuple[Edit, ...]
    loss_free: bool = False


class Finding(Struct, frozen=True):
    """Finding (diagnostic): one thing that is wrong, in one sentence. `path` is a JSON Pointer; offsets are code
    points.

    `fix` is the obvious way to mend it; `others` are more ways, between which only its author can choose.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    start: int
    end: int
    fix: Fix | None = None
    others: tuple[Fix, ...] = ()

    def range(self, lines: LineIndex, encoding: Encoding = "utf-16") -> Range:
        """The finding's place as an LSP range; `lines` is the index of the text that was checked."""
        return lines.range(self.start, self.end, encoding)


def finding(
    rule: str,
    message: str,
    path: Iterable[str | int] | str,
    start: int,
    end: int,
    severity: Severity = "error",
    fix: Fix | None = None,
    others: tuple[Fix, ...] = (),
) -> Finding:
    """A finding whose path can be sent as UTF-8 whatever the text held (JSON can spell half a surrogate pair)."""
    pointer = path if isinstance(path, str) else to_pointer(path)
    return Finding(rule, severity, message, pointer.encode("utf-8", "replace").decode(), start, end, fix, others)


def in_order(findings: list[Finding]) -> list[Finding]:
    """Sorted by place, and at most MAX_FINDINGS of them; an error is never dropped in favour of anything milder."""
    if len(findings) > MAX_FINDINGS:
        findings = sorted(findings, key=lambda each: (each.severity != "error", each.start))[:MAX_FINDINGS]
    return sorted(findings, key=lambda each: (each.start, each.end, each.rule, each.message))
