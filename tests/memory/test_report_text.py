"""Text of a report: what somebody wrote stays, what its form made goes."""

from __future__ import annotations

import pytest

from aurora_memory.recall import parse_question
from aurora_memory.recall.report_text import report_text

WRITTEN = (
    "Reading a file twice closes it.\n\nThe second call of `load()` fails:\n\n    count: 3\n    name = 4.5\n\n"
    "That is all there is.\n"
)

TABLES = {
    "printed": "Windows-10-SP0\nPython 3.10.10 (tags/v3.10.10, Feb 7 2023) [MSC v.1929]\nshop 5.2\nNumpy 1.24.2\n",
    "shell": ">>> import shop; print(shop.__version__)\nshop 5.3\n>>> import x; print(x.__version__)\nx 1.2.3\n",
    "nested json": '{\r\n "idna": {\r\n "version": "3.3"\r\n },\r\n "ssl": {\r\n "version": "101010cf"\r\n },\r\n'
    ' "openssl": {\r\n "version": ""\r\n },\r\n "name": "CPython",\r\n "http": {\r\n "version": "1.26.7"\r\n }\r\n}',
    "key and value": "Versions\n--------\ncommit: None\npython: 3.7.3 |Anaconda| (default)\n[GCC 7.3.0]\nOS: Linux\n"
    "numpy: 1.16.4\nscipy: 1.3.0\n",
    "pinned": "astroid==2.9.3\npylint==2.12.2\nmypy==0.931\nisort==5.10.1\n",
    "json": '## System\n\n{\n  "chardet": {\n    "version": null\n  },\n  "idna": {\n    "version": "3.3"\n  }\n}\n',
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_of_versions_goes_with_its_heading(table: str) -> None:
    kept = report_text(f"{WRITTEN}\n{table}\nIt worked before.")
    assert kept.split() == f"{WRITTEN} It worked before.".split()


@pytest.mark.parametrize(
    "heading",
    [
        "**Describe the bug**",
        "### Expected behaviour",
        "Steps to reproduce the behavior:",
        "#### MCVE Code Sample",
        "## What did you expect to happen?",
        "If applicable, add screenshots to help explain your problem.",
        "Versions:",
        "_Actual results_",
    ],
)
def test_headings_of_a_form_go(heading: str) -> None:
    assert report_text(f"Rows are lost\n{heading}\nThey are gone.").split() == "Rows are lost They are gone.".split()


@pytest.mark.parametrize(
    "line",
    [
        "Expected behavior of `load()` is to read once.",
        "The environment is read twice.",
        "context",
        "# rows are described by the project",
    ],
)
def test_what_only_begins_as_a_heading_does_stays(line: str) -> None:
    assert report_text(f"Rows are lost\n{line}\nThey are gone.") == f"Rows are lost\n{line}\nThey are gone."


def test_a_report_whose_title_is_such_a_heading_keeps_it() -> None:
    assert report_text("Additional context\nis not read.") == "Additional context\nis not read."


def test_comments_of_a_template_and_addresses_go() -> None:
    text = "<!-- Please search first.\n numpy -->Rows are lost. See https://a.org/numpy/1?a=b for more.\n<!-- open"
    assert report_text(text).split() == "Rows are lost. See for more.".split()


def test_what_somebody_wrote_stays_as_it_is() -> None:
    for text in ("", "one line", WRITTEN, "a: 1\nb: 2\nc: 3\nd: 4\ne: 5", "- first\n- second\n- third\n- fourth\n"):
        assert report_text(text) == text


@pytest.mark.parametrize(
    ("lines", "is_table"),
    [
        pytest.param(["numpy: 1.16.4", "OS: Linux", "arch: x86"], False, id="three lines are no table"),
        pytest.param(["numpy: 1.16.4", "OS: Linux", "arch: x86", "user: me"], False, id="one in four tells a version"),
        pytest.param(["numpy: 1.16.4", "scipy: 1.3.0", "OS: Linux", "arch: x86"], True, id="two in four do"),
        pytest.param(["numpy: 1.16.4", "a: 1.2", "OS: Linux", "arch: x86", "b: c", "d: e"], True, id="a third do"),
        pytest.param(["numpy: 1.16.4", "a: 1.2", "OS: Linux", "arch: x86", "b: c", "d: e", "f: g"], False, id="less"),
    ],
)
def test_what_is_a_table_of_versions(lines: list[str], is_table: bool) -> None:
    text = "It fails.\n" + "\n".join(lines) + "\nIt worked."
    assert report_text(text).split() == (["It", "fails.", "It", "worked."] if is_table else text.split())


def test_packages_that_are_only_listed_are_not_asked_for() -> None:
    report = f"Reading a file twice closes it\n{WRITTEN * 3}\n{TABLES['key and value']}"
    question = parse_question(report)
    assert question.kind == "issue"
    assert "read" in question.terms and "numpi" not in question.terms
    assert question.text == report, "what was asked is told as it was"
    assert "numpi" in parse_question("numpy: 1.16.4").terms, "few words are what is asked for"


def test_what_a_program_printed_is_no_table_of_versions() -> None:
    text = "Rates are wrong\nrate 1.5\nsale 2.5\nlease 2.6\nfee 2.75"
    assert report_text(text) == text


def test_ticked_boxes_and_folds_are_a_forms() -> None:
    text = "Rows are lost\n- [x] I have searched the issues\n<details><summary>Rows</summary>\n- [ ] of two\n</details>"
    assert report_text(text).split() == "Rows are lost Rows - [ ] of two".split()
    assert report_text("- [x] is not read\nat all") == "- [x] is not read\nat all", "a title stays"
