"""Schema check (validator) of a manifest, made once, and default values for members that are missing."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import aurora_schemas
from aurora_manifest.json.document import JsonDocument, Object
from aurora_manifest.violations import SchemaCheck

SCHEMA_ADDRESS = "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json"
"""The address of the published schema (AURA-P "Schema reality"), in the newest version we know."""

_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_AT_ROOT = {"$schema": SCHEMA_ADDRESS, "protocol": "AURA", "version": "1.0", "resources": {}, "capabilities": {}}
_PLAIN = {"type": "HTTP", "method": "GET", "v": 1, "limit": 60, "window": "minute", "operations": {}}


@cache
def manifest_schema() -> SchemaCheck:
    """The check against the manifest schema, with the shapes that hover and completion read."""
    return SchemaCheck(aurora_schemas.load("manifest-1.0"), "the manifest", usual_value)


def usual_value(document: JsonDocument, path: tuple[str | int, ...], node: Object, name: str) -> Any:
    """Default value to begin with for a member of a manifest that is missing; None where any value would be a guess."""
    match path, name:
        case (), "site":
            return {"name": "Example Site", "url": "https://example.com"}
        case (), "capabilities" if node.value.get("resources"):
            return None
        case (), _:
            return _AT_ROOT.get(name)
        case ("site",), "name":
            return _host(node) or "Example Site"
        case ("site",), "url":
            return "https://example.com"
        case (_, str(key)), "id":
            return key
        case (_, str(key)), "description":
            return sentence(key)
        case (_, str(key)), "uriPattern":
            return f"/{_slug(key)}"
        case ("capabilities", str(key)), "action":
            return {
                "type": "HTTP",
                "method": _method(document, key) or "GET",
                "urlTemplate": f"/{_slug(key)}",
                "parameterMapping": _mapping(node),
            }
        case ("capabilities", str(key), "action"), "method":
            return _method(document, key) or "GET"
        case ("capabilities", str(key), "action"), "urlTemplate":
            return f"/{_slug(key)}"
        case ("capabilities", str(key), "action"), "parameterMapping":
            return _mapping(document.follow(("capabilities", key))[0])
        case (*_, "operations", _), "capabilityId":
            return None
    return _PLAIN.get(name)


def _method(document: JsonDocument, capability: str) -> str | None:
    """The method of the one operation that runs a capability; None where there is none, or there are several."""
    resources = document.root.value.get("resources") if isinstance(document.root, Object) else None
    found = {
        method
        for resource in (resources.values() if isinstance(resources, dict) else ())
        if isinstance(resource, dict) and isinstance(operations := resource.get("operations"), dict)
        for method, operation in operations.items()
        if isinstance(operation, dict) and operation.get("capabilityId") == capability
    }
    return found.pop() if len(found) == 1 else None


def sentence(name: str) -> str:
    """A name as words: `list_posts` and `listPosts` are `List posts.`"""
    words = " ".join(_WORDS.findall(name)).lower()
    return f"{words[:1].upper()}{words[1:]}." if words else "What it is."


def _slug(name: str) -> str:
    return "-".join(_WORDS.findall(name)).lower() or "path"


def _mapping(capability: Any) -> dict[str, str]:
    """Default `parameterMapping`: a pointer to each parameter under its own name."""
    value = capability.value if isinstance(capability, Object) else {}
    parameters = value.get("parameters")
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    names = properties if isinstance(properties, dict) else {}
    return {name: f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names}


def _host(site: Object) -> str | None:
    """Host name of the site."""
    url = site.value.get("url")
    try:
        return urlsplit(url).hostname if isinstance(url, str) else None
    except ValueError:
        return None
