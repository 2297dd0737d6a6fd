"""What JavaScript and TypeScript nodes hold, where the query captures them without looking inside."""

from __future__ import annotations

import pytest

from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import Import


def named(source: str, path: str = "a.ts") -> list[str]:
    """Kind, name and lines of a source's chunks but the module's."""
    chunks = parse_file(path, source.encode()).chunks
    return [f"{c.kind} {c.name} {c.line_start}-{c.line_end}" for c in chunks if c.kind != "module"]


@pytest.mark.parametrize("path", ["a.ts", "a.tsx", "a.js"])
def test_calls_without_anything_in_them_define_nothing(path: str) -> None:
    source = "export default f()\nconst a = memo()\nconst b = g({})\nexport {}\nnew A\nx.y = z()\nawait f()\n"
    assert named(source, path) == []


def test_a_declaration_belongs_to_its_first_function_only() -> None:
    source = "const\n  a = () => 1,\n  b = () => 2\nconst\n  c = 3,\n  d = () => 4\n"
    assert named(source) == ["function a 1-2", "function b 3-3", "function d 6-6"]


def test_functions_that_functions_are_made_of() -> None:
    source = (
        "const A = memo(() => 1)\n"
        "const B = React.memo(forwardRef(function () {}))\n"
        "const C = other(() => 1)\n"
        "export const D = debounce(\n  (x) => x,\n  300,\n)\n"
        "const { e } = memo(() => 1)\n"
    )
    assert named(source) == ["function A 1-1", "function B 2-2", "function D 4-7"]


def test_functions_of_objects_that_are_handed_over() -> None:
    source = (
        "const routes = register({\n  find() {},\n}, { all: () => 1 })\n"
        "export default make({ run() {} }, { not() {} })\n"
    )
    assert named(source) == ["method routes.find 2-2", "method routes.all 3-3", "method run 4-4"]


def test_what_is_assigned_to_a_member() -> None:
    source = (
        "exports.f = () => 1\nA.prototype.g = function () {}\na[0] = () => 2\nh = () => 3\nexports.o = { i() {} }\n"
    )
    assert named(source, "a.js") == ["function f 1-1", "method A.g 2-2", "method i 5-5"]


def test_all_ways_to_require() -> None:
    source = (
        'const a = require("./a")\nvar b = require("./b")\nrequire("./c")\nconst { d } = require("./d").inner\n'
        'var e = require("./e").inner\nf(require("./f"))\nconst g = require(name)\nconst h = other("./h")\n'
    )
    modules = [entry.module for entry in parse_file("a.js", source.encode()).imports]
    assert modules == ["./a", "./b", "./c", "./d"]


def test_exports_and_dynamic_imports_are_imports() -> None:
    source = (
        'export { a as b } from "./a"\nexport * from "./c"\nexport { d }\nlet e = import("./e")\n'
        'f(import(/* webpackChunkName: "g" */ `./g`), import(h), import(i("j")), import())\n'
    )
    assert parse_file("a.ts", source.encode()).imports == (
        Import("./a", "a", "b"),
        Import("./c", "*"),
        Import("./e"),
        Import("./g"),
    )


def test_what_is_called_after_await_and_new() -> None:
    (chunk,) = parse_file("a.ts", b"function f() { new A(); new b.C<D>(1); await g<A>(1); await h.i<A>() }").chunks
    assert [(each.qualifier, each.name) for each in chunk.references] == [("", "A"), ("b", "C"), ("", "g"), ("h", "i")]
