"""Rust's names: types of variables, parameters and fields; and its macros: calls in what a macro is given, which its
grammar leaves as tokens (token trees).

`assert!(is_open(self.door.find(1)))` calls what it would without the macro, as nearly all macros run what they are
given where they stand. What a macro quotes is code of another place, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aurora_indexer.languages.name_syntax import GENERIC, AssignmentSyntax, CallNodes, NameSyntax

_PATH = rb"(?:\w{1,80}+::){0,4}"

NAMES = NameSyntax(
    calls=CallNodes(
        member="field",
        owner="value",
        calls=(("call_expression", "function"),),
        wrappers=frozenset({"parenthesized_expression", "try_expression", "await_expression"}),
        paths=frozenset({"scoped_identifier"}),
    ),
    assignment=AssignmentSyntax(
        sign=(
            # What a smart pointer points to has the methods that are called on it.
            rb":(?=\s{0,20}&{0,2}(?:'\w{1,40}+\s{1,9})?(?:mut\s{1,9})?(?:" + _PATH + rb"(?:Arc|Rc|Box)<)?"
            rb"(?:(?:dyn|impl)\s{1,9})?" + _PATH + rb"(?P<type>[A-Z]\w{0,80}+)" + GENERIC + rb">?\s{0,20}"
            rb"(?=[,)=;\n{}])(?P<type_end>))"
            rb"|=(?=\s{0,20}" + _PATH + rb"(?P<made>[A-Z]\w{0,80}+)::(?:new|default)\((?P<made_end>))"
        ),
        reversed_name=rb"\s{0,20}+(?P<name>[\w]*[A-Za-z_])(?![\w.:])",
    ),
)

_CALL = re.compile(
    rb"""b?r(?P<hashes>\#{1,8})".*?"(?P=hashes) | b?r"[^"]*" | b?"(?:[^"\\]|\\.)*+" | b?'(?:[^'\\]|\\[^\n]{1,10})'
    | \#!?\[[^\[\]]*+\]                     # an attribute: `#[cfg(test)]`
    | fn\s+\w++                             # a definition
    | (?<!\.)\.\s*\w++                     # a member of what is not read: `[one, two].len()`
    | (?P<called>(?:\)\s*\??\s*\.\s*)?+(?:\w++\s*\??\s*(?:\.|::(?!\s*<))\s*)*+(?P<name>\w++))
      (?:\s*::\s*<[^<>()]*(?:<[^<>()]*>[^<>()]*)*+>)?\s*(?P<sign>\(|!\s*[(\[{])
    | \w++""",
    re.VERBOSE | re.DOTALL,
)
_QUOTED = re.compile(rb"quote\w*+\s*!\s*\Z")
_BEFORE = 60

_WORDS = frozenset(
    b"as async await box break continue else for if in let loop match move ref return while yield".split()
)
"""Words that call nothing, though a bracket stands behind them."""


def calls_of_tokens(bare: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of what is called in a macro's tokens, with what it is called on; the source has no comments.

    What is written large is left out: as likely as a call it is a pattern, `matches!(each, Some(found))`.
    """
    if bare.find(b"(", start + 1, end) < 0 or _QUOTED.search(bare, max(0, start - _BEFORE), start):
        return
    for call in _CALL.finditer(bare, start, end):
        name = call["name"]
        if name is None or name in _WORDS or bare[call.start()] in b"0123456789":
            continue
        if call["sign"] != b"(" or not name[:1].isupper():
            yield call.span("called")
