"""Definition, references and rename of capability ids and parameters."""

from __future__ import annotations

import json

import pytest

from aurora_manifest.editing.occurrences import CannotRename, Named, named_at, renamed
from aurora_manifest.fix_all import edited
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from tests.manifests import reference_manifests
from tests.protocol.cursors import marked

TEXT = """{
  "resources": {
    "note": {"uriPattern": "/n/{id}", "operations": {
      "GET": {"capabilityId": "read"}, "PUT": {"capabilityId": "change"}
    }},
    "all": {"uriPattern": "/all", "operations": {"GET": {"capabilityId": "read"}}}
  },
  "capabilities": {
    "read": {
      "id": "read",
      "parameters": {
        "required": ["id"],
        "properties": {"id": {}, "by": {"required": ["id"], "properties": {"id": {}, "a/b": {}}}}
      },
      "action": {
        "urlTemplate": "/n/{id}{?who,at}",
        "parameterMapping": {"id": "/id", "who": "/by/id", "at": "/by/a~1b"},
        "parameterLocation": {"id": "path"}
      }
    },
    "change": {
      "parameters": {"properties": {"id": {}}},
      "action": {"urlTemplate": "/n/{id}", "parameterMapping": {"id": "/id"}}
    }
  }
}"""


def at(before: str, after: str, text: str = TEXT) -> Named | None:
    """What is named between two pieces of the text."""
    assert text.count(before + after) == 1, before + after
    return named_at(*marked(text.replace(before + after, f"{before}|{after}")))


def roles(named: Named | None) -> list[str]:
    assert named is not None
    assert [TEXT[each.start : each.end] for each in named.occurrences if each.role != "pointer"]
    return [each.role for each in named.occurrences]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"GET": {"capabilityId": "re', 'ad"}, "PUT"'),
        ('    "read', '": {\n'),
        ('"id": "r', 'ead"'),
        ('"id": "read', '"'),
    ],
)
def test_a_capability_is_named_by_its_key_its_id_and_its_uses(before: str, after: str) -> None:
    named = at(before, after)
    assert roles(named) == ["use", "use", "capability", "id"]
    assert named is not None and [each.role for each in named.definitions] == ["capability"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"required": ["i', 'd"],\n'),
        ('"properties": {"i', 'd": {}, "by"'),
        ('"/n/{i', "d}{?who"),
        ('{"i', 'd": "/id", "who"'),
        ('{"id": "/i', 'd", "who"'),
        ('"parameterLocation": {"i', 'd"'),
    ],
)
def test_a_parameter_is_one_name_wherever_it_stands(before: str, after: str) -> None:
    named = at(before, after)
    first = ["variable", "required", "property", "variable", "mapping", "pointer", "location"]
    assert roles(named) == [*first, "property", "variable", "mapping", "pointer"], "and in what shares the pattern"
    assert named is not None and [each.role for each in named.definitions] == ["property"]


def test_a_nested_argument_is_another_than_the_outer_one_of_the_same_name() -> None:
    assert roles(at('"required": ["i', 'd"], "properties"')) == ["required", "property", "pointer"]


def test_a_name_of_the_request_that_differs_from_the_arguments() -> None:
    named = at("{?wh", "o,at}")
    assert roles(named) == ["variable", "mapping"]
    assert named is not None and [each.role for each in named.definitions] == ["mapping"]


def test_a_variable_of_a_pattern_means_every_capability_of_the_resource() -> None:
    named = at('"uriPattern": "/n/{i', 'd}"')
    assert roles(named).count("property") == 2
    after = edited(TEXT, renamed(named, "note_id")) if named else ""
    assert json.loads(after)["capabilities"]["change"]["action"]["urlTemplate"] == "/n/{note_id}"


def test_a_variable_of_a_shared_pattern_is_renamed_in_every_capability_that_has_it() -> None:
    renames = [
        renamed(at(before, after) or pytest.fail("nothing is named"), "key")
        for before, after in (
            ('{"uriPattern": "/n/{i', 'd}"'),
            ('"urlTemplate": "/n/{i', "d}{?who"),
            ('"urlTemplate": "/n/{i', 'd}", "param'),
            ('"parameterMapping": {"i', 'd": "/id"}'),
            ('{"properties": {"i', 'd": {}}}'),
        )
    ]
    assert all(each == renames[0] for each in renames)
    after = json.loads(edited(TEXT, renames[0]))
    for name in ("read", "change"):
        assert after["capabilities"][name]["action"]["urlTemplate"].startswith("/n/{key}")
        assert after["capabilities"][name]["action"]["parameterMapping"]["key"] == "/key"
        assert "key" in after["capabilities"][name]["parameters"]["properties"]


def test_a_shared_variable_that_another_argument_fills_keeps_that_argument() -> None:
    text = TEXT.replace('{"properties": {"id": {}}}', '{"properties": {"nr": {}}}').replace(
        '"parameterMapping": {"id": "/id"}', '"parameterMapping": {"id": "/nr"}'
    )
    named = at('"urlTemplate": "/n/{i', "d}{?who", text)
    assert named is not None
    change = json.loads(edited(text, renamed(named, "key")))["capabilities"]["change"]
    assert change["action"] == {"urlTemplate": "/n/{key}", "parameterMapping": {"key": "/nr"}}
    assert list(change["parameters"]["properties"]) == ["nr"]


def test_nothing_is_named_elsewhere() -> None:
    assert at('"urlTemplate": "/', "n/{id}{?who") is None
    assert at('"uriPat', 'tern": "/all"') is None
    assert named_at(*marked("|")) is None


def test_renaming_a_capability_changes_nothing_else() -> None:
    named = at('    "read', '": {\n')
    assert named is not None
    after = edited(TEXT, renamed(named, 'lire "é"'))
    assert json.loads(after) == json.loads(TEXT.replace('"read"', json.dumps('lire "é"')))


def test_renaming_an_argument_is_escaped_as_each_place_needs() -> None:
    named = at('{}, "a', '/b": {}}')
    assert named is not None and roles(named) == ["property", "pointer"]
    after = json.loads(edited(TEXT, renamed(named, "x~/y")))["capabilities"]["read"]
    assert after["action"]["parameterMapping"]["at"] == "/by/x~0~1y"
    assert "x~/y" in after["parameters"]["properties"]["by"]["properties"]


@pytest.mark.parametrize("name", ["by", "who", "", "a b", "{x}", "x" * 300, "a\nb"])
def test_a_parameter_is_not_given_a_name_that_is_taken_or_impossible(name: str) -> None:
    named = at('"properties": {"i', 'd": {}, "by"')
    assert named is not None
    with pytest.raises(CannotRename):
        renamed(named, name)


def test_a_capability_is_not_given_the_name_of_another() -> None:
    named = at('    "read', '": {\n')
    assert named is not None
    with pytest.raises(CannotRename, match='already is a capability called "change"'):
        renamed(named, "change")


def test_names_spelt_with_escapes_are_replaced_whole() -> None:
    text = TEXT.replace('"PUT": {"capabilityId": "change"}', '"PUT": {"capabilityId": "ch\\u0061nge"}')
    named = at('"ch', '\\u0061nge"', text)
    assert named is not None
    assert text[named.here.start : named.here.end] == "ch\\u0061nge"
    assert "\\u0061" not in edited(text, renamed(named, "put"))


def test_broken_texts_are_navigated_as_far_as_they_can_be_read() -> None:
    text = TEXT.replace('"parameterLocation": {"id": "path"}', '"parameterLocation": {"id": }').replace("],\n", "]\n")
    named = at('"/n/{i', "d}{?who", text)
    assert named is not None and len(named.occurrences) == 11


def test_every_rename_in_the_reference_manifests_keeps_them_json() -> None:
    for document in reference_manifests():
        text = json.dumps(document, indent=2)
        manifest = Manifest(parse(text))
        for offset in range(0, len(text), 7):
            named = named_at(manifest, offset) if text[offset].isalpha() else None
            if named is not None:
                assert json.loads(edited(text, renamed(named, "some_new_name"))) != document


OTHER = """{
  "resources": {
    "a": {"uriPattern": "/a/{id}", "operations": {"GET": {"capabilityId": "one"}, "PUT": {"capabilityId": "two"}}},
    "b": {"uriPattern": "/b/{id}", "operations": {"GET": {"capabilityId": "two"}, "PUT": {"capabilityId": "three"}}},
    "c": {"operations": {"GET": {"capabilityId": "written"}}}
  },
  "capabilities": {
    "one": {"action": {"urlTemplate": "/a/{id}", "parameterMapping": {"id": "/id"}}},
    "two": {"action": {"urlTemplate": "/a/{id}", "parameterMapping": {"id": "/id"}}},
    "three": {"action": {"urlTemplate": "/b/{id}", "parameterMapping": {"id": "/id"}}},
    "key": {"id": "written"}
  }
}"""


@pytest.mark.parametrize(
    ("before", "after", "role"),
    [
        pytest.param('"c": {"operations": {"GET": {"capabilityId": "wri', "tten", "id", id="an id where no key has it"),
        pytest.param('"id": "writ', "ten", "id", id="also from that id"),
        pytest.param('"key', '": {"id"', "capability", id="a key"),
    ],
)
def test_where_a_capability_is_defined(before: str, after: str, role: str) -> None:
    named = at(before, after, OTHER)
    assert named is not None and [each.role for each in named.definitions] == [role]


def test_a_variable_is_shared_by_whoever_shares_it_with_one_that_does() -> None:
    named = at('"/a/{i', 'd}", "operations"', OTHER)
    places = [index for index in range(len(OTHER)) if OTHER.startswith(("{id}", '"id": "/id"'), index)]
    assert named is not None and len({each.start for each in named.occurrences if each.role != "pointer"}) == len(
        places
    )


def test_a_parameter_of_one_capability_is_defined_in_that_one() -> None:
    named = at('"one": {"action": {"urlTemplate": "/a/{i', "d", OTHER)
    assert named is not None and len(named.definitions) == 1
    assert OTHER.index('"one": {') < named.definitions[0].start < OTHER.index('"two": {')


def test_a_name_may_be_kept_and_have_two_hundred_characters() -> None:
    named = at('"key', '": {"id"', OTHER)
    assert named is not None and renamed(named, "key") == []
    assert [each.text for each in renamed(named, "n" * 200)] == ["n" * 200]
    with pytest.raises(CannotRename, match="1 to 200"):
        renamed(named, "n" * 201)
    with pytest.raises(CannotRename, match="there already is"):
        renamed(named, "two")


def test_a_cursor_on_a_quote_is_at_the_name_in_it() -> None:
    for before, after in (
        ('    "key"', ": {"),
        ("    ", '"key": {'),
        ('"id": ', '"written"'),
        ('"id": "written"', "}"),
    ):
        named = at(before, after, OTHER)
        assert named is not None, (before, after)
