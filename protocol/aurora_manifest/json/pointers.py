"""JSON Pointers (RFC 6901): the name of a place in a document, `/capabilities/login/action`."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BAD_ESCAPE = re.compile(r"~(?![01])")


class PointerError(ValueError):
    """The text is not a JSON Pointer."""


def to_pointer(path: Iterable[str | int]) -> str:
    """Spell member names and array indices as a pointer; the whole document is the empty string."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def from_pointer(pointer: str) -> tuple[str, ...]:
    """Split a pointer into its steps, unescaped. Raises PointerError."""
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise PointerError(f'"{pointer}" is not a JSON Pointer: begin it with "/"')
    if "~" in pointer and _BAD_ESCAPE.search(pointer):
        raise PointerError(f'"{pointer}" is not a JSON Pointer: write "~" as "~0" and "/" as "~1"')
    steps = pointer[1:].split("/")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps) if "~" in pointer else tuple(steps)
