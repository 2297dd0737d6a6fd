"""`aurora uninstall`: asks, ends the daemon, removes everything, and refuses folders that cannot be AURORA's."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from aurora_cli.uninstall import refusal
from aurora_protocol.address import SHARED_TEMP, Address
from tests.e2e.product import COMMAND, Product, eventually
from tests.e2e.repositories import shop
from tests.wait_limits import HANG


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return shop(tmp_path / "shop")


def used(home: Path, root: Path) -> Product:
    """A product that has run, learned an index and a trusted folder."""
    product = Product(home)
    product.json("mem", "total price", cwd=root)
    assert product.aurora("trust", cwd=root).returncode == 0
    assert product.aurora(
        "config", "set", "memory.database_path", "~/.aurora/memory/{workspace}.db", cwd=root
    ).returncode in (0, 2)
    return product


def tree(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def test_nothing_is_left(tmp_path: Path, root: Path) -> None:
    before = tree(tmp_path)
    home = tmp_path / "home"
    product = used(home, root)
    assert product.pid() is not None
    done = product.json("uninstall", "--yes", cwd=root)
    assert done["removed"] == str(home) and done["stopped"] is not None
    eventually(lambda: not product.processes(), "everything ends")
    assert tree(tmp_path) == before
    again = product.aurora("uninstall", "--yes", cwd=root)
    assert again.returncode == 0 and "there is no" in again.stdout
    assert tree(tmp_path) == before, "it starts no daemon to stop it"


def test_the_sockets_of_a_home_with_a_long_name_go_as_well(tmp_path: Path, root: Path) -> None:
    home = tmp_path / ("long" * 25)
    socket = Address.of(home).socket
    assert socket.is_relative_to(SHARED_TEMP) and not socket.is_relative_to(home)
    product = used(home, root)
    assert socket.exists()
    product.json("uninstall", "--yes", cwd=root)
    eventually(lambda: not product.processes(), "everything ends")
    mark = socket.name.split("-")[0]
    assert not home.exists() and not list(SHARED_TEMP.glob(f"aurora-*/{mark}*"))


def test_it_asks_on_a_terminal_and_no_means_no(tmp_path: Path, root: Path) -> None:
    product = used(tmp_path / "home", root)
    try:
        ours, theirs = pty.openpty()
        with os.fdopen(ours, "r+b", buffering=0) as terminal:
            running = subprocess.Popen(
                [*COMMAND, "uninstall"], cwd=root, env=product.environment, stdin=theirs, stdout=theirs, stderr=theirs
            )
            os.close(theirs)
            asked = b""
            while b"[y/N]" not in asked:
                asked += terminal.read(1000)
            terminal.write(b"n\n")
            running.wait(HANG)
        assert running.returncode == 130
        assert b"what was learned in 1 workspace" in asked
        assert product.databases() and product.pid() is not None
        piped = product.aurora("uninstall", cwd=root)
        assert piped.returncode == 2 and "--yes" in piped.stderr and len(piped.stderr.splitlines()) == 1
        assert product.databases()
    finally:
        product.close()


def test_a_folder_that_cannot_be_its_home_is_refused(tmp_path: Path) -> None:
    user = tmp_path / "me"
    repository, other, own = user / "work", user / "papers", user / ".aurora"
    empty = user / "empty"
    for folder in (repository / ".git", repository / "run", other, own / "run", empty):
        folder.mkdir(parents=True)
    (other / "thesis.txt").write_text("years of work")
    for folder in (user, tmp_path, Path("/")):
        assert "your own home" in (refusal(folder, user) or "")
    assert "repository" in (refusal(repository, user) or "")
    assert "does not look like" in (refusal(other, user) or "")
    assert refusal(own, user) is None and refusal(user / "gone", user) is None
    assert refusal(empty, user) is None, "where nothing is, nothing is lost"


def test_a_wrong_home_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    done = Product(tmp_path).aurora("uninstall", "--yes", "--json", cwd=Path("/"))
    assert done.returncode == 2 and "does not look like" in done.stderr
    assert json.dumps([path.name for path in tmp_path.iterdir()]) == '["thesis.txt"]'
