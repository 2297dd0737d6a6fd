"""Rules about identity: names, ids and versions of a manifest and its capabilities
(AURA-P "Core Concepts", "Schema reality").
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from aurora_manifest.edits import writing
from aurora_manifest.json.document import JsonDocument, Scalar
from aurora_manifest.json.literals import number_text
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import Capability, string, value
from aurora_manifest.rules.registry import RuleMatch, at, capability_rule, manifest_rule
from aurora_manifest.rules.subject import Subject
from aurora_manifest.schema import SCHEMA_ADDRESS

_KNOWN = re.compile(
    r"https://aura\.dev/schemas/v1\.0\.json"
    r"|https://(?:unpkg\.com|cdn\.jsdelivr\.net/npm)/aura-protocol(?:@(?P<version>[^/]*))?/dist/aura-v1\.0\.schema\.json"
    r"|(?!https?:)(?:[^?#]*/)?(?:aura-v1\.0|manifest-1\.0)\.schema\.json"
)
_VERSION = re.compile(r"1(?:\.0(?:\.(?P<patch>\d{1,9}))?)?")
_OLDEST = 4


@manifest_rule("schema-address", "info")
def schema_address(subject: Subject) -> Iterator[RuleMatch]:
    """`$schema` is not the address of a schema for AURA 1.0, or of an old or unfixed version of it.

    Editors and validators fetch what `$schema` names. The published addresses are those of the `aura-protocol` package
    at unpkg or jsDelivr with its version, `https://aura.dev/schemas/v1.0.json`, and the file
    `aura-v1.0.schema.json` beside you.

    Bad: {"$schema": "https://example.com/schema.json"}
    Good: {"$schema": "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json"}
    """
    node = string(subject.document.root, "$schema")
    if node is None:
        return
    address = str(node.value)
    match = _KNOWN.fullmatch(address)
    if match is None:
        message = f"{quoted(address)} is not an address of the AURA 1.0 schema"
    elif (
        "aura-protocol" not in address
        or "node_modules" in address
        or (match["version"] is None and "//" not in address)
    ):
        return
    elif match["version"] is None or not (version := _VERSION.fullmatch(match["version"])):
        message = f"{quoted(address)} names no version 1.0 of the schema: what it means may change"
    elif version["patch"] is None or int(version["patch"]) >= _OLDEST:
        return
    else:
        message = f"version {match['version']} of the schema is out of date"
    yield at(node, message, ("$schema",), writing(node, SCHEMA_ADDRESS))


@capability_rule("capability-id", "warning")
def id_is_name(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A capability's `id` is not the name it stands under.

    Resources and `AURA-State` refer to a capability by one of the two, clients look it up by the other.

    Bad: {"id": "edit_note"}
    Good: {"id": "update_note"}
    """
    node = capability.id
    if node is not None and node.value != capability.name:
        message = f"the id {quoted(str(node.value))} is not the name it stands under, {quoted(capability.name)}"
        yield at(node, message, (*capability.path, "id"), writing(node, capability.name))


@capability_rule("capability-version", "warning")
def version_is_whole(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A capability's version `v` is not a whole number from 1 on.

    `v` is counted up for breaking changes (AURA-P "Production Checklist"); there is no half of a breaking change.

    Bad: {"v": 1.5}
    Good: {"v": 2}
    """
    node = value(capability.node, "v")
    if not isinstance(node, Scalar) or isinstance(node.value, bool) or not isinstance(node.value, int | float):
        return
    number = node.value
    if number < 1 or (isinstance(number, float) and not number.is_integer()):
        shown = number_text(document.text[node.start : node.end])[:40]
        fix = writing(node, max(1, math.ceil(number))) if math.isfinite(number) else None
        yield at(node, f"the version {shown} is not a whole number from 1 on", (*capability.path, "v"), fix)
