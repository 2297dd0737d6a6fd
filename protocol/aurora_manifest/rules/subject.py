"""What the rules about a whole manifest look at: the document, the manifest in it, and what the schema says."""

from __future__ import annotations

from collections.abc import Container
from functools import cached_property
from typing import Any

from msgspec import Struct

from aurora_manifest.document import Member, Node, Object
from aurora_manifest.findings import Finding
from aurora_manifest.misspellings import Guesses, Misspelt, misspelt_members
from aurora_manifest.model import Manifest, members
from aurora_manifest.schema import manifest_schema


class Part(Struct, frozen=True):
    """A stretch of the manifest that is looked at by itself: its members, and the way to the object they are in."""

    path: tuple[str | int, ...]
    members: tuple[Member, ...]


class Subject:
    """One manifest under check. `names_may_explain` is off when misspelt names are not told as errors.

    `fine` holds the `id` of capabilities and resources, as plain objects, that are known to meet the schema and to have
    no misspelt names.
    """

    def __init__(self, manifest: Manifest, *, names_may_explain: bool = True, fine: Container[int] = ()) -> None:
        self._fine = fine
        self.document = manifest.document
        self.manifest = manifest
        self.guesses = Guesses()
        self._names_may_explain = names_may_explain

    @cached_property
    def rest(self) -> Part:
        """The manifest without its capabilities and resources."""
        listed = (self.manifest.capabilities_node, self.manifest.resources_node)
        return Part((), tuple(each for each in members(self.document.root) if not _is_one_of(each.value, listed)))

    @cached_property
    def misspelt(self) -> list[Misspelt]:
        """Names close to ones the schema knows."""
        return list(misspelt_members(self.document, manifest_schema().shapes.root, self.guesses, self._fine))

    def _without_fine(self) -> Any:
        """The plain value, without the capabilities and resources that are known to be fine."""
        plain = self.document.root.value if self.document.root else None
        if not isinstance(plain, dict) or not self._fine:
            return plain
        trimmed = dict(plain)
        for listed in ("capabilities", "resources"):
            if isinstance(entries := plain.get(listed), dict):
                trimmed[listed] = {name: each for name, each in entries.items() if id(each) not in self._fine}
        return trimmed

    @cached_property
    def against_schema(self) -> list[Finding]:
        """What makes the document invalid by its schema."""
        if self._fine and manifest_schema().shapes.root.accepts(self._without_fine()):
            return []
        told = frozenset(each.explains for each in self.misspelt if each.explains and self._names_may_explain)
        return list(manifest_schema().findings(self.document, told))


def _is_one_of(node: Node, listed: tuple[Node | None, ...]) -> bool:
    return isinstance(node, Object) and any(node is each for each in listed)
