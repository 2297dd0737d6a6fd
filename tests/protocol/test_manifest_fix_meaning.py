"""Fix-all never changes what a manifest means: numbers, members and findings before and after, and the second time."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aurora_manifest.findings import Edit, Finding, Fix
from aurora_manifest.fix_all import Fixed, edited, fix_all
from aurora_manifest.json.parser import parse
from tests.manifests import check, damaged, manifest, mutated
from tests.protocol.rule_cases import BASE, patched, spelt, update
from tests.shares import examples, long


def fixed(text: str) -> Fixed:
    return fix_all(text, check)


def suggestions(document: Any) -> set[str]:
    """What comes of a manifest by each single way that is offered to mend something in it."""
    text = spelt(document)
    found = [fix for each in check(text) for fix in (each.fix, *each.others) if fix is not None]
    return {edited(text, fix.edits) for fix in found}


signs = st.sampled_from(("", "+", "-"))
digits = st.text("0123456789", min_size=1, max_size=8)
numbers = st.one_of(
    st.tuples(signs, digits).map("".join),
    st.tuples(signs, digits, st.just("."), digits | st.just("")).map("".join),
    st.tuples(signs, st.just("."), digits).map("".join),
    st.tuples(signs, digits, st.sampled_from("eE"), signs, st.text("0123456789", min_size=1, max_size=2)).map("".join),
    st.tuples(signs, st.sampled_from(("0x", "0X")), st.text("0123456789abcdefABCDEF", min_size=1)).map("".join),
)


def amount(text: str) -> Decimal:
    """Exact value of a number in any of the spellings above."""
    sign = -1 if text.startswith("-") else 1
    bare = text.lstrip("+-")
    return sign * (Decimal(int(bare, 16)) if bare[:2].lower() == "0x" else Decimal(bare))


@pytest.mark.parametrize("number", ["+1005", ".1001", "-.1001", "5.", "0x1F", "-0x10", "+1.50e+05", ".0"])
def test_a_number_spelt_as_json_does_not_is_the_same_number_after(number: str) -> None:
    after = json.loads(fixed(f'{{"a": {number}}}').text, parse_int=Decimal, parse_float=Decimal)
    assert after == {"a": amount(number)}


@settings(max_examples=examples(300), deadline=None)
@given(numbers, st.booleans())
def test_the_value_of_a_number_stays(number: str, listed: bool) -> None:
    before, after = ("[1, ", "]") if listed else ('{"v": ', "}")
    text = fixed(before + number + after).text
    assert amount(text[len(before) : -len(after)]) == amount(number)
    for finding in check(before + number + after):
        if finding.fix is not None and finding.rule == "json-syntax":
            mended = edited(before + number + after, finding.fix.edits)
            assert amount(mended[len(before) : -len(after)]) == amount(number)


def test_a_number_where_a_text_belongs_keeps_its_sign() -> None:
    text = spelt(BASE).replace('"List all notes."', "+41791234").replace('"1.0"', "1.0")
    after = json.loads(fixed(text).text)
    assert after["capabilities"]["list_notes"]["description"] == 41791234, "quotes around it are for its author"
    assert after["version"] == "1.0"


def test_a_number_that_is_told_of_is_put_right_all_the_same() -> None:
    text = spelt(BASE).replace('"v": 1', '"v": .472', 1)
    assert '"v": 0.472' in fixed(text).text


@pytest.mark.parametrize("number", ["007", "0123", "010", "1_000", "1,000"])
def test_digits_that_may_mean_something_else_are_left(number: str) -> None:
    text = f'{{"a": {number}}}'
    assert fixed(text).text == text


def test_a_capability_that_was_pasted_twice_and_changed_is_not_taken_out() -> None:
    text = spelt(BASE)
    copy = json.dumps({**BASE["capabilities"]["list_notes"], "description": "List the newest notes."})
    twice = text.replace('"update_note": {', f'"list_notes": {copy}, "update_note": {{', 1)
    assert twice != text and fixed(twice).text == twice
    (found,) = [each for each in check(twice) if each.rule == "json-duplicate-key"]
    offered = [json.loads(edited(twice, each.edits)) for each in found.others]
    kept = [next(iter(each["capabilities"].values()))["description"] for each in offered]
    assert sorted(kept) == ["List all notes.", "List all notes.", "List the newest notes."]
    assert any("list_notes_2" in each["capabilities"] for each in offered)


def test_a_capability_that_was_pasted_twice_is_taken_out_once() -> None:
    text = spelt(BASE)
    copy = json.dumps(BASE["capabilities"]["list_notes"])
    twice = text.replace('"update_note": {', f'"list_notes": {copy}, "update_note": {{', 1)
    assert json.loads(fixed(twice).text) == BASE and twice != text


def test_a_routers_variable_gets_no_encoding() -> None:
    document = patched(BASE, update({"action": {"method": "DELETE", "urlTemplate": "/notes/:id"}}))
    assert fixed(spelt(document)).text == spelt(document)
    assert not any('"encoding": "query"' in each and ":id" in each for each in suggestions(document))
    assert any("/notes/{id}" in each for each in suggestions(document))


@pytest.mark.parametrize("written", ["{{id}}", "<id>", ":id"])
def test_a_variable_of_another_language_is_suggested_as_ours_or_left(written: str) -> None:
    document = patched(BASE, update({"action": {"urlTemplate": f"/notes/{written}/rest"}}))
    assert fixed(spelt(document)).text == spelt(document)
    templates = {
        json.loads(each)["capabilities"]["update_note"]["action"]["urlTemplate"] for each in suggestions(document)
    }
    assert "/notes/{id}/rest" in templates
    assert templates <= {"/notes/{id}/rest", f"/notes/{written}/rest"}


@pytest.mark.parametrize(
    "patch",
    [
        {"version": "2.0"},
        {"site": {"url": "http://notes.example.com"}},
        {"site": {"url": "https://notes.example.com/?a=1"}},
        {"site": {"Name": "Old name"}},
        {"policy": {"rateLimit": {"limit": 1.5}}},
        update({"v": 1.5}),
        update({"description": 41791234}),
        update({"id": "change_note"}),
        update({"action": {"type": "GRPC"}}),
        update({"action": {"parameterMapping": {"txt": "/text", "text": None}}}),
        update({"action": {"parameterMapping": {"text": "text"}}}),
        update({"action": {"urlTemplate": "/notes/{id}{?text,text}"}}),
        update({"action": {"urlTemplate": "/notes/100%/{id}"}}),
        update({"action": {"urlTemplate": "notes/{id}"}}),
        update({"action": {"method": "DELETE", "encoding": "json"}}),
        update({"parameters": {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}}}),
        update({"parameters": {"properties": {"text": {"minLength": 5, "maxLength": 2}}}}),
        update({"parameters": {"properties": {"text": {"type": "date"}}}}),
        update({"parameters": {"properties": {"text": {"enum": ["a", 1]}}}}),
        update({"parameters": {"required": ["id", "txt"]}}),
    ],
)
def test_what_only_its_author_can_decide_is_left(patch: Any) -> None:
    text = spelt(patched(BASE, patch))
    assert fixed(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        '{"url": https://notes.example/a, "b": 1}',
        '{"colour": #fff, "b": 1}',
        '{"a": 1, "pattern": "^\\d+$"}',
        '{"a": ["one" "two"]}',
        '{"a": [1 000]}',
        '{"a": [1,,2]}',
        '{"country": no}',
        '{"a" "b"}',
        '{a?: {"x": 1}, "b": 2}',
        '{"a": 1,\n"param\\\neters": {\n"type": "object"\n}\n}',
    ],
)
def test_text_that_can_be_read_in_two_ways_is_left(text: str) -> None:
    assert fixed(text).text == text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("{'a': 'it\"s'}", {"a": 'it"s'}),
        ("{a: 1, 'b': [True, NULL, False,],}", {"a": 1, "b": [True, None, False]}),
        ('{"a": 1 /* one */, // two\n "b" = 2; "c": {} "d": []}', {"a": 1, "b": 2, "c": {}, "d": []}),
        ('{"a": "x\ty", "b": +.5}', {"a": "x\ty", "b": 0.5}),
        ('{"a": 1,, "b": 2}', {"a": 1, "b": 2}),
        ('{a/* c */: {"x": 1},\n"b": 2}', {"a": {"x": 1}, "b": 2}),
        ("{'a': 1, b // two\n: 2, c # three\n: .5}", {"a": 1, "b": 2, "c": 0.5}),
    ],
)
def test_other_spellings_of_json_become_json(text: str, meant: Any) -> None:
    assert json.loads(fixed(text).text) == meant


@pytest.mark.parametrize("word", ["None", "nil", "undefined", "no"])
def test_a_word_for_nothing_may_mean_that_the_member_is_left_out(word: str) -> None:
    assert fixed(f'{{"a": {word}}}').text == f'{{"a": {word}}}'


def keys(findings: tuple[Finding, ...] | list[Finding]) -> list[tuple[str, str]]:
    return sorted((each.rule, each.message) for each in findings)


def holds(text: str) -> Fixed:
    """The properties of fix-all for one text."""
    before, done = check(text), fixed(text)
    known = keys(before)
    for each in keys(done.left):
        assert each in known, (each, text)
        known.remove(each)
    assert edited(text, done.edits) == done.text
    again = fixed(done.text)
    assert (again.text, again.applied) == (done.text, ()), text
    assert list(done.left) == check(done.text)
    return done


@pytest.mark.parametrize("seed", [0, *map(long, (1, 2, 3))])
def test_fixing_brings_nothing_new_and_a_second_time_changes_nothing(seed: int) -> None:
    chance = random.Random(seed)
    bases = [spelt(BASE), json.dumps(manifest(2), indent=2)]
    mended = 0
    for _ in range(40):
        text = chance.choice(bases)
        if chance.random() < 0.5:
            text = spelt(mutated(json.loads(text), chance))
        for old, new in chance.sample(_SLIPS, 3):
            text = text.replace(old, new, chance.choice((1, 2)))
        if chance.random() < 0.5:
            text = damaged(text, chance)
        mended += bool(holds(text).applied)
    assert mended > 10


_SLIPS = [
    ('"GET"', '"get"'), ('"PUT"', "'PUT'"), ('"v": 1', '"v": "1"'), ('"v": 1', '"v": +1'), ('"AURA"', '"Aura"'),
    ('"type": "string"', '"type": "str"'), ('"type": "object"', "type: 'object'"), ("}", ",}"), ('"1.0"', "1.0"),
    (": {", " {"), (",", ";"), ("60", ".60"), ('"id"', '"id" '), ("{id}", "{id*}"), ('["id"]', '["id", "id"]'),
    ("{id}", "{ id }"), ("true", "True"), ("false", "'false'"), ("{", "{ // so\n"), ('"cookie"', '"Cookie"'),
]  # fmt: skip


@settings(max_examples=examples(100), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(("1", "2", "1.0", '{"x": 1}', '{"x":1}', '{"x": 2}', "[]"))),
        max_size=6,
    )
)
def test_no_member_that_differs_is_removed(members: list[tuple[str, str]]) -> None:
    text = "{" + ", ".join(f'"{name}": {value}' for name, value in members) + "}"
    left = fixed(text).text
    pairs: list[tuple[str, str]] = []
    json.loads(left, object_pairs_hook=lambda each: pairs.extend((a, repr(b)) for a, b in each) or dict(each))
    kept = {name for name, _ in pairs}
    for name, value in members:
        assert name in kept
        here = [json.dumps(json.loads(other)) for also, other in members if also == name]
        there = [other for also, other in pairs if also == name]
        assert len(set(here)) <= len(there), (text, left)
        assert value in text
    one, other = parse(text).root, parse(left).root
    assert one is not None and other is not None and one.value == other.value


def test_a_number_that_another_finding_tells_of_is_put_right_as_well() -> None:
    document = spelt(BASE).replace('"type": "string"', '"type": "string", "pattern": +309526', 1)
    assert "+309526" in document
    assert '"pattern": 309526' in fixed(document).text


def test_a_fix_that_does_harm_is_not_met_again_for_every_other_one() -> None:
    """The first fix of all brings a finding about: a text is looked at some dozens of times, and all others made."""
    text = "x" + "a" * 300
    looks = 0

    def finds(text: str) -> list[Finding]:
        nonlocal looks
        looks += 1
        found = [
            Finding(
                "r", "error", f"{place} {char}", "", place, place + 1, Fix("t", (Edit(place, place + 1, "b"),), True)
            )
            for place, char in enumerate(text)
            if char in "xa" and place % 2 == 0
        ]
        return found + ([] if "x" in text else [Finding("n", "error", "harm", "", 0, 1)])

    done = fix_all(text, finds)
    assert done.text == "x" + "ab" * 150
    assert looks < 40


def test_what_a_variable_is_follows_from_no_type_that_is_told_twice() -> None:
    text = (
        '{"capabilities": {"find": {"id": "find", "v": 1, "description": "d", "parameters": {"properties": {"tags": '
        '{"type": "array"\n "type": "string", "items": {}}}}, "action": {"type": "HTTP", "method": "GET", '
        '"urlTemplate": "/notes{?tags*}", "encoding": "query", "parameterMapping": {"tags": "/tags"}}}}}'
    )
    assert "{?tags*}" in fixed(text).text


@pytest.mark.parametrize(
    ("rule", "put", "is_made"),
    [
        pytest.param("json-value", "[1, 2", True, id="as many problems as before, and the same value"),
        pytest.param("json-value", "[1, 2]", True, id="fewer problems, and the same value"),
        pytest.param("json-value", "[+1, 2", False, id="the same value, and more problems than before"),
        pytest.param("json-value", "[1, 3]", False, id="fewer problems, and another value"),
        pytest.param("other", "[+1, 2", True, id="a fix of anything but JSON is not held against how it reads"),
    ],
)
def test_a_fix_of_broken_json_leaves_its_value_and_no_more_problems_than_before(
    rule: str, put: str, is_made: bool
) -> None:
    """The check itself finds no harm: only how the text reads before and after can tell."""
    text = "[1,2"

    def finds(each: str) -> list[Finding]:
        return [Finding(rule, "error", "m", "", 0, 4, Fix("t", (Edit(0, 4, put),), True))] if each == text else []

    assert fix_all(text, finds).text == (put if is_made else text)
