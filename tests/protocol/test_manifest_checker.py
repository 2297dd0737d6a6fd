"""A checker that follows typing: what an edit left alone is neither read nor checked again."""

from __future__ import annotations

import json
import random

import pytest

from aurora_protocol.manifest.check import Checker, CheckStopped, check, check_document
from aurora_protocol.manifest.document import Object
from aurora_protocol.manifest.model import Capability
from aurora_protocol.manifest.rules import registry
from aurora_protocol.manifest.scanner import parse
from tests.manifests import manifest, mutated
from tests.protocol.rule_cases import BASE


def test_only_the_edited_capability_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(manifest(300), indent=2, ensure_ascii=False)
    checker = Checker()
    checker.check(checker.read(text))
    asked: list[object] = []
    rules = registry.ask
    monkeypatch.setattr(
        "aurora_protocol.manifest.check.ask",
        lambda some, *subject: (asked.append(subject[0]), rules(some, *subject))[1],
    )
    at = text.index('"Does something', text.index('"note_149": {')) + 1
    changed = f"{text[:at]}x{text[at:]}"
    found = checker.check(checker.read(changed))
    assert [each.name for each in asked if hasattr(each, "url_template")] == ["note_149"]
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
    texts = [json.dumps(mutated(base, chance), indent=2) for base in (BASE, manifest(4)) for _ in range(5)]
    found = [check(text) for text in texts]
    monkeypatch.setattr(Capability, "glance", None)
    assert found == [check(text) for text in texts]
