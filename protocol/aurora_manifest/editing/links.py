"""Document links, addresses in a manifest that can be opened: its schema, its site, its own (AURA-P "Core
Concepts").
"""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from msgspec import Struct

from aurora_manifest.json.document import Scalar
from aurora_manifest.model import Manifest, string

_MAX_URL = 2_000


class DocumentLink(Struct, frozen=True):
    """An address, and where it stands, quotes not included."""

    target: str
    start: int
    end: int
    tooltip: str


def links(manifest: Manifest, uri: str) -> list[DocumentLink]:
    """The links of a manifest; `uri` is its own address, which a relative `$schema` is resolved against."""
    found = [
        _link(string(manifest.root, "$schema"), "Open the schema", uri),
        _link(string(manifest.root, "id"), "Open the published manifest", ""),
        _link(string(manifest.site, "url"), "Open the site", ""),
    ]
    return sorted((each for each in found if each), key=lambda each: each.start)


def _link(node: Scalar | None, tooltip: str, base: str) -> DocumentLink | None:
    """Link of a URL, resolved against `base`; None for what no editor should open."""
    text = str(node.value) if node else ""
    if node is None or not text or len(text) > _MAX_URL or not text.isprintable() or " " in text:
        return None
    try:
        target = text if urlsplit(text).scheme else urljoin(base, text) if base else ""
        parts = urlsplit(target)
    except ValueError:
        return None
    web = parts.scheme in ("http", "https") and parts.netloc
    # Not `//host/share`: opening that would say hello to another machine.
    beside = parts.scheme == "file" and not parts.netloc and not urlsplit(text).scheme
    return DocumentLink(target, node.start + 1, node.end - 1, tooltip) if web or beside else None
