"""Fixes of findings, applied until none is left."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from aurora_manifest.findings import Edit, Finding, Fix, finding
from aurora_manifest.fix_all import MAX_ROUNDS, apart, edited, fix_all
from tests.manifests import check
from tests.protocol.rule_cases import BASE


def replacing(text: str, old: str, new: str, rule: str) -> Iterator[Finding]:
    start = text.find(old)
    while start >= 0:
        end = start + len(old)
        yield finding(rule, f"{old} is {new}", "", start, end, fix=Fix(f"Write {new}", (Edit(start, end, new),), True))
        start = text.find(old, end)


def test_all_that_lie_apart_are_made_at_once_and_what_then_shows_is_mended_too() -> None:
    def check(text: str) -> list[Finding]:
        return [*replacing(text, "aa", "b", "doubled"), *replacing(text, "bb", "c", "doubled-again")]

    fixed = fix_all("aaaa 😀 aa", check)
    assert fixed.text == "c 😀 b"
    assert [each.rule for each in fixed.applied] == ["doubled", "doubled", "doubled", "doubled-again"]
    assert fixed.left == ()


def test_fixes_that_undo_each_other_are_not_made() -> None:
    def check(text: str) -> list[Finding]:
        return [*replacing(text, "x", "y", "no-x"), *replacing(text, "y", "x", "no-y")]

    fixed = fix_all("x", check)
    assert (fixed.text, len(fixed.applied), len(fixed.left)) == ("x", 0, 1)


def test_fixes_that_never_end_are_stopped() -> None:
    def check(text: str) -> list[Finding]:
        return [finding("longer", "too short", "", 0, 0, fix=Fix("Add", (Edit(0, 0, "a"),), True))]

    assert fix_all("", check).text == "a" * MAX_ROUNDS


def action(template: str, mapped: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "HTTP",
        "method": "GET",
        "urlTemplate": template,
        **more,
        "parameterMapping": {mapped: "/post-id"},
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (action("/p/{post_id}", "post-id"), action("/p/{post_id}", "post_id")),
        (action("/p/{post_id}", "postId"), action("/p/{postId}", "postId")),
        (
            action("/p/{post_id}", "post-id", parameterLocation={"post-id": "path"}),
            action("/p/{post_id}", "post_id", parameterLocation={"post_id": "path"}),
        ),
    ],
)
def test_a_variable_and_a_mapped_name_that_look_alike_are_made_one(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    """Never by a name that no template can have, and without an `encoding` for what then has its place."""
    manifest = copy.deepcopy(BASE)
    one = manifest["capabilities"]["list_notes"]
    one["parameters"] = {"type": "object", "required": ["post-id"], "properties": {"post-id": {"type": "string"}}}
    one["action"] = before
    manifest["resources"]["notes"]["uriPattern"] = after["urlTemplate"]
    text = json.dumps(manifest)
    while offered := [each.fix for each in check(text) if each.fix]:
        text = edited(text, offered[0].edits)
    assert json.loads(text)["capabilities"]["list_notes"]["action"] == after
    assert [each.message for each in check(text) if each.severity in ("error", "warning")] == []


def test_findings_without_a_fix_change_nothing() -> None:
    found = finding("bad", "it is bad", "", 0, 1)
    fixed = fix_all("b", lambda _: [found])
    assert (fixed.text, fixed.applied, fixed.left) == ("b", (), (found,))


def test_a_fix_of_several_edits_is_made_whole_or_not_at_all() -> None:
    swap = finding("swap", "", "", 0, 5, fix=Fix("", (Edit(0, 1, "B"), Edit(4, 5, "A")), True))
    inside = finding("in", "", "", 2, 3, fix=Fix("", (Edit(2, 3, "-"),), True))
    over = finding("over", "", "", 3, 5, fix=Fix("", (Edit(2, 5, ""), Edit(6, 7, "")), True))
    assert apart([swap, inside, over]) == [swap, inside]
    assert edited("abcde", [edit for each in (swap, inside) for edit in each.fix.edits if each.fix]) == "Bb-dA"


def test_chosen_edits_never_touch() -> None:
    chance = random.Random(7)
    for _ in range(300):
        findings = []
        for _ in range(chance.randrange(12)):
            start = chance.randrange(40)
            end = start + chance.randrange(5)
            findings.append(finding("r", "", "", start, end, fix=Fix("", (Edit(start, end, ""),), True)))
        edits = sorted((edit.start, edit.end) for each in apart(findings) if each.fix for edit in each.fix.edits)
        assert all(one[1] < other[0] for one, other in pairwise(edits))
        refused = [each for each in findings if each not in apart(findings)]
        for each in refused:
            assert any(start <= each.end and each.start <= end for start, end in edits)
