"""People of a record (consent, privacy, pseudonyms): who lets colleagues see that he knows something, under what name,
and what he used.

A use is written under an id that says nothing of its person. Only who states so is named to others: by an entry of his
own, of which the latest counts; another one takes it back.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from aurora_memory.record.entry import EntryDraft
from aurora_memory.record.record_file import Record
from aurora_protocol import typed

PERSON = "person"
"""Kind of an entry by which its author says who he is, or that he does not say so any more."""

LONGEST_NAME = 200
"""Characters of a name; what is longer is cut."""


class Person(Struct, frozen=True, forbid_unknown_fields=True):
    """Statement of an entry's author: his name, and whether colleagues may see what he knows under it."""

    name: Annotated[str, Meta(max_length=LONGEST_NAME)]
    shares: bool


def said_of(body: str) -> Person | None:
    """Statement that an entry's body is; None where it is none that this AURORA understands."""
    try:
        return typed.decode(body, Person)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def people(record: Record) -> dict[str, str]:
    """Names of the authors who share theirs, by their ids."""
    latest: dict[str, tuple[tuple[float, int, str], Person]] = {}
    for entry in record.of_kind(PERSON):
        said, order = said_of(entry.body), (entry.at, entry.sequence, entry.id)
        if said is not None and order >= latest.get(entry.author, (order,))[0]:
            latest[entry.author] = (order, said)
    return {author: said.name for author, (_, said) in latest.items() if said.shares and said.name}


def state(record: Record, name: str, now: float, *, shares: bool) -> bool:
    """Say in the record who its author is, or that he does not share it; False where that is said already.

    Who never shared it says nothing.
    """
    said = Person(name[:LONGEST_NAME] if shares else "", shares=bool(shares and name))
    if people(record).get(record.author) == (said.name or None):
        return False
    record.append([EntryDraft(PERSON, msgspec.json.encode(said).decode(), now)])
    return True
