"""Cache of the dashboard's pictures: what was seen last stays while nothing newer can be had, and why is told."""

from __future__ import annotations

from typing import cast

from aurora_protocol import DaemonUnreachable
from aurora_server.dashboard.picture import Picture
from aurora_server.dashboard.picture_cache import PictureCache
from aurora_server.dashboard.view import View


class Source:
    """A source that has a picture, or none while `gone` says why."""

    def __init__(self) -> None:
        self.gone = ""
        self.taken = 0

    def picture(self, view: View) -> Picture:
        """One more picture, which is its number."""
        if self.gone:
            raise DaemonUnreachable(self.gone)
        self.taken += 1
        return cast(Picture, f"picture {self.taken} of page {view.page}")

    def close(self) -> None:
        """Nothing to end."""


async def test_the_last_picture_stays_while_no_newer_one_can_be_had_and_why_is_told() -> None:
    source = Source()
    cache = PictureCache(source, every=0.0)
    assert await cache.picture(View()) == ("picture 1 of page 1", None)
    source.gone = "no daemon"
    assert await cache.picture(View()) == ("picture 1 of page 1", "no daemon")
    assert await cache.picture(View(page=2)) == (None, "no daemon"), "of what was never seen there is none"
    source.gone = ""
    assert await cache.picture(View()) == ("picture 2 of page 1", None)


async def test_one_picture_is_for_all_who_look_within_a_moment_and_at_once_after_a_problem() -> None:
    source = Source()
    cache = PictureCache(source, every=600.0)
    assert [await cache.picture(View()) for _ in range(3)] == [("picture 1 of page 1", None)] * 3
    source.gone = "no daemon"
    assert await cache.picture(View(page=2)) == (None, "no daemon")
    source.gone = ""
    assert await cache.picture(View()) == ("picture 2 of page 1", None)
