"""Request of a capability, its URL template expanded: from a capability and its arguments to the one HTTP request that
calls it (AURA-P "How It Works", 3; RFC 6570).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from msgspec import Struct

from aurora_manifest.client.arguments import location_of, lookup, mapped, mapping_of
from aurora_manifest.client.consent import MASK
from aurora_manifest.client.origins import MAX_URL, Origin, origin_of, parse_url, resolved
from aurora_manifest.client.redaction import Hiding, secret_texts
from aurora_manifest.client.transport import Request
from aurora_manifest.json.pointers import from_pointer, to_pointer
from aurora_manifest.model import Capability, Manifest
from aurora_manifest.templates import Expression, Template
from aurora_protocol import CallBlocked, SiteError
from aurora_protocol.spelling import OF_FEW, closest

if TYPE_CHECKING:
    from httpx2 import URL

METHODS = ("GET", "POST", "PUT", "DELETE")
LOCATIONS = ("path", "query", "body", "header")
_ENCODINGS = ("json", "query")

_NOT_BY_ARGUMENT = re.compile(
    r"host|cookie|content-(?:length|type)|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|via"
    r"|origin|referer|forwarded|x-forwarded(?:-.*)?|x-(?:http-)?(?:method|host)(?:-override)?|proxy-.*|sec-.*"
    r"|x-original-.*|x-rewrite-.*|(?:x-)?(?:real|(?:true-|cluster-)?client|remote)-(?:ip|addr)|cf-connecting-ip|front-end-https"
)
"""Headers that say how a request travels, whom it is from, or that it is another one than it seems."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_EMPTY = re.compile(r"=(?=;|\Z)")
_DOTS = re.compile(r"(?:\.|%2[eE]){1,2}")
_STEPS = re.compile(r"[/\\]|%2[fF]|%5[cC]")
"""Between the steps of a path: many servers decode `%2F` before they look at it."""
_IN_PATH = ("", "+", "/")
_MARK = "\ue000"
"""Stands for a mask while a template is expanded: one character, which no `{name:1}` shortens, and no site's own."""


class CapabilityCall(Struct, frozen=True):
    """A request ready to send, and what people may see of it: its URL and its body with secret values masked.

    `secret_headers` are in lower case; `secrets` are the hidden values as texts, as a site may send them back.
    """

    capability: str
    request: Request
    body: Mapping[str, Any] | None
    shown_url: str
    shown_body: Mapping[str, Any] | None
    secret_headers: frozenset[str]
    secrets: frozenset[str]


def find_capability(manifest: Manifest, name: str) -> Capability:
    """The capability called `name`. Raises SiteError, with those that are near or there."""
    capability = manifest.capabilities.get(name)
    if capability is not None:
        return capability
    names = list(manifest.capabilities)
    near = closest(name, names, OF_FEW)
    told = f"it has {near or ', '.join(names[:10])}" if names else "it has none"
    raise SiteError(f'the manifest has no capability "{name}": {told}')


def build_call(capability: Capability, origin: Origin, arguments: dict[str, Any]) -> CapabilityCall:
    """The request that calls `capability` on the site at `origin`. Raises SiteError or CallBlocked.

    The template takes the variables it names; what remains goes where `parameterLocation` says, and else where
    `encoding` says: into a JSON body or the query (without an encoding, GET and DELETE use the query). An argument
    that the path needs and nobody gave is its schema's `default`; every other default is the site's to know.
    """
    method = str(capability.method.value) if capability.method else ""
    template = capability.template
    if method not in METHODS or template is None:
        raise SiteError(f"{capability.name}: its action has no method of {', '.join(METHODS)}, or no urlTemplate")
    if template.mistakes:
        raise SiteError(f"{capability.name}: its urlTemplate is no URI template: {template.mistakes[0].message}")
    mapping = mapping_of(capability)
    values = mapped(mapping, arguments)
    _require_json(capability.name, arguments)
    for variable in template.variables:  # a variable the mapping forgot is taken for the argument of its name
        if variable.name not in mapping and variable.name in arguments:
            values[variable.name] = arguments[variable.name]
    values |= _defaults(capability, template, mapping, arguments, values)
    places = _places(capability, template, values, method)
    shown = _shown(capability, mapping, values)
    headers = [(name, _header(name, value)) for name, value in values.items() if places[name] == "header"]
    body = {name: value for name, value in values.items() if places[name] == "body"}
    url = _url(capability.name, template, values, places, origin)
    wants_body = bool(body) or (_encoding(capability, method) == "json" and bool(mapping) and method in ("POST", "PUT"))
    content = json.dumps(body, ensure_ascii=False, allow_nan=False).encode("utf-8") if wants_body else None
    if content is not None:
        headers.insert(0, ("Content-Type", "application/json"))
    return CapabilityCall(
        capability.name,
        Request(method, str(url), tuple(headers), content),
        body if wants_body else None,
        _shown_url(capability.name, template, shown, places, origin) if shown != values else str(url),
        {name: shown[name] for name in body} if wants_body else None,
        frozenset(name.lower() for name, place in places.items() if place == "header" and shown[name] != values[name]),
        frozenset(text for name, value in values.items() for text in secret_texts(value, shown[name])),
    )


def _shown(capability: Capability, mapping: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without what is secret by a name or by its schema."""
    hiding = Hiding(capability.parameters.value if capability.parameters else None)
    return {name: hiding.sent(name, value, mapping.get(name, to_pointer((name,)))) for name, value in values.items()}


def _shown_url(
    name: str, template: Template, shown: Mapping[str, Any], places: Mapping[str, str], origin: Origin
) -> str:
    """The URL with masks: expanded with them, since encoding, prefixes and lists leave little of a value to look for.

    Where a mask makes no URL of this site, as in `https://example.com{+path}`, all but the site is hidden.
    """
    try:
        url = _url(name, template, _marked(shown), places, origin)
    except (SiteError, CallBlocked):
        return f"{origin}/{MASK}"
    return str(url).replace(quote(_MARK), MASK).replace(_MARK, MASK)


def _marked(shown: Any) -> Any:
    """Value with a mark for each mask, which no encoding changes."""
    if isinstance(shown, Mapping):
        return {name: _marked(each) for name, each in shown.items()}
    if isinstance(shown, list):
        return [_marked(each) for each in shown]
    return _MARK if shown == MASK else shown


def _defaults(
    capability: Capability,
    template: Template,
    mapping: Mapping[str, Any],
    arguments: Mapping[str, Any],
    values: Mapping[str, Any],
) -> dict[str, Any]:
    """Defaults for the variables of the path that have no value, by the `default` of the parameter they come from."""
    needed = [each.name for one in template.expressions if _needed(template, one) for each in one.variables]
    found = {}
    for name in needed:
        pointer = mapping.get(name, to_pointer((name,)))
        steps = from_pointer(pointer) if name not in values and isinstance(pointer, str) else ()
        if not steps or steps[0] in arguments or steps[0] not in capability.properties:
            continue
        schema = capability.properties[steps[0]].value.value
        if isinstance(schema, dict) and "default" in schema:
            there, value = lookup({steps[0]: schema["default"]}, pointer)
            if there:
                found[name] = value
    _require_json(capability.name, found)
    return found


def _needed(template: Template, expression: Expression) -> bool:
    """Whether an expression leaves a gap in the path where it has no value."""
    return expression.operator in ("", "+") and "?" not in template.text[: expression.start]


def _require_json(name: str, arguments: dict[str, Any]) -> None:
    """Values in a document that no other program can read: infinity, written as 1e999, and half a character."""
    for argument, value in arguments.items():
        try:
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise SiteError(f"{name}: {argument} holds half of a character, which UTF-8 cannot say") from error
        except ValueError as error:
            raise SiteError(f"{name}: {argument} holds a number that is too large for JSON") from error


def _encoding(capability: Capability, method: str) -> str:
    """The stated encoding, else the method's usual one. Raises SiteError for one that nobody here can write."""
    if capability.encoding is None:
        return "query" if method in ("GET", "DELETE") else "json"
    stated = str(capability.encoding.value)
    if stated not in _ENCODINGS:
        told = f'its action\'s encoding is "{stated[:40]}"'
        raise SiteError(f"{capability.name}: {told}; a request can be written in {' or '.join(_ENCODINGS)} only")
    return stated


def _places(capability: Capability, template: Template, values: dict[str, Any], method: str) -> dict[str, str]:
    """Parameter location of each value: template, query, header or body. Raises SiteError."""
    stated = location_of(capability)
    variables = {variable.name for variable in template.variables}
    rest = "body" if _encoding(capability, method) == "json" else "query"
    places = {}
    for name in values:
        place = stated.get(name)
        if place is not None and place not in LOCATIONS:
            raise SiteError(f"{capability.name}: {name} is to go to {str(place)!r}; use one of {', '.join(LOCATIONS)}")
        if place == "path" and name not in variables:
            raise SiteError(f"{capability.name}: {name} is to go into the path, but urlTemplate has no {{{name}}}")
        if place in (None, "path", "query") and name in variables:
            place = "template"
        places[name] = place or rest
    return places


def _url(name: str, template: Template, sent: Mapping[str, Any], places: Mapping[str, str], origin: Origin) -> URL:
    """URL of a request: template expanded, query percent-encoded. Raises SiteError; CallBlocked for path traversal."""
    from httpx2 import InvalidURL

    values = {each: value for each, value in sent.items() if places[each] == "template"}
    query = [pair for each, value in sent.items() if places[each] == "query" for pair in _pairs(each, value)]
    for expression in template.expressions:
        _require_path_values(name, template, expression, values)
    plain = {variable: expandable(variable, value) for variable, value in values.items()}
    expanded = expanded_template(name, template, plain)
    if len(expanded) > MAX_URL:
        raise SiteError(f"{name}: the URL has {len(expanded):,} characters; the limit is {MAX_URL:,}")
    path = re.split(r"[?#]", expanded, maxsplit=1)[0]
    if any(_DOTS.fullmatch(step) for step in _STEPS.split(path)):
        raise CallBlocked(f'{name}: an argument turns the path into {path}; "." and ".." would lead elsewhere')
    try:
        url = resolved(parse_url(f"{origin}/"), expanded)
    except (InvalidURL, ValueError) as error:
        raise SiteError(f"{name}: its urlTemplate makes no URL: {expanded[:200]!r}") from error
    url = parse_url(str(url.copy_with(fragment=None)))
    if origin_of(url) != origin:
        raise CallBlocked(f"{name}: its URL belongs to {origin_of(url)}, not to {origin}, where the manifest is from")
    if query:
        more = urlencode(query, quote_via=quote)
        url = parse_url(f"{url}{'&' if url.query else '?'}{more}")
    return url


def expanded_template(name: str, template: Template, values: Mapping[str, Any]) -> str:
    """Expansion of a URI template, values percent-encoded (RFC 6570 §3). Raises SiteError where it asks for the first
    characters of no text."""
    import uritemplate

    for variable in template.variables:
        if variable.prefix is not None and isinstance(values.get(variable.name), list | dict):
            raise SiteError(f"{name}: urlTemplate asks for the first characters of {variable.name}, which is no text")
    pieces, at = list[str](), 0
    for expression in template.expressions:
        text = uritemplate.expand(template.text[expression.start : expression.end], dict(values))
        # The library writes `;a=` for an empty value of an exploded map, where §3.2.7 has `;a`.
        pieces += (template.text[at : expression.start], _EMPTY.sub("", text) if expression.operator == ";" else text)
        at = expression.end
    # What is left of other scripts stands in the template itself; the library leaves that as it is (§3.1).
    return _NOT_ASCII.sub(lambda match: quote(match[0]), "".join((*pieces, template.text[at:])))


def _require_path_values(name: str, template: Template, expression: Expression, values: dict[str, Any]) -> None:
    """An empty `{id}` would turn "delete this post" into "delete the posts"."""
    if expression.operator not in _IN_PATH or "?" in template.text[: expression.start]:
        return
    for variable in expression.variables:
        value = values.get(variable.name)
        cut = _cut(template, expression, value) if expression.operator == "+" else None
        if cut == "" and value != "":
            raise SiteError(f"{name}: the path needs a value for {variable.name}, and the one given leaves it empty")
        if value in ("", [], {}) or (value is None and expression.operator != "/"):
            raise SiteError(f"{name}: the path needs a value for {variable.name}; give it with --arg {variable.name}=…")
        if cut is not None:
            raise CallBlocked(
                f"{name}: {variable.name} ends the path after {cut[:100]!r}, and what the manifest has there is lost"
            )


def _cut(template: Template, expression: Expression, value: Any) -> str | None:
    """What is left of a reserved value in the path where it cuts it off: at `#`, which is never sent, and at a `?`
    before more of the path. None where nothing is lost; an empty text where nothing is left, as of `/` behind a slash.
    """
    if not isinstance(value, str):
        return None
    if not value.strip("/") and template.text[: expression.start].endswith("/"):
        return ""
    follows = template.text[expression.end : expression.end + 2]
    more = follows != "" and follows[0] not in "?#" and follows not in ("{?", "{&", "{#")
    sign = re.search(r"[?#]" if more else "#", value) or (value[:1] == "?" and re.match(r"\?", value))
    return value[: sign.start()] if sign else None


def expandable(name: str, value: Any) -> Any:
    """A value as RFC 6570 §2.3 knows them: a string, a list of strings, or a map of strings."""
    if isinstance(value, list):
        return [_text(name, each) for each in value if each is not None]
    if isinstance(value, dict):
        return {str(key): _text(name, each) for key, each in value.items() if each is not None}
    return None if value is None else _text(name, value)


def _pairs(name: str, value: Any) -> list[tuple[str, str]]:
    """Query parameters of one value; a list repeats the name."""
    if value is None:
        return []
    return [(name, _text(name, each)) for each in (value if isinstance(value, list) else [value])]


def _header(name: str, value: Any) -> str:
    """Header value; no header injection. Raises CallBlocked for headers that no argument may set."""
    if not _TOKEN.fullmatch(name) or _NOT_BY_ARGUMENT.fullmatch(name.lower()):
        raise CallBlocked(f"{name}: a manifest may not set this header by an argument")
    text = ", ".join(_text(name, each) for each in value) if isinstance(value, list) else _text(name, value)
    if not text.isprintable() or not text.isascii():
        raise SiteError(f"{name}: a header takes printable ASCII; send it in the body or the query")
    return text


def _text(name: str, value: Any) -> str:
    """Serialization of a value for a URL or header."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list):
        raise SiteError(f"{name}: a nested value has no place in a URL or header; it needs a JSON body")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:  # as far as JSON has digits for it
        return str(int(value))
    return json.dumps(value, allow_nan=False)
