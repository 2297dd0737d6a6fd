"""Consent (human in the loop): calls that need human confirmation, and what nobody should see printed (AURA-P "Security
model").
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from aurora_manifest.model import Capability

MASK = "***"

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_DESTRUCTIVE = frozenset(
    "cancel clear close deactivate delete destroy disable drop erase kill purge remove reset revoke terminate "
    "truncate uninstall unpublish unsubscribe void wipe".split()
)
_SECRET = frozenset(
    "apikey auth authorization bearer credential credentials otp passcode passphrase passwd password "
    "pin pwd secret session token".split()
)

_PASSWORD = frozenset("credential credentials passcode passphrase passwd password pwd".split())


def words(name: str) -> list[str]:
    """The words of an identifier in any style: `deletePost`, `delete_post`, `delete-post`."""
    return [word.lower() for word in _WORD.findall(name)]


def destructive(capability: Capability) -> str | None:
    """Why a call needs confirmation, as it may destroy something, or None: its method is DELETE, or its id says so."""
    if capability.method is not None and capability.method.value == "DELETE":
        return "its method is DELETE"
    said = next((word for word in words(capability.name) if word in _DESTRUCTIVE), None)
    return f'its name says "{said}"' if said else None


def secret(name: str, schema: Any = None) -> bool:
    """Whether a value of this name, or of this JSON Schema, is one to hide."""
    if isinstance(schema, Mapping) and (schema.get("format") == "password" or schema.get("writeOnly") is True):
        return True
    parts = words(name)
    if parts and not _counts(schema):
        parts.append(parts[-1].removesuffix("s"))  # a list of tokens, not a limit for them
    return any(part in _SECRET for part in parts) or ("key" in parts and ("api" in parts or "private" in parts))


def _counts(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") in ("integer", "number")


def password(name: str, schema: Any = None) -> bool:
    """Whether a value of this name, or of this JSON Schema, is a password: not merely something of a session."""
    if isinstance(schema, Mapping):
        if schema.get("format") == "password" or schema.get("writeOnly") is True:
            return True
        if schema.get("type") not in (None, "string"):
            return False
    return any(part in _PASSWORD for part in words(name))
