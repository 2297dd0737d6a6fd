"""Code frames: carets under exactly what is meant, whatever the line is made of."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from aurora_cli.code_frame import LEAST_WIDTH, code_frame
from aurora_protocol.positions import LineIndex


def frame(text: str, meant: str, width: int = 80, nth: int = 0) -> list[str]:
    start = -1
    for _ in range(nth + 1):
        start = text.index(meant, start + 1)
    return code_frame(LineIndex(text), start, start + len(meant), width)


def under(lines: list[str]) -> str:
    """What stands above the carets, found by the columns of a terminal."""
    source, carets = lines[-2], lines[-1]
    first, last = carets.index("^"), len(carets)
    assert set(carets[first:]) == {"^"}
    cells = [sign for sign in source for _ in range(cell_len(sign))]
    return "".join(dict(enumerate(cells[first:last])).values())


def test_a_line_with_its_number_and_carets() -> None:
    assert frame('{\n  "method": "FETCH",\n}', '"FETCH"') == [
        "  |",
        '2 |   "method": "FETCH",',
        '  |             ^^^^^^^',
    ]  # fmt: skip


def test_numbers_are_as_wide_as_they_need_to_be() -> None:
    lines = frame("\n" * 999 + "here", "here")
    assert lines == ["     |", "1000 | here", "     | ^^^^"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_are_not_shown(end: str) -> None:
    assert frame(f"one{end}two{end}three", "two") == ["  |", "2 | two", "  | ^^^"]


def test_wide_and_combining_characters_and_tabs_take_the_columns_they_take() -> None:
    assert frame('\t"漢字": bad', "bad")[1:] == ['1 |     "漢字": bad', "  |             ^^^"]
    assert frame('"😀": bad', "bad")[1:] == ['1 | "😀": bad', "  |       ^^^"]
    assert frame('"😀": bad', '"😀"')[2] == "  | ^^^^"
    assert frame('"e\u0301": bad', "bad")[2] == "  |      ^^^"
    assert frame("a\tb", "\t")[1:] == ["1 | a    b", "  |  ^^^^"]


def test_joined_emoji_are_shown_as_their_parts_so_that_every_terminal_counts_them_alike() -> None:
    assert frame('"👩\u200d💻\ufe0f": bad', "bad")[1:] == ['1 | "👩💻": bad', "  |         ^^^"]


def test_what_could_command_a_terminal_or_turn_the_text_around_is_replaced() -> None:
    shown = "".join(frame('"\x1b[31m\u202e\ufeff": bad', "bad"))
    assert shown.count("\ufffd") == 3
    assert not {"\x1b", "\u202e", "\ufeff"} & set(shown)


def test_an_empty_stretch_and_the_end_of_a_line_have_one_caret() -> None:
    assert code_frame(LineIndex("ab\ncd"), 2, 2, 80) == ["  |", "1 | ab", "  |   ^"]
    assert code_frame(LineIndex(""), 0, 0, 80) == ["  |", "1 |", "  | ^"]
    assert code_frame(LineIndex("ab\n"), 3, 3, 80)[1:] == ["2 |", "  | ^"]


def test_a_stretch_over_lines_shows_its_first_and_its_last() -> None:
    text = '{"a": {\n    "b": 1,\n    "c": 2\n  }, "d": 3}'
    assert frame(text, text[6 : text.index(", \"d\"")]) == [
        "  |",
        '1 | {"a": {',
        "  |       ^",
        "  :",
        '4 |   }, "d": 3}',
        "  |   ^",
    ]  # fmt: skip
    assert frame("[1,\n2]", "[1,\n2]")[1:] == ["1 | [1,", "  | ^^^", "2 | 2]", "  | ^^"]


@pytest.mark.parametrize("width", [10, 60, 80, 133])
@pytest.mark.parametrize("at", [0, 3, 50, 5_000, 99_990])
@pytest.mark.parametrize("filler", ["x", "漢", "e\u0301"])
def test_a_long_line_is_cut_around_what_is_meant(width: int, at: int, filler: str) -> None:
    text = filler * at + '"bad"' + filler * (100_000 - at)
    lines = frame(text, '"bad"', width)
    assert under(lines) == '"bad"'
    assert cell_len(lines[1]) <= max(width, LEAST_WIDTH + 4)
    assert lines[1].endswith("…") or at == 99_990
    if at != 50:
        assert lines[1].startswith("1 | …") == (at > 50)
    assert not lines[1].startswith(("1 | …\u0301", "1 | \u0301"))


def test_what_is_meant_may_itself_be_too_long() -> None:
    lines = frame("a: " + "b" * 500, "b" * 500, 60)
    assert lines[1] == "1 | …" + "b" * 54 + "…"
    assert lines[2] == "  |  " + "^" * 54


def test_colours_do_not_move_anything() -> None:
    text = "one two three"
    index = LineIndex(text)
    plain = code_frame(index, 4, 7, 80)
    colored = code_frame(index, 4, 7, 80, mark=lambda each: f"\x1b[31m{each}\x1b[39m", dim=lambda each: f"<{each}>")
    assert colored[2] == "<  |>     \x1b[31m^^^\x1b[39m"
    assert [
        each.replace("\x1b[31m", "").replace("\x1b[39m", "").translate({60: None, 62: None}) for each in colored
    ] == plain
