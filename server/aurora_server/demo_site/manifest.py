"""Manifest of the demo site, and what follows from it: routes, parameter schemas, who may call what, its ETag."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cached_property
from importlib import resources
from typing import Any

from aurora_manifest.json.parser import parse
from aurora_manifest.model import Capability, Manifest

NEEDS_LOGIN = frozenset({"logout", "create_post", "update_post", "delete_post", "get_profile", "update_profile"})


class Contract:
    """The manifest as it is served at one origin. Routes are made from it, so that they cannot differ from it."""

    def __init__(self, origin: str, per_minute: int) -> None:
        document = json.loads(resources.files(__package__).joinpath("aura.json").read_text(encoding="utf-8"))
        document["id"] = f"{origin}/.well-known/aura.json"
        document["site"]["url"] = origin
        document["policy"]["rateLimit"] = {"limit": per_minute, "window": "minute"}
        self.body = (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()
        self.etag = f'"{hashlib.sha256(self.body).hexdigest()[:20]}"'
        self.manifest = Manifest(parse(self.body.decode()))

    @cached_property
    def routes(self) -> dict[str, dict[str, Capability]]:
        """The capabilities by path, `/api/posts/{id}`, and method."""
        found: dict[str, dict[str, Capability]] = {}
        for capability in self.manifest.capabilities.values():
            if capability.url_template is not None and capability.method is not None:
                path = re.sub(r"\{[?&].*", "", str(capability.url_template.value))
                found.setdefault(path, {})[str(capability.method.value)] = capability
        return found

    def allowed(self, logged_in: bool) -> list[str]:
        """The capabilities open to somebody who is logged in, or is not."""
        return [name for name in self.manifest.capabilities if logged_in or name not in NEEDS_LOGIN]

    def matches(self, if_none_match: str | None) -> bool:
        """Whether a client has this manifest already (If-None-Match; RFC 9110 §13.1.2: weak comparison of ETags)."""
        known = [each.strip().removeprefix("W/") for each in (if_none_match or "").split(",")]
        return self.etag in known or "*" in known


def schema_of(capability: Capability) -> dict[str, Any]:
    """The JSON Schema of a capability's arguments; without one there are none to give."""
    if capability.parameters is None:
        return {"type": "object", "additionalProperties": False}
    return capability.parameters.value
