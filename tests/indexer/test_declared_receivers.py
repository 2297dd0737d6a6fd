"""Callers that a declared type tells, however many methods are called alike; and what a function binds itself."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aurora_indexer.workers.process_file import parse_source
from aurora_memory.recall.question import parse_question
from aurora_memory.recall.relation_answer import answer
from aurora_memory.store import FileStat, IndexedFile, Store
from tests.indexer.test_module_aliases import usage
from tests.memory.stores import new_store

SWIFT = """class Cache { func store(_ x: Int) {} }
class Manager {
  let cache: Cache = Cache()
  let other: Cache?
  func field() { cache.store(1) }
  func parameter(c: Cache) { c.store(2) }
  func local() { let made = Cache(); made.store(3) }
  func own() { self.cache.store(4) }
  func optional() { other?.store(5) }
}
extension Manager { func extended() { cache.store(6) } }
"""
KOTLIN = """class Cache { fun store(x: Int) {} }
class Manager(val cache: Cache) {
  fun field() { cache.store(1) }
  fun parameter(c: Cache?) { c?.store(2) }
  fun local() { val made = Cache(); made.store(3) }
  fun own() { this.cache.store(4) }
}
"""
SCALA = """class Cache { def store(x: Int): Unit = {} }
class Manager(val cache: Cache) {
  def field() = { cache.store(1) }
  def parameter(c: Cache) = { c.store(2) }
  def local() = { val made = new Cache(); made.store(3) }
}
"""
CSHARP = """class Cache { public void store(int x) {} }
class Manager {
  private readonly Cache _cache = Open();
  public Cache Property { get; set; }
  void Field() { _cache.store(1); }
  void Parameter(Cache? c) { c?.store(2); }
  void Local() { var made = new Cache(); made.store(3); }
  void Own() { this._cache.store(4); }
  void OfProperty() { Property.store(5); }
  void Each(List<Cache> all) { foreach (Cache each in all) { each.store(6); } }
}
"""
JAVA = """class Cache { void store(int x) {} }
class Manager { void local() { var made = new Cache(); made.store(3); } }
"""
RUST = """struct Cache {}
impl Cache { fn store(&self, x: i32) {} }
struct Manager { cache: Cache }
impl Manager {
    fn field(&self) { self.cache.store(1); }
    fn parameter(&self, c: &mut Cache) { c.store(2); }
    fn local(&self) { let made = Cache::new(); made.store(3); }
    fn pointer(&self, p: Arc<Cache>) { p.store(4); }
}
"""
PHP = """<?php
class Cache { function store($x) {} }
class Manager {
  private Cache $cache;
  function field() { $this->cache->store(1); }
  function parameter(Cache $c) { $c->store(2); }
  function local() { $made = new Cache(); $made->store(3); }
}
"""
CPP = """class Cache { public: void store(int x) {} };
class Manager {
  Cache cache;
  void field() { cache.store(1); }
  void reference(const Cache& c) { c.store(2); }
  void pointer(Cache* p) { p->store(3); }
  void made() { auto made = new Cache(); made->store(4); }
  void own() { this->cache.store(5); }
};
"""
PYTHON = """class Cache:
    def store(self, x):
        pass


def quoted(c: "Cache | None"):
    c.store(1)
"""
DECLARED = [
    ("swift", SWIFT, "class S{n} {{ func store(_ x: Int) {{}} }}\n", 6),
    ("kt", KOTLIN, "class S{n} {{ fun store(x: Int) {{}} }}\n", 4),
    ("scala", SCALA, "class S{n} {{ def store(x: Int): Unit = {{}} }}\n", 3),
    ("cs", CSHARP, "class S{n} {{ void store(int x) {{}} }}\n", 6),
    ("java", JAVA, "class S{n} {{ void store(int x) {{}} }}\n", 1),
    ("rs", RUST, "struct S{n} {{}}\nimpl S{n} {{ fn store(&self, x: i32) {{}} }}\n", 4),
    ("php", PHP, "<?php\nclass S{n} {{ function store($x) {{}} }}\n", 3),
    ("cpp", CPP, "class S{n} {{ public: void store(int x) {{}} }};\n", 5),
    ("py", PYTHON, "class S{n}:\n    def store(self, x):\n        pass\n", 1),
]


@pytest.mark.parametrize("others", [1, 6, 120])
@pytest.mark.parametrize(("suffix", "text", "other", "callers"), DECLARED, ids=[case[0] for case in DECLARED])
async def test_what_is_declared_decides(
    tmp_path: Path, suffix: str, text: str, other: str, callers: int, others: int
) -> None:
    files = {f"a.{suffix}": text} | {f"s{n}.{suffix}": other.format(n=n) for n in range(others)}
    assert (await usage(tmp_path, files, f"a.{suffix}", "Cache.store")).callers == callers


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("swift", "class A {\n  let b: [Int]\n  func run() { self.b.run() }\n  func go() { self.b.run() }\n}\n"),
        ("kt", "class A {\n  val b = make()\n  fun run() { this.b.run() }\n  fun go() { this.b.run() }\n}\n"),
        ("rs", "struct A {}\nimpl A {\n  fn run(&self) { self.b.run() }\n  fn go(&self) { self.b.run() }\n}\n"),
    ],
)
async def test_a_field_s_method_is_not_surely_one_s_own(tmp_path: Path, suffix: str, text: str) -> None:
    assert (await usage(tmp_path, {f"a.{suffix}": text}, f"a.{suffix}", "A.run")).callers == 0


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await new_store(tmp_path / "memory.db")
    yield store
    await store.close()


def indexed(path: str, text: str) -> IndexedFile:
    parsed = parse_source(path, text.encode(), 5.0)
    assert parsed is not None
    return IndexedFile(FileStat(1, len(text)), parsed)


async def told(store: Store, question: str) -> tuple[list[tuple[str, str]], str]:
    await store.resolve()
    found = await store.read(answer, parse_question(question), 20, 1000.0)
    assert found is not None
    assert all(hit.is_likely for hit in found.hits)
    return [(hit.chunk.name, hit.relation) for hit in found.hits], found.said


async def test_more_namesakes_than_are_told_are_spoken_of(store: Store) -> None:
    use = indexed("use.py", "def use(x):\n    x.store(1)\n")
    files = [indexed(f"s{n}.py", f"class S{n}:\n    def store(self, x):\n        pass\n") for n in range(6)]
    await store.write([use, *files], first_time=True, edited=False)
    many = ([("use", "one of 6 of the name")], "1 calls 'store', which may be any of 6.")
    assert await told(store, "who calls S0.store") == many
    assert await told(store, "what does use call") == ([], "It calls store: too many are called so to tell which.")
    few = ([("use", "")], "Maybe 1 calls 'S0.store'.")
    await store.write(removed=["s5.py"])
    assert await told(store, "who calls S0.store") == few
    await store.write([files[5]])
    assert await told(store, "who calls S0.store") == many
    await store.write([indexed("s5.py", "class S5:\n    def other(self, x):\n        pass\n")])
    assert await told(store, "who calls S0.store") == few


async def test_more_bases_of_a_name_than_are_told_are_spoken_of(store: Store) -> None:
    heir = indexed("heir.cs", "class Heir : Base { void Run() {} }\n")
    files = [indexed(f"s{n}/b.cs", "class Base { void Run() {} }\n") for n in range(6)]
    await store.write([heir, *files], first_time=True, edited=False)
    assert await told(store, "what inherits from Base") == (
        [("Heir", "one of 6 of the name")],
        "1 inherits from 'Base', which may be any of 6.",
    )


SHADOWED_PYTHON = """def target():
    return 1


def parameter(target):
    return target()


def keyword(*, target=None):
    return target()


def local():
    target = make()
    return target()


def loop():
    for target in [1]:
        target()


def comprehension(many):
    return [target() for target in many]


def function():
    return lambda target: target()


def context():
    with make() as target:
        target()


def imported():
    from elsewhere import target
    return target()


def member(target):
    target.run()
"""
CALLED_PYTHON = """def target():
    return 1


def plain(x: dict[str, target], y: models.target = None) -> target:
    for x in target(y) if y in x else ():
        pass


def away():
    from away import other as theirs
    theirs()


def nested():
    def inner():
        return 1
    return inner()
"""
SHADOWED_TS = """export function fire() { return 1 }
export function parameter(fire: () => number) { return fire() }
export function parts({ fire }: X) { return fire() }
export function taken() { const { fire } = x; return fire() }
export function passed() { return many.map((fire) => fire()) }
"""
CALLED_TS = """export function fire() { return 1 }
export function typed(m: Map<string, fire>): fire { const z: fire = fire(); return z }
export function given() { return [1].map((x: fire): fire => fire(x)) }
export function holds() { const inner = () => 2; return inner() }
"""
SHADOWED_GO = """package c

func Fire() int { return 1 }
func parameter(Fire func() int) int { return Fire() }
func local() int { Fire := func() int { return 2 }; return Fire() }
func declared() int { var Fire func() int; return Fire() }
func literal() int { return run(func(Fire func() int) int { return Fire() }) }
"""
CALLED_GO = """package c

type Fire struct{}

func given(a map[string]Fire, more ...Fire) (Fire, error) { var x Fire; use(x); return Fire{}, nil }
func other() Fire { return Fire{} }
"""


@pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])
@pytest.mark.parametrize(
    ("path", "text", "name", "callers"),
    [
        ("a.py", SHADOWED_PYTHON, "target", 0),
        ("a.py", CALLED_PYTHON, "target", 1),
        ("a.py", CALLED_PYTHON, "nested.inner", 1),
        ("away.py", "def other():\n    return 1\n", "other", 1),
        ("b.ts", SHADOWED_TS, "fire", 0),
        ("b.ts", CALLED_TS, "fire", 2),
        ("b.ts", CALLED_TS, "holds.inner", 1),
        ("c.go", SHADOWED_GO, "Fire", 0),
        ("c.go", CALLED_GO, "Fire", 2),
    ],
)
async def test_what_a_function_binds_is_not_what_is_called_so(
    tmp_path: Path, path: str, text: str, name: str, callers: int, twice: bool
) -> None:
    files = {path: text} | ({"b.py": CALLED_PYTHON} if path == "away.py" else {})
    used = await usage(tmp_path, files, path, name, twice=twice)
    assert (used.callers, used.likely_callers) == (callers, 0)


async def test_a_module_s_function_is_not_a_parameter_s(tmp_path: Path) -> None:
    files = {
        "client.py": "def get():\n    return 1\n",
        "a.py": "import client\n\n\ndef use(client):\n    client.get()\n",
    }
    used = await usage(tmp_path, files, "client.py", "get")
    assert (used.callers, used.likely_callers) == (0, 1)


RUBY = """class Pool
  def alone
    spawn
  end
  def modified
    spawn if full?
  end
  def assigned
    x = spawn
  end
  def within
    "#{spawn}"
  end
  def handed
    go(spawn)
  end
  def variable
    spawn = 1
    spawn
  end
  def parameter(spawn)
    spawn
  end
  def block
    each { |spawn| spawn }
  end
  def saved
    risky
  rescue => spawn
    spawn
  end
  def spawn
    1
  end
  alias other spawn
end
"""


async def test_a_bare_name_of_ruby_is_a_call_unless_it_is_a_variable(tmp_path: Path) -> None:
    used = await usage(tmp_path, {"a.rb": RUBY}, "a.rb", "Pool.spawn")
    assert (used.callers, used.likely_callers) == (5, 0)


async def test_bases_with_brackets_in_their_brackets(tmp_path: Path) -> None:
    text = "class Base:\n    pass\n\n\nclass A(Base[list[int]]):\n    pass\n\n\nclass B(Base[t.IO[t.Any]]):\n    pass\n"
    assert (await usage(tmp_path, {"a.py": text}, "a.py", "Base")).subclasses == 2


MIXED = {
    "src/main/java/app/shop/Till.kt": "package app.shop\n\nclass Till {\n    fun weigh(line: Int): Int = line\n}\n\n"
    "object Scales {\n    @JvmStatic\n    fun level(): Int = 0\n}\n",
    "src/main/java/app/shop/Clerk.java": "package app.shop;\n\nclass Clerk {\n"
    "    int declared(final Till till) { return till.weigh(1); }\n    int made() { return new Till().weigh(2); }\n"
    "    int shared() { return Scales.level(); }\n}\n",
    "src/main/java/app/Boss.java": "package app;\n\nimport app.shop.Till;\n\nclass Boss extends Till {\n"
    "    int visited(Till till) { return till.weigh(3); }\n}\n",
    "src/main/scala/app/shop/Ledger.scala": "package app.shop\n\nclass Ledger {\n"
    "  def weighed(till: Till): Int = till.weigh(4)\n}\n",
}


async def test_languages_of_one_machine_call_one_another(tmp_path: Path) -> None:
    """A Kotlin class is used from Java, and Scala, as one of their own."""
    store = await new_store(tmp_path / "memory.db")
    try:
        await store.write([indexed(path, text) for path, text in MIXED.items()])
        await store.resolve()
        for question, names in (
            ("who calls Till.weigh", {"Clerk.declared", "Clerk.made", "Boss.visited", "Ledger.weighed"}),
            ("who calls Scales.level", {"Clerk.shared"}),
            ("who extends Till", {"Boss"}),
        ):
            found = await store.read(answer, parse_question(question), 20, 1000.0)
            assert found is not None
            assert {hit.chunk.name for hit in found.hits if not hit.is_likely} == names
    finally:
        await store.close()
