"""Suppression of rules (inline ignore, disabled lint warnings): `x-aurora-ignore`, members that silence rules where
they stand, and the rule about them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_manifest.edits import writing
from aurora_manifest.findings import Finding
from aurora_manifest.json.document import Array, JsonDocument, Node, Object
from aurora_manifest.json.value_text import described, quoted
from aurora_manifest.rules.places import IGNORE
from aurora_manifest.rules.registry import RULES, Path, RuleMatch, at, manifest_rule
from aurora_manifest.rules.subject import Subject
from aurora_protocol.spelling import closest

_MEMBER = re.compile(rf'"{IGNORE}"')
_MOST = 1_000


@manifest_rule("ignore-unknown", "warning")
def unknown_rule(subject: Subject) -> Iterator[RuleMatch]:
    """An `x-aurora-ignore` names a rule that does not exist, or one that cannot be ignored.

    Its value is a rule's id, or a list of them. Rules that decide whether a manifest is valid cannot be silenced: other
    validators would still refuse the file.

    Bad: {"x-aurora-ignore": ["extension-names"]}
    Good: {"x-aurora-ignore": ["extension-name"]}
    """
    for _, _, path, node in _members(subject.document):
        if isinstance(node, Array):
            items = [((*path, index), each) for index, each in enumerate(node.items)]
        else:
            items = [(path, node)]
        for place, each in items:
            rule = each.value
            if each.start == each.end or (isinstance(rule, str) and _can_be_ignored(rule)):
                continue
            if not isinstance(rule, str):
                yield at(each, f"{quoted(IGNORE)} takes ids of rules, not {described(rule)}", place)
            elif rule in RULES:
                yield at(each, f"{quoted(rule)} decides whether the manifest is valid: it cannot be ignored", place)
            else:
                meant = closest(rule, [name for name in RULES if _can_be_ignored(name)])
                advice = f"; did you mean {quoted(meant)}?" if meant else ""
                message = f"there is no rule {quoted(rule)}{advice}"
                yield at(each, message, place, writing(each, meant) if meant else None)


def without_ignored(document: JsonDocument, findings: list[Finding]) -> list[Finding]:
    """The findings that no `x-aurora-ignore` silences; errors, by the rules' own severities, are never silenced.

    Such a member speaks for the object it stands in, from that object's own name on.
    """
    silenced: dict[str, list[tuple[int, int]]] = {}
    for start, end, _, node in _members(document):
        named = node.value if isinstance(node.value, list) else [node.value]
        for rule in named:
            if isinstance(rule, str) and _can_be_ignored(rule):
                silenced.setdefault(rule, []).append((start, end))
    if not silenced:
        return findings
    return [
        each
        for each in findings
        if each.severity == "error"
        or not any(start <= each.start and each.end <= end for start, end in silenced.get(each.rule, ()))
    ]


def _can_be_ignored(rule: str) -> bool:
    return rule in RULES and RULES[rule].info.severity != "error"


def _members(document: JsonDocument) -> Iterator[tuple[int, int, Path, Node]]:
    """Every `x-aurora-ignore`: where the object that has it begins and ends, the way to it, and its value."""
    if IGNORE not in document.text:
        return
    for number, match in enumerate(_MEMBER.finditer(document.text)):
        place = document.place(match.start()) if number < _MOST else None
        if place is None or not place.in_name or place.member is None or place.path[-1:] != (IGNORE,):
            continue
        around, member = document.follow(place.path[:-1])
        if not isinstance(around, Object):
            continue
        start = member.name_start if member else around.start
        yield start, around.end, place.path, place.member.value
