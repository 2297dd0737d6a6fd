"""Rules about what a client makes of a template's path and fragment before it sends a request (RFC 3986 §5.2.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import JsonDocument, Scalar
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import Capability, Resource, within
from aurora_manifest.rules.registry import Path, RuleMatch, capability_rule, resource_rule
from aurora_manifest.templates import Template, parse_template

EMPTY_STEP = re.compile(r"(?<=[^:/{])/(?=/)")
DOTS = re.compile(r"(?P<before>/[^/{}]*[^/{}.][^/{}]*)?/(?P<dots>\.{1,2})(?=/|\Z|[?#]|\{[?&#/])")
RUBY_VARIABLE = re.compile(r"(?<=[/=])#(\{[A-Za-z_]\w*+\})", re.ASCII)
"""A variable as Ruby writes it into a text: `#{id}`."""

_QUERY = re.compile(r"[?#]|\{[?&#]")


@capability_rule("url-template-steps", "warning")
def template_steps(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A step of the path in `urlTemplate` is `.`, `..` or empty.

    Clients take `.` and `..` out of a path, or refuse it, before they send anything (RFC 3986 §5.2.4): the request goes
    elsewhere than it seems. Of `//` each server makes its own.

    Bad: {"action": {"urlTemplate": "/notes/../notes/{id}"}}
    Good: {"action": {"urlTemplate": "/notes/{id}"}}
    """
    if capability.url_template is not None and capability.template is not None:
        path = (*capability.path, "action", "urlTemplate")
        yield from _steps(document, capability.url_template, capability.template, path)


@resource_rule("uri-pattern-steps", "warning")
def pattern_steps(resource: Resource, document: JsonDocument) -> Iterator[RuleMatch]:
    """A step of the path in `uriPattern` is `.`, `..` or empty.

    Bad: {"uriPattern": "/all/../notes/{id}"}
    Good: {"uriPattern": "/notes/{id}"}
    """
    if resource.uri_pattern is not None and resource.pattern is not None:
        path = ("resources", resource.name, "uriPattern")
        yield from _steps(document, resource.uri_pattern, parse_template(resource.pattern), path)


@capability_rule("url-template-fragment", "info")
def never_sent(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """`urlTemplate` has a fragment, which is never sent.

    What is behind a `#` is for the reader of a page: no server sees it. Ruby writes variables as `#{id}`; in a URI
    template that is a fragment.

    Bad: {"action": {"urlTemplate": "/notes/{id}#top"}}
    Good: {"action": {"urlTemplate": "/notes/{id}"}}
    """
    node, template = capability.url_template, capability.template
    if node is None or template is None or "#" not in template.text or template.mistakes:
        return
    path = (*capability.path, "action", "urlTemplate")
    text = template.text
    at = text.index("#")
    if ruby := RUBY_VARIABLE.match(text, at):
        start, end = within(document, node, *ruby.span())
        mends = (
            Edit(*within(document, node, each.start(), each.end()), each[1]) for each in RUBY_VARIABLE.finditer(text)
        )
        message = f'the "#" begins a fragment, which is never sent: a variable is written {ruby[1]}'
        yield RuleMatch(message, path, start, end, Fix(f"Write {ruby[1]}", tuple(mends)), "warning")
        return
    begins = at - 1 if text[at - 1 : at] == "{" else at
    start, end = within(document, node, begins, len(text))
    message = f"{quoted(text[begins:])} is never sent: no server sees what is behind a #"
    yield RuleMatch(message, path, start, end, Fix("Remove it", (Edit(start, end, ""),)))


def told_path(path: str) -> str:
    """A path as it would be without what the rules here tell of."""
    while shorter := _without_first(path):
        path = shorter
    return path


def _without_first(path: str) -> str | None:
    """Path without its first empty or dot segment; None where it has none."""
    if found := EMPTY_STEP.search(path):
        return path[: found.start()] + path[found.end() :]
    if found := DOTS.search(path):
        start = found.start() if found["dots"] == ".." and found["before"] else found.start("dots") - 1
        return path[:start] + path[found.end() :] or "/"
    return None


def _steps(document: JsonDocument, node: Scalar, template: Template, path: Path) -> Iterator[RuleMatch]:
    """Matches for empty and dot segments (`.`, `..`) of a path."""
    text = template.text
    if template.mistakes or ("//" not in text and "/." not in text):
        return
    query = _QUERY.search(text)
    end = query.start() if query else len(text)
    for found in EMPTY_STEP.finditer(text, 0, end):
        place = within(document, node, found.start(), found.end() + 1)
        fix = Fix('Remove one "/"', (Edit(*within(document, node, *found.span()), ""),))
        yield RuleMatch(f'a step of the path is empty between "//", in {quoted(text)}', path, *place, fix)
    for found in DOTS.finditer(text, 0, end):
        dots = found["dots"]
        start = found.start() if dots == ".." and found["before"] else found.start("dots") - 1
        cut = text[start : found.end()]
        fix = Fix(f"Remove {quoted(cut)}", (Edit(*within(document, node, start, found.end()), ""),))
        message = f'clients take "{dots}" out of a path or refuse it, in {quoted(text)}'
        yield RuleMatch(message, path, *within(document, node, *found.span("dots")), fix)
