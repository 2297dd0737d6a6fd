"""Names in use, as written in source, become References (AURORA §6.3.5)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from aurora_memory.chunks import Reference, ReferenceKind

MAX_REFERENCES = 200
"""References kept per chunk."""

MAX_WRITTEN = 120
"""Bytes of a name in use that are looked at, from its end: a long chain of calls is told by its last name."""

_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]$")
_ARROWS = re.compile(r"\s*(?:::|->|\?\.|!\.|&\.|\.)\s*")
_PLAIN = re.compile(r"(?:([\w$@#]+(?:\.[\w$@#]+)*)\.)?([\w$#]+[?!]?)")
_LAST = re.compile(r"([\w$#]+[?!]?)$")


@lru_cache(maxsize=65536)
def reference(kind: ReferenceKind, written: bytes) -> Reference | None:
    """Read one name in use: `ns::Klass<T>::make` is name `make`, qualifier `ns.Klass`; `f(x).go` has no qualifier."""
    text = written.decode("utf-8", "replace").strip().lstrip("*&")
    while (shorter := _GENERICS.sub("", text)) != text:
        text = shorter
    text = _ARROWS.sub(".", text)
    if match := _PLAIN.fullmatch(text):
        return Reference(kind, match[2], match[1] or "")
    if match := _LAST.search(text):
        return Reference(kind, match[1])
    return None


def references(inherited: Iterable[bytes], called: Iterable[bytes]) -> tuple[Reference, ...]:
    """The distinct references of a chunk, bases first, at most 200."""
    found: dict[Reference, None] = {}
    for name in dict.fromkeys(inherited):
        if row := reference("inherits", name):
            found[row] = None
    for name in dict.fromkeys(called):
        if len(found) >= MAX_REFERENCES:
            break
        if row := reference("calls", name):
            found[row] = None
    return tuple(found)[:MAX_REFERENCES]
