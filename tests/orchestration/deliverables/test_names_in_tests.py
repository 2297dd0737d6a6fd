"""Names in tests: which forms of a word are one."""

import pytest

from aurora_deliverables.detection.names_in_tests import stem


@pytest.mark.parametrize(
    ("word", "same"),
    [
        ("shows", "show"),
        ("items", "item"),
        pytest.param("access", "access", id="two of them are no ending"),
        pytest.param("its", "its", id="three letters are too few"),
        ("this", "thi"),
        ("show", "show"),
    ],
)
def test_an_s_at_the_end_makes_no_other_word(word: str, same: str) -> None:
    assert stem(word) == same
