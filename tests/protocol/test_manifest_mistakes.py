"""Mistakes as people make them in aura.json: one finding each, where the mistake is, and fixes that cannot harm."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from aurora_manifest.findings import Finding
from aurora_manifest.fix_all import edited, fix_all
from tests import manifests

CASES = json.loads(Path(__file__).with_name("mistakes.json").read_text(encoding="utf-8"))
BASE = "\n".join(CASES["manifest"]) + "\n"
MISTAKES = [pytest.param(each, id=f"{each['after'][:40]!r}") for each in CASES["mistakes"]]


@cache
def check(text: str) -> list[Finding]:
    """Findings in a text, which is mostly the faultless one that a fix has made again."""
    return manifests.check(text)


def with_mistake(mistake: dict[str, str]) -> str:
    """The manifest with a text replaced, the first one that is below `within`."""
    before = mistake["before"]
    at = BASE.index(before, BASE.index(mistake.get("within", "")))
    return BASE[:at] + mistake["after"] + BASE[at + len(before) :]


def test_the_manifest_without_a_mistake_is_faultless() -> None:
    assert check(BASE) == []


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_finding_where_it_is(mistake: dict[str, str]) -> None:
    text = with_mistake(mistake)
    found = check(text)
    assert [each.rule for each in found] == [mistake["rule"]], [each.message for each in found]
    assert text[found[0].start : found[0].end] == mistake["at"]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_its_fixes_mend_it_and_what_is_made_unasked_makes_it_what_it_was(mistake: dict[str, str]) -> None:
    text = with_mistake(mistake)
    for each in check(text):
        for fix in (each.fix, *each.others):
            assert fix is None or check(edited(text, fix.edits)) == [], fix
    done = fix_all(text, check)
    assert done.text == text or json.loads(done.text) == json.loads(BASE)
    assert fix_all(done.text, check).text == done.text
