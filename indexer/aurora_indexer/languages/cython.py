"""Cython before Python's grammar: declarations of C types made into what Python has in their place, byte for byte as
long.

Functions and classes stay where they stand, without types; structs and enumerations become classes; what declares
variables, or what other libraries have, becomes `pass`. What is not understood stays, and is passed over as a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORDS = (b"cdef", b"cpdef", b"cimport", b"ctypedef")
_IS_CYTHON = re.compile(rb"(?m)^[ \t]*+(?:(?:cdef|cpdef|ctypedef|cimport)\b|from[ \t]++[\w.]++[ \t]++cimport\b)")
_CIMPORT = re.compile(rb"(?m)^([ \t]*+(?:from[ \t]++[\w.]++[ \t]++)?)cimport\b")
_CONDITIONAL = re.compile(rb"(?m)^([ \t]*+)(IF|ELIF|ELSE|DEF)\b")
_DECLARATION = re.compile(rb"(?m)^([ \t]*+)(cdef|cpdef|ctypedef)\b")
_CLASS = re.compile(
    rb"(?:cdef|cpdef|ctypedef)((?:[ \t]++(?:public|api|extern|final))*+)[ \t]++class[ \t]++(?=[A-Za-z_])"
)
_RECORD = re.compile(
    rb"(?:cdef|cpdef|ctypedef)(?:[ \t]++(?:public|api|packed))*+"
    rb"[ \t]++(?:struct|union|enum(?:[ \t]++class)?+|fused|cppclass)[ \t]++(?=[A-Za-z_])"
)
_BLOCK = re.compile(
    rb"(?:cdef|ctypedef)\b(?=[^\n:#]*+:[ \t]*+(?:#[^\n]*+)?(?:\n|\Z)|[ \t]++extern\b[^\n#]*+(?<=:)[ \t]*+(?:\n|\Z))"
    rb"(?:[ \t]++extern\b|(?:[ \t]++(?:public|api|enum|struct|inline|nogil|readonly))*+[ \t]*+:)"
)
_DEF = re.compile(rb"(?m)^([ \t]*+)(?:async[ \t]++)?def[ \t]++\w++[ \t]*+(?=\()")
_FUNCTION = re.compile(rb"(?:cdef|cpdef)\b([^\n()=#'\"]*?)\b([A-Za-z_]\w*+)[ \t]*+(?=\()")
_CAST = re.compile(
    rb"((?:[=(,\[+\-*/%^|&{:]|\b(?:return|in|not|and|or)\b)[ \t]*+)"
    rb"(<[ \t]*+[A-Za-z_][\w. \t\[\]:,*]*+\??>)(?=[ \t]*+[\w(&\"'<*-])"
)
_ADDRESS = re.compile(rb"([=(,\[][ \t]*+)&(?=[A-Za-z_(])")
_MARK = re.compile(rb"[()\[\]{},]")
_PRINTED = re.compile(rb"[^\s]")
_NAME = re.compile(rb"[A-Za-z_]\w*+")
_CHECKED = re.compile(rb"\b(?:not|or)[ \t]++None[ \t]*+$")

MAX_HEADER = 4000
"""Bytes of one function's parameters; more stay as they are."""

MAX_OPEN = 50
"""Brackets of a source that nothing closes so soon; with more of them it is left as it is from there on."""


def hidden(source: bytes) -> bytes:
    """A Cython source as Python, byte for byte as long; any other as it is."""
    if not any(word in source for word in _WORDS) or not _IS_CYTHON.search(source):
        return source
    text = bytearray(_CIMPORT.sub(rb"\1import ", source))
    for found in _CONDITIONAL.finditer(source):
        word = found[2]
        text[found.start(2) : found.end(2)] = b"0; " if word == b"DEF" else word.lower()
    for found in _CAST.finditer(source):
        _blank(text, found.start(2), found.end(2))
    for found in _ADDRESS.finditer(source):
        _blank(text, found.end(1), found.end())
    unclosed = 0
    for found in _DEF.finditer(source):
        unclosed += not _bare_parameters(source, text, found.end())
        if unclosed > MAX_OPEN:
            return bytes(text)
    done = 0
    for found in _DECLARATION.finditer(source):
        if found.start() < done:
            continue
        bracket = source.find(b"(", found.end(), _line_end(source, found.end()))
        unclosed += bracket >= 0 and not _closing(source, bracket)
        if unclosed > MAX_OPEN:
            break
        done = _declared(source, text, found.start(2), len(found[1]))
    return bytes(text)


def _declared(source: bytes, text: bytearray, at: int, indent: int) -> int:
    """Make Python of a declaration that begins at `at`; where what is done ends."""
    end = _line_end(source, at)
    if found := _CLASS.match(source, at, end):
        text[at : found.end()] = b"class".ljust(found.end() - at)
        colon = source.find(b":", found.end(), end)
        bracket = source.find(b"[", found.end(), colon if colon >= 0 else end)
        if bracket >= 0 and colon >= 0:
            _blank(text, bracket, source.rfind(b"]", bracket, end) + 1)
        if colon < 0:
            text[at:end] = b"pass".ljust(end - at)
        return end
    record = _RECORD.match(source, at, end)
    if record is not None and source.find(b":", at, end) >= 0:
        text[at : record.end()] = b"class".ljust(record.end() - at)
        return _emptied(source, text, end, indent)
    if _BLOCK.match(source, at):
        text[at:end] = b"if 1:".ljust(end - at)[: end - at]
        return _emptied(source, text, end, indent)
    function = _FUNCTION.match(source, at, min(end, at + MAX_HEADER))
    if function is not None and source[at : at + 8] != b"ctypedef":
        close = _bare_parameters(source, text, function.end())
        header = _header_end(source, close) if close else None
        if header is not None:
            text[at : function.start(2)] = b"def".ljust(function.start(2) - at)
            _blank(text, close, header)
            return header
    return _variables(source, text, at, max(end, _closed_line(source, at)))


def _variables(source: bytes, text: bytearray, at: int, end: int) -> int:
    """Make `pass` of a declaration without values, and assignments of one with them."""
    first = source.find(b"=", at, end)
    line = source[at:end]
    if first < 0 or line.startswith(b"ctypedef") or b"(" in source[at:first]:
        _blank(text, at, end)
        text[at : at + 4] = b"pass"
        return end
    name = None
    for each in _NAME.finditer(source, at, first):
        name = each
    if name is None or name.start() - at < 6:
        return end
    names = source.rfind(b",", at, name.start())
    _blank(text, at, name.start() if names < 0 else names + 1)
    text[at : at + 5] = b"pass;"
    depth = 0
    for place in range(first, end):
        letter = source[place : place + 1]
        depth += (letter in b"([{") - (letter in b")]}")
        if letter == b"," and depth == 0:
            text[place : place + 1] = b";"
        elif letter in (b"#", b"'", b'"'):
            break
    return end


def _emptied(source: bytes, text: bytearray, end: int, indent: int) -> int:
    """Leave one `0` of the block that follows, which is indented deeper; where it ends."""
    is_first = True
    at = end + 1
    while at < len(source):
        line_end = _line_end(source, at)
        line = source[at:line_end]
        bare = line.lstrip()
        if bare and not bare.startswith(b"#"):
            if len(line) - len(bare) <= indent:
                break
            begin = at + len(line) - len(bare)
            _blank(text, begin, line_end)
            if is_first:
                text[begin : begin + 1] = b"0"
                is_first = False
        at = line_end + 1
    return min(at, len(source))


def _bare_parameters(source: bytes, text: bytearray, at: int) -> int:
    """Leave of the parameters that begin with the bracket at `at` their names and values; where the bracket is closed,
    0 where it is not.
    """
    end = _closing(source, at)
    if not end:
        return 0
    for start, stop in _apart(source, at + 1, end - 1):
        parameter = source[start:stop]
        value = parameter.find(b"=")
        if value < 0 and (checked := _CHECKED.search(parameter)):
            _blank(text, start + checked.start(), stop)
            parameter = parameter[: checked.start()]
        elif value >= 0:
            parameter = parameter[:value]
            if checked := _CHECKED.search(parameter.rstrip()):
                _blank(text, start + checked.start(), start + value)
                parameter = parameter[: checked.start()]
        words = list(_NAME.finditer(parameter))
        bare = parameter.lstrip()
        annotated = re.match(rb"\**[ \t]*+\w++[ \t]*+:", bare)
        if not words or annotated or (len(words) == 1 and not re.search(rb"[\[\]&]", parameter)):
            continue
        last = words[-1]
        if parameter[last.end() :].strip() or b"(" in parameter:
            _blank(text, start, start + len(parameter))  # a pointer to a function, an array: any name will do
            text[start + len(parameter) - len(bare)] = ord("_")
        else:
            _blank(text, start, start + last.start())
    return end


def _apart(source: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where each of the parameters stands."""
    depth, begin = 0, start
    for found in _MARK.finditer(source, start, end):
        mark = found[0]
        depth += (mark in b"([{") - (mark in b")]}")
        if mark == b"," and depth == 0:
            yield begin, found.start()
            begin = found.end()
    yield begin, end


def _closing(source: bytes, at: int) -> int:
    """Behind the bracket that closes the one at `at`; 0 where none does, or only far away."""
    depth = 0
    for found in _MARK.finditer(source, at, min(len(source), at + MAX_HEADER)):
        depth += (found[0] in b"([{") - (found[0] in b")]}")
        if depth == 0:
            return found.end()
    return 0


def _closed_line(source: bytes, at: int) -> int:
    """The end of the line in which the first bracket of this one is closed."""
    bracket = source.find(b"(", at, _line_end(source, at))
    closed = _closing(source, bracket) if bracket >= 0 else 0
    return _line_end(source, closed) if closed else 0


def _header_end(source: bytes, at: int) -> int | None:
    """The colon that ends a function's header behind its parameters; None where it is only declared."""
    end = _line_end(source, at)
    line = source[at:end].partition(b"#")[0]
    colon = line.find(b":")
    return at + colon if colon >= 0 and b"=" not in line[:colon] else None


def _line_end(source: bytes, at: int) -> int:
    end = source.find(b"\n", at)
    return len(source) if end < 0 else end


def _blank(text: bytearray, start: int, end: int) -> None:
    text[start:end] = _PRINTED.sub(b" ", bytes(text[start:end]))
