"""Rules about descriptions (empty, placeholder, short): an agent chooses by nothing else (AURA-P "Core Concepts")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_manifest.edits import writing
from aurora_manifest.json.document import JsonDocument, Object, Scalar
from aurora_manifest.json.value_text import quoted
from aurora_manifest.model import Capability, Resource, string
from aurora_manifest.rules.registry import Path, RuleMatch, at, at_name, capability_rule, manifest_rule, resource_rule
from aurora_manifest.rules.subject import Subject
from aurora_manifest.schema import sentence

_LONGEST = 16
_NOTE_TO_ONESELF = re.compile(r"(?:TODO|FIXME|TBD|XXX)\b[ \t]*[:(,-]").match
_PLACEHOLDER = re.compile(r"(?:to ?do|tbd|fixme|xxx+|\.{2,}|…|n/?a|none|description|lorem ipsum|-+|\?+)[.!:]?", re.I)


@capability_rule("capability-description", "warning")
def capability_description(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A capability's description is empty, a placeholder or nothing but the id.

    Bad: {"description": "TODO"}
    Good: {"description": "Change the text of a note."}
    """
    yield from _empty(capability.description, capability.name, (*capability.path, "description"))


@resource_rule("resource-description", "warning")
def resource_description(resource: Resource, document: JsonDocument) -> Iterator[RuleMatch]:
    """A resource's description is empty, a placeholder or nothing but its name.

    Bad: {"description": " "}
    Good: {"description": "One note."}
    """
    yield from _empty(resource.description, resource.name, ("resources", resource.name, "description"))


@manifest_rule("site-description", "warning")
def site_description(subject: Subject) -> Iterator[RuleMatch]:
    """The site's name or description is empty or a placeholder, or both are the same.

    It is how an agent that knows many sites finds out that this is the one it needs.

    Bad: {"site": {"name": "Notes", "description": ""}}
    Good: {"site": {"name": "Notes", "description": "Keeps your notes."}}
    """
    site = subject.manifest.site
    name, description = string(site, "name"), string(site, "description")
    if name is not None and not str(name.value).strip():
        yield at(name, "the site's name is empty", ("site", "name"))
    if description is not None and _says_nothing(description.value):
        message = f"{quoted(str(description.value))} says nothing about the site"
        yield at(description, message, ("site", "description"))
    elif name is not None and description is not None and name.value == description.value:
        yield at(description, "this says no more about the site than its name", ("site", "description"))


@capability_rule("parameter-description", "info")
def parameter_description(capability: Capability, document: JsonDocument) -> Iterator[RuleMatch]:
    """A parameter's description is empty, a placeholder or nothing but its name, or there is neither one nor a type.

    Without either an agent has only the name to guess from.

    Bad: {"parameters": {"properties": {"text": {"description": "", "type": "string"}}}}
    Good: {"parameters": {"properties": {"text": {"description": "The new text.", "type": "string"}}}}
    """
    for schema in capability.schemas_with("description"):
        said, name = schema.node.value["description"], str(schema.path[-1])
        if schema.path[-2] == "properties" and (_says_nothing(said) or said == name):
            yield from _empty(string(schema.node, "description"), name, (*schema.path, "description"), written=False)
    for name, member in capability.properties.items():
        if isinstance(member.value, Object) and not member.value.members and _is_blank(member.value, document):
            message = f"nothing is said about the parameter {quoted(name)}: give it a type and a description"
            yield at_name(member, message, (*capability.path, "parameters", "properties", name))


def _is_blank(node: Object, document: JsonDocument) -> bool:
    """Whether nothing stands between an object's braces, not even what somebody just begins to type."""
    return not node.broken and not document.text[node.start + 1 : node.end].strip(" \t\r\n}")


def _empty(node: Scalar | None, name: str, path: Path, *, written: bool = True) -> Iterator[RuleMatch]:
    """Match for a description that is empty, a placeholder or only the name."""
    if node is None or not (_says_nothing(node.value) or node.value == name):
        return
    if node.value == name and name.strip():
        message = f"{quoted(name)} is the name once more and no description: it is what agents choose by"
    elif str(node.value).strip():
        message = f"{quoted(str(node.value))} is no description: it is what agents choose by"
    else:
        message = "the description is empty: it is what agents choose by"
    words = sentence(name)
    says_more = written and words not in (sentence(""), node.value) and (node.value != name or " " in words)
    fix = writing(node, words) if says_more else None
    yield at(node, message, path, fix)


def _says_nothing(description: object) -> bool:
    """Whether a value is an empty description, or a placeholder for one."""
    if not isinstance(description, str):
        return False
    text = description.strip()
    if _NOTE_TO_ONESELF(text) is not None:
        return True
    return not text or (len(text) <= _LONGEST and _PLACEHOLDER.fullmatch(text) is not None)
