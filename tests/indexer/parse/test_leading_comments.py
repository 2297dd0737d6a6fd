"""What stands directly above a definition and belongs to it: a row for each rule."""

from __future__ import annotations

import pytest

from aurora_indexer.workers.process_file import parse_source


@pytest.mark.parametrize(
    ("path", "above", "first", "said"),
    [
        pytest.param("a.go", "// F does.\n// More.\n", 3, "F does.\nMore.", id="comments of several lines"),
        pytest.param("a.go", "// Far.\n\n// Near.\n", 5, "Near.", id="none with a blank line below it"),
        pytest.param("a.go", "// Far.\n\n", 5, "", id="also where it is the only one"),
        pytest.param("a.go", "    // odd\n", 4, "", id="none that is indented otherwise"),
        pytest.param("a.go", "var x = 1 // its own\n", 4, "", id="none that ends a line of code"),
        pytest.param("a.rs", "// near\n#[test]\n", 3, "near", id="one above an attribute"),
        pytest.param("a.rs", "#[test]\n// near\n", 3, "near", id="one below it"),
        pytest.param("a.rs", "#[test] // of the test\n", 3, "", id="one that ends an attribute's line says nothing"),
        pytest.param(
            "a.rs", "// near\n#[test] // of the test\n", 3, "near", id="and keeps none above it from being found"
        ),
        pytest.param("a.ts", "/** Says. */\n", 3, "Says.", id="a block"),
        pytest.param("a.ts", "/** Says. */\n\n\n", 6, "", id="a block with blank lines below it"),
    ],
)
def test_above_a_definition(path: str, above: str, first: int, said: str) -> None:
    text = {"go": "func F() {}\n", "rs": "fn f() {}\n", "ts": "export function f() {}\n"}[path[2:]]
    head = {"go": "package a\n\n", "rs": "const A: u8 = 1;\n\n", "ts": "const a = 1;\n\n"}[path[2:]]
    parsed = parse_source(path, (head + above + text).encode())
    assert parsed is not None
    (found,) = [each for each in parsed.chunks if each.name.lower() == "f"]
    assert (found.line_start, found.docstring) == (first, said)


@pytest.mark.parametrize(
    ("first", "indent", "said"),
    [("// Says.\n", 0, "Says."), ("  // Says.\n", 2, "Says."), ("  // Odd.\n", 0, ""), ("a();// Of a.\n", 4, "")],
)
def test_of_the_first_line_it_is_no_other(first: str, indent: int, said: str) -> None:
    parsed = parse_source("a.js", f"{first}{' ' * indent}function f() {{}}\n".encode())
    assert parsed is not None
    assert [each.docstring for each in parsed.chunks if each.name == "f"] == [said]
