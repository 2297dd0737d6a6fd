"""Choices of the client of sites, a rule each: what a request is made of, what a redirect keeps, what fits."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from aurora_manifest.client import transport
from aurora_manifest.client.arguments import misfits, read_arguments
from aurora_manifest.client.formats import format_checker
from aurora_manifest.client.origins import Origin, parse_url
from aurora_manifest.client.request import find_capability
from aurora_manifest.client.transport import Request, RequestPolicy, SiteReply
from aurora_manifest.editing.examples import Example, example_of, example_value
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from aurora_protocol import CallBlocked, SiteError
from tests.protocol.test_manifest_client import capability, request

# Requests


@pytest.mark.parametrize(
    ("name", "told"),
    [
        pytest.param("listNote", "it has list_notes", id="the one that is near"),
        pytest.param("zzz", "it has " + ", ".join(["list_notes", *"bcdefghij"]), id="the first ten, where none is"),
    ],
)
def test_which_capabilities_are_named_to_one_who_names_none(name: str, told: str) -> None:
    known = {each: {"id": each} for each in ("list_notes", *"bcdefghijk")}
    with pytest.raises(SiteError) as raised:
        find_capability(Manifest(parse(json.dumps({"capabilities": known}))), name)
    assert str(raised.value).endswith(told)


def test_a_variable_that_is_mapped_takes_nothing_by_its_own_name() -> None:
    sent = request({"a": "own", "b": "mapped"}, urlTemplate="/p/{a}", mapping={"a": "/b"}).request
    assert sent.url == "https://example.com/p/mapped"
    sent = request({"a": "own"}, urlTemplate="/p/{a}", mapping={}).request
    assert sent.url == "https://example.com/p/own", "one that the mapping forgot does"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(10.0, "10", id="a whole number without a fraction"),
        pytest.param(1e14, "100000000000000", id="a long one too"),
        pytest.param(1e22, "1e%2B22", id="one that no digits are known of as it is"),
        pytest.param(True, "true", id="a flag as JSON has it"),
        pytest.param("x", "x", id="a text as it is"),
    ],
)
def test_how_a_value_is_written_in_a_url(value: Any, text: str) -> None:
    assert request({"a": value}, urlTemplate="/p/{a}").request.url == f"https://example.com/p/{text}"


def test_what_a_body_is_comes_before_the_headers_of_the_manifest() -> None:
    action = {"method": "POST", "parameterLocation": {"x-a": "header"}, "mapping": {"x-a": "/a", "b": "/b"}}
    sent = request({"a": "h", "b": 1}, **action).request
    assert [name for name, _ in sent.headers] == ["Content-Type", "x-a"]


def test_nothing_is_sent_of_a_query_that_has_no_value() -> None:
    assert request({"a": None, "b": [None, 1]}).request.url == "https://example.com/?b=null&b=1"


@pytest.mark.parametrize(
    "header",
    [
        "Cookie",
        "X-Forwarded",
        "X-Forwarded-For",
        "X-Rewrite-URL",
        "X-Original-URL",
        "True-Client-IP",
        "X-Cluster-Client-IP",
        "X-HTTP-Method-Override",
        "Sec-Fetch-Site",
        "Proxy-Authorization",
        "CF-Connecting-IP",
    ],
)
def test_which_headers_no_argument_sets(header: str) -> None:
    """Those that say who asks, how it travels, or that it is another request than it seems."""
    with pytest.raises(CallBlocked, match="may not set this header"):
        request({"a": "x"}, parameterLocation={header: "header"}, mapping={header: "/a"})


def test_what_is_missing_is_told_first_and_then_what_does_not_fit_by_its_place() -> None:
    schema = {"required": ["z"], "properties": {name: {"type": "string"} for name in "ba"}}
    found = misfits(schema, {"b": 1, "a": [2]})
    assert [each.path for each in found] == ["/z", "/a", "/b"]


# Redirects and answers


BOTH = (("Content-Type", "application/json"), ("X-Kept", "yes"), ("Authorization", "Bearer t"))


@pytest.mark.parametrize(
    ("status", "method", "target", "then", "headers"),
    [
        pytest.param(307, "POST", "/b", "POST", 3, id="307 is the same request elsewhere"),
        pytest.param(301, "POST", "/b", "GET", 2, id="301 makes a GET of a POST, without what a body is"),
        pytest.param(301, "PUT", "/b", "PUT", 3, id="and of nothing else"),
        pytest.param(303, "PUT", "/b", "GET", 2, id="303 of everything"),
        pytest.param(303, "GET", "/b", "GET", 3, id="but of what is one"),
        pytest.param(307, "POST", "https://other.example/b", "POST", 2, id="nobody else learns who asks"),
    ],
)
def test_what_is_asked_after_a_redirect(status: int, method: str, target: str, then: str, headers: int) -> None:
    asked = Request(method, "https://example.com/a", BOTH, None if method == "GET" else b"{}")
    to = target if target.startswith("https") else f"https://example.com{target}"
    found = transport._redirected(asked, status, parse_url(to))
    assert (found.method, found.url, len(found.headers)) == (then, to, headers)
    assert (found.body is not None) is (then != "GET")


@pytest.mark.parametrize(
    ("source", "target", "policy", "why"),
    [
        pytest.param(
            "https://a.example", "http://a.example", {"insecure_http": True}, "plain http", id="never to http"
        ),
        pytest.param("https://a.example", "https://b.example", {}, "another site", id="not to another site"),
        pytest.param(
            "https://b.example", "https://b.example/x", {}, "another site", id="nor on, where one has come to another"
        ),
        pytest.param("https://a.example", "https://b.example", {"cross_origin": True}, "", id="unless that is meant"),
        pytest.param("http://localhost:1", "http://a.example", {"cross_origin": True}, "http", id="from here neither"),
    ],
)
def test_where_a_redirect_may_lead(source: str, target: str, policy: dict[str, bool], why: str) -> None:
    first = Origin("https", "a.example", 443)
    asked = (first, parse_url(source), parse_url(target), RequestPolicy(**policy))
    if why:
        with pytest.raises((CallBlocked, SiteError), match=why):
            transport._check_redirect(*asked)
    else:
        transport._check_redirect(*asked)


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("gzip", ""),
        ("x-gzip", ""),
        ("identity", ""),
        ("", ""),
        ("gzip, br2", "'br2'"),
        ("zz, aa", "'aa'"),
    ],
)
def test_an_encoding_that_was_not_asked_for_is_told(encoding: str, told: str) -> None:
    asked = httpx2.Request("GET", "https://example.com/", headers={"Accept-Encoding": "gzip;q=1, deflate"})
    answer = httpx2.Response(200, headers={"Content-Encoding": encoding}, request=asked)
    if told:
        with pytest.raises(SiteError, match=f"comes as {told}, which was not asked for"):
            transport._require_known_encoding(asked, answer)
    else:
        transport._require_known_encoding(asked, answer)


@pytest.mark.parametrize(
    ("status", "cut", "fine", "whole"),
    [(199, "", False, False), (200, "", True, True), (299, "x", True, False), (300, "", False, False)],
)
def test_when_a_site_did_as_asked(status: int, cut: str, fine: bool, whole: bool) -> None:
    answer = SiteReply("https://example.com/", status, (), b"", 1.0, cut)
    assert (answer.fine, answer.whole) == (fine, whole)


# Formats of arguments


@pytest.mark.parametrize(
    ("name", "fits", "does_not"),
    [
        ("date-time", "2026-01-31t12:00:00z", "2026-01-31 12:00:00Z"),
        ("date-time", "2026-12-31T23:59:60Z", "2026-12-31T22:59:60Z"),
        ("time", "22:59:60-01:00", "22:59:60+01:00"),
        ("time", "00:59:60+01:00", "00:59:60-01:00"),
        ("date-time", "2024-02-29T00:00:00Z", "2026-02-29T00:00:00Z"),
        ("uri", "mailto:a@b.example", "https:///path"),
        ("uri", "http://a.example", "http:path"),
        ("uri", "HTTPS://[::1]:80/", "https://[::g]/"),
        ("uri-reference", "./a:b", "a b:c"),
        ("uri-reference", "/a:b", ":b"),
        ("uri-reference", "//a.example", "//a@b@c/"),
        ("iri", "https://é.example/ü", "https://é.example/ü|"),
        ("hostname", "a-b.example", "a_b.example"),
        ("hostname", "xn--9ca.example", "xn--a.example"),
        ("hostname", "ab-c-d.example", "ab--c.example"),
        ("idn-hostname", "é。example", "-é.example"),
        ("duration", "P1DT2H", "P1D2H"),
        ("duration", "P2W", "P1Y2W"),
        ("uuid", "123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"),
        ("byte", "YQ==", "YQ="),
        ("uri-template", "/a/{b}", "/a/{b"),
        ("regex", "^a+$", "("),
        ("no-such-format", "x", None),
    ],
)
def test_which_texts_a_format_takes(name: str, fits: str, does_not: str | None) -> None:
    checker = format_checker()
    assert checker.conforms(fits, name)
    assert does_not is None or not checker.conforms(does_not, name)
    assert checker.conforms(5, name), "a format speaks of texts"


# Examples of requests


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"examples": ["e"], "enum": ["c"], "default": "d"}, "e", id="its own example before all else"),
        pytest.param({"enum": ["c"], "default": "d"}, "c", id="then the first choice"),
        pytest.param({"const": "k", "default": "d"}, "k", id="then the only value"),
        pytest.param({"default": "d"}, "d", id="then what it is without one"),
        pytest.param(
            {"default": "", "format": "email"}, "user@example.com", id="which tells nothing where it is empty"
        ),
        pytest.param({"examples": [], "type": "boolean"}, True, id="nor does an empty list"),
        pytest.param({"type": ["integer", "null"]}, 1, id="the first of its types"),
        pytest.param({"type": "integer", "minimum": 5}, 5, id="the least, above one"),
        pytest.param({"type": "integer", "minimum": -5}, 1, id="one, where that may be"),
        pytest.param({"type": "number", "maximum": 0.5}, 0.5, id="the most, below one"),
        pytest.param({"type": "array"}, ["item"], id="one of a list, by the name of one"),
        pytest.param({"properties": {"at": {}}}, {"at": "at"}, id="an object by its properties alone"),
        pytest.param({"minLength": 7}, "itemsit", id="long enough"),
        pytest.param({"maxLength": 2}, "it", id="short enough"),
        pytest.param({"maxLength": 0}, "items", id="but never nothing"),
    ],
)
def test_what_stands_for_a_value(schema: dict[str, Any], value: Any) -> None:
    assert example_value(schema, "items", 0) == value


@pytest.mark.parametrize(
    ("example", "command"),
    [
        pytest.param(Example("x", "GET", "https://a.example/"), "curl https://a.example/", id="GET needs no word"),
        pytest.param(
            Example("x", "PUT", "https://a.example/?b=1", (("A", "b c"),), "{}"),
            "curl -X PUT -H 'A: b c' --data '{}' 'https://a.example/?b=1'",
            id="another does, and what a shell would read is quoted",
        ),
        pytest.param(Example("x", problem="no"), "", id="none, where there is no request"),
    ],
)  # fmt: skip
def test_how_a_request_is_made_in_a_shell(example: Example, command: str) -> None:
    assert example.command == command


def test_a_request_of_a_site_without_a_url_goes_to_example_com() -> None:
    document = {"site": {"url": "no url"}, "capabilities": {}}
    made = example_of(Manifest(parse(json.dumps(document))), capability(urlTemplate="/p/{a}"))
    assert made.url.startswith("https://example.com/p/a")


def test_of_arguments_that_are_no_json_the_first_mistake_is_told() -> None:
    with pytest.raises(SiteError, match=r"line 1, column 7"):
        read_arguments('{"a": nope,\n"b": nope}')
