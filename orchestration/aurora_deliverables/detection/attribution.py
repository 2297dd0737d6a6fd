"""Attribution of work: which deliverable work belongs to that does not say so: the branch's, the only one open, or
the one last touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

RECENT_SECONDS = 3600.0
"""Among several open ones, only one that was touched within this time is taken to be worked on."""


class Open(Struct, frozen=True):
    """A deliverable that has not ended, and when it was last touched."""

    change_id: str
    updated_at: float


class Attributed(Struct, frozen=True):
    """The deliverable, and why it is this one."""

    change_id: str
    why: str


def attribute(open_: Iterable[Open], branch: str | None, now: float) -> Attributed | None:
    """The deliverable that is worked on now; None where nothing tells."""
    known = {each.change_id: each for each in open_}
    named = change_in_branch(branch, known) if branch else None
    if named is not None:
        return Attributed(named, f"on branch {branch}")
    if len(known) == 1:
        return Attributed(next(iter(known)), "the only open deliverable")
    latest = max(known.values(), key=lambda each: (each.updated_at, each.change_id), default=None)
    if latest is None or now - latest.updated_at > RECENT_SECONDS:
        return None
    return Attributed(latest.change_id, f"the latest touched of {len(known)} open deliverables")


def change_in_branch(branch: str, ids: Iterable[str]) -> str | None:
    """The longest of `ids` that a branch's name holds as words: `feature/add-search` or `ann/12-add-search-v2`."""
    found = (each for each in ids if re.search(rf"(?:^|[/_-]){re.escape(each)}(?:$|[/_-])", branch, re.IGNORECASE))
    return max(found, key=lambda each: (len(each), each), default=None)
