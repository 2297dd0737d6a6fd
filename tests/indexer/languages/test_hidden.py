"""What grammars do not get to see, or see otherwise: sources stay as long as they were, definitions are found."""

from __future__ import annotations

import pytest

from aurora_indexer.languages import LANGUAGES, Language, csharp, kotlin, shell
from aurora_indexer.languages.c_family import hidden_in_cpp, is_cpp
from aurora_indexer.languages.conditionals import partial
from aurora_indexer.parse.chunk_parser import parse_file

CPP = {
    "void f() const MYLIB_GUARDED_BY(mu) { g(); }": "f",
    "int* MYLIB_NONNULL f(char* MYLIB_RESTRICT name) { return 0; }": "f",
    "T* _Nonnull f(void* absl_nullable p) { return 0; }": "f",
    "T f(const T& x MYLIB_LIFETIME_BOUND) { return x; }": "f",
    "MYLIB_INLINE std::string f(int a) { return a; }": "f",
    'MYLIB_DEPRECATED("x") static MYLIB_API void f() {}': "f",
    "MYLIB_INLINE Klass::Klass(\n    int a)\n    : a_(a) {}": "Klass.Klass",
    "MYLIB_WARNINGS_PUSH(4100 4503)\nvoid f() {}": "f",
    'MYLIB_FLAG(int, depth, 3,\n           "how deep");\nvoid f() {}': "f",
    "struct A { operator Matcher<B>() const { return 1; } };": "A.operator Matcher<B>",
    "template <class T>\nclass MYLIB_VIEW Ref<T(int)> { void f() {} };": "Ref.f",
    "constexpr A::operator bool() const { return b; }": "A.operator bool",
    "struct A { static constexpr b::C(min)() { return 0; } };": "A.min",
    "void f() { auto g = [&]() { R_IF(const a::B<int>& c [[maybe_unused]], g()); }; }\nTEST(A, Runs) {}": "A.Runs",
    "void f() { MYLIB_RETURN(std::unique_ptr<A> c, g()); MYLIB_RETURN(int& d, g()); }\nTEST(A, Runs) {}": "A.Runs",
    "REGISTER_ALL(a)\n\nTYPED_TEST(Suite, Runs) { f(); }": "Suite.Runs",
    "struct A {\n  explicit MYLIB_CONSTEXPR A(int x) : a_(x) {}\n};": "A.A",
    "template <class T> struct A {\n  template <class U>\n  MYLIB_CONSTEXPR A(U b)\n      : value(b) {}\n};": "A.A",
    "template <class T> struct A {\n  template <class U>\n  MYLIB_CONSTEXPR A(U b) noexcept : value(b) {}\n};": "A.A",
    "struct A {\n  MYLIB_CONSTEXPR20 ~A() { f(); }\n};": "A.~A",
    "class mylib_EXPORT A {\n  void f() {}\n};": "A.f",
    "class mylib_API A {\n  void f() {}\n};": "A.f",
    "typedef std::map<int, A> M;": "M",
    "typedef typename A<B>::type M;": "M",
    "typedef A<B> *M;": "M",
    "typedef const A &M;": "M",
}

C = {
    "TEST_IMPL(runs) {\n  f();\n}": {"runs"},
    "MYLIB_API mylib_t f (const void *a)\n{\n  return 1;\n}": {"f"},
    "static void printflike(3, 4)\nf(const char *a, ...)\n{\n}": {"f"},
    "static void nonnull(1)\nf(const char *a)\n{\n}": {"f"},
    "void printflike(1) f(const char *, ...);\ntypedef int (*g)(int);": {"g"},
    "MYLIB_UNUSED(static struct a *f(int b)) {\n  g();\n}": {"f"},
    "typedef struct _a { int b; } c;": {"_a", "c"},
    "typedef union a { int b; } *c;": {"a", "c"},
    "typedef enum a { B } c;": {"a", "c"},
    "typedef struct a { int b; } a;": {"a"},
    "typedef void *(*a)(int);": {"a"},
    "typedef BOOL (WINAPI *a)\n    (int);": {"a"},
    "typedef unsigned int uint32_t;": {"uint32_t"},
    "#define A(b) \\\n  struct b *c; /* first */ \\\n  int d\nvoid f(void) {}": {"A", "f"},
    "#define A(b) \\\n  BOTH(b)\n\nLOG_ALL(a)\nvoid f(void) {\n}": {"A", "f"},
}


@pytest.mark.parametrize("source", C)
def test_macros_and_types_of_c(source: str) -> None:
    assert sorted(names("a.c", f"\n{source}\n")) == sorted(C[source])
    assert parse_file("a.c", f"\n{source}\n".encode()).syntax_errors == 0


def test_a_statement_of_c_is_no_function() -> None:
    source = (
        "int f(int a) {\n  if (a) {\n    g();\n  }\n#ifdef X\n  else if (b) {\n    c++;\n  }\n#endif\n  return 1;\n}\n"
    )
    assert names("a.c", source) == ["f"]


@pytest.mark.parametrize("source", CPP)
def test_macros_of_cpp(source: str) -> None:
    parsed = parse_file("a.cpp", f"\n{source}\n".encode())
    assert CPP[source] in {c.name for c in parsed.chunks}


def test_what_looks_like_a_macro_but_is_code_stays() -> None:
    source = (
        "void f() {\n  if (a) CHECK_ALL(b);\n  x = y * MASK_ALL;\n  return (a & FLAG_ONE) ? LOG_IT(c) : d;\n}\n"
        "BOOL g(int a) { return 1; }\n"
    )
    found = {c.name: c for c in parse_file("a.cpp", source.encode()).chunks}
    assert [r.name for r in found["f"].references] == ["CHECK_ALL", "LOG_IT"]
    assert found["g"].signature == "BOOL g(int a)"


def test_a_macro_ahead_stands_like_an_attribute_and_one_behind_is_told() -> None:
    source = b'\n// Doc.\nMYLIB_INLINE MYLIB_OLD("a") int f(int a) MYLIB_LOCKS(mu) { return a; }\n'
    (found,) = parse_file("a.cpp", source).chunks
    assert (found.line_start, found.docstring, found.signature) == (2, "Doc.", "int f(int a) MYLIB_LOCKS(mu)")


def test_annotations_of_a_kotlin_class() -> None:
    found = parse_file("a.kt", b"import a.b\n\n// Doc.\n@A\n@B(C::class)\nopen class D {\n    fun e() {}\n}\n").chunks
    assert [(c.name, c.line_start, c.docstring) for c in found] == [("D", 3, "Doc."), ("D.e", 7, "")]


def test_annotations_with_a_comment_between_them() -> None:
    """Whether the grammar reads them as an expression depends on all that is in the class."""
    assert kotlin.hidden(b"@A // why\n@B(1) // so\n@C\nopen class D").split() == b"@A open class D".split()


KOTLIN = {
    "class A<T>\n  @B(c)\n  private constructor(\n    val a: Int,\n  ) : D {\n    fun e() = 1\n  }\n": ["A", "A.e"],
    "class A\nconstructor(val a: Int) {\n  fun e() = 1\n}\n": ["A", "A.e"],
    "class A {\n  constructor(a: Int) {}\n}\n": ["A", "A.constructor"],
    "@B // why\nclass A {\n  fun e() = 1\n}\n": ["A", "A.e"],
    "@B /* why */\nclass A {\n  fun e() = 1\n}\n": ["A", "A.e"],
    "@B // why\n@C(1)\n@D\nopen class A {\n  fun e() = 1\n}\n": ["A", "A.e"],
}


@pytest.mark.parametrize("source", KOTLIN)
def test_what_stands_between_a_kotlin_class_and_its_words(source: str) -> None:
    assert names("a.kt", f"import a.b\n\n{source}") == KOTLIN[source]


@pytest.mark.parametrize("kind", ["class A", "extension A", "struct A", "protocol A"])
def test_conditionals_at_the_beginning_of_a_swift_body(kind: str) -> None:
    source = (
        f"{kind} {{\n    #if os(iOS) || X\n    func f() {{}}\n    #elseif Y\n    func g() {{}}\n"
        "    #else\n    func h() {}\n    #endif\n}\n"
    )
    parsed = parse_file("a.swift", source.encode())
    assert [c.name for c in parsed.chunks if "." in c.name] == ["A.f", "A.g", "A.h"]
    assert parsed.syntax_errors == 0


def test_tests_of_cpp_that_are_told_in_words() -> None:
    source = (
        '// Doc.\nTEST_CASE("Adds v1.2: a::b", "[math]") {\n  SECTION("x") { f(); }\n}\n\n'
        'TEST_CASE_METHOD(Fix, "b c") { g(); }\n\nTEST_CASE("d" * skip(true)) {}\n\n'
        'TEMPLATE_TEST_CASE("e \\"f\\"",\n                   "[x]", int, float) {\n  h();\n}\n\nSCENARIO("i") {}\n'
    )
    parsed = parse_file("a.cpp", source.encode())
    assert [(c.name, c.kind, c.line_start, c.line_end) for c in parsed.chunks] == [
        ("Adds v1.2: a::b", "function", 1, 4),
        ("b c", "function", 6, 6),
        ("d", "function", 8, 8),
        ('e \\"f\\', "function", 10, 13),
        ("i", "function", 15, 15),
    ]
    assert parsed.chunks[0].signature == 'TEST_CASE("Adds v1.2: a::b", "[math]")'
    assert [r.name for r in parsed.chunks[1].references] == ["g"]


def test_tests_of_bats() -> None:
    found = parse_file("a.bats", b"# Doc.\n@test 'a \"b\": c' {\n  run d\n}\n").chunks
    assert [(c.name, c.kind, c.line_start, c.docstring) for c in found] == [('a "b": c', "function", 1, "Doc.")]


def names(path: str, source: str) -> list[str]:
    return [c.name for c in parse_file(path, source.encode()).chunks if c.name != "<module>"]


def test_conditionals_within_statements_of_c() -> None:
    source = (
        "A::A(int x)\n    :\n#if !defined(NDEBUG)\n      a_(x),\n#endif\n      b_(x) {\n  run();\n}\n\n"
        "#ifdef WIN\nvoid f(int x) {\n#else\nvoid f(long x) {\n#endif\n  stop();\n}\n\n"
        "void B::last() { end(); }\n"
    )
    parsed = parse_file("a.cpp", source.encode())
    assert [(c.name, c.line_start, c.line_end) for c in parsed.chunks if c.kind != "module"] == [
        ("A.A", 1, 8),
        ("f", 11, 16),
        ("B.last", 18, 18),
    ]
    assert parsed.syntax_errors == 0
    assert [r.name for c in parsed.chunks if c.name == "f" for r in c.references] == ["stop"]


def test_conditionals_between_statements_of_c_keep_all_their_branches() -> None:
    source = "#if A\nint f() { return 1; }\n#else\nint g() { return 2; }\n#endif\nint h( { return 3; }\n"
    assert set(names("a.c", source)) >= {"f", "g"}


def test_macros_of_cpp_that_stand_like_statements() -> None:
    source = (
        "class A : public B {\n  MYLIB_ERROR(B, A)\n  MYLIB_ERROR(C, A)\n  A(int x, int y)\n"
        "      : b_(x) {}\n\n  explicit A(int x) : A(x, 1) {}\n  int size() const { return 1; }\n};\n"
    )
    assert names("a.cpp", source) == ["A", "A.A", "A.A", "A.size"]


ZSH = {
    'lines=(${(f)"$(git status)"})': "git",
    "(( $+commands[git] )) && git status": "git",
    "for f in *(.N); do git add $f; done": "git",
    "{ git status } always { true }": "",
    'name="${${name:h}##*/}"; git status': "git",
    "printf '%s' \"${lines// /\\\\n}\"; git status": "git",
}


@pytest.mark.parametrize("body", ZSH)
def test_what_the_shells_grammar_cannot_read(body: str) -> None:
    parsed = parse_file("a.zsh", f"# Doc.\nfirst() {{\n  {body}\n}}\n\nfunction last {{\n  git\n}}\n".encode())
    found = [(c.name, c.line_start, c.line_end, c.docstring) for c in parsed.chunks]
    assert found == [("first", 1, 4, "Doc."), ("last", 6, 8, "")]
    assert ZSH[body] in {"", *(r.name for r in parsed.chunks[0].references)}


def test_a_function_of_a_shell_that_cannot_be_read_costs_no_other() -> None:
    source = (
        "if true; then\n  a() { cat; }\n  b() { ( }\nfi\n\n"
        "# Doc.\nc() {\n  case x in (((\n  inner() {\n    ls\n  }\n}\n\n"
        "d() {\n  ls\n}\n"
    )
    assert names("a.sh", source) == ["a", "b", "c", "c.inner", "d"]


def test_a_program_in_one_file_of_csharp() -> None:
    assert names("a.cs", "#:package A@1.0\n#:property B=c\n\nclass D { void F() {} }\n") == ["D", "D.F"]


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each.mended], ids=lambda each: each.name)
def test_what_is_mended_stays_where_it_was(language: Language) -> None:
    assert language.mended
    for source in (*CPP, *ZSH, "f(\n#if A\na\n#else\nb\n#endif\n)", "a() { ( }\nb() {\n (\n}\n(\n"):
        seen = language.mended(f"\n{source}\n".encode(), lambda _: False).decode()
        assert len(seen) == len(source) + 2
        assert [len(line) for line in seen.split("\n")] == [len(line) for line in f"\n{source}\n".split("\n")]


@pytest.mark.parametrize("language", [each for each in LANGUAGES if each.hidden], ids=lambda each: each.name)
def test_nothing_moves(language: Language) -> None:
    assert language.hidden
    sources = [
        *(f"\n{source}\n" for source in CPP),
        "class MY_API A\n    MY_OTHER B : C {}",
        "\n@A @B\n@C class D",
        "@a " * 50,
        "a<" * 50,
        "\t@test \t'x'  \t{",
    ]
    for source in map(str.encode, sources):
        seen = language.hidden(source)
        assert len(seen) == len(source)
        assert [at for at in range(len(source)) if source[at] == 10] == [
            at for at in range(len(seen)) if seen[at] == 10
        ]


@pytest.mark.parametrize(("depth", "is_seen"), [(31, True), (32, False)])
def test_angle_brackets_that_stay_open_are_hidden_from_32_on(depth: int, is_seen: bool) -> None:
    seen = csharp.hidden(b"var a = " + b"b<" * depth)
    assert (b"<" in seen) is is_seen


PARTIAL = {
    "class A {\n  void f()\n#if X\n    => g();\n#else\n  ;\n#endif\n  void h() {}\n}\n": {"A", "A.f", "A.h"},
    "class A {\n#if X\n  void f(int a)\n#else\n  void f(long a)\n#endif\n  {\n    g();\n  }\n  void h() {}\n}\n": {
        *("A", "A.f", "A.h"),
    },
    "class A\n#if X\n  : B\n#endif\n{\n  void h() {}\n}\n": {"A", "A.h"},
    "enum A {\n#if X\n  B,\n#else\n  C,\n#endif\n  D\n}\n": {"A"},
}


@pytest.mark.parametrize("source", PARTIAL)
def test_conditionals_within_members_of_csharp(source: str) -> None:
    parsed = parse_file("a.cs", source.encode())
    assert set(names("a.cs", source)) == PARTIAL[source]
    assert parsed.syntax_errors == 0


def test_two_heads_of_a_function_of_c_with_one_body() -> None:
    source = "#if X\nint f(int a)\n#else\nint f(long a)\n#endif\n{\n  return g();\n}\n\nint h(void) { return 1; }\n"
    parsed = parse_file("a.c", source.encode())
    assert names("a.c", source) == ["f", "h"]
    assert parsed.syntax_errors == 0


def test_items_of_a_list_in_conditionals_of_c_stay() -> None:
    source = "int a[] = {\n#if X\n  one(1),\n#else\n  two(2),\n#endif\n};\nint f( { return 3; }\n"
    parsed = parse_file("a.c", source.encode())
    assert {r.name for c in parsed.chunks for r in c.references} >= {"one", "two"}


def test_call_signatures_of_typescript_without_semicolons() -> None:
    source = (
        "export interface Make {\n  /** First. */\n  one(a: A): B<C>\n\n  /** Second. */\n  <T>(b: T): T\n"
        "  // Third.\n  <\n    U\n  >(c: U): U\n}\n\nexport function after() { return <number>x }\n"
    )
    parsed = parse_file("a.ts", source.encode())
    assert {"Make", "after"} <= set(names("a.ts", source))
    assert parsed.syntax_errors == 0
    assert [(c.line_start, c.line_end) for c in parsed.chunks if c.name == "Make"] == [(1, 11)]


def test_objects_of_kotlin_that_delegate() -> None:
    source = (
        "class A {\n  fun f() {\n    c.enqueue(object : B<C> by d {\n      override fun e() {\n        g()\n      }\n"
        "    })\n  }\n\n  val h by lazy { i() }\n\n  fun j() = object : K by L(1) {\n    override fun m() {}\n  }\n}\n"
    )
    parsed = parse_file("a.kt", source.encode())
    assert {"A", "A.f", "A.j"} <= set(names("a.kt", source))
    assert parsed.syntax_errors == 0


def test_macros_as_defaults_of_swift() -> None:
    source = "func f(a: A = #_sourceLocation) {\n  g()\n}\n\nfunc h(b: String = #fileID, c: I? = #isolation) {}\n"
    parsed = parse_file("a.swift", source.encode())
    assert names("a.swift", source) == ["f", "h"]
    assert parsed.syntax_errors == 0


@pytest.mark.parametrize(
    ("levels", "is_mended"),
    [
        pytest.param(1, True, id="a function that cannot be read loses its body"),
        pytest.param(3, True, id="within two others, too"),
        pytest.param(12, False, id="where it takes many looks at the whole, all is left as it is"),
    ],
)
def test_how_far_what_cannot_be_read_of_a_shell_is_looked_for(levels: int, is_mended: bool) -> None:
    heads = "".join(f"{' ' * n}f{n}() {{\n" for n in range(levels))
    ends = "".join(f"{' ' * n}}}\n" for n in reversed(range(levels)))
    source = f"{heads}{' ' * levels}bad\n{ends}".encode()
    found = shell.mended(source, lambda text: b"bad" not in text)
    assert len(found) == len(source) and (b"bad" not in found) is is_mended


def left(source: str) -> str:
    """What the grammar of C++ gets to see of a line, in one spelling of its spaces."""
    return " ".join(hidden_in_cpp(f"\n{source}\n".encode()).decode().split())


WORDS = "return else delete new throw co_return co_yield co_await case goto using typedef if for while switch do"


@pytest.mark.parametrize("word", WORDS.split())
def test_capitals_before_a_statement_are_no_attribute_of_what_follows(word: str) -> None:
    assert left(f"  MYLIB_TRACE {word} f(a);") == f"MYLIB_TRACE {word} f(a);"
    assert left("  MYLIB_TRACE int f(int a);") == "int f(int a);"


@pytest.mark.parametrize("word", ["and", "or", "xor", "bitand", "bitor"])
def test_capitals_behind_a_star_are_said_of_a_pointer_unless_an_operator_follows(word: str) -> None:
    assert left(f"x = y * MASK_ALL {word} z;") == f"x = y * MASK_ALL {word} z;"
    assert left("f(char* MYLIB_RESTRICT name);") == "f(char* name);"


@pytest.mark.parametrize("word", ["", "const", "volatile", "noexcept", "override", "final", "mutable", "&", "&&"])
def test_capitals_behind_the_parameters_are_an_attribute_whatever_else_is_said_there(word: str) -> None:
    assert left(f"void f() {word} MYLIB_LOCKS(mu) {{ g(); }}") == " ".join(f"void f() {word} {{ g(); }}".split())


@pytest.mark.parametrize("word", ["const", "noexcept", "override", "final", "try"])
def test_what_goes_on_behind_an_attribute_is_still_the_head_of_a_function(word: str) -> None:
    assert left(f"void f() MYLIB_LOCKS(mu) {word} {{ g(); }}") == f"void f() {word} {{ g(); }}"


@pytest.mark.parametrize(
    "said",
    [
        *("_Nonnull", "_Nullable", "_Null_unspecified", "absl_nonnull", "absl_nullable", "absl_nullability_unknown"),
        *("NONNULL", "MYLIB_NONNULL", "NULLABLE", "LIFETIME_BOUND", "LIFETIMEBOUND", "MYLIB_LIFETIME_BOUND"),
    ],
)
def test_what_is_said_of_a_pointer_is_not_seen(said: str) -> None:
    assert left(f"void f(const T& x {said}) {{ }}") == "void f(const T& x ) { }"
    assert left(f"my{said}_it(x);") == f"my{said}_it(x);"


@pytest.mark.parametrize("said", ["MYLIB_PRAGMA(4)", "MYLIB_PUSH", "MYLIB_POP", "MYLIB_DIAGNOSTIC_OFF(x)"])
def test_a_line_that_only_tells_the_compiler_something_is_not_seen(said: str) -> None:
    assert left(f"{said}\nint a;") == "int a;"
    assert left(f"{said};\nint a;") == f"{said}; int a;"


TYPES = (
    "bool char int float double long short void auto size_t ssize_t int8_t uint16_t int32_t uint64_t unsigned signed"
)


@pytest.mark.parametrize("type_", TYPES.split())
def test_a_type_that_is_handed_to_a_macro_is_seen_as_a_name(type_: str) -> None:
    assert left(f"MYLIB_FLAG({type_}, depth);") == f"MYLIB_FLAG({'x' * len(type_)}, depth);"
    assert left(f"MYLIB_FLAG(my_{type_}, depth);") == f"MYLIB_FLAG(my_{type_}, depth);"


@pytest.mark.parametrize("name", ["(min)", "(max)", "(std::max)", "(::min)"])
def test_brackets_that_keep_a_macro_from_a_name_are_not_seen(name: str) -> None:
    assert left(f"a = {name}(b, c);").replace(" ", "") == f"a={name[1:-1]}(b,c);"
    assert left(f"a = {name} + b;") == f"a = {name} + b;"


@pytest.mark.parametrize("words", ["constexpr", "inline", "explicit", "constexpr inline"])
def test_words_before_a_conversion_are_not_seen(words: str) -> None:
    assert left(f"{words} A::operator bool() const {{ return b; }}") == "A::operator bool() const { return b; }"


@pytest.mark.parametrize(
    ("source", "cpp"),
    [
        ("struct A : B { };", True),
        ("struct A final : B { };", True),
        ("struct A { unsigned a : 3; };", False),
        ("virtual void f();", True),
        ("~A() {}", True),
        ("~A(void) = default;", True),
        ("x = ~f(a);", False),
        ("#include <vector>", True),
        ("#include <vector.h>", False),
        ("void f(const T &a);", True),
        ("void f(const T *a);", False),
        ("int f() const;", True),
        ("std::string a;", True),
        ("bool operator==(T a);", True),
        ("// std::string a;", False),
        ("/* virtual void f(); */", False),
        ('char *a = "std::string";', False),
        ("#ifdef __cplusplus\nstd::string a;\n#endif", False),
        ("#if defined(__cplusplus)\nstd::string a;\n#endif", False),
    ],
)
def test_which_header_is_of_cpp(source: str, cpp: bool) -> None:
    assert is_cpp(f"{source}\n".encode()) is cpp


def branch(source: str, *, lists: bool = False) -> str:
    """What is left of a source without its partial conditionals."""
    text = bytearray(source.encode())
    for start, end in partial(source.encode(), lists=lists):
        text[start:end] = b" " * (end - start)
    return " ".join(text.decode().split())


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        pytest.param("f(\n#if A\na\n#else\nb\n#endif\n);", "f( a );", id="within a statement the first branch"),
        pytest.param("f(\n#if A\na\n#elif B\nb\n#else\nc\n#endif\n);", "f( a );", id="of three as well"),
        pytest.param(
            "#if A\nint a;\n#else\nint b;\n#endif\n", "#if A int a; #else int b; #endif", id="whole ones stay"
        ),
        pytest.param("#if A\nvoid f() {\n#else\nvoid g() {\n#endif\n}", "void f() { }", id="heads without bodies"),
        pytest.param("#if A\nf(\n#else\ng(\n#endif\na);", "f( a);", id="brackets that stay open"),
        pytest.param(
            "f(\n#if A\n#if B\na\n#else\nb\n#endif\n#else\nc\n#endif\n);", "f( a );", id="one within another"
        ),
        pytest.param("#else\nint a;\n#endif\n", "#else int a; #endif", id="what was never begun stays"),
        pytest.param("class A {\npublic:\n#if A\nint a;\n#endif\n}", "class A { public: #if A int a; #endif }",
                     id="behind a label a statement begins"),
        pytest.param("int a; // (\n#if A\nint b; /* b */\n#endif\n", "int a; // ( #if A int b; /* b */ #endif",
                     id="comments are looked past"),
    ],
)  # fmt: skip
def test_of_a_conditional_within_a_statement_one_branch_is_left(source: str, seen: str) -> None:
    assert branch(source) == seen


def test_a_conditional_between_the_items_of_a_list_stays_where_the_grammar_knows_it() -> None:
    source = "int a[] = {\n#if A\n1,\n#endif\n2};"
    assert branch(source, lists=True) == " ".join(source.split())
    assert branch(source) == "int a[] = { 1, 2};"
