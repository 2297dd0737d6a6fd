"""Applying fixes to a text: all that do not touch each other, again and again, until none is left."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from aurora_manifest.findings import Edit, Finding

MAX_ROUNDS = 25
"""A fix may bring another finding to light; so often a text is looked at again."""


_FOR_PEOPLE = frozenset({"schema-required"})
"""Rules whose fixes put in something to begin with (`https://example.com`): to be offered, not to be just made."""


class Fixed(Struct, frozen=True):
    """A text after its fixes: the findings that were mended, in the order it was done, and those that are left."""

    text: str
    applied: tuple[Finding, ...]
    left: tuple[Finding, ...]


def fix_all(text: str, check: Callable[[str], Sequence[Finding]]) -> Fixed:
    """Apply the fixes of what `check` finds until it finds nothing that can be fixed without asking.

    Fixes that undo each other end it as soon as a text comes up again.
    """
    applied: list[Finding] = []
    seen = {text}
    found = check(text)
    for _ in range(MAX_ROUNDS):
        chosen = apart(found)
        changed = edited(text, (edit for each in chosen if each.fix for edit in each.fix.edits))
        if not chosen or changed in seen:
            break
        text = changed
        seen.add(text)
        applied += chosen
        found = check(text)
    return Fixed(text, tuple(applied), tuple(found))


def is_fixable(finding: Finding) -> bool:
    """Whether a finding can be fixed without asking: it has a fix, and nobody has to fill in what it puts there."""
    return finding.fix is not None and finding.rule not in _FOR_PEOPLE


def apart(findings: Iterable[Finding]) -> list[Finding]:
    """Those that can be fixed and whose edits touch no edit of an earlier one: they can all be made at once."""
    chosen: list[Finding] = []
    taken: list[tuple[int, int]] = []
    for each in findings:
        places = [(edit.start, edit.end) for edit in each.fix.edits] if each.fix and is_fixable(each) else []
        if places and all(_is_free(place, taken) for place in places):
            chosen.append(each)
            for place in places:
                insort(taken, place)
    return chosen


def edited(text: str, edits: Iterable[Edit]) -> str:
    """The text with these edits made; they must lie apart."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda each: (each.start, each.end)):
        pieces += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*pieces, text[at:]))


def _is_free(place: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    """Whether a place lies apart from those taken, which are sorted and lie apart from each other."""
    start, end = place
    after = bisect_right(taken, (start, end))
    return not (after and taken[after - 1][1] >= start) and not (after < len(taken) and taken[after][0] <= end)
