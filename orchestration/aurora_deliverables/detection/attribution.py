"""Attribution of work (commits, edits, sessions) to a deliverable: which one it belongs to that does not say so: the
branch's, or the only one open. What cannot be told apart belongs to none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

ONLY_ONE = "the only open deliverable"
"""Why work is taken for a deliverable's that nothing names."""


class Open(Struct, frozen=True):
    """A deliverable that has not ended, and what else it is called."""

    change_id: str
    names: tuple[str, ...] = ()


class Attributed(Struct, frozen=True):
    """The deliverable, and why it is this one."""

    change_id: str
    why: str


def attribute(open_: Iterable[Open], branch: str | None) -> Attributed | None:
    """The deliverable that is worked on now; None where nothing tells, as where several are open and none is named."""
    known = {each.change_id: each for each in open_}
    names = {name: each.change_id for each in known.values() for name in (each.change_id, *each.names)}
    named = change_in_branch(branch, names) if branch else None
    if named is not None:
        return Attributed(names[named], f"on branch {branch}")
    if len(known) == 1:
        return Attributed(next(iter(known)), ONLY_ONE)
    return None


def change_in_branch(branch: str, ids: Iterable[str]) -> str | None:
    """Deliverable that a branch's name holds as words: `feature/add-search`; of several the longest."""
    found = (each for each in ids if re.search(rf"(?:^|[/_-]){re.escape(each)}(?:$|[/_-])", branch, re.IGNORECASE))
    return max(found, key=lambda each: (len(each), each), default=None)
