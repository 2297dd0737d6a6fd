"""Guise of a member at a hub (pseudonymization): as himself, or by pseudonyms that nobody without the team's key can
tell a name from.

A pseudonym is a keyed hash (BLAKE2b): the same for all who hold the key, and not to be found by trying names. The
record at home keeps names as they are; what leaves is put under the guise, what comes back of one's own is taken out
of it.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from aurora_memory.record.entry import Entry, entry_id
from aurora_memory.record.people import PERSON
from aurora_protocol import typed
from aurora_team import TeamError
from aurora_team.outbox import texts_of

KEY_BYTES = 32
_KEY = re.compile(r"[0-9a-f]{64}")
_SHOWN = re.compile(r"person-[0-9a-f]{12}")
_NAMED = {PERSON: "name", "deliverable": "author"}
"""Fields that name a person, by kind of entry, at any depth."""

Stream = tuple[str, str]
"""Author and machine: what is sent from one place, in order."""


def new_key() -> str:
    """Random secret key for a team's pseudonyms, 64 hexadecimal digits."""
    return secrets.token_hex(KEY_BYTES)


def checked_key(text: str) -> str:
    """Key that somebody gave, without what is around it. Raises TeamError; it does not repeat it."""
    key = text.strip()
    if not _KEY.fullmatch(key):
        raise TeamError("this is no key of pseudonyms; a member's is printed by: aurora team key NAME")
    return key


class Guise:
    """Guise of who learned as `author` at `machine`: by pseudonyms where there is a `key`, else as himself.

    `names` are his own: his name, his mail address. An entry whose texts hold one of them is not to leave under
    pseudonyms.
    """

    def __init__(self, author: str, machine: str, key: str = "", names: tuple[str, ...] = ()) -> None:
        self._author = author
        self._machine = machine
        self._key = bytes.fromhex(key)
        self._names = [_whole(each) for each in names if each.strip()] if key else []

    @cached_property
    def stream(self) -> Stream:
        """Author and machine by which the hub knows what is sent from here."""
        return self._id("author", self._author), self._id("machine", self._machine)

    def shown(self, name: str) -> str:
        """What a person of that name is called, `person-…`; what is called so stays."""
        if not self._key or not name or _SHOWN.fullmatch(name):
            return name
        return f"person-{self._hash('name', ' '.join(name.casefold().split()))[:12]}"

    def leaving(self, entry: Entry) -> Entry:
        """One's own entry, from here, as it leaves."""
        if not self._key:
            return entry
        author, machine = self.stream
        return _renamed(replace(entry, author=author, machine=machine, body=self._body(entry)))

    def arriving(self, entry: Entry) -> Entry:
        """Entry of the hub as the record has it: what one sent from another machine is one's own."""
        author, machine = self.stream
        told = entry_id(entry.author, entry.machine, entry.sequence, entry.kind, entry.body)
        if not self._key or entry.author != author or entry.id != told:
            return entry
        own = self._machine if entry.machine == machine else entry.machine
        return _renamed(replace(entry, author=self._author, machine=own))

    def names_in(self, leaving: Entry) -> bool:
        """Whether an entry, as it leaves, has one of this person's names in its texts."""
        try:
            texts = list(texts_of(typed.decode(leaving.body)))
        except (msgspec.DecodeError, RecursionError):
            texts = [leaving.body]
        return any(name.search(text) for name in self._names for text in texts)

    def _body(self, entry: Entry) -> str:
        """Body of an entry with the names in it replaced."""
        field = _NAMED.get(entry.kind)
        if field is None:
            return entry.body
        try:
            return msgspec.json.encode(self._with_names(typed.decode(entry.body), field)).decode()
        except (msgspec.DecodeError, RecursionError):
            return entry.body  # it is no JSON, and therefore not sent

    def _with_names(self, value: Any, field: str) -> Any:
        if isinstance(value, dict):
            return {
                name: self.shown(each) if name == field and isinstance(each, str) else self._with_names(each, field)
                for name, each in value.items()
            }
        return [self._with_names(each, field) for each in value] if isinstance(value, list) else value

    def _id(self, of: str, value: str) -> str:
        return self._hash(of, value) if self._key else value

    def _hash(self, of: str, value: str) -> str:
        told = msgspec.json.encode((of, value))
        return hashlib.blake2b(told, digest_size=16, key=self._key).hexdigest()


def _renamed(entry: Entry) -> Entry:
    return replace(entry, id=entry_id(entry.author, entry.machine, entry.sequence, entry.kind, entry.body))


def _whole(name: str) -> re.Pattern[str]:
    """A name as whole words; one of a single word by its capitals too, as `Max` is not `max`."""
    words = name.split()
    pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"
    return re.compile(pattern, 0 if len(words) == 1 and "@" not in name else re.IGNORECASE)
