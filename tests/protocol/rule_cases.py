"""What each manifest rule finds and what it lets pass, as changes to one manifest that has nothing wrong with it."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

BASE: dict[str, Any] = {
    "$schema": "https://unpkg.com/aura-protocol@1.0.5/dist/aura-v1.0.schema.json",
    "id": "https://notes.example.com/.well-known/aura.json",
    "protocol": "AURA",
    "version": "1.0",
    "site": {"name": "Notes", "url": "https://notes.example.com"},
    "resources": {
        "notes": {
            "uriPattern": "/notes",
            "description": "All notes.",
            "operations": {"GET": {"capabilityId": "list_notes"}},
        },
        "note": {
            "uriPattern": "/notes/{id}",
            "description": "One note.",
            "operations": {"PUT": {"capabilityId": "update_note"}},
        },
    },
    "capabilities": {
        "list_notes": {
            "id": "list_notes",
            "v": 1,
            "description": "List all notes.",
            "action": {"type": "HTTP", "method": "GET", "urlTemplate": "/notes", "parameterMapping": {}},
        },
        "update_note": {
            "id": "update_note",
            "v": 1,
            "description": "Change a note.",
            "parameters": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "string"},
                    "text": {"type": "string"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
            },
            "action": {
                "type": "HTTP",
                "method": "PUT",
                "urlTemplate": "/notes/{id}",
                "parameterMapping": {"id": "/id", "text": "/text", "tags": "/tags"},
            },
        },
    },
    "policy": {"rateLimit": {"limit": 60, "window": "minute"}, "authHint": "cookie"},
}


def patched(value: Any, patch: Any) -> Any:
    """A copy of `value` with `patch` merged into it (RFC 7396: `null` takes a member out)."""
    if not isinstance(patch, dict) or not isinstance(value, dict):
        return copy.deepcopy(patch)
    merged = copy.deepcopy(value)
    for name, each in patch.items():
        if each is None:
            merged.pop(name, None)
        else:
            merged[name] = patched(merged.get(name), each)
    return merged


def around(scope: str, patch: Any) -> Any:
    """A patch of a part as a patch of the manifest."""
    if scope == "capability":
        return {"capabilities": {"update_note": patch}}
    if scope == "resource":
        return {"resources": {"note": patch}}
    return patch


def spelt(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


@dataclass(frozen=True)
class Case:
    """A patch (or a whole text) in which `rule` finds exactly `covers`; what it reads after the fix is `fixed`.

    `fixed` is how the place reads afterwards: the patch of the manifest that the fix makes. None: there is no fix.
    """

    rule: str
    bad: Any
    covers: tuple[str, ...]
    fixed: Any = None
    message: str = ""

    def text(self, scope: str) -> str:
        return self.bad if isinstance(self.bad, str) else spelt(patched(BASE, around(scope, self.bad)))


def url(template: str, **more: Any) -> dict[str, Any]:
    return {"action": {"urlTemplate": template, **more}}


def mapping(**more: Any) -> dict[str, Any]:
    return {"action": {"parameterMapping": more}}


def text(**more: Any) -> dict[str, Any]:
    """The parameter `text` with these keywords as well."""
    return {"parameters": {"properties": {"text": more}}}


def located(**more: Any) -> dict[str, Any]:
    return {"action": {"parameterLocation": more}}


def update(patch: Any) -> dict[str, Any]:
    """A patch of the capability as a patch of the manifest."""
    return {"capabilities": {"update_note": patch}}


def parameter(name: str, **more: Any) -> dict[str, Any]:
    """A parameter with these keywords, and its mapping."""
    return {"parameters": {"properties": {name: more}}, **mapping(**{name: f"/{name}"})}


CASES = [
    Case("json-syntax", '{"a": 1 "b": 2}', ('"b"',), '{"a": 1, "b": 2}'),
    Case("json-syntax", "{'a': 1}", ("'a'",), '{"a": 1}'),
    Case("json-syntax", "{a: 1}", ("a",), '{"a": 1}'),
    Case("json-syntax", '{"a": True}', ("True",), '{"a": true}'),
    Case("json-syntax", '{"a": 01}', ("01",), '{"a": 1}'),
    Case("json-syntax", '{"a": hello}', ("hello",), '{"a": "hello"}'),
    Case("json-syntax", '{"a" = 1}', ("=",), '{"a" : 1}'),
    Case("json-syntax", '{"a" 1}', ("1",), '{"a" : 1}'),
    Case("json-syntax", '{"a": 1; "b": 2}', (";",), '{"a": 1, "b": 2}'),
    Case("json-syntax", '{"a": "x\ty"}', ("\t",), '{"a": "x\\ty"}'),
    Case("json-syntax", '{"a": "\\d"}', ("\\d",), '{"a": "\\\\d"}'),
    Case("json-syntax", '{"a": 1,, "b": 2}', (",",), '{"a": 1, "b": 2}'),
    Case("json-syntax", '{"a": }', ('"a":',)),
    Case("json-syntax", '{"a": 1', ("{",), '{"a": 1}'),
    Case("json-syntax", '{"a": [1, {"b": 2', ("{",), '{"a": [1, {"b": 2}]}'),
    Case("json-syntax", '{"a": {"b"', ("{",)),
    Case("json-syntax", '{"a": ["b": 1]}', ("[",), '{"a": {"b": 1}}'),
    Case("json-syntax", '{"a": {"b", "c"}}', ("{",), '{"a": ["b", "c"]}'),
    Case("json-syntax", '{"a": ("b", "c")}', ("(",), '{"a": ["b", "c"]}'),
    Case("json-syntax", '{"a": ("b": 1)}', ("(",), '{"a": {"b": 1}}'),
    Case("json-syntax", '{"a": "b" + "c"}', ('"b" + "c"',), '{"a": "bc"}'),
    Case("json-syntax", '{"a": 1}}', ("}",), '{"a": 1}'),
    Case("json-syntax", 'module.exports = {"a": 1};', ("module.exports = ",), '{"a": 1}'),
    Case("json-syntax", '```json\n{"a": 1}\n```', ("```json\n",), '{"a": 1}\n'),
    Case("json-syntax", ' "a": 1}', ('"a"',), ' {"a": 1}'),
    Case("json-comment", '{"a": 1 // one\n}', ("// one",), '{"a": 1 \n}'),
    Case("json-comment", '{\n  // one\n  "a": 1\n}', ("// one",), '{\n  "a": 1\n}'),
    Case("json-comment", '{"a": /* one */ 1}', ("/* one */",), '{"a":  1}'),
    Case("json-trailing-comma", '{"a": [1, 2,]}', (",",), '{"a": [1, 2]}'),
    Case("json-duplicate-key", '{"a": 1, "b": 2, "a": 1}', ('"a"',), '{"b": 2, "a": 1}'),
    Case("json-duplicate-key", '{"a": 1, "b": 2, "a": 3}', ('"a"',)),
    Case("json-byte-order-mark", '\ufeff{"a": 1}', ("\ufeff",), '{"a": 1}'),
    Case("json-too-deep", "[" * 101 + "]" * 101, ("[",)),
    Case("json-too-large", "[" + " " * 9_000_000 + "]", ("[",)),
    Case("schema-required", {"protocol": None}, ("{",), {"protocol": "AURA"}),
    Case("schema-required", {"$schema": None}, ("{",), {}),
    Case("schema-required", {"site": {"url": None}}, ('"site"',), {"site": {"url": "https://example.com"}}),
    Case("schema-required", update({"id": None}), ('"update_note"',), {}),
    Case(
        "schema-required",
        update({"action": {"parameterMapping": None}}),
        ('"action"',),
        {},
    ),
    Case("schema-required", {"resources": {"note": {"operations": {"PUT": {"capabilityId": None}}}}}, ('"PUT"',)),
    Case("schema-type", {"version": 1.0}, ("1.0",), {"version": "1.0"}),
    Case("schema-type", {"policy": {"rateLimit": {"limit": "60"}}}, ('"60"',), {}),
    Case("schema-type", {"site": []}, ("[]",)),
    Case("schema-enum", {"policy": {"authHint": "Bearer"}}, ('"Bearer"',), {"policy": {"authHint": "bearer"}}),
    Case("schema-enum", {"policy": {"authHint": "oauth"}}, ('"oauth"',)),
    Case("schema-const", {"protocol": "aura"}, ('"aura"',), {}),
    Case("schema-unknown-member", {"site": {"descripton": "x"}}, ('"descripton"',), {"site": {"description": "x"}}),
    Case(
        "manifest-undefined-capability",
        {"resources": {"notes": {"operations": {"GET": {"capabilityId": "list_note"}}}}},
        ('"list_note"',),
        {},
        '"list_note" is not defined under "capabilities"; did you mean "list_notes"?',
    ),
    Case(
        "manifest-undefined-capability",
        {"resources": {"notes": {"operations": {"GET": {"capabilityId": "zzz"}}}}},
        ('"zzz"',),
        {},
        '"zzz" is not defined under "capabilities"; "list_notes" goes there',
    ),
    Case(
        "manifest-undefined-capability",
        {"resources": {"note": {"operations": {"DELETE": {"capabilityId": "zzz"}}}}},
        ('"zzz"',),
    ),
    Case("schema-address", {"$schema": "https://example.com/s.json"}, ('"https://example.com/s.json"',), {}),
    Case(
        "schema-address",
        {"$schema": "https://unpkg.com/aura-protocol@1.0.3/dist/aura-v1.0.schema.json"},
        ('"https://unpkg.com/aura-protocol@1.0.3/dist/aura-v1.0.schema.json"',),
        {},
        "version 1.0.3 of the schema is out of date",
    ),
    Case(
        "schema-address",
        {"$schema": "https://unpkg.com/aura-protocol/dist/aura-v1.0.schema.json"},
        ('"https://unpkg.com/aura-protocol/dist/aura-v1.0.schema.json"',),
        {},
    ),
    Case("capability-id", {"id": "edit"}, ('"edit"',), {}),
    Case("capability-version", {"v": 1.5}, ("1.5",), update({"v": 2})),
    Case("capability-version", {"v": 0}, ("0",), {}),
    Case("capability-version", {"v": -3}, ("-3",), {}),
    Case(
        "capability-unreferenced",
        {"resources": {"notes": {"operations": {"GET": None}}}},
        ('"list_notes"',),
    ),
    Case(
        "operation-method",
        {"resources": {"note": {"operations": {"PUT": None, "POST": {"capabilityId": "update_note"}}}}},
        ('"POST"',),
        {"resources": {"note": {"operations": {"PUT": {"capabilityId": "update_note"}}}}},
        '"update_note" is called with PUT, not POST',
    ),
    Case(
        "operation-method",
        {
            "resources": {
                "note": {"operations": {"PUT": {"capabilityId": "list_notes"}, "GET": {"capabilityId": "list_notes"}}}
            }
        },
        ('"PUT"',),
        message='"list_notes" is called with GET, not PUT',
    ),
    Case("operation-unknown-method", {"operations": {"PATCH": {"capabilityId": "update_note"}}}, ('"PATCH"',)),
    Case("resource-uri-pattern", {"resources": {"note": {"uriPattern": "/note/{id}"}}}, ('"/note/{id}"',), {}),
    Case("resource-uri-pattern", {"resources": {"note": {"uriPattern": "/notes/{key}"}}}, ('"/notes/{key}"',), {}),
    Case(
        "resource-uri-pattern",
        {"resources": {"note": {"operations": {"GET": {"capabilityId": "list_notes"}}}}},
        ('"list_notes"',),
    ),
    Case(
        "request-ambiguous",
        update({"action": {"method": "GET", "urlTemplate": "/notes"}}),
        ('"/notes"',),
    ),
    Case("url-template", url("/notes/{id"), ("{",), {}),
    Case("url-template", url("/notes/{id}}"), ("}",), {}),
    Case("url-template", url("/notes/{id}/a b"), (" ",), update(url("/notes/{id}/a%20b"))),
    Case("url-template", url("/notes/{id}/%zz"), ("%",), update(url("/notes/{id}/%25zz"))),
    Case("url-template", url("/notes/{id}{}"), ("{}",)),
    Case("url-template", url("/notes/{id}{!text}"), ("!",), update(url("/notes/{id}{text}"))),
    Case("url-template", url("/notes/{id}{?te-xt}"), ("te-xt",), update(url("/notes/{id}{?text}"))),
    Case("url-template", url("/notes/{id:0}"), (":0",), {}),
    Case("url-template", url("/notes/{id}{?text,}"), (",",), update(url("/notes/{id}{?text}"))),
    Case("url-template", url('/notes/"{id"'), ('\\"', "{"), update(url('/notes/%22{id"'))),
    Case("url-template", url("/notes/{{id}}"), ("{{id}}",), {}),
    Case("url-template", url("/notes/<id>"), ("<id>",), {}),
    Case("uri-pattern", {"uriPattern": "/notes/{id"}, ("{",), {}),
    Case("url-template-colon", url("/notes/:id"), (":id",), {}),
    Case("url-template-colon", url("/notes/:id/{text}"), (":id",), update(url("/notes/{id}/{text}"))),
    Case("url-template-dollar", url("/notes/${id}"), ("${id}",), {}),
    Case("url-template-query", url("/notes/{id}{&text}"), ("{&text}",), update(url("/notes/{id}{?text}"))),
    Case("url-template-query", url("/notes/{id}?{?text}"), ("{?text}",), update(url("/notes/{id}{?text}"))),
    Case("url-template-query", url("/notes/{id}?a=1{?text}"), ("{?text}",), update(url("/notes/{id}?a=1{&text}"))),
    Case("url-template-repeats", url("/notes/{id}{?text,text}"), ("text",), update(url("/notes/{id}{?text}"))),
    Case("url-template-prefix", url("/notes/{id}{?tags:3}"), (":3",), update(url("/notes/{id}{?tags}"))),
    Case("url-template-explode", url("/notes/{id*}"), ("*",), {}),
    Case("template-variable-unmapped", url("/notes/{idd}"), ("idd",), {}),
    Case(
        "template-variable-unmapped",
        url("/notes/{id}", parameterMapping={"id": None}),
        ("id",),
        update(mapping(id="/id")),
    ),
    Case("mapping-pointer", mapping(text="text"), ('"text"',), {}),
    Case("mapping-pointer", mapping(text="#/text"), ('"#/text"',), {}),
    Case("mapping-pointer", mapping(text="$.text"), ('"$.text"',), {}),
    Case("mapping-pointer", mapping(text="/te~xt"), ("~",), update(mapping(text="/te~0xt"))),
    Case("mapping-pointer", mapping(text=5), ("5",)),
    Case("mapping-unknown-parameter", mapping(text="/txt"), ('"/txt"',), {}),
    Case("mapping-unknown-parameter", mapping(text="/zzz"), ('"/zzz"',), {}),
    Case("mapping-unknown-parameter", mapping(other="/zzz"), ('"/zzz"',)),
    Case("mapping-unknown-parameter", {"parameters": None}, ('"/id"', '"/text"', '"/tags"')),
    Case("mapping-array-index", mapping(tags="/tags/first"), ("first",)),
    Case("mapping-array-index", mapping(tags="/tags/-"), ("-",)),
    Case("mapping-array-index", mapping(tags="/tags/01"), ("01",), update(mapping(tags="/tags/1"))),
    Case(
        "parameter-unmapped",
        mapping(text=None),
        ('"text"',),
        update({"action": {"parameterMapping": {"text": "/text"}}}),
    ),
    Case(
        "required-parameter-unmapped",
        {"parameters": {"required": ["id", "text"]}, **mapping(text=None)},
        ('"text"',),
        update({"parameters": {"required": ["id", "text"]}}),
    ),
    Case("path-variable-optional", {"parameters": {"required": None}}, ("id",), {}),
    Case("path-variable-optional", {"parameters": {"required": []}}, ("id",), {}),
    Case(
        "path-variable-optional",
        {"parameters": {"required": ["text"]}},
        ("id",),
        update({"parameters": {"required": ["text", "id"]}}),
    ),
    Case(
        "body-without-meaning",
        {"action": {"method": "DELETE", "encoding": "json"}},
        ('"json"',),
        update({"action": {"method": "DELETE", "encoding": "query"}}),
    ),
    Case(
        "parameter-not-sent",
        {"action": {"method": "GET"}},
        ('"text"', '"tags"'),
        update({"action": {"method": "GET", "encoding": "query"}}),
    ),
    Case("parameter-location", located(text="querystring"), ('"querystring"',), update(located(text="query"))),
    Case("parameter-location", located(text="cookie"), ('"cookie"',)),
    Case("parameter-location", located(text=5), ("5",)),
    Case("parameter-location-conflict", located(id="query"), ('"query"',), update(located(id="path"))),
    Case("parameter-location-conflict", located(text="path"), ('"path"',), update(located(text="query"))),
    Case(
        "parameter-location-conflict",
        {"action": {"encoding": "json", "parameterLocation": {"text": "path"}}},
        ('"path"',),
        update({"action": {"encoding": "json", "parameterLocation": {"text": "body"}}}),
    ),
    Case(
        "parameter-location-conflict",
        {"action": {"encoding": "query", "parameterLocation": {"text": "body"}}},
        ('"body"',),
        update({"action": {"encoding": "query", "parameterLocation": {"text": "query"}}}),
    ),
    Case(
        "parameter-location-conflict",
        {"action": {"method": "GET", "encoding": "query", "parameterLocation": {"text": "body"}}},
        ('"body"',),
        update({"action": {"method": "GET", "encoding": "query", "parameterLocation": {"text": "query"}}}),
    ),
    Case("parameter-location-unmapped", located(txt="body"), ('"txt"',), update(located(text="body"))),
    Case("parameters-type", text(type="str"), ('"str"',), {}),
    Case("parameters-type", text(type="STR"), ('"STR"',), {}),
    Case("parameters-type", text(type="String"), ('"String"',), {}),
    Case("parameters-type", text(type="blob"), ('"blob"',)),
    Case("parameters-type", text(type=5), ("5",)),
    Case("parameters-object", {"parameters": {"type": "array"}}, ('"array"',), {}),
    Case("parameters-schema", text(minLength=-1), ("-1",)),
    Case("parameters-schema", text(minLength=1.5), ("1.5",)),
    Case("parameters-schema", text(pattern=5), ("5",)),
    Case("parameters-schema", {"parameters": {"properties": {"text": 5}}}, ("5",)),
    Case("parameters-schema", text(anyOf=[]), ("[]",)),
    Case(
        "parameters-required",
        {"parameters": {"required": ["id", "txt"]}},
        ('"txt"',),
        update({"parameters": {"required": ["id", "text"]}}),
    ),
    Case("parameters-required", {"parameters": {"required": ["id", "zzz"]}}, ('"zzz"',)),
    Case("parameters-required", text(required=["zzz"]), ('"zzz"',)),
    Case("parameters-required", {"parameters": {"required": ["id", "id"]}}, ('"id"',), {}),
    Case("parameters-pattern", text(pattern="^[a-z+$"), ("[",)),
    Case("parameters-pattern", text(pattern="a{2,1}"), ("{2,1}",)),
    Case("parameters-pattern", text(pattern="(?P<n>a)"), ("(?P<",)),
    Case("parameters-keyword", text(minimum=1), ('"minimum"',)),
    Case("parameters-ref", text(**{"$ref": "#/$defs/words"}), ('"#/$defs/words"',)),
    Case(
        "parameters-ref",
        {"parameters": {"$defs": {"words": {}}, "properties": {"text": {"$ref": "#/$defs/word"}}}},
        ('"#/$defs/word"',),
        update({"parameters": {"$defs": {"words": {}}, "properties": {"text": {"$ref": "#/$defs/words"}}}}),
        '"#/$defs/word" leads to no schema in "parameters"; did you mean "#/$defs/words"?',
    ),
    Case("parameters-dialect", {"parameters": {"dependencies": {"text": ["id"]}}}, ('"dependencies"',)),
    Case(
        "parameters-dialect",
        {
            "parameters": {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "dependencies": {"text": ["id"]},
                "dependentRequired": {"text": ["id"]},
                "properties": {"tags": {"items": [{"type": "string"}], "additionalItems": False, "minContains": 1}},
            }
        },
        ('"minContains"', '"dependentRequired"'),
    ),
    Case(
        "operation-repeats",
        {
            "resources": {
                "more": {
                    "uriPattern": "/notes",
                    "description": "All notes.",
                    "operations": {"GET": {"capabilityId": "list_notes"}},
                }
            }
        },
        ('"GET"',),
    ),
    Case("parameters-format", text(format="e-mail"), ('"e-mail"',), update(text(format="email"))),
    Case("parameters-range", text(minLength=20, maxLength=10), ("10",), update(text(minLength=10, maxLength=20))),
    Case(
        "parameters-range",
        parameter("n", type="number", minimum=2, maximum=1),
        ("1",),
        update(parameter("n", type="number", minimum=1, maximum=2)),
    ),
    Case("parameters-enum", text(enum=["a", "a"]), ('"a"',), update(text(enum=["a"]))),
    Case("parameters-enum", text(enum=["a", 1]), ("1",), update(text(enum=["a"]))),
    Case("parameters-enum", text(enum=[]), ("[]",)),
    Case("parameters-default", text(default=5), ("5",)),
    Case("parameters-default", text(default="c", enum=["a", "b"]), ('"c"',)),
    Case("parameters-default", text(default="long", maxLength=3), ('"long"',)),
    Case("parameters-default", parameter("n", type="number", minimum=2, default=1), ("1",)),
    Case("parameters-default", parameter("n", type="number", maximum=2, default=3), ("3",)),
    Case("parameters-default", parameter("n", type="number", exclusiveMinimum=2, default=2), ("2",)),
    Case("parameters-default", parameter("n", type="number", exclusiveMaximum=2, default=2), ("2",)),
    Case("parameters-default", text(default="ab", minLength=3), ('"ab"',)),
    Case(
        "parameters-default",
        parameter("n", type="array", minItems=2, default=[1]),
        ("[\n              1\n            ]",),
    ),
    Case(
        "parameters-default",
        parameter("n", type="array", maxItems=0, default=[1]),
        ("[\n              1\n            ]",),
    ),
    Case("site-url", {"site": {"url": "notes.example.com"}}, ('"notes.example.com"',), {}),
    Case("site-url", {"site": {"url": "/notes"}}, ('"/notes"',)),
    Case("site-url", {"site": {"url": "https://notes.example.com?x=1"}}, ("?x=1",), {}),
    Case("manifest-id", {"id": "my notes"}, ('"my notes"',)),
    Case("url-insecure", {"site": {"url": "http://notes.example.com"}}, ("http:",), {}),
    Case(
        "url-insecure",
        {"id": "http://notes.example.com/aura.json"},
        ("http:",),
        {"id": "https://notes.example.com/aura.json"},
    ),
    Case(
        "url-template-origin",
        {"capabilities": {"list_notes": url("https://api.other.example/notes")}},
        ("https://api.other.example",),
    ),
    Case("url-template-origin", {"capabilities": {"list_notes": url("//other.example/notes")}}, ("//other.example",)),
    Case("url-template-relative", url("notes/{id}"), ('"notes/{id}"',), {}),
    Case("url-template-relative", url("{+id}/notes"), ("{+id}",)),
    Case("url-template-relative", url("mailto:{id}"), ("mailto:",)),
    Case("rate-limit", {"policy": {"rateLimit": {"limit": 0}}}, ("0",)),
    Case("rate-limit", {"policy": {"rateLimit": {"limit": 1.5}}}, ("1.5",), {"policy": {"rateLimit": {"limit": 1}}}),
    Case("rate-limit", {"policy": {"rateLimit": {"limit": 1000000, "window": "second"}}}, ("1000000",)),
    Case("rate-limit", {"policy": {"rateLimit": {"limit": 6000001, "window": "minute"}}}, ("6000001",)),
    Case(
        "destructive-without-auth",
        {"policy": {"authHint": "none"}, "capabilities": {"update_note": {"action": {"method": "DELETE"}}}},
        ('"DELETE"',),
    ),
    Case(
        "destructive-without-auth",
        {"policy": {"authHint": "none"}, "capabilities": {"purgeAllNotes": {"action": {"method": "POST"}}}},
        ('"purgeAllNotes"',),
    ),
    Case(
        "auth-hint",
        {"policy": {"authHint": "none"}, "capabilities": {"update_note": parameter("password", type="string")}},
        ('"none"',),
    ),
    Case("capability-description", {"description": "TODO"}, ('"TODO"',), update({"description": "Update note."})),
    Case("capability-description", {"description": " \n"}, ('" \\n"',), update({"description": "Update note."})),
    Case("resource-description", {"description": ""}, ('""',), {"resources": {"note": {"description": "Note."}}}),
    Case("site-description", {"site": {"description": ""}}, ('""',)),
    Case("site-description", {"site": {"name": " "}}, ('" "',)),
    Case("parameter-description", text(description=""), ('""',)),
    Case("parameter-description", {"parameters": {"properties": {"x": {}}}, **mapping(x="/x")}, ('"x"',)),
    Case("secret-token", {"site": {"description": "key AKIAIOSFODNN7EXAMPLE"}}, ("AKIAIOSFODNN7EXAMPLE",)),
    Case("secret-token", {"x-a": "ghp_" + "a1B2" * 9}, ("ghp_" + "a1B2" * 9,)),
    Case("secret-token", {"x-a": "-----BEGIN RSA PRIVATE KEY-----"}, ("-----BEGIN RSA PRIVATE KEY-----",)),
    Case("secret-in-url", {"site": {"url": "https://admin:hunter22@notes.example.com"}}, ("admin:hunter22",), {}),
    Case("url-template-steps", url("/notes/../notes/{id}"), ("..",), {}),
    Case("url-template-steps", url("/notes/./{id}"), (".",), {}),
    Case("url-template-steps", url("/notes//{id}"), ("//",), {}),
    Case("url-template-steps", url("/notes/{id}/.."), ("..",), {}),
    Case("uri-pattern-steps", {"uriPattern": "/a/../notes/{id}"}, ("..",), {}),
    Case("url-template-fragment", url("/notes/#{id}"), ("#{id}",), {}),
    Case("url-template-fragment", url("/notes/{id}#top"), ("#top",), {}),
    Case("url-template-fragment", url("/notes/{id}{#text}"), ("{#text}",), {}),
    Case(
        "capability-description",
        {"description": "update_note"},
        ('"update_note"',),
        update({"description": "Update note."}),
    ),
    Case("resource-description", {"description": "note"}, ('"note"',)),
    Case("parameter-description", text(description="text"), ('"text"',)),
    Case("site-description", {"site": {"description": "Notes"}}, ('"Notes"',)),
    Case("parameters-pattern", text(pattern="/^[a-z]+$/i"), ('"/^[a-z]+$/i"',), update(text(pattern="^[a-z]+$"))),
    Case("parameters-format", text(format="guid"), ('"guid"',), update(text(format="uuid"))),
    Case("parameters-dialect", text(nullable=True), ('"nullable"',), update(text(type=["string", "null"]))),
    Case("parameters-dialect", text(example="x"), ('"example"',), update(text(examples=["x"]))),
    Case("parameters-schema", text(enum="a|b"), ('"a|b"',), update(text(enum=["a", "b"]))),
    Case(
        "parameters-schema",
        parameter("n", type="number", minimum=0, exclusiveMinimum=True),
        ("true",),
        update(parameter("n", type="number", exclusiveMinimum=0)),
    ),
    Case(
        "parameters-default",
        parameter("n", type="number", default="1"),
        ('"1"',),
        update(parameter("n", type="number", default=1)),
    ),
    Case("parameter-location-unmapped", located(query="text"), ('"query"',), update(located(text="query"))),
    Case("secret-in-url", url("/notes/{id}?api_key=abcd1234"), ("abcd1234",), url("/notes/{id}")),
    Case("secret-in-url", url("/notes/{id}?api_key=abcd1234&a=1"), ("abcd1234",), url("/notes/{id}?a=1")),
    Case("secret-in-url", url("/notes/{id}?api_key=abcd1234{&text}"), ("abcd1234",), url("/notes/{id}{?text}")),
    Case("secret-value", {"x-api-key": 1, "site": {"x-apiKey": "abcd-1234"}}, ('"abcd-1234"',)),
    Case(
        "secret-value",
        update(parameter("password", type="string", default="hunter22")),
        ('"hunter22"',),
        update(parameter("password", type="string")),
    ),
    Case(
        "secret-value",
        update(parameter("password", type="string", default="h4x0")),
        ('"h4x0"',),
        update(parameter("password", type="string")),
    ),
    Case(
        "secret-value",
        update(parameter("apiToken", type="string", examples=["a1b2c3d4"])),
        ('"a1b2c3d4"',),
        update(parameter("apiToken", type="string")),
    ),
    Case("extension-name", {"site": {"owner": "Ann"}}, ('"owner"',), {"site": {"x-owner": "Ann"}}),
    Case("extension-name", {"site": {"capabilities": {}}}, ('"capabilities"',)),
    Case(
        "ignore-unknown",
        {"x-aurora-ignore": ["extension-names"]},
        ('"extension-names"',),
        {"x-aurora-ignore": ["extension-name"]},
    ),
    Case("ignore-unknown", {"x-aurora-ignore": ["zzz", 5, "schema-type"]}, ('"zzz"', "5", '"schema-type"')),
]
"""At least one for every rule. Where `fixed` is `{}`, the fix brings back the manifest that has nothing wrong."""

FINE: dict[str, list[Any]] = {
    "json-syntax": ['{"a": "\\u00e9\\n", "b": -1.5e3, "c": [true, null]}'],
    "json-comment": ['{"a": "// not one"}'],
    "json-trailing-comma": ['{"a": ",}"}'],
    "json-duplicate-key": ['{"a": {"a": 1}}'],
    "schema-address": [
        {"$schema": "https://unpkg.com/aura-protocol@1.0.4/dist/aura-v1.0.schema.json"},
        {"$schema": "https://cdn.jsdelivr.net/npm/aura-protocol@1.0.5/dist/aura-v1.0.schema.json"},
        {"$schema": "https://aura.dev/schemas/v1.0.json"},
        {"$schema": "./node_modules/aura-protocol/dist/aura-v1.0.schema.json"},
    ],
    "capability-version": [{"v": 2}, {"v": 3.0}, {"v": "1"}, {"v": True}],
    "capability-unreferenced": [
        {"resources": {"note": None, "notes": None}},
        {"resources": {"notes": {"operations": {"GET": {"capabilityId": "list_note"}}}}},
    ],
    "operation-unknown-method": [{"operations": {"get": {"capabilityId": "list_notes"}}}, {"operations": {"x-a": 1}}],
    "resource-uri-pattern": [
        update(url("/notes/{id}{?text,tags*}")),
        update(url("/notes{/id}")),
        update(url("https://notes.example.com/notes/{id}?a=1")),
        update(url("/notes/{+id}#{text}")),
        {"capabilities": {"list_notes": url("/notes{?limit}")}},
    ],
    "url-template-steps": [
        url(each) for each in ("/notes/{id}/", "/notes/.well-known/{id}", "//a.b/notes/{id}", "/...{.id}")
    ],
    "uri-pattern-steps": [{"uriPattern": "https://notes.example.com/notes/{id}"}],
    "url-template-fragment": [url("/notes/{id}?colour=%23fff")],
    "url-template": [
        url(each)
        for each in (
            "/notes/{id:3}",
            "/notes/{id}{?text,tags*}",
            "/a{+id}{#text}{.tags*}{/id}{;text}{&tags}",
            "/%41{id}",
            "/notes/{id.sub}",
            "/notes/{%41}",
            "/notes/é/{id}",
        )
    ],
    "url-template-query": [url("/notes/{id}?a=1{&text}"), url("/notes/{id}{?text}")],
    "url-template-repeats": [url("/notes/{id}/{id}")],
    "url-template-prefix": [url("/notes/{id:3}")],
    "url-template-explode": [url("/notes/{id}{?tags*}")],
    "mapping-unknown-parameter": [
        {"parameters": {"additionalProperties": True}, **mapping(other="/other")},
        {"parameters": {"additionalProperties": {"type": "string"}}, **mapping(other="/other")},
        {"parameters": {"allOf": [{}]}, **mapping(other="/other")},
        {"parameters": {"properties": {"a/b": {"type": "string"}}}, **mapping(ab="/a~1b")},
        mapping(tags="/tags/0", all=""),
    ],
    "mapping-array-index": [mapping(tags="/tags/0"), mapping(tags="/tags/12")],
    "parameter-unmapped": [mapping(text="/text/0"), mapping(text=None, all="")],
    "path-variable-optional": [
        url("/notes{/id}"),
        {"parameters": {"required": None, "properties": {"id": {"default": "1"}}}},
        url("/notes/{id}?q={text}"),
    ],
    "body-without-meaning": [{"action": {"encoding": "json"}}, {"action": {"method": "GET", "encoding": "query"}}],
    "parameter-not-sent": [{"action": {"method": "GET", "urlTemplate": "/notes/{id}{?text,tags}"}}],
    "parameter-location": [located(id="path", text="query", tags="body")],
    "parameter-location-conflict": [located(id="path", text="query", tags="body"), located(text="header")],
    "parameters-schema": [
        text(minLength=0, maxLength=2.0, pattern="a", anyOf=[{"type": "string"}], deprecated=True),
        {"parameters": {"properties": {"text": True}}},
    ],
    "parameters-ref": [
        text(**{"$ref": "#"}),
        text(**{"$ref": "#/properties/id"}),
        text(**{"$ref": "https://example.org/words"}),
        text(**{"$ref": "#words"}),
        {"parameters": {"$defs": {"a b": {}}, "properties": {"text": {"$ref": "#/$defs/a%20b"}}}},
        {"parameters": {"properties": {"text": {"$id": "https://e.example/t", "$ref": "#/$defs/x"}}}},
        {"parameters": {"anyOf": [{}], "properties": {"text": {"$ref": "#/anyOf/0"}}}},
    ],
    "parameters-type": [text(type=kind) for kind in ("string", "number", "null", ["string", "null"])],
    "parameters-required": [
        text(anyOf=[{"required": ["a"]}]),
        {"parameters": {"anyOf": [{"required": ["text"]}, {"required": ["tags"]}]}},
    ],
    "parameters-pattern": [
        text(pattern=each)
        for each in (
            r"^[a-zA-Z0-9-]+$",
            r"^\p{L}+$",
            r"(?<year>\d{4})-\k<year>",
            r"^\/a\-b$",
            r"[^]",
            r"[[a]",
            r"(?<=a+)b",
            r"\u00e9\x41\cA",
            r"^(?:a|b){1,3}?$",
            r"[\w.-]",
            r"[a&&b]",
        )
    ],
    "parameters-keyword": [
        text(minLength=1),
        {"parameters": {"properties": {"text": {"type": "integer", "minimum": 1}}}},
    ],
    "parameters-format": [text(format="email"), text(format="isbn")],
    "parameters-range": [text(minLength=5, maxLength=5), text(minLength="9", maxLength=5)],
    "parameters-enum": [
        text(enum=["a", "b"]),
        {"parameters": {"properties": {"text": {"type": "number", "enum": [1, 1.5]}}}},
    ],
    "parameters-default": [
        text(default="a", enum=["a"]),
        text(default="long", minLength=4, maxLength=4),
        parameter("n", type="number", minimum=2, maximum=2, default=2),
        parameter("n", type="number", exclusiveMinimum=1, exclusiveMaximum=3, default=2),
        parameter("n", type="array", minItems=2, maxItems=2, default=[1, 2]),
        {"parameters": {"properties": {"text": {"type": "number", "default": 1, "minimum": 1.0}}}},
        {"parameters": {"properties": {"text": {"type": "integer", "default": 1.0}}}},
    ],
    "site-url": [{"site": {"url": each}} for each in ("http://localhost:3000", "https://a.b/c/", "https://[::1]:8000")],
    "manifest-id": [{"id": "urn:example:notes"}, {"id": "https://a.b/aura.json"}],
    "url-insecure": [
        {"site": {"url": each}} for each in ("http://localhost:3000", "http://127.0.0.1", "http://[::1]/")
    ],
    "url-template-origin": [
        {"capabilities": {"list_notes": url("https://notes.example.com/notes")}},
        {"capabilities": {"list_notes": url("https://notes.example.com:443/notes")}},
        {"capabilities": {"list_notes": url("//notes.example.com/notes")}},
    ],
    "url-template-relative": [url("{/id}"), url("https://notes.example.com/notes/{id}")],
    "rate-limit": [
        {"policy": {"rateLimit": {"limit": 1}}},
        {"policy": {"rateLimit": {"limit": 10.0}}},
        {"policy": {"rateLimit": {"limit": 100000, "window": "second"}}},
        {"policy": {"rateLimit": {"limit": 6000000, "window": "minute"}}},
        {"policy": {"rateLimit": {"limit": 360000000, "window": "hour"}}},
        {"policy": {"rateLimit": {"limit": 8640000000, "window": "day"}}},
    ],
    "destructive-without-auth": [
        {"policy": {"authHint": "none"}},
        {"policy": {"authHint": "none"}, "capabilities": {"delete_log": {"action": {"method": "GET"}}}},
        {
            "policy": {"authHint": "none"},
            "capabilities": {"update_note": None, "undeleted": {"action": {"method": "GET"}}},
        },
        update({"action": {"method": "DELETE"}}),
    ],
    "capability-description": [{"description": "Do it."}],
    "secret-token": [{"site": {"description": "task-management-and-desk-planning, sk-learn, AKIA"}}],
    "secret-in-url": [
        {"site": {"description": "see https://a.b/@ann or mail ann@example.com"}},
        url("/notes/{id}?token={text}"),
    ],
    "secret-value": [
        update(parameter("password", type="string", minLength=8)),
        update(parameter("token", type="string", default="<token>")),
        update(parameter("password", type="string", default="h4x")),
        update(parameter("key", type="string", default="name")),
        update(mapping(password="/password")),
    ],
    "extension-name": [{"x-owner": "Ann"}, {"$comment": "ours"}, update(text(whatever=1))],
    "ignore-unknown": [{"x-aurora-ignore": "extension-name"}, {"x-aurora-ignore": []}],
}
"""What must pass without that rule's finding, beside each rule's own good example."""
