"""Fix-all (autofix): the loss-free fixes of a text, made again and again until none is left (a fixed point)."""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from aurora_manifest.findings import Edit, Finding
from aurora_manifest.json.parser import parse

MAX_ROUNDS = 200
"""A fix may bring another finding to light; so often a text is looked at again."""

MAX_TRIALS = 400
"""So many texts are looked at for all of it: where more than some dozens of fixes do harm, the last are left."""


class Fixed(Struct, frozen=True):
    """A text after its fixes: the findings that were mended, in the order it was done, and those that are left.

    `edits` lead from the text before to the one after; they lie apart.
    """

    text: str
    applied: tuple[Finding, ...]
    left: tuple[Finding, ...]
    edits: tuple[Edit, ...] = ()


def fix_all(text: str, check: Callable[[str], Sequence[Finding]], found: Sequence[Finding] | None = None) -> Fixed:
    """Fixed-point iteration: apply the loss-free fixes of what `check` finds until it finds none that may be made.

    Fixes that bring about a finding that was not there are not made, nor are those after which a text of broken JSON
    reads differently. Fixes that undo each other end it as soon as a text comes up again. `found` is what `check` says
    of the text, where that is known.
    """
    draft, applied = _Draft(text), list[Finding]()
    found = check(text) if found is None else found
    seen = {text}
    best = Fixed(text, (), tuple(found))
    trials = _Trials(check)
    for _ in range(MAX_ROUNDS):
        step = trials.step(draft.text, found, apart(found))
        if step is None or step.text in seen:
            break
        draft.make(step.text, [edit for each in step.made if each.fix for edit in each.fix.edits])
        seen.add(draft.text)
        applied += step.made
        found = step.found
        if not _news(best.left, found):
            best = Fixed(draft.text, tuple(applied), tuple(found), draft.edits())
    return best


def is_fixable(finding: Finding) -> bool:
    """Whether a finding can be fixed without asking: its fix leaves the meaning of the text as it is."""
    return finding.fix is not None and finding.fix.loss_free


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


class _Step(Struct, frozen=True):
    """A text after some fixes, and what is found in it."""

    text: str
    made: Sequence[Finding]
    found: Sequence[Finding]


class _Trials:
    """Trials of fixes: those of one look at a text together, and where that does harm, by halves (bisection)."""

    def __init__(self, check: Callable[[str], Sequence[Finding]]) -> None:
        self._check = check
        self._left = MAX_TRIALS

    def step(self, text: str, found: Sequence[Finding], chosen: Sequence[Finding]) -> _Step | None:
        """Make the fixes of `chosen` but for those that do harm; None where all of them do.

        One that does harm is found by its half, and its half of that: the others are made in the same step, so that it
        is not met again for each of them.
        """
        good: _Step | None = None
        pending = [chosen] if chosen else []
        while pending and self._left > 0:
            part = pending.pop()
            tried = self._tried(text, found, [*(good.made if good else ()), *part])
            if tried is not None:
                good = tried
            elif len(part) > 1:
                half = len(part) // 2
                pending += (part[half:], part[:half])
        return good

    def _tried(self, text: str, found: Sequence[Finding], made: Sequence[Finding]) -> _Step | None:
        """Trial of some fixes; None where they change the meaning, or bring findings that cannot be fixed."""
        self._left -= 1
        changed = edited(text, (edit for each in made if each.fix for edit in each.fix.edits))
        if not _reads_alike(text, changed, made):
            return None
        after = self._check(changed)
        return _Step(changed, made, after) if all(is_fixable(each) for each in _news(found, after)) else None


def _reads_alike(before: str, after: str, made: Sequence[Finding]) -> bool:
    """Whether the text of a broken document is taken for the same value as before, wherever its JSON is put right."""
    if not any(each.rule.startswith("json-") for each in made):
        return True
    one, other = parse(before), parse(after)
    same = one.root is not None and other.root is not None and one.root.value == other.root.value
    return same and len(other.problems) <= len(one.problems)


def _news(before: Sequence[Finding], after: Sequence[Finding]) -> list[Finding]:
    """Findings that were not there before; their places do not count, since edits move them."""
    known = Counter((each.rule, each.message) for each in before)
    news = []
    for each in after:
        key = each.rule, each.message
        if known[key]:
            known[key] -= 1
        else:
            news.append(each)
    return news


class _Draft:
    """A text that is edited again and again, and what has come of the one it was: pieces of that, and new ones."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._size = len(text)
        self._pieces: list[tuple[int, int] | str] = [(0, len(text))]

    def make(self, text: str, edits: Iterable[Edit]) -> None:
        """Note the edits that lead from the current text to `text`."""
        self.text = text
        for edit in sorted(edits, key=lambda each: each.start, reverse=True):
            pieces: list[tuple[int, int] | str] = []
            at, put = 0, False
            for piece in self._pieces:
                size = len(piece) if isinstance(piece, str) else piece[1] - piece[0]
                low, high = max(0, min(size, edit.start - at)), max(0, min(size, edit.end - at))
                pieces.append(_cut(piece, 0, low))
                if not put and at + size >= edit.start:
                    pieces.append(edit.text)
                    put = True
                pieces.append(_cut(piece, high, size))
                at += size
            self._pieces = [each for each in pieces if (each if isinstance(each, str) else each[0] < each[1])]

    def edits(self) -> tuple[Edit, ...]:
        """The edits that lead from the text it was to the text it is."""
        found: list[Edit] = []
        at, new = 0, ""
        for piece in [*self._pieces, (self._size, self._size)]:
            if isinstance(piece, str):
                new += piece
                continue
            if new or piece[0] > at:
                found.append(Edit(at, piece[0], new))
            at, new = piece[1], ""
        return tuple(found)


def _cut(piece: tuple[int, int] | str, low: int, high: int) -> tuple[int, int] | str:
    return piece[low:high] if isinstance(piece, str) else (piece[0] + low, piece[0] + high)


def _is_free(place: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    """Whether a place lies apart from those taken, which are sorted and lie apart from each other."""
    start, end = place
    after = bisect_right(taken, (start, end))
    return not (after and taken[after - 1][1] >= start) and not (after < len(taken) and taken[after][0] <= end)
