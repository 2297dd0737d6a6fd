"""Capabilities of the demo site (request handlers), and its rate limit: what each capability does. Every function gets
arguments that fit its schema.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aurora_server.demo_site.people import Account, People
from aurora_server.demo_site.posts import Post, Posts
from aurora_server.demo_site.request_arguments import RequestRefused

_MAX_CLIENTS = 10_000
LOGINS_PER_MINUTE = 10


class RateLimit:
    """Token bucket per client: at most `per_minute` requests at once, and as many again within each minute."""

    def __init__(self, per_minute: int) -> None:
        self._capacity = float(per_minute)
        self._per_second = per_minute / 60
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float) -> int:
        """Take one request from the client's bucket: 0, or the seconds (at least 1) until there is one again."""
        left, then = self._clients.pop(client, (self._capacity, now))
        left = min(self._capacity, left + (now - then) * self._per_second)
        allowed = left >= 1
        self._clients[client] = (left - 1 if allowed else left, now)
        while len(self._clients) > _MAX_CLIENTS:
            self._clients.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1 - left) / self._per_second))


@dataclass
class Visit:
    """Visit, one call: whose it is, from which client, in which session. Logging in and out change it."""

    client: str
    person: Account | None = None
    token: str | None = None


@dataclass
class JsonAnswer:
    """A status and a body to send as JSON; None sends none."""

    status: int
    body: Any = None


@dataclass
class Site:
    """State of the demo site: all that it knows."""

    people: People = field(default_factory=People)
    posts: Posts = field(default_factory=Posts)
    logins: RateLimit = field(default_factory=lambda: RateLimit(LOGINS_PER_MINUTE))


Handler = Callable[[Site, Visit, dict[str, Any]], Awaitable[JsonAnswer]]


async def login(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    """Which of the two was wrong is not told."""
    wait = site.logins.wait(visit.client, time.monotonic())
    if wait:
        detail = f"too many log-ins; try again in {wait} s"
        raise RequestRefused(429, "too_many_requests", detail, headers={"Retry-After": str(wait)})
    person = await asyncio.to_thread(site.people.check, arguments["email"], arguments["password"])
    if person is None:
        raise RequestRefused(401, "wrong_credentials", "the e-mail address or the password is wrong")
    site.people.end(visit.token)
    visit.person, visit.token = person, site.people.begin(person, time.monotonic())
    return JsonAnswer(200, {"user": person.profile()})


async def logout(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    """Log-out: the session ends."""
    site.people.end(visit.token)
    visit.person = visit.token = None
    return JsonAnswer(204)


async def list_posts(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    """Page of posts, by tag (limit and offset)."""
    limit, offset = arguments["limit"], arguments["offset"]
    page, total = site.posts.page(visit.person, arguments.get("tags", ()), offset, limit)
    return JsonAnswer(
        200, {"posts": [each.document() for each in page], "total": total, "limit": limit, "offset": offset}
    )


async def create_post(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    """New post (201 Created); 409 where the site is full."""
    if site.posts.full:
        raise RequestRefused(409, "full", "the demo site takes no more posts; delete some, or start it again")
    return JsonAnswer(201, site.posts.add(_person(visit).id, arguments, datetime.now(UTC)).document())


async def read_post(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    return JsonAnswer(200, _readable(site, visit, arguments).document())


async def update_post(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    """Change of one's own post (update)."""
    post = _own(site, visit, arguments)
    site.posts.change(post, arguments, datetime.now(UTC))
    return JsonAnswer(200, post.document())


async def delete_post(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    site.posts.remove(_own(site, visit, arguments))
    return JsonAnswer(204)


async def get_profile(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    return JsonAnswer(200, _person(visit).profile())


async def update_profile(site: Site, visit: Visit, arguments: dict[str, Any]) -> JsonAnswer:
    person = _person(visit)
    person.name, person.bio = arguments.get("name", person.name), arguments.get("bio", person.bio)
    return JsonAnswer(200, person.profile())


HANDLERS: dict[str, Handler] = {
    each.__name__: each
    for each in (
        login,
        logout,
        list_posts,
        create_post,
        read_post,
        update_post,
        delete_post,
        get_profile,
        update_profile,
    )
}


def _person(visit: Visit) -> Account:
    """Who is logged in. Raises RequestRefused (401 Unauthorized)."""
    if visit.person is None:
        raise RequestRefused(401, "not_logged_in", "log in first, with the capability login")
    return visit.person


def _readable(site: Site, visit: Visit, arguments: dict[str, Any]) -> Post:
    """Post that may be read. Raises RequestRefused (404 Not Found)."""
    post = site.posts.get(arguments["id"])
    if post is None or not post.visible_to(visit.person):  # somebody else's draft does not even exist
        raise RequestRefused(404, "no_such_post", f"there is no post {arguments['id']}")
    return post


def _own(site: Site, visit: Visit, arguments: dict[str, Any]) -> Post:
    """Post of one's own (authorization). Raises RequestRefused (403 Forbidden)."""
    post = _readable(site, visit, arguments)
    if not post.owned_by(visit.person):
        raise RequestRefused(403, "not_yours", f"post {post.id} is somebody else's")
    return post
