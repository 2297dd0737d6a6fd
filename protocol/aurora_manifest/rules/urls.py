"""Rules about addresses: `site.url`, `id`, and where a `urlTemplate` goes (AURA-P "Security model")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from aurora_manifest.edits import writing
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import JsonDocument
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import Capability, string, within
from aurora_manifest.rules.registry import RuleMatch, at, capability_rule, manifest_rule
from aurora_manifest.rules.subject import Subject
from aurora_manifest.rules.templates import WITH_METHOD

_LOOPBACK = re.compile(r"localhost|.*\.localhost|127(?:\.\d{1,3}){3}|::1")
_BARE_HOST = re.compile(r"(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,63}(?::\d{1,5})?(?:/.*)?", re.DOTALL)
_SLIPPED = re.compile(r"(https?)(?::/?|/{1,3}|:/{3,4}|;//|:\\{1,2})(?![:/])(.*)", re.IGNORECASE | re.DOTALL)
"""A scheme whose `://` is misspelt, and the rest."""

_NO_PORT = re.compile(r"(https?://[A-Za-z0-9.-]{1,253}):[^/?#]*((?:/.*)?)", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_ABSOLUTE = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//")
_FROM_ROOT = ("/", "{/", "{?")
_PORTS = {"http": 80, "https": 443}


@manifest_rule("site-url", "warning")
def site_url(subject: Subject) -> Iterator[RuleMatch]:
    """`site.url` is not the absolute address of a site.

    Relative URL templates are resolved against it: it needs a scheme and a host, and a query or fragment has no use.

    Bad: {"site": {"url": "notes.example.com"}}
    Good: {"site": {"url": "https://notes.example.com"}}
    """
    node = string(subject.manifest.site, "url")
    if node is None:
        return
    text, path = str(node.value), ("site", "url")
    split = _split(text)
    if split is None or split.scheme not in _PORTS or not split.hostname:
        fix = None
        if _BARE_HOST.fullmatch(text):
            fix = writing(node, f"https://{text}")
        elif (slip := _SLIPPED.fullmatch(text)) and _BARE_HOST.fullmatch(slip[2]):
            fix = writing(node, f"{slip[1].lower()}://{slip[2]}")
        elif slip := _NO_PORT.fullmatch(text):
            fix = writing(node, slip[1] + slip[2])
        elif text.startswith("//") and _BARE_HOST.fullmatch(text[2:]):
            fix = writing(node, f"https:{text}")
        yield at(node, f"{quoted(text)} is not the address of a site: write https://host", path, fix)
    elif split.query or split.fragment:
        first = min(place for place in (text.find("?"), text.find("#")) if place >= 0)
        start, end = within(subject.document, node, first, len(text))
        fix = Fix("Remove the query and fragment", (Edit(start, end, ""),))
        yield RuleMatch(f"a site's address has no query or fragment: {quoted(text)}", path, start, end, fix)


@manifest_rule("manifest-id", "info")
def manifest_id(subject: Subject) -> Iterator[RuleMatch]:
    """The manifest's `id` is not an absolute address.

    An `id` is there to be unique in the world; the address of the manifest is.

    Bad: {"id": "my notes"}
    Good: {"id": "https://notes.example.com/.well-known/aura.json"}
    """
    node = string(subject.document.root, "id")
    if node is None:
        return
    split = _split(str(node.value))
    if split is None or not split.scheme or not (split.netloc or split.path) or " " in str(node.value):
        yield at(node, f"{quoted(str(node.value))} is not an absolute address", ("id",))


@manifest_rule("url-insecure", "warning")
def not_https(subject: Subject) -> Iterator[RuleMatch]:
    """An address begins with `http:`, and is not one of your own machine.

    Requests carry cookies and tokens; without TLS anyone on the way reads them, and can change the answer.

    Bad: {"site": {"url": "http://notes.example.com"}}
    Good: {"site": {"url": "https://notes.example.com"}}
    """
    document, manifest = subject.document, subject.manifest
    nodes = [(string(manifest.site, "url"), ("site", "url")), (string(document.root, "id"), ("id",))]
    templates = [
        (each.url_template, (*each.path, "action", "urlTemplate"))
        for each in manifest.capabilities.values()
        if (text := each.request[1]) is not None and text[:5].lower() == "http:"
    ]
    for node, path in [*nodes, *templates]:
        if node is None or not str(node.value)[:7].lower().startswith("http://"):
            continue
        split = _split(str(node.value))
        if split is None or not split.hostname or _LOOPBACK.fullmatch(split.hostname):
            continue
        start, end = within(document, node, 0, 5)
        message = f"{quoted(str(node.value))} is not encrypted: use https"
        yield RuleMatch(message, path, start, end, Fix("Use https", (Edit(start, end, "https:"),)))


@manifest_rule("url-template-origin", "warning")
def other_origin(subject: Subject) -> Iterator[RuleMatch]:
    """A `urlTemplate` goes to another origin than `site.url`.

    A manifest speaks for its own site: considerate clients refuse to send a site's cookies and tokens elsewhere.
    Of the site itself without TLS, `url-insecure` tells.

    Bad: {"capabilities": {"list_notes": {"action": {"urlTemplate": "https://api.other.example/notes"}}}}
    Good: {"capabilities": {"list_notes": {"action": {"urlTemplate": "/notes"}}}}
    """
    site = string(subject.manifest.site, "url")
    origin = _origin(str(site.value)) if site else None
    for capability in subject.manifest.capabilities.values():
        text = capability.request[1]
        if text is None or not _ABSOLUTE.match(text) or (node := capability.url_template) is None:
            continue
        own = _origin(f"{origin[0]}:{text}" if text.startswith("//") and origin else text)
        if origin is not None and own != origin and not _is_only_insecure(text, origin):
            path = (*capability.path, "action", "urlTemplate")
            length = re.match(r"[^/]*//[^/?#]*", text)
            start, end = within(subject.document, node, 0, length.end() if length else len(text))
            yield RuleMatch(
                f"{quoted(text)} leaves the site's own origin, {quoted(str(site and site.value))}", path, start, end
            )


def _is_only_insecure(text: str, origin: tuple[str, str, int]) -> bool:
    """Whether it is the site itself but for TLS, and `url-insecure` says so."""
    return text[:5].lower() == "http:" and _origin(f"https:{text[5:]}") == origin and not _LOOPBACK.fullmatch(origin[1])


@capability_rule("url-template-relative", "warning")
def not_from_root(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A relative `urlTemplate` does not begin with `/`.

    What it is relative to is then a question of where `site.url` ends. A template that begins with a reserved
    expression (`{+address}`) lets an argument choose even the host.

    Bad: {"action": {"urlTemplate": "notes/{id}"}}
    Good: {"action": {"urlTemplate": "/notes/{id}"}}
    """
    node = capability.url_template
    if node is None:
        return
    text, path = str(node.value), (*capability.path, "action", "urlTemplate")
    if text.startswith((*_FROM_ROOT, "\\")) or _ABSOLUTE.match(text):  # `url-template` tells of backslashes
        return
    if method := WITH_METHOD(text):
        start, end = within(document, node, 0, method.end())
        fix = Fix(f"Remove {quoted(method[0])}", (Edit(start, end, ""),))
        yield RuleMatch(
            f'the method stands in "method", not in the URL template: {quoted(text)}', path, start, end, fix
        )
    elif text.startswith("{+"):
        start, end = within(document, node, 0, text.find("}") + 1 or len(text))
        yield RuleMatch(f"{quoted(text)} lets an argument choose where the request goes", path, start, end)
    elif not text:
        yield at(node, "the URL template is empty", path)
    elif (scheme := _SCHEME.match(text)) is not None:
        start, end = within(document, node, 0, scheme.end())
        yield RuleMatch(f"{quoted(text)} is not an http address", path, start, end)
    else:
        place, _ = within(document, node, 0, 0)
        yield at(node, f'{quoted(text)} must begin with "/"', path, Fix('Begin with "/"', (Edit(place, place, "/"),)))


def _split(text: str) -> SplitResult | None:
    """URL taken apart; None for what is none."""
    try:
        split = urlsplit(text)
        split.port  # noqa: B018  reading it is what checks it
    except ValueError:
        return None
    return split


def _origin(text: str) -> tuple[str, str, int] | None:
    """Origin of a URL: scheme, host and port."""
    split = _split(re.split(r"[{]", text, maxsplit=1)[0])
    if split is None or split.scheme not in _PORTS or not split.hostname:
        return None
    return split.scheme, split.hostname, split.port or _PORTS[split.scheme]
