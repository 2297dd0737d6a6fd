"""Rules about URI templates (RFC 6570) in `urlTemplate` and `uriPattern`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote

from aurora_manifest.edits import spelt
from aurora_manifest.findings import Edit, Fix
from aurora_manifest.json.document import JsonDocument, Scalar
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import Capability, Resource, members, within
from aurora_manifest.rules.places import types_of_variable
from aurora_manifest.rules.registry import Path, RuleMatch, capability_rule, resource_rule
from aurora_manifest.templates import Mistake, Template, is_variable, parse_template, placed
from aurora_protocol.spelling import closest

ROUTER_STEP = re.compile(r"/(?::([A-Za-z_]\w*+)|\[([A-Za-z_]\w*+)\])(?=[/?#.{]|\Z)", re.ASCII)
"""A step of a path as routers write variables: `:id`, and by files `[id]`."""

_ANGLED = re.compile(r"<(?:[A-Za-z]++:)?([A-Za-z_]\w*+)>", re.ASCII).match
_PRINTF = re.compile(r"%(?:[sd]|\((\w+)\)[sd])(?![0-9A-Fa-f])").match
"""A place for a value as C and Python have it."""

WITH_METHOD = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s+(?=\S)", re.IGNORECASE).match
"""A method before an address, as documentation writes it."""

_OTHER_SEPARATORS = re.compile(r" ?[&;|] ?")
_OTHERWISE_SEPARATED = re.compile(r"[\w.]++\*?(?: ?[&;|] ?[\w.]++\*?)++", re.ASCII).fullmatch
_WORDS = re.compile(r"[A-Za-z0-9_.]+")
_NAMES = re.compile(r"\{[+#./;?&]?[A-Za-z0-9_.,*:]*")


@capability_rule("url-template", "warning")
def url_template(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """`urlTemplate` is not a URI template (RFC 6570).

    Clients cannot expand it, or each expands it differently. Expressions are `{name}` or, with an operator,
    `{+name}`, `{#name}`, `{.name}`, `{/name}`, `{;name}`, `{?name}` and `{&name}`; names are separated by
    commas and may end in `*` (explode) or `:3` (prefix).

    Bad: {"action": {"urlTemplate": "/notes/{id"}}
    Good: {"action": {"urlTemplate": "/notes/{id}"}}
    """
    if capability.url_template is not None and capability.template is not None and capability.template.mistakes:
        path = (*capability.path, "action", "urlTemplate")
        yield from _mistakes(document, capability.url_template, capability.template, path, capability)


@resource_rule("uri-pattern", "warning")
def pattern_template(resource: Resource, document: JsonDocument) -> Iterator[RuleMatch]:
    """`uriPattern` is not a URI template (RFC 6570).

    Bad: {"uriPattern": "/notes/{id}}"}
    Good: {"uriPattern": "/notes/{id}"}
    """
    template = parse_template(resource.pattern) if resource.pattern is not None else None
    node = resource.uri_pattern if template and template.mistakes else None
    if node is not None and template is not None:
        yield from _mistakes(document, node, template, ("resources", resource.name, "uriPattern"))


@capability_rule("url-template-colon", "warning")
def colon_variable(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A step of `urlTemplate` is a parameter's name behind a colon, or in square brackets.

    Routers of many servers write `:id`, some name files `[id]`; in a URI template that is text, and goes out as it
    stands.

    Bad: {"action": {"urlTemplate": "/notes/:id"}}
    Good: {"action": {"urlTemplate": "/notes/{id}"}}
    """
    node, template = capability.url_template, capability.template
    if node is None or template is None or ("/:" not in template.text and "/[" not in template.text):
        return
    known = {*capability.properties, *(capability.mapping.value if capability.mapping else ())}
    for match in ROUTER_STEP.finditer(template.text):
        name, written = match[1] or match[2], match[0][1:]
        if name in known:
            start, end = within(document, node, match.start() + 1, match.end())
            fix = Fix(f"Write {{{name}}}", (Edit(start, end, f"{{{name}}}"),))
            message = f"{quoted(written)} is sent as it stands: a variable is written {{{name}}}"
            yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)


@capability_rule("url-template-dollar", "warning")
def dollar_variable(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A parameter's expression in `urlTemplate` stands behind a dollar sign.

    JavaScript and shells write `${id}`; in a URI template the `$` is text, and goes out as it stands.

    Bad: {"action": {"urlTemplate": "/notes/${id}"}}
    Good: {"action": {"urlTemplate": "/notes/{id}"}}
    """
    node, template = capability.url_template, capability.template
    if node is None or template is None or "${" not in template.text:
        return
    for expression in template.expressions:
        if expression.operator or not template.text.endswith("$", 0, expression.start):
            continue
        shown = template.text[expression.start : expression.end]
        if all(variable.name in capability.properties for variable in expression.variables):
            start, end = within(document, node, expression.start - 1, expression.end)
            fix = Fix(f"Write {shown}", (Edit(start, start + 1, ""),))
            message = f'the "$" is sent as it stands: a variable is written {shown}'
            yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)


@capability_rule("url-template-query", "warning")
def query_begun_wrongly(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """The query of `urlTemplate` begins twice, goes on where it never began, or has values without names.

    `{?a}` writes a `?` of its own and `{&a}` an `&` (RFC 6570 §3.2.8, §3.2.9): `/notes?{?a}` becomes `/notes??a=1`, and
    `/notes{&a}` a path that ends in `&a=1`. `/notes?{a}` becomes `/notes?1`.

    Bad: {"action": {"urlTemplate": "/notes{&text}"}}
    Good: {"action": {"urlTemplate": "/notes{?text}"}}
    """
    node, template = capability.url_template, capability.template
    if node is None or template is None:
        return
    begun, at = False, 0
    for expression in template.expressions:
        before = template.text[at : expression.start]
        begun, at = begun or "?" in before, expression.end
        if not expression.operator and before.endswith(("?", "&")) and expression.variables:
            start, end = within(document, node, expression.start, expression.end)
            separator = within(document, node, expression.start - 1, expression.start + 1)
            named = f"{{{before[-1]}"
            message = f"without a name before it, each value is sent bare: write {named}…}}"
            fix = Fix(f"Write {named}…}}", (Edit(*separator, named),))
            yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)
            continue
        if expression.operator not in ("?", "&"):
            continue
        if begun != (expression.operator == "&"):
            operator = within(document, node, expression.start + 1, expression.start + 2)
            start, end = within(document, node, expression.start, expression.end)
            if expression.operator == "&":
                message, edit, title = (
                    "nothing begins the query before it: write {?…}",
                    Edit(*operator, "?"),
                    "Begin it",
                )
            elif before.endswith("?"):
                cut = within(document, node, expression.start - 1, expression.start)
                message, edit, title = (
                    'the "?" before it is one too many: {?…} writes its own',
                    Edit(*cut, ""),
                    'Remove the "?"',
                )
            else:
                message, edit, title = "the query has begun before it: write {&…}", Edit(*operator, "&"), "Go on with &"
            yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, Fix(title, (edit,)))
        begun = True


@capability_rule("url-template-repeats", "info")
def repeated_variable(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A variable stands twice in the query of one `urlTemplate`.

    The server gets the parameter twice and takes the first, the last, or both.

    Bad: {"action": {"urlTemplate": "/notes/{id}{?text,text}"}}
    Good: {"action": {"urlTemplate": "/notes/{id}{?text}"}}
    """
    node, template = capability.url_template, capability.template
    if node is None or template is None or len(template.expressions) == 0:
        return
    seen: set[str] = set()
    for expression in template.expressions:
        if expression.operator not in ("?", "&"):
            continue
        for index, variable in enumerate(expression.variables):
            if variable.name in seen:
                start, end = within(document, node, variable.start, variable.end)
                fix = None
                if index and template.text[variable.start - 1] == ",":
                    cut = within(document, node, variable.start - 1, variable.end)
                    fix = Fix(f"Remove the second {quoted(variable.name)}", (Edit(*cut, ""),))
                message = f"{quoted(variable.name)} is in the query twice"
                yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)
            seen.add(variable.name)


@capability_rule("url-template-prefix", "warning")
def prefix_of_list(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A prefix modifier is applied to a list or an object.

    `{name:3}` takes the first characters of a text; RFC 6570 §2.4.1 defines nothing for other values, and libraries
    refuse them.

    Bad: {"action": {"urlTemplate": "/notes/{id}{?tags:3}"}}
    Good: {"action": {"urlTemplate": "/notes/{id}{?tags*}"}}
    """
    for modifier, start, end, name in _modifiers(capability, document):
        if modifier == ":" and types_of_variable(capability, name) & {"array", "object"}:
            fix = Fix("Remove the prefix", (Edit(start, end, ""),))
            message = f"{quoted(name)} is a list or an object: a prefix is for text only"
            yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)


@capability_rule("url-template-explode", "info")
def exploded_scalar(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A variable that is a single value is exploded.

    `{name*}` writes each item of a list, or each member of an object, by itself (RFC 6570 §2.4.2). For text and
    numbers it changes nothing.

    Bad: {"action": {"urlTemplate": "/notes/{id*}"}}
    Good: {"action": {"urlTemplate": "/notes/{id}"}}
    """
    for modifier, start, end, name in _modifiers(capability, document):
        kinds = types_of_variable(capability, name)
        if modifier == "*" and kinds and not kinds & {"array", "object"}:
            fix = Fix('Remove the "*"', (Edit(start, end, ""),), True)
            message = f'{quoted(name)} is a single value: "*" is for lists and objects'
            yield RuleMatch(message, (*capability.path, "action", "urlTemplate"), start, end, fix)


def _modifiers(capability: Capability, document: JsonDocument) -> Iterator[tuple[str, int, int, str]]:
    """Modifiers (`:n`, `*`) of a template's variables, with their places."""
    node, template = capability.url_template, capability.template
    if node is None or template is None or (":" not in template.text and "*" not in template.text):
        return
    for variable in template.variables:
        if variable.explode or variable.prefix is not None:
            length = 1 if variable.explode else 1 + len(str(variable.prefix))
            start, end = within(document, node, variable.end, variable.end + length)
            yield "*" if variable.explode else ":", start, end, variable.name


def _mistakes(
    document: JsonDocument, node: Scalar, template: Template, path: Path, capability: Capability | None = None
) -> Iterator[RuleMatch]:
    """Matches for a template's syntax errors, with their fixes."""
    text = template.text
    method = WITH_METHOD(text)
    for mistake in template.mistakes:
        first, last, message = mistake.start, mistake.end, mistake.message
        if method is not None and first < method.end():  # `url-template-relative` tells of it
            continue
        if text[first:last] == "\\":
            if "\\" in text[:first]:  # told with the first
                continue
            message = 'a path is written with "/", not "\\"'
        if printf := _PRINTF(text, first):
            last, message = printf.end(), f"a variable is written {{name}}, not {printf[0]}"
        if angled := _ANGLED(text, first):
            last, message = angled.end(), f"a variable is written {{{angled[1]}}}, not {angled[0]}"
        elif text[first:last] == ">" and (other := text.rfind("<", 0, first)) >= 0:
            angled = _ANGLED(text, other)
            if angled is not None and angled.end() == last:  # told with its beginning
                continue
        start, end = within(document, node, first, last)
        yield RuleMatch(
            f"{message}, in {quoted(text)}",
            path,
            start,
            end,
            _mended(document, node, template, mistake, capability)
            or _named(document, node, template, mistake, capability),
        )


def _named(
    document: JsonDocument, node: Scalar, template: Template, mistake: Mistake, capability: Capability | None
) -> Fix | None:
    """Write a name that a variable may have: the mapped one that is meant, else the same without its other signs."""
    wrong = template.text[mistake.start : mistake.end]
    mapping = capability.mapping if capability is not None else None
    free = [each for each in (mapping.value if mapping else ()) if is_variable(each) and each not in placed(template)]
    start, end = within(document, node, mistake.start, mistake.end)
    if wrong == "{}":
        free = _free_names(template, capability)
        return Fix(f"Write {{{free[0]}}}", (Edit(start, end, f"{{{free[0]}}}"),)) if len(free) == 1 else None
    if wrong[:1] == ":" or (wrong in ("=", ",", "!", "@", "|") and mistake.message.endswith("is reserved")):
        return Fix(f"Remove {quoted(wrong)}", (Edit(start, end, ""),))
    bare = "_".join(_WORDS.findall(wrong.partition("=")[0]))
    name = closest(bare, free) or bare
    if not mistake.message.endswith("is no variable name") or not is_variable(name):
        return None
    mapped = [each for part in (mapping, capability.location if capability else None) for each in members(part)]
    others = [Edit(each.name_start, each.name_end, spelt(name)) for each in mapped if each.name == wrong]
    return Fix(
        f"Write {name}", (Edit(start, end, name), *(others if name not in (mapping.value if mapping else ()) else ()))
    )


def _free_names(template: Template, capability: Capability | None) -> list[str]:
    """The mapped names that the template does not have, only those that are required where there are any."""
    mapping = capability.mapping if capability is not None else None
    free = [each for each in (mapping.value if mapping else ()) if is_variable(each) and each not in placed(template)]
    needed = {each.value for each in capability.required} if capability is not None else set()
    return [each for each in free if each in needed] or free


def _mended(
    document: JsonDocument, node: Scalar, template: Template, mistake: Mistake, capability: Capability | None
) -> Fix | None:
    """Fix of a template's syntax error; None where several are possible."""
    text, start, end = template.text, mistake.start, mistake.end
    if printf := _PRINTF(text, start):
        names = [printf[1]] if printf[1] else _free_names(template, capability)
        edit = Edit(*within(document, node, *printf.span()), f"{{{names[0]}}}") if len(names) == 1 else None
        return Fix(f"Write {edit.text}", (edit,)) if edit is not None else None
    if text[start:end] == " " and not (text[start - 1 : start].isalnum() and text[end : end + 1].isalnum()):
        return Fix("Remove the space", (Edit(*within(document, node, start, end), ""),))
    wrong = text[start:end]
    if wrong == "{":
        if text[end : end + 1] == "{":
            return Fix('Remove the "{"', (Edit(*within(document, node, start, end), ""),))
        name = _NAMES.match(text, start)
        if name is None or name.end() - start < 2:
            return None
        place, _ = within(document, node, name.end(), name.end())
        return Fix('Close it with "}"', (Edit(place, place, "}"),))
    if wrong == "}":
        return Fix('Remove the "}"', (Edit(*within(document, node, start, end), ""),))
    if wrong.startswith("{{"):
        return Fix(f"Write {wrong[1:-1]}", (Edit(*within(document, node, start, end), spelt(wrong[1:-1])[1:-1]),))
    if angled := _ANGLED(text, start):
        return Fix(f"Write {{{angled[1]}}}", (Edit(*within(document, node, *angled.span()), f"{{{angled[1]}}}"),))
    if wrong == ">":
        return None
    if wrong == "\\":
        edits = (Edit(*within(document, node, at, at + 1), "/") for at, char in enumerate(text) if char == "\\")
        return Fix('Write "/"', tuple(edits))
    if _OTHERWISE_SEPARATED(wrong):
        bare = _OTHER_SEPARATORS.sub(",", wrong)
        return Fix("Separate them by commas", (Edit(*within(document, node, start, end), bare),))
    if len(wrong) == 1 and "must be percent-encoded" in mistake.message:
        return Fix(
            f"Write {quote(wrong, safe='')}", (Edit(*within(document, node, start, end), quote(wrong, safe="")),)
        )
    if wrong == "%":
        return Fix("Write %25", (Edit(*within(document, node, start, end), "%25"),))
    if wrong == ",":
        return Fix("Remove the comma", (Edit(*within(document, node, start, end), ""),))
    if wrong.strip() != wrong and wrong.strip():
        bare = spelt(wrong.strip())[1:-1]
        return Fix("Remove the space", (Edit(*within(document, node, start, end), bare),), True)
    return None
