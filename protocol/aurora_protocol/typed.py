"""Typed values (deserialization): plain values and JSON to typed ones, by msgspec, in any thread: the one way for all
rooms.

msgspec learns a struct when it is first decoded into, and shows it to other threads half learned (0.22,
`StructInfo_Convert`): a second thread that decodes into it meanwhile follows a null pointer (a race condition), and the
process is gone. Here a type is learned whole, by one thread, before it is used.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_learning = threading.RLock()
_learned: set[Any] = {Any}


@overload
def convert(value: Any, kind: type[T], *, strict: bool = True, from_attributes: bool = False) -> T: ...
@overload
def convert(value: Any, kind: Any, *, strict: bool = True, from_attributes: bool = False) -> Any: ...
def convert(value: Any, kind: Any, *, strict: bool = True, from_attributes: bool = False) -> Any:
    """A plain value as `kind`. Raises msgspec.ValidationError."""
    _learn(kind)
    return msgspec.convert(value, kind, strict=strict, from_attributes=from_attributes)


@overload
def decode(text: bytes | bytearray | str, kind: type[T]) -> T: ...
@overload
def decode(text: bytes | bytearray | str, kind: Any = Any) -> Any: ...
def decode(text: bytes | bytearray | str, kind: Any = Any) -> Any:
    """JSON as `kind`. Raises msgspec.DecodeError, its ValidationError, UnicodeDecodeError, RecursionError."""
    _learn(kind)
    return msgspec.json.decode(text, type=kind)


@overload
def decoder(kind: type[T]) -> msgspec.json.Decoder[T]: ...
@overload
def decoder(kind: Any = Any) -> msgspec.json.Decoder[Any]: ...
def decoder(kind: Any = Any) -> msgspec.json.Decoder[Any]:
    """Decoder of JSON as `kind`, to be used many times."""
    _learn(kind)
    return msgspec.json.Decoder(kind)


def _learn(kind: Any) -> None:
    """First use of a type under a lock (thread safety)."""
    if kind not in _learned:
        with _learning:
            msgspec.json.Decoder(kind)
            _learned.add(kind)
