"""What an answer says of code and where, a row each: what is a place, what is a name, what belongs to a block."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aurora_orchestration.soar.said_names import found_names, stands, telling_parts
from aurora_orchestration.soar.said_places import SaidPlace, bare_files, block_of, found_places, lines_of, shown
from aurora_orchestration.soar.self_contradictions import self_contradictions


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param("in src/a.py:12", [("src/a.py", 12, 12)], id="a line"),
        pytest.param("in src/a.py:12-20", [("src/a.py", 12, 20)], id="several"),
        pytest.param("code:src/a.py:f:12", [("src/a.py", 12, 12)], id="of a chunk's id"),
        pytest.param("src/a.py#L4-L9", [("src/a.py", 4, 9)], id="as GitHub has them"),
        pytest.param("lines 3 to 5 of `src/a.py`", [("src/a.py", 3, 5)], id="in words before the file"),
        pytest.param("src/a.py, starting at line 7", [("src/a.py", 7, 7)], id="or behind it"),
        pytest.param("./src/a.py:1", [("src/a.py", 1, 1)], id="from here"),
        pytest.param("Rakefile:3", [("Rakefile", 3, 3)], id="a file that is known by its name"),
        pytest.param("at 10:30 or localhost:8080", [], id="no time and no port"),
        pytest.param("https://a.example/x.py:3", [], id="nor what is elsewhere"),
        pytest.param("v1.2:3", [], id="nor a version"),
    ],
)
def test_which_places_a_text_names(text: str, places: list[tuple[str, int, int]]) -> None:
    assert [(each.file, each.first, each.last) for each in found_places(text)] == places


@pytest.mark.parametrize(
    ("text", "files"),
    [
        pytest.param("see src/a.py and b.py", ["src/a.py", "b.py"], id="what can only be files"),
        pytest.param("see src/a.py:3", [], id="not once more what has a line"),
        pytest.param("see https://x.example/a.py", [], id="not what is elsewhere"),
        pytest.param("see a.b and e.g. this", [], id="nor what is none"),
    ],
)
def test_which_files_a_text_names_without_lines(text: str, files: list[str]) -> None:
    assert [each.file for each in bare_files(text, list(found_places(text)))] == files


def place(first: int, last: int) -> SaidPlace:
    return SaidPlace("a.py", first, last, 0, 1)


@pytest.mark.parametrize(
    ("first", "last", "files", "wrong"),
    [
        pytest.param(1, 2, ["x/a.py", "y/a.py"], "", id="every file that has the lines"),
        pytest.param(3, 3, ["y/a.py"], "", id="no file that is shorter"),
        pytest.param(4, 5, [], "there is no line 4-5 in a.py, which has 3", id="the longest is told of where none has"),
        pytest.param(2, 1, [], "there is no line 2-1 in a.py, which has 3", id="nor any that ends before it begins"),
        pytest.param(0, 0, [], "there is no line 0 in a.py, which has 3", id="lines begin with one"),
    ],
)
def test_which_files_a_place_can_mean(first: int, last: int, files: list[str], wrong: str) -> None:
    texts = {"x/a.py": ["1", "2"], "y/a.py": ["1", "2", "3"]}
    workspace: Any = SimpleNamespace(files_named=lambda name: list(texts), lines=texts.get)
    found, said = lines_of(place(first, last), workspace)
    assert ([file for file, _ in found], said) == (files, wrong)
    workspace.files_named = lambda name: []
    assert lines_of(place(first, last), workspace) == ([], "there is no file a.py")
    assert shown(place(3, 3)) == "3"


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        pytest.param(["def f():", "    a", "", "    b", "c"], 4, id="what is indented more"),
        pytest.param(["f(", "    a,", ")", "b"], 3, id="and the closing bracket"),
        pytest.param(["if a", "  b", "end", "c"], 3, id="or the word for it"),
        pytest.param(["@cached", "def f():", "    a", "b"], 3, id="a decorator with what it stands before"),
        pytest.param(["# why", "# more", "x = 1", "y = 2"], 3, id="a comment with the line below it"),
        pytest.param(["a", "b"], 1, id="else one line"),
    ],
)
def test_what_belongs_to_the_block_of_a_line(lines: list[str], count: int) -> None:
    assert block_of(lines, 0) == lines[:count]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("It calls `read_rows`.", ["read_rows"], id="in backticks"),
        pytest.param("It calls read_rows and readRows.", ["read_rows", "readRows"], id="as only code is spelt"),
        pytest.param("It calls RowReader and read().", ["RowReader", "read"], id="or called"),
        pytest.param("the function expand of it", [], id="not a word that goes on"),
        pytest.param("the function expand.", ["expand"], id="but one that is said to be a function"),
        pytest.param("run `git status` or `src/a.py`", [], id="no command, no path"),
        pytest.param("set `-x` and `'text'`", [], id="no option, no literal"),
        pytest.param("`rows.py`, `README.md` and `rows.core`", ["rows.core"], id="no file, by its name"),
        pytest.param("`from a.b import c as d`", ["from a.b import c as d"], id="an import"),
        pytest.param("`x = Rows(limit=2)`", ["x = Rows(limit=2)"], id="a piece of code"),
        pytest.param("`some words`", [], id="but no words"),
    ],
)
def test_which_names_of_code_a_text_has(text: str, names: list[str]) -> None:
    assert [each.text for each in found_names(text, list(found_places(text)))] == names


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("`Rows.read_all`", ["Rows", "read_all"], id="each part of a name"),
        pytest.param("`os.path_of`", [], id="none of a library's"),
        pytest.param("`Rows.to`", ["Rows"], id="none that is too short"),
        pytest.param("`console.log_rows`", ["log_rows"], id="none that any workspace has"),
        pytest.param(
            "`from rows.core import ab, Reader as R`", ["rows", "core", "Reader"], id="of an import what it takes"
        ),
        pytest.param('`Rows("some_text")`', ["Rows"], id="and nothing of strings"),
    ],
)
def test_which_parts_of_a_name_have_to_stand_somewhere(text: str, parts: list[str]) -> None:
    (name,) = found_names(text, ())
    assert list(telling_parts(name, "")) == parts
    assert list(telling_parts(name, " ".join(parts))) == [], "nor what is known without looking"


@pytest.mark.parametrize(
    ("text", "lines", "there"),
    [
        ("`Rows.read`", "def read(self):", True),
        ("`Rows.read`", "def read_all(self):", False),
        ("`Rows.read`", "class Rows:", False),
        ("`a = Rows(read)`", "Rows read", True),
        ("`a = Rows(read)`", "Rows", False),
    ],
)
def test_when_a_name_stands_in_some_lines(text: str, lines: str, there: bool) -> None:
    (name,) = found_names(text, ())
    assert stands(name, lines) is there


@pytest.mark.parametrize(
    "verb",
    ["is", "are", "be", "set to", "return", "returns", "equals", "takes", "named", "called", "raises", "throws"],
)
def test_two_values_of_one_thing_contradict_each_other_however_they_are_said(verb: str) -> None:
    said = [f"The limit of rows {verb} `one`.", f"The limit of rows {verb} `two`."]
    assert [why for _, _, why in self_contradictions(said)] == ["`one` against `two`"]
    assert list(self_contradictions([said[0], said[0]])) == []
    assert list(self_contradictions([said[0], f"The limit of files {verb} `two`."])) == [], "of two things they do not"
