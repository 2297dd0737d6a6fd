"""Conditionals of a preprocessor, `#if` to `#endif`, that stand within a statement: C's, C++'s and C#'s grammars, which
know them between statements only, lose all that follows.
"""

from __future__ import annotations

import re
from itertools import pairwise

Span = tuple[int, int]

_CONDITION = re.compile(rb"(?m)^[ \t]{0,80}+#[ \t]{0,80}+(if|el|endif)(?:[^\n\\]|\\[^\n]|\\\r?\n)*+")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_BEFORE = 400
"""Bytes before a conditional, and at a branch's end, in which the end of a statement is looked for."""

_TIMES = 20
"""How many times as many bytes as a file has are looked at, for conditionals within conditionals."""

_WHOLE = re.compile(rb"(?:[;{}>\"]|\b(?:public|private|protected)\s*:|^\s*#[^\n]*|\A)\s*\Z", re.MULTILINE)
_LISTED = re.compile(rb",\s*\Z")


def partial(source: bytes, *, lists: bool) -> list[Span]:
    """What to blank so that of each conditional which is no whole statement one branch is left: the directives, and the
    other branches. `lists`: whether the grammar knows conditionals between the items of a list.
    """
    left = _TIMES * len(source)
    spans: list[Span] = []
    open_ones: list[list[Span]] = []
    for match in _CONDITION.finditer(source):
        if match[1] == b"if":
            open_ones.append([match.span()])
        elif open_ones:
            open_ones[-1].append(match.span())
            if match[1] == b"endif":
                directives = open_ones.pop()
                left -= _BEFORE + match.end() - directives[0][0]
                if left < 0:
                    break
                if _is_partial(source, directives, lists=lists):
                    spans.append(directives[0])
                    spans.append((directives[1][0], directives[-1][1]))
    return spans


def _is_partial(source: bytes, directives: list[Span], *, lists: bool) -> bool:
    """Whether a conditional is no whole statement: one branch has unbalanced brackets, or ends within one."""
    start = directives[0][0]
    before = _COMMENT.sub(b" ", source[max(0, start - _BEFORE) : start])
    if not _WHOLE.search(before):
        return True
    branches = [source[low:high] for (_, low), (high, _) in pairwise(directives)]
    return any(
        each.count(b"{") != each.count(b"}") or each.count(b"(") != each.count(b")") or not _ends(each, lists=lists)
        for each in branches
    )


def _ends(branch: bytes, *, lists: bool) -> bool:
    """Whether a branch ends where a statement does: a head without its body does not."""
    end = _COMMENT.sub(b" ", branch[-_BEFORE:])
    return not end.strip() or bool(_WHOLE.search(end)) or (lists and bool(_LISTED.search(end)))
