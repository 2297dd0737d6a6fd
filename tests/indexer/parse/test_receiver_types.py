"""Calls are read with the class of what they are called on, where the text says it plainly; elsewhere as written."""

from __future__ import annotations

import re
from typing import Any

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


JAVA = """
class A extends B {
  private final Client client;
  @Inject Map<String, List<Row>> rows = new HashMap<>();
  Row[] many;

  A(Client client) { this.client = client; client.open(); }

  String f(final Store<Row> store, int n, Object any) throws IOException {
    client.send(n);
    this.client.close();
    rows.put("a", null);
    many.fill();
    Cursor found = store.find(n).first();
    for (Row row : found.rows()) { row.read(); }
    try { new Builder<Row>(n).with("(").build(); } catch (Failure failure) { failure.tell(); }
    if (any instanceof Leaf leaf) { leaf.fold(); }
    Client.check();
    super.f();
    own();
    (n > 0 ? found : null).end();
    return any.text();
  }

  void g(Other client) { client.send(); inherited.call(); }
}
"""


def test_java() -> None:
    expected = {
        "Client().send",
        "Client().close",
        "Map().put",
        "many.fill",  # what an array has is no row's
        "Store().find",
        "Store().find().first",
        "Cursor().rows",
        "Row().read",
        "Builder",
        "Builder().with",
        "Builder().with().build",
        "Failure().tell",
        "Leaf().fold",
        "Client.check",
        "super.f",
        "own",
        "().end",
        "Object().text",
    }
    assert called("A.java", JAVA, "A.f") == expected
    assert called("A.java", JAVA, "A.A") == {"Client().open"}
    assert called("A.java", JAVA, "A.g") == {"Other().send", "inherited.call"}, "a parameter hides a field"


def test_what_java_holds_is_told_to_no_other_file() -> None:
    chunks = parse_file("A.java", JAVA.encode()).chunks
    assert not [ref for chunk in chunks for ref in chunk.references if ref.kind in {"holds", "returns"}]


def test_what_is_imported_is_no_instance() -> None:
    assert called("a.js", "const web = require('./web');\nfunction f() { web.get(); }\n", "f") == {"web.get"}


GO = """package a

type Cursor struct {
\t*Base
\tbucket *Bucket // what it is in
\tleft, right node `json:"-"`
\tmany   []node
}

func (c *Cursor) Walk(db *store.DB, n int) (b *Bucket, err error) {
\tc.bucket.Get(n)
\tdb.Begin()
\ttx, err := db.Begin(true)
\ttx.Commit()
\tother := &Cursor{}
\tother.Walk(nil, 1)
\tdb.Update(func(inner *store.Tx) error { return inner.Rollback() })
\tdb.From("(").Where("x").Find()
\tb = open()
\tb.Close()
\tunknown.Do()
\treturn b, nil
}
"""


def noted(path: str, source: str) -> dict[str, set[str]]:
    """What is noted of each definition, `name: value`."""
    return {
        each.name: {f"{ref.name}: {ref.qualifier}" for ref in each.references if ref.kind in ("returns", "holds")}
        for each in parse_file(path, source.encode()).chunks
    }


def test_go() -> None:
    assert called("a.go", GO, "Cursor.Walk") == {
        *("Cursor().bucket.Get", "store.DB().Begin", "store.DB().Begin().Commit", "Cursor", "Cursor().Walk"),
        *("store.DB().Update", "store.Tx().Rollback", "store.DB().From", "store.DB().From().Where"),
        *("store.DB().From().Where().Find", "open", "Bucket().Close", "unknown.Do"),
    }
    assert noted("a.go", GO)["Cursor"] == {
        *("bucket: Bucket()", "left: node()", "right: node()", "many: #node()"),
    }
    assert noted("a.go", GO)["Cursor.Walk"] == {": Bucket()"}


@pytest.mark.parametrize(
    ("written", "called"),
    [
        ("for _, each := range c.many {\n\teach.Go()\n}", "Cursor().many.#.Go"),
        ("for _, each := range c.list(1) {\n\teach.Go()\n}", "Cursor().list().#.Go"),
        ("for each := range c.many {\n\teach.Go()\n}", "each.Go"),
        ("c.many[0].Go()", "Cursor().many.#.Go"),
        ("each := c.many[0]\neach.Go()", "Cursor().many.#.Go"),
        ("few := c.many[1:2]\nfew.Go()", "few.Go"),
        ("all := []*store.DB{}\nall[0].Go()", "store.DB().Go"),
        ("all := make(map[string]store.DB)\nall[key].Go()", "store.DB().Go"),
        ("var all []Cursor\nall[0].Go()", "Cursor().Go"),
        ("rest[0].Go()", "Cursor().Go"),
        ("c.(*store.DB).Go()", "store.DB().Go"),
        ("db := c.value(key).(*store.DB)\ndb.Go()", "store.DB().Go"),
        ("(&store.DB{one: 1}).Go()", "store.DB().Go"),
        ("(*c).Go()", "Cursor().Go"),
        ("db := new(store.DB)\ndb.Go()", "store.DB().Go"),
        ("db := store.Open()\ndb = &other.DB{}\ndb.Go()", "store.Open().Go"),
        ("var db = store.Open()\ndb = other.Open()\ndb.Go()", "store.Open().Go"),
        ("db = &store.DB{}\ndb.Go()", "store.DB().Go"),
        ("{\ndb := store.Open()\n}\ndb := &other.DB{}\ndb.Go()", "db.Go"),
    ],
)
def test_elements_and_types_of_go(written: str, called: str) -> None:
    source = f"package a\n\nfunc (c *Cursor) walk(rest ...Cursor) {{\n{written}\n}}\n"
    chunk = next(each for each in parse_file("a.go", source.encode()).chunks if each.name.endswith("walk"))
    found = [ref for ref in chunk.references if ref.kind == "calls" and ref.name == "Go"]
    assert [f"{each.qualifier}.{each.name}" for each in found] == [called]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("func f() []*store.DB {\n}", {": #store.DB()"}),
        ("func f() (all map[string]DB, err error) {\n}", {": #DB()"}),
        ("type f []*DB", {"#: DB()"}),
        ("type f map[string]store.DB", {"#: store.DB()"}),
        ("type f DB", set()),
        ("var f []DB", {"f: #DB()"}),
    ],
)
def test_lists_of_go_are_noted(written: str, expected: set[str]) -> None:
    (noted_,) = noted("a.go", f"package a\n\n{written}\n").values()
    assert noted_ == expected


@pytest.mark.parametrize(
    ("path", "source", "name", "expected"),
    [
        ("a.py", "def f() -> Client:\n    return g()\n", "f", ": Client()"),
        ("a.py", "def f() -> 'Client | None':\n    pass\n", "f", ": Client()"),
        ("a.py", "def f(env: Env):\n    return env.make(a(1))\n", "f", ": Env().make()"),
        ("a.py", "app = make(1)\n\n\ndef f():\n    pass\n", "<module>", "app: make()"),
        ("a.py", "class A:\n    def __init__(self, env: 'Env'):\n        self.env = env\n", "A", "env: Env()"),
        ("a.ts", "export function f(): Promise<Client> { return g(); }\n", "f", ": Client()"),
        ("a.ts", "export function f() { return new Client(1); }\n", "f", ": Client()"),
        ("a.ts", "class A { constructor(private web: Client) {} }\n", "A", "web: Client()"),
    ],
)
def test_what_functions_return_and_fields_hold(path: str, source: str, name: str, expected: str) -> None:
    assert noted(path, source)[name] == {expected}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("def f(a):\n    if a:\n        return Client()\n    return Other()\n", "f"),
        ("def f():\n    return Client().name\n", "f"),
        ("def f():\n    return Client() or None\n", "f"),
        ("class A:\n    def __init__(self, env):\n        self.env = env\n", "A"),
        ("app = make(1) if ready else None\n\n\ndef f():\n    pass\n", "<module>"),
    ],
)
def test_what_is_not_plain_is_not_noted(source: str, name: str) -> None:
    assert noted("a.py", source)[name] == set()


def test_whether_a_method_was_given_what_it_keeps_takes_no_pattern_for_each_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [f"        self.f{n} = p{n}.made()\n        self.g{n} = q{n}.made()" for n in range(20)]
    given = ", ".join(f"p{n}" for n in range(20))
    source = f"class A:\n    def __init__(self, {given}):\n" + "\n".join(lines) + "\n"
    made: list[Any] = []
    search = re.search
    monkeypatch.setattr(re, "search", lambda pattern, *told: made.append(pattern) or search(pattern, *told))
    (chunk,) = [each for each in parse_file("a.py", source.encode()).chunks if each.name == "A"]
    monkeypatch.undo()
    held = {ref.name for ref in chunk.references if ref.kind == "holds"}
    assert held == {f"g{n}" for n in range(20)}
    assert not [pattern for pattern in made if isinstance(pattern, bytes) and re.search(rb"[pq]\d", pattern)]
