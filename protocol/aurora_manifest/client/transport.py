"""Transport of HTTP requests (HTTP client), with bounds: size, timeout, and redirects that never leave the site (no
SSRF through them).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING

from msgspec import Struct

from aurora_manifest.client.origins import Origin, origin_of, parse_url, require_safe, resolved
from aurora_manifest.json.scan_state import MAX_BYTES
from aurora_protocol import CallBlocked, SiteError
from aurora_protocol.version import __version__

if TYPE_CHECKING:
    import ssl
    from http.cookiejar import CookieJar

    from httpx2 import URL, AsyncClient, Response
    from httpx2 import Request as SentRequest

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_METHOD = frozenset({307, 308})
_MAX_DIGITS, _MAX_DATE = 10, 40
_OF_TIMEOUT = 0.9
"""Share of the timeout after which what has come of a body counts as all of it."""


class RequestPolicy(Struct, frozen=True):
    """Bounds and permissions of a request. `timeout` is seconds for everything, redirects included.

    `whole` asks for all of the body or an error; without it, what came within the bounds is kept and marked as cut.
    """

    timeout: float = 30.0
    max_bytes: int = MAX_BYTES
    cross_origin: bool = False
    insecure_http: bool = False
    whole: bool = True


class Request(Struct, frozen=True):
    """Request as it is sent: header names as they are written, and a body or none."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


class SiteReply(Struct, frozen=True):
    """Response as it came back: header names in lower case, in the order they came; the body decoded and perhaps `cut`.

    `method` is what was sent last, to `url`: a redirect can change it.
    """

    url: str
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    took_ms: float
    cut: str = ""
    redirects: tuple[str, ...] = ()
    method: str = "GET"

    @property
    def origin(self) -> Origin:
        """Where it came from in the end."""
        return origin_of(parse_url(self.url))

    @property
    def fine(self) -> bool:
        """Whether the site says that it did as asked."""
        return 200 <= self.status < 300

    @property
    def whole(self) -> bool:
        """Whether the site did as asked, and all that it answered has come."""
        return self.fine and not self.cut

    @property
    def reason(self) -> str:
        """The status in words, from the registry; what the server writes there is not shown."""
        try:
            return HTTPStatus(self.status).phrase
        except ValueError:
            return ""

    def header(self, name: str) -> str | None:
        """The first header of that name, given in lower case."""
        return next((value for each, value in self.headers if each == name), None)

    @property
    def wait(self) -> str:
        """Retry-After: how long the site asks to wait (RFC 9110 §10.2.3): `17 s`, a date, or nothing where it does not
        say.
        """
        text = (self.header("retry-after") or "").strip()
        if text.isascii() and text.isdigit() and len(text) < _MAX_DIGITS:
            return f"{int(text)} s"
        try:
            return text if parsedate_to_datetime(text) and len(text) < _MAX_DATE else ""
        except ValueError:
            return ""

    @property
    def media_type(self) -> str:
        """The content type without its parameters, in lower case."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


Conditions = Callable[[str], Mapping[str, str]]
"""Headers to add for a URL: what a cache knows of it."""


async def send(
    request: Request, policy: RequestPolicy, *, cookies: CookieJar | None = None, conditions: Conditions | None = None
) -> SiteReply:
    """Send `request`, following redirects within the rules. Raises SiteError or CallBlocked.

    `cookies` are sent and are updated from every response. `conditions` are asked again at each redirect.
    """
    import httpx2

    started = time.monotonic()
    url = parse_url(request.url)
    require_safe(url, insecure=policy.insecure_http)
    try:
        async with asyncio.timeout(policy.timeout):
            async with _client(url, policy, cookies) as client:
                return await _follow(client, request, policy, conditions or (lambda _: {}), started)
    except TimeoutError as error:
        raise SiteError(
            f"{url}: no full answer within {round(policy.timeout, 1):g} s; try again, or give --timeout"
        ) from error
    except httpx2.TimeoutException as error:
        raise SiteError(
            f"{url}: no answer within {round(policy.timeout, 1):g} s; try again, or give --timeout"
        ) from error
    except httpx2.ConnectError as error:
        raise SiteError(f"{origin_of(url)}: cannot be reached ({_said(error)}); is the site up?") from error
    except httpx2.DecodingError as error:
        raise SiteError(f"{url}: the answer's content encoding is broken ({_said(error)})") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise SiteError(f"{url}: the site broke off or does not speak HTTP ({_said(error)})") from error


async def preview(request: Request, policy: RequestPolicy, *, cookies: CookieJar | None = None) -> Request:
    """Dry run: the request just as `send` would send it, with every header. Nothing is sent."""
    url = parse_url(request.url)
    require_safe(url, insecure=policy.insecure_http)
    async with _client(url, policy, cookies) as client:
        built = client.build_request(request.method, request.url, headers=list(request.headers), content=request.body)
        headers = tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in built.headers.raw)
        return Request(built.method, str(built.url), headers, request.body)


async def _follow(
    client: AsyncClient, request: Request, policy: RequestPolicy, conditions: Conditions, started: float
) -> SiteReply:
    """Redirects followed, each checked before it is asked."""
    first = origin_of(parse_url(request.url))
    passed: list[str] = []
    while True:
        headers = [*request.headers, *conditions(request.url).items()]
        content = client.build_request(request.method, request.url, headers=headers, content=request.body)
        response = await client.send(content, stream=True)
        try:
            _require_known_encoding(content, response)
            target = _target(response)
            if target is None:
                body, cut = await _body(response, policy, started)
                spent = 1000 * (time.monotonic() - started)
                return SiteReply(
                    request.url,
                    response.status_code,
                    _headers(response),
                    body,
                    spent,
                    cut,
                    tuple(passed),
                    request.method,
                )
        finally:
            await response.aclose()
        passed.append(str(target))
        if len(passed) > MAX_REDIRECTS:
            raise SiteError(f"{passed[0]}: redirects more than {MAX_REDIRECTS} times, to {target} at last")
        _check_redirect(first, parse_url(request.url), target, policy)
        request = _redirected(request, response.status_code, target)


def _check_redirect(first: Origin, source: URL, target: URL, policy: RequestPolicy) -> None:
    """Raise CallBlocked for a redirect to plain http or to another site (no SSRF by a site's word)."""
    if source.scheme == "https" and target.scheme == "http":
        raise CallBlocked(f"{source}: redirects from https to plain http ({target}); ask the site's owner to mend it")
    if origin_of(target) != first and not policy.cross_origin:
        raise CallBlocked(f"{source}: redirects to another site ({target}); name that one if it is the one you mean")
    require_safe(target, insecure=policy.insecure_http)


def _redirected(request: Request, status: int, target: URL) -> Request:
    """The next request: 303 asks for a GET, 301 and 302 turn a POST alone into one (RFC 9110 §15.4.2–4)."""
    known = request.headers
    if origin_of(target) != origin_of(parse_url(request.url)):  # what proves who asks is for the site it was given for
        known = tuple(each for each in known if each[0].lower() != "authorization")
    if request.method == "GET" or status in _KEEP_METHOD or (status != 303 and request.method != "POST"):
        return Request(request.method, str(target), known, request.body)
    headers = tuple(each for each in known if each[0].lower() != "content-type")
    return Request("GET", str(target), headers)


def _target(response: Response) -> URL | None:
    """Where a redirect leads; None when the response is none."""
    from httpx2 import InvalidURL

    place = response.headers.get("location")
    if response.status_code not in _REDIRECTS or place is None:
        return None
    try:
        return parse_url(str(resolved(response.url, place).copy_with(fragment=None)))
    except SiteError as error:
        raise SiteError(f"{response.url}: redirects to what cannot be asked: {error}") from error
    except (InvalidURL, ValueError) as error:
        raise SiteError(f"{response.url}: redirects to what is no URL ({place[:100]!r})") from error


async def _body(response: Response, policy: RequestPolicy, started: float) -> tuple[bytes, str]:
    """The decoded body, and why it is not whole. httpx2 inflates in pieces of at most 1 MiB, so that a decompression
    bomb is seen.

    What may be cut is cut a little before all time is over: what came by then is still to be told.
    """
    import httpx2

    parts: list[bytes] = []
    size = 0
    left = max(0.0, _OF_TIMEOUT * policy.timeout - (time.monotonic() - started))
    try:
        async with asyncio.timeout(None if policy.whole else left):
            async for part in response.aiter_bytes():
                size += len(part)
                if size > policy.max_bytes:
                    if policy.whole:
                        raise SiteError(f"{response.url}: the answer is larger than {policy.max_bytes:,} bytes")
                    parts.append(part[: len(part) - (size - policy.max_bytes)])
                    return b"".join(parts), f"larger than {policy.max_bytes:,} bytes"
                parts.append(part)
    except TimeoutError:
        if policy.whole:
            raise
        return b"".join(parts), "the rest did not come in time; give a longer --timeout"
    except (httpx2.ReadError, httpx2.RemoteProtocolError) as error:
        if policy.whole:
            raise
        return b"".join(parts), f"the site broke off ({_said(error)})"
    return b"".join(parts), ""


def _require_known_encoding(request: SentRequest, response: Response) -> None:
    """Raise SiteError for a content encoding that was not asked for: nobody here can read it."""
    known = {each.partition(";")[0].strip() for each in request.headers.get("accept-encoding", "").lower().split(",")}
    named = {each.strip() for each in response.headers.get("content-encoding", "").lower().split(",")}
    if unknown := sorted(named - known - {"identity", "x-gzip", ""}):
        raise SiteError(
            f"{response.url}: the answer comes as {unknown[0][:40]!r}, which was not asked for; send it plain"
        )


def _client(url: URL, policy: RequestPolicy, cookies: CookieJar | None) -> AsyncClient:
    """HTTP client with its headers, cookie jar, timeout and proxy."""
    import httpx2

    headers = {"Accept": "application/json, */*;q=0.1", "User-Agent": f"aurora/{__version__}"}
    return httpx2.AsyncClient(
        headers=headers,
        cookies=cookies,
        timeout=policy.timeout,
        follow_redirects=False,
        trust_env=(trusts := not origin_of(url).loopback),  # a proxy has no way to this machine's own sites
        verify=certificates(trusts),
    )


@cache
def certificates(from_environment: bool) -> ssl.SSLContext:
    """TLS context with trusted certificates, made once: reading them takes longer (20 ms) than a request of a crawl.
    `from_environment`: those that `SSL_CERT_FILE` or `SSL_CERT_DIR` names, where one does.
    """
    import httpx2

    return httpx2.create_ssl_context(trust_env=from_environment)


def _headers(response: Response) -> tuple[tuple[str, str], ...]:
    return tuple((name.lower(), value) for name, value in response.headers.multi_items())


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
