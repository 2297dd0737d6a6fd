"""Hover, examples, outline, folds, selections, layout, links, lenses and actions of manifests."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import msgspec
import pytest

from aurora_manifest.check import check_document
from aurora_manifest.editing.actions import actions, fix_all_edits
from aurora_manifest.editing.completion import complete
from aurora_manifest.editing.cursor import cursor_at
from aurora_manifest.editing.examples import example_of, example_value
from aurora_manifest.editing.hover import hover_at
from aurora_manifest.editing.layout import MAX_EDITS, LayoutStyle, laid_out
from aurora_manifest.editing.lenses import hints, lenses
from aurora_manifest.editing.links import links
from aurora_manifest.editing.occurrences import named_at
from aurora_manifest.editing.outline import outline
from aurora_manifest.editing.spans import folds, selections
from aurora_manifest.findings import Finding
from aurora_manifest.fix_all import edited
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from aurora_manifest.rules import documentation
from aurora_protocol.positions import LineIndex
from tests.growth import grows_with_length
from tests.manifests import check, damaged, manifest
from tests.protocol.cursors import marked
from tests.shares import long

TEXT = """{
  "site": {"name": "Notes", "url": "https://notes.example"},
  "resources": {
    "note": {"uriPattern": "/n/{id}", "operations": {
      "GET": {"capabilityId": "read"}, "PUT": {"capabilityId": "change"}
    }}
  },
  "capabilities": {
    "read": {
      "description": "Reads *one* note.",
      "parameters": {"properties": {"id": {"type": "string", "description": "Which note."}}},
      "action": {"method": "GET", "urlTemplate": "/n/{id}", "parameterMapping": {"id": "/id"}}
    },
    "change": {
      "parameters": {"properties": {"id": {"type": "integer"}, "text": {"type": "string", "enum": ["a", "b"]}}},
      "action": {"method": "PUT", "urlTemplate": "/n/{id}", "parameterMapping": {"id": "/id", "text": "/text"}}
    },
    "lost": {"action": {"method": "GET", "urlTemplate": "https://elsewhere.example/{x", "parameterMapping": {}}}
  }
}"""


def at(before: str, after: str) -> tuple[Manifest, int]:
    assert TEXT.count(before + after) == 1, before + after
    return marked(TEXT.replace(before + after, f"{before}|{after}"))


def told(before: str, after: str) -> str:
    found = hover_at(*at(before, after))
    return found.text if found else ""


# Hover


def test_a_member_is_explained_by_the_schema() -> None:
    found = hover_at(*at('"uriP', 'attern"'))
    assert found is not None and "**uriPattern** — string, required" in found.text
    assert TEXT[found.start : found.end] == '"uriPattern"'
    assert "Where the resource is found" in found.text


def test_a_use_tells_the_capability_and_its_request() -> None:
    text = told('{"capabilityId": "ch', 'ange"')
    assert "**change** — `PUT /n/{id}`" in text
    assert "used by `note` (PUT)" in text
    assert 'PUT https://notes.example/n/1\nContent-Type: application/json\n\n{\n  "text": "a"\n}' in text


def test_a_capability_tells_its_description_as_it_is() -> None:
    assert "Reads \\*one\\* note." in told('    "re', 'ad": {')


def test_a_url_template_tells_its_expansion() -> None:
    assert "GET https://notes.example/n/id" in told('"method": "GET", "urlT', 'emplate": "/n/{id}"')


def test_a_template_without_a_request_says_why() -> None:
    assert "No request can be made of it: lost: its urlTemplate is no URI template" in told('"los', 't"')


def test_a_variable_tells_its_parameter() -> None:
    text = told('"GET", "urlTemplate": "/n/{i', 'd}"')
    assert "**id** — parameter" in text and "Which note." in text


def test_a_finding_is_explained_by_the_documentation_of_its_rule() -> None:
    manifest, offset = at('"GET": {"capabilityId": "re', 'ad"')
    finding = next(each for each in check(TEXT) if each.rule == "schema-required")
    found = hover_at(manifest, finding.start, findings=[finding], documentation=documentation)
    assert found is not None and found.text.startswith("**schema-required** — error\n\n")
    assert hover_at(manifest, offset, findings=[finding], documentation=lambda rule: "!") != found


def explained(*findings: Finding, offset: int = 0) -> list[str]:
    """The rules that a hover over an empty manifest explains."""
    found = hover_at(Manifest(parse("{  }")), offset, findings=findings, documentation=lambda rule: f"about {rule}")
    parts = found.text.split("\n\n---\n\n") if found else []
    return [part.partition("about ")[2] for part in parts if "about " in part]


def test_of_many_rules_broken_at_one_place_the_first_two_are_explained_each_once() -> None:
    rules = [Finding(rule, "warning", f"m{n}", "", 0, 4) for n, rule in enumerate(("a", "a", "b", "c"))]
    assert explained(*rules) == ["a", "b"]


def test_a_finding_is_explained_from_its_start_to_its_end_and_one_of_no_width_at_its_place() -> None:
    wide, narrow = Finding("a", "warning", "m", "", 1, 3), Finding("b", "warning", "m", "", 2, 2)
    assert [explained(wide, offset=offset) for offset in range(5)] == [[], ["a"], ["a"], ["a"], []]
    assert [explained(narrow, offset=offset) for offset in range(5)] == [[], [], ["b"], ["b"], []]


def test_nothing_is_told_between_things() -> None:
    assert hover_at(*marked("{ | }")) is None
    assert hover_at(*marked("|")) is None


# Examples


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, "name"),
        ({"type": "string", "format": "email"}, "user@example.com"),
        ({"type": "string", "minLength": 6}, "namena"),
        ({"type": "string", "maxLength": 2}, "na"),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "number", "maximum": 0}, 0),
        ({"type": "boolean"}, True),
        ({"enum": ["x", "y"]}, "x"),
        ({"default": 7}, 7),
        ({"examples": [3]}, 3),
        ({"enum": ["x", "y"], "examples": ["y"], "const": "x", "default": "x"}, "y"),
        ({"enum": ["x", "y"], "default": "y"}, "x"),
        ({"const": 1, "default": 2}, 1),
        ({"const": "", "default": 2}, 2),
        ({"examples": [], "enum": "x", "default": [], "type": "null"}, None),
        ({"type": "array", "examples": None}, ["name"]),
        ({"properties": {"a": {}}}, {"a": "a"}),
        ({"type": "array", "items": {"type": "integer"}}, [1]),
        ({"type": ["object", "null"], "properties": {"a": {"const": "b"}}}, {"a": "b"}),
        (True, "name"),
        ({"type": "string", "minLength": 10**9}, "name"),
    ],
)
def test_example_values_fit_their_schema(schema: object, value: object) -> None:
    assert example_value(schema, "name", 0) == value


def test_an_example_is_a_command_as_well() -> None:
    manifest = Manifest(parse(TEXT))
    command = example_of(manifest, manifest.capabilities["change"]).command
    assert command.startswith("curl -X PUT -H 'Content-Type: application/json' --data '{")
    assert command.endswith("}' https://notes.example/n/1")


def test_every_capability_of_a_real_manifest_has_an_example() -> None:
    whole = Manifest(parse(json.dumps(manifest(8))))
    assert [each.name for each in whole.capabilities.values() if example_of(whole, each).problem] == []


# Outline, folds, selections


def test_the_outline_is_nested_and_in_order() -> None:
    entries = outline(Manifest(parse(TEXT)))
    assert [(each.name, each.kind) for each in entries] == [
        ("site", "site"),
        ("resources", "group"),
        ("capabilities", "group"),
    ]
    (note,) = entries[1].children
    assert (note.detail, [(each.name, each.detail) for each in note.children]) == (
        "/n/{id}",
        [("GET", "read"), ("PUT", "change")],
    )
    change = entries[2].children[1]
    assert change.detail == "PUT /n/{id}"
    assert [(each.name, each.kind, each.detail) for each in change.children] == [
        ("id", "parameter", "integer"),
        ("text", "parameter", "string"),
        ("action", "action", "PUT /n/{id}"),
    ]
    assert TEXT[change.name_start : change.name_end] == '"change"' and TEXT[change.end - 1] == "}"


def test_what_stands_beside_a_name_in_the_outline() -> None:
    text = (
        '{"site": {"name": "Notes", "url": "https://x.y"}, "policy": {"authHint": "cookie"}, "x": {"name": "X"},'
        ' "v": 1, "n": null, "l": [1]}'
    )
    entries = outline(Manifest(parse(text)))
    assert [(each.name, each.kind, each.detail) for each in entries] == [
        ("site", "site", "Notes"),
        ("policy", "policy", ""),
        ("x", "group", "X"),
        ("v", "member", "1"),
        ("n", "member", ""),
        ("l", "member", ""),
    ]
    assert [(each.name, each.detail) for each in entries[0].children] == [("name", "Notes"), ("url", "https://x.y")]


def test_the_outline_of_half_a_manifest_has_no_empty_name() -> None:
    entries = outline(Manifest(parse('{"capabilities": {"": {"action": }, "a": 5')))
    assert [each.name for each in entries[0].children] == ['""', "a"]


def test_objects_arrays_and_comments_fold() -> None:
    text = '// one\n// two\n{\n  "a": [\n    1\n  ],\n  /* x\n  y */\n  "b": {"c": 1},\n  "d": {\n}'
    assert [(each.start_line, each.end_line, each.comment) for each in folds(parse(text), LineIndex(text))] == [
        (0, 1, True),
        (2, 9, False),
        (3, 4, False),
        (6, 7, True),
    ]


def test_selections_grow_from_the_content_outwards() -> None:
    manifest, offset = marked('{"a": ["b", {"key": "val|ue"}]}')
    text = manifest.document.text
    assert [text[start:end] for start, end in selections(manifest.document, offset)] == [
        "value",
        '"value"',
        '"key": "value"',
        '{"key": "value"}',
        '"b", {"key": "value"}',
        '["b", {"key": "value"}]',
        '"a": ["b", {"key": "value"}]',
        text,
    ]
    manifest, offset = marked('{"k|ey": 1} ')
    assert [manifest.document.text[start:end] for start, end in selections(manifest.document, offset)] == [
        "key", '"key"', '"key": 1', '{"key": 1}', '{"key": 1} ',
    ]  # fmt: skip


# Layout


def formatted(text: str, unit: str = "  ") -> str:
    return edited(text, laid_out(parse(text), LayoutStyle(unit)))


@pytest.mark.parametrize("indent", [2, 4, "\t"])
def test_one_line_becomes_what_json_writes(indent: int | str) -> None:
    document = manifest(3)
    unit = indent if isinstance(indent, str) else " " * indent
    assert formatted(json.dumps(document), unit) == json.dumps(document, indent=indent)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n"b":1,\n\n\n\n"a" :[ ]}', '{\n  "b": 1,\n\n  "a": []\n}'),
        ('{\n"a": { "b":1,"c":2 }}', '{\n  "a": { "b": 1, "c": 2 }\n}'),
        ('{\n"a":{"b":{"c":1}}}', '{\n  "a": {\n    "b": {"c": 1}\n  }\n}'),
        ('{\r\n"a":1}\r\n', '{\r\n  "a": 1\r\n}\r\n'),
        ('\ufeff  {"a":"📝"\n}', '\ufeff{\n  "a": "📝"\n}'),
        (
            '{ // one\n"a":1, // two\n/* three */ "b":[ // four\n2]\n}// five',
            '{ // one\n  "a": 1, // two\n  /* three */ "b": [ // four\n    2\n  ]\n} // five',
        ),
        ('{\n"a": 1.0e5,\n"b": "\\u00e9 {,}"}', '{\n  "a": 1.0e5,\n  "b": "\\u00e9 {,}"\n}'),
        ("5", "5"),
    ],
)
def test_only_space_changes(before: str, after: str) -> None:
    assert formatted(before) == after
    assert formatted(after) == after


@pytest.mark.parametrize("text", ['{"a":1', '{"a":1,}', '{"a" 1}', "", "{a:1}", '{"a":"b}', "[1,2"])
def test_broken_texts_are_left_alone(text: str) -> None:
    assert laid_out(parse(text), LayoutStyle()) == []


def test_a_line_that_is_right_is_not_touched() -> None:
    text = '{\n  "a": 1,\n    "b": 2,\n  "c": 3\n}'
    (only,) = laid_out(parse(text), LayoutStyle())
    assert text[only.start : only.end] == "\n    " and only.text == "\n  "
    end = text.index('"b"')
    assert laid_out(parse(text), LayoutStyle(), 0, end - 6) == []


def test_a_great_many_edits_become_one() -> None:
    text = json.dumps(manifest(100))
    edits = laid_out(parse(text), LayoutStyle())
    assert len(edits) == 1 < MAX_EDITS and formatted(text) == json.dumps(manifest(100), indent=2)


@pytest.mark.parametrize("seed", [*range(10), *map(long, range(10, 40))])
def test_layout_keeps_every_value_of_texts_with_comments(seed: int) -> None:
    chance = random.Random(seed)
    text = json.dumps(manifest(2), indent=chance.choice([None, 1, 3, "\t"]))
    pieces = [each + chance.choice(["", "", " ", "\n", "/*x*/", "//y\n"]) if each in ",{[" else each for each in text]
    if '"' in "".join(pieces) and "".join(pieces) != text:
        quotes = 0
        for index, each in enumerate(text):
            quotes += each == '"' and (index == 0 or text[index - 1] != "\\")
            if quotes % 2:
                pieces[index] = each
    changed = "".join(pieces)
    after = formatted(changed)
    before, now = parse(changed), parse(after)
    assert before.root is not None and now.root is not None and before.root.value == now.root.value
    assert [each.rule for each in before.problems] == [each.rule for each in now.problems]
    assert formatted(after) == after


# Links, lenses, actions


def test_links_open_what_can_be_opened() -> None:
    text = '{"$schema": "./schema.json", "id": "urn:x", "site": {"url": "https://notes.example"}}'
    found = links(Manifest(parse(text)), "file:///w/aura.json")
    assert [(each.target, text[each.start : each.end]) for each in found] == [
        ("file:///w/schema.json", "./schema.json"),
        ("https://notes.example", "https://notes.example"),
    ]
    for bad in (
        '"javascript:alert(1)"',
        '"https://"',
        '"http://[x"',
        "5",
        '""',
        '"file:///etc/passwd"',
        '"//host/share"',
    ):
        assert links(Manifest(parse(f'{{"$schema": {bad}}}')), "file:///w/aura.json") == [], bad


def test_lenses_count_resources_and_offer_a_try_where_there_is_a_request() -> None:
    found = lenses(Manifest(parse(TEXT)))
    assert [(each.capability, each.resources, each.can_be_called) for each in found] == [
        ("read", 1, True),
        ("change", 1, True),
        ("lost", 0, True),
    ]


def test_hints_show_the_address_behind_its_template() -> None:
    whole = Manifest(parse(TEXT))
    found = hints(whole, 0, len(TEXT))
    assert [each.text for each in found] == ["→ https://notes.example/n/id", "→ https://notes.example/n/1"]
    assert TEXT[found[0].offset - 9 : found[0].offset] == '"/n/{id}"'
    assert hints(whole, 0, TEXT.index('"capabilities"')) == []


def test_a_template_that_is_the_address_itself_has_no_hint() -> None:
    address = "https://notes.example/all"

    def template(text: str) -> str:
        action = {"method": "GET", "urlTemplate": text, "parameterMapping": {}}
        return json.dumps({"site": {"url": "https://notes.example"}, "capabilities": {"all": {"action": action}}})

    assert hints(Manifest(parse(template(address))), 0, 999) == []
    assert [each.text for each in hints(Manifest(parse(template("/all"))), 0, 999)] == [f"→ {address}"]


def test_hints_are_those_of_templates_that_are_on_the_screen_in_part() -> None:
    whole = Manifest(parse(TEXT))
    begin = TEXT.index('"/n/{id}", "parameterMapping": {"id": "/id"}}')
    end = begin + len('"/n/{id}"')
    assert [len(hints(whole, *span)) for span in ((end, end), (begin, begin), (end + 1, end + 2), (0, begin - 1))] == [
        1,
        1,
        0,
        0,
    ]


def test_a_fix_comes_first_and_mends_what_it_is_about() -> None:
    text = json.dumps(manifest(2), indent=2).replace('"method": "GET"', '"metod": "GET"')
    document = parse(text)
    findings = check_document(document)
    wrong = next(each for each in findings if each.rule == "schema-unknown-member")
    first = actions(document, findings, wrong.start, wrong.end)[0]
    assert first.obvious and first.finding == wrong
    assert "schema-unknown-member" not in {each.rule for each in check(edited(text, first.edits))}


def test_every_rule_that_can_be_ignored_is_silent_after_its_action() -> None:
    text = json.dumps(manifest(3), indent=2).replace('"description": "A note.",', '"description": "", "extra": 1,')
    seen = set()
    for finding in check(text):
        document = parse(text)
        ignore = [each for each in actions(document, [finding], finding.start, finding.end) if not each.obvious]
        if finding.severity == "error":
            assert ignore == []
            continue
        seen.add(finding.rule)
        (only,) = ignore
        after = check(edited(text, only.edits))
        assert len([each for each in after if each.rule == finding.rule]) < len(
            [each for each in check(text) if each.rule == finding.rule]
        )
        assert {each.rule for each in after} <= {each.rule for each in check(text)}
    assert seen


def test_a_second_rule_joins_the_first_in_the_list() -> None:
    text = json.dumps(manifest(1), indent=2).replace('"protocol"', '"x-aurora-ignore": "policy", "protocol"')
    text = text.replace('"cors": true,', '"cors": true, "x-aurora-ignore": ["a"], "extra": 1,')
    found = next(each for each in check(text) if each.rule == "extension-name")
    (ignore,) = [each for each in actions(parse(text), [found], found.start, found.end) if not each.obvious]
    assert '"x-aurora-ignore": ["a", "extension-name"]' in edited(text, ignore.edits)


def test_fixing_all_makes_only_edits_that_lie_apart() -> None:
    text = json.dumps(manifest(9)).replace('"GET"', '"get"').replace('"cors": true', '"cors": "true"')
    edits = sorted(fix_all_edits(parse(text), check(text), check), key=lambda each: each.start)
    assert len(edits) >= 6 and all(one.end <= other.start for one, other in pairwise(edits))
    assert len(check(edited(text, edits))) < len(check(text))


@pytest.mark.parametrize("seed", [*range(12), *map(long, range(12, 60))])
def test_damaged_manifests_are_edited_without_a_crash(seed: int) -> None:
    chance = random.Random(seed)
    text = damaged(json.dumps(manifest(2), indent=1), chance)
    whole = Manifest(parse(text))
    findings = check(text)
    for offset in [chance.randrange(len(text) + 1) for _ in range(60)]:
        for proposal in complete(whole, offset):
            assert 0 <= proposal.start <= offset <= proposal.end <= len(text)
            assert "\n" not in text[proposal.start : proposal.end]
        named = named_at(whole, offset)
        assert named is None or named.here in named.occurrences
        hover_at(whole, offset, findings=findings, documentation=documentation)
        spans = selections(whole.document, offset)
        assert all(b <= a and c <= d for (a, c), (b, d) in pairwise(spans))
        cursor_at(whole.document, offset)
    (
        lenses(whole),
        hints(whole, 0, len(text)),
        outline(whole),
        folds(whole.document, whole.document.lines),
        links(whole, "file:///a"),
    )
    laid_out(whole.document, LayoutStyle()), actions(whole.document, findings, 0, len(text))


@pytest.mark.parametrize("piece", ["a", "a ", "{", "{a", '"', "/*", "//\n", "\\", "[", '{"a":', "é{", '"a":"{'])
@pytest.mark.long
def test_long_and_strange_texts_are_answered_in_time_that_grows_with_them(piece: str) -> None:
    def answer(pieces: int) -> None:
        text = '{"capabilities": {"a": {"action": {"urlTemplate": "' + piece * pieces
        whole = Manifest(parse(text))
        for offset in (60, len(text) // 2, len(text)):
            complete(whole, offset)
            hover_at(whole, offset)
            named_at(whole, offset)
            selections(whole.document, offset)
        folds(whole.document, LineIndex(text)), laid_out(whole.document, LayoutStyle())

    assert grows_with_length(answer, 2_500, 25_000)


def test_what_is_between_backticks_stays_there() -> None:
    text = TEXT.replace('"GET", "urlTemplate": "/n', '"GET", "urlTemplate": "`` /n')
    found = hover_at(*marked(text.replace('    "read"', '    "re|ad"')))
    assert found is not None and "**read** — ``` GET `` /n/{id} ```" in found.text


def test_half_a_surrogate_pair_can_be_told_of() -> None:
    half = "\\ud800"
    text = (
        TEXT.replace('"read"', f'"re{half}"').replace("Which note.", half).replace('"enum": ["a"', f'"enum": ["{half}"')
    )
    whole = Manifest(parse(text))
    msgspec.json.encode([outline(whole), lenses(whole), hints(whole, 0, len(text))])
    for offset in range(0, len(text), 5):
        msgspec.json.encode([hover_at(whole, offset), complete(whole, offset)])
