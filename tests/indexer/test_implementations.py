"""Who implements an interface of Go: by the methods that a type has, and is lent, and by nothing else."""

from __future__ import annotations

from pathlib import Path

from aurora_indexer.module_aliases import keep_module_aliases
from aurora_indexer.workers.process_file import parse_source
from aurora_memory.recall.question import parse_question
from aurora_memory.recall.relation_answer import answer
from aurora_memory.scope import SURE
from aurora_memory.store import FileStat, IndexedFile, Store, chunk_reader, relation_reader
from aurora_memory.views import UsageCounts
from tests.memory.stores import new_store

SHOP = """package shop

import "io"

type Store interface {
	Get(key string) ([]byte, error)
	// Put keeps it.
	Put(key string, value []byte) error
}

type Closing interface {
	Store
	io.Closer
}

type Odd interface {
	Store
	elsewhere.Thing
}

type private interface{ hidden() int }
type empty interface{}
type number interface{ ~int | ~string }

type Memory struct{ kept map[string][]byte }

func (m *Memory) Get(name string) (value []byte, err error) { return m.kept[name], nil }
func (m *Memory) Put(name string, value []byte) error       { return nil }
func (m *Memory) hidden() int                                { return 1 }

type Half struct{}

func (Half) Get(key string) ([]byte, error) { return nil, nil }

type Other struct{}

func (Other) Get(key string) ([]byte, bool)      { return nil, false }
func (Other) Put(key string, value []byte) error { return nil }

type Function func(key string) ([]byte, error)

func (f Function) Get(key string) ([]byte, error)      { return f(key) }
func (f Function) Put(key string, value []byte) error { return nil }
"""
DISK = """package disk

import (
	"io"

	"example.org/shop"
)

type Disk struct{ shop.Memory }

func (d *Disk) Close() error { return nil }

type Hiding struct{ shop.Memory }

func (h *Hiding) Put(number int) {}

type File struct {
	io.Closer
	shop.Store
}

func (f *File) hidden() int { return 1 }
"""
FILES = {"shop/shop.go": SHOP, "disk/disk.go": DISK}


async def opened(tmp_path: Path, files: dict[str, str]) -> Store:
    (tmp_path / "go.mod").write_text("module example.org\n")
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    store = await new_store(tmp_path / "memory.db")
    for path, text in files.items():
        parsed = parse_source(path, text.encode(), 5.0)
        assert parsed is not None
        await store.write([IndexedFile(FileStat(1, 1), parsed)])
    await keep_module_aliases(tmp_path, store, files)
    await store.resolve()
    return store


async def heirs(store: Store, name: str) -> list[str]:
    """Who is said to implement an interface, those that only may after a question mark."""
    found = await store.read(answer, parse_question(f"what implements {name}"), 50, 2e9)
    assert found is not None
    return sorted(f"?{hit.chunk.name}" if hit.is_likely else hit.chunk.name for hit in found.hits)


async def usage(store: Store, name: str) -> UsageCounts:
    (found,) = await store.read(chunk_reader.by_name, "shop/shop.go", name)
    return (await store.read(relation_reader.usages, [found.id])).get(found.id, UsageCounts())


async def test_who_has_an_interfaces_methods_implements_it(tmp_path: Path) -> None:
    store = await opened(tmp_path, FILES)
    assert await heirs(store, "Store") == ["Closing", "Disk", "File", "Function", "Memory", "Odd"]
    assert await heirs(store, "Closing") == ["Disk", "File"], "what it embeds is asked for too"
    assert await heirs(store, "Odd") == ["?Disk", "?File", "?Function", "?Memory"], "what it embeds is not known here"
    assert await heirs(store, "private") == ["Disk", "Hiding", "Memory"], (
        "elsewhere a name in lower case is another one"
    )
    assert await heirs(store, "empty") == await heirs(store, "number") == []
    assert await usage(store, "Store") == UsageCounts(subclasses=6)
    assert await usage(store, "Odd") == UsageCounts(likely_subclasses=4)
    assert await usage(store, "empty") == UsageCounts()
    await store.close()


async def test_who_has_the_methods_itself_comes_before_who_is_lent_them(tmp_path: Path) -> None:
    store = await opened(tmp_path, FILES)
    found = await store.read(answer, parse_question("what implements Store"), 50, 2e9)
    assert found is not None and found.said == "6 implement 'Store'."
    assert [hit.chunk.name for hit in found.hits] == ["Closing", "Odd", "Memory", "Function", "Disk", "File"]
    await store.close()


async def test_what_is_counted_is_what_is_told(tmp_path: Path) -> None:
    store = await opened(tmp_path, FILES)
    (found,) = await store.read(chunk_reader.by_name, "shop/shop.go", "Store")
    edges = await store.read(relation_reader.edges, found.id)
    told = [(each.other.name, each.weight) for each in edges if each.kind == "inherits" and not each.outgoing]
    assert sorted(told) == [(name, 1.0) for name in ("Closing", "Disk", "File", "Function", "Memory", "Odd")]
    (odd,) = await store.read(chunk_reader.by_name, "shop/shop.go", "Odd")
    likely = [each for each in await store.read(relation_reader.edges, odd.id, 3) if not each.outgoing]
    assert len(likely) == 3 and {each.weight for each in likely} == {0.6}
    await store.close()


async def test_who_gets_or_loses_a_method_is_told_at_once(tmp_path: Path) -> None:
    store = await opened(tmp_path, FILES)
    more = "package shop\n\nfunc (Half) Put(key string, value []byte) error { return nil }\n"
    parsed = parse_source("shop/more.go", more.encode(), 5.0)
    assert parsed is not None
    await store.write([IndexedFile(FileStat(1, 1), parsed)])
    assert "Half" in await heirs(store, "Store")
    await store.write(removed=["shop/more.go"])
    assert "Half" not in await heirs(store, "Store")
    await store.close()


USES = """package shop

type Shop struct {
	stores []Store
	*Half
}

func (s *Shop) All() {
	for _, each := range s.stores {
		each.Get("a")
	}
	own := &Memory{}
	own.Put("a", nil)
}

func (s *Shop) First() {
	s.stores[0].Put("a", nil)
	s.Half.Get("a")
}
"""


async def called(store: Store, name: str, *, forward: bool = False) -> list[str]:
    """Who calls a method, or (`forward`) what a function calls, those that only may after a question mark."""
    (found,) = await store.read(chunk_reader.by_name, "shop/uses.go" if forward else "shop/shop.go", name)
    related = await store.read(relation_reader.related, [found.id], "calls", 50, forward=forward)
    edges = await store.read(relation_reader.edges, found.id)
    told = {each.other.id: each.weight >= SURE for each in edges if each.kind == "calls" and each.outgoing == forward}
    assert told == dict(related), "explanations tell the same"
    chunks = await store.read(chunk_reader.by_id, [each for each, _ in related])
    return sorted(chunks[each].name if surely else f"?{chunks[each].name}" for each, surely in related)


async def test_who_calls_an_interfaces_method_may_call_those_that_implement_it(tmp_path: Path) -> None:
    store = await opened(tmp_path, {**FILES, "shop/uses.go": USES})
    assert await called(store, "Store.Get") == ["Shop.All"]
    assert await called(store, "Memory.Get") == ["?Shop.All"]
    assert await called(store, "Memory.Put") == ["?Shop.First", "Shop.All"], "what surely is called is told as that"
    assert await called(store, "Half.Get") == ["Shop.First"], "it has only one of the methods"
    assert await called(store, "Other.Get") == [], "its method gives something else"
    assert await called(store, "Memory.hidden") == [], "nobody calls the interface's"
    assert await called(store, "Shop.All", forward=True) == [
        *("?Function.Get", "?Memory.Get", "Memory", "Memory.Put", "Store.Get"),
    ]
    assert await usage(store, "Memory.Get") == UsageCounts(likely_callers=1)
    assert await usage(store, "Memory.Put") == UsageCounts(callers=1, likely_callers=1)
    assert await usage(store, "Store.Put") == UsageCounts(callers=1)
    answered = await store.read(answer, parse_question("who calls Memory.Put"), 50, 2e9)
    assert answered is not None and answered.said == "1 calls 'Memory.Put', and maybe 1 more."
    await store.close()


DECLARED = {
    "shop/ISender.cs": """
interface ISender : INamed { void Send(string to); void Rest(); }
interface INamed { string Name(); }
""",
    "shop/Mail.cs": """
class Post { public virtual void Rest() { } }
class Mail : Post, ISender {
    public void Send(string to) { }
    public string Name() { return "mail"; }
    public override void Rest() { }
    public void Pack() { }
}
class Fast : Mail { public new void Send(string to) { } }
class Other { public void Send(string to) { } }
""",
    "shop/uses.cs": """
class Shop {
    private readonly ISender _sender;
    private readonly Post _post;
    public void Ship() { _sender.Send("a"); _sender.Name(); _post.Rest(); }
    public void Test() { var mail = new Mail(); mail.Send("b"); mail.Pack(); }
}
""",
}


async def test_who_calls_what_an_interface_declares_may_call_who_says_to_implement_it(tmp_path: Path) -> None:
    store = await opened(tmp_path, DECLARED)

    async def callers(path: str, name: str) -> list[str]:
        (found,) = await store.read(chunk_reader.by_name, f"shop/{path}.cs", name)
        related = await store.read(relation_reader.related, [found.id], "calls", 50)
        edges = await store.read(relation_reader.edges, found.id)
        told = {each.other.id: each.weight >= SURE for each in edges if each.kind == "calls" and not each.outgoing}
        assert told == dict(related), "explanations tell the same"
        counts = (await store.read(relation_reader.usages, [found.id])).get(found.id, UsageCounts())
        assert (counts.callers, counts.likely_callers) == (sum(told.values()), len(told) - sum(told.values()))
        chunks = await store.read(chunk_reader.by_id, list(told))
        return sorted(f"{'' if told[each.id] else '?'}{each.name}" for each in chunks.values())

    assert await callers("ISender", "ISender.Send") == ["Shop.Ship"]
    assert await callers("Mail", "Mail.Send") == ["?Shop.Ship", "Shop.Test"], "through the interface, and by itself"
    assert await callers("Mail", "Mail.Name") == ["?Shop.Ship"], "of a base of the interface"
    assert await callers("Mail", "Fast.Send") == ["?Shop.Ship"], "its base says that it implements it"
    assert await callers("Mail", "Mail.Rest") == [], "of a base that is no interface it is not told"
    assert await callers("Mail", "Mail.Pack") == ["Shop.Test"], "no interface has it"
    assert await callers("Mail", "Other.Send") == [], "it implements nothing"
    (ship,) = await store.read(chunk_reader.by_name, "shop/uses.cs", "Shop.Ship")
    called = await store.read(relation_reader.related, [ship.id], "calls", 50, forward=True)
    names = {each.name for each in (await store.read(chunk_reader.by_id, [each for each, _ in called])).values()}
    assert {"Mail.Send", "Fast.Send", "Mail.Name"} <= names and "Other.Send" not in names
    answered = await store.read(answer, parse_question("who calls Mail.Name"), 50, 2e9)
    assert answered is not None and answered.said == "Maybe 1 calls 'Mail.Name'."
    await store.close()
