"""Code lenses and inlay hints: what an editor shows above the text: who uses a capability, and the address its template
expands to."""

from __future__ import annotations

from msgspec import Struct

from aurora_manifest.editing.examples import example_of
from aurora_manifest.json.value_text import sendable
from aurora_manifest.model import Manifest, members

MAX_HINTS = 200
"""Hints in one answer: clients ask for what is on the screen."""


class Lens(Struct, frozen=True):
    """Code lens above a capability: its name, where that stands, and its reference count, how many resources use it."""

    capability: str
    start: int
    end: int
    resources: int
    can_be_called: bool


class Hint(Struct, frozen=True):
    """Text to show right behind an offset."""

    offset: int
    text: str
    tooltip: str


def lenses(manifest: Manifest) -> list[Lens]:
    """One lens for each capability, in the order of the text."""
    found = []
    for member in members(manifest.capabilities_node):
        capability = manifest.capabilities[member.name]
        used = len({id(each.resource) for each in manifest.uses.get(member.name, ())})
        callable_ = capability.member is member and capability.method is not None and capability.template is not None
        found.append(Lens(sendable(member.name), member.name_start, member.name_end, used, callable_))
    return found


def hints(manifest: Manifest, start: int, end: int) -> list[Hint]:
    """Inlay hints: behind each `urlTemplate` between two offsets, the address an example call would have."""
    found: list[Hint] = []
    for capability in manifest.capabilities.values():
        template = capability.url_template
        if template is None or template.end < start or template.start > end or len(found) >= MAX_HINTS:
            continue
        example = example_of(manifest, capability)
        if example.url and example.url != template.value:
            found.append(Hint(template.end, f"→ {example.url}", example.text))
    return found
