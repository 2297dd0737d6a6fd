"""What is a definition, under which name and on which lines, where a language has more than one way to write it."""

from __future__ import annotations

import pytest

from aurora_indexer.languages.c_family import hidden
from aurora_indexer.parse.chunk_parser import parse_file
from tests.growth import grows_with_length


def listed(path: str, source: str) -> list[str]:
    """The chunks of a source but for the module's: kind, name, lines and signature."""
    return [
        f"{c.kind} {c.name} {c.line_start}-{c.line_end}: {c.signature}"
        for c in parse_file(path, source.encode()).chunks
        if c.kind != "module"
    ]


CASTS = """\
// Loads.
export const load = (async ({ params }) => {
  return params;
}) satisfies PageLoad;
export const actions = {
  login: async () => {},
  async logout() {},
  onClick: ((event) => {}) as unknown as Handler,
  nested: { deep() {} } as const,
} as const satisfies Actions;
const Made = (class { run() {} }) as Constructor;
exports.first = (function () {}) as Handler;
class Page {
  handler = ((event) => {}) as Handler;
}
export default { setup() {} } satisfies Component;
"""


def test_a_cast_changes_nothing_of_what_a_value_is() -> None:
    assert listed("a.ts", CASTS) == [
        "function load 1-4: export const load = async ({ params }) =>",
        "method actions.login 6-6: login: async () =>",
        "method actions.logout 7-7: async logout()",
        "method actions.onClick 8-8: onClick: (event) =>",
        "method actions.nested.deep 9-9: deep()",
        "class Made 11-11: const Made = class",
        "method Made.run 11-11: run()",
        "function first 12-12: exports.first = function ()",
        "class Page 13-15: class Page",
        "method Page.handler 14-14: handler = (event) =>",
        "method setup 16-16: setup()",
    ]
    assert parse_file("a.ts", CASTS.encode()).chunks[1].docstring == "Loads."


def test_nor_does_a_type_that_is_asserted_before_it() -> None:
    source = (
        "export default <Handler>function (irc, network) {\n  irc.on('quit', () => {});\n};\n"
        "const made = <Handler>((event) => {});\nconst told = <Handler>{ run() {} };\nconst number = <Handler>other;\n"
    )
    assert listed("a.ts", source) == [
        "function default 1-3: export default function (irc, network)",
        "function made 4-4: const made = (event) =>",
        "method told.run 5-5: run()",
    ]


def test_nor_do_brackets() -> None:
    source = (
        "const first = (function () {});\n"
        "const second = /** @type {Handler} */ ((event) => {});\n"
        "const held = ({ member() {} });\n"
        "class Page { handler = (() => {}); }\n"
        "export default (() => {});\n"
    )
    assert listed("a.js", source) == [
        "function first 1-1: const first = function ()",
        "function second 2-2: const second = (event) =>",
        "method held.member 3-3: member()",
        "class Page 4-4: class Page",
        "method Page.handler 4-4: handler = () =>",
        "function default 5-5: export default () =>",
    ]


def test_what_is_called_at_once_or_only_has_a_function_in_it_is_none() -> None:
    source = (
        "const result = (() => 1)() as number;\nconst either = (ready ? () => 1 : null);\n"
        "function outer() {\n  other.field = (1 + 2);\n  other.made = { member() {} };\n}\n"
    )
    assert listed("a.ts", source) == ["function outer 3-6: function outer()", "method outer.member 5-5: member()"]


def test_an_operator_of_angle_brackets_is_a_name() -> None:
    source = "class Version\n  def <=>(other) 0 end\n  def <<(part) part end\n  def self.<=>(a) 1 end\nend\n"
    assert [line.split(":")[0] for line in listed("a.rb", source)] == [
        "class Version 1-5",
        "method Version.<=> 2-2",
        "method Version.<< 3-3",
        "method Version.<=> 4-4",
    ]


RUBY = """\
class Account
  # About secret.
  private def secret
    1
  end

  # About add.
  sig { params(amount: Integer).returns(Integer) }
  def add(amount)
    amount
  end

  # About both.
  sig do
    void
  end
  memoize def both
  end

  # About something else.
  signal { void }
  def apart = 1
end
"""


def test_ruby_comments_reach_across_what_a_definition_is_given_to_and_its_sig() -> None:
    assert listed("a.rb", RUBY)[1:] == [
        "method Account.secret 2-5: private def secret",
        "method Account.add 7-11: def add(amount)",
        "method Account.both 13-18: memoize def both",
        "method Account.apart 22-22: def apart",
    ]
    docs = [chunk.docstring for chunk in parse_file("a.rb", RUBY.encode()).chunks[1:]]
    assert docs == ["About secret.", "About add.", "About both.", ""]


MACROS = """\
MYLIB_BEGIN_NAMESPACE

// About Widget.
class MYLIB_EXPORT Widget final : public Base {
 public:
  int size() const { return 1; }
};
struct DEPRECATED("use Widget") MYLIB_EXPORT Old {
  int size() { return 2; }
};
template <> class MYLIB_EXPORT Hash<Old> { int of() { return 3; } };
enum class MYLIB_EXPORT Colour : int { Red };
class PLAIN final { int size() { return 4; } };
struct STAT found{1, 2};
MYLIB_END_NAMESPACE
"""


@pytest.mark.parametrize("path", ["a.cpp", "a.h"])
def test_a_macro_before_a_class_is_none_of_its_business(path: str) -> None:
    assert listed(path, MACROS) == [
        "class Widget 3-7: class MYLIB_EXPORT Widget final : public Base",
        "method Widget.size 6-6: int size() const",
        'struct Old 8-10: struct DEPRECATED("use Widget") MYLIB_EXPORT Old',
        "method Old.size 9-9: int size()",
        "class Hash 11-11: template <> class MYLIB_EXPORT Hash<Old>",
        "method Hash.of 11-11: int of()",
        "enum Colour 12-12: enum class MYLIB_EXPORT Colour : int",
        "class PLAIN 13-13: class PLAIN final",
        "method PLAIN.size 13-13: int size()",
    ]


@pytest.mark.parametrize(
    "piece", ["class AAA ", "class AAA(", "class AAA n<", "struct AAA n{", "A_NAMESPACE_", "ss   "]
)
@pytest.mark.long
def test_looking_for_macros_takes_no_longer_than_the_source_is(piece: str) -> None:
    assert grows_with_length(lambda times: hidden(piece.encode() * times), 5_000, 50_000)


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.rs", "/// Docs.\n#[inline] #[cold] // hot\npub fn run() {}\n", "function run 1-3: pub fn run()"),
        ("a.rs", "fn before() {} // Docs.\nfn run() {}\n", "function run 2-2: fn run()"),
        (
            "A.java",
            "class A {\n  /** Docs. */\n  @Override // why\n  @Deprecated /* when */\n  public void run() {}\n}\n",
            "method A.run 2-5: public void run()",
        ),
        (
            "a.ts",
            "class A {\n  /** Docs. */\n  @Listener('click') // on click\n  @Bound()\n  run() {}\n}\n",
            "method A.run 2-5: run()",
        ),
        ("a.ts", "class A {\n  @Input() x = 1; // Docs.\n  run() {}\n}\n", "method A.run 3-3: run()"),
        ("a.py", "# Docs.\n@first  # why\n# between\n@second\nclass A: pass\n", "class A 1-5: class A"),
    ],
)
def test_a_comment_that_ends_an_attributes_line_cuts_nothing_off(path: str, source: str, expected: str) -> None:
    assert listed(path, source)[-1] == expected
    docstring = parse_file(path, source.encode()).chunks[-1].docstring
    assert docstring == ("Docs." if "1-" in expected or "2-5" in expected else "")


@pytest.mark.parametrize(
    ("source", "language"),
    [
        (
            "struct Vec {\n  Vec() : x(0) {}\n  float dot(const Vec& o) const { return x * o.x; }\n};\n",
            "cpp",
        ),
        ("struct A : B {\n};\n", "cpp"),
        ("struct A {\n  virtual void f();\n};\n", "cpp"),
        ("struct A {\n  ~A() { close(); }\n};\n", "cpp"),
        ("struct A {\n  bool operator==(A other);\n};\n", "cpp"),
        ("#include <vector>\nint f();\n", "cpp"),
        ("std::string f();\n", "cpp"),
        ("/*\nclass of things\n*/\nint f(void); // std::string\n", "c"),
        ('/* const A & */\nchar *s = "\\"std::string";\n#include <stdio.h>\n', "c"),
        ("#ifdef __cplusplus\n#include <cstddef>\n#endif\nint f(const int *x);\n", "c"),
        ("int operator = 1;\nint x = a &\n  ~f();\nconst int y = z & 1;\n", "c"),
    ],
)
def test_a_header_is_what_its_code_tells(source: str, language: str) -> None:
    assert parse_file("a.h", source.encode()).language == language


NAMES = """\
TEST(ParserTest, RejectsEmptyInput) { parse(""); }
BOOST_AUTO_TEST_CASE(accepts) {}
SYSCALL_DEFINE3(read, unsigned int, fd, char *, buf) { return 1; }
PLAIN(int size) { return size; }
class XML { XML(Node) {} int operator()(int x) const { return x; } operator bool() const { return true; } };
void (*signal(int sig, void (*handler)(int)))(int) { return 0; }
int (*rows(void))[3] { return 0; }
int (bracketed)(int x) { return x; }
"""


def test_names_in_declarators_and_of_what_macros_define() -> None:
    found = [line.split(":")[0] for line in listed("a.cpp", NAMES)]
    assert found == [
        "function ParserTest.RejectsEmptyInput 1-1",
        "function accepts 2-2",
        "function read 3-3",
        "function PLAIN 4-4",
        "class XML 5-5",
        "method XML.XML 5-5",
        "method XML.operator() 5-5",
        "method XML.operator bool 5-5",
        "function signal 6-6",
        "function rows 7-7",
        "function bracketed 8-8",
    ]
    assert listed("a.cpp", NAMES)[0].endswith(": TEST(ParserTest, RejectsEmptyInput)")
    assert listed("a.c", NAMES.split("true; } };\n")[1]) == [
        "function signal 1-1: void (*signal(int sig, void (*handler)(int)))(int)",
        "function rows 2-2: int (*rows(void))[3]",
        "function bracketed 3-3: int (bracketed)(int x)",
    ]


def test_a_declaration_without_a_body_is_a_definition_unless_it_only_adds_to_one() -> None:
    source = (
        "/** Reads. */\nexport declare function read(path: string): Config;\n"
        "abstract class A {\n  /** Its area. */\n  abstract area(): number;\n}\n"
        "function over(a: string): void;\nfunction over(a: any) {}\n"
    )
    assert listed("a.d.ts", source) == [
        "function read 1-2: export declare function read(path: string): Config",
        "class A 3-6: abstract class A",
        "method A.area 4-5: abstract area(): number",
        "function over 7-8: function over(a: any)",
    ]
    assert listed("a.rs", "trait Shape {\n    /// Area.\n    fn area(&self) -> f64;\n}\n") == [
        "trait Shape 1-4: trait Shape",
        "method Shape.area 2-3: fn area(&self) -> f64",
    ]


def test_rust_methods_are_of_whatever_type_they_are_for() -> None:
    types = {"[X]": "[X]", "(A, B)": "(A,B)", "dyn Foo": "Foo", "[T; 4]": "[T; 4]", "()": "()", "*const X": "X"}
    for written, name in types.items():
        assert listed("a.rs", f"impl T for {written} {{ fn a() {{}} }}\n") == [f"method {name}.a 1-1: fn a()"]


def test_functions_of_lua_under_a_key_of_a_table_that_is_handed_over() -> None:
    source = (
        "local function find(opts)\n  new(opts, {\n    entry_maker = function(entry) return entry end,\n"
        '    ["other key"] = function() end,\n    [3] = function() end,\n    title = 1,\n  })\nend\n'
    )
    assert [each.split(":")[0] for each in listed("a.lua", source)] == [
        "function find 1-8",
        "function find.entry_maker 3-3",
        "function find.other key 4-4",
    ]


def test_a_definition_that_begins_where_another_ends_is_none_of_its() -> None:
    assert listed("a.js", "class A{a(){}b(){}}class B{c(){}}function d(){}\n") == [
        "class A 1-1: class A",
        "method A.a 1-1: a()",
        "method A.b 1-1: b()",
        "class B 1-1: class B",
        "method B.c 1-1: c()",
        "function d 1-1: function d()",
    ]
