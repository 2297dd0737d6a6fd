"""What is known of the capabilities and resources of one manifest as it changes: nothing is found out twice."""

from __future__ import annotations

from msgspec import Struct

from aurora_manifest.document import Document, Member
from aurora_manifest.findings import Finding
from aurora_manifest.model import Capability, Resource
from aurora_manifest.rules.fast_accept import has_known_names, is_ordinary

MANY = 10
"""Of so many parts it is quicker to look at all their text first."""


class Known(Struct):
    """What is known of one capability or resource; it depends on nothing but its text.

    `found` is what the rules said, None before they were asked; its offsets are from where the part begins. `ordinary`
    tells that the rules about such a part have nothing to say, `fine` that it meets the schema and has no misspelt
    names. `plain` is its plain value, kept so that no other object can have the same `id`.
    """

    plain: object
    of_capability: bool
    ordinary: bool
    fine: bool
    found: list[Finding] | None = None
    text: str | None = None


class KnownParts:
    """What is known of the parts of a manifest's last version. Not for several threads at once."""

    def __init__(self) -> None:
        self._text = ""
        self._members: list[Member] = []
        self._known: list[Known] = []
        self._by_value: dict[int, Known] = {}

    def follow(self, parts: list[Capability | Resource], document: Document) -> list[Known]:
        """What is known of the parts of the next version, in their order.

        A plain value that is the same object has the same text (`reparse`). Where many are other objects, as after an
        edit that broke the text, texts are compared.
        """
        before = self._by_value
        members = [each.member for each in parts]
        known: list[Known | None] = []
        for member in members:
            plain = member.value.value
            same = before.get(id(plain)) if isinstance(plain, dict) else None
            known.append(same if same is not None and same.plain is plain else None)
        if before and known.count(None) > MANY:
            self._compare_texts(parts, known, document.text)
        looked = [_look_at(each) if same is None else same for each, same in zip(parts, known, strict=True)]
        self._text, self._members, self._known = document.text, members, looked
        self._by_value = {id(each.plain): each for each in looked}
        return looked

    def fine(self) -> dict[int, Known]:
        """The parts that are fine, by the `id` of their plain values."""
        return {at: each for at, each in self._by_value.items() if each.fine}

    def all_are_fine(self) -> None:
        """Note that the whole manifest turned out to meet the schema and to have no misspelt names."""
        for each in self._known:
            each.fine = True

    def _compare_texts(self, parts: list[Capability | Resource], known: list[Known | None], text: str) -> None:
        """Put in what is known of parts by their texts."""
        for before, member in zip(self._known, self._members, strict=True):
            if before.text is None:
                before.text = _text_of(member, self._text)
        by_text = {(before.of_capability, before.text): before for before in self._known}
        for index, each in enumerate(parts):
            if known[index] is None:
                own = _text_of(each.member, text)
                same = by_text.get((isinstance(each, Capability), own))
                if same is not None:
                    fine = same.ordinary and has_known_names(each)
                    known[index] = Known(each.node.value, same.of_capability, same.ordinary, fine, same.found, own)


def _text_of(member: Member, text: str) -> str:
    return text[member.name_start : member.value.end]


def _look_at(part: Capability | Resource) -> Known:
    ordinary = is_ordinary(part)
    fine = ordinary and has_known_names(part)
    return Known(part.node.value, isinstance(part, Capability), ordinary, fine)
