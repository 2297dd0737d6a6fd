"""Calls that a text tells without a place ("`load` calls `parse`"), held against the definitions of who calls.

Only what is surely said counts: a verb of calling right between two names written as code. Whoever is defined nowhere,
too often, or at a length beyond what is read is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from aurora_orchestration.soar.said_names import Name, stands
from aurora_orchestration.soar.said_places import MAX_BLOCK, block_of
from aurora_orchestration.soar.workspace_text import WorkspaceText

MOST_DEFINITIONS = 8
"""Definitions of one name from which on nobody knows which is meant."""

_VERB = re.compile(
    r"^\W{0,3}\s*(?:(?:which|that|then|also|first|finally|itself|directly|in turn|only|just|and|always|simply)\s+)*"
    r"(?:calls?|invokes?|delegates? to|forwards? to|dispatches to|hands over to|awaits?|instantiates?"
    r"|(?:begins|starts|ends|finishes|works) (?:by (?:calling|invoking)|with (?:a|the) call (?:of|to))"
    r"|(?:makes|contains|consists of) (?:a|the) call (?:of|to))\s+(?:the\s+|a\s+|an\s+)?$"
)
_CALLED_BY = re.compile(
    r"^\W{0,3}\s*(?:is|are|gets?)\s+(?:(?:then|also|first|only|directly|always)\s+)*(?:called|invoked|awaited|instantiated)\s+"
    r"(?:by|from|in|inside|within)\s+(?:the\s+)?(?:(?:function|method|class|body of)\s+)?$"
)
_WITHIN = re.compile(r"(?:^|[,;:]\s*)\W*(?:in|inside|within)\s+(?:the\s+(?:body\s+of\s+)?)?$", re.IGNORECASE)
_CALL_OF = re.compile(r"\b(?:calls?\s+(?:of|to)|calls|invokes|calling)\s+(?:the\s+)?$")
_NOT = re.compile(r"\b(?:not|never|no longer|without|neither|nor|no)\b|n't\b", re.IGNORECASE)


def told_calls(sentence: str, names: Sequence[Name]) -> Iterator[tuple[Name, Name]]:
    """Who a sentence says calls whom. One that denies anything says nothing."""
    if _NOT.search(sentence):
        return
    ordered = sorted(names, key=lambda name: name.begin)
    for one, other in pairwise(ordered):
        between = sentence[one.end : other.begin].strip("`*").lstrip()
        if _VERB.search(f" {between}"):
            yield one, other
        elif _CALLED_BY.search(f" {between}"):
            yield other, one
        elif _WITHIN.search(sentence[: one.begin].rstrip("`*")) and _CALL_OF.search(between):
            yield one, other


def all_not_called(calls: Sequence[tuple[Name, Name]], workspace: WorkspaceText) -> Iterator[tuple[Name, Name]]:
    """The calls that are not so. The workspace is read once for all of them."""
    workspace.define({parts[-1] for caller, _ in calls if (parts := _parts(caller))})
    return ((caller, called) for caller, called in calls if not_called(caller, called, workspace))


def not_called(caller: Name, called: Name, workspace: WorkspaceText) -> bool:
    """Whether no definition of the caller has what it is said to call: True only where all of them could be read."""
    parts = _parts(caller)
    if not parts or len(parts[-1]) < 3 or caller.text.split("(")[0] == called.text.split("(")[0]:
        return False
    owner = parts[-2] if len(parts) > 1 else ""
    found = workspace.definitions(parts[-1])
    blocks = []
    for file, number in found:
        lines = workspace.lines(file) or []
        if owner and not _belongs(lines, number, owner, file):
            continue
        blocks.append(block_of(lines, number))
    if not 0 < len(blocks) <= MOST_DEFINITIONS or any(len(block) >= MAX_BLOCK for block in blocks):
        return False
    return not any(stands(called, "\n".join(block)) for block in blocks)


def _parts(name: Name) -> list[str]:
    return [part for part in re.split(r"\.|::|#|->", name.text.partition("(")[0].strip("@$#!?`")) if part]


def _belongs(lines: Sequence[str], number: int, owner: str, file: str) -> bool:
    """Whether the definition on a line is of `owner`: a class around it, a receiver on its line, or the file."""
    word = re.compile(rf"(?<!\w){re.escape(owner)}(?!\w)")
    if word.search(lines[number]) or owner in re.split(r"[/.]", file):
        return True
    indent = len(lines[number]) - len(lines[number].lstrip())
    for line in reversed(lines[:number]):
        here = len(line) - len(line.lstrip())
        if line.strip() and here < indent:
            if word.search(line):
                return True
            indent = here
            if not indent:
                return False
    return False
