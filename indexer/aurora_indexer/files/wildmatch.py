"""Glob matching of gitignore patterns (git's wildmatch): one glob translated to a regular expression (regex).

A pattern and a path are strings without a leading slash, `/` between segments. The expressions are built from atomic
groups, so that a hostile pattern (`*a*a*a*a*b`) costs no more than a friendly one (no ReDoS). Git matches bytes:
callers with names beyond ASCII hand over both sides decoded as Latin-1.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

_ANY = "[^/]"
_NEVER = "(?!)"
_SPECIAL = frozenset("*?[\\")
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, [*range(32), 127])),
    "digit": string.digits,
    "graph": "".join(map(chr, range(33, 127))),
    "lower": string.ascii_lowercase,
    "print": "".join(map(chr, range(32, 127))),
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


class MalformedPattern(ValueError):
    """Error of a malformed glob, with which git matches nothing with this pattern: an open bracket, a lone backslash at
    the end, an unknown class.
    """


def literal_length(pattern: str) -> int:
    """Number of characters of `pattern` before its first wildcard or escape."""
    return next((index for index, char in enumerate(pattern) if char in _SPECIAL), len(pattern))


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile `pattern` for `fullmatch` against a whole relative path (or a bare name).

    Raises `MalformedPattern` where git would never match.
    """
    # Git compares what precedes the first wildcard on its own, so in `a**/b` the stars count as leading a segment.
    fixed = literal_length(pattern)
    return re.compile(re.escape(pattern[:fixed]) + _join(_segments(pattern[fixed:])), re.DOTALL)


class Needs(NamedTuple):
    """Prefilter of a glob: what every path has that it matches, at least so many characters, and these stretches of
    them.
    """

    length: int
    runs: list[str]


def needs_of(pattern: str) -> Needs:
    """What a match of `pattern` cannot be without; found without compiling it.

    Raises `MalformedPattern` where git would never match.
    """
    fixed = literal_length(pattern)
    length = fixed
    runs = [pattern[:fixed]]
    for segment in _segments(pattern[fixed:]):
        runs.append("")
        for token in segment:
            length += token not in ("*", "**")
            if len(token) == 1 and token != "*":
                runs[-1] += token
            elif len(token) == 2 and token[0] == "\\":
                runs[-1] += token[1]
            elif runs[-1]:
                runs.append("")
    return Needs(length, [run for run in runs if run])


_Segment = list[str]
"""Expressions of single characters; `*` stands for itself, as "*"."""

_GLOBSTAR: _Segment = ["**"]


def _segments(pattern: str) -> list[_Segment]:
    """Tokens of a glob, by the segments of its path."""
    segments: list[_Segment] = [[]]
    index = 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char == "\\":
            if index == len(pattern):
                raise MalformedPattern(pattern)
            char = pattern[index]
            index += 1
            if char == "/":
                segments.append([])
            else:
                segments[-1].append(re.escape(char))
        elif char == "/":
            segments.append([])
        elif char == "*":
            stars = 1
            while pattern[index : index + 1] == "*":
                index += 1
                stars += 1
            ends = index == len(pattern) or pattern[index] == "/" or pattern[index : index + 2] == "\\/"
            segments[-1].append("**" if stars > 1 and not segments[-1] and ends else "*")
        elif char == "?":
            segments[-1].append(_ANY)
        elif char == "[":
            expression, index = _bracket(pattern, index)
            segments[-1].append(expression)
        else:
            segments[-1].append(re.escape(char))
    return segments


def _bracket(pattern: str, index: int) -> tuple[str, int]:
    """Read a bracket expression whose `[` is before `index`; the expression and where it ends."""
    negated = pattern[index : index + 1] in ("!", "^")
    if negated:
        index += 1
    members: list[str] = []
    previous = ""
    first = True
    while True:
        if index >= len(pattern):
            raise MalformedPattern(pattern)
        char = pattern[index]
        if char == "]" and not first:
            break
        first = False
        if char == "\\":
            index += 1
            if index >= len(pattern):
                raise MalformedPattern(pattern)
            members.append(re.escape(previous := pattern[index]))
        elif char == "-" and previous and index + 1 < len(pattern) and pattern[index + 1] != "]":
            index += 1
            if pattern[index] == "\\":
                index += 1
                if index >= len(pattern):
                    raise MalformedPattern(pattern)
            if previous <= pattern[index]:
                members.append(f"{re.escape(previous)}-{re.escape(pattern[index])}")
            previous = ""
        elif char == "[" and pattern[index + 1 : index + 2] == ":":
            close = pattern.find("]", index + 2)
            if close < 0:
                raise MalformedPattern(pattern)
            if close > index + 2 and pattern[close - 1] == ":":
                name = pattern[index + 2 : close - 1]
                if name not in _CLASSES:
                    raise MalformedPattern(pattern)
                members.append(re.escape(_CLASSES[name]))
                previous = ""
                index = close
            else:
                members.append(re.escape(previous := "["))
        else:
            members.append(re.escape(previous := char))
        index += 1
    listed = "".join(members)
    if negated:
        return f"[^/{listed}]", index + 1
    return (f"(?!/)[{listed}]" if listed else _NEVER), index + 1


def _join(segments: list[_Segment]) -> str:
    """Put segments together: stretches between `**` are tried from the left, and never tried again once found."""
    stretches: list[list[_Segment]] = [[]]
    for segment in segments:
        if segment == _GLOBSTAR:
            stretches.append([])
        else:
            stretches[-1].append(segment)
    if len(stretches) == 1:
        return "/".join(map(_segment, segments))
    head, *middle, tail = stretches
    out = "".join(_segment(segment) + "/" for segment in head)
    for stretch in middle:
        if stretch:
            found = "/".join(map(_segment, stretch))
            out += f"(?>(?:[^/]*+/)*?{found}/)"
    if not tail:
        return out + ".*"
    return out + "(?:.*/)?" + "/".join(map(_segment, tail))


def _segment(tokens: _Segment) -> str:
    """One segment: every star but the last takes the least it can, for good; the last one may still give back."""
    chunks: list[str] = [""]
    for token in tokens:
        if token == "*":
            chunks.append("")
        else:
            chunks[-1] += token
    head, *rest = chunks
    if not rest:
        return head
    middle = "".join(f"(?>{_ANY}*?{chunk})" for chunk in rest[:-1] if chunk)
    return f"{head}{middle}{_ANY}*{rest[-1]}"
