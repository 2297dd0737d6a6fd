"""Gitignore patterns of one ignore file, compiled for fast matching of one name at a time.

A question names an entry whose parents are known not to be ignored; a pattern counts only where it matches that entry
itself. The last line that matches decides. Plain names and `*.suffix` lines, nearly all there are, cost a look-up.

Not pathspec: held against `git check-ignore` it reads `*`, `!*/`, `!*.py` (keep only Python) and `a**/b` otherwise than
git, and its expressions take exponential time on a hostile line such as `*a*a*a…b`, which an untrusted workspace may
hold.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import NamedTuple

from aurora_indexer.files.glob_index import GlobIndex, GlobRule
from aurora_indexer.files.wildmatch import MalformedPattern, literal_length

MAX_LINES = 100_000
MAX_LINE_LENGTH = 4_096


class _Rule(NamedTuple):
    """A line without wildcards, or with one star in front of a suffix. `order` is its place: the highest decides."""

    order: int
    ignores: bool
    only_folders: bool


class Patterns:
    """Patterns of one ignore file (gitignore), compiled. Empty ones are falsy."""

    __slots__ = ("_anchored", "_globs", "_names", "_only_folders", "_paths", "_suffix_lengths", "_suffixes")

    def __init__(self, text: str) -> None:
        names: dict[str, list[_Rule]] = defaultdict(list)
        suffixes: dict[str, list[_Rule]] = defaultdict(list)
        paths: dict[str, list[_Rule]] = defaultdict(list)
        globs: dict[tuple[str, bool], GlobRule] = {}
        anchored_globs: dict[tuple[str, bool], GlobRule] = {}
        self._only_folders = True
        for order, line in enumerate(text.split("\n")[:MAX_LINES]):
            pattern, ignores, only_folders = _parts(line)
            if not pattern:
                continue
            anchored = "/" in pattern
            pattern = pattern.removeprefix("/") if anchored else pattern
            fixed = literal_length(pattern)
            tail = pattern[1:]
            if fixed == len(pattern):
                (paths if anchored else names)[pattern].append(_Rule(order, ignores, only_folders))
            elif not anchored and pattern[0] == "*" and tail and literal_length(tail) == len(tail):
                suffixes[tail].append(_Rule(order, ignores, only_folders))
            else:
                try:
                    rule = GlobRule(order, ignores, only_folders, pattern)
                except MalformedPattern:
                    continue
                (anchored_globs if anchored else globs)[pattern, only_folders] = rule  # the later one has the last word
            self._only_folders &= only_folders
        for rules in (*names.values(), *suffixes.values(), *paths.values()):
            rules.reverse()
        self._names, self._suffixes, self._paths = dict(names), dict(suffixes), dict(paths)
        self._suffix_lengths = sorted({len(suffix) for suffix in suffixes})
        self._globs = GlobIndex(globs.values())
        self._anchored = GlobIndex(anchored_globs.values())

    def __bool__(self) -> bool:
        return bool(self._names or self._suffixes or self._paths or self._globs or self._anchored)

    def verdict(self, name: str, path: str, is_folder: bool) -> bool | None:
        """True: ignored; False: expressly not; None: no line speaks of it. `path` is relative to the file's folder."""
        if self._only_folders and not is_folder:
            return None
        best: _Rule | GlobRule | None = None
        for rules in self._plain_rules(name, path):
            for rule in rules:
                if best is not None and rule.order < best.order:
                    break
                if is_folder or not rule.only_folders:
                    best = rule
                    break
        for index, text in ((self._globs, name), (self._anchored, path)):
            if index:
                best = index.last_match(text, is_folder, best.order if best else -1) or best
        return best.ignores if best else None

    def _plain_rules(self, name: str, path: str) -> list[list[_Rule]]:
        """Lines that match a name by a look-up, of each kind the last first."""
        found = [rules for rules in (self._names.get(name), self._paths.get(path)) if rules]
        for length in self._suffix_lengths:
            if length > len(name):
                break
            if rules := self._suffixes.get(name[-length:]):
                found.append(rules)
        return found


def _parts(line: str) -> tuple[str, bool, bool]:
    """What a line matches, or "" where it is none; whether it ignores; whether it means folders only."""
    line = _trim(line.removesuffix("\r"))
    if not line or line.startswith("#") or len(line) > MAX_LINE_LENGTH:
        return "", True, False
    ignores = not line.startswith("!")
    pattern = line if ignores else line[1:]
    return pattern.removesuffix("/"), ignores, pattern.endswith("/")


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
