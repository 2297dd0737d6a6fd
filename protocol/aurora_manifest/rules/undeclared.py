"""Undeclared parts, that something names and nobody wrote: a capability, a parameter, with the least they need to be
one (a fix adds it).
"""

from __future__ import annotations

from typing import Any

from aurora_manifest.edits import adding_member
from aurora_manifest.findings import Fix
from aurora_manifest.json.document import JsonDocument, Object
from aurora_manifest.json.pointers import to_pointer
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import Capability, Operation, obj, value
from aurora_manifest.templates import parse_template

_OF_ANY_KIND = {"type": "string"}
"""What most parameters are; which other type one has, nothing that only names it tells."""


def adding_parameter(document: JsonDocument, capability: Capability, name: str) -> Fix | None:
    """Put a parameter into `parameters`, which is put in with it where there is none."""
    title = f"Add the parameter {quoted(name)}"
    parameters, properties = capability.parameters, obj(capability.parameters, "properties")
    if properties is not None:
        return adding_member(document, properties, name, _OF_ANY_KIND, title)
    if parameters is not None:
        return adding_member(document, parameters, "properties", {name: _OF_ANY_KIND}, title)
    if value(capability.node, "parameters") is not None or not isinstance(capability.node, Object):
        return None
    whole = {"type": "object", "properties": {name: _OF_ANY_KIND}}
    return adding_member(document, capability.node, "parameters", whole, title)


def adding_capability(document: JsonDocument, capabilities: Object, operation: Operation, name: str) -> Fix | None:
    """Put in the capability that an operation names, with the resource's address and its variables."""
    pattern = operation.resource.pattern or "/"
    variables = list(dict.fromkeys(each.name for each in parse_template(pattern).variables))
    words = " ".join(name.replace("-", "_").split("_")).strip()
    whole: dict[str, Any] = {"id": name, "v": 1, "description": f"{words[:1].upper()}{words[1:]}."}
    if variables:
        properties = dict.fromkeys(variables, _OF_ANY_KIND)
        whole["parameters"] = {"type": "object", "required": variables, "properties": properties}
    whole["action"] = {
        "type": "HTTP",
        "method": operation.method,
        "urlTemplate": pattern,
        "parameterMapping": {each: to_pointer((each,)) for each in variables},
    }
    return adding_member(document, capabilities, name, whole, f"Add the capability {quoted(name)}")
