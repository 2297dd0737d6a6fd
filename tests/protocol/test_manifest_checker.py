"""A checker that follows typing: what an edit left alone is neither read nor checked again."""

from __future__ import annotations

import json

import pytest

from aurora_protocol.manifest.check import Checker, check
from aurora_protocol.manifest.rules import registry
from tests.manifests import manifest


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
