"""Which capabilities of a site a model is shown for a request, and which where there is no room for all."""

from __future__ import annotations

import pytest

from aurora_orchestration.sites import capability_search
from aurora_orchestration.sites.capability_search import nearest
from tests.orchestration.sites.test_planner import manifest


def shown(request: str, room: int, **capabilities: str) -> list[str]:
    """The ids that are shown where there is room for so many; values are descriptions."""
    site = manifest(**{name: {"description": said} for name, said in capabilities.items()})
    one = max(len(str(each)) for each in nearest(site, ""))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capability_search, "ROOM", one * room + 20)
        return [each["id"] for each in nearest(site, request)]


@pytest.mark.parametrize(
    ("request_", "capabilities", "first"),
    [
        pytest.param(
            "find posts", {"aaaa": "find posts", "find_posts": "zzzz zzzzz"}, "find_posts", id="a name says most"
        ),
        pytest.param(
            "find draft",
            {"a": "find one", "b": "find two", "c": "draft xyz"},
            "c",
            id="a rare word says more than a common one",
        ),
        pytest.param("xyz", {"aaaaa": "one", "login": "one"}, "login", id="of what nobody asks for, how to sign in"),
        pytest.param("xyz", {"b": "one", "a": "one"}, "b", id="else the first of the manifest"),
    ],
)
def test_what_is_shown_where_there_is_room_for_one(request_: str, capabilities: dict[str, str], first: str) -> None:
    assert shown(request_, 1, **capabilities) == [first]


def test_one_that_is_too_large_leaves_its_room_to_the_next() -> None:
    site = manifest(posts={"description": "posts " * 80}, b={"description": "posts"}, c={"description": "x"})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capability_search, "ROOM", 400)
        assert [each["id"] for each in nearest(site, "posts")] == ["b", "c"]


def test_what_a_request_speaks_of_is_shown_beyond_what_it_does_not() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(capability_search, "MAX_UNRELATED", 2)
        about = {f"n{n}": {"description": "posts"} for n in range(4)}
        site = manifest(x={"description": "other"}, y={"description": "other"}, z={"description": "other"}, **about)
        assert [each["id"] for each in nearest(site, "posts")] == ["n0", "n1", "n2", "n3"]
        assert [each["id"] for each in nearest(site, "nothing")] == ["x", "y"]
