"""Rules registry: what a rule is, and the one list of them: id, severity, the function that looks, its docstring for
people.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from aurora_manifest.findings import MAX_FINDINGS, Finding, Fix, Severity, finding

if TYPE_CHECKING:
    from aurora_manifest.json.document import JsonDocument, Member, Node
    from aurora_manifest.model import Capability, Resource
    from aurora_manifest.rules.subject import ManifestPart, Subject

Scope = Literal["text", "manifest", "capability", "resource", "part"]
Path = tuple[str | int, ...]
Absent = Callable[[str, str], bool]
"""From a text, and every line of it once, to whether a rule surely finds nothing in any part of that text."""
_PARTS = re.compile(r"\nBad:(?P<bad>.*?)\nGood:(?P<good>.*)\Z", re.DOTALL)


class RuleMatch(Struct, frozen=True, gc=False):
    """Match of a rule: a sentence, where, perhaps how to mend it, and the severity where it is unusual."""

    message: str
    path: Path | str
    start: int
    end: int
    fix: Fix | None = None
    severity: Severity | None = None
    others: tuple[Fix, ...] = ()


class RuleInfo(Struct, frozen=True):
    """Rule as people read of it. `documentation` is Markdown; `bad` and `good` are its two examples.

    The examples are a whole text (scope `text`), or what to merge into a manifest, a capability or a resource.
    `decides` tells that the rule is part of the verdict of validity: `x-aurora-ignore` cannot silence its errors.
    """

    id: str
    severity: Severity
    scope: Scope
    summary: str
    documentation: str
    bad: str
    good: str
    decides: bool


class Rule(Struct, frozen=True):
    """A rule and the function that looks for it; `absent` where a look at the text may spare that."""

    info: RuleInfo
    look: Callable[..., Iterator[RuleMatch]]
    absent: Absent | None = None

    def finding(self, found: RuleMatch) -> Finding:
        """Finding of this rule, from what its function found."""
        severity = found.severity or self.info.severity
        return finding(
            self.info.id, found.message, found.path, found.start, found.end, severity, found.fix, found.others
        )


def ask(rules: list[Rule], *subject: Any) -> list[Finding]:
    """Findings of some rules in one subject. Most find nothing most of the time: that costs little."""
    findings: list[Finding] = []
    for rule in rules:
        most = len(findings) + MAX_FINDINGS
        for each in rule.look(*subject):
            if len(findings) == most:
                break
            findings.append(rule.finding(each))
    return findings


RULES: dict[str, Rule] = {}
"""Every rule by id, in the order the files of this package define them."""

LookAtSubject = Callable[["Subject"], Iterator[RuleMatch]]
LookAtCapability = Callable[["Capability", "JsonDocument"], Iterator[RuleMatch]]
LookAtPart = Callable[["ManifestPart", "JsonDocument"], Iterator[RuleMatch]]
LookAtResource = Callable[["Resource", "JsonDocument"], Iterator[RuleMatch]]


def text_rule(rule_id: str, severity: Severity, *, decides: bool = True) -> Callable[[LookAtSubject], LookAtSubject]:
    """Register a rule about the text as JSON."""
    return lambda look: _register(rule_id, severity, "text", look, decides)


def manifest_rule(
    rule_id: str, severity: Severity, *, decides: bool = False
) -> Callable[[LookAtSubject], LookAtSubject]:
    """Register a rule about the manifest as a whole: it runs at every check, so it must be cheap."""
    return lambda look: _register(rule_id, severity, "manifest", look, decides)


def capability_rule(rule_id: str, severity: Severity) -> Callable[[LookAtCapability], LookAtCapability]:
    """Register a rule that looks at nothing but one capability: asked again only when the capability's text changes."""
    return lambda look: _register(rule_id, severity, "capability", look, False)


def resource_rule(rule_id: str, severity: Severity) -> Callable[[LookAtResource], LookAtResource]:
    """Register a rule that looks at nothing but one resource: asked again only when the resource's text changes."""
    return lambda look: _register(rule_id, severity, "resource", look, False)


def part_rule(rule_id: str, severity: Severity, *, absent: Absent) -> Callable[[LookAtPart], LookAtPart]:
    """Register a rule that looks for something anywhere: in each capability, each resource, and the rest."""
    return lambda look: _register(rule_id, severity, "part", look, False, absent)


def _register(
    rule_id: str, severity: Severity, scope: Scope, look: Any, decides: bool, absent: Absent | None = None
) -> Any:
    """Registration of a rule by its decorator."""
    if rule_id in RULES:
        raise ValueError(f"two rules are called {rule_id}")
    text = inspect.cleandoc(look.__doc__ or "")
    parts = _PARTS.search(text)
    bad, good = (_dedented(parts["bad"]), _dedented(parts["good"])) if parts else ("", "")
    prose = text[: parts.start()] if parts else text
    summary = " ".join(prose.split("\n\n")[0].split())
    RULES[rule_id] = Rule(
        RuleInfo(rule_id, severity, scope, summary, _markdown(prose, bad, good), bad, good, decides), look, absent
    )
    return look


def _dedented(example: str) -> str:
    first, _, rest = example.strip("\n").partition("\n")
    return f"{first.strip()}\n{inspect.cleandoc(rest)}".strip() if rest.strip() else first.strip()


def _markdown(prose: str, bad: str, good: str) -> str:
    paragraphs = [" ".join(each.split()) for each in prose.strip().split("\n\n")]
    examples = [f"Bad:\n\n```json\n{bad}\n```", f"Good:\n\n```json\n{good}\n```"] if bad else []
    return "\n\n".join([*paragraphs, *examples])


def at(
    node: Node,
    message: str,
    path: Path,
    fix: Fix | None = None,
    severity: Severity | None = None,
    others: tuple[Fix, ...] = (),
) -> RuleMatch:
    """Found on the whole of a value."""
    return RuleMatch(message, path, node.start, node.end, fix, severity, others)


def at_name(member: Member, message: str, path: Path, fix: Fix | None = None) -> RuleMatch:
    """Found on a member's name, quotes included."""
    return RuleMatch(message, path, member.name_start, member.name_end, fix)
