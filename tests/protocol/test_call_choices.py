"""Choices of a call of a site, a rule each: what is told of arguments, what is masked, where a value goes, what is kept
between two calls."""

from __future__ import annotations

import base64
import json
import unicodedata
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import httpx2
import pytest

from aurora_manifest.client import arguments, fetch, transport
from aurora_manifest.client.arguments import misfits, read_arguments, unused
from aurora_manifest.client.cache import MAX_FRESH, ManifestCache, fresh_until
from aurora_manifest.client.consent import MASK, destructive
from aurora_manifest.client.cookies import Jar
from aurora_manifest.client.expressions import EMPTY_PLANES, as_python
from aurora_manifest.client.formats import format_checker
from aurora_manifest.client.origins import Origin, manifest_url, parse_url, resolved
from aurora_manifest.client.redaction import Hiding, secret_texts
from aurora_manifest.client.request import build_call, find_capability
from aurora_manifest.client.state import read_state
from aurora_manifest.client.transport import RequestPolicy, SiteReply
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from aurora_protocol import CallBlocked, SiteError
from tests.protocol.test_manifest_client import capability, request

PLACE = "https://example.com/.well-known/aura.json"

# What is told of arguments


def test_of_many_misfits_fifty_are_told() -> None:
    schema = {"additionalProperties": {"type": "string"}}
    assert len(misfits(schema, {f"a{number}": number for number in range(51)})) == 50


@pytest.mark.parametrize(
    ("schema", "value", "told"),
    [
        pytest.param(
            {"enum": [f"e{number}" for number in range(21)]},
            "x",
            "must be one of " + ", ".join(f"e{number}" for number in range(20)),
            id="the first twenty of what is allowed",
        ),
        pytest.param(
            {"additionalProperties": False},
            dict.fromkeys("abcdefghijk"),
            "may not have a, b, c, d, e, f, g, h, i, j: the parameters do not name it",
            id="the first ten of what nobody named",
        ),
    ],
)
def test_how_much_of_a_list_is_told(schema: dict[str, Any], value: Any, told: str) -> None:
    assert [each.message for each in misfits({"properties": {"a": schema}}, {"a": value})] == [told]


def test_a_number_that_no_step_can_be_counted_for_cannot_be_checked() -> None:
    with pytest.raises(SiteError, match="cannot be checked against: OverflowError"):
        misfits({"properties": {"a": {"multipleOf": 0.5}}}, {"a": 10**400})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"contains": {"pattern": r"\p{Script=Greek}"}}, [], id="what a list must hold"),
        pytest.param(
            {"patternProperties": {r"\p{Script=Greek}": {}}, "unevaluatedProperties": False},
            {"x": 1},
            id="which members are the others",
        ),
    ],
)
def test_what_hangs_on_an_expression_that_python_has_not_is_not_checked(schema: dict[str, Any], value: Any) -> None:
    assert misfits({"properties": {"a": schema}}, {"a": value}) == []


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        pytest.param("^a$", "a\n", False, id="the end is no place before a line end"),
        pytest.param(r"^[\b]$", "\b", True, id="a backspace in a class"),
        pytest.param(r"^(a)\1$", "aa", True, id="a group once more"),
        pytest.param(r"^\p{Lo}$", "\U0003134a", True, id="a letter before the planes without a character"),
        pytest.param(r"^\p{Mn}$", "\U000e0100", True, id="a mark behind them"),
        pytest.param(r"^\p{Cn}{2}$", "\U00040000\U000dffff", True, id="what is no character is in them"),
        pytest.param(r"^\p{C}$", "\U00040000", True, id="and is in the class of such"),
        pytest.param(r"^\P{Lo}$", "\U00040000", True, id="and no letter"),
    ],
)
def test_an_expression_means_what_javascript_means(pattern: str, text: str, fits: bool) -> None:
    schema = {"properties": {"a": {"pattern": pattern}}}
    assert as_python(pattern) is not None
    assert (misfits(schema, {"a": text}) == []) is fits


def test_no_character_is_in_the_planes_that_are_not_asked() -> None:
    assert {unicodedata.category(chr(point)) for point in EMPTY_PLANES} == {"Cn"}


def test_a_group_in_a_class_is_none_that_python_has() -> None:
    assert as_python(r"(a)[\1]") is None


def test_the_dialect_is_the_one_that_the_schema_names_and_2020_12_without_a_name() -> None:
    tuples: dict[str, Any] = {"properties": {"a": {"items": [{"type": "string"}]}}}
    older = {"$schema": "http://json-schema.org/draft-07/schema#", **tuples}
    assert [each.path for each in misfits(older, {"a": [1]})] == ["/a/0"]
    with pytest.raises(SiteError, match="no JSON Schema"):
        misfits(tuples, {"a": [1]})
    assert misfits({"$schema": "urn:own", "required": ["a"]}, {"a": 1}) == [], "an unknown name is no fault"


def test_a_schema_with_an_expression_that_is_none_is_none_itself() -> None:
    with pytest.raises(SiteError, match="no JSON Schema"):
        misfits({"properties": {"a": {"pattern": "("}}}, {})


def test_the_limit_of_arguments_is_the_last_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "MAX_ARGUMENTS", len('{"a": 1}'))
    assert read_arguments('{"a": 1}') == {"a": 1}
    with pytest.raises(SiteError, match="the limit is 8"):
        read_arguments('{"a": 1} ')


def test_who_takes_all_arguments_leaves_none_unused() -> None:
    assert unused({"x": "/x"}, {"x": 1, "y": 2}) == ["y"]
    assert unused({"x": "/x", "all": ""}, {"x": 1, "y": 2}) == []
    assert unused({"x": "/a/b"}, {"a": {"b": 1}, "b": 2}) == ["b"], "an argument is the first step of a pointer"


# Where a value goes


@pytest.mark.parametrize(
    ("action", "given", "url"),
    [
        pytest.param({"method": "DELETE"}, {"a": 1}, "/?a=1", id="a DELETE without an encoding has a query"),
        pytest.param(
            {"urlTemplate": "/p/{a}", "parameterLocation": {"a": "query"}}, {"a": 1}, "/p/1", id="a variable is filled"
        ),
        pytest.param({"urlTemplate": "/p{?a*}"}, {"a": ["x", None]}, "/p?a=x", id="no null of a list"),
        pytest.param({"urlTemplate": "/p/{a}"}, {"a": 1e15}, "/p/1000000000000000", id="a long number in digits"),
        pytest.param({"urlTemplate": "/p/{a}"}, {"a": 1e16}, "/p/1e%2B16", id="until JSON has none for it"),
        pytest.param({"urlTemplate": "/p/{+a}{&b}"}, {"a": "x?y=1", "b": 2}, "/p/x?y=1&b=2", id="more of a query"),
    ],
)
def test_where_an_argument_goes(action: dict[str, Any], given: dict[str, Any], url: str) -> None:
    assert request(given, **action).request.url == f"https://example.com{url}"


@pytest.mark.parametrize(
    ("action", "given", "error", "why"),
    [
        pytest.param({"urlTemplate": "/p{/a}"}, {"a": ""}, SiteError, "needs a value for a", id="an empty step"),
        pytest.param({"urlTemplate": "/p/{a}"}, {"a": "."}, CallBlocked, "would lead elsewhere", id="a step to itself"),
        pytest.param(
            {"parameterLocation": {"a": "header"}}, {"a": "é"}, SiteError, "takes printable ASCII", id="a letter é"
        ),
    ],
)
def test_what_is_not_sent(action: dict[str, Any], given: dict[str, Any], error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        request(given, **action)


def test_a_default_that_json_cannot_say_is_not_sent() -> None:
    document = '{"capabilities": {"x": {"id": "x", "parameters": {"properties": {"a": {"default": 1e999}}}, "action":'
    document += '{"method": "GET", "urlTemplate": "/p/{a}", "parameterMapping": {"a": "/a"}}}}}'
    known = Manifest(parse(document)).capabilities["x"]
    with pytest.raises(SiteError, match="too large for JSON"):
        build_call(known, Origin("https", "example.com", 443), {})


def test_a_guess_at_a_capability_is_made_among_few() -> None:
    known = {"capabilities": {each: {"id": each} for each in ("list_notes", "b")}}
    with pytest.raises(SiteError, match=r"it has list_notes$"):
        find_capability(Manifest(parse(json.dumps(known))), "show_notes")


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("https://other.example/a;", "https://other.example/a;"),
        ("//other.example/a;", "https://other.example/a;"),
        ("/a;", "https://example.com/a;"),
        ("b", "https://example.com/x/b"),
    ],
)
def test_what_a_reference_means_where_it_stands(reference: str, url: str) -> None:
    assert str(resolved(parse_url("https://example.com/x/y"), reference)) == url


def test_spaces_around_an_address_are_none_of_it() -> None:
    assert str(manifest_url(" example.com\n")) == PLACE


# What nobody should see


@pytest.mark.parametrize(
    ("schema", "pointer", "shown"),
    [
        pytest.param(
            {"properties": {"a": {"writeOnly": True, "properties": {"b": {}}}}}, "/a/b", MASK, id="what is in a secret"
        ),
        pytest.param(
            {"properties": {"a": {}}, "additionalProperties": {"writeOnly": True}}, "/a", "v", id="a member with a name"
        ),
        pytest.param({"additionalProperties": {"writeOnly": True}}, "/a", MASK, id="one of the others"),
        pytest.param({"oneOf": [{"properties": {"a": {"writeOnly": True}}}]}, "/a", MASK, id="by one of several"),
        pytest.param(
            {"properties": {"a": {"prefixItems": [{}], "items": {"writeOnly": True}}}}, "/a/1", MASK, id="a later item"
        ),
        pytest.param(
            {"properties": {"a": {"prefixItems": [{}], "items": {"writeOnly": True}}}}, "/a/0", "v", id="not the first"
        ),
    ],
)
def test_what_of_a_call_is_masked(schema: dict[str, Any], pointer: str, shown: str) -> None:
    assert Hiding(schema).sent("x", "v", pointer) == shown


def test_no_truth_value_is_looked_for_as_a_secret() -> None:
    assert secret_texts({"a": True, "b": 7, "c": "", "d": "x"}, MASK) == {"7", "x"}


def test_what_may_destroy_says_so_in_any_word_of_its_name() -> None:
    assert destructive(capability("postDelete")) == 'its name says "delete"'


# What is kept between two calls


def test_the_age_of_a_copy_counts_from_the_longest_that_any_is_kept() -> None:
    told = {"cache-control": f"max-age={2 * MAX_FRESH}", "age": "100"}
    assert fresh_until(told, 1000.0) == 1000.0 + MAX_FRESH - 100


def test_a_copy_has_the_state_that_came_with_it(tmp_path: Path) -> None:
    cache = ManifestCache(tmp_path)
    cache.put(SiteReply(PLACE, 200, (("cache-control", "max-age=9"), ("aura-state", "e30"), ("x", "y")), b"{}", 1.0), 0)
    kept = cache.get(PLACE)
    assert kept is not None and dict(kept.headers) == {"cache-control": "max-age=9", "aura-state": "e30"}


def test_a_jar_belongs_to_a_port_and_is_written_when_there_is_something_in_it(tmp_path: Path) -> None:
    jars = [Jar.of(tmp_path, Origin("http", "localhost", port)) for port in (80, 81)]
    assert jars[0].file != jars[1].file
    jars[0].save()
    assert not jars[0].file.exists()
    jars[0].file.parent.mkdir(exist_ok=True)
    jars[0].file.touch()
    assert len(jars[0].load()) == 0, "an empty file is an empty jar"


@pytest.mark.parametrize(
    ("asked", "cookies", "sent"),
    [
        pytest.param({}, False, 0, id="a fresh copy is enough"),
        pytest.param({}, True, 0, id="to one whose jar is empty as well"),
        pytest.param({"ask": True}, False, 1, id="but not to one who asks"),
        pytest.param({"token": "t"}, False, 1, id="nor to one whom the site knows"),
    ],
)
async def test_when_a_site_is_asked_in_spite_of_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any], cookies: bool, sent: int
) -> None:
    calls = []
    fresh = SiteReply(PLACE, 200, (("content-type", "application/json"), ("cache-control", "max-age=999")), b"{}", 1.0)

    async def send(request: Any, *_: Any, **__: Any) -> SiteReply:
        calls.append(request)
        return fresh

    monkeypatch.setattr(fetch, "send", send)
    cache = ManifestCache(tmp_path)
    policy = RequestPolicy()
    assert (await fetch.fetch("example.com", policy, cache=cache)).source == "site"
    jar = CookieJar() if cookies else None
    again = await fetch.fetch("example.com", policy, cache=cache, cookies=jar, **asked)
    assert again.source == ("site" if sent else "cache") and len(calls) == 1 + sent


# What a site says


@pytest.mark.parametrize(
    ("status", "method", "then"), [(308, "POST", "POST"), (302, "POST", "GET"), (302, "PUT", "PUT")]
)
def test_how_it_goes_on_after_a_redirect(status: int, method: str, then: str) -> None:
    answer = httpx2.Response(
        status, headers={"Location": "/b#c"}, request=httpx2.Request(method, "https://example.com/a")
    )
    target = transport._target(answer)
    assert target is not None and str(target) == "https://example.com/b"
    found = transport._redirected(transport.Request(method, "https://example.com/a"), status, target)
    assert found.method == then


@pytest.mark.parametrize(("url", "by_proxy"), [("http://localhost:3000", False), ("https://example.com", True)])
def test_no_proxy_is_on_the_way_to_this_machine(url: str, by_proxy: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    told: dict[str, Any] = {}
    monkeypatch.setattr(httpx2, "AsyncClient", told.update)
    transport._client(parse_url(url), RequestPolicy(), None)
    assert told["trust_env"] is by_proxy


def test_a_page_elsewhere_is_not_for_the_server_to_mend() -> None:
    page = SiteReply("https://a.example/aura.json", 404, (("content-type", "text/html"),), b"<html>", 1.0)
    with pytest.raises(SiteError) as raised:
        fetch._require_manifest(page)
    assert str(raised.value).endswith("the site publishes no manifest there")


def test_a_date_to_wait_for_is_told_where_it_is_no_longer_than_one() -> None:
    def wait(said: str) -> str:
        return SiteReply(PLACE, 429, (("retry-after", said),), b"", 1.0).wait

    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    assert wait(date) == date and wait(f"{date} ({'x' * 20})") == ""


@pytest.mark.parametrize(
    ("document", "problems"),
    [
        ({"isAuthenticated": True, "capabilities": []}, ()),
        ({}, ("no isAuthenticated", "no capabilities")),
        ({"isAuthenticated": 1, "capabilities": [1], "context": []}, (
            "isAuthenticated must be true or false",
            "capabilities must be a list of ids",
            "context must be an object",
        )),
    ],
)  # fmt: skip
def test_what_a_state_lacks_is_told_otherwise_than_what_is_wrong(document: Any, problems: tuple[str, ...]) -> None:
    assert read_state(base64.b64encode(json.dumps(document).encode()).decode()).problems == problems


def test_no_base64_ends_with_three_signs_of_equality() -> None:
    with pytest.raises(SiteError, match="too many = at its end"):
        read_state("e30===")


@pytest.mark.parametrize(
    ("name", "fits", "does_not"),
    [
        ("uri", "HTTP://a.example", "HTTP:path"),
        ("hostname", ".".join(["a" * 63] * 3 + ["a" * 61]), ".".join(["a" * 63] * 3 + ["a" * 62])),
        ("email", f"{'a' * 64}@a.example", f"{'a' * 65}@a.example"),
        ("email", "a@[ipv6:::1]", "a@[::1]"),
        ("email", '"a b"@a.example', "a b@a.example"),
        ("relative-json-pointer", "1", "01"),
        ("relative-json-pointer", "0#", "0#/a"),
        ("relative-json-pointer", "2/a", "2a"),
    ],
)
def test_which_texts_a_format_takes_at_its_limits(name: str, fits: str, does_not: str) -> None:
    checker = format_checker()
    assert checker.conforms(fits, name) and not checker.conforms(does_not, name)
