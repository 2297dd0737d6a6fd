"""The lines of one ignore file, compiled for fast questions about one name at a time.

A question names an entry whose parents are known not to be ignored; a pattern counts only where it matches that entry
itself. The last line that matches decides. Plain names and `*.suffix` lines, nearly all there are, cost a look-up.

Not pathspec: held against `git check-ignore` it reads `*`, `!*/`, `!*.py` (keep only Python) and `a**/b` otherwise than
git, and its expressions take exponential time on a hostile line such as `*a*a*a…b`, which an untrusted workspace may
hold.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from aurora_indexer.files.wildmatch import MalformedPattern, compile_pattern, literal_length

MAX_LINES = 20_000
MAX_LINE_LENGTH = 4_096


class _Rule(NamedTuple):
    """`order` is the line's place: the highest that matches decides."""

    order: int
    ignores: bool
    only_folders: bool
    head: str = ""
    expression: re.Pattern[str] | None = None


class Patterns:
    """One ignore file, compiled. Empty ones are falsy."""

    __slots__ = ("_anchored", "_ends", "_globs", "_heads", "_names", "_only_folders", "_suffixes")

    def __init__(self, text: str) -> None:
        self._names: dict[str, list[_Rule]] = defaultdict(list)
        self._suffixes: dict[str, list[_Rule]] = defaultdict(list)
        self._globs: list[_Rule] = []
        self._anchored: list[_Rule] = []
        self._only_folders = True
        for order, line in enumerate(text.split("\n")[:MAX_LINES]):
            self._add(order, line)
        for rules in (*self._names.values(), *self._suffixes.values(), self._globs, self._anchored):
            rules.reverse()
        self._names = dict(self._names)
        self._suffixes = dict(self._suffixes)
        self._ends = tuple(self._suffixes)
        self._heads = tuple({rule.head for rule in self._anchored})

    def __bool__(self) -> bool:
        return bool(self._names or self._suffixes or self._globs or self._anchored)

    def verdict(self, name: str, path: str, is_folder: bool) -> bool | None:
        """True: ignored; False: expressly not; None: no line speaks of it. `path` is relative to the file's folder."""
        if self._only_folders and not is_folder:
            return None
        best: _Rule | None = None
        for rule in self._names.get(name, ()):
            if is_folder or not rule.only_folders:
                best = rule
                break
        if self._ends and name.endswith(self._ends):
            for suffix, rules in self._suffixes.items():
                if name.endswith(suffix):
                    best = _later(best, next((rule for rule in rules if is_folder or not rule.only_folders), None))
        for rule in self._globs:
            if best is not None and rule.order < best.order:
                break
            if (is_folder or not rule.only_folders) and rule.expression and rule.expression.fullmatch(name):
                best = rule
                break
        if self._heads and path.startswith(self._heads):
            best = _later(best, self._anchored_rule(path, is_folder, best))
        return best.ignores if best else None

    def _anchored_rule(self, path: str, is_folder: bool, best: _Rule | None) -> _Rule | None:
        for rule in self._anchored:
            if best is not None and rule.order < best.order:
                return None
            if (
                path.startswith(rule.head)
                and (is_folder or not rule.only_folders)
                and (rule.expression.fullmatch(path) if rule.expression else path == rule.head)
            ):
                return rule
        return None

    def _add(self, order: int, line: str) -> None:
        line = _trim(line.removesuffix("\r"))
        if not line or line.startswith("#") or len(line) > MAX_LINE_LENGTH:
            return
        ignores = not line.startswith("!")
        pattern = line if ignores else line[1:]
        only_folders = pattern.endswith("/")
        pattern = pattern.removesuffix("/")
        if not pattern:
            return
        anchored = "/" in pattern
        pattern = pattern.removeprefix("/") if anchored else pattern
        fixed = literal_length(pattern)
        rule = _Rule(order, ignores, only_folders, head=pattern[:fixed])
        if fixed < len(pattern):
            tail = pattern[1:]
            if not anchored and fixed == 0 and pattern[0] == "*" and tail and literal_length(tail) == len(tail):
                self._suffixes[tail].append(rule)
                self._only_folders &= only_folders
                return
            try:
                rule = rule._replace(expression=compile_pattern(pattern))
            except MalformedPattern:
                return
            (self._anchored if anchored else self._globs).append(rule)
        elif anchored:
            self._anchored.append(rule)
        else:
            self._names[pattern].append(rule)
        self._only_folders &= only_folders


def _later(one: _Rule | None, other: _Rule | None) -> _Rule | None:
    if one is None or other is None:
        return one or other
    return one if one.order > other.order else other


def _trim(line: str) -> str:
    """Drop trailing spaces, except one that a backslash keeps."""
    bare = line.rstrip(" ")
    if len(bare) == len(line):
        return line
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if backslashes % 2 else bare


@lru_cache(maxsize=512)
def compiled(text: str) -> Patterns:
    """Compile an ignore file's text, once per content."""
    return Patterns(text)
