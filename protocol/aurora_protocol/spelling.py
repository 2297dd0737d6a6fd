"""Misspellings ("did you mean" suggestions): fuzzy match of a name against the names that are known, by difflib's
likeness; of edits only two swapped letters count by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterable

OF_MANY = 0.75
"""Likeness (difflib's ratio) of a misspelling among names that people chose: of hundreds, some are alike by chance."""

OF_FEW = 0.55
"""The same among the few names that a format or a command has: there a guess is seldom wrong."""

SWAPPED = 5
"""Letters of a name from which on two swapped ones are a slip of the fingers, however alike the names are: of shorter
ones (`form`, `from`) both are words.
"""

_GUESSABLE = 64
"""Characters of a name that is guessed at: the comparison is quadratic."""

_NOT_WORD = re.compile(r"[\W_]+")


def closest(name: str, known: Iterable[str], at_least: float = OF_MANY) -> str | None:
    """The known name that `name` seems to stand for: the same but for case and punctuation, or spelt much alike."""
    from difflib import get_close_matches  # where a name is wrong: an ordinary command needs none

    if not name or len(name) > _GUESSABLE:
        return None
    candidates = [each for each in known if len(each) <= _GUESSABLE]
    bare = _bare(name)
    for candidate in candidates:
        if bare and bare == _bare(candidate):
            return candidate
    for candidate in candidates:
        if _is_swapped(name, candidate):
            return candidate
    # Of most names their length tells that they are not alike enough: difflib takes longer to say so.
    alike = [each for each in candidates if 2 * min(len(each), len(name)) / (len(each) + len(name)) >= at_least]
    matches = get_close_matches(name, alike, n=1, cutoff=at_least)
    return matches[0] if matches else None


def _is_swapped(one: str, other: str) -> bool:
    """Transposition: whether two names are the same but for two neighbouring letters, each in the other's place."""
    if len(one) != len(other) or len(one) < SWAPPED:
        return False
    places = [n for n, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(places) != 2 or places[1] != places[0] + 1:
        return False
    first, second = places
    return one[first] == other[second] and one[second] == other[first]


def _bare(name: str) -> str:
    """A name without case and punctuation."""
    return (name if name.isalnum() else _NOT_WORD.sub("", name)).lower()


def begun_by(name: str, known: Iterable[str]) -> str | None:
    """The only known name that begins with `name`, which was cut off: `min` for `minute`."""
    found = [each for each in known if len(name) > 2 and each != name and each.startswith(name.lower())]
    return found[0] if len(found) == 1 else None
