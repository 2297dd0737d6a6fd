"""Origins (same-origin policy): which site a URL belongs to, and which URLs may be asked at all (RFC 6454,
RFC 8615).
"""

from __future__ import annotations

import ipaddress
import re
from typing import TYPE_CHECKING

from msgspec import Struct

from aurora_protocol import CallBlocked, SiteError

if TYPE_CHECKING:
    from httpx2 import URL

WELL_KNOWN = "/.well-known/aura.json"
MAX_URL = 8_192
MAX_PORT = 65_535
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:").match
_PORTS = {"http": 80, "https": 443}


class Origin(Struct, frozen=True):
    """Scheme, host and port: two URLs are of the same site when these are equal."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (f":{self.port}" if self.port != _PORTS[self.scheme] else "")

    @property
    def loopback(self) -> bool:
        """Whether it is this machine: `localhost`, names below it (RFC 6761 §6.3) and loopback addresses."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_url(text: str) -> URL:
    """Read an absolute http(s) URL. Raises SiteError, also for one with a password: URLs end up in logs and lists."""
    from httpx2 import URL, InvalidURL

    shown = text[:200]
    if len(text) > MAX_URL:
        raise SiteError(f"{shown}…: the URL has {len(text):,} characters; the limit is {MAX_URL:,}")
    try:
        url = URL(text)
    except (InvalidURL, ValueError) as error:
        raise SiteError(f"{shown}: not a URL ({error}); use one like https://example.com") from error
    if url.scheme not in _PORTS or not url.host:
        raise SiteError(f"{shown}: not an http or https URL; use one like https://example.com")
    if url.port is not None and not 1 <= url.port <= MAX_PORT:
        raise SiteError(f"{url.host}: there is no port {url.port}; ports go from 1 to {MAX_PORT}")
    if url.userinfo:
        raise SiteError(f"{url.host}: name no user and password in the URL; use --token, or log in by a capability")
    return url


def resolved(base: URL, reference: str) -> URL:
    """A reference against the URL it stands in (RFC 3986 §5.2); its origin may be any. Raises httpx2's InvalidURL.

    `URL.join` takes a `;` at the end of a path away, as `urllib` does: what it names may be another file.
    """
    from httpx2 import URL

    if reference.startswith("//"):
        return URL(f"{base.scheme}:{reference}")
    if reference.startswith("/"):
        return URL(f"{origin_of(base)}{reference}")
    return URL(reference) if _SCHEME(reference) else base.join(reference)


def origin_of(url: URL) -> Origin:
    """The origin of an absolute URL."""
    return Origin(url.scheme, url.host.rstrip(".").lower(), url.port or _PORTS[url.scheme])


def manifest_url(text: str) -> URL:
    """Where a site's manifest is: the well-known place of the origin, or the URL itself if it names a JSON file.

    `example.com` is taken for `https://example.com`, and this machine's names for http. Raises SiteError.
    """
    text = text.strip()
    if "://" not in text:
        guess = parse_url(f"http://{text}")
        text = f"{'http' if origin_of(guess).loopback else 'https'}://{text}"
    url = parse_url(text)
    if url.path.lower().endswith(".json"):
        return url.copy_with(fragment=None)
    return parse_url(str(origin_of(url)) + WELL_KNOWN)


def require_safe(url: URL, *, insecure: bool = False) -> None:
    """Raise CallBlocked for plain http to another machine: everybody on the way can read and change what is said."""
    origin = origin_of(url)
    if origin.scheme == "http" and not origin.loopback and not insecure:
        raise CallBlocked(
            f"{origin}: plain http is only used on this machine; use https, or --insecure-http to allow it"
        )
