"""Words of a question on the command line: when standard input is read, and what is no text."""

from __future__ import annotations

import io
import sys

import click
import pytest

from aurora_cli.shared_options import flags_of, words_given


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param(("what", "is", "x"), "what is x", id="words are one text"),
        pytest.param(("-",), "from elsewhere", id="a lone - is standard input"),
        pytest.param(("-", "x"), "- x", id="beside others it is a word"),
        pytest.param(("x", "-"), "x -", id="wherever it stands"),
        pytest.param(("--",), "--", id="two are another word"),
    ],
)
def test_what_is_asked(words: tuple[str, ...], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("from elsewhere"))
    assert words_given(words) == text


def test_what_is_no_text_is_refused_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(click.UsageError, match="byte 0xFF at character 3"):
        words_given(("a", "\udcff"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ab\xff"), encoding="utf-8"))
    with pytest.raises(click.UsageError, match="standard input is no text in UTF-8: byte 3"):
        words_given(("-",))


def test_flags_that_say_nothing_are_none() -> None:
    assert flags_of(None, "") == {} and flags_of("openai", None) == {"llm_provider": "openai"}
