"""The page of limits: which constants are numbers that somebody chose, and what is said of them."""

import pytest

from docs.generate.limits import PAGE, chosen
from docs.generate.markdown import cell


@pytest.mark.parametrize(
    ("source", "names", "values", "said"),
    [
        ('MOST = 8\n"""Lines shown."""\n', ("MOST",), ("8",), "Lines shown."),
        ('FIRST = 2\nLAST = 3\n"""Of both."""\n', ("FIRST", "LAST"), ("2", "3"), "Of both."),
        ("MAX_BYTES = 64 << 10\n", ("MAX_BYTES",), ("64 << 10",), ""),
        ("BASE = 2  # doubles each time\n", ("BASE",), ("2",), "doubles each time"),
        ('RATES = (0.5, 1.0)\n"""Per hour."""\n', ("RATES",), ("(0.5, 1.0)",), "Per hour."),
        ('SECONDS: float = 5.0\n"""To wait."""\n', ("SECONDS",), ("5.0",), "To wait."),
    ],
)
def test_a_number_in_capitals_is_a_row(source: str, names: tuple[str, ...], values: tuple[str, ...], said: str) -> None:
    (row,) = chosen(source)
    assert (row.names, row.values, row.said) == (names, values, said)


@pytest.mark.parametrize(
    "source",
    ['WORDS = "a b"\n"""Not a number."""\n', "PLAIN = 3\n", 'ON = True\n"""A choice of two."""\n', "MOST = other(3)\n"],
)
def test_what_is_no_number_and_says_no_bound_is_none(source: str) -> None:
    assert not list(chosen(source))


def test_an_empty_line_parts_two_numbers() -> None:
    rows = list(chosen('MAX_A = 1\n\nMAX_B = 2\n"""Of the second alone."""\n'))
    assert [(row.names, row.said) for row in rows] == [(("MAX_A",), ""), (("MAX_B",), "Of the second alone.")]


def test_every_room_has_rows() -> None:
    from docs.generate.citations import ROOT

    text = (ROOT / PAGE).read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    assert len(sections) == 5
    assert all(section.count("\n| `") > 40 for section in sections)
    assert cell("Edited files that are compared line by line;") in text
