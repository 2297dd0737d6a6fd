"""Fetch (discovery) of a site's manifest: from the cache while it is fresh, asked for again when not
(AURA-P "How It Works", 1)."""

from __future__ import annotations

import time
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from aurora_manifest.check import check_document
from aurora_manifest.client.cache import CachedManifest, ManifestCache
from aurora_manifest.client.origins import Origin, manifest_url, origin_of, parse_url
from aurora_manifest.client.state import HEADER
from aurora_manifest.client.transport import Request, RequestPolicy, SiteReply, send
from aurora_manifest.findings import Finding
from aurora_manifest.json.document import JsonDocument
from aurora_manifest.json.parser import parse
from aurora_manifest.model import Manifest
from aurora_protocol import SiteError

if TYPE_CHECKING:
    from http.cookiejar import CookieJar

Source = Literal["site", "revalidated", "cache"]
"""Sent by the site just now; kept here and confirmed by the site; kept here and still fresh."""

_JSON = "application/json"
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_BEFORE_JSON = b"\xef\xbb\xbf \t\r\n"


class Published:
    """A manifest as a site publishes it.

    `origin` is where it came from in the end: relative URL templates belong to that site, whatever `site.url` says.
    """

    def __init__(self, url: str, text: str, headers: dict[str, str], source: Source) -> None:
        self.url = url
        self.text = text
        self.headers = headers
        self.source = source
        self.origin: Origin = origin_of(parse_url(url))

    @cached_property
    def document(self) -> JsonDocument:
        """The text, parsed."""
        return parse(self.text)

    @cached_property
    def manifest(self) -> Manifest:
        """The document by its meaning."""
        return Manifest(self.document)

    @cached_property
    def findings(self) -> list[Finding]:
        """Findings of `check` in it."""
        return check_document(self.document)

    def checked(self) -> Published:
        """Itself, read and checked now, and not when that is first asked for: a text of a megabyte can take seconds."""
        _ = self.findings
        return self

    @property
    def valid(self) -> bool:
        """Whether no finding is an error."""
        return all(each.severity != "error" for each in self.findings)

    @property
    def state(self) -> str | None:
        """The AURA-State header that came with it, still encoded."""
        return self.headers.get(HEADER)


async def fetch(
    place: str,
    policy: RequestPolicy,
    *,
    cache: ManifestCache | None = None,
    ask: bool = False,
    cookies: CookieJar | None = None,
    token: str | None = None,
) -> Published:
    """Get the manifest of the site at `place` (see `manifest_url`). Raises SiteError or Blocked.

    `ask` asks the site even when the cache has a fresh copy. Redirects are not kept: each is asked for anew. What
    `cookies` or a bearer `token` bring is for who has them, and neither kept nor taken from what is kept.
    """
    url = str(manifest_url(place))
    if token or (cookies is not None and len(cookies)):
        cache = None
    headers = (("Authorization", f"Bearer {token}"),) if token else ()
    known = cache.get(url) if cache is not None else None
    if known is not None and known.fresh(time.time()) and not ask:
        return _published(known.url, known.body, dict(known.headers), "cache")
    offered: dict[str, CachedManifest] = {}

    def conditions(target: str) -> dict[str, str]:
        entry = cache.get(target) if cache is not None else None
        if entry is None:
            return {}
        offered[target] = entry
        return entry.conditions

    reply = await send(Request("GET", url, headers), policy, cookies=cookies, conditions=conditions)
    if reply.status == 304 and reply.url in offered and cache is not None:
        entry = cache.renewed(offered[reply.url], reply, time.time())
        return _published(entry.url, entry.body, dict(entry.headers), "revalidated")
    _require_manifest(reply)
    published = _published(reply.url, reply.body, dict(reply.headers), "site")
    if cache is not None:
        cache.put(reply, time.time())
    return published


def _require_manifest(reply: SiteReply) -> None:
    """Status code and content type check. Raises SiteError."""
    if reply.status != 200:
        said = f"{reply.status} {reply.reason}".strip()
        raise SiteError(f"{reply.url}: {said}; {_advice(reply)}")
    kind = reply.media_type
    if kind != _JSON and not kind.endswith("+json"):
        told = f"is {kind}" if kind else "names no content type"
        if kind in _PAGES and not reply.body.lstrip(_BEFORE_JSON).startswith(b"{"):
            raise SiteError(f"{reply.url}: is {kind}: a page, and no manifest{_by_a_router(reply)}")
        raise SiteError(f"{reply.url}: {told}, not {_JSON}; serve the manifest as {_JSON}")


def _advice(reply: SiteReply) -> str:
    """What a status means for who wants a manifest."""
    if reply.status in (404, 410):
        return f"the site publishes no manifest there{_by_a_router(reply)}"
    if reply.status == 401:
        return "the site wants to know who asks: give --token, or log in first"
    if reply.status in (429, 503) and reply.wait:
        return f"the site asks to wait: try again after {reply.wait}"
    if reply.status == 429:
        return "the site is asked too often: try again later"
    if reply.status >= 500:
        return "the site failed: try again later"
    return "the site refused" if reply.status >= 400 else "no manifest came with it"


def _by_a_router(reply: SiteReply) -> str:
    """What to add where a page answers at the well-known place: mostly an application's router, for every path.

    Of a page that says *not found* it could be the server's own as well.
    """
    if reply.media_type not in _PAGES or "/.well-known/" not in reply.url:
        return ""
    if reply.status == 200:
        return "; the site's application answers there: let its server serve /.well-known/ as files"
    return "; if it should, the site's application answers there first: let its server serve /.well-known/ as files"


def _published(url: str, body: bytes, headers: dict[str, str], source: Source) -> Published:
    """Manifest decoded as UTF-8. Raises SiteError."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SiteError(f"{url}: not UTF-8 (byte {error.start} is 0x{body[error.start]:02x})") from error
    return Published(url, text, headers, source)
