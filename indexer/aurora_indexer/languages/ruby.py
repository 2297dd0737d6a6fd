"""Ruby's bare names: calls without brackets, arguments or receiver, which its grammar cannot tell from variables."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar

    from aurora_indexer.languages.language import Captures

_WORDS = frozenset(
    b"block_given? binding fail lambda loop module_function private proc protected public puts raise rand sleep".split()
)
"""Methods that every object has, or every class, and that say nothing."""


def refine(_grammar: Grammar, source: bytes, captures: Captures) -> None:
    """Take for calls the bare names that the method around gives no value: what it binds is a variable, wherever."""
    methods = sorted(node.byte_range for node in captures.get("function", ()))
    starts = [start for start, _ in methods]

    def method_at(at: int) -> int:
        """Start of the method around a place, or -1."""
        n = bisect_right(starts, at) - 1
        return starts[n] if n >= 0 and at < methods[n][1] else -1

    bound = {
        (method_at(start), source[start:end]) for start, end in (node.byte_range for node in captures.pop("local", ()))
    }
    known = {
        node.start_byte for label in ("call", "name", "_mixin", "_require", "_sig") for node in captures.get(label, ())
    }
    calls = captures.setdefault("call", [])
    for node in captures.pop("bare", ()):
        start, end = node.byte_range
        name = source[start:end]
        if start not in known and name not in _WORDS and (method_at(start), name) not in bound:
            calls.append(node)
