"""A checker that follows typing: what an edit left alone is neither read nor checked again."""

from __future__ import annotations

import json

import pytest

from aurora_manifest.check import Checker, CheckStopped, check
from aurora_manifest.json.scanner import parse
from aurora_manifest.rules import registry
from tests.manifests import manifest


def test_only_the_edited_capability_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(manifest(300), indent=2, ensure_ascii=False)
    checker = Checker()
    checker.check(checker.read(text))
    asked: list[object] = []
    rules = registry.ask
    monkeypatch.setattr(
        "aurora_manifest.check.ask",
        lambda some, *subject: (asked.append(subject[0]), rules(some, *subject))[1],
    )
    at = text.index('"Does something', text.index('"note_149": {')) + 1
    changed = f"{text[:at]}x{text[at:]}"
    found = checker.check(checker.read(changed))
    assert [each.name for each in asked if hasattr(each, "url_template")] == ["note_149"]
    assert found == check(changed)


@pytest.mark.parametrize("typed", ['"', "x", ",", ": ", "/*", "}", "]", '{"a": ', "\n"])
def test_an_edit_that_breaks_the_json_reads_what_a_whole_reading_reads(
    typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps(manifest(12), indent=2, ensure_ascii=False)
    checker = Checker()
    checker.check(checker.read(text))
    whole: list[str] = []
    monkeypatch.setattr(
        "aurora_manifest.json.incremental_parse.parse", lambda text: (whole.append(text), parse(text))[1]
    )
    places = range(text.index('"note_5": {') + 12, text.index('"note_6": {') - 12, 19)
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
