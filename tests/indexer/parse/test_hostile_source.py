"""Whatever bytes a file holds: parsing ends, in time, without an exception, with lines that exist."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aurora_indexer import TooSlow
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import ParsedFile

SAMPLES = sorted((Path(__file__).parents[1] / "samples").iterdir())
SOURCES = {file.name: file.read_bytes() for file in SAMPLES if file.is_file()}
MIB = 1 << 20


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


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(sorted(SOURCES)), cut=st.floats(0, 1))
def test_truncated_samples(name: str, cut: float) -> None:
    source = SOURCES[name]
    check(name, source[: int(len(source) * cut)])


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(sorted(SOURCES)), source=st.binary(max_size=300))
def test_any_bytes(name: str, source: bytes) -> None:
    check(name, source)


@pytest.mark.parametrize("name", sorted(SOURCES))
@pytest.mark.parametrize("source", [b"", b"\n", b"\xef\xbb\xbf", b" \t\r\n\r\n", b"\x80"])
def test_next_to_nothing(name: str, source: bytes) -> None:
    assert [c for c in check(name, source).chunks if c.kind != "module"] == []


HOSTILE = {
    "parens.py": b"x = " + b"(" * 10_000 + b"1" + b")" * 10_000,
    "functions.js": b"function a(){" * 10_000 + b"}" * 10_000,
    "functions.py": b"".join(b" " * n + b"def f():\n" for n in range(1400)),
    "arrows.ts": b"const a = () => {" * 10_000 + b"}" * 10_000,
    "objects.js": b"const a = " + b"{b:" * 10_000 + b"1" + b"}" * 10_000,
    "callbacks.js": b"const x = f(() => {" * 20_000 + b"})" * 20_000,
    "memos.ts": b"const x = memo(() => {" * 20_000 + b"})" * 20_000,
    "declarators.ts": b"const " + b",".join(b"f%d=()=>1" % n for n in range(40_000)),
    "declared_calls.ts": b"const " + b",".join(b"f%d=memo(()=>1,{})" % n for n in range(20_000)),
    "pairs.js": b"module.exports = {" + b",".join(b"f%d:()=>1" % n for n in range(40_000)) + b"}",
    "members.js": b"".join(b"exports.f%d = () => 1;" % n for n in range(40_000)),
    "required.js": b"require('x')" + b".a()" * (MIB // 5),
    "imports.ts": b"import(" * 20_000 + b"'x'" + b")" * 20_000,
    "dynamic.ts": b"f(" + b",".join(b"import('m%d')" % n for n in range(40_000)) + b")",
    "unclosed.py": b"(" * MIB,
    "unclosed.c": b"{" * MIB,
    "unclosed.java": b"class A { void f() { " * 30_000,
    "chain.js": b"x" + b".a()" * (MIB // 4),
    "generics.cpp": b"A<" * 100_000,
    "sum.py": b"x = " + b"a+" * (MIB // 2) + b"a",
    "list.py": b"x = [" + b"1," * (MIB // 2) + b"]",
    "encoded.ts": b'const x = "' + b"QUJD" * (MIB // 4) + b'"',
    "blank.py": b"\n" * MIB,
    "comments.go": b"// c\n" * (MIB // 5),
    "strings.py": b'"""a"""\n' * (MIB // 8),
    "name.py": b"def " + b"a" * MIB + b"(): pass",
    "macros.cpp": b"\nABC_DEF" * (MIB // 8),
    "macros_behind.cpp": b") ABC(x)" * (MIB // 8),
    "returned.cpp": b") -> a" * (MIB // 6),
    "macros_ahead.cpp": b"\nABC a<a>::a<a>::a<a>::a<a>::a " * (MIB // 30),
    "brackets_ahead.cpp": b"\nABC a<" * (MIB // 7),
    "typed.cpp": b"ABC(int " * (MIB // 8),
    "pushed.cpp": b"\n" + b"PUSH" * (MIB // 4),
    "nullable.cpp": b"* _Nonnull A_NONNULL" * (MIB // 20),
    "expressions.js": b"f(function a() {" * 20_000 + b"})" * 20_000,
    "overloads.ts": b"function f(): void;\n" * (MIB // 20),
    "commented.ts": b"function f(): void;" + b"/**/" * (MIB // 4),
    "semicolons.ts": b"function f(): void;" + b";" * MIB,
    "unclosed.cs": b"class A { void F() { " * 30_000,
    "generics.cs": b"A<" * 100_000,
    "directives.cs": b"#if A\n" * 50_000,
    "unclosed.php": b"<?php class A { function f() { " * 30_000,
    "pages.php": b"<?php ?>" * (MIB // 8),
    "unclosed.kt": b"class A { fun f() { " * 30_000,
    "annotations.kt": b"\n@a" * (MIB // 3),
    "annotated.kt": b"] @a " * (MIB // 5),
    "unclosed.swift": b"class A { func f() { " * 30_000,
    "chain.swift": b"a" + b".b()" * (MIB // 4),
    "interpolated.swift": b'"\\(' * 50_000,
    "indented.scala": b"".join(b" " * n + b"class A:\n" for n in range(1200)),
    "unclosed.lua": b"function f() " * 30_000,
    "tables.lua": b"a = " + b"{" * 100_000,
    "substituted.sh": b"$(" * 50_000,
    "heredocs.sh": b"cat <<EOF\n" * 20_000,
    "heads.sh": b"a() {\n(" * 20_000,
    "nested_heads.sh": b"".join(b" " * (n % 40) + b"a() {\n(" for n in range(20_000)),
    "one_line.sh": b"a() { ( }\n" * 20_000,
    "flagged.zsh": b'${(f)"$(' * 50_000,
    "expansions.zsh": b"${" * 50_000 + b"a:b" + b"}" * 50_000,
    "qualified.zsh": b"(a/" * (MIB // 3),
    "conditions.c": b"int f(\n" + b"#if A\n(" * 50_000 + b"\n#endif" * 50_000,
    "conditions.cpp": b"int f(\n#if A\n{\n#else\n#endif\n" * 30_000,
    "statements.cpp": b"class A {\n  ABC(x)\n" * 40_000,
    "file_directives.cs": b"#:a\n" * (MIB // 4),
    "tests.bats": b'@test "a' * (MIB // 8),
    "random.py": random.Random(1).randbytes(MIB),
    "random.rs": random.Random(2).randbytes(MIB // 4),
}


@pytest.mark.parametrize("path", sorted(HOSTILE))
def test_a_megabyte_of_anything_ends(path: str) -> None:
    started = time.process_time()
    check(path, HOSTILE[path][:MIB])
    # Seconds for what takes minutes where any step is quadratic.
    assert time.process_time() - started < 30


HOPELESS = {
    "arithmetic.sh": b"((1 " * 20_000,
    "comments.kt": b"/* " * 30_000,
    "unclosed.scala": b"class A { def f = { " * 6_000,
    "signs.cs": b") + " * 2500,
    "comments.swift": b"/* " * 3000,
}


@pytest.mark.parametrize("path", sorted(HOPELESS))
def test_a_watched_grammar_gives_up_on_what_no_one_writes(path: str) -> None:
    started = time.process_time()
    with pytest.raises(TooSlow, match=re.escape(path)):
        parse_file(path, HOPELESS[path])
    assert time.process_time() - started < 30


def test_deep_nesting_keeps_the_outer_definitions() -> None:
    found = check("functions.js", HOSTILE["functions.js"]).chunks
    assert 40 < len(found) < 100
    assert found[0].line_end == 1


def test_large_files_are_parsed_like_small_ones() -> None:
    """Text predicates of queries read the source of a large file in another way than that of a small one."""
    source = b"".join(
        b'const m%d = require("m%d");\nexport const C%d = memo(() => m%d());\n' % (n, n, n, n) for n in range(3000)
    )
    parsed = check("large.ts", source)
    assert len(source) > 1 << 17
    assert len(parsed.imports) == 3000
    assert len([c for c in parsed.chunks if c.kind == "function"]) == 3000
