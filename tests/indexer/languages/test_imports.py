"""What import statements bind, language by language: a row for each way to write one."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from aurora_indexer.languages import imports
from aurora_memory.chunks import Import

Read = Callable[[str], list[Import]]


def told(found: list[Import]) -> str:
    """`module name alias` of each, `-` for what is not there, joined by commas."""
    return ", ".join(" ".join(part or "-" for part in (each.module, each.name, each.alias)) for each in found)


@pytest.mark.parametrize(
    ("read", "text", "bound"),
    [
        (imports.python, "import a.b as x, c", "a.b - x, c - -"),
        (imports.python, "from ..a import (b as c,\n    d,\n)", "..a b c, ..a d -"),
        (imports.python, "from . import b", ". b -"),
        (imports.python, "from .. a import b", "..a b -"),
        (imports.python, "from a import b, \\\n    c;", "a b -, a c -"),
        (imports.python, "from a import *", "a * -"),
        (imports.python, "from a import", ""),
        (imports.python, "import important", "important - -"),
        (imports.ecmascript, "import './a'", "./a - -"),
        (imports.ecmascript, "import a from './m'", "./m default a"),
        (imports.ecmascript, "import a, { b as c, type D, type as e } from `m`", "m default a, m b c, m D -, m type e"),
        (imports.ecmascript, "import * as z from 'm'", "m - z"),
        (imports.ecmascript, "import a, * as z from 'm'", "m default a, m - z"),
        (imports.ecmascript, "import type { A } from 'm'", "m A -"),
        (imports.ecmascript, "import type from 'm'", "m default type"),
        (imports.ecmascript, "export * from 'm'", "m * -"),
        (imports.ecmascript, "export * as z from 'm'", "m - z"),
        (imports.ecmascript, "export { a as b } from 'm'", "m a b"),
        (imports.ecmascript, "export { a as b, c, d as d }", "- a b"),
        (imports.ecmascript, "export default a;", "- a default"),
        (imports.ecmascript, "export default a()", ""),
        (imports.ecmascript, "module.exports = a", "- a module.exports"),
        (imports.ecmascript, "exports.b = a", "- a b"),
        (imports.ecmascript, "exports.a = a", ""),
        (imports.ecmascript, "const a = require('m')", "m - a"),
        (imports.ecmascript, "const a = require('m').b", "m b a"),
        (imports.ecmascript, "const { a, b: c, d = 1 } = require('m')", "m a -, m b c, m d -"),
        (imports.ecmascript, "require('m')", "m - -"),
        (imports.ecmascript, "import('m')", "m - -"),
        (imports.ecmascript, "import a = require('m')", "m - a"),
        (imports.go, 'import "a/b"', "a/b - -"),
        (imports.go, 'import (\n\tx "a/b"\n\t. "c"\n\t_ `d`\n)', "a/b - x, c - ., d - _"),
        (imports.rust, "use a::b::C;", "a::b C -"),
        (imports.rust, "pub use a::{self, b as c, d::{e, f}};", "a - -, a b c, a::d e -, a::d f -"),
        (imports.rust, "use a;", "a - -"),
        (imports.rust, "use a::*;", "a * -"),
        (imports.rust, "extern crate a as b;", "a - b"),
        (imports.rust, "use a::{b::{c}}, d;", "a::b c -, d - -"),
        (imports.java, "import a.b.C;", "a.b C -"),
        (imports.java, "import static a.B.c;", "a.B c -"),
        (imports.java, "import a.b.*;", "a.b * -"),
        (imports.java, "import A;", "A - -"),
        (imports.c, '#include "a/b.h"', "a/b.h - -"),
        (imports.c, "# include <a.h>", "a.h - -"),
        (imports.c, "#import <a.h>", "a.h - -"),
        (imports.ruby, "require 'a/b'", "a/b - -"),
        (imports.ruby, "require_relative 'a'", "./a - -"),
        (imports.ruby, "require_relative '../a'", "../a - -"),
        (imports.ruby, "require_relative '/a'", "/a - -"),
        (imports.ruby, "load('a.rb')", "a.rb - -"),
        (imports.ruby, "require ''", ""),
        (imports.csharp, "using A.B;", "A.B * -"),
        (imports.csharp, "using static A.B;", "A.B * -"),
        (imports.csharp, "using X = A.B.C;", "A.B C X"),
        (imports.csharp, "using X = C;", "C - X"),
        (imports.csharp, "global using global::A.B;", "A.B * -"),
        (imports.php, "use A\\B\\C;", "A.B C -"),
        (imports.php, "use A\\B\\C as D;", "A.B C D"),
        (imports.php, "use function A\\f;", "A f -"),
        (imports.php, "use A\\{B, C as D, function f};", "A B -, A C D, A f -"),
        (imports.php, "use A;", "A - -"),
        (imports.php, "require 'a.php';", "a - -"),
        (imports.php, "require __DIR__ . '/lib/a.php';", "lib/a.php - -"),
        (imports.kotlin, "import a.b.C", "a.b C -"),
        (imports.kotlin, "import a.b.C as D", "a.b C D"),
        (imports.kotlin, "import a.b.*", "a.b * -"),
        (imports.kotlin, "import a.`is`.C", "a.is C -"),
        (imports.kotlin, "import C as D", "C - D"),
        (imports.swift, "import A", "A - -"),
        (imports.swift, "import class A.B", "A B -"),
        (imports.swift, "@testable import A", "A - -"),
        (imports.scala, "import a.b.C", "a.b C -"),
        (imports.scala, "import a.b._", "a.b * -"),
        (imports.scala, "import a.b.*", "a.b * -"),
        (imports.scala, "import a.b.given", "a.b * -"),
        (imports.scala, "import a.{B, C => D, E as F, G => _}", "a B -, a C D, a E F"),
        (imports.scala, "import a.B, c.D", "a B -, c D -"),
        (imports.lua, "require('a.b')", "a.b - -"),
        (imports.shell, "source lib/a.sh", "lib/a.sh - -"),
        (imports.shell, ". ./a.sh", "./a.sh - -"),
        (imports.shell, 'source "$(dirname "$0")/a.sh"', "a - -"),
        (imports.shell, 'source "${DIR}/lib/a.sh"', "lib/a.sh - -"),
        (imports.shell, 'source "$FILE"', ""),
        (imports.shell, "source a.sh", "a - -"),
    ],
)  # fmt: skip
def test_a_statement_binds(read: Read, text: str, bound: str) -> None:
    assert told(read(text)) == bound
