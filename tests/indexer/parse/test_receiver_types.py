"""Calls are read with the class of what they are called on, where the text says it plainly; elsewhere as written."""

from __future__ import annotations

import pytest

from aurora_indexer.parse.chunk_parser import parse_file


def called(path: str, source: str, name: str) -> set[str]:
    """What a definition calls, with its qualifiers."""
    (chunk,) = [each for each in parse_file(path, source.encode()).chunks if each.name == name]
    return {f"{ref.qualifier}.{ref.name}".lstrip(".") for ref in chunk.references if ref.kind == "calls"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def f():\n    c = Client()\n    c.get()\n", "Client().get"),
        ("def f():\n    with web.Client(a(), b=1) as c:\n        c.get()\n", "web.Client().get"),
        ("def f(c: Client | None = None):\n    c.get()\n", "Client().get"),
        ("def f():\n    Client(1).get()\n", "Client().get"),
        ("c = Client()\n\ndef f():\n    c.get()\n", "Client().get"),
        ("c = Client()\n\ndef f(c):\n    c.get()\n", "c.get"),
        ("def f(x):\n    c = Client()\n    c = Other()\n    c.get()\n", "c.get"),
        ("def f(x):\n    c.get()\n", "c.get"),
    ],
)
def test_python(body: str, expected: str) -> None:
    assert expected in called("a.py", body, "f")


def test_fields_of_a_python_class() -> None:
    source = "class A:\n    db: Database\n\n    def __init__(self):\n        self.web = Client()\n\n"
    source += "    def f(self):\n        self.web.get()\n        self.db.read()\n        self.own()\n"
    assert called("a.py", source, "A.f") == {"Client().get", "Database().read", "self.own"}


def test_typescript() -> None:
    source = """
class A {
  private db: Database<Row>;
  constructor(private web: Client) { this.log = new Log(); }
  f(c: Cache) { const q = new Query(); q.run(); c.get(); this.db.read(); this.web.send(); this.log.add(); this.own(); }
}
"""
    expected = {"Query().run", "Cache().get", "Database().read", "Client().send", "Log().add", "this.own", "Query"}
    assert called("a.ts", source, "A.f") == expected
