"""Excerpts: signature, first sentence, telling lines, gaps where something is left out."""

from __future__ import annotations

from aurora_memory.chunk_text import GAP, Line
from aurora_memory.recall.excerpts import MAX_LINES, excerpt

SOURCE = '''@cached
def expand(
    template: str,
    values: dict,
) -> str:
    """Expand a template.  And more
    of it.

    A second paragraph.
    """
    first = 1
    second = 2

    third = 3
    operator = template[0]
    fourth = 4
    fifth = 5
    return first'''

SIGNATURE = "def expand(template: str, values: dict) -> str"
DOC = "Expand a template.  And more\nof it.\n\nA second paragraph."


def numbered(source: str, start: int = 1) -> list[Line]:
    return list(enumerate(source.split("\n"), start))


def text(lines: list[Line]) -> str:
    return "\n".join(line for _, line in lines)


def test_signature_sentence_and_the_lines_that_match_with_one_around() -> None:
    lines = excerpt(numbered(SOURCE), SIGNATURE, 2, DOC, ["oper"])
    assert text(lines) == "\n".join(
        [
            SIGNATURE,
            '    """Expand a template.  And more',
            "    …",
            "    third = 3",
            "    operator = template[0]",
            "    fourth = 4",
            "    …",
        ]
    )
    assert [number for number, _ in lines] == [2, 6, GAP, 14, 15, 16, GAP]


def test_numbers_are_those_of_the_file() -> None:
    source = numbered(SOURCE, 101)
    by_number = dict(source)
    for number, line in excerpt(source, SIGNATURE, 102, DOC, ["oper"])[1:]:
        assert number == GAP or by_number[number] == line


def test_the_best_part_of_a_chunk_comes_first_unless_other_lines_have_more() -> None:
    body = "def f():\n" + "\n".join(f"    word_{n} = other" for n in range(200)) + "\n    last = word + more"
    lines = excerpt(numbered(body), "def f()", 1, "", ["word"], focus=(100, 120))
    shown = [number for number, _ in lines if number != GAP]
    assert shown[0] == 1 and all(99 <= number <= 121 for number in shown[1:]) and len(shown) > 10
    lines = excerpt(numbered(body), "def f()", 1, "", ["word", "more"], focus=(100, 120), most=3)
    assert [number for number, _ in lines] == [1, GAP, 201, 202]
    assert excerpt(numbered(body), "def f()", 1, "", ["word", "more"], focus=(100, 120), most=2) == lines, (
        "just so many"
    )
    silent = excerpt(numbered(body), "def f()", 1, "", [], focus=(100, 120))
    assert [number for number, _ in silent if number != GAP] == [1, 100, 101, 102]


def test_the_shortest_excerpt_is_signature_and_sentence() -> None:
    lines = excerpt(numbered(SOURCE), SIGNATURE, 2, DOC, ["oper"], most=0)
    assert [number for number, _ in lines] == [2, 6, GAP]


def test_an_excerpt_is_bounded_however_much_matches() -> None:
    body = "def f():\n" + "\n".join("    same = same" for _ in range(50_000))
    assert len(excerpt(numbered(body), "def f()", 1, "", ["same"])) <= 2 * MAX_LINES + 5


def test_where_nothing_matches_it_is_the_beginning() -> None:
    lines = excerpt(numbered(SOURCE), SIGNATURE, 2, "", [])
    assert text(lines).startswith(SIGNATURE + "\n" + '    """Expand a template.')
    assert lines[-1] == (GAP, "    …")


def test_nothing_of_nothing() -> None:
    assert excerpt([], "def f()", 1, "Doc.", ["f"]) == []


def test_a_section_of_a_document_begins_with_its_heading() -> None:
    section = "## Prices\n\nAll prices are in cents.\n\nTaxes are added late.\n\nDiscounts come first."
    lines = excerpt(numbered(section, 5), "## Prices", 5, "All prices are in cents.", ["discount"])
    assert text(lines) == "## Prices\nAll prices are in cents.\n…\nDiscounts come first."


def test_documentation_that_goes_on_where_the_text_ends_is_shown_as_far_as_it_is_there() -> None:
    read = [(1, "def f():"), (2, '    """One')]
    assert excerpt(read, "def f()", 1, "One\nof two\nof three", []) == [(1, "def f()"), (2, '    """One')]


def test_of_lines_that_tell_as_much_the_first_are_shown() -> None:
    body = "def f():\n" + "\n".join(f"    word_{n} = other" for n in range(20))
    lines = excerpt(numbered(body), "def f()", 1, "", ["word"], most=4)
    assert [number for number, _ in lines if number != GAP] == [1, 2, 3, 4, 5]


def test_where_nothing_tells_more_three_lines_with_text_are_shown_and_no_more_than_are_wanted() -> None:
    body = "def f():\n\n    one = 1\n\n    two = 2\n    three = 3\n    four = 4"
    for most, shown in ((9, [1, 3, 5, 6]), (2, [1, 3, 5])):
        lines = excerpt(numbered(body), "def f()", 1, "", [], most=most)
        assert [number for number, _ in lines if number != GAP] == shown


def test_of_a_first_sentence_that_does_not_end_three_lines_are_shown() -> None:
    said = "One\nand two\nand three\nand four."
    body = 'def f():\n    """One\n    and two\n    and three\n    and four.\n    """\n    return 1'
    lines = excerpt(numbered(body), "def f()", 1, said, [], most=0)
    assert [number for number, _ in lines if number != GAP] == [1, 2, 3, 4]
