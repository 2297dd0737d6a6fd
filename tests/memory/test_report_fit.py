"""What a news fragment says went wrong, as those who fit the weights of reports ask it."""

import pytest

from tests.benchmarks.report_fit import said


@pytest.mark.parametrize(
    ("fragment", "title"),
    [
        pytest.param(
            "Fixed a bug where :func:`~shop.cart.total` is off by one (#12).",
            "`shop.cart.total` is off by one",
            id="without roles, numbers, and that it is mended",
        ),
        pytest.param(
            ".. change::\n    :tags: bug, orm\n    :tickets: 7\n\n    Fixed issue in ``Cart`` where it leaks.",
            "`Cart` where it leaks",
            id="without fields",
        ),
        pytest.param(
            "Carts do not crash\nwithout prices. They are empty. -- by somebody",
            "Carts do not crash without prices",
            id="in its first sentence",
        ),
    ],
)
def test_a_fragment_says_what_went_wrong(fragment: str, title: str) -> None:
    assert said(fragment) == title
