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
