"""`docs/reference/settings.md` and the JSON Schema of configuration: every setting, from the structs that hold them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from aurora_server.configuration import schema_generator
from aurora_server.configuration.settings_page import PAGE_FILE as PAGE
from docs.generate.citations import ROOT


def settings() -> Iterator[tuple[str, str]]:
    """Every setting and section below the top level: dotted name, and what is said of it."""
    yield from _below("", schema_generator.schema())


def _below(prefix: str, place: schema_generator.Schema) -> Iterator[tuple[str, str]]:
    for name, member in place.get("properties", {}).items():
        yield f"{prefix}{name}", member.get("description", "")
        yield from _below(f"{prefix}{name}.", member)


def pages(_: Path = ROOT) -> dict[str, str]:
    """Texts by path: the page and the schema."""
    return dict(schema_generator.files())


__all__ = ["PAGE", "pages", "settings"]
