"""What `aurora explain` says a chunk has to do with, from plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aurora_cli.explain import NAMED, related_lines
from aurora_cli.output import TerminalStyle


def link(relation: str, name: str, *, likely: bool = False, file: str = "src/a.py") -> dict[str, Any]:
    return {"relation": relation, "name": name, "file": file, "likely": likely}


@pytest.mark.parametrize(
    ("relations", "counts", "lines"),
    [
        pytest.param(
            [link("edited with", "e"), link("calls", "c"), link("inherits", "b"), link("called by", "a")],
            {},
            ["called by a", "calls c", "inherits b", "edited with e"],
            id="who uses it comes first, what changes with it last",
        ),
        pytest.param(
            [link("called by", "guess", likely=True), link("inherited by", "heir"), link("called by", "sure")],
            {},
            ["called by sure", "maybe called by guess", "inherited by heir"],
            id="what is sure before what may be",
        ),
        pytest.param(
            [link("tests", "guess", likely=True), link("mentions", "page")],
            {},
            ["mentions page", "maybe tests guess"],
            id="of other kinds too",
        ),
        pytest.param(
            [link("calls", "c"), link("calls", "c"), link("calls", "b")], {}, ["calls c, b"], id="each name once"
        ),
        pytest.param([link("calls", "<module>")], {}, ["calls src/a.py"], id="a file's own code by the file"),
        pytest.param(
            [link("calls", f"c{n}") for n in range(NAMED + 2)],
            {},
            ["calls c0, c1, c2, c3, c4, c5, c6, c7 and 2 more"],
            id="eight are named",
        ),
        pytest.param(
            [link("calls", f"c{n}") for n in range(2)], {"callers": 9}, ["calls c0, c1"], id="its callers are no calls"
        ),
        pytest.param(
            [link("called by", "a")],
            {"callers": 12, "likely_callers": 3},
            ["called by a and 11 more"],
            id="all are counted",
        ),
        pytest.param(
            [link("called by", "a", likely=True)],
            {"likely_callers": 3},
            ["maybe called by a and 2 more"],
            id="likely ones too",
        ),
        pytest.param(
            [link("inherited by", "A"), link("inherited by", "B", likely=True)],
            {"subclasses": 2, "likely_subclasses": 4},
            ["inherited by A and 1 more", "maybe inherited by B and 3 more"],
            id="and heirs",
        ),
        pytest.param(
            [link("called by", "a"), link("passed on by", "b")],
            {"callers": 1, "handed_on": 3},
            ["called by a", "passed on by b and 2 more"],
            id="and who passes it on",
        ),
        pytest.param(
            [link("imported by", "Options")], {}, ["imported by src/a.py"], id="a file that imports it by its path"
        ),
        pytest.param([], {"callers": 2}, [], id="nothing is said of what is not named"),
    ],
)
def test_what_it_has_to_do_with(relations: list[dict[str, Any]], counts: dict[str, int], lines: list[str]) -> None:
    assert related_lines({"relations": relations, "chunk": counts}, TerminalStyle(), Path("/shop/src")) == lines


def test_files_are_spelled_from_the_working_folder() -> None:
    relations = [link("imported by", "Session", file="src/web/a.py"), link("edited with", "<module>", file="b.py")]
    found = {"relations": relations, "chunk": {"workspace": "/shop"}}
    told = related_lines(found, TerminalStyle(), Path("/shop/src"))
    assert told == ["edited with ../b.py", "imported by web/a.py"]
    assert related_lines(found, TerminalStyle(), Path("/"))[1] == "imported by /shop/src/web/a.py"
