"""Words that rules and calls know, group by group: each is known, and what only looks like one is not."""

from __future__ import annotations

from typing import Any

import pytest

from aurora_manifest.client.consent import destructive, password, secret
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from tests.protocol.rule_cases import located, mapping, parameter, text, update, url
from tests.protocol.test_manifest_choices import told, written


@pytest.mark.parametrize(
    ("meant", "words"),
    [
        ("integer", "int long Int"),
        ("number", "float double decimal"),
        ("string", "str text date datetime uuid"),
        ("boolean", "bool"),
        ("array", "list"),
        ("object", "dict map"),
        ("null", "none nil"),
    ],
)
def test_what_other_languages_call_a_type(meant: str, words: str) -> None:
    for word in words.split():
        assert written(update(text(type=word)), "parameters-type") == f'"{meant}"', word


@pytest.mark.parametrize(
    ("meant", "words"),
    [
        ("uuid", "guid uuid4 uuidv4"),
        ("uri", "url link href"),
        ("date-time", "timestamp iso8601 rfc3339 dateTime"),
        ("date", "YYYY-MM-DD"),
        ("time", "hh:mm:ss"),
        ("email", "mail e-mail"),
        ("ipv4", "ip ipaddress"),
        ("hostname", "host"),
        ("regex", "regexp"),
    ],
)
def test_what_other_languages_call_a_format(meant: str, words: str) -> None:
    for word in words.split():
        assert written(update(text(format=word)), "parameters-format") == f'"{meant}"', word


@pytest.mark.parametrize(
    ("meant", "words"),
    [
        ("path", "url uri"),
        ("query", "querystring params search"),
        ("header", "headers"),
        ("body", "json form payload"),
    ],
)
def test_what_people_call_a_place_in_the_request(meant: str, words: str) -> None:
    for word in words.split():
        assert written(update(located(text=word)), "parameter-location") == f'"{meant}"', word


@pytest.mark.parametrize(
    ("kind", "meant", "words"),
    [
        ("string", "minLength", "min"),
        ("string", "maxLength", "max"),
        ("string", "pattern", "regex"),
        ("string", "enum", "choices values options"),
        ("array", "minItems", "min"),
        ("array", "maxItems", "max"),
        ("number", "minimum", "min minValue"),
        ("number", "maximum", "max maxValue"),
        ("integer", "minimum", "min minValue"),
        ("integer", "maximum", "max maxValue"),
        ("object", "properties", "parameters params fields attributes"),
    ],
)
def test_what_other_schemas_call_a_keyword_of_a_type(kind: str, meant: str, words: str) -> None:
    for word in words.split():
        assert written(update(text(type=kind, **{word: 1})), "schema-unknown-member") == f'"{meant}"', word


def test_what_destroys_needs_a_login() -> None:
    action = {"type": "HTTP", "method": "POST", "urlTemplate": "/notes", "parameterMapping": {}}
    names = [f"{word}All" for word in "delete remove destroy purge erase wipe drop truncate revoke terminate".split()]
    made = {name: {"id": name, "v": 1, "description": "Do it.", "action": action} for name in [*names, "dropped"]}
    found = told({"policy": {"authHint": "none"}, "capabilities": made}, "destructive-without-auth")
    assert [each.path for each in found] == [f"/capabilities/{name}" for name in names]


@pytest.mark.parametrize("name", ["password", "Passwd", "passphrase", "pwd"])
def test_what_takes_a_password_knows_logins(name: str) -> None:
    assert len(told({"policy": {"authHint": "none"}, **update(parameter(name, type="string"))}, "auth-hint")) == 1


@pytest.mark.parametrize(
    "description",
    [*"TODO todo: tbd FIXME! xxx xxxx .. … n/a na none description ---- ???".split(), "to do.", "lorem ipsum"],
)
def test_what_stands_for_a_description_is_none(description: str) -> None:
    assert len(told(update({"description": description}), "capability-description")) == 1


# Keywords of JSON Schema


def names_told(patch: Any, rule: str) -> set[str]:
    return {each.path.rpartition("/")[2] for each in told(update(patch), rule)}


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("items additionalProperties contains propertyNames not if then else additionalItems", 5),
        ("unevaluatedItems unevaluatedProperties contentSchema", "x"),
        ("properties patternProperties $defs definitions dependentSchemas", []),
        ("allOf anyOf oneOf prefixItems", []),
        ("minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains", -1),
        ("minimum maximum exclusiveMinimum exclusiveMaximum multipleOf", "x"),
        ("multipleOf", 0),
        ("title description format pattern contentEncoding contentMediaType", 5),
        ("$ref $id $anchor $schema $comment $dynamicRef $dynamicAnchor", 5),
        ("deprecated readOnly writeOnly uniqueItems", "yes"),
        ("enum examples", "a"),
        ("required", ["a", 5]),
        ("dependentRequired dependencies", {"a": 5}),
    ],
)
def test_each_keyword_has_its_kind_of_value(words: str, wrong: Any) -> None:
    assert names_told(text(**dict.fromkeys(words.split(), wrong)), "parameters-schema") == set(words.split())


_SCHEMAS = (
    "items contains properties additionalProperties patternProperties propertyNames dependentRequired dependentSchemas"
).split()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("string", "minLength maxLength pattern contentEncoding contentMediaType"),
        ("number", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
        ("integer", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"),
        ("array", "items prefixItems minItems maxItems uniqueItems contains minContains maxContains"),
        (
            "object",
            "properties required additionalProperties patternProperties propertyNames minProperties maxProperties "
            "dependentRequired dependentSchemas",
        ),
    ],
)
def test_what_each_keyword_says_something_of(kind: str, words: str) -> None:
    own: dict[str, Any] = {"pattern": "a", "uniqueItems": True, "prefixItems": [{}], "required": []}
    own |= {"contentEncoding": "a", "contentMediaType": "a", **{name: {} for name in _SCHEMAS}}
    given = {word: own.get(word, 1) for word in words.split()}
    assert names_told(text(type=kind, **given), "parameters-keyword") == set()
    assert names_told(text(type="boolean", **given), "parameters-keyword") == set(words.split())


@pytest.mark.parametrize(
    ("dialect", "words"),
    [
        ("2019-09/schema", "prefixItems $dynamicRef $dynamicAnchor dependencies"),
        ("draft-07/schema#", "dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties minContains"),
        ("draft-07/schema#", "maxContains $anchor $defs nullable example"),
        ("draft-06/schema#", "if then else"),
        ("draft-04/schema", "const contains propertyNames"),
        ("2020-12/schema", "dependencies additionalItems nullable example"),
    ],
)
def test_which_keywords_a_dialect_has_not(dialect: str, words: str) -> None:
    draft = "http://json-schema.org/" if dialect.startswith("draft") else "https://json-schema.org/draft/"
    properties = {"text": {**{word: {} for word in words.split()}, "type": "string", "minLength": 1}}
    patch = {"parameters": {"$schema": draft + dialect, "properties": properties}}
    assert names_told(patch, "parameters-dialect") == set(words.split())


@pytest.mark.parametrize(
    "pair", ["minimum maximum", "minLength maxLength", "minItems maxItems", "minProperties maxProperties"]
)
def test_a_least_above_the_most_is_told_of_every_pair(pair: str) -> None:
    least, most = pair.split()
    assert names_told(text(**{least: 2, most: 1}), "parameters-range") == {most}


def test_a_schema_that_may_have_more_than_it_names_is_not_held_against_what_is_mapped() -> None:
    for word in "$ref $dynamicRef allOf anyOf oneOf if patternProperties dependentSchemas".split():
        assert told(update({"parameters": {word: "#"}, **mapping(x="/x")}), "mapping-unknown-parameter") == [], word
    for word in "$ref allOf anyOf oneOf patternProperties".split():
        assert told(update({"parameters": {word: "#", "required": ["x"]}}), "parameters-required") == [], word


# Templates and secrets


def test_a_method_before_an_address_goes() -> None:
    for word in "GET POST PUT PATCH DELETE HEAD OPTIONS".split():
        (found,) = told(update(url(f"{word} /notes/{{id}}")), "url-template-relative")
        assert found.fix is not None and found.fix.title == f'Remove "{word} "'
    (found,) = told(update(url("TRACE /notes/{id}")), "url-template-relative")
    assert found.fix is None or found.fix.title == 'Begin with "/"', "which is none of an API's"


@pytest.mark.parametrize("keyword", ["default", "const", "example", "examples", "enum"])
def test_what_a_secret_is_called_and_where_it_stands(keyword: str) -> None:
    names = "password passwd passphrase pwd secret api_key apikey access_key accessKey private_key token credential "
    others = "passport keyboard tokens_used monkey"
    value = ["a8f3e9d2"] if keyword in ("examples", "enum") else "a8f3e9d2"
    known = (names + "credentials tokenValue secret_text db.password").split()
    properties = {name: {keyword: value} for name in (*known, *others.split())}
    found = told(update({"parameters": {"properties": properties}}), "secret-value")
    assert [each.path.split("/")[5] for each in found] == known


# Calls


def test_what_may_destroy_something_is_asked_for_first() -> None:
    words = "cancel clear close deactivate delete destroy disable drop erase kill purge remove reset revoke terminate "
    for word in (words + "truncate uninstall unpublish unsubscribe void wipe").split():
        found = Manifest(parse(f'{{"capabilities": {{"{word}Note": {{}}}}}}')).capabilities[f"{word}Note"]
        assert destructive(found) == f'its name says "{word}"'
    both = Manifest(parse('{"capabilities": {"wipe": {"action": {"method": "DELETE"}}, "wiped": {}}}')).capabilities
    assert destructive(both["wipe"]) == "its method is DELETE", "that is sure, a name is not"
    assert destructive(both["wiped"]) is None


def test_what_nobody_should_see_printed() -> None:
    words = "apikey auth authorization bearer credential credentials otp passcode passphrase passwd password pin pwd "
    for word in (words + "secret session token").split():
        assert secret(f"my-{word}") and secret(f"{word}Value"), word
    for word in "credential credentials passcode passphrase passwd password pwd".split():
        assert password(f"my_{word}"), word


@pytest.mark.parametrize(
    ("name", "schema", "is_secret", "is_password"),
    [
        ("tokens", {"type": "array"}, True, False),
        ("tokens", {"type": "integer"}, False, False),
        ("tokens", {"type": "number"}, False, False),
        ("api_key", None, True, False),
        ("privateKey", None, True, False),
        ("key", None, False, False),
        ("note", {"format": "password"}, True, True),
        ("note", {"writeOnly": True}, True, True),
        ("note", {"writeOnly": "yes"}, False, False),
        ("password", {"type": "boolean"}, True, False),
        ("password", {"type": "string"}, True, True),
        ("pinboard", None, False, False),
    ],
)
def test_a_secret_is_known_by_its_name_and_its_schema(
    name: str, schema: object, is_secret: bool, is_password: bool
) -> None:
    assert (secret(name, schema), password(name, schema)) == (is_secret, is_password)
