"""Manifests to test with: small and large ones of ours, the reference ones where they are at hand, and mutations."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from aurora_manifest.check import check_document
from aurora_manifest.findings import Finding
from aurora_manifest.json.parser import parse
from aurora_manifest.kind_checks import against_schema
from aurora_manifest.kinds import MANIFEST, DocumentKind

SHARED = Path(os.environ.get("AURORA_SHARED", Path(__file__).resolve().parents[2] / "shared"))
REFERENCE = SHARED / "reference" / "aura-manifest"

STRANGE: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    1e400,
    "",
    "GET",
    "json",
    "x",
    "1.0",
    "AURA",
    [],
    ["a"],
    [5],
    {},
    {"a": 1},
]


def reference_schema() -> dict[str, Any]:
    """The reference schema; skips the test where it is not at hand."""
    path = REFERENCE / "aura-v1.0.schema.json"
    if not path.is_file():
        pytest.skip(f"no reference schema at {path}: set AURORA_SHARED")
    schema: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return schema


def reference_manifests() -> list[dict[str, Any]]:
    """The reference's example manifests; none where they are not at hand."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(REFERENCE.glob("*.aura.json"))]


def manifest(capabilities: int = 3) -> dict[str, Any]:
    """A valid manifest with that many capabilities, each with a resource, of four kinds in turn."""
    ids = [f"note_{number}" for number in range(capabilities)]
    return {
        "$schema": "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json",
        "id": "https://notes.example.org/.well-known/aura.json",
        "protocol": "AURA",
        "version": "1.0",
        "site": {"name": "Notes", "description": "Keeps notes.", "url": "https://notes.example.org"},
        "resources": {f"{each}_resource": _resource(each, number) for number, each in enumerate(ids)},
        "capabilities": {each: _capability(each, number) for number, each in enumerate(ids)},
        "policy": {"rateLimit": {"limit": 60, "window": "minute"}, "authHint": "bearer"},
    }


def _resource(capability: str, number: int) -> dict[str, Any]:
    method = ("GET", "POST", "PUT", "DELETE")[number % 4]
    operations = {method: {"capabilityId": capability}}
    return {"uriPattern": f"/notes/{number}/{{id}}", "description": "A note.", "operations": operations}


def _capability(capability: str, number: int) -> dict[str, Any]:
    kind = number % 4
    schema: dict[str, Any] = {
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "string", "pattern": "^[a-z0-9-]+$", "description": "Which note."},
            "text": {"type": "string", "minLength": 1, "maxLength": 2000},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        "additionalProperties": {"type": "string"} if kind == 1 else False,
    }
    action: dict[str, Any] = {
        "type": "HTTP",
        "method": ("GET", "POST", "PUT", "DELETE")[kind],
        "urlTemplate": f"/notes/{number}/{{id}}",
        "cors": kind < 2,
        "encoding": "query" if kind in (0, 3) else "json",
        "parameterLocation": {"id": "path"},
        "parameterMapping": {"id": "/id", "text": "/text", "tags": "/tags"},
    }
    description = 'Say "hello" to a\nnote — 📝.' if kind == 2 else "Does something with one note, as its name says."
    return {"id": capability, "v": 1, "description": description, "parameters": schema, "action": action}


def mutated(original: dict[str, Any], chance: random.Random) -> Any:
    """A copy with one to three changes: members dropped, renamed, retyped, added, items changed, subtrees moved."""
    changed: Any = copy.deepcopy(original)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(changed))
        if not places:
            return chance.choice(STRANGE)
        container, key = chance.choice(places)
        chance.choice(_CHANGES)(container, key, chance, places)
    return changed


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        container = pending.pop()
        keys = container.keys() if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], dict | list):
                pending.append(container[key])
    return found


def _drop(container: Any, key: Any, chance: random.Random, places: list[tuple[Any, Any]]) -> None:
    del container[key]


def _retype(container: Any, key: Any, chance: random.Random, places: list[tuple[Any, Any]]) -> None:
    container[key] = copy.deepcopy(chance.choice(STRANGE))


def _rename(container: Any, key: Any, chance: random.Random, places: list[tuple[Any, Any]]) -> None:
    if isinstance(container, dict):
        at = chance.randrange(len(key) + 1)
        container[key[:at] + chance.choice("xS_") + key[at + 1 :]] = container.pop(key)


def _add(container: Any, key: Any, chance: random.Random, places: list[tuple[Any, Any]]) -> None:
    if isinstance(container, dict):
        container[chance.choice(("extra", "items", "cors", "format", "authHint"))] = copy.deepcopy(
            chance.choice(STRANGE)
        )
    else:
        container.append(copy.deepcopy(chance.choice(STRANGE)))


def _nest(container: Any, key: Any, chance: random.Random, places: list[tuple[Any, Any]]) -> None:
    inner = container[key]
    container[key] = chance.choice(({"items": inner}, {"additionalProperties": inner}, [inner], {"properties": inner}))


def _move(container: Any, key: Any, chance: random.Random, places: list[tuple[Any, Any]]) -> None:
    other, at = chance.choice(places)
    container[key] = copy.deepcopy(other[at])


_CHANGES: list[Callable[[Any, Any, random.Random, list[tuple[Any, Any]]], None]] = [
    _drop, _drop, _retype, _retype, _rename, _add, _nest, _move,
]  # fmt: skip


_BLOWS = ["", "", *'{}[],:"', "\\", "\\u12", "//x\n", "/*", "'", "\n", "\r\n", "\t", "\x00", "📝", "\ud800"]
_BLOWS += ["NaN", "01", "\ufeff", '"a":']


def damaged(text: str, chance: random.Random) -> str:
    """The text with one to five blows: characters lost, doubled, replaced or put in, stretches cut or repeated."""
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(text) + 1)
        to = min(len(text), at + chance.choice((1, 1, 1, 2, 10, 200)))
        put = chance.choice([*_BLOWS, text[at:to] * 2])
        text = text[:at] + put + text[to if chance.random() < 0.7 else at :]
    return text


def check(text: str, *, severities: Mapping[str, str] = {}) -> list[Finding]:
    """Findings in the text of a manifest."""
    return check_document(parse(text), severities=severities)


def check_text(text: str, kind: DocumentKind) -> list[Finding]:
    """Findings in the text of a document of any kind."""
    return check(text) if kind is MANIFEST else against_schema(parse(text), kind)
