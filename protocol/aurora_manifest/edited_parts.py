"""Edited parts (incremental validation): the capabilities and resources that differ between two readings of a manifest,
where nothing else does, and where what lies around them is afterwards.

With them a check after an edit looks at what was typed into, and not at a thousand capabilities around it.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import is_
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aurora_manifest.findings import Edit, Finding, Fix
from aurora_manifest.json.document import Member, Object
from aurora_manifest.model import Capability, Manifest, Resource

_LISTS = ("capabilities", "resources")
_MOST = 8


class EditedPart(Struct, frozen=True):
    """Edited part, before and after; its name is the same."""

    before: Capability | Resource
    after: Capability | Resource

    @property
    def start(self) -> int:
        """Where it began before."""
        return self.before.member.name_start

    @property
    def end(self) -> int:
        """Where it ended before."""
        return self.before.member.value.end

    @property
    def by(self) -> int:
        """How much longer it is now."""
        return _length(self.after.member) - _length(self.before.member)

    @property
    def says_the_same(self) -> bool:
        """Whether all that rules about the whole manifest look at in a sound part is what it was."""
        return self.before.facts() == self.after.facts()


class EditedParts(Struct, frozen=True):
    """The parts that differ, in the order of the text. They lie apart."""

    parts: tuple[EditedPart, ...]

    def apart(self, found: Finding) -> bool:
        """Whether a finding of before lies outside of all that was edited, with the ends of its edits."""
        return not any(self._inside(each) for each in _ends(found))

    def within(self, found: Finding) -> bool:
        """Whether a finding of before lies in an edited part."""
        return any(part.start <= found.start and found.end <= part.end for part in self.parts)

    def moved(self, found: Finding) -> Finding:
        """A finding of before that lies apart, where it is now."""
        ends = list(_ends(found))
        if list(map(self.place, ends)) == ends:
            return found
        fix = self._moved_fix(found.fix) if found.fix else None
        others = tuple(self._moved_fix(each) for each in found.others)
        return replace(found, start=self.place(found.start), end=self.place(found.end), fix=fix, others=others)

    def place(self, offset: int) -> int:
        """Where a place of before, outside of what was edited, is now."""
        return offset + sum(each.by for each in self.parts if each.end <= offset)

    def _inside(self, offset: int) -> bool:
        return any(part.start < offset < part.end for part in self.parts)

    def _moved_fix(self, fix: Fix) -> Fix:
        edits = tuple(Edit(self.place(each.start), self.place(each.end), each.text) for each in fix.edits)
        return replace(fix, edits=edits)


def edited_parts(before: Manifest, after: Manifest) -> EditedParts | None:
    """Diff of two readings: the parts that differ; None where more differs, where it is more than some of them, or
    where JSON is broken.

    Told by identity: reading anew takes over the plain values of what was not edited (`reparse`).
    """
    if before.document.problems or after.document.problems:
        return None
    old, new = before.root, after.root
    if not isinstance(old, Object) or not isinstance(new, Object) or list(old.value) != list(new.value):
        return None
    if not all(old.value[name] is new.value[name] for name in old.value if name not in _LISTS):
        return None
    parts: list[EditedPart] = []
    for name in _LISTS:
        names = _differing(old.value.get(name), new.value.get(name))
        if names is None or len(parts) + len(names) > _MOST:
            return None
        kind = Capability if name == "capabilities" else Resource
        nodes = [each.capabilities_node if kind is Capability else each.resources_node for each in (before, after)]
        for each in names:
            found = [node.member(each) if isinstance(node, Object) else None for node in nodes]
            if found[0] is None or found[1] is None:
                return None
            parts.append(EditedPart(kind(found[0]), kind(found[1])))
    edited = EditedParts(tuple(sorted(parts, key=lambda each: each.start)))
    longer = len(after.document.text) - len(before.document.text)
    in_place = all(edited.place(each.start) == each.after.member.name_start for each in edited.parts)
    return edited if parts and in_place and longer == sum(each.by for each in parts) else None


def _differing(old: Any, new: Any) -> list[str] | None:
    """Names of the parts that differ; None where the names do, or where parts are no objects."""
    if old is new:
        return []
    if not isinstance(old, dict) or not isinstance(new, dict) or list(old) != list(new):
        return None
    if not all(type(each) is dict for each in new.values()):  # other values may be shared by chance
        return None
    same = list(map(is_, old.values(), new.values()))
    if same.count(False) > _MOST:
        return None
    return [name for name, is_same in zip(new, same, strict=True) if not is_same]


def _length(member: Member) -> int:
    return member.value.end - member.name_start


def _ends(found: Finding) -> Iterable[int]:
    yield from (found.start, found.end)
    for fix in (found.fix, *found.others):
        for edit in fix.edits if fix is not None else ():
            yield from (edit.start, edit.end)
