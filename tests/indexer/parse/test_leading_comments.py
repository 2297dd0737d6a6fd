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


@pytest.mark.parametrize(
    ("path", "source", "first", "said"),
    [
        pytest.param(
            "a.ts", '// Routes.\n// All.\n\nimport a from "b";\n', 1, "Routes.\nAll.", id="what stands together"
        ),
        pytest.param("a.ts", "// Routes.\n\n// Of f.\nexport function f() {}\n", 1, "Routes.", id="not a definition's"),
        pytest.param("a.ts", "// A.\n\n// B.\n\nexport const c = 1;\n", 1, "A.", id="the first of several"),
        pytest.param("a.ts", "// Copyright A\n\n/* Routes. */\n\nexport const c = 1;\n", 3, "Routes.", id="no licence"),
        pytest.param("a.ts", "/* eslint-disable */\n\n// Routes.\n\nconst c = 1;\n", 3, "Routes.", id="no tool's"),
        pytest.param("a.ts", "/* global it */\n\n// Routes.\n\nconst c = 1;\n", 3, "Routes.", id="no names for a tool"),
        pytest.param("a.ts", "// Global state.\n\nconst c = 1;\n", 1, "Global state.", id="that begin like a sentence"),
        pytest.param("a.js", "'use strict'\n// Late.\n\nconst c = 1\n", 4, "", id="none behind code"),
        pytest.param("a.c", "/* Routes. */\n#include <a.h>\nint f(void) { return 1; }\n", 1, "Routes.", id="of C"),
        pytest.param("a.lua", "-- Routes.\n\nlocal function f() end\n", 1, "Routes.", id="of Lua"),
        pytest.param("a.sh", "#!/bin/sh\n# Routes.\nset -e\nf() { :; }\n", 2, "Routes.", id="of shell, no loader's"),
        pytest.param("a.rb", "# frozen_string_literal: true\n\n# Routes.\n\nA = 1\n", 3, "Routes.", id="of Ruby"),
        pytest.param("a.py", "# Routes.\nimport os\nA = 1\n", 1, "Routes.", id="of Python without a docstring"),
    ],
)
def test_at_the_head_of_a_file(path: str, source: str, first: int, said: str) -> None:
    parsed = parse_source(path, source.encode())
    assert parsed is not None
    (module,) = [each for each in parsed.chunks if each.name == "<module>"]
    assert (module.line_start, module.docstring) == (first, said)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        pytest.param("a.lua", "#!/usr/bin/lua\n-- Of f.\nlocal function f() end\n", id="of the first definition"),
        pytest.param(
            "a.c", "/* SPDX-License-Identifier: MIT */\n#include <a.h>\nint f(void) { return 1; }\n", id="a licence"
        ),
        pytest.param("a.ts", 'import a from "b";\n\n// Later.\n\nexport function f() {}\n', id="behind imports"),
    ],
)
def test_no_comment_of_a_file(path: str, source: str) -> None:
    parsed = parse_source(path, source.encode())
    assert parsed is not None
    assert "<module>" not in [each.name for each in parsed.chunks]
