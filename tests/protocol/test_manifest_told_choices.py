"""Choices of what rules tell, a row each: what is a mistake and what is not, what it was meant to be."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_manifest.client.fetch import _require_manifest
from aurora_manifest.client.transport import SiteReply
from aurora_manifest.schema_keywords import fits_dialect, has_keyword, is_count, is_of_type
from aurora_protocol import SiteError
from tests.manifests import check
from tests.protocol.rule_cases import parameter, text, update
from tests.protocol.test_manifest_choices import changed, told

NULL = "(null)"
"""Stands for null, which takes a member away where it stands in a patch."""


def with_null(patch: Any) -> str:
    return changed(patch).replace(f'"{NULL}"', "null")


@pytest.mark.parametrize(
    ("patch", "rule", "count"),
    [
        pytest.param(text(default=NULL, type="string"), "parameters-default", 1, id="null is no text"),
        pytest.param(text(default=NULL, type="string", nullable=True), "parameters-default", 0, id="told as nullable"),
        pytest.param(text(default=1.0, type="integer"), "parameters-default", 0, id="1.0 is a whole number"),
        pytest.param(text(type="number", default=1.0, enum=[1]), "parameters-default", 0, id="and the choice 1"),
        pytest.param(text(type=["boolean"], default=True, enum=[1]), "parameters-default", 1, id="true is not"),
        pytest.param(text(default="x", enum=[]), "parameters-default", 0, id="of no choices something else is told"),
        pytest.param(text(default="b", const="a"), "parameters-default", 1, id="the only value is another"),
        pytest.param(text(type="number", default=5, minimum=5, maximum=5), "parameters-default", 0, id="bounds are in"),
        pytest.param(text(type="number", default=5, exclusiveMinimum=5), "parameters-default", 1, id="or out"),
        pytest.param(text(type="integer", default=5, exclusiveMaximum=5), "parameters-default", 1, id="at either end"),
        pytest.param(text(default="abc", maxLength=2), "parameters-default", 1, id="a text has a length"),
        pytest.param(text(default="abc", maxLength=2.5), "parameters-default", 0, id="which no fraction bounds"),
        pytest.param(text(type="array", default=[1], minItems=2), "parameters-default", 1, id="as a list has"),
        pytest.param(text(enum=["a", "a"]), "parameters-enum", 1, id="a choice twice"),
        pytest.param(text(type=["number", "boolean"], enum=[1, True]), "parameters-enum", 0, id="1 and true are two"),
        pytest.param(text(enum=["a", 1], type="string"), "parameters-enum", 1, id="a choice of another type"),
        pytest.param(text(minimum=2, maximum=2), "parameters-range", 0, id="one value is a range"),
        pytest.param(text(minimum=3, maximum=2), "parameters-range", 1, id="none is not"),
    ],
)
def test_what_of_values_is_told(patch: Any, rule: str, count: int) -> None:
    assert len(told(with_null(update(patch)), rule)) == count


@pytest.mark.parametrize(
    ("patch", "writes"),
    [
        pytest.param({"type": "integer", "default": " 5 "}, "5", id="a number in quotes is a number"),
        pytest.param({"type": "boolean", "default": "true"}, "true", id="a flag a flag"),
        pytest.param({"type": "integer", "default": "five"}, None, id="a word is none"),
        pytest.param({"type": "string", "default": NULL}, '["string", "null"]', id="null is let in"),
    ],
)
def test_what_a_default_was_meant_to_be(patch: dict[str, Any], writes: str | None) -> None:
    (found,) = told(with_null(update(text(**patch))), "parameters-default")
    assert (found.fix.edits[0].text if found.fix else None) == writes
    assert [fix.title for fix in found.others] == ['Remove "default"'], "or it goes"


@pytest.mark.parametrize(
    ("dialect", "keyword", "known"),
    [
        ("04", "const", False),
        ("06", "const", True),
        ("06", "if", False),
        ("07", "if", True),
        ("07", "$defs", False),
        ("2019-09", "$defs", True),
        ("2019-09", "prefixItems", False),
        ("2020-12", "prefixItems", True),
        ("07", "dependencies", True),
        ("2019-09", "dependencies", False),
        ("2019-09", "additionalItems", True),
        ("2020-12", "additionalItems", False),
        ("2020-12", "nullable", False),
        ("04", "example", False),
        ("04", "minimum", True),
    ],
)
def test_which_keywords_a_dialect_has(dialect: str, keyword: str, known: bool) -> None:
    assert has_keyword(dialect, keyword) is known


@pytest.mark.parametrize(
    ("dialect", "keyword", "value", "fits"),
    [
        ("04", "exclusiveMinimum", True, True),
        ("06", "exclusiveMinimum", True, False),
        ("2019-09", "items", [{}], True),
        ("2020-12", "items", [{}], False),
        ("07", "items", [5], False),
        (None, "minimum", "x", True),
    ],
)
def test_which_values_only_older_dialects_have(dialect: str | None, keyword: str, value: Any, fits: bool) -> None:
    assert fits_dialect(dialect, keyword, value) is fits


@pytest.mark.parametrize(
    ("value", "number", "integer", "count"),
    [
        (2, True, True, True),
        (2.0, True, True, True),
        (2.5, True, False, False),
        (-1, True, True, False),
        (True, False, False, False),
        ("2", False, False, False),
    ],
)
def test_what_is_a_number(value: Any, number: bool, integer: bool, count: bool) -> None:
    assert (is_of_type(value, "number"), is_of_type(value, "integer"), is_count(value)) == (number, integer, count)


# Descriptions and secrets


@pytest.mark.parametrize(
    ("description", "fix"),
    [
        pytest.param("TODO: say what", "Update note.", id="a note to oneself"),
        pytest.param("n/a", "Update note.", id="a placeholder"),
        pytest.param("...", "Update note.", id="or dots"),
        pytest.param("Description.", "Update note.", id="or the word itself"),
        pytest.param("update_note", "Update note.", id="the name once more"),
        pytest.param("", "Update note.", id="nothing"),
    ],
)
def test_what_is_no_description(description: str, fix: str) -> None:
    (found,) = told(update({"description": description}), "capability-description")
    assert found.fix is not None and found.fix.edits[0].text == f'"{fix}"'


@pytest.mark.parametrize("description", ["None of the notes is changed.", "To do with notes", "Update note.", "TODOs"])
def test_what_begins_like_a_placeholder_and_goes_on_is_a_description(description: str) -> None:
    assert told(update({"description": description}), "capability-description") == []


@pytest.mark.parametrize(
    ("name", "value", "is_told"),
    [
        pytest.param("apiKey", "a8f3e9d2", True, id="a key by any spelling of its name"),
        pytest.param("stripe-secret", "a8f3e9d2", True, id="behind whose it is"),
        pytest.param("token_value", "a8f3e9d2", True, id="and that it is a value"),
        pytest.param("tokenizer", "a8f3e9d2", False, id="not what is called after it"),
        pytest.param("password", "abc", False, id="nor what is too short to be one"),
        pytest.param("password", "<your password>", False, id="nor what stands for one"),
    ],
)
def test_which_parameters_give_a_secret_away(name: str, value: str, is_told: bool) -> None:
    found = told(update(parameter(name, type="string", default=value)), "secret-value")
    assert bool(found) is is_told
    assert all(each.fix is not None and each.fix.title == 'Remove "default"' for each in found)


# References


PUT = {"operations": {"PUT": {"capabilityId": "update_note"}}}


@pytest.mark.parametrize(
    ("patch", "titles"),
    [
        pytest.param(
            {"resources": {"note": {"operations": {"PUT": None, "POST": {"capabilityId": "update_note"}}}}},
            ['Rename to "PUT"'], id="the method goes after the capability",
        ),
        pytest.param(
            {
                "resources": {"note": {"operations": {"PUT": None, "DELETE": {"capabilityId": "update_note"}}}},
                "capabilities": {"drop_note": {"id": "drop_note", "v": 1, "description": "Remove a note.", "action": {
                    "type": "HTTP", "method": "DELETE", "urlTemplate": "/notes/{id}", "parameterMapping": {}}}},
            },
            ['Write "drop_note"', 'Rename to "PUT"'], id="first comes the one that nobody runs and that fits",
        ),
    ],
)  # fmt: skip
def test_what_is_offered_where_an_operation_has_another_method(patch: Any, titles: list[str]) -> None:
    found = next(each for each in check(changed(patch)) if each.rule == "operation-method")
    assert [fix.title for fix in (found.fix, *found.others) if fix is not None] == titles


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        pytest.param("/notes/{id}", 0, id="the same"),
        pytest.param("/notes/{id}?all=1", 0, id="whatever is asked behind it"),
        pytest.param("https://notes.example.com/notes/{id}", 0, id="with the site before it"),
        pytest.param("/notes/{note_id}", 1, id="not with another variable"),
    ],
)
def test_which_patterns_lead_where_their_capability_goes(pattern: str, count: int) -> None:
    assert len(told({"resources": {"note": {"uriPattern": pattern}}}, "resource-uri-pattern")) == count


# Answers of sites


@pytest.mark.parametrize(
    ("status", "kind", "body", "headers", "says"),
    [
        (404, "text/html", b"", {}, "publishes no manifest there; if it should, the site's application answers"),
        (410, "application/json", b"", {}, "publishes no manifest there"),
        (401, "", b"", {}, "give --token"),
        (403, "", b"", {}, "the site refused"),
        (429, "", b"", {"retry-after": "9"}, "try again after 9 s"),
        (429, "", b"", {}, "asked too often"),
        (503, "", b"", {"retry-after": "9"}, "try again after 9 s"),
        (500, "", b"", {"retry-after": "9"}, "the site failed: try again later"),
        (204, "", b"", {}, "no manifest came with it"),
        (200, "text/html", b"<html>", {}, "a page, and no manifest; the site's application answers there"),
        (200, "text/html", b"\xef\xbb\xbf {}", {}, "is text/html, not application/json; serve the manifest as"),
        (200, "text/plain", b"<html>", {}, "is text/plain, not application/json"),
        (200, "", b"{}", {}, "names no content type, not application/json"),
        (200, "application/aura+json", b"{}", {}, None),
        (200, "application/json", b"<html>", {}, None),
    ],
)
def test_what_is_said_of_an_answer_that_is_no_manifest(
    status: int, kind: str, body: bytes, headers: dict[str, str], says: str | None
) -> None:
    told_by = (("content-type", kind), *headers.items()) if kind else tuple(headers.items())
    answer = SiteReply("https://a.example/.well-known/aura.json", status, told_by, body, 1.0)
    if says is None:
        _require_manifest(answer)
    else:
        with pytest.raises(SiteError) as raised:
            _require_manifest(answer)
        assert says in str(raised.value)


# Patterns


@pytest.mark.parametrize(
    ("pattern", "bad"),
    [
        pytest.param(r"[\8]", False, id="a digit in a class is a digit"),
        pytest.param(r"(a)\1", False, id="behind a group it means that"),
        pytest.param(r"\0", False, id="and 0 is the sign of that number"),
        pytest.param(r"[\b]", False, id="a backspace"),
        pytest.param(r"\p{L}+", False, id="a kind of letters"),
        pytest.param(r"(?<a>x)\k<a>", False, id="a group by its name"),
        pytest.param(r"\u{1F600}\cJ", False, id="a sign by its number"),
        pytest.param(r"[^]", False, id="anything"),
        pytest.param(r"[]", False, id="nothing"),
        pytest.param(r"[[a&&b]", False, id="signs in a class are signs"),
        pytest.param(r"(?<=a)b", False, id="what stands before"),
        pytest.param(r"(?P<a>x)", True, id="not Python's own groups"),
        pytest.param(r"a**", True, id="nor twice as many"),
        pytest.param("a\\", True, id="nor what ends within a sign"),
        pytest.param(r"[z-a]", True, id="nor a class that goes backwards"),
    ],
)
def test_which_patterns_are_none(pattern: str, bad: bool) -> None:
    assert bool(told(update(text(pattern=pattern)), "parameters-pattern")) is bad
