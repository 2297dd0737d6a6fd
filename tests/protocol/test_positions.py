"""Offsets to positions and back, against a slow and obvious reading of the LSP specification."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aurora_protocol.positions import Encoding, LineIndex, Pos, Range

ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]
CODECS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
TEXTS = st.text(alphabet=st.sampled_from("ab\n\r\x0b\u2028äß€漢📝\U0010ffff\ud800"), max_size=40)


def units(text: str, encoding: Encoding) -> int:
    codec, size = CODECS[encoding]
    return len(text.encode(codec, "surrogatepass")) // size


@given(TEXTS, st.sampled_from(ENCODINGS))
def test_every_offset_has_the_position_lsp_gives_it_and_comes_back(text: str, encoding: Encoding) -> None:
    index = LineIndex(text)
    lines = re.split(r"\r\n|\r|\n", text)
    assert index.line_count == len(lines)
    for line, content in enumerate(lines):
        start = index.line_start(line)
        assert text[start : index.line_end(line)] == content
        for column in range(len(content) + 1):
            position = Pos(line, units(content[:column], encoding))
            assert index.position(start + column, encoding) == position
            assert index.offset(position, encoding) == start + column


@given(TEXTS)
def test_bytes_are_those_of_utf8(text: str) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        assert index.byte(offset) == units(text[:offset], "utf-8")


@given(TEXTS, st.integers(-5, 60), st.integers(-5, 60), st.sampled_from(ENCODINGS))
def test_any_position_is_answered_within_its_line(text: str, line: int, character: int, encoding: Encoding) -> None:
    index = LineIndex(text)
    offset = index.offset(Pos(line, character), encoding)
    assert 0 <= offset <= len(text)
    if 0 <= line < index.line_count:
        assert index.line_start(line) <= offset <= index.line_end(line)


def test_a_position_inside_a_surrogate_pair_means_the_character_it_is_in() -> None:
    index = LineIndex("a📝b")
    assert [index.offset(Pos(0, character)) for character in range(6)] == [0, 1, 1, 2, 3, 3]


def test_offsets_between_cr_and_lf_and_outside_the_text_stay_on_their_line() -> None:
    index = LineIndex("ab\r\ncd")
    assert index.position(3) == Pos(0, 2)
    assert index.position(-1) == Pos(0, 0)
    assert index.position(99) == Pos(1, 2)
    assert index.range(1, 5) == Range(Pos(0, 1), Pos(1, 1))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_one_very_long_line_answers_as_fast_as_many_short_ones(encoding: Encoding) -> None:
    text = "ä📝" * 1_000_000
    index = LineIndex(text)
    end = index.position(len(text), encoding)
    assert end == Pos(0, units(text, encoding))
    for character in range(0, end.character, end.character // 500):
        assert 0 <= index.offset(Pos(0, character), encoding) <= len(text)


@pytest.mark.parametrize("seed", range(30))
def test_an_edited_index_is_that_of_the_edited_text(seed: int) -> None:
    chance = random.Random(seed)
    index = LineIndex("one\r\ntwo\nthree\rfour\n\r\n")
    for _ in range(60):
        start, end = sorted(chance.randrange(len(index.text) + 1) for _ in range(2))
        inserted = "".join(chance.choice(("\r", "\n", "\r\n", "a", "é", "📝")) for _ in range(chance.randrange(4)))
        fresh = LineIndex(index.text[:start] + inserted + index.text[end:])
        index = index.edited(start, end, inserted)
        assert index.text == fresh.text
        lines = [fresh.line_start(line) for line in range(fresh.line_count)]
        assert [index.line_start(line) for line in range(index.line_count)] == lines
        if len(index.text) < 5:
            index = LineIndex("\r\n".join("abcdefgh"))


@pytest.mark.parametrize("size", [4095, 4096, 4097])
def test_a_line_that_ends_with_a_block_of_the_index_begins_where_it_does(size: int) -> None:
    lines = LineIndex("a" * (size - 1) + "\nb")
    assert (lines.line_start(1), lines.position(size), lines.line_count) == (size, Pos(1, 0), 2)
