"""Index of gitignore patterns with wildcards, by what has to stand in a path for them to match.

A rule is kept under one short piece of its literal text; of a path only the rules of pieces that stand in it are tried,
and only those are ever compiled. So an ignore file may have thousands of such lines, and a path costs a few look-ups.
Models: the trigram index of codesearch, the literals that ripgrep's globset looks for first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from operator import attrgetter

from aurora_indexer.files.wildmatch import compile_pattern, needs_of

GRAM = 3
"""Characters of a piece at most; shorter ones stand for rules that have no more literal text in a row."""


class GlobRule:
    """Glob pattern of an ignore file, a line with wildcards. `order` is the line's place: the highest that matches
    decides.
    """

    def __init__(self, order: int, ignores: bool, only_folders: bool, pattern: str) -> None:
        """Raises MalformedPattern."""
        self.order = order
        self.ignores = ignores
        self.only_folders = only_folders
        self._pattern = pattern
        self.least, runs = needs_of(pattern)
        self.runs = sorted(runs, key=len, reverse=True)

    def matches(self, text: str) -> bool:
        """Whether all of a name, or a path, is what the pattern says."""
        if len(text) < self.least or not all(run in text for run in self.runs):
            return False
        return self._expression.fullmatch(text) is not None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed."""
        return compile_pattern(self._pattern)


class GlobIndex:
    """Rules with wildcards of one ignore file. Empty ones are falsy."""

    __slots__ = ("_by_piece", "_lengths", "_loose")

    def __init__(self, rules: Iterable[GlobRule]) -> None:
        self._by_piece: dict[str, list[GlobRule]] = {}
        self._loose: list[GlobRule] = []
        for rule in rules:
            self._add(rule)
        self._lengths = sorted({len(piece) for piece in self._by_piece})

    def __bool__(self) -> bool:
        return bool(self._by_piece or self._loose)

    def last_match(self, text: str, is_folder: bool, after: int) -> GlobRule | None:
        """The last rule that matches all of `text`, a name or a path, if it comes later than the line `after`."""
        found = [*self._loose]
        for piece in self._pieces_in(text):
            found += self._by_piece[piece]
        if len(found) > 1:
            found.sort(key=_ORDER, reverse=True)
        for rule in found:
            if rule.order < after:
                return None
            if (is_folder or not rule.only_folders) and rule.matches(text):
                return rule
        return None

    def _pieces_in(self, text: str) -> Iterable[str]:
        """Pieces of rules that stand in a text, each once."""
        if len(self._by_piece) <= len(text) * len(self._lengths):
            return [piece for piece in self._by_piece if piece in text]
        grams = {text[at : at + size] for size in self._lengths for at in range(len(text) - size + 1)}
        return (
            self._by_piece.keys() & grams if len(grams) > GRAM else [gram for gram in grams if gram in self._by_piece]
        )

    def _add(self, rule: GlobRule) -> None:
        """Index entry of a rule, under the rarest trigram of its literal text."""
        size = min(GRAM, max(map(len, rule.runs), default=0))
        if not size:
            self._loose.append(rule)
            return
        pieces = [run[at : at + size] for run in rule.runs for at in range(len(run) - size + 1)]
        rarest = min(pieces, key=lambda piece: len(self._by_piece.get(piece, ())))
        self._by_piece.setdefault(rarest, []).append(rule)


_ORDER = attrgetter("order")
