"""Callers that are found by what a receiver holds: over files, through what functions return and fields hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexer.test_module_aliases import usage

BOTH = pytest.mark.parametrize("twice", [False, True], ids=["at once", "file by file"])

GO = {
    "go.mod": "module example.org/shop\n\ngo 1.20\n",
    "store/db.go": "package store\n\ntype DB struct{ log *Log }\n\nfunc Open() (*DB, error) {\n\treturn &DB{}, nil\n}\n"
    "\nfunc (d *DB) Close() {\n\td.log.Add()\n\tsync()\n}\n",
    "store/log.go": "package store\n\ntype Log struct{}\n\nfunc (l *Log) Add() {}\n\nfunc sync() {}\n",
    "other/db.go": "package other\n\ntype DB struct{}\n\nfunc (d *DB) Close() {}\n\nfunc sync() {}\n",
    "main.go": 'package main\n\nimport "example.org/shop/store"\n\nfunc main() {\n\tdb, err := store.Open()\n'
    "\tdb.Close()\n\tuse(err)\n}\n",
    "use.go": 'package main\n\nimport s "example.org/shop/store"\n\nvar shared *s.DB\n\nfunc use(err error) {\n'
    "\tshared.Close()\n}\n",
}
PYTHON = {
    "web/client.py": "class Client:\n    def get(self):\n        return Answer()\n\n\nclass Answer:\n"
    "    def json(self):\n        pass\n",
    "web/other.py": "class Other:\n    def get(self):\n        pass\n\n    def json(self):\n        pass\n",
    "web/__init__.py": "from .client import Client\n\n\ndef connect() -> Client:\n    return Client()\n\n\n"
    "shared = connect()\n",
    "app.py": "from web import connect, shared\n\n\nclass App:\n    def __init__(self):\n"
    "        self.client = connect()\n\n    def run(self):\n        self.client.get().json()\n\n\n"
    "def other():\n    shared.get()\n",
}


@BOTH
@pytest.mark.parametrize(
    ("path", "name", "callers"),
    [
        ("store/db.go", "DB.Close", 2),
        ("store/db.go", "Open", 1),
        ("store/log.go", "Log.Add", 1),
        ("store/log.go", "sync", 1),
        ("use.go", "use", 1),
        ("other/db.go", "DB.Close", 0),
        ("other/db.go", "sync", 0),
    ],
)
async def test_go_packages(tmp_path: Path, path: str, name: str, callers: int, twice: bool) -> None:
    assert (await usage(tmp_path, GO, path, name, twice=twice)).callers == callers


@BOTH
@pytest.mark.parametrize(
    ("path", "name", "callers"),
    [
        ("web/client.py", "Client.get", 2),
        ("web/client.py", "Answer.json", 1),
        ("web/other.py", "Other.get", 0),
        ("web/other.py", "Other.json", 0),
    ],
)
async def test_python_packages(tmp_path: Path, path: str, name: str, callers: int, twice: bool) -> None:
    assert (await usage(tmp_path, PYTHON, path, name, twice=twice)).callers == callers


async def test_who_uses_what_a_function_returns_is_looked_up_again_when_it_returns_something_else(
    tmp_path: Path,
) -> None:
    changed = {"web/__init__.py": PYTHON["web/__init__.py"].replace("Client", "Other").replace(".client", ".other")}
    found = await usage(tmp_path, PYTHON, "web/other.py", "Other.get", then=changed)
    assert found.callers == 2


async def test_parameters_of_a_function_without_a_name_hold_in_it_only(tmp_path: Path) -> None:
    files = {
        "go.mod": "module shop.example/shop\n",
        "mux.go": "package shop\n\ntype Mux struct{}\n\nfunc NewMux() *Mux { return &Mux{} }\n\n"
        "func (m *Mux) Get(p string) {}\n\nfunc (m *Mux) Done() {}\n\nfunc (m *Mux) Find(p string) *Mux { return m }\n",
        "bill.go": "package shop\n\ntype Bill struct{}\n\nfunc (b *Bill) Pay() {}\n\nfunc (b *Bill) Get(p string) {}\n",
        "use.go": 'package shop\n\nfunc use() {\n\tr := NewMux()\n\tr.Get("{")\n'
        "\teach(func(w string, r *Bill) {\n\t\tr.Pay()\n\t\tagain(func(r other.Thing) { r.Done() })\n\t})\n"
        '\tr.Find("a")\n}\n',
        "more.go": "package shop\n\nfunc more() {\n\tr := NewMux()\n"
        '\teach(func(r *Bill) { x := r.Get("b"); x.Done() })\n\tr.Find("a")\n}\n',
    }
    assert (await usage(tmp_path, files, "mux.go", "Mux.Get")).callers == 1
    assert (await usage(tmp_path, files, "bill.go", "Bill.Pay")).callers == 1
    assert (await usage(tmp_path, files, "mux.go", "Mux.Find")).callers == 2
    assert (await usage(tmp_path, files, "bill.go", "Bill.Get")).callers == 1
    assert (await usage(tmp_path, files, "mux.go", "Mux.Done")).callers == 0


GO_FIELDS = {
    "go.mod": "module example.org/shop\n\ngo 1.20\n",
    "store/store.go": "package store\n\ntype Store interface{ Get(name string) Item }\n\n"
    "type Item interface{ Weigh() int }\n\n"
    "type Stores []Store\n\ntype Settings struct {\n\tFirst Store\n\tRest Stores\n"
    "\tLone []Parcel\n\tNamed map[string][]Store\n}\n\n"
    "type Parcel struct{}\n\nfunc (p Parcel) Open() {}\n\n"
    "type Base struct{ Settings *Settings }\n\nfunc (b *Base) All() Stores { return nil }\n\n"
    "func (s Stores) Sort() {}\n\nfunc (s Stores) Run() {\n\ts.Sort()\n}\n",
    "other/store.go": "package other\n\ntype Store interface{ Get(name string) Item }\n\n"
    "type Item interface{ Weigh() int }\n\ntype Stores []Store\n\nfunc (s Stores) Sort() {}\n",
    "main.go": 'package main\n\nimport "example.org/shop/store"\n\ntype Shop struct{ *store.Base }\n\n'
    'func (s *Shop) chain() { s.Base.Settings.First.Get("a").Weigh() }\n\n'
    'func (s *Shop) lent() { s.Settings.First.Get("a") }\n\n'
    'func (s *Shop) loop() {\n\tfor _, each := range s.All() {\n\t\teach.Get("a")\n\t}\n}\n\n'
    'func (s *Shop) item() { s.Settings.Rest[0].Get("a") }\n\n'
    'func (s *Shop) list() { s.Settings.Named["a"].Get("a") }\n\n'
    "func (s *Shop) sort() { s.Settings.Rest.Sort() }\n\n"
    "func (s *Shop) elements() { s.Settings.Named.Sort() }\n\n"
    "func (s *Shop) lone() { s.Settings.Lone[0].Open() }\n\n"
    'func said(some any) { some.(store.Store).Get("a") }\n\nfunc take(some []store.Stores) { some[0][1].Get("a") }\n',
}


@BOTH
@pytest.mark.parametrize(
    ("path", "name", "callers"),
    [
        ("store/store.go", "Store.Get", 6),
        ("store/store.go", "Item.Weigh", 1),
        ("store/store.go", "Stores.Sort", 2),
        ("store/store.go", "Base.All", 1),
        ("store/store.go", "Parcel.Open", 1),
        ("other/store.go", "Store.Get", 0),
        ("other/store.go", "Item.Weigh", 0),
        ("other/store.go", "Stores.Sort", 0),
    ],
)
async def test_go_fields_elements_and_interfaces(
    tmp_path: Path, path: str, name: str, callers: int, twice: bool
) -> None:
    assert (await usage(tmp_path, GO_FIELDS, path, name, twice=twice)).callers == callers


GO_SYSTEMS = {
    "go.mod": "module example.org/shop\n",
    "a_linux.go": "package shop\n\nfunc open() {}\n\nfunc test() {}\n",
    "a_windows.go": "package shop\n\nfunc open() {}\n",
    "use.go": "package shop\n\nfunc use() {\n\topen()\n\ttest()\n}\n",
    "a_test.go": "package shop_test\n\nfunc test() {}\n",
}


@BOTH
@pytest.mark.parametrize(
    ("path", "name", "callers", "likely"),
    [("a_linux.go", "open", 1, 0), ("a_windows.go", "open", 1, 0), ("a_linux.go", "test", 0, 1)],
)
async def test_go_is_written_for_several_systems(
    tmp_path: Path, path: str, name: str, callers: int, likely: int, twice: bool
) -> None:
    found = await usage(tmp_path, GO_SYSTEMS, path, name, twice=twice)
    assert (found.callers, found.likely_callers) == (callers, likely)


RUST = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/lib.rs": "mod cart;\n\npub struct Shop;\n\nimpl Shop {\n    fn open(&self) -> bool { true }\n\n"
    "    fn test(&self) {\n        assert!(self.open() && cart::is_empty(1));\n    }\n}\n",
    "src/cart.rs": "pub fn is_empty(n: u8) -> bool { n == 0 }\n\npub trait Read { fn read(&self); }\n\n"
    "impl Read for () {\n    fn read(&self) {}\n}\n\npub fn use_it() { make().read(); }\n",
}


@BOTH
@pytest.mark.parametrize(
    ("path", "name", "callers"),
    [("src/lib.rs", "Shop.open", 1), ("src/cart.rs", "is_empty", 1), ("src/cart.rs", "().read", 0)],
)
async def test_rust_macros_and_what_is_implemented_for_nothing(
    tmp_path: Path, path: str, name: str, callers: int, twice: bool
) -> None:
    assert (await usage(tmp_path, RUST, path, name, twice=twice)).callers == callers
