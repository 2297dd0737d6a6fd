"""What stands at a cursor: the name, what it hangs from, and the definition around it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from aurora_memory.chunks import MODULE_NAME, CodeChunk
from aurora_memory.store import chunk_reader
from aurora_server.workspace.symbol_at import _stored, innermost, word_at
from tests.memory.chunks import chunk


@pytest.mark.parametrize(
    ("text", "column", "found"),
    [
        pytest.param("self.db.get(x)", 8, ("get", "self.db"), id="a name and what it hangs from"),
        pytest.param("self.db.get(x)", 11, ("get", "self.db"), id="behind its last letter, too"),
        pytest.param("self.db.get(x)", 5, ("db", "self"), id="a name within"),
        pytest.param("self.db.get(x)", 12, ("x", ""), id="one that hangs from nothing"),
        pytest.param("std::vec::Vec", 10, ("Vec", "std.vec"), id="by whatever a language connects names"),
        pytest.param("a->b", 3, ("b", "a"), id="with an arrow"),
        pytest.param("f().b", 4, ("b", ""), id="not by what was called"),
        pytest.param("x = 12", 5, None, id="a number is no name"),
        pytest.param("a  b", 2, None, id="nor is what is between"),
    ],
)
def test_the_word_at_a_place(text: str, column: int, found: tuple[str, str] | None) -> None:
    assert word_at(text, 0, column) == found
    assert word_at(f"\n\f{text}", 1, column + 1) == found and word_at(text, 1, 0) is None


def lines(name: str, first: int, last: int) -> CodeChunk:
    return replace(chunk("a.py", name), line_start=first, line_end=last)


WHOLE, CLASS, METHOD = lines(MODULE_NAME, 1, 4), lines("A", 2, 20), lines("A.b", 3, 5)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        pytest.param(3, "A.b", id="the smallest around"),
        pytest.param(5, "A", id="else what is around that"),
        pytest.param(1, "A", id="before what is left of the file, though that is smaller"),
        pytest.param(0, MODULE_NAME, id="which stands where nothing else does"),
        pytest.param(30, None, id="or nothing"),
    ],
)
def test_the_definition_around_a_line(line: int, name: str | None) -> None:
    found = innermost([WHOLE, CLASS, METHOD], line)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("ordinal", "stored", "row"),
    [
        pytest.param(1, ["first", "second"], "second", id="of two of one name the one that stands there"),
        pytest.param(2, ["first", "second"], "second", id="the last, where one was just written"),
        pytest.param(0, [], None, id="or none"),
    ],
)
def test_which_stored_definition_a_buffer_means(
    ordinal: int, stored: list[str], row: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_reader, "by_name", lambda *_: stored)
    reader: Any = None
    assert _stored(reader, replace(chunk("a.py", "load"), ordinal=ordinal)) == row
