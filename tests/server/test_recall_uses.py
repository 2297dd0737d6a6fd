"""What was recalled and then used has an access; what was merely shown has none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aurora_cli.global_options import GlobalOptions
from aurora_cli.mem import index_once
from aurora_memory.views import ChunkView
from aurora_server.workspace.recall_uses import LATELY, ShownChunks
from tests.server.daemons import Daemon, Wire

CODE = '''def parse_ledger(text):
    """Read the ledger's lines."""
    return text.splitlines()


def sum_ledger(rows):
    """Add up the ledger's rows."""
    return sum(rows)
'''


def view(row: int, path: str, start: int, end: int) -> ChunkView:
    names = ChunkView.__struct_fields__
    values: dict[str, Any] = dict.fromkeys(names, "")
    return ChunkView(**{**values, "id": row, "path": path, "line_start": start, "line_end": end})


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        (lambda shown: shown.opened("a.py", 10.0), [2]),  # the best of that file's
        (lambda shown: shown.opened("c.py", 10.0), []),  # nothing was recalled there
        (lambda shown: shown.looked_at("a.py", 12, 10.0), [3]),  # the innermost there
        (lambda shown: shown.looked_at("a.py", 5, 10.0), [2]),
        (lambda shown: shown.looked_at("a.py", 99, 10.0), []),  # beside what was recalled
        (lambda shown: shown.used([3, 3, 77], 10.0), [3]),  # once, and only what was recalled
        (lambda shown: shown.opened("b.py", LATELY + 1.0), []),  # too long ago
        (lambda shown: (shown.opened("b.py", 10.0), shown.opened("b.py", 10.0))[1], []),  # a use is one use
        (lambda shown: shown.opened("", 10.0), []),  # reasoning stands in no file
    ],
)
def test_what_was_recalled_is_used_once_lately_and_there(what: Any, expected: list[int]) -> None:
    shown = ShownChunks()
    shown.show([view(1, "b.py", 1, 9), view(2, "a.py", 1, 30), view(3, "a.py", 10, 20), view(4, "", 0, 0)], 0.5)
    assert what(shown) == expected


def test_a_later_answer_says_which_is_best_of_a_file() -> None:
    shown = ShownChunks()
    shown.show([view(1, "a.py", 1, 9)], 1.0)
    shown.show([view(9, "b.py", 1, 9), view(2, "a.py", 11, 19)], 2.0)
    assert shown.opened("a.py", 3.0) == [2]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture
def root(tmp_path: Path, daemon: Daemon) -> Path:
    (tmp_path / "ledger.py").write_text(CODE, encoding="utf-8")
    with daemon.client(tmp_path) as client:
        client.request("aurora/index")
    return tmp_path


@pytest.fixture
def wire(daemon: Daemon, root: Path) -> Iterator[Wire]:
    with daemon.wire() as wire:
        wire.initialize(root)
        yield wire


def accesses(wire: Wire, name: str) -> int:
    return len(wire.result("aurora/explain", {"id": f"code:ledger.py:{name}"})["accesses"])


def becomes(wire: Wire, name: str, count: int) -> bool:
    for _ in range(100):
        if accesses(wire, name) == count:
            return True
        time.sleep(0.05)
    return False


def recalled(wire: Wire, query: str, **params: Any) -> str:
    return str(wire.result("aurora/recall", {"query": query, **params})["results"][0]["id"])


def opened(wire: Wire, root: Path) -> None:
    document = {"uri": (root / "ledger.py").as_uri(), "languageId": "python", "version": 1, "text": CODE}
    wire.notify("textDocument/didOpen", {"textDocument": document})


def asked(root: Path, line: int) -> dict[str, Any]:
    return {"uri": (root / "ledger.py").as_uri(), "position": {"line": line, "character": 5}}


def test_what_is_merely_shown_has_no_access(wire: Wire) -> None:
    for _ in range(3):
        recalled(wire, "add up the rows", include_content=True)
    assert accesses(wire, "sum_ledger") == 0


def test_a_command_that_only_makes_sure_of_an_index_recalls_nothing(daemon: Daemon, root: Path, wire: Wire) -> None:
    one_letter = "\n\ndef a():\n    return 1\n"
    (root / "ledger.py").write_text(CODE + one_letter, encoding="utf-8")
    with daemon.client(root) as client:
        client.request("aurora/index")
        index_once(client, root, GlobalOptions())
        recalled(wire, "add up the ledger's rows", limit=1)
        edited = CODE.replace("sum(rows)", "sum(rows) + 1") + one_letter.replace("1", "2")
        (root / "ledger.py").write_text(edited, encoding="utf-8")
        client.request("aurora/index")
    assert becomes(wire, "sum_ledger", 1)
    assert accesses(wire, "a") == 0


def test_what_is_opened_unasked_has_no_access(wire: Wire, root: Path) -> None:
    opened(wire, root)
    recalled(wire, "add up the rows")
    wire.result("aurora/explain", asked(root, 5))
    assert becomes(wire, "sum_ledger", 1), "what was asked for, which comes after any that the opening had"
    assert accesses(wire, "parse_ledger") == 0


def test_what_is_opened_after_it_was_recalled_has_one(wire: Wire, root: Path) -> None:
    recalled(wire, "add up the rows")
    opened(wire, root)
    assert becomes(wire, "sum_ledger", 1)
    assert accesses(wire, "parse_ledger") == 0


def test_what_a_pointer_rests_on_has_no_access(wire: Wire, root: Path) -> None:
    recalled(wire, "read the ledger's lines and add up the rows")
    place = {"textDocument": {"uri": (root / "ledger.py").as_uri()}, "position": {"line": 5, "character": 5}}
    assert wire.result("textDocument/hover", place)
    wire.result("aurora/explain", asked(root, 2))
    assert becomes(wire, "parse_ledger", 1), "what was asked for, which comes after any that the hover had"
    assert accesses(wire, "sum_ledger") == 0


def test_what_is_asked_about_after_it_was_recalled_has_one(wire: Wire, root: Path) -> None:
    recalled(wire, "read the ledger's lines and add up the rows")
    for _ in range(3):
        wire.result("aurora/explain", asked(root, 2))
    assert becomes(wire, "parse_ledger", 1)
    assert accesses(wire, "sum_ledger") == 0


def test_what_is_fetched_whole_by_its_id_has_one(wire: Wire) -> None:
    found = recalled(wire, "add up the rows")
    recalled(wire, found)
    assert accesses(wire, "sum_ledger") == 0  # its id alone is looked up, its text is not read
    recalled(wire, found, include_content=True)
    assert becomes(wire, "sum_ledger", 1)


def test_what_is_edited_after_it_was_recalled_has_one(wire: Wire, root: Path) -> None:
    recalled(wire, "add up the ledger's rows")
    (root / "ledger.py").write_text(CODE.replace("sum(rows)", "sum(rows) + 1"), encoding="utf-8")
    wire.result("aurora/index")
    assert becomes(wire, "sum_ledger", 1)
    assert accesses(wire, "parse_ledger") == 0


def test_what_a_merge_of_folders_cuts_away_was_not_shown(daemon: Daemon, tmp_path: Path) -> None:
    roots = [tmp_path / name for name in ("one", "two")]
    for root in roots:
        root.mkdir()
        (root / "ledger.py").write_text(CODE, encoding="utf-8")
    with daemon.wire() as wire:
        wire.initialize(roots[0])
        added = {"added": [{"uri": roots[1].as_uri(), "name": "two"}], "removed": []}
        wire.notify("workspace/didChangeWorkspaceFolders", {"event": added})
        wire.result("aurora/index", {})
        (told,) = wire.result("aurora/recall", {"query": "add up the rows", "limit": 1})["results"]
        for root in roots:
            opened(wire, root)
        with daemon.wire() as first, daemon.wire() as second:
            alone = {str(root): each for root, each in zip(roots, (first, second), strict=True)}
            for root in roots:
                alone[str(root)].initialize(root)
            assert becomes(alone.pop(told["workspace"]), "sum_ledger", 1)
            (other,) = alone.values()
            assert accesses(other, "sum_ledger") == 0
