"""State header (`AURA-State`): what a site would allow now. Advice, never permission (AURA-P "Core Concepts")."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from aurora_manifest.json.parser import parse
from aurora_protocol import SiteError

HEADER = "aura-state"
MAX_HEADER = 65_536
"""Characters. Servers keep headers below 8 or 16 KiB, and h11 takes no more than 64 KiB of them."""

_WRONG = "the AURA-State header"


class SiteState(Struct, frozen=True):
    """State told by the header. A member that is missing or of another type is None; `problems` tell of the latter."""

    document: Mapping[str, Any]
    is_authenticated: bool | None
    capabilities: tuple[str, ...] | None
    problems: tuple[str, ...]


def read_state(header: str) -> SiteState:
    """Decode a header's value: Base64 or Base64URL, padded or not, of a JSON object. Raises SiteError, saying why."""
    name, colon, rest = header.partition(":")
    text = (rest if colon and name.strip().lower() == HEADER else header).strip()
    if not text:
        raise SiteError(f"{_WRONG} is empty: give its value, or - to read it from standard input")
    if len(text) > MAX_HEADER:
        raise SiteError(f"{_WRONG} has {len(text):,} characters; the limit is {MAX_HEADER:,}")
    document = parse(_text(_bytes(text)))
    if document.problems:
        problem = document.problems[0]
        raise SiteError(f"{_WRONG} does not hold JSON: {problem.message} (character {problem.start})")
    value = document.root.value if document.root else None
    if not isinstance(value, dict):
        raise SiteError(f"{_WRONG} holds JSON, but no object")
    return _state(value)


def _bytes(text: str) -> bytes:
    """Decoder of Base64 and Base64URL that says where text is neither."""
    if ("+" in text or "/" in text) and ("-" in text or "_" in text):
        raise SiteError(f"{_WRONG} mixes Base64 (+ and /) with Base64URL (- and _)")
    body = text.rstrip("=")
    if len(text) - len(body) > 2:
        raise SiteError(f"{_WRONG} is not Base64: too many = at its end")
    standard = body.replace("-", "+").replace("_", "/")
    for place, sign in enumerate(standard):
        if not (sign.isascii() and (sign.isalnum() or sign in "+/")):
            raise SiteError(f"{_WRONG} is not Base64: {sign!r} at character {place}")
    if len(standard) % 4 == 1:
        raise SiteError(f"{_WRONG} is not Base64: {len(standard)} characters, so some are missing")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4))
    except binascii.Error as error:
        raise SiteError(f"{_WRONG} is not Base64: {error}") from error


def _text(data: bytes) -> str:
    """Text decoded as UTF-8. Raises SiteError."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SiteError(f"{_WRONG} does not hold UTF-8: byte {error.start} is 0x{data[error.start]:02x}") from error


def _state(value: dict[str, Any]) -> SiteState:
    """State by its members, each checked for its type."""
    problems = []
    authenticated, capabilities, context = (value.get(name) for name in ("isAuthenticated", "capabilities", "context"))
    if not isinstance(authenticated, bool):
        problems.append("isAuthenticated must be true or false" if "isAuthenticated" in value else "no isAuthenticated")
        authenticated = None
    if not isinstance(capabilities, list) or not all(isinstance(each, str) for each in capabilities):
        problems.append("capabilities must be a list of ids" if "capabilities" in value else "no capabilities")
        capabilities = None
    if context is not None and not isinstance(context, dict):
        problems.append("context must be an object")
    return SiteState(value, authenticated, None if capabilities is None else tuple(capabilities), tuple(problems))
