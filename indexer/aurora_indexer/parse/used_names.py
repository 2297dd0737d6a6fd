"""Names in use, as written in source, become References (AURORA §6.3.5)."""

from __future__ import annotations

import re

from aurora_memory.chunks import Reference, ReferenceKind

MAX_REFERENCES = 200
"""References kept per chunk."""

MAX_WRITTEN = 120
"""Bytes of a name in use that are looked at, from its end: a long chain of calls is told by its last name."""

_MAX_REMEMBERED = 50_000

_GENERICS = re.compile(r"<[^<>]*>|\[[^\[\]]*\]$")
_ARROWS = re.compile(r"\s*(?:::|->|\?\.|!\.|&\.|\.)\s*")
_PLAIN = re.compile(r"((?:[\w$@#]++\.)*)([\w$#]++[?!]?)")
_LAST_BACKWARDS = re.compile(r"\n?([?!]?[\w$#]+)")


class _Read(dict[bytes, Reference | None]):
    """Names in use read so far, equal ones as one object."""

    def __init__(self, kind: ReferenceKind) -> None:
        self._kind = kind
        self._one: dict[Reference, Reference] = {}

    def __missing__(self, written: bytes) -> Reference | None:
        read = reference(self._kind, written)
        if read is not None:
            read = self._one.setdefault(read, read)
        self[written] = read
        return read

    def forget_some(self) -> None:
        """Start over when too much is remembered; not within a chunk, whose references are compared by identity."""
        if len(self) >= _MAX_REMEMBERED:
            self.clear()
            self._one.clear()


def reference(kind: ReferenceKind, written: bytes) -> Reference | None:
    """Read one name in use: `ns::Klass<T>::make` is name `make`, qualifier `ns.Klass`; `f(x).go` has no qualifier."""
    text = written.decode("utf-8", "replace").strip().lstrip("*&")
    match = _PLAIN.fullmatch(text)  # as most are written
    if match is None:
        while ("<" in text or "]" in text) and (shorter := _GENERICS.sub("", text)) != text:
            text = shorter
        if "(" not in text:
            match = _PLAIN.fullmatch(_ARROWS.sub(".", text))
    if match:
        return Reference(kind, match[2], match[1][:-1])
    if last := _LAST_BACKWARDS.match(text[::-1]):
        return Reference(kind, last[1][::-1])
    return None


_bases = _Read("inherits")
_calls = _Read("calls")


def references(inherited: list[bytes], called: list[bytes]) -> tuple[Reference, ...]:
    """The distinct references of a chunk in order of first use, bases first, at most 200."""
    _bases.forget_some()
    _calls.forget_some()
    rows = [*map(_bases.__getitem__, inherited), *map(_calls.__getitem__, dict.fromkeys(called))]
    # Equal references are one object, so distinct by identity is distinct, and cheaper.
    distinct = {id(row): row for row in rows if row is not None}
    return tuple(distinct.values())[:MAX_REFERENCES]
