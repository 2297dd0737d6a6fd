"""HTTP cache (private, RFC 9111) of manifests between commands: fresh, revalidated by a conditional GET (ETag, 304 Not
Modified), or not at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path

import msgspec
from msgspec import Struct

from aurora_manifest.client.private_files import write_private
from aurora_manifest.client.transport import SiteReply
from aurora_protocol.strict_modes import make_private_folder

MAX_ENTRIES = 200
MAX_FRESH = 7 * 86_400
"""Seconds: whatever a site promises, after a week it is asked again."""

_KEPT_HEADERS = ("content-type", "etag", "last-modified", "cache-control", "expires", "date", "aura-state")


class CachedManifest(Struct, frozen=True):
    """A stored answer. `fresh_until` is seconds since the epoch; 0 means to ask every time."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    fresh_until: float

    @property
    def conditions(self) -> dict[str, str]:
        """The headers that ask whether it still holds (RFC 9110 §13.1)."""
        known = dict(self.headers)
        asked = {"If-None-Match": known.get("etag"), "If-Modified-Since": known.get("last-modified")}
        return {name: value for name, value in asked.items() if value is not None}

    def fresh(self, now: float) -> bool:
        """Whether it may be used without asking; a clock that was set back does not make it last for ever."""
        return now < self.fresh_until <= now + MAX_FRESH


class ManifestCache:
    """A folder of entries, one file each, which only the user can enter. What is broken there counts as absent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of(cls, home: Path) -> ManifestCache:
        """The cache of an AURORA home."""
        return cls(home / "cache" / "manifests")

    def get(self, url: str) -> CachedManifest | None:
        """The entry for `url`."""
        try:
            entry = msgspec.msgpack.decode(self._file(url).read_bytes(), type=CachedManifest)
        except (OSError, msgspec.MsgspecError):
            return None
        return entry if entry.url == url else None

    def put(self, reply: SiteReply, now: float) -> None:
        """Keep an answer, or, where it says that it is not to be kept, forget what there was."""
        file = self._file(reply.url)
        directives = _directives(reply.header("cache-control"))
        if "no-store" in directives or "*" in (reply.header("vary") or ""):
            file.unlink(missing_ok=True)
            return
        headers = tuple(each for each in reply.headers if each[0] in _KEPT_HEADERS)
        entry = CachedManifest(reply.url, headers, reply.body, fresh_until(dict(reply.headers), now))
        if not entry.conditions and not entry.fresh(now):
            file.unlink(missing_ok=True)
            return
        make_private_folder(self._folder)
        write_private(file, msgspec.msgpack.encode(entry))
        self._trim()

    def renewed(self, entry: CachedManifest, reply: SiteReply, now: float) -> CachedManifest:
        """The entry after the site answered 304: its headers brought up to date (RFC 9111 §3.2). It is kept as well."""
        news = {name: value for name, value in reply.headers if name in _KEPT_HEADERS}
        headers = {**dict(entry.headers), **news}
        merged = SiteReply(entry.url, 200, tuple(headers.items()), entry.body, reply.took_ms)
        self.put(merged, now)
        return CachedManifest(entry.url, merged.headers, entry.body, fresh_until(headers, now))

    def _file(self, url: str) -> Path:
        return self._folder / f"{hashlib.sha256(url.encode()).hexdigest()[:32]}.entry"

    def _trim(self) -> None:
        """Eviction of the oldest entries."""
        files = sorted(self._folder.glob("*.entry"), key=lambda file: file.stat().st_mtime)
        for file in files[:-MAX_ENTRIES]:
            file.unlink(missing_ok=True)


def fresh_until(headers: Mapping[str, str], now: float) -> float:
    """Expiry (`max-age`, `Expires`): until when an answer may be used unasked (RFC 9111 §4.2); 0 when it names no time.
    Nothing is guessed."""
    directives = _directives(headers.get("cache-control"))
    if "no-cache" in directives or "no-store" in directives:
        return 0.0
    seconds: float | None = None
    if "max-age" in directives:
        seconds = _seconds(directives["max-age"])
    elif "expires" in headers:
        seconds = _between(headers.get("date"), headers["expires"], now)
    if not seconds:
        return 0.0
    return now + max(0.0, min(seconds, MAX_FRESH) - _seconds(headers.get("age", "0")))


def _directives(text: str | None) -> dict[str, str]:
    """Parser of `Cache-Control`: its directives (`max-age`, `no-store`) with their values."""
    found = {}
    for part in (text or "").split(","):
        name, _, value = part.strip().partition("=")
        found[name.lower()] = value.strip('" ')
    return found


def _seconds(text: str) -> float:
    return float(min(int(text), 2**31)) if text.isascii() and text.isdigit() and len(text) < 20 else 0.0


def _between(date: str | None, expires: str, now: float) -> float:
    """Freshness lifetime by `Expires`, in seconds."""
    try:
        start = parsedate_to_datetime(date).timestamp() if date else now
        return max(0.0, parsedate_to_datetime(expires).timestamp() - start)
    except (ValueError, OverflowError):
        return 0.0
