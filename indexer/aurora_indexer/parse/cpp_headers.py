"""Whether a header is C++: its name, `.h`, leaves that open, and its source has to tell."""

from __future__ import annotations

import re

_SIGNS = re.compile(
    rb"(?m)^[ \t]*(?:class[ \t]+\w+[^;\n]*$|(?:inline[ \t]+)?namespace\b|template[ \t]*<"
    rb"|using[ \t]+\w+|(?:public|private|protected)[ \t]*:)"
)

_OWN_SIGNS = (
    # struct X : Y, virtual void f(), ~X() {}, and a header of the standard library's
    re.compile(
        rb"(?m)^[ \t]*(?:struct[ \t]+\w+(?:[ \t]+final)?[ \t]*:(?!:)|virtual[ \t]+[\w~]"
        rb"|~\w+\((?:void)?\)[ \t]*(?:[{=]|noexcept|override)|#[ \t]*include[ \t]*<[a-z_]+>)"
    ),
    re.compile(rb"const[ \t]+\w+(?:::\w+)*[ \t]*&"),
    re.compile(rb"\)[ \t]*const[ \t]*[;{=]"),
    re.compile(rb"std::\w"),
    re.compile(rb"operator(?:[-+*/%^&|~!=<>]{1,3}|\(\)|\[\])\("),
)
"""What C has not; but a header for both languages may have it for C++ only."""

_FOR_BOTH = re.compile(rb"#[ \t]*(?:ifdef[ \t]+__cplusplus|if[ \t]+defined[ \t(]+__cplusplus)")

_NO_CODE = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?", re.DOTALL)


def is_cpp(source: bytes) -> bool:
    """Whether there is something in a source that is C++ and not C, out of its comments and strings."""
    signs = (_SIGNS,) if _FOR_BOTH.search(source) else (_SIGNS, *_OWN_SIGNS)
    found = next(filter(None, (sign.search(source) for sign in signs)), None)
    if found is None:
        return False
    # The first sign is nearly always code: as far as its line, then.
    for end in (source.find(b"\n", found.end()) + 1 or len(source), len(source)):
        code = _NO_CODE.sub(b" ", source[:end])
        if any(sign.search(code) for sign in signs):
            return True
    return False
