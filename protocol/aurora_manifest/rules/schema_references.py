"""Rules about `$ref` in `parameters`: that what it names is there (JSON Schema 2020-12 §8.2.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from aurora_manifest.edits import writing
from aurora_manifest.json.document import JsonDocument
from aurora_manifest.json.pointers import PointerError, from_pointer, to_pointer
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import Capability, string
from aurora_manifest.rules.registry import Path, RuleMatch, at, capability_rule
from aurora_protocol.spelling import closest

_HOMES = ("$defs", "definitions")
_MAX_NAMES = 1_000


@capability_rule("parameters-ref", "warning")
def reference_astray(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A `$ref` in `parameters` leads to no schema there.

    `#` is the root of `parameters`, not of the manifest: its schemas belong into `$defs` of `parameters`. Validators
    refuse the call, whatever its arguments. Addresses of other documents are not looked at, nor is anything told where
    a schema has an `$id` of its own.

    Bad: {"parameters": {"properties": {"text": {"$ref": "#/$defs/words"}}}}
    Good: {"parameters": {"$defs": {"words": {"type": "string"}}, "properties": {"text": {"$ref": "#/$defs/words"}}}}
    """
    parameters = capability.parameters
    if parameters is None or parameters.broken:
        return
    referring = capability.schemas_with("$ref")
    if not referring or any(each.node is not parameters for each in capability.schemas_with("$id")):
        return
    known = [to_pointer((home, name)) for home in _HOMES for name in _named(parameters.value.get(home))]
    for schema in referring:
        node = string(schema.node, "$ref")
        target = str(node.value) if node is not None else ""
        if (
            node is None
            or not target.startswith("#/")
            or _leads(document, (*capability.path, "parameters"), target[1:])
        ):
            continue
        meant = closest(target[1:], known[:_MAX_NAMES], 0.6)
        advice = f"; did you mean {quoted(f'#{meant}')}?" if meant else ""
        message = f'{quoted(target)} leads to no schema in "parameters"{advice}'
        yield at(node, message, (*schema.path, "$ref"), writing(node, f"#{meant}") if meant else None)


def _named(home: Any) -> list[str]:
    return list(home) if isinstance(home, dict) else []


def _leads(document: JsonDocument, parameters: Path, pointer: str) -> bool:
    """Whether a pointer leads to a schema, seen from `parameters`."""
    try:
        steps = from_pointer(unquote(pointer))
    except PointerError:
        return False
    node, _ = document.follow((*parameters, *steps))
    return node is not None and isinstance(node.value, dict | bool)
