"""Outlines of prose documents: what is a heading, of which level, and what front matter says."""

from __future__ import annotations

import pytest

from aurora_indexer.documents import markdown, restructuredtext


@pytest.mark.parametrize(
    ("front", "title", "about"),
    [
        pytest.param("title: A\ndescription: b", "A", "b", id="a title and what it is about"),
        pytest.param("summary: b\ndescription: c", "", "b", id="of summary and description the first"),
        pytest.param("summary:\ndescription: c", "", "c", id="that says something"),
        pytest.param("summary: >\n  b\ndescription: c", "", "c", id="in its own line"),
        pytest.param("title: A\ntitle: B", "B", "", id="of titles the last"),
        pytest.param("Title: 'A'\nTITLED: x", "A", "", id="in any case, without quotes, and by the whole word"),
        pytest.param("  title: A\nmy_title: B", "", "", id="at the line's beginning"),
    ],
)
def test_what_front_matter_says(front: str, title: str, about: str) -> None:
    found = markdown.outline(f"---\n{front}\n---\n# Heading\n")
    assert (found.title, found.about) == (title, about)
    assert [each.text for each in found.headings] == ["Heading"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        pytest.param("---\ntitle: A\n...\n", "A", id="YAML may end with dots"),
        pytest.param('+++\ntitle = "A"\n+++\n', "A", id="TOML has plus signs"),
        pytest.param("+++\ntitle = A\n...\n", "", id="and ends with them"),
        pytest.param("---\ntitle: A\n+++\n", "", id="each with its own"),
        pytest.param("---\ntitle: A\n", "", id="what does not end is none"),
        pytest.param("\n---\ntitle: A\n---\n", "", id="it begins the file"),
        pytest.param("---\n" + "x: y\n" * 198 + "title: A\n---\n", "", id="two hundred lines are looked at"),
    ],
)
def test_where_front_matter_ends(text: str, title: str) -> None:
    assert markdown.outline(text).title == title


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        pytest.param("# One\n### Three ###\n#no\n####### no\n", [(1, "One"), (3, "Three")], id="marks and a space"),
        pytest.param("# C#\n# a # b#\n", [(1, "C#"), (1, "a # b#")], id="a sharp that belongs to a word stays"),
        pytest.param("One\n===\nTwo\nlines\n---\n", [(1, "One"), (2, "Two lines")], id="underlined"),
        pytest.param("- item\n---\n\n> said\n---\n", [], id="a rule below a list or a quote underlines nothing"),
        pytest.param("a\nb\nc\n---\n", [(2, "a b c")], id="three lines are a heading"),
        pytest.param("a\nb\nc\nd\n---\n", [], id="nor does one below a long paragraph"),
        pytest.param("```\n# no\n~~~\n# no\n```\n# yes\n", [(1, "yes")], id="code ends with the mark that began it"),
        pytest.param("<!--\n# no\n-->\n<!-- one -->\n# yes\n", [(1, "yes")], id="comments hide, over lines or in one"),
        pytest.param("```a`b\n# yes\n", [(1, "yes")], id="a line with ticks within is no fence"),
    ],
)
def test_what_is_a_heading_of_markdown(text: str, headings: list[tuple[int, str]]) -> None:
    assert [(each.level, each.text) for each in markdown.outline(text).headings] == headings


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        pytest.param("A\n=\n", [], id="one sign underlines nothing"),
        pytest.param("One\n===\n\nTwo\n---\n\nOne\n===\n", [(1, "One"), (2, "Two"), (1, "One")], id="as marks appear"),
        pytest.param("One\n---\n\nTwo\n===\n", [(1, "One"), (2, "Two")], id="whichever comes first"),
        pytest.param(
            "===\nOne\n===\n\nTwo\n===\n\n===\nOne\n===\n",
            [(1, "One"), (2, "Two"), (1, "One")],
            id="the same mark above and below is another level",
        ),
        pytest.param("===\nOne\n---\n", [], id="which has to be the same"),
        pytest.param("Longer\n====\n", [], id="and as long as the title"),
        pytest.param("  One\n=====\n", [], id="an indented title has a line above"),
        pytest.param("=====\n One\n=====\n", [(1, "One")], id="as this has"),
        pytest.param("said\nOne\n===\n", [], id="and it begins a paragraph"),
        pytest.param(
            "".join(f"AA\n{mark * 2}\n\n" for mark in "=-`:'\"~"),
            [(level, "AA") for level in (1, 2, 3, 4, 5, 6, 6)],
            id="six levels",
        ),
    ],
)
def test_what_is_a_heading_of_restructuredtext(text: str, headings: list[tuple[int, str]]) -> None:
    assert [(each.level, each.text) for each in restructuredtext.outline(text).headings] == headings


def test_comments_and_what_is_indented_are_no_prose() -> None:
    found = restructuredtext.outline("Said.\n\n.. note:: not\n\n  code\n\nSaid again\nand on.\n")
    assert [each.prose for each in found.blocks] == [True, False, False, True]
