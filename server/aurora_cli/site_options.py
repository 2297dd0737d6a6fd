"""The options of every command that talks to a site, and what they allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aurora_cli.numbers import Finite

if TYPE_CHECKING:
    from aurora_cli.settings import Settings
    from aurora_manifest.client.cache import ManifestCache
    from aurora_manifest.client.transport import RequestPolicy

Command = TypeVar("Command", bound=Callable[..., Any])

_TIMEOUT = click.option(
    "--timeout",
    metavar="SECONDS",
    type=Finite(min=0.1, max=600),
    default=30.0,
    show_default=True,
    help="Give up after so long, redirects included.",
)
_INSECURE = click.option("--insecure-http", is_flag=True, help="Allow plain http to other machines.")
_NO_CACHE = click.option("--no-cache", is_flag=True, help="Neither use nor keep a copy of the manifest.")
_CROSS = click.option("--allow-cross-origin", is_flag=True, help="Follow the manifest's redirects to another site.")


def site_options(command: Command) -> Command:
    """Give a command `--timeout`, `--insecure-http`, `--no-cache` and `--allow-cross-origin`."""
    for option in (_CROSS, _NO_CACHE, _INSECURE, _TIMEOUT):
        command = option(command)
    return command


def policy_of(timeout: float, insecure_http: bool, allow_cross_origin: bool) -> RequestPolicy:
    """What those options allow on the way to a manifest."""
    from aurora_manifest.client.transport import RequestPolicy

    return RequestPolicy(timeout=timeout, insecure_http=insecure_http, cross_origin=allow_cross_origin)


def cache_of(settings: Settings, no_cache: bool) -> ManifestCache | None:
    """The user's cache of manifests, unless it is not to be used."""
    from aurora_manifest.client.cache import ManifestCache

    return None if no_cache else ManifestCache.of(settings.address.home)
