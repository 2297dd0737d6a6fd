"""SQL text as tokens and statements, in any dialect: strings and comments are known, everything else is words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?)
      | (?P<text>'(?:[^']|'')*+'?)
      | (?P<dollar>\$\w{0,60}\$)
      | (?P<quoted>"(?:[^"]|"")*+"?|`[^`]*+`?|\[[^\[\]\n]{0,128}+\])
      | (?P<word>[^\W\d][\w$]*+)
      | (?P<mark>[;(),.])""",
    re.VERBOSE,
)
_ROUTINES = frozenset({"FUNCTION", "PROCEDURE", "TRIGGER"})
_MAX_UNCLOSED = 20
"""Dollar quotes without an end; each costs a look through the rest of the text."""

_NOT_OPENED = frozenset({"IF", "LOOP", "WHILE", "REPEAT", "FOR"})
"""What `END` may close that is not counted when it opens."""


class Token(NamedTuple):
    """One token; `text` is upper case for words, without its quotes for quoted names."""

    kind: Literal["comment", "text", "quoted", "word", "mark"]
    text: str
    start: int
    end: int


def tokens(text: str) -> Iterator[Token]:
    """The tokens of a text in order; what is none (numbers, operators) is passed over. Linear in its length."""
    at = 0
    unclosed: set[str] = set()
    while match := _TOKEN.search(text, at):
        found, start, at = match.lastgroup, match.start(), match.end()
        said = match[0]
        if found == "dollar":
            searched = said not in unclosed and len(unclosed) < _MAX_UNCLOSED
            close = text.find(said, at) if searched else -1
            if close < 0:
                unclosed.add(said)
                continue
            at = close + len(said)
            yield Token("text", said, start, at)
        elif found == "word":
            yield Token("word", said.upper(), start, at)
        elif found == "quoted":
            yield Token("quoted", said.strip('"`[]'), start, at)
        elif found == "comment":
            yield Token("comment", said, start, at)
        elif found == "text":
            yield Token("text", said, start, at)
        else:
            yield Token("mark", said, start, at)


def statements(found: Iterable[Token]) -> Iterator[list[Token]]:
    """Tokens up to each `;`, which is left out; the bodies of routines and triggers hold some of their own."""
    current: list[Token] = []
    heads: list[str] = []
    depth = 0
    after_end = False
    for token in found:
        if token.kind == "mark" and token.text == ";" and depth <= 0:
            yield current
            current, heads, depth = [], [], 0
            continue
        current.append(token)
        if token.kind != "word":
            after_end = False
            continue
        if len(heads) < 8:
            heads.append(token.text)
        if heads[0] == "CREATE" and not _ROUTINES.isdisjoint(heads):
            if after_end:
                depth += token.text in _NOT_OPENED
            elif token.text in ("BEGIN", "CASE"):
                depth += 1
            elif token.text == "END":
                depth -= 1
        after_end = token.text == "END" and not after_end
    if current:
        yield current
