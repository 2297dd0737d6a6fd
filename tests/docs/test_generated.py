"""Generated documentation is what `make docs` would write now."""

from docs.generate.__main__ import stale


def test_generated_pages_are_up_to_date() -> None:
    assert not list(stale()), "run `make docs`"
