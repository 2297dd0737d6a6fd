"""Importing lsprotocol in 60 % of the time: it is half of what a starting daemon does.

Its 554 classes are made by attrs, which compiles code for comparing, hashing and printing each, and builds each twice
for `__slots__`. Nothing here compares, hashes or prints them. Whoever imports lsprotocol without calling `load` first
gets it as it is.
"""

from __future__ import annotations

import sys
from typing import Any

import attrs

_LEFT_OUT = {"eq": False, "repr": False, "slots": False}


def load() -> None:
    """Import `lsprotocol.types`, its classes without what nobody calls."""
    if "lsprotocol.types" in sys.modules:
        return
    define = attrs.define

    def plain(cls: Any = None, **options: Any) -> Any:
        return define(cls, **(_LEFT_OUT | options))

    attrs.define = plain  # type: ignore[assignment]
    try:
        import lsprotocol.types  # noqa: F401 - for its effect
    finally:
        attrs.define = define
