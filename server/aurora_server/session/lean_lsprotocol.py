"""Lean import of lsprotocol (lazy classes), in a quarter of the time: it was half of what a starting daemon does.

Its 554 classes are made by attrs, which compiles code for each. A session needs some thirty of them. So each class is
completed by attrs (`attrs.define` of a class without slots works in place) when the first instance of it is made, or
when somebody asks for its fields, as cattrs does. Nothing here compares, hashes or prints the classes, so that is left
out of them. Whoever imports lsprotocol without calling `load` first gets it as it is.
"""

from __future__ import annotations

import sys
import typing
from functools import partial
from threading import RLock
from typing import Any

import attrs

_MODULE = "lsprotocol.types"
_HOW = {"eq": False, "repr": False, "slots": False, "init": True}

_completing = RLock()


def load() -> None:
    """Import `lsprotocol.types`, its classes without what nobody calls, and the rest of them when it is called."""
    if _MODULE in sys.modules:
        return
    define = attrs.define

    def later(cls: Any = None, **options: Any) -> Any:
        if cls is None:
            return partial(later, **options)
        if cls.__module__ != _MODULE or options or "__init__" in vars(cls):  # another thread's import, or a rarity
            return define(cls, **options)
        _Unfinished(cls, partial(define, **_HOW))
        return cls

    attrs.define = later  # type: ignore[assignment]
    try:
        import lsprotocol.types  # noqa: F401 - for its effect
    finally:
        attrs.define = define
    from lsprotocol import _hooks

    if hasattr(_hooks, "_resolved_forward_references"):
        _hooks._resolved_forward_references = True  # or it completes them all, to do what `complete` does


class _Unfinished:
    """Stands in a class where attrs puts its list of fields, until somebody asks for that."""

    def __init__(self, cls: Any, define: typing.Callable[[type], type]) -> None:
        self._cls = cls
        self._define = define
        cls.__attrs_attrs__ = self

        def first(instance: Any, *args: Any, **kwargs: Any) -> None:
            self.complete()
            cls.__init__(instance, *args, **kwargs)

        cls.__init__ = first

    def __get__(self, instance: object, owner: type) -> Any:
        self.complete()
        return self._cls.__attrs_attrs__

    def complete(self) -> None:
        """Have attrs do its part, with the classes that annotations name as texts looked up first. In any thread."""
        with _completing:
            if self._cls.__dict__["__attrs_attrs__"] is not self:
                return
            names = sys.modules[_MODULE].__dict__["ALL_TYPES_MAP"]
            self._cls.__annotations__ = typing.get_type_hints(self._cls, names, {}, include_extras=True)
            self._define(self._cls)
