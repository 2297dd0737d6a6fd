"""Code actions (quick fixes): what an editor offers to do about findings: their fixes, all fixes at once, or to ignore
a rule at one place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from aurora_manifest.edits import adding_item, adding_member
from aurora_manifest.findings import Edit, Finding, Fix
from aurora_manifest.fix_all import fix_all
from aurora_manifest.json.document import Array, JsonDocument, Node, Object, Scalar
from aurora_manifest.rules.places import IGNORE
from aurora_manifest.rules.registry import RULES
from aurora_manifest.schema import manifest_schema
from aurora_manifest.shape import SchemaShape


class Action(Struct, frozen=True):
    """Code action (quick fix): its title, its edits, and the finding it is about. `obvious` marks the one most people
    want.
    """

    title: str
    edits: tuple[Edit, ...]
    finding: Finding
    obvious: bool = False


def actions(document: JsonDocument, findings: Iterable[Finding], start: int, end: int) -> list[Action]:
    """Actions for the findings between two offsets: fixes first, then other choices, then ways to ignore."""
    here = [each for each in findings if each.start <= end and each.end >= start]
    fixes = [Action(each.fix.title, each.fix.edits, each, obvious=True) for each in here if each.fix]
    fixes += [Action(fix.title, fix.edits, each) for each in here for fix in each.others]
    ignores = [Action(fix.title, fix.edits, each) for each in here if (fix := ignoring(document, each))]
    return [*fixes, *ignores]


def fix_all_edits(
    document: JsonDocument, findings: Sequence[Finding], check: Callable[[str], Sequence[Finding]]
) -> list[Edit]:
    """The edits that `fix_all` makes of a document with these findings; `check` looks at what comes of it."""
    return list(fix_all(document.text, check, findings).edits)


def ignoring(document: JsonDocument, finding: Finding) -> Fix | None:
    """Suppression of a warning: put the finding's rule into the `x-aurora-ignore` of the nearest object that can have
    one.

    None for rules that cannot be ignored, and where the text is broken. An object whose names are the user's own
    (`parameterMapping`, `properties`) cannot have one: there it would be one more name.
    """
    rule = RULES.get(finding.rule)
    if rule is None or rule.info.severity == "error" or finding.severity == "error":
        return None
    node = _home(document, finding)
    if node is None:
        return None
    title = f"Ignore {finding.rule} here"
    present = node.member(IGNORE)
    if present is None:
        return adding_member(document, node, IGNORE, [finding.rule], title)
    if isinstance(present.value, Array):
        return adding_item(document, present.value, finding.rule, title)
    if isinstance(present.value, Scalar) and isinstance(present.value.value, str):
        both = json.dumps([present.value.value, finding.rule])
        return Fix(title, (Edit(present.value.start, present.value.end, both),))
    return None


def _home(document: JsonDocument, finding: Finding) -> Object | None:
    """The innermost object around a finding whose names the schema knows."""
    place = document.place(finding.start)
    node: Node | None = document.root
    shape: SchemaShape | None = manifest_schema().shapes.root
    found: Object | None = None
    for step in (*(place.path if place else ()), None):
        if shape is None:
            break
        if isinstance(node, Object) and shape.members and not node.broken:
            found = node
        if isinstance(node, Object) and isinstance(step, str):
            member = node.member(step)
            node, shape = member.value if member else None, shape.members.get(step, shape.others)
        elif isinstance(node, Array) and isinstance(step, int) and step < len(node.items):
            node, shape = node.items[step], shape.items
        else:
            break
    return found
