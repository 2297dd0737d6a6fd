"""What is shown of a definition first: its signature in one line, and what the comments above it say."""

from __future__ import annotations

import pytest

from aurora_indexer.parse.signature import docstring_of_comments, docstring_of_string, signature


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("def a(\n    b,\n    c,\n):", "def a(b, c)"),
        ("int a() {", "int a()"),
        ("x :=", "x"),
        ("int a();", "int a()"),
        ("module A do", "module A"),
        ("function a() end", "function a()"),
        ("local a = function() ;end", "local a = function()"),
        ("def undo", "def undo"),
        ("def send", "def send"),
        ("a[ 1, ]", "a[1]"),
        ("a" * 300, "a" * 300),
        ("a" * 301, "a" * 299 + "…"),
    ],
)
def test_a_header_is_a_line(header: str, line: str) -> None:
    assert signature(header.encode()) == line


DIRECTIVES = "go: nolint eslint tslint @ts- prettier- rubocop: clang- noqa pylint: NOSONAR".split()


@pytest.mark.parametrize("directive", [*DIRECTIVES, "type: ignore"])
def test_what_is_said_to_tools_is_no_documentation(directive: str) -> None:
    assert docstring_of_comments([b"// Says.", f"//{directive}x".encode(), b"// More."]) == "Says.\nMore."
    assert docstring_of_comments([f"// Says {directive}".encode()]) == f"Says {directive}"


COMMENTS = [
    *("/* Says. */", "/** Says. */", "/*! Says. */", "// Says.", "/// Says.", "//! Says.", "# Says.", "## Says."),
    *("-- Says.", "--- Says.", "--[[ Says. ]]", "--[==[ Says. ]==]", "/**\n * Says.\n */", "=begin\nSays.\n=end"),
    "// ----\n// Says.\n// ====",
]


@pytest.mark.parametrize("comment", COMMENTS)
def test_a_comment_is_read_without_its_marks(comment: str) -> None:
    assert docstring_of_comments([comment.encode()]).strip() == "Says."


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("/// <summary>Says <see cref=\"T:A.B\"/>.</summary>\n/// <param name=\"x\">An x.</param>", "Says A.B.\nAn x."),
        ("/// <b>Says</b>", "<b>Says</b>"),
        ("/// <inheritdoc/>", ""),
        ("/// <remarks>Says.</remarks>", "Says."),
        ("/// <returns>Says.</returns>", "Says."),
        ("/// <typeparam name=\"T\">Says.</typeparam>", "Says."),
        ("/// <exception cref=\"E\">Says.</exception>", "Says."),
    ],
)  # fmt: skip
def test_documentation_of_tags_is_read_without_them(written: str, said: str) -> None:
    assert docstring_of_comments(written.encode().split(b"\n")) == said


@pytest.mark.parametrize(
    ("literal", "said"),
    [
        ('"""Says."""', "Says."),
        ("r'''Says.\n\n    More.\n      In.\n    '''", "Says.\n\nMore.\n  In."),
        ("'One ' 'two'", "One two"),
        ('"One "\n    f"two"', "One two"),
        ('"""a "\nb"""', 'a "\nb'),
        ('"""' + "x" * 2001 + '"""', "x" * 1999 + "…"),
    ],
)
def test_a_string_is_read_without_its_quotes(literal: str, said: str) -> None:
    assert docstring_of_string(literal.encode()) == said
