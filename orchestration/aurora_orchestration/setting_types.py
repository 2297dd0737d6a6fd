"""Types of settings, and the marks that say who may change one."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[float, Meta(ge=0)]
Positive = Annotated[float, Meta(gt=0)]
Count = Annotated[int, Meta(ge=0)]
AtLeastOne = Annotated[int, Meta(ge=1)]
Words = tuple[str, ...]

ANYONE = Meta(extra={"workspace": "any"})
"""Mark of what a workspace's own `.aurora/config.json` may say as well. Without one, only the user's file may."""

TRUSTED = Meta(extra={"workspace": "trusted"})
"""The same once the workspace is trusted: what runs something, redirects what is sent, reads files elsewhere, or makes
AURORA speak up unasked (ruling 16)."""

ONLY_HIGHER = Meta(extra={"stricter": "higher"})
"""Mark of what a workspace can only raise: numbers, `true` over `false`, later choices over earlier ones."""

ONLY_LOWER = Meta(extra={"stricter": "lower"})
"""Mark of what a workspace can only lower."""

HomePath = Annotated[str, Meta(extra={"path": "home"})]
"""A path in which `~/.aurora` is the home folder, wherever that is."""
