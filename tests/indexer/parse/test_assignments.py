"""Assignments as a text has them: what each name is given, where it stands, and what is within another one."""

from __future__ import annotations

import pytest

from aurora_indexer.languages import LANGUAGES
from aurora_indexer.parse.assignments import VariableAssignment, assignments

SYNTAXES = {each.name: each.names for each in LANGUAGES if each.names is not None}
CASES = [
    ("python", b"a = Client(1)\n", [VariableAssignment(b"a", 0, b"Client()")]),
    ("python", b"self.a = await n.Client(1)\n", [VariableAssignment(b"self.a", 0, b"n.Client()")]),
    ("python", b"x.self.a = Client(1)\n", []),
    ("python", b"x == Client(1)\n", []),
    ("python", b"a" + b" " * 21 + b"= Client(1)\n", []),
    ("python", b"1a = Client()\n", []),
    ("python", b"a = b.c\nb = None\nc = c\n", [VariableAssignment(b"a", 0, b"b.c", same=True)]),
    ("python", b"a: Optional[Foo] = Foo()\n", [VariableAssignment(b"a", 0, b"Foo()", told=True)]),
    ("python", b"def f(a: t.Foo, b='x'): pass\n", [VariableAssignment(b"a", 6, b"Foo()", told=True)]),
    ("python", b"with Foo(a=Bar(1)) as f, Baz() as g:\n", [VariableAssignment(b"f", 22, b"Foo()")]),
    (
        "python",
        b"with Foo(a=Bar(1)) as f:\n    b = Bar()\n",
        [VariableAssignment(b"f", 22, b"Foo()"), VariableAssignment(b"b", 29, b"Bar()")],
    ),
    ("typescript", b"this.#a = new n.Client()\n", [VariableAssignment(b"this.#a", 0, b"n.Client()")]),
    ("typescript", b"let a?: Map<string, Foo<T>> | null;\n", [VariableAssignment(b"a", 4, b"Map()", told=True)]),
    ("typescript", b"let a: Foo = new Bar()\n", [VariableAssignment(b"a", 4, b"Foo()", told=True)]),
    ("typescript", b"let a: foo[] = new Bar()\n", [VariableAssignment(b"a", 4, b"Bar()")]),
    ("javascript", b"x = ok ? b : c = new Foo()\n", [VariableAssignment(b"b", 9, b"Foo()")]),
    ("go", b"a, err := &pkg.Client{}\n", [VariableAssignment(b"a", 0, b"pkg.Client()")]),
    ("go", b"x.a, b := T{}\n", [VariableAssignment(b"b", 5, b"T()")]),
    (
        "go",
        b"var a *T = T{}\nb := c.(D)\n",
        [VariableAssignment(b"a", 4, b"T()", told=True), VariableAssignment(b"b", 15, b"D()")],
    ),
    (
        "java",
        b"private Foo a; f(final n.Bar<T> b, int c, Baz[] d, Qux e) {\n",
        [
            VariableAssignment(b"a", 12, b"Foo()", told=True),
            VariableAssignment(b"b", 32, b"Bar()", told=True),
            VariableAssignment(b"e", 55, b"Qux()", told=True),
        ],
    ),
    (
        "java",
        b"for (Foo a : all) if (b instanceof Bar c) return Baz d\n",
        [VariableAssignment(b"a", 9, b"Foo()", told=True), VariableAssignment(b"c", 39, b"Bar()", told=True)],
    ),
]


@pytest.mark.parametrize(("language", "text", "expected"), CASES)
def test_each_name_has_what_its_text_gives_it(language: str, text: bytes, expected: list[VariableAssignment]) -> None:
    assert list(assignments(SYNTAXES[language], text)) == expected


@pytest.mark.parametrize("language", ["python", "typescript", "go", "java"])
def test_each_stands_where_it_is_said_to(language: str) -> None:
    text = b"".join(text for _, text, _ in CASES)
    found = list(assignments(SYNTAXES[language], text))
    assert len(found) >= 5
    assert all(text.startswith(each.name, each.start) for each in found)
    assert [each.start for each in found] == sorted(each.start for each in found)
