"""The client's pure parts: which URL, which request, which state, how long a copy is fresh."""

from __future__ import annotations

import base64
import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from urllib.request import Request as UrlRequest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_manifest.client.arguments import lookup, misfits, read_arguments, unused
from aurora_manifest.client.cache import MAX_ENTRIES, MAX_FRESH, CachedManifest, ManifestCache, fresh_until
from aurora_manifest.client.consent import MASK, destructive, password, secret
from aurora_manifest.client.cookies import Jar
from aurora_manifest.client.origins import Origin, manifest_url, origin_of, parse_url, require_safe
from aurora_manifest.client.redaction import Hiding
from aurora_manifest.client.request import CapabilityCall, build_call
from aurora_manifest.client.state import MAX_HEADER, read_state
from aurora_manifest.client.transport import SiteReply
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Capability, Manifest
from aurora_protocol import CallBlocked, SiteError

SITE = Origin("https", "example.com", 443)


def capability(name: str = "x", parameters: dict[str, Any] | None = None, **action: Any) -> Capability:
    mapping = action.pop("mapping", None)
    action = {"type": "HTTP", "method": "GET", "urlTemplate": "/", **action}
    action["parameterMapping"] = mapping if mapping is not None else {each: f"/{each}" for each in "abcd"}
    document = {"capabilities": {name: {"id": name, "v": 1, "parameters": parameters, "action": action}}}
    return Manifest(parse(json.dumps(document))).capabilities[name]


def request(arguments: dict[str, Any], **action: Any) -> CapabilityCall:
    return build_call(capability(**action), SITE, arguments)


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("example.com", "https://example.com/.well-known/aura.json"),
        ("https://example.com/blog/page?x#y", "https://example.com/.well-known/aura.json"),
        ("https://EXAMPLE.com:443", "https://example.com/.well-known/aura.json"),
        ("localhost:3000", "http://localhost:3000/.well-known/aura.json"),
        ("http://[::1]:80/", "http://[::1]/.well-known/aura.json"),
        ("https://example.com/my/aura.JSON?v=1#x", "https://example.com/my/aura.JSON?v=1"),
    ],
)
def test_where_a_manifest_is_looked_for(typed: str, url: str) -> None:
    assert str(manifest_url(typed)) == url


@pytest.mark.parametrize("url", ["http://localhost:0", "http://localhost:65536", "localhost:99999"])
def test_a_port_that_is_none_is_told(url: str) -> None:
    with pytest.raises(SiteError, match="there is no port"):
        manifest_url(url)


@pytest.mark.parametrize(
    ("url", "insecure", "allowed"),
    [
        ("https://example.com", False, True),
        ("http://example.com", False, False),
        ("http://example.com", True, True),
        ("http://localhost:3000", False, True),
        ("http://shop.localhost", False, True),
        ("http://127.0.0.2", False, True),
        ("http://[::1]", False, True),
        ("http://10.0.0.1", False, False),
        ("http://localhost.example.com", False, False),
    ],
)
def test_plain_http_is_for_this_machine_unless_the_user_allows_more(url: str, insecure: bool, allowed: bool) -> None:
    with nullcontext() if allowed else pytest.raises(CallBlocked, match="plain http"):
        require_safe(parse_url(url), insecure=insecure)


def test_origins_are_equal_only_when_all_three_parts_are() -> None:
    def same(one: str, other: str) -> bool:
        return origin_of(parse_url(one)) == origin_of(parse_url(other))

    assert same("https://example.com", "https://EXAMPLE.com.:443/x")
    assert not same("https://example.com", "http://example.com")
    assert not same("https://example.com", "https://example.com:8443")
    assert not same("https://example.com", "https://www.example.com")
    loopback = {host: origin_of(parse_url(f"http://{host}")).loopback for host in ("localhost", "127.9.9.9", "[::1]")}
    assert all(loopback.values())
    assert not origin_of(parse_url("http://localhost.example.com")).loopback


@pytest.mark.parametrize(
    ("action", "arguments", "url", "body"),
    [
        ({"urlTemplate": "/p{?a,b*}"}, {"a": True, "b": ["x y", 2]}, "/p?a=true&b=x%20y&b=2", None),
        ({"urlTemplate": "/p{?a,b,c}"}, {"a": 10.0, "b": [], "c": None}, "/p?a=10", None),
        ({"urlTemplate": "/p{?a*}"}, {"a": {"k": "v w", "n": 1}}, "/p?k=v%20w&n=1", None),
        ({"urlTemplate": "/p/{a}{/b*}{;c}"}, {"a": "x/y", "b": ["l", "m"], "c": "é"}, "/p/x%2Fy/l/m;c=%C3%A9", None),
        ({"urlTemplate": "/p/{a:3}{#b}"}, {"a": "abcdef", "b": "f"}, "/p/abc", None),
        ({"urlTemplate": "/p"}, {"a": [1, 2], "b": "&="}, "/p?a=1&a=2&b=%26%3D", None),
        ({"urlTemplate": "/p{?a}"}, {"a": 1, "b": 2}, "/p?a=1&b=2", None),
        ({"urlTemplate": "/p/{a}", "method": "PUT"}, {"a": 1, "b": {"c": [None]}}, "/p/1", {"b": {"c": [None]}}),
        ({"method": "POST", "encoding": "query"}, {"a": 1}, "/?a=1", None),
        ({"method": "DELETE", "encoding": "json"}, {"a": 1}, "/", {"a": 1}),
        ({"method": "POST"}, {}, "/", {}),
        ({"method": "POST", "mapping": {}}, {}, "/", None),
        ({"method": "POST", "mapping": {"city": "/to/0/city", "all": ""}}, {"to": [{"city": "B"}]}, "/", "nested"),
    ],
)
def test_what_a_call_sends(action: dict[str, Any], arguments: dict[str, Any], url: str, body: Any) -> None:
    sent = request(arguments, **action).request
    assert sent.url == f"https://example.com{url}"
    expected = {"city": "B", "all": arguments} if body == "nested" else body
    assert (None if sent.body is None else json.loads(sent.body)) == expected


@pytest.mark.parametrize("encoding", ["form", "JSON", ""])
def test_an_encoding_that_nobody_here_can_write_is_refused(encoding: str) -> None:
    with pytest.raises(SiteError, match=r"encoding is .*; a request can be written in json or query only"):
        request({"a": 1}, method="POST", encoding=encoding)


@pytest.mark.parametrize(
    ("template", "mapping", "arguments", "url"),
    [
        ("/{lang}/p{?n}", {"lang": "/lang", "n": "/n"}, {}, "/en/p"),
        ("/{lang}/p", {"lang": "/lang"}, {"lang": "fr"}, "/fr/p"),
        ("/{+lang}/p", {}, {}, "/en/p"),
        ("/{v}/p", {"v": "/deep/v"}, {}, "/1/p"),
        ("/p{/lang}", {"lang": "/lang"}, {}, "/p"),
        ("/p", {"lang": "/lang"}, {}, "/p"),
    ],
)
def test_a_default_fills_what_the_path_needs_and_nothing_else(
    template: str, mapping: dict[str, str], arguments: dict[str, Any], url: str
) -> None:
    properties = {"lang": {"default": "en"}, "n": {"default": 5}, "deep": {"default": {"v": 1}}}
    sent = request(arguments, urlTemplate=template, mapping=mapping, parameters={"properties": properties}).request
    assert sent.url == f"https://example.com{url}"


def test_a_default_stands_in_for_no_argument_that_was_given() -> None:
    action = {"urlTemplate": "/{v}/p", "mapping": {"v": "/deep/v"}}
    schema = {"properties": {"deep": {"default": {"v": 1}}}}
    for arguments in ({"deep": {}}, {"deep": {"v": None}}, {"deep": {"v": ""}}):
        with pytest.raises(SiteError, match="the path needs a value"):
            request(arguments, parameters=schema, **action)


def test_the_manifest_says_where_a_value_goes() -> None:
    location = {"a": "header", "b": "query", "c": "body", "d": "path"}
    action = {"method": "POST", "urlTemplate": "/p/{d}", "parameterLocation": location}
    sent = request({"a": ["x", 1], "b": "q", "c": "c", "d": "d"}, **action).request
    assert sent.url == "https://example.com/p/d?b=q"
    assert dict(sent.headers) == {"Content-Type": "application/json", "a": "x, 1"}
    assert json.loads(sent.body or b"") == {"c": "c"}


@pytest.mark.parametrize(
    ("action", "arguments", "error"),
    [
        ({"urlTemplate": "/p/{a}", "method": "DELETE"}, {}, SiteError),
        ({"urlTemplate": "/p/{a}", "method": "DELETE"}, {"a": ""}, SiteError),
        ({"urlTemplate": "/p/{a}", "method": "DELETE"}, {"a": None}, SiteError),
        ({"urlTemplate": "/p/{a}"}, {"a": ".."}, CallBlocked),
        ({"urlTemplate": "/p/{+a}"}, {"a": "../x"}, CallBlocked),
        ({"urlTemplate": "/p/{+a}"}, {"a": "%2e%2E/x"}, CallBlocked),
        ({"urlTemplate": "{+a}"}, {"a": "//evil.example/"}, CallBlocked),
        ({"urlTemplate": "https://example.com:444/{a}"}, {"a": "x"}, CallBlocked),
        ({"urlTemplate": "https://example.com{+a}"}, {"a": "@evil.example"}, SiteError),
        ({"urlTemplate": "https://example.com{+a}"}, {"a": ".evil.example/"}, CallBlocked),
        ({"urlTemplate": "javascript:{a}"}, {"a": "x"}, SiteError),
        ({"urlTemplate": "/p{?a}"}, {"a": [["nested"]]}, SiteError),
        ({"urlTemplate": "/p{?a"}, {"a": 1}, SiteError),
        ({"parameterLocation": {"a": "header"}}, {"a": "x\r\nEvil: 1"}, SiteError),
        ({"parameterLocation": {"Host": "header"}, "mapping": {"Host": "/a"}}, {"a": "evil"}, CallBlocked),
        ({"parameterLocation": {"a": "path"}}, {"a": "x"}, SiteError),
        ({"parameterLocation": {"a": "cookie"}}, {"a": "x"}, SiteError),
        ({"mapping": {"a": "no-pointer"}}, {"a": "x"}, SiteError),
        ({"method": "TRACE"}, {}, SiteError),
    ],
)
def test_what_is_never_sent(action: dict[str, Any], arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        request(arguments, **action)


words = st.text(alphabet='ab.:/@?#%{}\\ "\r\né\U0001f600', max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
pieces = st.lists(
    st.sampled_from(["/p", "/{a}", "{+b}", "{?c*}", "{&d}", "{/a*}", "{#b}", "{;c}", "https://", ":", "@"])
)


@given(template=pieces, arguments=st.dictionaries(st.sampled_from("abcd"), values))
def test_whatever_is_asked_stays_on_the_site_or_is_refused(template: list[str], arguments: dict[str, Any]) -> None:
    try:
        sent = request(arguments, urlTemplate="".join(template)).request
    except (SiteError, CallBlocked):
        return
    assert origin_of(parse_url(sent.url)) == SITE


def test_pointers_find_what_rfc_6901_says() -> None:
    document = {"a/b": 1, "m~n": [{"": 2}], "": 3}
    found = {
        pointer: lookup(document, pointer) for pointer in ("/a~1b", "/m~0n/0/", "/", "", "/m~0n/00", "/x", "/m~0n/-")
    }
    assert found["/a~1b"] == (True, 1)
    assert found["/m~0n/0/"] == (True, 2)
    assert found["/"] == (True, 3)
    assert found[""] == (True, document)
    assert [found[each] for each in ("/m~0n/00", "/x", "/m~0n/-")] == [(False, None)] * 3


def test_misfits_name_their_places_and_no_values() -> None:
    schema = {
        "type": "object",
        "required": ["it's", "n"],
        "properties": {"pw": {"minLength": 9}, "list": {"items": {"enum": [1]}}, "f": {"format": "email"}},
        "additionalProperties": False,
    }
    found = {each.path: each.message for each in misfits(schema, {"pw": "hunter2", "list": [1, 2], "f": "x", "q": 1})}
    assert set(found) == {"", "/it's", "/n", "/pw", "/list/1", "/f"}
    assert "q" in found[""]
    assert "hunter2" not in str(found)
    assert misfits(None, {"a": 1}) == []


def test_misfits_write_what_is_allowed_as_the_manifest_does() -> None:
    schema = {"properties": {"a": {"const": None}, "b": {"enum": ["x", True, None]}, "c": {"const": "y"}}}
    assert [each.message for each in misfits(schema, {"a": 1, "b": 1, "c": 1})] == [
        "must be null",
        "must be one of x, true, null",
        "must be y",
    ]


@pytest.mark.parametrize("pointer", ["a", "/a~b", "#/a"])
def test_a_pointer_that_is_none_is_the_manifests_fault(pointer: str) -> None:
    with pytest.raises(SiteError, match="maps a to no argument"):
        unused({"a": pointer}, {"a": 1})


def test_what_silences_rules_is_neither_sent_nor_checked() -> None:
    ignore = {"x-aurora-ignore": "mapping-pointer"}
    listed = {"x-aurora-ignore": ["parameter-unmapped"]}
    action = {"method": "POST", "mapping": {"a": "/a", **ignore}, "parameterLocation": {"a": "query", **ignore}}
    sent = request({"a": 1, "x-aurora-ignore": 2}, **action).request
    assert (sent.url, sent.body) == ("https://example.com/?a=1", b"{}")
    deeper = {"type": "object", "properties": {"b": {"type": "string"}, **listed}, **ignore}
    schema = {"properties": {"a": deeper, **listed}, **ignore}
    assert misfits(schema, {"a": {"b": "x"}}) == []
    assert [each.path for each in misfits(schema, {"a": {"b": 1}})] == ["/a/b"]


@pytest.mark.parametrize(
    ("schema", "fits", "breaks"),
    [
        ({"pattern": r"^\p{L}+$"}, ["Été", "文"], ["a1", ""]),
        ({"pattern": r"^[^\P{Lu}]+$"}, ["ÀB"], ["Ab"]),
        ({"pattern": r"^(?<year>\d{4})-\k<year>$"}, ["2020-2020"], ["2020-2021", "٢٠٢٠-٢٠٢٠"]),
        ({"pattern": "^[a-zA-Z0-9-]+$"}, ["7"], ["7\n", "é"]),
        ({"pattern": r"^\w.\s$"}, ["a-\ufeff", "a-\u2003"], ["é- ", "a\r ", "a\u2028 "]),
        ({"pattern": r"^\uD83D\uDE00\u{1f600}[\u0041\/]$"}, ["😀😀A", "😀😀/"], ["😀😀B"]),
        ({"pattern": r"\p{Script=Greek}"}, ["x"], []),
        ({"not": {"pattern": r"\p{Script=Greek}"}}, ["x"], []),
        ({"format": "uri"}, ["https://a.example/b?c#d", "urn:x:y"], ["a b", "/relative", "https://", "http://a/%z"]),
        ({"format": "date-time"}, ["2026-01-31T12:00:00.5+01:00"], ["2026-02-30T12:00:00Z", "2026-01-31 12:00:00"]),
        ({"format": "time"}, ["12:00:00Z"], ["12:00:00", "24:00:00Z"]),
        ({"format": "regex"}, [r"^\p{L}$"], ["["]),
        ({"$ref": "#short", "minLength": 2}, ["ab"], ["a", "abcd"]),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/$defs/s", "minLength": 9}, ["a"], []),
        ({"prefixItems": [{"type": "string"}]}, [["a"]], [[1]]),
        (
            {"patternProperties": {"^\\p{Lu}$": {"type": "null"}}, "additionalProperties": False},
            [{"É": None}],
            [{"e": 1}],
        ),
        ({"patternProperties": {"\\p{Script=Thai}": {}}, "additionalProperties": False}, [{"e": 1}], []),
        ({"const": {"pattern": "$"}}, [{"pattern": "$"}], [{"pattern": "x"}]),
        ({"properties": {"pattern": {"pattern": "^a$"}}}, [{"pattern": "a"}], [{"pattern": "a\n"}]),
    ],
)
def test_arguments_are_checked_by_the_dialect_that_the_rules_promise(
    schema: dict[str, Any], fits: list[Any], breaks: list[Any]
) -> None:
    definitions = {"s": {"$anchor": "short", "maxLength": 3}}
    if "$schema" in schema:
        whole = {**schema, "properties": {"a": {"$ref": "#/$defs/s", "minLength": 9}}, "$defs": definitions}
        del whole["$ref"], whole["minLength"]
    else:
        whole = {"properties": {"a": schema}, "$defs": definitions}
    assert [each for each in fits if misfits(whole, {"a": each})] == []
    assert [each for each in breaks if not misfits(whole, {"a": each})] == []


def test_a_pattern_is_told_as_the_manifest_has_it() -> None:
    assert misfits({"properties": {"a": {"pattern": r"^\p{L}$"}}}, {"a": "1"})[0].message == r"must match ^\p{L}$"


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"properties": {"a": {"pattern": "["}}}, "no JSON Schema"),
        ({"properties": {"a": {"$ref": "#nowhere"}}}, "refer to what they do not have: .*nowhere"),
        ({"properties": {"a": {"$ref": "https://elsewhere.example/s"}}}, "refer to what they do not have"),
        ({"$schema": "x", "properties": {"a": {"minLength": -1}}}, "no JSON Schema"),
    ],
)
def test_parameters_that_nothing_can_be_checked_against(schema: dict[str, Any], told: str) -> None:
    with pytest.raises(SiteError, match=told):
        misfits(schema, {"a": "x"})


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '{"a": 1,}', "[" * 500, '{"a": 1} {"b": 2}'])
def test_arguments_that_are_no_object(text: str) -> None:
    with pytest.raises(SiteError):
        read_arguments(text)


states = st.dictionaries(words, values, max_size=4)


@given(states, st.booleans(), st.booleans())
def test_every_state_is_read_in_both_alphabets_padded_or_not(document: dict[str, Any], url: bool, padded: bool) -> None:
    data = json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")
    text = (base64.urlsafe_b64encode if url else base64.b64encode)(data).decode()
    state = read_state(text if padded else text.rstrip("="))
    assert state.document == json.loads(data)


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda data: base64.b64encode(data).decode()))
def test_no_header_breaks_the_reading_of_states(text: str) -> None:
    try:
        assert isinstance(read_state(text).document, dict)
    except SiteError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("", "empty"),
        ("e30*", "'*' at character 3"),
        ("e", "missing"),
        ("e30====", "too many ="),
        ("-_+/", "mixes"),
        ("A" * (MAX_HEADER + 1), "limit"),
        (base64.b64encode(b"\xff\xfe").decode(), "UTF-8: byte 0"),
        (base64.b64encode(b"[1]").decode(), "no object"),
        (base64.b64encode(b'{"a": ').decode(), "JSON"),
        (base64.b64encode(b"[" * 5000).decode(), "JSON"),
    ],
)
def test_a_state_that_cannot_be_read_says_why(header: str, told: str) -> None:
    with pytest.raises(SiteError, match=r"(?s).*") as caught:
        read_state(header)
    assert told in str(caught.value)


def test_a_state_of_another_shape_is_read_with_its_problems() -> None:
    encoded = base64.b64encode(b'{"isAuthenticated": "yes", "capabilities": [1], "context": 5}').decode()
    state = read_state(f"AURA-State: {encoded}")
    assert (state.is_authenticated, state.capabilities, len(state.problems)) == (None, None, 3)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"cache-control": "max-age=60"}, 60),
        ({"cache-control": "public, MAX-AGE=60", "age": "50"}, 10),
        ({"cache-control": "max-age=60", "age": "500"}, 0),
        ({"cache-control": "max-age=60, no-cache"}, 0),
        ({"cache-control": "max-age=99999999999"}, 7 * 86400),
        ({"cache-control": "max-age=soon"}, 0),
        ({"date": "Sun, 22 Nov 2026 04:00:00 GMT", "expires": "Sun, 22 Nov 2026 04:01:00 GMT"}, 60),
        ({"expires": "0"}, 0),
        ({"cache-control": "max-age=0", "expires": "Sun, 22 Nov 2099 04:01:00 GMT"}, 0),
    ],
)
def test_how_long_a_copy_is_fresh(headers: dict[str, str], seconds: float) -> None:
    assert max(0.0, fresh_until(headers, 1000.0) - 1000.0) == seconds


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        ({"cache-control": "max-age=60"}, True),
        ({"cache-control": "max-age=60", "vary": "accept"}, True),
        ({"cache-control": "max-age=60", "vary": "*"}, False),
        ({"cache-control": "max-age=60, no-store"}, False),
        ({"etag": '"1"'}, True),
        ({}, False),
    ],
    ids=["fresh", "varies with the type", "varies with everything", "not to be kept", "can be asked", "says nothing"],
)
def test_which_answers_are_kept_in_place_of_the_last(tmp_path: Path, headers: dict[str, str], kept: bool) -> None:
    cache = ManifestCache(tmp_path)
    url = "https://example.com/.well-known/aura.json"
    cache.put(SiteReply(url, 200, (("cache-control", "max-age=9"),), b"old", 1.0), 1000.0)
    cache.put(SiteReply(url, 200, tuple(headers.items()), b"new", 1.0), 1000.0)
    found = cache.get(url)
    assert (found.body if found is not None else None) == (b"new" if kept else None)


def test_a_secure_cookie_goes_to_no_other_machine_in_the_clear(tmp_path: Path) -> None:
    file = tmp_path / "jar.txt"
    hosts = ("example.com", "127.0.0.1", "localhost")
    file.write_text("# Netscape HTTP Cookie File\n" + "".join(f"{each}\tFALSE\t/\tTRUE\t\ts\t1\n" for each in hosts))
    jar = Jar(file).load()
    sent = {}
    for url in ("http://example.com/", "https://example.com/", "http://127.0.0.1:81/", "http://localhost/"):
        asked = UrlRequest(url)
        jar.add_cookie_header(asked)
        sent[url] = asked.get_header("Cookie")
    assert list(sent.values()) == [None, "s=1", "s=1", "s=1"]


def test_what_may_destroy_is_told_by_method_or_name() -> None:
    assert destructive(capability("x", method="DELETE"))
    for name in ("delete_post", "removeUser", "purge-all", "cancelOrder"):
        assert destructive(capability(name, method="POST")), name
    for name in ("list_posts", "undeleted_list", "update_post"):
        assert destructive(capability(name, method="PUT")) is None, name


def test_secrets_are_told_by_name_or_schema() -> None:
    assert all(map(secret, ("password", "newPassword", "api_key", "access-token", "clientSecret")))
    assert not any(map(secret, ("title", "keyboard", "tokens_used_hint", "author")))
    assert secret("x", {"format": "password"})
    assert secret("tokens")
    assert not secret("max_tokens", {"type": "integer"})


PASSWORD = {"type": "string", "format": "password"}
LOGIN = {
    "properties": {
        "password": {},
        "count": {"type": "integer"},
        "otp": {"type": "integer"},
        "tokens": {"type": "array"},
        "user": {"properties": {"name": {}, "pw": PASSWORD}},
        "users": {"items": {"$ref": "#/properties/user"}},
        "either": {"anyOf": [{"type": "null"}, PASSWORD]},
    }
}


@pytest.mark.parametrize(
    ("mapping", "arguments", "shown"),
    [
        ({"p": "/password"}, {"password": "hunter22"}, {"p": "***"}),
        ({"password": "/count"}, {"count": 5}, {"password": "***"}),
        ({"u": "/user"}, {"user": {"name": "ann", "pw": "hunter22"}}, {"u": {"name": "ann", "pw": "***"}}),
        ({"u": "/user/pw", "n": "/user/name"}, {"user": {"name": "ann", "pw": "hunter22"}}, {"u": "***", "n": "ann"}),
        ({"l": "/users"}, {"users": [{"pw": "hunter22", "name": "ann"}]}, {"l": [{"pw": "***", "name": "ann"}]}),
        ({"all": ""}, {"user": {"pw": "hunter22"}, "count": 5}, {"all": {"user": {"pw": "***"}, "count": 5}}),
        ({"e": "/either"}, {"either": "hunter22"}, {"e": "***"}),
        ({"first": "/tokens/0"}, {"tokens": ["hunter22"]}, {"first": "***"}),
        ({"p": "/password"}, {"password": None}, {"p": None}),
    ],
)
def test_secrets_are_masked_wherever_in_a_body_they_are(
    mapping: dict[str, str], arguments: dict[str, Any], shown: dict[str, Any]
) -> None:
    planned = request(arguments, method="POST", mapping=mapping, parameters=LOGIN)
    assert planned.shown_body == shown
    assert json.loads(planned.request.body or b"") == planned.body
    assert planned.secrets == (
        {"hunter22"} if "hunter22" in str(arguments) else {"5"} if arguments.get("count") else set()
    )


@pytest.mark.parametrize(
    ("template", "arguments", "shown"),
    [
        ("/x{?otp}", {"otp": 834712}, "/x?otp=***"),
        ("/x{?tokens*}", {"tokens": ["a", "b"]}, "/x?tokens=***"),
        ("/x/{+token}/y", {"token": "a/b c"}, "/x/***/y"),
        ("/x{?token:6}", {"token": "abcdefghi"}, "/x?token=***"),
        ("/x{?token:1,count}", {"token": "abcdefghi", "count": 3}, "/x?token=***&count=3"),
        ("/x{?f*}", {"f": {"pin": "1", "n": 2}}, "/x?n=2&pin=***"),
        ("/x", {"token": ["a", "b"], "count": 3}, "/x?token=***&count=3"),
        ("https://example.com{+token}", {"token": "/a"}, "/***"),
        ("/x/{session}", {"session": "x"}, "/x/***"),
    ],
)
def test_secrets_are_masked_wherever_in_a_url_they_are(template: str, arguments: dict[str, Any], shown: str) -> None:
    mapping = {name: f"/{name}" for name in arguments}
    planned = request(arguments, urlTemplate=template, mapping=mapping)
    assert planned.shown_url == f"https://example.com{shown}"


@pytest.mark.parametrize("path", ["/files/report;", "/files/;", "/a;b;/c;", "/files/report;v=1"])
def test_a_semicolon_is_part_of_a_path(path: str) -> None:
    assert request({}, method="DELETE", urlTemplate=path).request.url == f"https://example.com{path}"


@pytest.mark.parametrize(
    ("template", "value"),
    [("/docs/{+a}", "x#y"), ("/docs/{+a}/draft", "x?y"), ("/docs/{+a}/draft", "x#y"), ("/docs/{+a}{/b}", "x?y")],
)
def test_a_reserved_value_cannot_cut_a_path(template: str, value: str) -> None:
    with pytest.raises(CallBlocked, match="ends the path after 'x'"):
        request({"a": value}, method="DELETE", urlTemplate=template, mapping={"a": "/a"})


@pytest.mark.parametrize("template", ["/docs/{+a}", "/docs/{+a}{?b}", "/docs/{+a}?b=1"])
def test_a_reserved_value_may_hold_the_query_that_ends_it(template: str) -> None:
    assert "/docs/x?y" in request({"a": "x?y"}, urlTemplate=template, mapping={"a": "/a"}).request.url


@pytest.mark.parametrize(
    ("name", "schema", "is_one"),
    [
        pytest.param("password", {"type": "string"}, True, id="a text that is called so"),
        pytest.param("password", None, True, id="whatever it is, where nothing says"),
        pytest.param("password_length", {"type": "integer"}, False, id="not a number"),
        pytest.param("passwords", {"type": "array", "format": "password"}, True, id="what says that it is one"),
        pytest.param("note", {"type": "string", "writeOnly": True}, True, id="what is never shown again"),
        pytest.param("token", {"type": "string"}, False, id="not what is merely of a session"),
    ],
)
def test_what_is_a_password(name: str, schema: Any, is_one: bool) -> None:
    assert password(name, schema) is is_one


def test_of_saved_cookies_those_that_have_expired_meanwhile_are_gone(tmp_path: Path) -> None:
    """Those of a session stay: a command's session is longer than its process."""
    file = tmp_path / "jar.txt"
    until = {"old": "4000000000", "new": "4000000000", "own": ""}
    lines = [f".shop.example\tTRUE\t/\tFALSE\t{when}\t{name}\tv" for name, when in until.items()]
    file.write_text("\n".join(["# Netscape HTTP Cookie File", *lines, ""]))
    jar = Jar(file)
    for cookie in jar.load():
        cookie.expires = 1 if cookie.name == "old" else cookie.expires
    jar.save()
    kept = [line.split("\t")[5] for line in file.read_text().splitlines()[1:]]
    assert sorted(kept) == ["new", "own"]
    assert {cookie.name: cookie.domain for cookie in Jar(file).load()} == dict.fromkeys(kept, ".shop.example")


def test_a_slash_alone_names_nothing_behind_a_slash() -> None:
    with pytest.raises(SiteError, match="the path needs a value"):
        request({"a": "/"}, method="DELETE", urlTemplate="/docs/{+a}", mapping={"a": "/a"})
    assert request({"a": "/"}, urlTemplate="{+a}", mapping={"a": "/a"}).request.url == "https://example.com/"


@pytest.mark.parametrize("value", ["../x", "a/..", "..\\x"])
def test_steps_that_a_server_decodes_lead_nowhere_else(value: str) -> None:
    with pytest.raises(CallBlocked, match="lead elsewhere"):
        request({"id": value}, method="DELETE", urlTemplate="/i/{id}", mapping={"id": "/id"})


def test_an_empty_value_of_an_exploded_map_is_a_name_alone() -> None:
    sent = request({"m": {"a": "1=", "b": "", "c": ""}}, urlTemplate="/p{;m*}{?m*}", mapping={"m": "/m"})
    assert sent.request.url == "https://example.com/p;a=1%3D;b;c?a=1%3D&b=&c="


@pytest.mark.parametrize(
    ("sent", "told"),
    [("17", "17 s"), ("Mon, 23 Nov 2026 22:47:00 GMT", "Mon, 23 Nov 2026 22:47:00 GMT"), ("-5", ""), ("\x1b[31m", "")],
)
def test_how_long_a_site_asks_to_wait(sent: str, told: str) -> None:
    assert SiteReply("https://example.com/", 429, (("retry-after", sent),), b"", 1.0).wait == told


@pytest.mark.parametrize("value", ["#x", "?x", "#", "?"])
def test_a_reserved_value_cannot_empty_a_path(value: str) -> None:
    with pytest.raises(SiteError, match="the path needs a value for a, and the one given leaves it empty"):
        request({"a": value}, method="DELETE", urlTemplate="/files/{+a}")


@pytest.mark.parametrize(
    "name",
    "X-HTTP-Method-Override x-method-override Origin Referer X-Forwarded-For Sec-Fetch-Site Via X-Original-URL "
    "X-Rewrite-URL X-Real-IP True-Client-IP X-HTTP-Host-Override".split(),
)
def test_headers_that_say_who_asks_or_what_are_no_arguments(name: str) -> None:
    with pytest.raises(CallBlocked, match="may not set this header"):
        request({"a": "DELETE"}, mapping={name: "/a"}, parameterLocation={name: "header"})


def test_an_apostrophe_and_other_scripts_are_text_of_a_template() -> None:
    assert request({"a": "x"}, urlTemplate="/it's/café/{a}").request.url == "https://example.com/it's/caf%C3%A9/x"


@pytest.mark.parametrize("value", [{"x": "1"}, ["xyz"]])
def test_a_prefix_is_for_text_only(value: Any) -> None:
    with pytest.raises(SiteError, match="first characters"):
        request({"a": value}, urlTemplate="/files/{a:3}")


def test_null_is_a_constant_like_others() -> None:
    schema = {"type": "object", "properties": {"a": {"const": None}}}
    assert misfits(schema, {"a": None}) == []
    assert [each.path for each in misfits(schema, {"a": 1})] == ["/a"]


def _kept(cache: ManifestCache, url: str, headers: dict[str, str], body: bytes = b"{}", now: float = 1000.0) -> None:
    cache.put(SiteReply(url, 200, tuple(headers.items()), body, 1.0), now)


def test_the_oldest_copies_go_when_there_are_too_many(tmp_path: Path) -> None:
    cache = ManifestCache(tmp_path)
    urls = [f"https://a{number}.example/.well-known/aura.json" for number in range(4)]
    for number in range(MAX_ENTRIES):
        if number < 3:
            _kept(cache, urls[number], {"etag": '"1"'})
            (file,) = [each for each in tmp_path.glob("*.entry") if each.stat().st_mtime > 10_000]
        else:  # to keep hundreds the usual way takes a look at all others each time
            (file := tmp_path / f"{number}.entry").touch()
        os.utime(file, (number, number))
    _kept(cache, urls[0], {"etag": '"2"'})  # what was written again is not old any more
    _kept(cache, urls[3], {"etag": '"1"'})
    assert len(list(tmp_path.glob("*.entry"))) == MAX_ENTRIES
    assert cache.get(urls[1]) is None
    assert cache.get(urls[0]) is not None and cache.get(urls[2]) is not None and cache.get(urls[3]) is not None


def test_a_clock_that_was_set_back_keeps_no_copy_for_longer_than_a_week() -> None:
    entry = CachedManifest("https://a.example", (), b"", fresh_until=1000.0 + MAX_FRESH)
    assert entry.fresh(1000.0) and entry.fresh(999.0 + MAX_FRESH)
    assert not entry.fresh(1000.0 + MAX_FRESH)
    assert not entry.fresh(999.0)


def test_a_copy_is_asked_about_by_its_tag_and_its_date(tmp_path: Path) -> None:
    cache = ManifestCache(tmp_path)
    modified = "Sun, 22 Nov 2026 04:00:00 GMT"
    _kept(cache, "https://a.example", {"etag": '"1"', "last-modified": modified, "set-cookie": "a=b"})
    found = cache.get("https://a.example")
    assert found is not None and "set-cookie" not in dict(found.headers)
    assert found.conditions == {"If-None-Match": '"1"', "If-Modified-Since": modified}


def test_what_a_304_says_replaces_what_was_said_and_the_body_stays(tmp_path: Path) -> None:
    cache = ManifestCache(tmp_path)
    _kept(cache, "https://a.example", {"etag": '"1"', "cache-control": "max-age=10"}, b"body")
    entry = cache.get("https://a.example")
    assert entry is not None
    answer = SiteReply("https://a.example", 304, (("cache-control", "max-age=60"),), b"", 1.0)
    renewed = cache.renewed(entry, answer, 5000.0)
    assert (renewed.body, renewed.fresh_until) == (b"body", 5060.0)
    assert dict(renewed.headers) == {"etag": '"1"', "cache-control": "max-age=60"}
    assert cache.get("https://a.example") == renewed


def test_a_copy_of_one_address_is_none_of_another(tmp_path: Path) -> None:
    cache = ManifestCache(tmp_path)
    _kept(cache, "https://a.example", {"etag": '"1"'})
    (file,) = tmp_path.glob("*.entry")
    _kept(cache, "https://b.example", {"etag": '"1"'})
    (other,) = [each for each in tmp_path.glob("*.entry") if each != file]
    file.replace(other)
    assert cache.get("https://b.example") is None


@pytest.mark.parametrize("keyword", ["if", "then", "else"])
def test_what_only_a_branch_of_a_condition_calls_secret_is_hidden(keyword: str) -> None:
    parameters = {keyword: {"properties": {"answer": {"writeOnly": True}}}}
    assert Hiding(parameters).sent("answer", "blue", "/answer") == MASK
