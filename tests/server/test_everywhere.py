"""`--everywhere`: every memory that this machine knows answers, also those of workspaces that nobody has open."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests import programs
from tests.e2e.repositories import commit, git
from tests.programs import COMMAND
from tests.server.daemons import Daemon

CODE = "def parse_invoice(text):\n    '''Read an invoice.'''\n    return text.split()\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def folder(tmp_path: Path, name: str, code: str) -> Path:
    root = tmp_path / name
    root.mkdir()
    (root / f"{name}.py").write_text(code)
    return root


def index(daemon: Daemon, *roots: Path) -> None:
    for root in roots:
        with daemon.client(root) as client:
            client.request("aurora/index")


def ask(daemon: Daemon, root: Path, query: str, **params: Any) -> dict[str, Any]:
    with daemon.client(root) as client:
        reply: dict[str, Any] = client.request("aurora/recall", {"query": query, "everywhere": True, **params})
        return reply


def names(reply: dict[str, Any]) -> list[tuple[str, str]]:
    return [(each["name"], Path(each["workspace"]).name) for each in reply["results"]]


def test_a_closed_memory_answers_as_it_was_left_and_says_so(home: Path, tmp_path: Path) -> None:
    billing = folder(tmp_path, "billing", CODE)
    shop = folder(tmp_path, "shop", "def checkout():\n    return 1\n")
    with Daemon(home) as daemon:
        index(daemon, billing, shop)
    before = {path: path.read_bytes() for path in (home / "memory").glob("billing*.db")}
    with Daemon(home) as daemon:
        reply = ask(daemon, shop, "parse invoice", include_content=True)
        (found,) = [each for each in reply["results"] if each["name"] == "parse_invoice"]
        assert found["workspace"] == str(billing)
        assert "Read an invoice" in found["content"]
        assert found["as_of"] is not None
        assert not found["changed_since"]
        assert reply["left_out"] == []
        with daemon.client() as client:
            opened = [each["root"] for each in client.request("aurora/status")["workspaces"]]
        assert opened == [str(shop)], "nothing is opened for a question"
        (billing / "billing.py").write_text("\n\n\n" + CODE)
        (found,) = [
            each for each in ask(daemon, shop, "parse invoice", include_content=True)["results"] if each["file"]
        ]
        assert found["changed_since"]
        assert "content" not in found, "its lines are not where they were"
        (billing / "billing.py").unlink()
        assert ask(daemon, shop, "parse invoice")["results"] == [], "a place that is gone is none"
        assert ask(daemon, shop, "checkout")["results"][0]["as_of"] is None
    assert {path: path.read_bytes() for path in before} == before


def test_what_is_damaged_or_foreign_is_skipped_with_a_line(home: Path, tmp_path: Path) -> None:
    roots = [folder(tmp_path, name, CODE.replace("invoice", f"invoice_{name}")) for name in ("one", "two", "three")]
    shop = folder(tmp_path, "shop", "def checkout():\n    return 1\n")
    with Daemon(home) as daemon:
        index(daemon, *roots, shop)
    files = {name: next((home / "memory").glob(f"{name}-*.db")) for name in ("one", "two", "three")}
    files["one"].write_bytes(files["one"].read_bytes()[:9000] + b"\xff" * 90_000)
    with closing(sqlite3.connect(files["two"])) as db:
        db.execute("PRAGMA user_version = 999")
    foreign = home / "memory" / "foreign.db"
    with closing(sqlite3.connect(foreign)) as db, db:
        db.execute("CREATE TABLE own (a)")
    foreign.chmod(0o600)
    (home / "memory" / "words.db").write_text("no database")
    (home / "memory" / "words.db").chmod(0o600)
    others = home / "memory" / "others.db"
    others.write_bytes(files["three"].read_bytes())
    others.chmod(0o666)
    with Daemon(home) as daemon:
        reply = ask(daemon, shop, "parse invoice")
    assert names(reply) == [("parse_invoice_three", "three")]
    told = {Path(line.split(" was not asked")[0]).name: line for line in reply["left_out"]}
    assert set(told) == {files["one"].name, files["two"].name, "foreign.db", "words.db", "others.db"}
    assert told[files["two"].name].endswith("a newer AURORA wrote it")
    assert told["foreign.db"].endswith("it is no memory file")
    assert "written by other users" in told["others.db"]


def test_work_trees_and_clones_of_one_repository_answer_once(home: Path, tmp_path: Path) -> None:
    shop = folder(tmp_path, "shop", CODE)
    git(shop, "init", "-q", "-b", "main")
    commit(shop, "the shop")
    tree, clone = tmp_path / "tree", tmp_path / "clone"
    git(shop, "worktree", "add", "-q", "-b", "other", str(tree))
    git(tmp_path, "clone", "-q", str(shop), str(clone))
    away = folder(tmp_path, "away", CODE)
    with Daemon(home) as daemon:
        index(daemon, shop, tree, clone, away)
    away.rename(tmp_path / "moved")
    with Daemon(home) as daemon:
        reply = ask(daemon, shop, "parse invoice")
        assert [each for each in names(reply) if each[0] == "parse_invoice"] == [("parse_invoice", "shop")]
        assert reply["left_out"] == ["1 other memory was not asked: the folder is gone"]


def test_only_as_many_as_the_time_allows(home: Path, tmp_path: Path) -> None:
    from aurora_protocol.methods import RecallParams
    from aurora_server.configuration.settings import load
    from aurora_server.workspace.closed_memories import ClosedAnswers, _ask

    roots = [folder(tmp_path, f"n{number}", CODE) for number in range(3)]
    with Daemon(home) as daemon:
        index(daemon, *roots)
    answers = ClosedAnswers([], [])
    _ask(answers, RecallParams(query="parse invoice"), load({**os.environ, "AURORA_HOME": str(home)}), [], 0.0)
    assert (answers.found, answers.left_out) == ([], ["3 other memories were not asked: the time was up"])


def test_people_see_which_workspace_answers_and_how_old_it_is(home: Path, tmp_path: Path) -> None:
    billing = folder(tmp_path, "billing", CODE)
    shop = folder(tmp_path, "shop", "def checkout():\n    return 1\n")
    with Daemon(home) as daemon:
        index(daemon, billing, shop)
    (home / "memory" / "words.db").write_text("no database")
    with Daemon(home):
        command = [*COMMAND, "mem", "parse invoice", "--everywhere"]
        environ = {**os.environ, "AURORA_HOME": str(home)}
        done = programs.run(command, cwd=shop, env=environ, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert f"{billing / 'billing.py'}:1" in lines[0]
    assert "as of " in lines[0]
    assert lines[-2].endswith("words.db was not asked: it is no memory file")
