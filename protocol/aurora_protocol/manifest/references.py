"""Rules about what one part of a manifest says of another (AURA-P "Core Concepts")."""

from __future__ import annotations

from collections.abc import Iterator

from aurora_protocol.manifest.document import Document, Member, Node, Object, Scalar
from aurora_protocol.manifest.findings import Finding, finding
from aurora_protocol.manifest.spelling import Guesses
from aurora_protocol.manifest.wording import quoted


def undefined_capabilities(document: Document, guesses: Guesses) -> Iterator[Finding]:
    """`manifest-undefined-capability`, error: an operation names a capability that `capabilities` does not have.

    Silent where `capabilities` is missing or could not be read in full: that is another rule's finding.
    """
    root = document.root
    capabilities = _member_value(root, "capabilities")
    if not isinstance(capabilities, Object) or capabilities.broken:
        return
    for resource in _members(_member_value(root, "resources")):
        for operation in _members(_member_value(resource.value, "operations")):
            target = _member_value(operation.value, "capabilityId")
            if not isinstance(target, Scalar) or not isinstance(target.value, str):
                continue
            if target.value not in capabilities.value:
                meant = guesses.closest(target.value, capabilities.value.keys(), "capabilities")
                advice = f"; did you mean {quoted(meant)}?" if meant else ""
                message = f'{quoted(target.value)} is not defined under "capabilities"{advice}'
                path = ("resources", resource.name, "operations", operation.name, "capabilityId")
                yield finding("manifest-undefined-capability", message, path, target.start, target.end)


def _member_value(node: Node | None, name: str) -> Node | None:
    member = node.member(name) if isinstance(node, Object) else None
    return member.value if member else None


def _members(node: Node | None) -> list[Member]:
    return node.members if isinstance(node, Object) else []
