"""Mask of secrets (redaction): what is kept, shown and carried instead of a text that may have some.

Two forms. What is indexed keeps every letter's place, so that lines and columns stay: secrets are spaces there. What
people, agents and models see says that something was taken out. Line breaks stay in both.

In structured values a text of one word may be an id, which has to stay what it is: it goes only where it has a form of
a secret, not for being random alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from aurora_protocol import typed

if TYPE_CHECKING:
    from aurora_protocol.secrets import Secret

HIDDEN = "[REDACTED]"

_SPACE = re.compile(r"\s")

RULES = "9"
"""By which rules secrets are known. Another number goes through every memory file anew, once: raise it with them."""

T = TypeVar("T", bound=msgspec.Struct)


def blanked(source: bytes, *, unknown: bool = True) -> bytes:
    """`source` with the bytes of each secret as spaces: as many bytes and lines. `unknown` as `secrets_in`."""
    text = source.decode("utf-8", "surrogateescape")
    found = _secrets(text, unknown)
    if not found:
        return source
    pieces: list[bytes] = []
    at = 0
    for secret in found:
        pieces.append(_bytes(text[at : secret.start]))
        pieces.append(bytes(sign if sign in b"\r\n" else 0x20 for sign in _bytes(text[secret.start : secret.end])))
        at = secret.end
    return b"".join((*pieces, _bytes(text[at:])))


def masked(text: str, *, unknown: bool = True) -> str:
    """`text` with `[REDACTED]` for each secret, followed by the line breaks that were in it."""
    found = _secrets(text, unknown)
    if not found:
        return text
    pieces: list[str] = []
    at = 0
    for secret in found:
        breaks = text.count("\n", secret.start, secret.end)
        pieces += (text[at : secret.start], HIDDEN, "\n" * breaks)
        at = secret.end
    return "".join((*pieces, text[at:]))


def masked_value(value: Any) -> Any:
    """A value of JSON with all its texts `masked`, at any depth; keys stay. `Raw` is masked as what it says."""
    if isinstance(value, str):
        return masked(value, unknown=_SPACE.search(value) is not None)
    if isinstance(value, dict):
        return {key: masked_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(masked_value(each) for each in value)
    if isinstance(value, msgspec.Raw):
        told = typed.decode(bytes(value))
        clean = masked_value(told)
        return value if clean == told else msgspec.Raw(msgspec.json.encode(clean))
    return value


def masked_json(text: str) -> str:
    """A document of JSON with all its texts `masked`; the same text where there is none. Raises msgspec.DecodeError."""
    told = typed.decode(text)
    clean = masked_value(told)
    return text if clean == told else msgspec.json.encode(clean).decode()


def masked_struct(value: T) -> T:
    """A struct with the texts of all its fields `masked`; itself where none has any. Raises ValidationError."""
    told = msgspec.to_builtins(value, builtin_types=(msgspec.Raw,))
    clean = masked_value(told)
    return value if clean == told else typed.convert(clean, type(value))


def looks_random(word: str) -> bool:
    """Whether a word that stands by itself may be a key, or a piece of one."""
    from aurora_protocol.secrets import is_mixed

    return is_mixed(word)


def _secrets(text: str, unknown: bool) -> list[Secret]:
    from aurora_protocol.secrets import secrets_in  # patterns to compile, which a start need not wait for

    return secrets_in(text, unknown=unknown)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
