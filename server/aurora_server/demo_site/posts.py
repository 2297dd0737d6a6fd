"""Posts of the demo site, listed by page (pagination), added, changed and deleted. In memory, gone with the process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from aurora_server.demo_site.people import Account

MAX_POSTS = 1_000
_FIELDS = ("title", "content", "tags", "published")


@dataclass
class Post:
    """A post; `author` is a person's id. A draft (not `published`) is seen by its author only."""

    id: str
    author: str
    title: str
    content: str
    created: datetime
    updated: datetime
    tags: list[str] = field(default_factory=list)
    published: bool = False

    def visible_to(self, who: Account | None) -> bool:
        """Whether `who` may read it."""
        return self.published or self.owned_by(who)

    def owned_by(self, who: Account | None) -> bool:
        """Whether `who` wrote it."""
        return who is not None and who.id == self.author

    def document(self) -> dict[str, Any]:
        """As it is sent."""
        shown = {name: getattr(self, name) for name in ("id", "author", *_FIELDS)}
        return shown | {"createdAt": self.created.isoformat(), "updatedAt": self.updated.isoformat()}


class Posts:
    """Posts by id, all of them. Ids are never given twice."""

    def __init__(self) -> None:
        self._posts: dict[str, Post] = {}
        self._last = 0
        start = datetime(2026, 1, 1, tzinfo=UTC)
        first = {"title": "Welcome", "content": "A site that agents can use.", "tags": ["welcome"], "published": True}
        second = {"title": "On engines", "content": "They weave patterns.", "tags": ["history"], "published": True}
        self.add("1", first, start)
        self.add("2", second, start)

    def get(self, identity: str) -> Post | None:
        """The post of that id."""
        return self._posts.get(identity)

    def page(self, who: Account | None, tags: Iterable[str], offset: int, limit: int) -> tuple[list[Post], int]:
        """The posts `who` may read that have one of `tags` (none: all), newest first: one page, and how many in all."""
        wanted = set(tags)
        found = [
            post
            for post in reversed(self._posts.values())
            if post.visible_to(who) and (not wanted or not wanted.isdisjoint(post.tags))
        ]
        return found[offset : offset + limit], len(found)

    @property
    def full(self) -> bool:
        """Whether no more can be added."""
        return len(self._posts) >= MAX_POSTS

    def add(self, author: str, values: Mapping[str, Any], now: datetime) -> Post:
        """Write a new post with the checked `values`."""
        self._last += 1
        post = Post(str(self._last), author, values["title"], values["content"], now, now)
        self._posts[post.id] = post
        self.change(post, values, now)
        return post

    def change(self, post: Post, values: Mapping[str, Any], now: datetime) -> None:
        """Set what `values` name."""
        for name in _FIELDS:
            if name in values:
                setattr(post, name, values[name])
        post.updated = now

    def remove(self, post: Post) -> None:
        """Delete it."""
        self._posts.pop(post.id, None)
