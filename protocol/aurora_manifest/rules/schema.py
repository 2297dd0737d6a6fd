"""Rules of the schema (JSON Schema violations: required, type, enum, const, unknown members): what must be there, and
of which type (AURA-P "Core Concepts").
"""

from __future__ import annotations

from collections.abc import Iterator

from aurora_manifest.edits import renaming
from aurora_manifest.rules.registry import RuleMatch, manifest_rule
from aurora_manifest.rules.subject import Subject


@manifest_rule("schema-required", "error", decides=True)
def required_member(subject: Subject) -> Iterator[RuleMatch]:
    """A member that every client relies on is missing.

    `$schema`, `protocol`, `version`, `site`, `resources` and `capabilities` must be there, and each of them has members
    of its own that must be; `resources` and `capabilities` may be empty.

    Bad: {"capabilities": {"log_out": {"id": "log_out"}}}
    Good: {"capabilities": {}}
    """
    yield from _of(subject, "schema-required")


@manifest_rule("schema-type", "error", decides=True)
def wrong_type(subject: Subject) -> Iterator[RuleMatch]:
    """A value is of another type than the schema asks for.

    Bad: {"version": 1.0}
    Good: {"version": "1.0"}
    """
    yield from _of(subject, "schema-type")


@manifest_rule("schema-enum", "error", decides=True)
def not_a_choice(subject: Subject) -> Iterator[RuleMatch]:
    """A value is not one of the few that are possible here.

    Methods, encodings, windows of time and authentication hints are fixed lists, in exactly this spelling.

    Bad: {"policy": {"authHint": "Bearer"}}
    Good: {"policy": {"authHint": "bearer"}}
    """
    yield from _of(subject, "schema-enum")


@manifest_rule("schema-const", "error", decides=True)
def not_the_one_value(subject: Subject) -> Iterator[RuleMatch]:
    """A value is not the only one that is possible here.

    `protocol` is always `AURA`, `version` always `1.0`, and an action's `type` always `HTTP`.

    Bad: {"protocol": "aura"}
    Good: {"protocol": "AURA"}
    """
    yield from _of(subject, "schema-const")


@manifest_rule("schema-constraint", "error", decides=True)
def constraint(subject: Subject) -> Iterator[RuleMatch]:
    """A value breaks another condition of its schema, such as a smallest number.

    The manifest's schema has no such condition; schemas of other files have.

    Bad: {"port": 0}
    Good: {"port": 8080}
    """
    yield from _of(subject, "schema-constraint")


@manifest_rule("schema-unknown-member", "warning", decides=True)
def unknown_member(subject: Subject) -> Iterator[RuleMatch]:
    """A member's name is close to one the schema knows, but not the same.

    Members of your own are allowed, so a slip of the pen is not noticed by anyone: the member just has no effect. An
    error where the member that was meant is required and missing.

    Bad: {"site": {"descripton": "Keeps your notes."}}
    Good: {"site": {"description": "Keeps your notes."}}
    """
    for each in subject.misspelt:
        found = each.finding
        fix = renaming(found.start, found.end, each.meant) if each.meant else None
        yield RuleMatch(found.message, found.path, found.start, found.end, fix, found.severity)


def _of(subject: Subject, rule: str) -> Iterator[RuleMatch]:
    for each in subject.against_schema:
        if each.rule == rule:
            yield RuleMatch(each.message, each.path, each.start, each.end, each.fix)
