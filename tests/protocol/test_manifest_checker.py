"""A checker that follows typing: what an edit left alone is neither read nor checked again."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from aurora_manifest.check import Checker, CheckStopped
from aurora_manifest.findings import MAX_FINDINGS, Finding
from aurora_manifest.json.parser import parse
from aurora_manifest.rules import registry
from aurora_manifest.rules.subject import Subject
from tests.manifests import check, manifest
from tests.shares import examples, long


def test_only_the_edited_capability_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(manifest(30), indent=2, ensure_ascii=False)
    checker = Checker()
    checker.check(checker.read(text))
    asked: list[object] = []
    rules = registry.ask
    monkeypatch.setattr(
        "aurora_manifest.check.ask",
        lambda some, *subject: (asked.append(subject[0]), rules(some, *subject))[1],
    )
    at = text.index('"Does something', text.index('"note_13": {')) + 1
    changed = f"{text[:at]}x{text[at:]}"
    found = checker.check(checker.read(changed))
    assert [each.name for each in asked if hasattr(each, "url_template")] == ["note_13"]
    assert found == check(changed)


@pytest.mark.hypothesis
@pytest.mark.parametrize("typed", ['"', "x", ",", ": ", "/*", "}", "]", '{"a": ', "\n"])
def test_an_edit_that_breaks_the_json_reads_what_a_whole_reading_reads(
    typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps(manifest(3), indent=2, ensure_ascii=False)
    checker = Checker()
    checker.check(checker.read(text))
    whole: list[str] = []
    monkeypatch.setattr(
        "aurora_manifest.json.incremental_parse.parse", lambda text: (whole.append(text), parse(text))[1]
    )
    within = range(text.index('"note_1": {') + 12, text.index('"note_2": {') - 12)
    places = random.Random(typed).sample(within, examples(48))
    for at in places:
        changed = text[:at] + typed + text[at:]
        assert checker.check(checker.read(changed)) == check(changed)
    ends_elsewhere = typed in ("/*", "}", "]", '{"a": ')
    assert ends_elsewhere or len(whole) < len(places) // 2, "typing is read incrementally"


def test_a_check_nobody_waits_for_stops_and_the_next_one_is_whole() -> None:
    text = json.dumps(manifest(30)).replace('"v": 1', '"v": 0')
    checker, looks = Checker(), iter([False] * 10)
    with pytest.raises(CheckStopped):
        checker.check(checker.read(text), lambda: next(looks, True))
    assert checker.check(checker.read(text)) == check(text)


def _faulty(rng: random.Random) -> dict[str, Any]:
    """A manifest with mistakes that are told of its parts together."""
    document = manifest(6)
    capabilities, resources = document["capabilities"], document["resources"]
    for name in rng.sample(sorted(capabilities), 3):
        action = capabilities[name]["action"]
        match rng.randrange(6):
            case 0:
                action["urlTemplate"] = f"http://other.example{action['urlTemplate']}"
            case 1:
                action["method"] = rng.choice(["DELETE", "POST", "PATCH"])
            case 2:
                document["policy"] = {"authHint": "none"}
                capabilities[name]["parameters"] = {"type": "object", "properties": {"password": {"type": "string"}}}
            case 3:
                capabilities[name]["weird"] = 1
            case 4:
                action["urlTemplate"] = next(iter(capabilities.values()))["action"]["urlTemplate"]
            case _:
                operation = {"capabilityId": rng.choice(["nobody", *capabilities])}
                rng.choice(list(resources.values()))["operations"]["PUT"] = operation
    return document


@pytest.mark.parametrize("seed", [*range(10), *map(long, range(10, 30))])
def test_typing_anywhere_finds_what_a_first_look_finds(seed: int) -> None:
    rng = random.Random(seed)
    text = json.dumps(_faulty(rng), indent=rng.choice([None, 2]), ensure_ascii=False)
    checker = Checker()
    for _ in range(8):
        assert checker.check(checker.read(text)) == check(text)
        typed, described = rng.choice(["x", " ", "é", "password", "{", ""]), rng.random() < 0.6
        places = [each.start() for each in re.finditer("omething" if described else '"', text)]
        at = rng.choice(places or [text.index('"')]) + rng.randrange(2)
        text = f"{text[:at]}{typed}{text[at + (typed == '') :]}"


def test_words_typed_into_a_part_ask_no_rule_about_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    document = manifest(20)
    document["capabilities"]["note_3"]["action"]["urlTemplate"] = "http://other.example/notes"
    text = json.dumps(document, indent=2, ensure_ascii=False)
    checker = Checker()
    checker.check(checker.read(text))
    asked: list[object] = []
    rules = registry.ask
    monkeypatch.setattr(
        "aurora_manifest.check.ask",
        lambda some, *subject: (asked.append(subject[0]), rules(some, *subject))[1],
    )
    for capability in (1, 5, 12):
        at = text.index('"Does something', text.index(f'"note_{capability}": {{')) + 1
        text = f"{text[:at]}x{text[at:]}"
        found = checker.check(checker.read(text))
        assert found == check_with(text, rules)
        assert "url-insecure" in [each.rule for each in found]
    assert not any(isinstance(each, Subject) for each in asked)
    text = text.replace("http://other.example/notes", "http://other.example/noted")
    assert checker.check(checker.read(text)) == check_with(text, rules)
    assert any(isinstance(each, Subject) for each in asked), "an address is looked at with the others"


def check_with(text: str, ask: Callable[..., list[Finding]]) -> list[Finding]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("aurora_manifest.check.ask", ask)
        return check(text)


def test_an_edit_beside_capabilities_and_resources_is_looked_at_whole() -> None:
    text = json.dumps(manifest(2), indent=2)
    checker = Checker()
    assert checker.check(checker.read(text)) == []
    changed = text.replace('"url": "https:', '"url": "http:', 1)
    assert changed != text
    found = checker.check(checker.read(changed))
    assert found == check(changed) and [each.rule for each in found] == ["url-insecure"]


def test_one_rule_tells_so_much_and_does_not_keep_the_others_from_telling() -> None:
    def look(*_: object) -> Iterator[registry.RuleMatch]:
        return (registry.RuleMatch("m", (), 0, 1) for _ in range(MAX_FINDINGS + 1))

    many = msgspec.structs.replace(registry.RULES["capability-id"], look=look)
    assert len(registry.ask([many], None)) == MAX_FINDINGS
    assert len(registry.ask([many, many], None)) == 2 * MAX_FINDINGS
