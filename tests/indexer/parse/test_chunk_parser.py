"""What a chunk carries besides its name and lines: text, terms, hashes, keywords, and how odd bytes are taken."""

from __future__ import annotations

import time
from hashlib import blake2b

import pytest

from aurora_indexer import languages
from aurora_indexer.languages import UnsupportedLanguage
from aurora_indexer.parse.chunk_parser import parse_file
from aurora_memory.chunks import CodeChunk
from aurora_memory.term_counts import Field, terms_in, unpacked
from aurora_memory.tokens import terms


def chunks(source: str, path: str = "src/auth.py") -> dict[str, CodeChunk]:
    return {c.name: c for c in parse_file(path, source.encode()).chunks}


def body(c: CodeChunk) -> set[str]:
    return set().union(*(terms_in("body", part.occurrences) for part in c.parts))


NESTED = '''
class Service:
    """Keeps alpha."""

    bravo = 1

    def charlie(self):
        """Says delta."""
        echo = 2

        def foxtrot():
            golf = 3
            return golf

        return foxtrot() + echo
'''


def test_a_class_is_searched_without_its_methods_and_a_function_without_the_ones_in_it() -> None:
    found = chunks(NESTED)
    service, charlie, foxtrot = (found[n] for n in ("Service", "Service.charlie", "Service.charlie.foxtrot"))
    assert {"bravo"} <= body(service) and not body(service) & {"charli", "echo", "golf", "alpha"}
    assert {"echo"} <= body(charlie) and not body(charlie) & {"golf", "delta"}
    assert {"golf"} <= body(foxtrot)
    assert (service.line_start, service.line_end) == (2, 15)


def test_fields_of_the_first_part() -> None:
    part = chunks(NESTED)["Service.charlie"].parts[0]
    fields: dict[Field, str] = {
        "name": "Service charlie",
        "path": "src auth",
        "signature": "def charlie(self)",
        "doc": "Says delta.",
        "calls": "foxtrot",
    }
    for field, text in fields.items():
        assert terms_in(field, part.occurrences) == set(terms(text)), field
    assert part.name_length == 2
    assert (part.line_start, part.line_end) == (7, 15)


def test_body_terms_are_those_of_memory_and_counted() -> None:
    source = (
        "def f():\n    getHTTPResponse2(a, naïve_straße, x) ; " + "again " * 9 + '\n    return "¡olé! 日本語 x_1"\n'
    )
    part = chunks(source)["f"].parts[0]
    assert terms_in("body", part.occurrences) == set(terms(source))
    assert unpacked(part.occurrences[terms("again")[0]]) == {"body": 9}
    assert part.length >= len(terms(source))


def test_counts_saturate() -> None:
    part = chunks("def f():\n    pass\n" + "    again\n" * 99)["f"].parts[0]
    assert unpacked(part.occurrences[terms("again")[0]]) == {"body": 31}


def test_many_terms_are_bounded() -> None:
    source = "x = '''" + " ".join(f"word{n}" for n in range(9000)) + "'''\n"
    assert all(len(terms_in("body", part.occurrences)) <= 3000 for part in chunks(source)["<module>"].parts)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", "import os\nfrom a import b\n\n# only a comment\n\ndef f(): pass\n"),
        ("a.py", "\n\n"),
        ("a.go", 'package a\n\nimport "os"\n\ntype (\n\tA int\n)\n'),
        (
            "a.rs",
            "use a::b;\n#![allow(x)]\n\nmod c;\n\nstruct A;\n\nimpl<T> B<T> for A where T: C {\n    fn d() {}\n}\n",
        ),
        ("a.ts", 'import a from "b";\nexport * from "c";\nexport { a };\n\nexport function f() {}\n'),
        ("A.java", "package a;\nimport b.C;\nclass A {}\n"),
        ("a.h", "#ifndef A_H\n#define A_H\n#include <b.h>\nstruct a { int x; };\n#endif\n"),
        ("a.cpp", "#pragma once\nusing std::x;\nnamespace { int f() { return 1; } }\n"),
        ("a.rb", "require 'a'\nclass A; end\n"),
        ("a.cs", "using A;\nnamespace B.C\n{\n    // c\n    class D { }\n}\n"),
        ("a.cs", "namespace B;\nusing A;\nclass D { }\n"),
        ("a.php", "<?php\nnamespace A;\nuse B\\C;\nclass D {}\n?>\n"),
        ("a.kt", '@file:JvmName("A")\npackage a\nimport b.c\nclass D\n'),
        ("a.swift", "import A\n#if DEBUG\nextension B: C where D == E { func f() {} }\n#endif\n"),
        ("a.scala", "package a.b\nimport c._\nobject D\n"),
        ("a.lua", "#!/usr/bin/lua\n-- c\nlocal function f() end\n"),
        ("a.sh", "#!/bin/sh\n. ./lib.sh\nf() { :; }\n"),
    ],
)
def test_imports_comments_and_trivia_are_no_module_chunk(path: str, source: str) -> None:
    assert "<module>" not in chunks(source, path)


def test_module_code_is_a_chunk_from_its_first_line_to_its_last() -> None:
    module = chunks("import os\n\n# c\n\ndef f():\n    inner()\n\nmain(os)\n\n# end\n")["<module>"]
    assert (module.kind, module.line_start, module.line_end, module.parent) == ("module", 1, 8, None)
    assert [r.name for r in module.references if r.kind == "calls"] == ["main"]
    assert "inner" not in body(module)
    assert chunks('"""Only words."""\n')["<module>"].docstring == "Only words."


def test_module_hash_ignores_the_definitions() -> None:
    before, after = (chunks(f"LIMIT = 3\n\ndef f():\n    return {n}\n")["<module>"] for n in (1, 2))
    assert before.body_hash == after.body_hash


SHAPE = "def login(user):\n    # check\n    return login(user) or relogin(user)\n"


@pytest.mark.parametrize(
    "same",
    [
        "def signin(user):\n    return signin(user) or relogin(user)\n",
        "def login( user ):\n\n        return login(user) or  relogin( user )  # other words\n",
        "x = 1\n\n\nclass A:\n    def login(user):\n        return login(user) or relogin(user)\n",
    ],
)
def test_shape_survives_rename_reformat_and_move(same: str) -> None:
    before = chunks(SHAPE)["login"]
    after = next(c for name, c in chunks(same).items() if name.rpartition(".")[2] in ("login", "signin"))
    assert (before.shape_hash, len(before.shape_hash)) == (after.shape_hash, 16)
    assert before.body_hash != after.body_hash


@pytest.mark.parametrize("other", ["return login(user) or login(user)", "return login(users) or relogin(user)", "pass"])
def test_shape_changes_with_the_code(other: str) -> None:
    assert chunks(SHAPE)["login"].shape_hash != chunks(f"def login(user):\n    {other}\n")["login"].shape_hash


def test_body_hash_is_of_the_text_with_what_is_nested() -> None:
    text = NESTED.strip("\n").encode()
    assert chunks(NESTED)["Service"].body_hash == blake2b(text, digest_size=16).digest()


def test_content_hash_is_of_the_bytes_as_read() -> None:
    source = b"\xef\xbb\xbfx = 1\r\n"
    assert parse_file("a.py", source).content_hash == blake2b(source, digest_size=16).digest()


def test_ordinals_count_earlier_definitions_of_the_same_name() -> None:
    found = parse_file("a.py", b"if x:\n    def f(): 1\nelse:\n    def f(): 2\nclass f: pass\n").chunks
    assert [(c.name, c.ordinal) for c in found if c.kind != "module"] == [("f", 0), ("f", 1), ("f", 2)]


def test_keywords_tell_what_a_chunk_is_about() -> None:
    source = (
        "class TokenStore:\n"
        "    def refresh_session(self, account: Account, retries: int = 3) -> SessionToken:\n"
        '        """Renew an expired session with the identity provider."""\n'
        "        return self.provider.renew(account)\n"
    )
    words = chunks(source)["TokenStore.refresh_session"].keywords
    assert words[:2] == ("session", "refresh")
    others = {"store", "renew", "expired", "identity", "provider", "account", "retries"}
    assert {"session", "refresh", "token"} <= set(words) <= {"session", "refresh", "token"} | others
    assert 5 <= len(words) <= 7
    assert words == chunks(source)["TokenStore.refresh_session"].keywords
    assert len(chunks("def get(self): return self.connection.fetch(1)\n")["get"].keywords) >= 2


def test_tokens_grow_with_the_text() -> None:
    small, large = chunks("def f():\n    return 1\n")["f"].tokens, chunks(NESTED)["Service"].tokens
    assert 5 <= small <= 10
    assert 50 <= large <= 100


def test_references_are_distinct_and_bounded() -> None:
    source = "def f():\n" + "".join(f"    call{n}()\n    call{n}()\n" for n in range(300))
    references = chunks(source)["f"].references
    assert len(references) == len(set(references)) == 200


def test_of_too_many_references_no_base_is_left_out() -> None:
    calls = "".join(f"    a_{n} = f_{n}()\n" for n in range(300))
    (first, *rest) = chunks(f"class Cart(Base):\n{calls}")["Cart"].references
    assert (first.kind, first.name) == ("inherits", "Base")
    assert [each.name for each in rest if each.kind == "calls"] == [f"f_{n}" for n in range(199)], (
        "then in the order of use"
    )


def test_a_long_signature_is_cut() -> None:
    source = "def f(" + ", ".join(f"argument_{n}: int" for n in range(99)) + "): pass\n"
    signature = chunks(source)["f"].signature
    assert len(signature) == 300 and signature.endswith("…") and "\n" not in signature


def test_a_long_docstring_is_cut() -> None:
    assert len(chunks('def f():\n    """' + "words " * 2000 + '"""\n')["f"].docstring) == 2000


@pytest.mark.parametrize(
    ("above", "start"),
    [
        ("# one\n# two\n", 1),
        ("# one\n\n", 3),
        ("x = 1  # trailing\n", 2),
        ("if x:\n    pass\n    # of the block\n", 4),
        ("@a\n# between\n@b(1)\n", 1),
    ],
)
def test_only_what_is_directly_above_belongs_to_a_definition(above: str, start: int) -> None:
    assert chunks(above + "def f(): pass\n")["f"].line_start == start


def test_line_ends_of_windows_and_byte_order_mark() -> None:
    plain = "# Says it.\ndef f(a,\n      b):\n    return a\n\n\nclass A:\n    def g(self): pass\n"
    unix, windows = chunks(plain), chunks("\ufeff" + plain.replace("\n", "\r\n"))
    for name in ("f", "A", "A.g"):
        a, b = unix[name], windows[name]
        assert (a.line_start, a.line_end, a.signature, a.docstring, a.shape_hash) == (
            b.line_start,
            b.line_end,
            b.signature,
            b.docstring,
            b.shape_hash,
        )


def test_bytes_that_are_no_utf8() -> None:
    found = parse_file("a.py", b"# \xff\xfe\ndef caf\xe9(): return '\xe9'\n\ndef g(): pass\n").chunks
    assert "g" in [c.name for c in found]
    assert found[-1].line_start == 4


def test_a_syntax_error_loses_nothing_else() -> None:
    source = (
        "def a(:\n    pass\n\nclass B:\n    def c(self):\n        x = = 2\n\n    def d(self): pass\n\ndef e(): pass\n"
    )
    parsed = parse_file("a.py", source.encode())
    assert {"B", "B.c", "B.d", "e"} <= {c.name for c in parsed.chunks}
    assert parsed.syntax_errors > 0
    broken = "func a( {\n}\n\nfunc (r *R) B() { x := }\n\nfunc C() {}\n"
    assert {"R.B", "C"} <= {c.name for c in parse_file("a.go", broken.encode()).chunks}


@pytest.mark.parametrize(
    ("path", "first_line", "name"),
    [
        ("a/b.py", b"", "python"),
        ("a.pyi", b"", "python"),
        ("A.PY", b"", "python"),
        ("x.mts", b"", "typescript"),
        ("x.tsx", b"", "tsx"),
        ("x.cjs", b"", "javascript"),
        ("x.h++", b"", "cpp"),
        ("x.h", b"", "c"),
        ("sub/Rakefile", b"", "ruby"),
        ("Gemfile", b"", "ruby"),
        ("bin/tool", b"#!/usr/bin/env python3", "python"),
        ("bin/tool", b"#!/usr/bin/python3.11 -I", "python"),
        ("bin/tool", b"#! /usr/bin/env -S node --flag", "javascript"),
        ("bin/tool", b"#!/bin/sh", "bash"),
        ("bin/tool", b"#!/usr/bin/env lua5.4", "lua"),
        ("bin/tool", b"#!/usr/bin/env fish", None),
        ("Program.cs", b"", "csharp"),
        ("index.php", b"", "php"),
        ("build.gradle.kts", b"", "kotlin"),
        ("App.swift", b"", "swift"),
        ("build.sbt", b"", "scala"),
        ("x.bats", b"", "bash"),
        (".bashrc", b"", "bash"),
        ("bin/tool", b"print(1)", None),
        ("a.md", b"#!/usr/bin/env python3", None),
        (".py", b"", None),
    ],
)
def test_which_language(path: str, first_line: bytes, name: str | None) -> None:
    language = languages.for_path(path, first_line)
    assert (language.name if language else None) == name


def test_unknown_languages_are_an_error_that_names_the_file() -> None:
    with pytest.raises(UnsupportedLanguage, match=r"^docs/a\.md: "):
        parse_file("docs/a.md", b"# hi")


def test_every_language_of_the_table_has_a_query_that_compiles() -> None:
    for language in languages.LANGUAGES:
        assert languages.compiled(language.name).query.pattern_count > 6


def test_nodes_stay_inside() -> None:
    import msgspec

    parsed = parse_file("a.py", NESTED.encode())
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(parsed), type=type(parsed)) == parsed


def test_components_are_told_in_the_order_they_stand_in() -> None:
    names = [f"Part{number}" for number in range(40)]
    elements = "".join(f"<{name} /><Shared.{name}></Shared.{name}>" for name in names)
    page = chunks(f"export const Page = () => <main>{elements}</main>;", "page.tsx")["Page"]
    told = [reference.name for reference in page.references if reference.kind == "calls"]
    assert told == [name for name in names for _ in range(2)]


def test_lines_are_those_of_the_source_wherever_a_chunk_starts() -> None:
    source = "import os\n\n" + "".join(
        f"class C{n}:\n    def m(self):\n        return {n}\n\n    x = {n}\n\n" for n in range(9)
    )
    for chunk in chunks(source + "print(os)").values():
        if chunk.kind != "module":
            lines = source.split("\n")[chunk.line_start - 1 : chunk.line_end]
            assert lines[0].strip() == chunk.signature + ":"
            assert lines[-1].strip()


def test_a_value_that_only_looks_like_another_names_and_ends_nothing() -> None:
    found = chunks(
        "const wrap = (each = () => {\n  return 1;\n}) => {\n  return each;\n};\n"  # two bodies, its own is the second
        "const made = new Factory({ build() {} });\n"  # no call, though it has arguments
        "const called = factory({ build() {} });\n"
        "app.first = app.second = function () {};\n",  # the statement isn't the function's
        "a.tsx",
    )
    assert [(c.kind, c.name, c.line_start) for c in found.values()] == [
        ("module", "<module>", 6),
        ("function", "wrap", 1),
        ("method", "called.build", 7),
        ("method", "app.second", 8),
    ]
    assert found["wrap"].signature == "const wrap = (each = () => { return 1; }) =>"
    assert found["app.second"].signature == "app.second = function ()"


@pytest.mark.parametrize(("path", "is_watched"), [("a.py", False), ("a.kt", True)])
def test_the_time_a_thread_has_worked_is_asked_for_only_where_a_grammar_is_watched(
    monkeypatch: pytest.MonkeyPatch, path: str, is_watched: bool
) -> None:
    asked: list[float] = []
    clock = time.thread_time

    def note() -> float:
        asked.append(clock())
        return asked[-1]

    monkeypatch.setattr(time, "thread_time", note)
    parse_file(path, b"x = 1\n" * 6_000)
    assert bool(asked) == is_watched


def test_what_an_interface_of_go_asks_for_is_a_method() -> None:
    source = (
        "package shop\n\ntype Store interface {\n\t// Get reads.\n\tGet(key string) (any, error)\n\tio.Closer\n}\n\n"
        "type Shop struct{ door interface{ Open() } }\n"
    )
    chunks = {each.name: each for each in parse_file("a.go", source.encode()).chunks}
    assert chunks.keys() == {"Store", "Store.Get", "Shop"}, "what has no name has no members that have one"
    get = chunks["Store.Get"]
    assert (get.kind, get.parent, get.signature) == ("method", "Store", "Get(key string) (any, error)")
    assert get.docstring == "Get reads."


@pytest.mark.parametrize(
    ("given", "called"),
    [
        ("assert_eq!(self.a.b(), c(1))", ["self.a.b", "c"]),
        ("vec![a::b::f(), crate::g::<T>(1)]", ["a.b.f", "crate.g"]),
        ("assert!(a.b().c() && (d + e)?.f())", ["a.b", "().c", "().f"]),
        ('print!("{} a(1)", r#"b("#, \'(\', c())', ["c"]),
        ("select! { x = a.recv() => { inner!(b()); } }", ["a.recv", "inner", "b"]),
        ("matches!(a.b(), Some(C(1)) if x != (d))", ["a.b"]),
        ("assert!([a, b].len() == 1 && if (c) { 0.max(1) } else { !(d) })", []),
        ("item! { #[cfg(a)] fn b() { c() } }", ["c"]),
        ("quote! { a() }", []),
        ("parse_quote!(a())", []),
        ("assert!(a)", []),
    ],
)
def test_what_macros_of_rust_are_given_calls_what_it_says(given: str, called: list[str]) -> None:
    (chunk,) = parse_file("a.rs", f"fn run() {{ {given}; }}\n".encode()).chunks
    found = [f"{ref.qualifier}.{ref.name}".lstrip(".") for ref in chunk.references if ref.kind == "calls"]
    assert found[1:] == called
