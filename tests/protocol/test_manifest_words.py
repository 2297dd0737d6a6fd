"""Words that rules and calls know, group by group: each is known, and what only looks like one is not."""

from __future__ import annotations

import pytest

from aurora_manifest.client.consent import destructive, password, secret
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from tests.protocol.rule_cases import located, parameter, text, update
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
    for word in "delete remove destroy purge erase wipe drop truncate revoke terminate".split():
        action = {"type": "HTTP", "method": "POST", "urlTemplate": "/notes", "parameterMapping": {}}
        made = {"id": f"{word}All", "v": 1, "description": "Do it.", "action": action}
        patch = {"policy": {"authHint": "none"}, "capabilities": {f"{word}All": made}}
        assert len(told(patch, "destructive-without-auth")) == 1, word
    for name in "password Passwd passphrase pwd".split():
        patch = {"policy": {"authHint": "none"}, **update(parameter(name, type="string"))}
        assert len(told(patch, "auth-hint")) == 1, name


@pytest.mark.parametrize(
    "description",
    [*"TODO todo: tbd FIXME! xxx xxxx .. … n/a na none description ---- ???".split(), "to do.", "lorem ipsum"],
)
def test_what_stands_for_a_description_is_none(description: str) -> None:
    assert len(told(update({"description": description}), "capability-description")) == 1


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
