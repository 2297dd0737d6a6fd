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
    assert named(source, "a.js") == ["function f 1-1", "method A.g 2-2", "function h 4-4", "method i 5-5"]


def test_all_ways_to_require() -> None:
    source = (
        'const a = require("./a")\nvar b = require("./b")\nrequire("./c")\nconst { d } = require("./d").inner\n'
        'var e = require("./e").inner\nf(require("./f"))\nconst g = require(name)\nconst h = other("./h")\n'
    )
    modules = [entry.module for entry in parse_file("a.js", source.encode()).imports]
    assert modules == ["./a", "./b", "./c", "./d"]


def test_what_is_assigned_to_a_modules_exports_is_given_away() -> None:
    source = (
        "exports = module.exports = a\nmodule.exports.b = c\nexports.d = e\nexports.f = f\nmodule . exports = g;\n"
        "module.exports[0] = h\nmy.exports = i\nexportsOf = j\nmodule.exports = k()\nmodule.exports = { l }\n"
    )
    assert parse_file("a.js", source.encode()).imports == (
        Import("", "a", "module.exports"),
        Import("", "c", "b"),
        Import("", "e", "d"),
        Import("", "g", "module.exports"),
    )


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


def test_named_functions_and_classes_that_are_handed_over() -> None:
    source = (
        "define(request, 'ip', function ip() {\n  return other(function () {});\n});\n"
        "const Panel = observer(class Panel2 { render() {} });\n"
        "(function start() { function inner() {} })();\n"
        "h = function hidden() {};\n"
        "each(function* walk() {});\n"
    )
    assert named(source, "a.js") == [
        "function ip 1-3",
        "class Panel2 4-4",
        "method Panel2.render 4-4",
        "function start 5-5",
        "function start.inner 5-5",
        "function hidden 6-6",
        "function walk 7-7",
    ]


def test_a_function_that_a_name_stands_for_is_one_definition() -> None:
    source = (
        "const a = function b() {};\nx.y = function z() {};\nconst M = memo(function Named() {});\n"
        "const o = { k: function kk() {} };\nclass C { p = function q() {} }\nexport default (function r() {});\n"
    )
    assert named(source, "a.js") == [
        "function a 1-1",
        "method x.y 2-2",
        "function M 3-3",
        "method o.k 4-4",
        "class C 5-5",
        "method C.p 5-5",
        "function default 6-6",
    ]


def test_what_a_module_exports_has_its_own_name() -> None:
    assert named("module.exports = class App { run() {} };\n", "a.js") == ["class App 1-1", "method App.run 1-1"]
    assert named("module.exports = function build() {};\n", "a.js") == ["function build 1-1"]
    assert named("module.exports = function () {};\n", "a.js") == ["function exports 1-1"]


def test_overloads_belong_to_what_they_stand_above() -> None:
    source = (
        "/** Reads. */\nexport function read(path: string): A;\nexport function read(path: URL): B;\n"
        "export function read(path: any) {}\n"
        "class C {\n  find(id: string): A;\n  find(id: number): B;\n  find(id: any) {}\n  other(): void;\n}\n"
        "function far(a: string): A;\n\nfunction far(a: any) {}\n"
        "export function only(): void;\n"
        "interface I { f(): void; }\n"
    )
    assert named(source) == [
        "function read 1-4",
        "class C 5-10",
        "method C.find 6-8",
        "method C.other 9-9",
        "function far 11-11",
        "function far 13-13",
        "function only 14-14",
        "interface I 15-15",
    ]
    (read, *_) = [c for c in parse_file("a.ts", source.encode()).chunks if c.name == "read"]
    assert (read.docstring, read.signature) == ("Reads.", "export function read(path: any)")
