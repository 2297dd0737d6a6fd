"""Site options: what every command that asks a site takes: bearer token, timeout, which addresses are allowed, cache
and cookie jar.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from aurora_cli.command_types import Finite
from aurora_cli.global_options import GlobalOptions
from aurora_protocol import SiteError

if TYPE_CHECKING:
    from http.cookiejar import CookieJar

    from aurora_manifest.client.cache import ManifestCache
    from aurora_manifest.client.cookies import Jar
    from aurora_manifest.client.origins import Origin
    from aurora_manifest.client.transport import RequestPolicy

TOKEN_VARIABLE = "AURORA_MANIFEST_TOKEN"

_OPTIONS = (
    click.option("--token", envvar=TOKEN_VARIABLE, help=f"Send this bearer token. [env var: {TOKEN_VARIABLE}]"),
    click.option(
        "--cookie-jar", type=click.Path(dir_okay=False, path_type=Path), help="Keep cookies in this file instead."
    ),
    click.option("--no-cookies", is_flag=True, help="Send and keep no cookies."),
    click.option(
        "--timeout",
        metavar="SECONDS",
        type=Finite(min=0.1, max=600),
        default=30.0,
        show_default=True,
        help="Give up after so long, redirects included.",
    ),
    click.option("--insecure-http", is_flag=True, help="Allow plain http to other machines."),
    click.option("--no-cache", is_flag=True, help="Neither use nor keep a copy of the manifest."),
    click.option("--allow-cross-origin", is_flag=True, help="Follow the manifest's redirects to another site."),
)


class SiteOptions(Struct, frozen=True, kw_only=True):
    """Options of the way to a site, as the command line has them. `timeout` is in seconds."""

    token: str | None
    cookie_jar: Path | None
    no_cookies: bool
    timeout: float
    insecure_http: bool
    no_cache: bool
    allow_cross_origin: bool

    @property
    def policy(self) -> RequestPolicy:
        """What is allowed on the way to a manifest."""
        from aurora_manifest.client.transport import RequestPolicy

        return RequestPolicy(
            timeout=self.timeout, insecure_http=self.insecure_http, cross_origin=self.allow_cross_origin
        )

    def cache(self, settings: GlobalOptions) -> ManifestCache | None:
        """The user's cache of manifests, unless it is not to be used."""
        from aurora_manifest.client.cache import ManifestCache

        return None if self.no_cache else ManifestCache.of(settings.address.home)

    def checked_token(self) -> str | None:
        """The bearer token, or none. Raises SiteError for what is no token."""
        return checked_token(self.token)

    def jar(self, settings: GlobalOptions, origin: Origin) -> Jar | None:
        """Where a site's cookies are kept; None where they are not."""
        from aurora_manifest.client.cookies import Jar

        if self.no_cookies:
            return None
        return Jar(self.cookie_jar.absolute()) if self.cookie_jar else Jar.of(settings.address.home, origin)

    def cookies(self, settings: GlobalOptions, place: str) -> CookieJar | None:
        """The cookies of the session at the site of `place`, as `call` keeps them. Raises SiteError."""
        from aurora_manifest.client.origins import manifest_url, origin_of

        jar = self.jar(settings, origin_of(manifest_url(place)))
        return jar.load() if jar else None


def site_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command these options; they come to it as `site`, a `SiteOptions`."""

    @wraps(command)
    def with_site(*positional: Any, **named: Any) -> Any:
        given = {name: named.pop(name) for name in SiteOptions.__struct_fields__}
        return command(*positional, site=SiteOptions(**given), **named)

    for option in reversed(_OPTIONS):
        with_site = option(with_site)
    return with_site


def checked_token(token: str | None) -> str | None:
    """A bearer token that can be sent, or none. Raises SiteError for what is no token."""
    if token and (not token.isprintable() or not token.isascii() or " " in token):
        raise SiteError("the token must be printable ASCII without spaces")
    return token or None
