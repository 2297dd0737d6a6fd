"""Whatever bytes a file holds: parsing ends, in time, without an exception, with lines that exist."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aurora_indexer import ParseTimeout, languages
from aurora_indexer.parse import chunk_parser
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import ParsedFile
from tests.growth import grows_with_length
from tests.shares import examples, long

SAMPLES = sorted((Path(__file__).parents[1] / "samples").iterdir())
SOURCES = {file.name: file.read_bytes() for file in SAMPLES if file.is_file()}


def check(path: str, source: bytes) -> ParsedFile:
    parsed = parse_file(path, source)
    lines = source.count(b"\n") + 1
    names = set()
    for c in parsed.chunks:
        assert 1 <= c.line_start <= c.line_end <= lines
        assert c.parts and all(c.line_start <= p.line_start <= p.line_end <= c.line_end for p in c.parts)
        assert c.name and "\n" not in c.signature and len(c.signature) <= 300 and len(c.docstring) <= 2000
        assert (c.name, c.ordinal) not in names
        names.add((c.name, c.ordinal))
    return parsed


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(sorted(SOURCES)), data=st.data())
def test_mutated_samples(name: str, data: st.DataObject) -> None:
    source = SOURCES[name]
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, min(len(source), start + 60)))
    inserted = data.draw(
        st.one_of(
            st.binary(max_size=12), st.sampled_from([b"(", b"}", b'"', b"\n", b"\r\n", b"/*", b'"""', b"<", b"::"])
        )
    )
    check(name, source[:start] + inserted + source[end:])


@settings(max_examples=examples(100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(sorted(SOURCES)), cut=st.floats(0, 1))
def test_truncated_samples(name: str, cut: float) -> None:
    source = SOURCES[name]
    check(name, source[: int(len(source) * cut)])


@settings(max_examples=examples(60), deadline=None)
@given(name=st.sampled_from(sorted(SOURCES)), source=st.binary(max_size=300))
def test_any_bytes(name: str, source: bytes) -> None:
    check(name, source)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_next_to_nothing(name: str) -> None:
    for source in (b"", b"\n", b"\xef\xbb\xbf", b" \t\r\n\r\n", b"\x80"):
        assert [c for c in check(name, source).chunks if c.kind != "module"] == [], source


def repeated(unit: bytes, head: bytes = b"", middle: bytes = b"", tail: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: head + unit * (count := size // len(unit + tail)) + middle + tail * count


def numbered(form: bytes, head: bytes = b"", between: bytes = b"", tail: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: head + between.join(form % n for n in range(size // len(form + between))) + tail


def indented(line: bytes) -> Callable[[int], bytes]:
    return lambda size: b"".join(b" " * n + line for n in range(math.isqrt(2 * size)))


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "parens.py": repeated(b"(", head=b"x = ", middle=b"1", tail=b")"),
    "functions.js": repeated(b"function a(){", tail=b"}"),
    "functions.py": indented(b"def f():\n"),
    "objects.js": repeated(b"{b:", head=b"const a = ", middle=b"1", tail=b"}"),
    "declarators.ts": numbered(b"f%d=()=>1", head=b"const ", between=b","),
    "declared_calls.ts": numbered(b"f%d=memo(()=>1,{})", head=b"const ", between=b","),
    "pairs.js": numbered(b"f%d:()=>1", head=b"module.exports = {", between=b",", tail=b"}"),
    "members.js": numbered(b"exports.f%d = () => 1;", between=b""),
    "required.js": repeated(b".a()", head=b"require('x')"),
    "imports.ts": repeated(b"import(", middle=b"'x'", tail=b")"),
    "dynamic.ts": numbered(b"import('m%d')", head=b"f(", between=b",", tail=b")"),
    "unclosed.py": repeated(b"("),
    "unclosed.c": repeated(b"{"),
    "unclosed.java": repeated(b"class A { void f() { "),
    "chain.js": repeated(b".a()", head=b"x"),
    "generics.cpp": repeated(b"A<"),
    "sum.py": repeated(b"a+", head=b"x = ", middle=b"a"),
    "list.py": repeated(b"1,", head=b"x = [", middle=b"]"),
    "encoded.ts": repeated(b"QUJD", head=b'const x = "', middle=b'"'),
    "blank.py": repeated(b"\n"),
    "comments.go": repeated(b"// c\n"),
    "strings.py": repeated(b'"""a"""\n'),
    "name.py": repeated(b"a", head=b"def ", middle=b"(): pass"),
    "macros.cpp": repeated(b"\nABC_DEF"),
    "macros_behind.cpp": repeated(b") ABC(x)"),
    "returned.cpp": repeated(b") -> a"),
    "macros_ahead.cpp": repeated(b"\nABC a<a>::a<a>::a<a>::a<a>::a "),
    "brackets_ahead.cpp": repeated(b"\nABC a<"),
    "typed.cpp": repeated(b"ABC(int "),
    "pushed.cpp": repeated(b"PUSH", head=b"\n"),
    "nullable.cpp": repeated(b"* _Nonnull A_NONNULL"),
    "expressions.js": repeated(b"f(function a() {", tail=b"})"),
    "overloads.ts": repeated(b"function f(): void;\n"),
    "commented.ts": repeated(b"/**/", head=b"function f(): void;"),
    "semicolons.ts": repeated(b";", head=b"function f(): void;"),
    "elements.tsx": repeated(b"<a>", head=b"const x = ", tail=b"</a>"),
    "unclosed.rb": repeated(b"class A\n def f\n"),
    "interpolated.rb": repeated(b'"#{', head=b"x = "),
    "unclosed.cs": repeated(b"class A { void F() { "),
    "generics.cs": repeated(b"A<"),
    "directives.cs": repeated(b"#if A\n"),
    "unclosed.php": repeated(b"<?php class A { function f() { "),
    "pages.php": repeated(b"<?php ?>"),
    "unclosed.kt": repeated(b"class A { fun f() { "),
    "annotations.kt": repeated(b"\n@a"),
    "annotated.kt": repeated(b"] @a "),
    "unclosed.swift": repeated(b"class A { func f() { "),
    "chain.swift": repeated(b".b()", head=b"a"),
    "interpolated.swift": repeated(b'"\\('),
    "indented.scala": indented(b"class A:\n"),
    "unclosed.lua": repeated(b"function f() "),
    "tables.lua": repeated(b"{", head=b"a = "),
    "substituted.sh": repeated(b"$("),
    "heredocs.sh": repeated(b"cat <<EOF\n"),
    "heads.sh": repeated(b"a() {\n("),
    "nested_heads.sh": lambda size: b"".join(b" " * (n % 40) + b"a() {\n(" for n in range(size // 28)),
    "one_line.sh": repeated(b"a() { ( }\n"),
    "flagged.zsh": repeated(b'${(f)"$('),
    "expansions.zsh": repeated(b"${", middle=b"a:b", tail=b"}"),
    "qualified.zsh": repeated(b"(a/"),
    "conditions.c": repeated(b"#if A\n(", head=b"int f(\n", tail=b"\n#endif"),
    "conditions.cpp": repeated(b"int f(\n#if A\n{\n#else\n#endif\n"),
    "statements.cpp": repeated(b"class A {\n  ABC(x)\n"),
    "file_directives.cs": repeated(b"#:a\n"),
    "tests.bats": repeated(b'@test "a'),
    "random.py": lambda size: random.Random(1).randbytes(size),
    "random.rs": lambda size: random.Random(2).randbytes(size),
}
NESTED = {
    "arrows.ts": repeated(b"const a = () => {", tail=b"}"),
    "callbacks.js": repeated(b"const x = f(() => {", tail=b"})"),
    "memos.ts": repeated(b"const x = memo(() => {", tail=b"})"),
}
"""The same, for what asks each node for its parent, which tree-sitter finds from the root down."""


def test_every_language_has_a_hostile_source() -> None:
    sources = {Path(each).suffix for each in (*HOSTILE, *NESTED)}
    assert {each.name for each in languages.LANGUAGES if sources.isdisjoint(each.suffixes)} == set()


@pytest.mark.parametrize("path", sorted(HOSTILE))
@pytest.mark.long
def test_anything_takes_as_long_as_it_is(path: str) -> None:
    assert grows_with_length(lambda size: check(path, HOSTILE[path](size)), 8 << 10, 64 << 10)


@pytest.mark.parametrize("path", sorted(NESTED))
@pytest.mark.long
def test_five_hundred_levels_take_as_long_as_they_are(path: str) -> None:
    assert grows_with_length(lambda size: check(path, NESTED[path](size)), 1 << 10, 8 << 10)
    check(path, NESTED[path](32 << 10))


HOPELESS = {
    "arithmetic.sh": b"((1 " * 20_000,
    "comments.kt": b"/* " * 30_000,
    "unclosed.scala": b"class A { def f = { " * 6_000,
    "signs.cs": b") + " * 2500,
    "comments.swift": b"/* " * 3000,
}


@pytest.mark.parametrize("path", sorted(HOPELESS))
def test_a_watched_grammar_gives_up_on_what_no_one_writes(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunk_parser, "_PATIENCE", 0.05)
    monkeypatch.setattr(chunk_parser, "_SLOWEST", 1_000_000)
    with pytest.raises(ParseTimeout, match=re.escape(path)):
        parse_file(path, HOPELESS[path])


@pytest.mark.parametrize("size", [20_000, long(130_000)])
def test_deep_nesting_keeps_the_outer_definitions(size: int) -> None:
    found = check("functions.js", HOSTILE["functions.js"](size)).chunks
    assert 40 < len(found) < 100
    assert found[0].line_end == 1


def test_large_files_are_parsed_like_small_ones() -> None:
    """Text predicates of queries read the source of a large file in another way than that of a small one."""
    source = b"".join(
        b'const m%d = require("m%d");  // %s\nexport const C%d = memo(() => m%d());\n' % (n, n, b"-" * 250, n, n)
        for n in range(500)
    )
    parsed = check("large.ts", source)
    assert len(source) > 1 << 17
    assert len(parsed.imports) == 500
    assert len([c for c in parsed.chunks if c.kind == "function"]) == 500
