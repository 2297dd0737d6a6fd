"""Shell before its grammar (preprocessing): tests of Bats, `@test "adds two" { … }`, are functions by another spelling;
expansions and arithmetic that the grammar, which is Bash's, cannot read (much of Zsh's) are told as variables.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_TEST = re.compile(rb"(?m)^([ \t]*)@test([ \t]+)([\"'])([^\n]{1,300}?)\3([ \t]{1,20})(?=\{)")

_MARK = b"B__=1;"
"""What `@test` and a space are for the grammar: a statement that no one writes, which bash.scm knows."""


def hidden(source: bytes) -> bytes:
    """The source with each test of Bats as a function whose name is what the test says, byte for byte.

    The name begins with the quote, so that what is called so in the source is read as a quoted key is.
    """
    if b"@test" not in source:
        return source
    return _TEST.sub(_function, source)


def _function(match: re.Match[bytes]) -> bytes:
    indent, space, _, words, behind = match.groups()
    return b"".join((indent, _MARK, space[1:], b"x" * (1 + len(words)), b"()", behind[1:]))


_EXPANSION = re.compile(rb"\$\{([^{}`\n\\]{0,200}+(?:\\[^\n][^{}`\n\\]{0,200}+){0,20})\}")
"""An innermost `${…}`: within what is left of it a further one may be."""

_DEPTH = 4
_FLAGGED = re.compile(rb"(\$\{\([^()\n]{1,20}\))(\"\$\(.{0,1000}?\)\")\}", re.DOTALL)
_ARITHMETIC = re.compile(rb"(?<![$(\w])\(\(([^();\n]{1,200}(?:\([^();\n]{0,200}\)[^();\n]{0,200}){0,8})\)\)")
_COUNTED = re.compile(rb"\$([+#=~^]{1,2})(?=\w)")
_QUALIFIED = re.compile(rb"(?<=[*/}\w])\([-.@/^]{0,2}[-.@/^N][\w:.^,-]{0,30}\)")
_ALWAYS = re.compile(rb"(?<=\})[ \t]+always(?=[ \t]*\{)")
"""What Zsh has and Bash has not: `${(f)"$(…)"}`, `$+commands[x]`, `*(.N)`, `{ … } always { … }`."""

_HEAD = re.compile(
    rb"(?m)^([ \t]{0,40}+)(?:function[ \t]{1,20}+[\w:.@+-]{1,80}+(?:[ \t]{0,20}\([ \t]{0,20}\))?"
    rb"|[\w:.@+-]{1,80}+[ \t]{0,20}\([ \t]{0,20}\))\s{0,40}\{"
    rb"(?:([^\n]{2,400})\}[ \t;]{0,20}$|[ \t]{0,20}(?:#[^\n]{0,200})?\n)"
)
"""A function's head, whose body ends at a brace below its beginning, or all of a function on one line."""

_LINE = re.compile(rb"(?m)^[ \t]*[^#\s][^\n]*")
_TRIES = 4
"""How many times as many bytes as a file has are read, function by function, to find those that cannot be."""


def mended(source: bytes, is_read: Callable[[bytes], bool]) -> bytes:
    """The source with each `${…}` that is more than a name, and each `((…))`, as a plain name; if that is not enough,
    without the bodies of functions, and what is between them, that alone cannot be read. Byte for byte.
    """
    source = _FLAGGED.sub(_unflagged, source)
    for _ in range(_DEPTH):
        plainer = _EXPANSION.sub(_variable, source)
        if plainer == source:
            break
        source = plainer
    source = _COUNTED.sub(_counted, source)
    source = _ARITHMETIC.sub(_number, source)
    source = _QUALIFIED.sub(_blank, source)
    source = _ALWAYS.sub(_end, source)
    return source if is_read(source) else _isolated(source, is_read)


def _isolated(source: bytes, is_read: Callable[[bytes], bool]) -> bytes:
    left = _TRIES * len(source)
    text = bytearray(source)
    found: list[tuple[int, int]] = []
    """Functions from the last to the first, without those that are in others."""
    for head in reversed(list(_HEAD.finditer(source))):
        if head[2]:
            body, end = head.span(2)
            close = end
        else:
            body, close = head.end(), source.find(b"\n" + head[1] + b"}", head.end() - 1)
            end = close + 1 + len(head[1])
        left -= end - head.start()
        if left < 0:
            return source
        if close < 0:
            continue
        inside: list[tuple[int, int]] = []
        while found and found[-1][0] < end:
            inside.append(found.pop())
        if not is_read(bytes(text[head.start() : end + 1])):
            if head[2]:
                text[body:end] = b":;" + b" " * (end - body - 2)
            else:
                _empty(text, body, close, inside)
        found.append((head.start(), end + 1))
    found.reverse()
    at = 0
    for start, end in [*found, (len(source), len(source))]:
        if not is_read(bytes(text[at:start])):
            _empty(text, at, start, [])
        at = end
    return bytes(text)


def _empty(text: bytearray, start: int, end: int, inside: list[tuple[int, int]]) -> None:
    """Blank what is no comment, and not inside; `:` is a statement, for a body must have one."""
    for low, high in [*inside, (end, end)]:
        if start < low:
            text[start:low] = _LINE.sub(_nothing, bytes(text[start:low]))
        start = high


def _nothing(match: re.Match[bytes]) -> bytes:
    return b":" + b" " * (len(match[0]) - 1)


def _unflagged(match: re.Match[bytes]) -> bytes:
    return b"x" * len(match[1]) + match[2] + b"x"


def _variable(match: re.Match[bytes]) -> bytes:
    if b"$(" in match[1]:
        return match[0]
    return b"$x" + b"x" * (len(match[0]) - 2)


def _counted(match: re.Match[bytes]) -> bytes:
    return b"$" + b"x" * len(match[1])


def _number(match: re.Match[bytes]) -> bytes:
    return b"((" + b"1" * len(match[1]) + b"))"


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _end(match: re.Match[bytes]) -> bytes:
    return b";" + b" " * (len(match[0]) - 1)
