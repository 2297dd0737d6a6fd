"""Hover, symbols, lenses, commands and `aurora/*` against a real daemon that has indexed real files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.daemons import Daemon, Wire, until

SHOP = '''"""A small shop."""


class Basket:
    """What a customer wants."""

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.lines: list[tuple[str, int]] = []

    def add(self, name: str, price: int) -> None:
        """Put one thing into the basket."""
        self.lines.append((name, price))


def total_price(basket: Basket) -> int:
    """What the basket costs, in cents."""
    return sum(price for _, price in basket.lines)


def checkout(basket: Basket) -> str:
    cost = total_price(basket)
    return f"{basket.owner} pays {cost}"
'''

REPORT = """from shop import total_price


def daily_report(baskets):
    é = "😀"; costs = [total_price(basket) for basket in baskets]
    return costs, é
"""

RICH = {
    "textDocument": {
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "hover": {"contentFormat": ["markdown"]},
    },
    "window": {"workDoneProgress": True},
}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("aurora") / "home") as daemon:
        yield daemon


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, daemon: Daemon) -> Path:
    root = tmp_path_factory.mktemp("shop")
    (root / "shop.py").write_text(SHOP.replace("price for _, price", "line[1] for line"), encoding="utf-8")
    (root / "report.py").write_text(REPORT, encoding="utf-8")
    with daemon.client(root) as client:
        assert client.request("aurora/index")["files"] == 2
        (root / "shop.py").write_text(SHOP, encoding="utf-8")  # a change that memory saw, so that it has a date
        client.request("aurora/index")
    return root


@pytest.fixture
def wire(daemon: Daemon, shop: Path) -> Iterator[Wire]:
    with daemon.wire() as wire:
        wire.initialize(shop, capabilities=RICH)
        yield wire


def at(path: Path, line: int, character: int) -> dict[str, Any]:
    return {"textDocument": {"uri": path.as_uri()}, "position": {"line": line, "character": character}}


def opened(wire: Wire, path: Path, text: str, version: int = 1) -> None:
    document = {"uri": path.as_uri(), "languageId": "python", "version": version, "text": text}
    wire.notify("textDocument/didOpen", {"textDocument": document})


def test_hover_tells_what_memory_knows_with_links(wire: Wire, shop: Path) -> None:
    text = wire.result("textDocument/hover", at(shop / "shop.py", 15, 6))["contents"]["value"]
    assert "def total_price" not in text, "the language's own server tells the signature"
    assert text.startswith("`total_price` — *") and "last changed just now" in text
    assert f"[checkout]({(shop / 'shop.py').as_uri()}#L21)" in text
    assert f"[daily\\_report]({(shop / 'report.py').as_uri()}#L4)" in text
    assert len(text.strip().split("\n\n")) <= 4


def test_hover_on_a_use_describes_what_is_used(wire: Wire, shop: Path) -> None:
    text = wire.result("textDocument/hover", at(shop / "shop.py", 21, 15))["contents"]["value"]
    assert "[checkout]" in text
    assert "def total_price" not in text


def test_hover_elsewhere_in_a_body_speaks_of_the_definition_around_by_name(wire: Wire, shop: Path) -> None:
    text = wire.result("textDocument/hover", at(shop / "shop.py", 17, 12))["contents"]["value"]
    assert text.startswith("```python\ntotal_price\n```")


def test_hover_on_nothing_is_null(wire: Wire, shop: Path) -> None:
    assert wire.result("textDocument/hover", at(shop / "shop.py", 13, 0)) is None
    assert wire.result("textDocument/hover", at(shop / "shop.py", 9999, 9999)) is None
    assert wire.result("textDocument/hover", at(Path("/elsewhere/x.py"), 0, 0)) is None
    nowhere = {"textDocument": {"uri": "untitled:1"}, "position": {"line": 0, "character": 0}}
    assert wire.result("textDocument/hover", nowhere) is None


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 26), ("utf-16", 23), ("utf-32", 22)])
def test_columns_are_counted_in_the_negotiated_encoding(
    daemon: Daemon, shop: Path, encoding: str, character: int
) -> None:
    """At the borders of the name: a column counted in another encoding misses it."""
    with daemon.wire() as wire:
        general = {"general": {"positionEncodings": [encoding, "utf-16"]}}
        assert wire.initialize(shop, capabilities=general)["capabilities"]["positionEncoding"] == encoding
        line = REPORT.splitlines()[4]
        before = line[: line.index("total_price")]
        codec, unit = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}[encoding]
        assert len(before.encode(codec)) // unit == character
        for column in (character, character + len("total_price")):
            assert wire.result("textDocument/hover", at(shop / "report.py", 4, column))["contents"]["value"].startswith(
                "`total_price`"
            )
        beside = wire.result("textDocument/hover", at(shop / "report.py", 4, character - 1))
        assert beside is None or "daily_report\n" in beside["contents"]["value"]


def test_symbols_are_nested_and_follow_the_unsaved_buffer(wire: Wire, shop: Path) -> None:
    uri = {"textDocument": {"uri": (shop / "shop.py").as_uri()}}
    (basket, price, checkout) = wire.result("textDocument/documentSymbol", uri)
    assert [basket["name"], price["name"], checkout["name"]] == ["Basket", "total_price", "checkout"]
    assert [child["name"] for child in basket["children"]] == ["__init__", "add"]
    assert basket["children"][1]["selectionRange"] == {
        "start": {"line": 10, "character": 8},
        "end": {"line": 10, "character": 11},
    }
    assert basket["range"]["start"] == {"line": 3, "character": 0}
    assert basket["range"]["end"] == {"line": 12, "character": len("        self.lines.append((name, price))")}

    opened(wire, shop / "shop.py", "# unsaved\n" + SHOP.replace("def checkout", "def pay"))
    assert [one["name"] for one in wire.result("textDocument/documentSymbol", uri)] == ["Basket", "total_price", "pay"]
    hover = wire.result("textDocument/hover", at(shop / "shop.py", 16, 6))
    assert "[checkout]" in hover["contents"]["value"], "one line further down than in the file"
    wire.notify("textDocument/didClose", uri)
    assert wire.result("textDocument/documentSymbol", uri)[2]["name"] == "checkout"


def test_symbols_are_flat_for_clients_that_know_no_trees(daemon: Daemon, shop: Path) -> None:
    with daemon.wire() as wire:
        wire.initialize(shop)
        found = wire.result("textDocument/documentSymbol", {"textDocument": {"uri": (shop / "shop.py").as_uri()}})
        assert [(one["name"], one.get("containerName")) for one in found] == [
            ("Basket", None),
            ("__init__", "Basket"),
            ("add", "Basket"),
            ("total_price", None),
            ("checkout", None),
        ]


def test_a_script_without_a_suffix_is_known_by_its_first_line_in_an_editor_too(wire: Wire, shop: Path) -> None:
    opened(wire, shop / "deploy", "#!/usr/bin/env python3\ndef ship():\n    return 1\n")
    found = wire.result("textDocument/documentSymbol", {"textDocument": {"uri": (shop / "deploy").as_uri()}})
    assert [one["name"] for one in found] == ["ship"]


def test_huge_buffers_are_kept_but_not_parsed(wire: Wire, shop: Path) -> None:
    opened(wire, shop / "shop.py", SHOP + "#" * (1 << 20))
    uri = {"textDocument": {"uri": (shop / "shop.py").as_uri()}}
    assert wire.result("textDocument/documentSymbol", uri) is None
    assert wire.result("textDocument/hover", at(shop / "shop.py", 15, 6)) is None
    wire.notify("textDocument/didChange", {**uri, "contentChanges": [{"text": SHOP}]})
    change = {"textDocument": {**uri["textDocument"], "version": 2}, "contentChanges": [{"text": SHOP}]}
    wire.notify("textDocument/didChange", change)
    assert len(wire.result("textDocument/documentSymbol", uri)) == 3


def test_workspace_symbols_come_from_memory(wire: Wire, shop: Path) -> None:
    (first, *_) = wire.result("workspace/symbol", {"query": "total"})
    assert first["name"] == "total_price"
    assert first["location"]["uri"] == (shop / "shop.py").as_uri()
    assert first["location"]["range"]["start"]["line"] == 15


def test_lenses_count_callers_and_run_a_command(wire: Wire, shop: Path) -> None:
    lenses = wire.result("textDocument/codeLens", {"textDocument": {"uri": (shop / "shop.py").as_uri()}})
    (lens,) = (lens for lens in lenses if lens["range"]["start"]["line"] == 15)
    assert "command" not in lens
    command = wire.result("codeLens/resolve", lens)["command"]
    assert command["title"] == "2 callers"
    explained = wire.result("workspace/executeCommand", {k: command[k] for k in ("command", "arguments")})
    assert explained["chunk"]["name"] == "total_price"


def test_hover_and_lenses_can_be_switched_off(wire: Wire, shop: Path) -> None:
    settings = {"settings": {"aurora": {"hover": False, "codeLens": False, "theirs": 1}}}
    wire.notify("workspace/didChangeConfiguration", settings)
    assert wire.result("textDocument/hover", at(shop / "shop.py", 15, 6)) is None
    assert wire.result("textDocument/codeLens", {"textDocument": {"uri": (shop / "shop.py").as_uri()}}) == []
    wire.notify("workspace/didChangeConfiguration", {"settings": {"aurora": {"hover": "yes"}}})
    assert "$.hover" in wire.notification("window/showMessage")["message"]
    wire.notify("workspace/didChangeConfiguration", {"settings": {"aurora": {"theirs": 1}}})
    assert wire.result("textDocument/hover", at(shop / "shop.py", 15, 6)) is not None


def test_recall_answers_in_snake_case_best_first(wire: Wire, shop: Path) -> None:
    answer = wire.result("aurora/recall", {"query": "price of a basket", "limit": 3, "include_content": True})
    scores = [one["score"] for one in answer["results"]]
    assert scores == sorted(scores, reverse=True)
    assert "total_price" in [one["name"] for one in answer["results"]]
    assert all(one["content"] and one["line_start"] >= 1 for one in answer["results"])
    assert answer["freshness"]["pending_files"] == 0


def test_commands_are_the_requests(wire: Wire) -> None:
    params = {"query": "basket", "limit": 2}
    by_request = wire.result("aurora/recall", params)["results"]
    by_command = wire.result("workspace/executeCommand", {"command": "aurora.recall", "arguments": [params]})["results"]
    assert [one["id"] for one in by_command] == [one["id"] for one in by_request]
    assert wire.result("workspace/executeCommand", {"command": "aurora.status"})["connections"] >= 1


def test_explain_by_id_and_by_place(wire: Wire, shop: Path) -> None:
    by_id = wire.result("aurora/explain", {"id": "code:shop.py:checkout"})
    place = {"uri": (shop / "shop.py").as_uri(), "position": {"line": 20, "character": 5}}
    assert wire.result("aurora/explain", place)["chunk"]["id"] == by_id["chunk"]["id"]
    for target in ("checkout", "checkout()", "shop.py:checkout", "shop.py:21", "shop.py:22"):
        assert wire.result("aurora/explain", {"id": target})["chunk"]["id"] == by_id["chunk"]["id"]
    for line, column in ((21, 0), (21, 4), (21, 200)):
        inside = {"uri": (shop / "shop.py").as_uri(), "position": {"line": line, "character": column}}
        assert wire.result("aurora/explain", inside)["chunk"]["name"] == "checkout"
    for target, said in (("chekout", "did you mean 'checkout'?"), ("shop.py:9999", "nothing at line 9999")):
        error = wire.ask("aurora/explain", {"id": target})["error"]
        assert (said in error["message"], error["data"]["kind"]) == (True, "UnknownChunk")
    error = wire.ask("aurora/explain", {"id": "code:shop.py:nothing"})["error"]
    assert (error["code"], error["data"]["kind"]) == (-32803, "UnknownChunk")


def test_index_reports_progress_to_the_token_it_was_given(wire: Wire, shop: Path) -> None:
    result = wire.result("aurora/index", {"workDoneToken": "mine"})
    assert (result["files"], result["definitions"]) == (2, 6)
    values = [message["params"] for message in wire.received if message["method"] == "$/progress"]
    assert {value["token"] for value in values} == {"mine"}
    kinds = [value["value"]["kind"] for value in values]
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert values[0]["value"]["title"] == f"Indexing {shop.name}"


def test_index_of_a_path_elsewhere_is_refused(wire: Wire, tmp_path: Path) -> None:
    error = wire.ask("aurora/index", {"paths": [str(tmp_path)]})["error"]
    assert error["code"] == -32803
    assert str(tmp_path) in error["message"]


def test_doctor_speaks_of_this_workspace(wire: Wire) -> None:
    findings = wire.result("aurora/doctor")["findings"]
    assert {"ok"} == {finding["level"] for finding in findings}


def test_nested_folders_do_not_answer_twice(daemon: Daemon, tmp_path: Path) -> None:
    outer, inner = tmp_path, tmp_path / "inner"
    inner.mkdir()
    (outer / "a.py").write_text("def shared_name():\n    return 1\n")
    (inner / "b.py").write_text("def shared_name_too():\n    return 2\n")
    folders = [{"uri": each.as_uri(), "name": each.name} for each in (outer, inner)]
    with daemon.wire() as wire:
        wire.initialize(workspaceFolders=folders)
        wire.result("aurora/index")
        found = wire.result("aurora/recall", {"query": "shared name"})["results"]
        assert sorted((one["workspace"], one["file"], one["kind"]) for one in found if one["kind"] == "function") == [
            (str(outer), "a.py", "function"),
            (str(inner), "b.py", "function"),
        ]
        symbols = wire.result("workspace/symbol", {"query": "shared"})
        assert sorted(one["name"] for one in symbols) == ["shared_name", "shared_name_too"]

        wire.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": folders[1:]}})
        found = wire.result("aurora/recall", {"query": "shared name too"})["results"]
        assert {one["workspace"] for one in found} == {str(outer)}
        wire.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": folders[1:], "removed": folders[:1]}})
        found = wire.result("aurora/recall", {"query": "shared name"})["results"]
        assert {one["workspace"] for one in found} == {str(inner)}


def test_symbols_of_several_workspaces_go_by_how_their_name_fits_the_query(daemon: Daemon, tmp_path: Path) -> None:
    """The name itself, what begins so, what has it within, what is found by other words."""
    names = ["total", "total_price", "grand_total", "add_up"]
    folders = []
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(f'def {name}():\n    """Total of all."""\n    return 1\n')
        folders.append({"uri": (tmp_path / name).as_uri(), "name": name})
    for order in (folders, folders[::-1]):
        with daemon.wire() as wire:
            wire.initialize(workspaceFolders=order)
            wire.result("aurora/index")
            symbols = wire.result("workspace/symbol", {"query": "total"})
            assert [each["name"] for each in symbols] == names


def test_what_is_saved_can_be_recalled_soon(daemon: Daemon, tmp_path: Path) -> None:
    source = tmp_path / "late.py"
    source.write_text("def early_bird():\n    return 1\n")
    with daemon.wire() as wire:
        wire.initialize(tmp_path)
        wire.result("aurora/index")
        source.write_text("def night_owl():\n    return 1\n")
        wire.notify("textDocument/didSave", {"textDocument": {"uri": source.as_uri()}})

        def known() -> bool:
            found = wire.result("aurora/recall", {"query": "night owl"})["results"]
            return "night_owl" in [one["name"] for one in found]

        until(known, "the saved function is recalled")
        other = tmp_path / "other.py"
        other.write_text("def third_kind():\n    return 1\n")
        changes = {"changes": [{"uri": other.as_uri(), "type": 1}]}
        wire.notify("workspace/didChangeWatchedFiles", changes)
        until(lambda: bool(wire.result("workspace/symbol", {"query": "third_kind"})), "the new file is known")


def test_source_files_are_watched_by_editors_that_can(daemon: Daemon, shop: Path) -> None:
    with daemon.wire() as wire:
        wire.initialize(shop, capabilities={"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": True}}})
        wire.result("aurora/status")
        until(lambda: bool(wire.asked) or not wire.result("aurora/status"), what="a registration is asked for")
        (registration,) = wire.asked[0]["params"]["registrations"]
        assert registration["method"] == "workspace/didChangeWatchedFiles"
        (sources, *_) = registration["registerOptions"]["watchers"]
        assert "py" in sources["globPattern"].strip("*/.{}").split(",")


def test_the_outline_of_every_client_is_its_own(daemon: Daemon, shop: Path) -> None:
    uri = {"textDocument": {"uri": (shop / "shop.py").as_uri()}}
    with daemon.wire() as one, daemon.wire() as other:
        one.initialize(shop)
        other.initialize(shop)
        opened(one, shop / "shop.py", "def mine(): ...\n")
        opened(other, shop / "shop.py", "def yours(): ...\n")
        assert [each["name"] for each in one.result("textDocument/documentSymbol", uri)] == ["mine"]
        assert [each["name"] for each in other.result("textDocument/documentSymbol", uri)] == ["yours"]
