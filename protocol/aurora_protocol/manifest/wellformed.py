"""The scanner's fast gear: one regular expression per member or item, as long as the text is well-formed."""

from __future__ import annotations

import re

from msgspec.structs import force_setattr

from aurora_protocol.manifest.document import Array, Member, Object, Scalar
from aurora_protocol.manifest.literals import number_value
from aurora_protocol.manifest.reading import MAX_DEPTH, MAX_NODES, Reading

_WS = r"[ \t\n\r]*+"
_SCALAR = r'"([^"\\\x00-\x1f]*+)"|(-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+)|(true|false|null)'
_MEMBER = re.compile(rf'{_WS}"([^"\\\x00-\x1f]*+)"{_WS}:{_WS}(?:(?:{_SCALAR}){_WS}([,}}])|([\[{{]))').match
_ITEM = re.compile(rf"{_WS}()(?:(?:{_SCALAR}){_WS}([,\]])|([\[{{]))").match
_DELIMITER = re.compile(rf"{_WS}([,}}\]])").match
_OPENED = 6
_WORDS = {"true": True, "false": False, "null": None}


def read_well_formed(reading: Reading) -> bool:
    """Read on inside the innermost open object or array, and all that it holds, up to the first irregularity.

    Returns whether anything was read. Leaves `reading` as the tolerant gear would at the same place.
    """
    text, stack = reading.text, reading.stack
    began = pos = reading.pos
    comma, expects_comma, nodes = reading.comma, reading.expects_comma, reading.nodes
    panic = reading.panic
    top = stack[-1]
    in_object = isinstance(top, Object)
    while nodes <= MAX_NODES:
        if expects_comma:
            delimiter = _DELIMITER(text, pos)
            if not delimiter:
                break
            end = delimiter.end()
            char = text[end - 1]
            if char == ",":
                expects_comma = False
                comma = end - 1
            elif char == ("}" if in_object else "]"):
                force_setattr(top, "end", end)
                stack.pop()
                if stack:
                    top = stack[-1]
                    in_object = isinstance(top, Object)
            else:
                break
            pos = end
            panic = False
            if not stack:
                break
            continue
        match = _MEMBER(text, pos) if in_object else _ITEM(text, pos)
        if not match:
            break
        name, content, number, word, delimited, opened = match.groups()
        node: Object | Array | Scalar
        if opened:
            if len(stack) >= MAX_DEPTH:
                break
            end = match.end()
            node = Object(end - 1, end, {}, [], {}) if opened == "{" else Array(end - 1, end, [], [])
        elif content is not None:
            begin, end = match.span(2)
            node = Scalar(begin - 1, end + 1, content)
        elif number is not None:
            begin, end = match.span(3)
            node = Scalar(begin, end, number_value(number))
        else:
            begin, end = match.span(4)
            node = Scalar(begin, end, _WORDS[word])
        nodes += 1
        if isinstance(top, Object):
            begin, end = match.span(1)
            if name in top.value:
                reading.duplicate(name, begin - 1, end + 1)
            top.value[name] = node.value
            top.members.append(Member(name, begin - 1, end + 1, node))
        else:
            top.value.append(node.value)
            top.items.append(node)
        pos = match.end()
        if opened and not isinstance(node, Scalar):
            stack.append(node)
            top = node
            in_object = opened == "{"
            comma = -1
        elif delimited == ",":
            comma = pos - 1
            panic = False
        else:
            expects_comma = True
            pos -= 1
    reading.pos, reading.comma, reading.expects_comma, reading.nodes = pos, comma, expects_comma, nodes
    reading.panic = panic
    return pos != began
