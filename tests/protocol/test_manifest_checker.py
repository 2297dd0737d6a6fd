"""A checker that follows typing: what an edit left alone is neither read nor checked again."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from aurora_manifest.check import Checker, CheckStopped, check, check_document
from aurora_manifest.document import Object
from aurora_manifest.model import Capability, Manifest
from aurora_manifest.rules import registry
from aurora_manifest.rules.fast_accept import is_ordinary
from aurora_manifest.scanner import parse
from tests.manifests import manifest, mutated, reference_manifests
from tests.protocol.rule_cases import BASE

RICH = manifest(1)
RICH["capabilities"]["note_0"] = {
    "id": "note_0",
    "v": 2,
    "description": "Uses all that an ordinary capability has.",
    "x-own": {"any": 1},
    "parameters": {
        "type": "object",
        "required": ["id", "place"],
        "properties": {
            "id": {"type": "string", "minLength": 2, "maxLength": 9, "pattern": "^[a-z]+$", "examples": ["ab"]},
            "sort": {"type": "string", "enum": ["new", "old"], "default": "new", "title": "Order", "format": "email"},
            "page": {"type": "integer", "minimum": 1, "maximum": 9, "enum": [1, 2], "default": 1, "readOnly": False},
            "share": {"type": "number", "minimum": 0.5, "maximum": 2, "default": 1, "writeOnly": False},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3, "default": ["a"]},
            "whole": {"type": "boolean", "default": True, "deprecated": True, "description": "All of it, or a part."},
            "set": {"type": "array", "uniqueItems": True, "items": {"type": "object", "properties": {}}},
            "place": {
                "type": "object",
                "required": ["town"],
                "properties": {"town": {"type": "string"}, "at": {"type": "object", "additionalProperties": False}},
                "additionalProperties": {"type": "integer"},
            },
        },
        "additionalProperties": False,
    },
    "action": {
        "type": "HTTP",
        "method": "GET",
        "urlTemplate": "/notes/{id}/%41/{town}{?sort,tags*,page}",
        "cors": True,
        "x-own": 1,
        "parameterMapping": {
            "id": "/id",
            "town": "/place/town",
            "sort": "/sort",
            "page": "/page",
            "share": "/share",
            "tags": "/tags",
            "whole": "/whole",
            "set": "/set",
        },
        "parameterLocation": {
            "id": "path",
            "sort": "query",
            "share": "query",
            "tags": "query",
            "whole": "header",
            "set": "query",
        },
    },
}
RICH["resources"]["note_0_resource"]["uriPattern"] = "/notes/{id}/%41/{town}"


def test_only_the_edited_capability_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(manifest(300), indent=2, ensure_ascii=False)
    checker = Checker()
    checker.check(checker.read(text))
    looked_at: list[str] = []
    asked: list[object] = []
    rules = registry.ask
    monkeypatch.setattr("aurora_manifest.capability_facts.is_ordinary", lambda part: bool(looked_at.append(part.name)))
    monkeypatch.setattr(
        "aurora_manifest.check.ask",
        lambda some, *subject: (asked.append(subject[0]), rules(some, *subject))[1],
    )
    at = text.index('"Does something', text.index('"note_149": {')) + 1
    changed = f"{text[:at]}x{text[at:]}"
    found = checker.check(checker.read(changed))
    assert [each.name for each in asked if hasattr(each, "url_template")] == ["note_149"]
    assert looked_at == ["note_149"]
    assert found == check(changed)


def test_a_check_nobody_waits_for_stops_and_the_next_one_is_whole() -> None:
    text = json.dumps(manifest(30)).replace('"v": 1', '"v": 0')
    checker, looks = Checker(), iter([False] * 10)
    with pytest.raises(CheckStopped):
        checker.check(checker.read(text), lambda: next(looks, True))
    assert checker.check(checker.read(text)) == check(text)


def test_places_inside_what_is_in_order_are_not_even_made() -> None:
    text = json.dumps(manifest(4)).replace('"id": "note_2"', '"id": "other"')
    document = parse(text)
    assert {each.rule for each in check_document(document)} == {"capability-id"}
    capabilities = document.node("/capabilities")
    assert isinstance(capabilities, Object)
    looked_into = [each.name for each in capabilities.members if each.value.members.made is not None]  # type: ignore[union-attr]
    assert looked_into == ["note_2"]


@pytest.mark.parametrize("seed", range(60))
def test_a_glance_at_plain_values_hides_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    texts = [json.dumps(mutated(base, chance), indent=2) for base in (BASE, RICH, manifest(4)) for _ in range(5)]
    found = [check(text) for text in texts]
    monkeypatch.setattr("aurora_manifest.capability_facts.is_ordinary", lambda part: False)
    assert found == [check(text) for text in texts], "what is ordinary"
    monkeypatch.setattr(Capability, "glance", None)
    assert found == [check(text) for text in texts], "what a glance tells"


@pytest.mark.parametrize("base", [BASE, RICH, manifest(4), *reference_manifests()])
def test_well_made_capabilities_and_resources_are_ordinary(base: dict[str, Any]) -> None:
    found = Manifest(parse(json.dumps(base)))
    assert [name for name, each in found.capabilities.items() if not is_ordinary(each)] == []
    assert [each.name for each in found.resources if not is_ordinary(each)] == []
