"""Outbox filter (sharing policy, privacy settings): what of a record may be sent to a team, and why the rest stays."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from aurora_memory.record.entry import FORGET, Entry
from aurora_memory.record.people import PERSON, said_of
from aurora_protocol import typed
from aurora_protocol.secrets import secrets_in

SHARED_KINDS = ("reasoning", "access", "boost", "use", "run", "archived", "escalated", "deliverable")
"""Kinds of entries that a team may be sent. Difficulties are not among them: they are questions that nobody kept."""


PEOPLE = "people"
"""What `team.share` names where one lets colleagues see what one knows."""


class SendVerdict(Struct, frozen=True):
    """Verdict on sending an entry: `reason` is why not, "" where it is. `is_secret`: it was stopped for a secret."""

    reason: str = ""
    is_secret: bool = False


def judge(entry: Entry, kinds: Collection[str]) -> SendVerdict:
    """Verdict on an entry of one's own. `kinds` are those shared; that something is forgotten is always told."""
    if entry.kind == FORGET:
        return SendVerdict()
    if entry.kind == PERSON:
        return _judge_person(entry, kinds)
    if entry.kind not in SHARED_KINDS:
        return SendVerdict(f"entries of the kind {entry.kind[:40]} are never sent")
    if entry.kind not in kinds:
        return SendVerdict(f"team.share leaves out {entry.kind}")
    try:
        body = typed.decode(entry.body)
    except (msgspec.DecodeError, RecursionError):
        return SendVerdict("its body is not JSON")
    if entry.kind == "run" and not (isinstance(body, dict) and body.get("reasoning")):
        return SendVerdict("it is the question of a run that was not kept")
    for text in (entry.body, *texts_of(body)):
        one_word = text is entry.body or not re.search(r"\s", text)  # which may be an id
        found = secrets_in(text, unknown=not one_word)
        if found:
            return SendVerdict(f"it holds what looks like {found[0].noun}", is_secret=True)
    return SendVerdict()


def _judge_person(entry: Entry, kinds: Collection[str]) -> SendVerdict:
    """Who takes back that he is named is heard, whatever is shared."""
    said = said_of(entry.body)
    if said is None:
        return SendVerdict("its body is not what its kind says")
    return SendVerdict() if not said.shares or PEOPLE in kinds else SendVerdict(f"team.share leaves out {PEOPLE}")


def texts_of(value: Any) -> Iterator[str]:
    """Every string in a value of JSON, keys too."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list):
            waiting += each
