"""Mismatched brackets, of another kind than their content asks for: members in `[ ]`, items in `{ }` or `( )`, a `{`
left out.

Each function takes one step of a scan where it recognizes one of these, and tells of it once, at the opening bracket.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from aurora_manifest.json.document import Array, Member, Object, Scalar
from aurora_manifest.json.indentation import MAX_BRACKETS
from aurora_manifest.json.scan_state import replace_last
from aurora_manifest.json.value_text import excerpt

if TYPE_CHECKING:
    from aurora_manifest.json.scan import Scan

_SEEN = 400
"""Characters of a line that are looked at."""

_BREAK = re.compile(r"[\n\r]").search
_NEXT_BRACKETS = re.compile(r'"(?:[^"\\\n\r]|\\[^\n\r])*+"?|[{}\[\]]').finditer
_SPACE = re.compile(r"[ \t\n\r]*+").match
_BLANKS = re.compile(r"[ \t]*+").match
_ITEM = r'(?:"[^"\\\n\r]*+"|-?[0-9][0-9.eE+-]*+|true|false|null)[ \t\n\r]*+'
_LISTED = re.compile(rf"\{{[ \t\n\r]*+{_ITEM}(?:,[ \t\n\r]*+{_ITEM})++\}}").match
_IN_PARENTHESES = re.compile(rf"\([ \t\n\r]*+(?:{_ITEM}(?:,[ \t\n\r]*+{_ITEM})*+)?\)").match
_MEMBERS_IN_PARENTHESES = re.compile(r'\([ \t\n\r]*+"[^"\\\n\r]*+"[ \t\n\r]*+:').match
_ENDS = re.compile(r"[ \t\n\r]*+(?:[,;}\]]|\Z)").match


def members_in_array(scan: Scan) -> bool:
    """Where the first item of an array is followed by a colon: it is an object, which was begun by `[`."""
    top = scan.stack[-1]
    if not isinstance(top, Array) or len(top.items) != 1 or _ENDS(scan.text, scan.pos + 1):
        return False
    name = top.items[0]
    if not isinstance(name, Scalar) or not isinstance(name.value, str):
        return False
    _tell(scan, top.start, 'members stand in "{", not in "["', "{", "]")
    _take_for(scan, Object(top.start, top.start, {}, [], {}))
    scan.name = (name.value, name.start, name.end)
    scan.pos += 1
    scan.trivia()
    scan.value()
    return True


def items_in_object(scan: Scan, top: Object) -> bool:
    """Where an object holds texts and numbers and nothing else: it is an array. Nothing of it was read but a text."""
    if top.members or not _LISTED(scan.text, top.start):
        return False
    _tell(scan, top.start, 'a list stands in "[", not in "{"', "[", "}")
    _take_for(scan, Array(top.start, top.start, [], []))
    scan.pos = top.start + 1
    return True


def in_parentheses(scan: Scan) -> bool:
    """Where a list stands in parentheses, as in Python, or members do."""
    start = scan.pos
    if _IN_PARENTHESES(scan.text, start):
        opener, noun = "[", "a list stands"
    elif _MEMBERS_IN_PARENTHESES(scan.text, start):
        opener, noun = "{", "members stand"
    else:
        return False
    _tell(scan, start, f'{noun} in "{opener}", not in "("', opener, ")")
    scan.open(opener)
    return True


def closes_other(scan: Scan, char: str) -> bool:
    """Whether a bracket closes what was opened by one of another kind, as it was told there: its fix writes both."""
    top = scan.stack[-1]
    other, place = scan.closers.get(top.start, ("", -1))
    if char != other:
        return False
    if place >= 0:
        scan.problems[place] = replace(scan.problems[place], also=((scan.pos, scan.pos + 1, closer(top)),))
    return True


def lost_brace(scan: Scan) -> bool:
    """Where a text that should be a value is followed by a colon: it is the first name of an object there."""
    top, text = scan.stack[-1], scan.text
    ends = _BREAK(text, scan.pos, scan.pos + _SEEN)
    rest = text[scan.pos : ends.start() if ends else scan.pos + _SEEN]
    if not isinstance(top, Object) or not top.members or rest.count("}") <= rest.count("{"):
        return False
    name = top.members[-1].value
    if not isinstance(name, Scalar) or not isinstance(name.value, str) or _BREAK(text, name.end, scan.pos):
        return False
    written = text[name.start : name.end]
    scan.structural(f'"{{" is missing before {excerpt(written)}', name.start, name.end, f"{{ {written}")
    scan.panic = False
    outer = cast("list[Member]", top.members).pop()
    scan.name = (outer.name, outer.name_start, outer.name_end)
    scan.open("{")
    scan.name = (name.value, name.start, name.end)
    scan.pos = text.index(":", name.end) + 1
    scan.trivia()
    scan.value()
    return True


def lost_first_brace(scan: Scan) -> None:
    """Where a text begins with a name and a colon, behind white space: its first `{` is missing, in place of that."""
    start, text = scan.pos, scan.text
    if text[start] != '"':
        return
    token = text[start : text.index(":", start)].rstrip()
    message = f'"{{" is missing before {excerpt(token)}'
    scan.problem("json-syntax", message, start, start + len(token), f"{{{token}")
    scan.root = node = Object(start - 1, start, {}, [], {})
    scan.stack.append(node)
    scan.expects_comma = False


def opened_twice(scan: Scan, top: Object) -> bool:
    """Leave out a second `{` behind the one of `top`, where one bracket closes both. Looked at once in a text."""
    if scan.doubled or top.members or scan.text[top.start + 1 : scan.pos].strip(" \t"):
        return False
    scan.doubled = True
    start = scan.pos
    scan.skip_brackets()
    found = _SPACE(scan.text, scan.pos)
    after, scan.pos = found.end() if found else scan.pos, start
    if scan.text[after : after + 1] == "}":
        return False
    scan.structural('this "{" is one too many', start, start + 1, "")
    scan.panic = False
    scan.pos = start + 1
    return True


def stands_for_other(scan: Scan, char: str, top: Object | Array) -> bool:
    """Whether a bracket of the other kind was written for the one that closes `top`.

    So it is where `top` is opened on the same line, nothing on that line would close it otherwise, and what the
    bracket closes is opened on none or an earlier one. Of a text that is all on one line nothing is told.
    """
    text, at = scan.text, scan.pos
    line = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at))
    here = [node for node in reversed(scan.stack) if node.start > line]
    if top.start <= line or len(here) == len(scan.stack) or any(closer(node) == char for node in here):
        return False
    ends = _BREAK(text, at)
    depth = closed = 0
    for bracket in _NEXT_BRACKETS(text, at + 1, ends.start() if ends else len(text)):
        if bracket[0] in ("{", "["):
            depth += 1
        elif bracket[0] in ("}", "]"):
            closed += depth == 0
            depth = max(0, depth - 1)
    return closed < len(here)


def closed_at_end(scan: Scan, end: int) -> tuple[tuple[int, int, str], ...]:
    """The brackets that are missing at the end of the text, each on a line of its own where the text has lines.

    Nothing where the text ends within a member, or more are missing than are put in.
    """
    if not scan.expects_comma or len(scan.stack) > MAX_BRACKETS or scan.stack[-1].start >= end - 1:
        return ()
    text = scan.text
    if text[scan.stack[-1].start] not in "{[(" or any(node.broken for node in scan.stack):  # nothing opens it
        return ()
    if _BREAK(text, 0, end) is None:
        return ((end, end, "".join(map(closer, reversed(scan.stack)))),)
    lines = []
    for node in reversed(scan.stack):
        line = max(text.rfind("\n", 0, node.start), text.rfind("\r", 0, node.start)) + 1
        indent = _BLANKS(text, line)
        lines.append(f"\n{indent[0] if indent else ''}{closer(node)}")
    return ((end, end, "".join(lines)),)


def closer(node: Object | Array) -> str:
    """The bracket that closes a node."""
    return "}" if isinstance(node, Object) else "]"


def _tell(scan: Scan, start: int, message: str, opener: str, closed_by: str) -> None:
    """Tell of a bracket that opens for another, and remember which one may close what it opens."""
    scan.problem("json-syntax", message, start, start + 1, opener)
    known = bool(scan.problems) and scan.problems[-1].start == start
    scan.closers[start] = (closed_by, len(scan.problems) - 1 if known else -1)


def _take_for(scan: Scan, node: Object | Array) -> None:
    """Put a node in place of the one that is open, with nothing in it."""
    scan.stack[-1] = node
    if len(scan.stack) == 1:
        scan.root = node
        return
    replace_last(scan.stack[-2], node)
