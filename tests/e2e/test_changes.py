"""What is recalled follows the files: saves, moves, branches, ignore rules, and what happened while nobody looked."""

from __future__ import annotations

import itertools
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from aurora_protocol.client import Client
from aurora_protocol.connection import open_connection
from tests.e2e.product import Product, eventually, knows, product_in, recall
from tests.e2e.repositories import commit, git, write
from tests.server.daemons import Wire
from tests.shares import one_of_each

CODE = "def {}(value):\n    return value\n"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product_in(tmp_path_factory.mktemp("aurora") / "home") as product:
        product.session(None).close()  # the daemon is all tests', not the first one's
        yield product


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(
        tmp_path / "work",
        {
            "one.py": CODE.format("first_function") + "\n\n" + CODE.format("second_function"),
            "two.py": CODE.format("third_function"),
            "deep/three.go": "package deep\n\nfunc FourthFunction() int {\n\treturn 4\n}\n",
        },
    )


@pytest.fixture
def client(product: Product, root: Path) -> Iterator[Client]:
    with product.session(root) as client:
        assert client.request("aurora/index")["files"] == 3
        yield client


def becomes(client: Client, file: str, name: str, *, known: bool = True) -> None:
    """Wait until memory knows the definition, or no longer does."""
    what = f"memory {'knows' if known else 'forgets'} {file}:{name}"
    eventually(lambda: knows(client, file, name) is known, what)


def replace(path: Path, text: str) -> None:
    """Save as careful editors do: write beside, then rename over."""
    beside = path.with_name(f".{path.name}.swp~")
    beside.write_text(text, encoding="utf-8")
    with beside.open("rb") as file:
        os.fsync(file.fileno())
    beside.replace(path)


def backup(path: Path, text: str) -> None:
    """Save as older editors do: move the file away, write anew, drop the old one."""
    old = path.with_name(path.name + "~")
    path.rename(old)
    path.write_text(text, encoding="utf-8")
    old.unlink()


def truncate(path: Path, text: str) -> None:
    """Save as simple editors do: empty the file, write it in pieces."""
    with path.open("w", encoding="utf-8") as file:
        for line in text.splitlines(keepends=True):
            file.write(line)
            file.flush()
            time.sleep(0.01)


def in_place(path: Path, text: str, times: os.stat_result) -> None:
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def renamed_over(path: Path, text: str, times: os.stat_result) -> None:
    """As `rsync -t`, `cp -p` and `mv` do."""
    beside = path.with_name(f".{path.name}.new")
    in_place(beside, text, times)
    beside.replace(path)


@pytest.mark.parametrize(
    ("seen", "write_alike"),
    one_of_each(itertools.product(["live", "after a restart", "by hand"], [in_place, renamed_over])),
)
def test_other_content_of_the_same_size_and_time_is_seen(
    tmp_path: Path, write_alike: Callable[[Path, str, os.stat_result], None], seen: str
) -> None:
    """Equal size and mtime counted as unchanged for ever: a name was answered with another function's text."""
    root = write(tmp_path / "work", {"two.py": CODE.format("third_function")})
    with product_in(tmp_path / "home") as product:
        with product.session(root) as client:
            client.request("aurora/index")
            times = (root / "two.py").stat()
            if seen == "live":
                write_alike(root / "two.py", CODE.format("other_function"), times)
                becomes(client, "two.py", "other_function")
                return
        if seen == "after a restart":
            assert product.aurora("daemon", "stop", cwd=root).returncode == 0
        write_alike(root / "two.py", CODE.format("other_function"), times)
        assert (root / "two.py").stat().st_size == times.st_size
        with product.session(root) as client:
            client.request("aurora/index", {"paths": ["two.py"]} if seen == "by hand" else None)
            assert knows(client, "two.py", "other_function") and not knows(client, "two.py", "third_function")


@pytest.mark.parametrize("save", [Path.write_text, replace, backup, truncate])
def test_a_save_is_recalled(client: Client, root: Path, save: Callable[[Path, str], Any]) -> None:
    save(root / "two.py", CODE.format("renamed_by_saving") + "\n\n" + CODE.format("added_by_saving"))
    becomes(client, "two.py", "added_by_saving")
    assert knows(client, "two.py", "renamed_by_saving") and not knows(client, "two.py", "third_function")
    assert recall(client, "added by saving")[0]["name"] == "added_by_saving"
    files = {one["file"] for one in recall(client, "first_function second_function added_by_saving", limit=50)}
    assert files <= {"one.py", "two.py", "deep/three.go"}, "no trace of what editors write beside"


def test_lines_follow_an_edit_above(client: Client, root: Path) -> None:
    text = (root / "one.py").read_text()
    (root / "one.py").write_text("# a new first line\nimport os\n\n\n" + text)

    def moved() -> bool:
        chunk = client.request("aurora/explain", {"id": "code:one.py:second_function"})["chunk"]
        return (chunk["line_start"], chunk["line_end"]) == (9, 10)

    eventually(moved, "the lines of second_function move")
    (best, *_) = recall(client, "second function", include_content=True)
    assert best["content"].splitlines() == CODE.format("second_function").splitlines()


def test_created_deleted_and_renamed_files(client: Client, root: Path) -> None:
    write(root, {"new/folder/fresh.rb": "def brand_new_method\n  1\nend\n"})
    becomes(client, "new/folder/fresh.rb", "brand_new_method")
    (root / "two.py").unlink()
    becomes(client, "two.py", "third_function", known=False)
    (root / "one.py").rename(root / "uno.py")
    becomes(client, "uno.py", "first_function")
    becomes(client, "one.py", "first_function", known=False)
    (root / "new").rename(root / "renewed")
    becomes(client, "renewed/folder/fresh.rb", "brand_new_method")
    becomes(client, "new/folder/fresh.rb", "brand_new_method", known=False)
    (root / "renewed" / "folder" / "fresh.rb").unlink()
    becomes(client, "renewed/folder/fresh.rb", "brand_new_method", known=False)
    assert client.request("aurora/index")["files"] == 2


def test_a_function_moved_to_another_file_is_there_and_nowhere_else(client: Client, root: Path) -> None:
    (root / "one.py").write_text(CODE.format("first_function"))
    with (root / "two.py").open("a") as file:
        file.write("\n\n" + CODE.format("second_function"))
    becomes(client, "two.py", "second_function")
    becomes(client, "one.py", "second_function", known=False)
    places = [one["file"] for one in recall(client, "second_function") if one["name"] == "second_function"]
    assert places == ["two.py"]


def test_a_syntax_error_loses_nothing_else(client: Client, root: Path) -> None:
    broken = "def broken(:\n    return ((\n"
    text = "\n\n".join([CODE.format("before_error"), broken, CODE.format("after_error"), CODE.format("far_after")])
    (root / "one.py").write_text(text)
    becomes(client, "one.py", "far_after")
    assert knows(client, "one.py", "before_error")
    assert knows(client, "one.py", "after_error") or recall(client, "after_error"), "at least its text is kept"
    (root / "one.py").write_text(text.replace(broken, CODE.format("mended")))
    becomes(client, "one.py", "mended")
    assert knows(client, "one.py", "after_error")


def test_a_syntax_error_in_one_language_leaves_the_neighbours(client: Client, root: Path) -> None:
    write(
        root,
        {
            "app.ts": "export function good(): number { return 1 }\nfunction bad( { = ;\n"
            "export function alsoGood(): number { return 2 }\n",
            "lib.go": "package lib\n\nfunc Sound() int { return 1 }\n\nfunc Cracked( {\n\n"
            "func AlsoSound() int { return 2 }\n",
        },
    )
    becomes(client, "app.ts", "good")
    becomes(client, "lib.go", "Sound")
    assert recall(client, "alsoGood") and recall(client, "AlsoSound")


def test_a_branch_switch_is_one_batch_with_the_right_result(product: Product, tmp_path: Path) -> None:
    root = write(tmp_path / "work", {f"pack/file_{n}.py": CODE.format(f"common_{n}") for n in range(60)})
    git(root, "init", "-q", "-b", "main")
    commit(root, "main")
    git(root, "switch", "-q", "-c", "feature")
    for number in range(40):
        (root / "pack" / f"file_{number}.py").write_text(CODE.format(f"feature_{number}"))
    (root / "pack" / "file_59.py").unlink()
    write(root, {"only/here.py": CODE.format("only_on_feature")})
    commit(root, "feature")
    git(root, "switch", "-q", "main")
    with product.session(root) as client:
        assert client.request("aurora/index")["files"] == 60
        for branch, other in (("feature", "common"), ("main", "feature"), ("feature", "common")):
            git(root, "switch", "-q", branch)
            becomes(client, "only/here.py", "only_on_feature", known=branch == "feature")
            present = "feature" if branch == "feature" else "common"
            becomes(client, "pack/file_39.py", f"{present}_39")
            for number in range(40):
                becomes(client, f"pack/file_{number}.py", f"{present}_{number}")
                assert not knows(client, f"pack/file_{number}.py", f"{other}_{number}")
            assert knows(client, "pack/file_59.py", "common_59") is (branch == "main")
            done = client.request("aurora/index")
            assert (done["files"], done["parsed_files"], done["removed_files"]) == (60, 0, 0)
    product.aurora("daemon", "stop", cwd=root)  # which writes the log to its end
    runs = [(run["parsed"], run["removed"]) for run in _indexed(product, root) if run["parsed"] or run["removed"]]
    assert runs == [(60, 0), (41, 1), (41, 1), (41, 1)], "each switch is one batch"


def _indexed(product: Product, root: Path) -> list[dict[str, Any]]:
    """The log's entries on what indexing did in `root`."""
    entries = [json.loads(line) for line in product.address.log.read_text("utf-8").splitlines() if line[:1] == "{"]
    runs = [entry for entry in entries if entry.get("message", entry.get("event")) == "indexed"]
    return [entry for entry in runs if entry.get("root") == str(root)]


def test_a_memory_made_by_older_rules_of_chunking_is_looked_through_anew_once(product: Product, root: Path) -> None:
    with product.session(root) as client:
        files = client.request("aurora/index")["files"]
    product.aurora("daemon", "stop", cwd=root)
    (memory,) = [path for path in product.databases() if _is_memory_of(path, root)]
    with closing(sqlite3.connect(memory)) as db, db:
        assert db.execute("UPDATE facts SET value = '0' WHERE key = 'chunking'").rowcount == 1
        db.execute("UPDATE chunks SET body_hash = x'00', kind = 'class' WHERE name = 'third_function'")
        referred = db.execute("SELECT name, count(*) FROM refs GROUP BY name ORDER BY name").fetchall()
        assert referred
        db.execute("UPDATE refs SET name = 'what_older_rules_read'")
        db.execute(
            "INSERT INTO accesses (chunk_id, at, kind) SELECT id, 1.0, 'used' FROM chunks WHERE name = 'third_function'"
        )
    found = product.json("index", cwd=root)
    assert (found["parsed_files"], found["unchanged_files"]) == (files, 0)
    again = product.json("mem", "third_function", cwd=root)["results"][0]
    assert (again["kind"], again["last_used"]) == ("function", "1970-01-01T00:00:01Z"), "what was learned stays"
    product.aurora("daemon", "stop", cwd=root)
    with closing(sqlite3.connect(memory)) as db:
        now = db.execute("SELECT name, count(*) FROM refs GROUP BY name ORDER BY name").fetchall()
    assert now == referred, "also of chunks whose text is the same"
    assert product.json("index", cwd=root)["parsed_files"] == 0


def test_changes_made_while_the_daemon_was_down_are_found(product: Product, root: Path) -> None:
    with product.session(root) as client:
        client.request("aurora/index")
        assert knows(client, "two.py", "third_function")
    product.aurora("daemon", "stop", cwd=root)
    assert not product.processes()
    (root / "one.py").write_text(CODE.format("written_in_the_dark"))
    (root / "two.py").unlink()
    write(root, {"late.py": CODE.format("born_in_the_dark")})
    found = product.json("index", cwd=root)
    assert (found["parsed_files"], found["unchanged_files"], found["removed_files"]) == (2, 1, 1)
    answer = product.json("mem", "born in the dark", cwd=root)
    assert answer["results"][0]["name"] == "born_in_the_dark"
    with product.session(root) as client:
        assert knows(client, "one.py", "written_in_the_dark") and not knows(client, "one.py", "first_function")
        assert not knows(client, "two.py", "third_function")


def test_the_first_recall_after_a_pause_says_what_is_pending_or_is_right(product: Product, root: Path) -> None:
    product.json("index", cwd=root)
    product.aurora("daemon", "stop", cwd=root)
    (root / "two.py").write_text(CODE.format("entirely_different"))
    answer = product.json("mem", "entirely different", cwd=root)
    fresh = answer["freshness"]
    right = bool(answer["results"]) and answer["results"][0]["name"] == "entirely_different"
    assert right or fresh["pending_files"] or fresh["state"] != "ready", answer


def test_ignore_rules_that_change_take_files_out_and_let_them_in(client: Client, root: Path) -> None:
    (root / ".gitignore").write_text("two.py\n")
    git(root, "init", "-q")
    becomes(client, "two.py", "third_function", known=False)
    (root / "deep" / ".gitignore").write_text("*.go\n")
    becomes(client, "deep/three.go", "FourthFunction", known=False)
    (root / ".auroraignore").write_text("one.py\n")
    becomes(client, "one.py", "first_function", known=False)
    (root / ".gitignore").write_text("")
    becomes(client, "two.py", "third_function")
    (root / "deep" / ".gitignore").unlink()
    becomes(client, "deep/three.go", "FourthFunction")
    (root / ".auroraignore").unlink()
    becomes(client, "one.py", "first_function")


def test_a_save_rewrites_only_what_changed(product: Product, client: Client, root: Path) -> None:
    """An unchanged neighbour keeps its row: whatever is remembered about it hangs from that."""

    def rows() -> dict[str, int]:
        (path,) = [path for path in product.databases() if _is_memory_of(path, root)]
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            return dict(connection.execute("SELECT name, id FROM chunks WHERE path = 'one.py'").fetchall())

    before = rows()
    text = (root / "one.py").read_text()
    edited = text.replace(CODE.format("first_function"), "\n\ndef first_function(value):\n    return value + 1\n")
    (root / "one.py").write_text(edited + "\n\n" + CODE.format("newcomer"))
    becomes(client, "one.py", "newcomer")
    after = rows()
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"newcomer"}


def _is_memory_of(path: Path, root: Path) -> bool:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return ("root", str(root)) in connection.execute("SELECT key, value FROM facts").fetchall()


@pytest.fixture
def wire(product: Product, root: Path, client: Client) -> Iterator[Wire]:
    with Wire(open_connection(product.address, 5.0)) as wire:
        hierarchy = {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}
        wire.initialize(root, capabilities={"textDocument": hierarchy})
        yield wire


def test_an_unsaved_buffer_is_what_hover_and_symbols_see(wire: Wire, client: Client, root: Path) -> None:
    uri = (root / "one.py").as_uri()
    saved = (root / "one.py").read_text()
    unsaved = "# three\n# new\n# lines\n" + saved + "\n\ndef only_in_the_buffer():\n    return first_function(1)\n"
    document = {"uri": uri, "languageId": "python", "version": 1, "text": saved}
    wire.notify("textDocument/didOpen", {"textDocument": document})
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": unsaved}]}
    wire.notify("textDocument/didChange", change)
    symbols = wire.result("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [symbol["name"] for symbol in symbols] == ["first_function", "second_function", "only_in_the_buffer"]
    assert symbols[0]["selectionRange"]["start"] == {"line": 3, "character": 4}
    assert symbols[2]["range"]["end"]["line"] == len(unsaved.splitlines()) - 1
    line = len(unsaved.splitlines()) - 1
    at_the_call = {"textDocument": {"uri": uri}, "position": {"line": line, "character": 14}}
    assert "first_function" in wire.result("textDocument/hover", at_the_call)["contents"]["value"]
    at_the_definition = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 6}}
    assert "first_function" in wire.result("textDocument/hover", at_the_definition)["contents"]["value"]
    assert not knows(client, "one.py", "only_in_the_buffer"), "memory holds files, not buffers"
    wire.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    symbols = wire.result("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [symbol["name"] for symbol in symbols] == ["first_function", "second_function"]
