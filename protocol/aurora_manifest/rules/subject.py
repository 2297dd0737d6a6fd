"""Subject of the rules (their input, context): what the rules about a whole manifest look at: the document, the
manifest in it, and what the schema says.
"""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from aurora_manifest.findings import Finding
from aurora_manifest.json.document import Member, Node, Object
from aurora_manifest.misspellings import Guesses, Misspelt, misspelt_members
from aurora_manifest.model import Manifest, members
from aurora_manifest.schema import manifest_schema


class ManifestPart(Struct, frozen=True):
    """A stretch of the manifest that is looked at by itself: its members, and the way to the object they are in."""

    path: tuple[str | int, ...]
    members: tuple[Member, ...]


class Subject:
    """Subject: one manifest under check. `names_may_explain` is off when misspelt names are not told as errors.

    `sound` are the capabilities and resources that are known to meet the schema with no name that it does not know, by
    the `id` of their plain values: nobody needs to look at them again for that.
    """

    def __init__(
        self, manifest: Manifest, *, names_may_explain: bool = True, sound: frozenset[int] = frozenset()
    ) -> None:
        self.document = manifest.document
        self.manifest = manifest
        self.sound = sound
        self.guesses = Guesses()
        self._names_may_explain = names_may_explain

    @cached_property
    def rest(self) -> ManifestPart:
        """The manifest without its capabilities and resources."""
        listed = (self.manifest.capabilities_node, self.manifest.resources_node)
        return ManifestPart(
            (), tuple(each for each in members(self.document.root) if not _is_one_of(each.value, listed))
        )

    @cached_property
    def misspelt(self) -> list[Misspelt]:
        """Names close to ones the schema knows."""
        return list(misspelt_members(self.document, manifest_schema().shapes.root, self.guesses, self.sound))

    @cached_property
    def against_schema(self) -> list[Finding]:
        """Findings that make the document invalid by its schema."""
        told = frozenset(each.explains for each in self.misspelt if each.explains and self._names_may_explain)
        return list(manifest_schema().findings(self.document, told, self.sound))


def _is_one_of(node: Node, listed: tuple[Node | None, ...]) -> bool:
    return isinstance(node, Object) and any(node is each for each in listed)
